//! A long exploration with checkpoints: stopped at any moment, it resumes at the last one.
//!
//! ```text
//!   {"rc11_checkpoint":2,"engine":"0.1.0","program":…,"sum":…}      which program wrote the file, and the sum of the rest
//!   {"entries":[{"what":…,"first":…,"tally":…,"left":…}, …]}        one entry a model that is not finished
//! ```
//!
//! **An entry is only ever resumed by the model that wrote it**, with the same bounds, in the same program: the executable
//! has the same digest, and the model's first execution the same events. All else is a [`CheckpointError`], and never a
//! verdict. A model that is finished has no entry: run again, it is explored again. A model that failed keeps the failing
//! execution in its entry, and fails again when it is resumed.

mod error;
mod file;

pub use self::error::{CheckpointError, ErrorKind};

use self::file::{Entry, File};
use crate::explore::{Body, Branch, Config, Counterexample, Report, Tally, first_execution, resume, watch_as};
use crate::graph::Graph;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// How often the state is written, in seconds; more often at first, for a young exploration may be lost too.
const EVERY: f64 = 30.0;
const AT_FIRST: f64 = 1.0;

/// Which model an entry is of.
#[derive(Debug, Clone, Default)]
pub(crate) struct Subject {
    /// Of two models with one owner, a file holds one: the other is refused. Models of different owners have an entry each.
    pub owner: String,
    /// Names the model.
    pub what: String,
    /// What the model turned out to need. Other notes than the entry's begin the exploration anew.
    pub notes: BTreeSet<String>,
}

/// The notes in the file's entry of that model: none without an entry.
///
/// # Errors
/// As [`explore_with_checkpoint`].
pub(crate) fn notes(path: &Path, subject: &Subject) -> Result<BTreeSet<String>, CheckpointError> {
    let entry = File::open(path)?.entry(subject)?;
    Ok(entry.map(|entry| entry.notes).unwrap_or_default())
}

/// Explores as [`explore`](crate::engine::explore) does, and writes its state to `path` every half minute at least, and at the end
/// if something is left. If there is such a file, the exploration resumes where that one stopped; `what` distinguishes
/// one model from another.
///
/// # Errors
/// If the file cannot be read or written, is in use, or is not of this model in this program: see [`ErrorKind`]. What was
/// explored by then is lost, except for what the file holds.
///
/// ```
/// use rc11::{checkpoint::explore_with_checkpoint, engine::Config};
/// let file = std::env::temp_dir().join(format!("rc11-example-{}", std::process::id()));
/// let report = explore_with_checkpoint(&Config::default(), "an example", &file, String::new, |_| ())?;
/// assert!(report.is_proof());
/// # Ok::<(), rc11::checkpoint::CheckpointError>(())
/// ```
pub fn explore_with_checkpoint(
    config: &Config,
    what: &str,
    path: &Path,
    body: impl Fn() -> String + Send + Sync + 'static,
    progress: impl FnMut(&Tally),
) -> Result<Report, CheckpointError> {
    let subject = Subject { what: what.to_owned(), ..Subject::default() };
    explore_subject(config, &subject, path, body, progress)
}

pub(crate) fn explore_subject(
    config: &Config,
    subject: &Subject,
    path: &Path,
    body: impl Fn() -> String + Send + Sync + 'static,
    mut progress: impl FnMut(&Tally),
) -> Result<Report, CheckpointError> {
    let body: Body = Arc::new(body);
    let again = |body: &Body| {
        let body = Arc::clone(body);
        move || body()
    };
    let file = File::open(path)?;
    let first = file::digest(format!("{:?}", first_execution(config, again(&body)).events).as_bytes());
    let start =
        || Report { left: vec![Branch::whole(Graph::new(config.spurious).reusing(config.reuse))], ..Report::default() };
    let entry = file.entry(subject)?.filter(|entry| entry.notes == subject.notes);
    let (mut report, failed) = match entry {
        None => (start(), None),
        Some(entry) => file.resumed(entry, first, &bounds(config))?,
    };
    if let Some(graph) = failed {
        report.failure = Some(still_fails(&file, graph, config, again(&body))?);
    }
    let begun = report.seconds;
    let mut every = AT_FIRST;
    while !report.left.is_empty() && report.failure.is_none() {
        let left = |all: f64| all - (report.seconds - begun);
        let executions = config.executions.map(|all| all.saturating_sub(report.tally.executions));
        let seconds = config.seconds.map(left);
        let is_stopped = config.stop.as_ref().is_some_and(|stop| stop.load(Relaxed));
        if is_stopped || executions == Some(0) || seconds.is_some_and(|seconds| seconds <= 0.0) {
            break;
        }
        let seconds = Some(seconds.unwrap_or(every).min(every));
        every = (2.0 * every).min(EVERY);
        let round = Config { executions, seconds, ..config.clone() };
        let before = report.tally.clone();
        let more = resume(&round, std::mem::take(&mut report.left), again(&body), |tally| {
            let (executions, done) = (before.executions + tally.executions, before.done + tally.done);
            progress(&Tally { executions, done, ..Tally::default() });
        });
        report.add(more);
        let is_finished = report.left.is_empty() && report.failure.is_none();
        let entry =
            (!is_finished || config.leaves_checkpoint).then(|| Entry::of(subject, first, bounds(config), &report));
        file.put(subject, entry)?;
    }
    Ok(report)
}

/// What a verdict depends on besides the program. How long an exploration may last, and on how many threads, is free.
fn bounds(config: &Config) -> String {
    let Config { spurious, max_events, max_threads, symmetry, preemptions, reuse, leaks, .. } = config;
    let symmetry = if *symmetry { "" } else { ", no symmetry" };
    let preemptions = preemptions.map(|n| format!(", {n} preemptions")).unwrap_or_default();
    let leaks = if *leaks { ", leaks" } else { "" };
    format!(
        "{spurious} spurious wake-ups, {max_events} events, {max_threads} threads, {reuse} addresses used \
         again{symmetry}{preemptions}{leaks}"
    )
}

/// The execution that failed when the checkpoint was written.
fn still_fails(
    file: &File,
    graph: Graph,
    config: &Config,
    body: impl Fn() -> String + Send + Sync + 'static,
) -> Result<Counterexample, CheckpointError> {
    let found = watch_as(graph, config, body).found;
    found.ok_or_else(|| file.error(ErrorKind::ChangedProgram, "the execution that failed in it does not fail any more"))
}
