//! A `select!` that is written wrongly says what is wrong, in one line, where it stands. The compiler is asked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;
use std::time::SystemTime;
use std::{env, fs};

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/select_misuse")
}

/// Where this test and what it was linked with lie.
fn deps() -> PathBuf {
    env::current_exe().expect("this program").parent().expect("a folder").to_path_buf()
}

/// What the compiler says of a file, an error a line.
fn compile(file: &str, library: &Path) -> Output {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command.args(["--edition", "2024", "--crate-type", "lib", "--crate-name", file.trim_end_matches(".rs")]);
    command.args(["--emit", "metadata", "--error-format", "short", "--cap-lints", "allow"]);
    command.arg("--out-dir").arg(env!("CARGO_TARGET_TMPDIR")).arg("-L").arg(deps());
    let mut library_is = std::ffi::OsString::from("spinpark=");
    library_is.push(library);
    command.arg("--extern").arg(library_is).arg(here().join(file)).output().expect("there is a compiler")
}

/// The library: of those that lie there, built with one set of features or another, the newest with which a right select
/// compiles.
static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| {
    let entries = fs::read_dir(deps()).expect("it can be read").map(|entry| entry.expect("it can be read").path());
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libspinpark-") && name.ends_with(".rlib")
    };
    let age = |path: &PathBuf| fs::metadata(path).and_then(|file| file.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let mut found: Vec<PathBuf> = entries.filter(is_ours).collect();
    found.sort_by_key(|path| std::cmp::Reverse(age(path)));
    let fits = |library: &&PathBuf| compile("right.rs", library).status.success();
    let said = |library: &PathBuf| String::from_utf8_lossy(&compile("right.rs", library).stderr).into_owned();
    let fitting = found.iter().find(fits).cloned();
    fitting.unwrap_or_else(|| panic!("no library fits: {found:?}: {:?}", found.first().map(said)))
});

/// The line of each error, and what it says.
fn said(file: &str) -> BTreeMap<usize, Vec<String>> {
    let output = compile(file, &LIBRARY);
    assert!(!output.status.success(), "{file} compiles");
    let mut errors = BTreeMap::<usize, Vec<String>>::new();
    for line in String::from_utf8_lossy(&output.stderr).lines() {
        let Some((_, rest)) = line.split_once(&format!("{file}:")) else { continue };
        let (number, rest) = rest.split_once(':').expect("FILE:LINE:COLUMN: error: …");
        let Some((_, text)) = rest.split_once(": error").and_then(|(_, text)| text.split_once(": ")) else { continue };
        errors.entry(number.parse().expect("a line")).or_default().push(text.to_owned());
    }
    errors
}

/// What each line of the file says that the compiler must say.
fn expected(file: &str) -> BTreeMap<usize, Vec<String>> {
    let text = fs::read_to_string(here().join(file)).expect("it is there");
    let lines = text.lines().enumerate().filter_map(|(n, line)| Some((n + 1, line.split_once(" //~ ")?.1)));
    lines.map(|(n, message)| (n, vec![message.to_owned()])).collect()
}

#[test]
fn is_told_in_one_line_by_the_macro() {
    let expected = expected("syntax.rs");
    assert!(expected.len() > 10, "only {expected:?}");
    assert_eq!(said("syntax.rs"), expected);
}

/// Each is told where it stands. The compiler adds what it knows besides.
#[track_caller]
fn is_told_by_the_compiler(file: &str, at_least: usize) {
    let (said, expected) = (said(file), expected(file));
    assert!(expected.len() >= at_least, "only {expected:?}");
    // A pattern is compiled twice: to see whether it fits, and to bind. The full report shows the second as a copy.
    let starts = |said: &Vec<String>, with: &Vec<String>| {
        said.iter().all(|one| *one == said[0]) && said[0].starts_with(&with[0])
    };
    let is_told = |(line, message): (&usize, &Vec<String>)| said.get(line).is_some_and(|said| starts(said, message));
    assert!(said.len() == expected.len() && expected.iter().all(is_told), "{said:#?}");
}

#[test]
fn is_told_by_the_types() {
    is_told_by_the_compiler("types.rs", 4);
}

#[test]
fn is_told_by_the_pattern() {
    is_told_by_the_compiler("patterns.rs", 3);
}
