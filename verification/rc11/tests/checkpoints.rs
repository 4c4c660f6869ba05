//! A checkpoint is resumed by the model that wrote it, or not at all: no verdict ever comes of another's.

use rc11::checkpoint::{CheckpointError, ErrorKind};
use rc11::engine::{Config, PlainCell, Report, Word, explore_with_checkpoint, fork};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};
use std::{env, fs};

/// A file that is not there, in a folder of the test's own.
fn fresh(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("checkpoints").join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder.join("checkpoint")
}

/// Three threads, of which each stores and loads: 400 executions and more.
fn stores(order: Ordering) -> impl Fn() -> String + Send + Sync + 'static {
    move || {
        let word = Arc::new(Word::new(0));
        let threads = [1, 2, 3].map(|n| {
            let word = Arc::clone(&word);
            fork("storer", move || {
                word.store(n, order);
                word.load(Relaxed);
                word.store(n + 3, Relaxed);
            })
        });
        threads.into_iter().for_each(|thread| thread.join());
        String::new()
    }
}

/// A message that is published by `order`, after `idle` stores that have nothing to do with it.
fn message(order: Ordering) -> impl Fn() -> String + Send + Sync + 'static {
    move || {
        let shared = Arc::new((PlainCell::new(0), Word::new(0)));
        let theirs = Arc::clone(&shared);
        let sender = fork("sender", move || {
            theirs.0.set(7);
            theirs.1.store(1, order);
        });
        let seen = if shared.1.load(Acquire) == 1 { shared.0.get() } else { 0 };
        sender.join();
        seen.to_string()
    }
}

fn at_most(executions: u64) -> Config {
    Config { executions: Some(executions), ..Config::default() }
}

fn explored(
    path: &Path,
    config: &Config,
    body: impl Fn() -> String + Send + Sync + 'static,
) -> Result<Report, CheckpointError> {
    explore_with_checkpoint(config, "a model", path, body, |_| ())
}

/// A file of a model that is not finished.
fn unfinished(test: &str) -> PathBuf {
    let path = fresh(test);
    let report = explored(&path, &at_most(10), stores(Relaxed)).unwrap();
    assert!(report.tally.executions == 10 && !report.left.is_empty() && path.exists());
    path
}

#[track_caller]
fn refused(path: &Path, config: &Config, body: impl Fn() -> String + Send + Sync + 'static) -> ErrorKind {
    let before = fs::read(path).unwrap();
    let error = explored(path, config, body).expect_err("this is not its checkpoint");
    assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    assert_eq!(fs::read(path).unwrap(), before, "a file that is refused stays as it is");
    error.kind()
}

#[test]
fn the_same_model_resumes() {
    let path = unfinished("resumes");
    let whole = explored(&path, &Config::default(), stores(Relaxed)).unwrap();
    let at_once = rc11::engine::explore(&Config::default(), stores(Relaxed), |_| ());
    assert!(whole.is_proof());
    assert_eq!(whole.tally.executions, at_once.tally.executions);
}

#[test]
fn a_finished_model_leaves_no_file() {
    let path = unfinished("finished");
    explored(&path, &Config::default(), stores(Relaxed)).unwrap();
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 0, "nor a lock");
}

#[test]
fn another_model_is_refused() {
    let path = unfinished("other");
    let other = explore_with_checkpoint(&Config::default(), "another model", &path, stores(Relaxed), |_| ());
    assert_eq!(other.unwrap_err().kind(), ErrorKind::OtherModel);
}

#[test]
fn the_same_name_with_another_first_execution_is_refused() {
    let path = unfinished("changed");
    assert_eq!(refused(&path, &Config::default(), stores(Release)), ErrorKind::ChangedProgram);
    assert_eq!(refused(&path, &Config::default(), message(Relaxed)), ErrorKind::ChangedProgram);
}

#[test]
fn other_bounds_of_an_execution_are_refused() {
    let path = unfinished("bounds");
    let others = [
        Config { max_events: 2_999, ..Config::default() },
        Config { max_threads: 8, ..Config::default() },
        Config { spurious: 1, ..Config::default() },
        Config { symmetry: false, ..Config::default() },
        Config { reuse: 1, ..Config::default() },
        Config { leaks: true, ..Config::default() },
        Config { preemptions: Some(1), ..Config::default() },
    ];
    for config in others {
        assert_eq!(refused(&path, &config, stores(Relaxed)), ErrorKind::OtherModel);
    }
}

#[test]
fn another_program_is_refused() {
    let path = unfinished("program");
    let text = fs::read_to_string(&path).unwrap();
    let (head, rest) = text.split_once('\n').unwrap();
    let mut parsed: serde_json::Value = serde_json::from_str(head).unwrap();
    parsed["program"] = 1.into();
    fs::write(&path, format!("{parsed}\n{rest}")).unwrap();
    assert_eq!(refused(&path, &Config::default(), stores(Relaxed)), ErrorKind::ChangedProgram);
}

