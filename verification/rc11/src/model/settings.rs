//! What the environment says, and where the verdict goes.

use super::{Builder, Outcome};
use crate::checkpoint;
use crate::graph::MAX_THREADS;
use crate::state::At;
use serde_json::json;
use std::cell::RefCell;
use std::env;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::panic::Location;
use std::str::FromStr;
use std::time::Duration;

/// A variable, if it is set.
fn variable<T: FromStr>(name: &str) -> Option<T> {
    let value = env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("invalid value for `{name}`: {value}")))
}

pub(super) fn from_environment() -> Builder {
    Builder {
        max_threads: MAX_THREADS,
        max_branches: variable("LOOM_MAX_BRANCHES").unwrap_or(1_000),
        max_permutations: variable("LOOM_MAX_PERMUTATIONS"),
        max_duration: variable("LOOM_MAX_DURATION").map(Duration::from_secs),
        preemption_bound: variable("LOOM_MAX_PREEMPTIONS"),
        checkpoint_file: variable("LOOM_CHECKPOINT_FILE"),
        checkpoint_interval: variable("LOOM_CHECKPOINT_INTERVAL").unwrap_or(20_000),
        expect_explicit_explore: false,
        location: env::var_os("LOOM_LOCATION").is_some(),
        log: env::var_os("LOOM_LOG").is_some(),
        symmetry: variable("RC11_SYMMETRY").unwrap_or(true),
        reuse: variable("RC11_REUSE").unwrap_or(2),
        leaks: variable("RC11_LEAKS").unwrap_or(false),
        spurious: variable("RC11_SPURIOUS").unwrap_or(1),
        jobs: variable("RC11_JOBS").unwrap_or(1),
        seed: variable("RC11_SEED").unwrap_or(1),
        bounded_ok: variable("RC11_BOUNDED_OK").unwrap_or(false),
    }
}

/// Which model of which test is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Subject {
    pub(super) name: String,
    /// The number of the model in its test, from 1.
    pub(super) nth: usize,
    /// Where the check is called.
    pub(super) at: At,
}

impl Subject {
    /// Which entry of a checkpoint is its own.
    pub(super) fn entry(&self, builder: &Builder) -> checkpoint::Subject {
        let Subject { name, nth, at } = self;
        let explicit = if builder.expect_explicit_explore { ", explored where it says so" } else { "" };
        checkpoint::Subject {
            owner: format!("{name}, model {nth}"),
            what: format!("{name}, model {nth}, at {at}{explicit}"),
            ..checkpoint::Subject::default()
        }
    }
}

/// The next model of the calling thread, which is a test's.
#[track_caller]
pub(super) fn subject() -> Subject {
    std::thread_local! {
        static NTH: RefCell<usize> = const { RefCell::new(0) };
    }
    let nth = NTH.with_borrow_mut(|nth| {
        *nth += 1;
        *nth
    });
    let name = std::thread::current().name().unwrap_or("model").to_owned();
    Subject { name, nth, at: Location::caller() }
}

/// To the file that `RC11_REPORT` names, a line each; and to standard error, as a log.
pub(super) fn tell(subject: &Subject, outcome: &Outcome, log: bool) {
    if log {
        eprintln!("rc11: {}: {outcome}", subject.name);
    }
    let Some(path) = env::var_os("RC11_REPORT") else { return };
    let Outcome { verdict, executions, blocked, plays, seconds, assumes } = outcome;
    let line = json!({
        "test": subject.name, "model": subject.nth, "verdict": verdict.word(), "why": verdict.to_string(),
        "executions": executions, "blocked": blocked, "plays": plays, "seconds": seconds, "assumes": assumes,
    });
    let file = OpenOptions::new().create(true).append(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    if let Err(error) = written {
        eprintln!("rc11: {}: {error}", path.display());
    }
}
