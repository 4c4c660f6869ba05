//! What a failing test leaves to be played again, and what the environment says. Each case is this program again, with one
//! test of it that is run on purpose.

use rc11::sync::Arc;
use rc11::sync::atomic::AtomicUsize;
use rc11::sync::atomic::Ordering::Relaxed;
use rc11::thread;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn words_of_three(is_wrong: bool) {
    let words = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let threads: Vec<_> = (1..4)
        .map(|n| {
            let words = words.clone();
            thread::spawn(move || {
                words[0].store(n, Relaxed);
                words[1].store(words[0].load(Relaxed), Relaxed);
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert!(!is_wrong || words[0].load(Relaxed) == words[1].load(Relaxed), "they differ");
}

/// Where the next test calls the checker.
const ON_PURPOSE: u32 = line!() + 6;

#[test]
#[ignore = "fails: run by the tests below"]
fn on_purpose() {
    let is_mended = env::var_os("IS_MENDED").is_some();
    rc11::model(move || words_of_three(!is_mended));
}

#[test]
#[ignore = "is bounded: run by the tests below"]
fn within_bounds() {
    rc11::model(|| words_of_three(false));
}

/// Runs that test with those variables: what it prints, and whether it passes.
fn run(test: &str, variables: &[(&str, &Path)]) -> (String, bool) {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture"]);
    let output = command.envs(variables.iter().copied()).env("RUST_BACKTRACE", "0").output().unwrap();
    let text = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
    (text, output.status.success())
}

/// A folder that is empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn a_failure_is_shown_written_and_played_again() {
    let folder = folder("failure");
    let (text, passes) = run("on_purpose", &[("RC11_DIR", &folder)]);
    assert!(!passes && text.contains("① starts thread 1"), "{text}");
    assert_eq!(text.lines().filter(|line| *line == "they differ").count(), 1, "{text}");
    assert_eq!(text.matches("panicked at").count(), 1, "{text}");
    assert!(text.contains(&format!("environment.rs:{}:", ON_PURPOSE)), "the user's line: {text}");
    let schedule = folder.join("on_purpose.json");
    let line = format!("to play it again: RC11_REPLAY={} cargo test on_purpose", schedule.display());
    assert!(text.contains(&line), "{text}");
    assert!(fs::read_to_string(folder.join("on_purpose.svg")).unwrap().contains("they differ"));

    let (again, passes) = run("on_purpose", &[("RC11_REPLAY", &schedule)]);
    assert!(!passes && again.contains("they differ"), "{again}");
    let table = |text: &str| text.lines().filter(|line| line.contains('│')).collect::<Vec<_>>().join("\n");
    assert_eq!(table(&again), table(&text));

    let (mended, passes) = run("on_purpose", &[("RC11_REPLAY", &schedule), ("IS_MENDED", Path::new("1"))]);
    assert!(!passes && !mended.contains("they differ, "), "{mended}");
    let is_told = mended.contains("nothing is wrong with it any more") || mended.contains("not deterministic");
    assert!(is_told, "{mended}");

    // Another test's schedule is not this one's.
    let (other, passes) = run("within_bounds", &[("RC11_REPLAY", &schedule)]);
    assert!(passes, "{other}");
    fs::write(&schedule, "{}").unwrap();
    let (broken, passes) = run("on_purpose", &[("RC11_REPLAY", &schedule)]);
    assert!(!passes && broken.contains("no schedule: "), "{broken}");
}

fn value_of<'a>(line: &'a str, key: &str) -> &'a str {
    let (_, rest) = line.split_once(&format!("\"{key}\":")).unwrap();
    rest.split([',', '}']).next().unwrap().trim_matches('"')
}

#[test]
fn bounds_come_from_the_environment_and_a_checkpoint_goes_on() {
    let folder = folder("bounds");
    let (report, checkpoint) = (folder.join("report"), folder.join("checkpoint"));
    let reported = |variables: &[(&str, &Path)]| {
        let _ = fs::remove_file(&report);
        let (text, passes) = run("within_bounds", &[variables, &[("RC11_REPORT", &report)]].concat());
        assert!(passes, "{text}");
        (fs::read_to_string(&report).unwrap(), text)
    };
    let (whole, text) = reported(&[("LOOM_LOG", Path::new("info")), ("RC11_JOBS", Path::new("2"))]);
    assert_eq!(value_of(&whole, "verdict"), "proved");
    assert!(text.contains("rc11: within_bounds: proved; "), "{text}");
    let all: u64 = value_of(&whole, "executions").parse().unwrap();

    let bound = Path::new("100");
    let (part, _) = reported(&[
        ("LOOM_MAX_PERMUTATIONS", bound),
        ("RC11_BOUNDED_OK", Path::new("true")),
        ("LOOM_CHECKPOINT_FILE", &checkpoint),
    ]);
    assert_eq!((value_of(&part, "verdict"), value_of(&part, "test")), ("bounded", "within_bounds"));
    let (rest, _) = reported(&[("LOOM_CHECKPOINT_FILE", &checkpoint)]);
    assert_eq!(value_of(&rest, "verdict"), "proved");
    assert_eq!(value_of(&rest, "executions").parse(), Ok(all));

    let (text, passes) = run("within_bounds", &[("LOOM_MAX_BRANCHES", Path::new("1"))]);
    assert!(!passes && text.contains("more than 3 events in one execution"), "{text}");
    let (text, passes) = run("within_bounds", &[("LOOM_MAX_BRANCHES", Path::new("many"))]);
    assert!(!passes && text.contains("invalid value for `LOOM_MAX_BRANCHES`: many"), "{text}");
}