#[test]
fn another_version_is_refused() {
    let path = unfinished("version");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen(env!("CARGO_PKG_VERSION"), "0.0.1", 1)).unwrap();
    assert_eq!(refused(&path, &Config::default(), stores(Relaxed)), ErrorKind::OtherVersion);
    fs::write(&path, r#"{"rc11_checkpoint":1,"what":"a model","executions":[],"left":[]}"#).unwrap();
    assert_eq!(refused(&path, &Config::default(), stores(Relaxed)), ErrorKind::OtherVersion);
}

#[test]
fn a_file_that_was_cut_off_or_changed_is_refused() {
    let path = unfinished("broken");
    let text = fs::read(&path).unwrap();
    for end in [0, 1, 40, text.len() / 2, text.len() - 1] {
        fs::write(&path, &text[..end]).unwrap();
        assert_eq!(refused(&path, &Config::default(), stores(Relaxed)), ErrorKind::Broken, "{end} bytes of it");
    }
    let rest = text.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for at in (rest..text.len()).step_by(text.len() / 100) {
        let mut changed = text.clone();
        changed[at] ^= 1;
        fs::write(&path, &changed).unwrap();
        assert_eq!(refused(&path, &Config::default(), stores(Relaxed)), ErrorKind::Broken, "byte {at}");
    }
}

#[test]
fn one_that_cannot_be_written_is_said() {
    let path = fresh("folder").join("of").join("nothing");
    let error = explored(&path, &at_most(1), stores(Relaxed)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
}

#[cfg(unix)]
#[test]
fn one_that_another_process_uses_is_refused() {
    use rustix::fs::{FlockOperation, flock};
    let path = unfinished("in-use");
    // A lock of another open file counts as another process's.
    let lock = fs::File::create(path.with_extension("lock")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    assert_eq!(refused(&path, &Config::default(), stores(Relaxed)), ErrorKind::InUse);
    drop(lock);
    assert!(explored(&path, &Config::default(), stores(Relaxed)).unwrap().is_proof());
}

#[test]
fn a_model_that_has_failed_fails_again() {
    let path = fresh("failed");
    for _ in 0..3 {
        let report = explored(&path, &Config::default(), message(Relaxed)).unwrap();
        assert!(report.failure.is_some(), "a data race is not forgotten");
    }
}

/// Two models of one test, of which the second is wrong.
mod two_models_in_one_test {
    use super::*;
    use rc11::cell::UnsafeCell;
    use rc11::sync::atomic::{AtomicBool, AtomicUsize};

    struct Message(UnsafeCell<u32>, AtomicBool, AtomicUsize);
    // SAFETY: the models below say which thread may touch the cell.
    unsafe impl Sync for Message {}
    // SAFETY: as above.
    unsafe impl Send for Message {}

    /// With `others` that store beside it.
    fn message(published: Ordering, others: usize) {
        let shared = rc11::sync::Arc::new(Message(UnsafeCell::new(0), AtomicBool::new(false), AtomicUsize::new(0)));
        let mut threads = Vec::new();
        for n in 0..others {
            let shared = shared.clone();
            threads.push(rc11::thread::spawn(move || {
                shared.2.store(n, Relaxed);
                shared.2.load(Relaxed);
            }));
        }
        let theirs = shared.clone();
        threads.push(rc11::thread::spawn(move || {
            // SAFETY: of that, the model asks.
            theirs.0.with_mut(|value| unsafe { *value = 1 });
            theirs.1.store(true, published);
        }));
        if shared.1.load(Acquire) {
            // SAFETY: as above.
            shared.0.with(|value| assert_eq!(unsafe { *value }, 1));
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }

    #[test]
    #[ignore = "fails: run by the tests below"]
    fn second_is_wrong() {
        let mut builder = rc11::model::Builder::new();
        builder.bounded_ok();
        builder.check(|| message(Release, 3));
        builder.check(|| message(Relaxed, 0));
    }

    fn run(path: &Path, permutations: Option<&str>) -> String {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "two_models_in_one_test::second_is_wrong", "--ignored", "--nocapture"]);
        command.env("LOOM_CHECKPOINT_FILE", path).envs(permutations.map(|n| ("LOOM_MAX_PERMUTATIONS", n)));
        let output = command.output().unwrap();
        let text = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
        assert!(!output.status.success(), "{text}");
        text
    }

    #[test]
    fn is_refuted_for_the_second() {
        let path = fresh("two");
        for _ in 0..2 {
            assert!(run(&path, None).contains("data race"));
        }
    }

    #[test]
    fn is_refuted_for_the_second_while_the_first_is_not_finished() {
        let path = fresh("two-bounded");
        for _ in 0..2 {
            assert!(run(&path, Some("20")).contains("data race"));
            let entries = fs::read_to_string(&path).unwrap();
            assert!(entries.contains("model 1, at") && entries.contains("model 2, at"), "{entries}");
        }
    }
}
