//! The pictures in docs/evidence/counterexample-pictures.md are what the checker finds today.
//!
//! After a change that is meant: `PICTURES=write cargo test -p rc11 --test pictures`.

#[path = "pictures/programs.rs"]
mod programs;

use rc11::engine::{Config, Picture, explore, watch};
use std::fs;
use std::path::{Path, PathBuf};

/// The name of a picture, its title, and what it is a picture of.
type Shown = (&'static str, &'static str, fn() -> String);

/// All of the page.
const ALL: [Shown; 3] = [
    ("missing-fence", "The parking protocol, without its fences", || programs::parking(false, false)),
    ("data-race", "A flag that releases nothing", programs::race),
    ("deadlock", "The waker needs the sleeper's lock", programs::deadlock),
];

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn source(file: &str, line: u32) -> Option<String> {
    let text = file.ends_with("programs.rs").then_some(include_str!("pictures/programs.rs"))?;
    text.lines().nth(line as usize - 1).map(|line| line.trim().to_owned())
}

fn picture(title: &str, program: fn() -> String) -> Picture {
    let found = explore(&Config::default(), program, |_| ()).failure.expect("a counterexample");
    let played = watch(found.graph.clone(), program);
    let again = played.found.as_ref().map(|found| &found.failure.why);
    assert_eq!(again, Some(&found.failure.why), "played again it is wrong in the same way");
    Picture::of(title, &found, &played, &source)
}

/// The file is what it should be, or it is made so.
fn is_up_to_date(path: &Path, text: &str) {
    if std::env::var_os("PICTURES").is_some_and(|wish| wish == "write") {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder for pictures");
        fs::write(path, text).expect("a file that can be written");
    }
    let found = fs::read_to_string(path).unwrap_or_default();
    assert!(found == text, "{} is out of date: PICTURES=write makes it anew", path.display());
}

#[test]
fn the_drawings_are_up_to_date() {
    for (name, title, program) in ALL {
        is_up_to_date(&docs().join(format!("pictures/{name}.svg")), &picture(title, program).svg());
    }
}

#[test]
fn the_text_pictures_are_up_to_date() {
    let path = docs().join("evidence/counterexample-pictures.md");
    let mut page = fs::read_to_string(&path).expect("the page");
    for (name, title, program) in ALL {
        let begins = format!("<!-- {name} -->\n```text\n");
        let from = page.find(&begins).expect("its place in the page") + begins.len();
        let to = from + page[from..].find("```").expect("the end of its place");
        page.replace_range(from..to, &picture(title, program).columns());
    }
    is_up_to_date(&path, &page);
}

/// One fence is not enough, two are: what the page says.
#[test]
fn it_takes_both_fences() {
    let is_proof = |submitter: bool, spinning_m: bool| {
        explore(&Config::default(), move || programs::parking(submitter, spinning_m), |_| ()).is_proof()
    };
    assert!(is_proof(true, true));
    assert!(!is_proof(true, false));
    assert!(!is_proof(false, true));
}
