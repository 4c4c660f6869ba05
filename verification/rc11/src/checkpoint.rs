//! A long exploration with checkpoints: stopped at any moment, it resumes at the last one.

use crate::explore::{Branch, Config, Report, Tally, resume};
use crate::graph::Graph;
use crate::step::Way;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

/// Today's format.
const FORMAT: u32 = 1;

/// How often the state is written, in seconds.
const EVERY: f64 = 30.0;

/// The state of an exploration, as a file holds it.
#[derive(Serialize, Deserialize)]
struct Checkpoint {
    rc11_checkpoint: u32,
    /// Of what: a file of another program, or of other bounds, is refused.
    what: String,
    tally: Tally,
    seconds: f64,
    /// Executions that went by what is left.
    executions: Vec<Graph>,
    /// What is left: of which execution, and which way it did not go.
    left: Vec<(usize, Option<Way>)>,
}

impl Checkpoint {
    fn of(what: &str, report: &Report) -> Checkpoint {
        let mut executions: Vec<Arc<Graph>> = Vec::new();
        let mut left = Vec::new();
        for branch in &report.left {
            // Branches of one execution lie side by side.
            if !executions.last().is_some_and(|last| Arc::ptr_eq(last, &branch.of)) {
                executions.push(Arc::clone(&branch.of));
            }
            left.push((executions.len() - 1, branch.way));
        }
        let executions = executions.iter().map(|graph| Graph::clone(graph)).collect();
        let (what, tally, seconds) = (what.to_owned(), report.tally.clone(), report.seconds);
        Checkpoint { rc11_checkpoint: FORMAT, what, tally, seconds, executions, left }
    }

    fn into_report(self) -> Result<Report, String> {
        let executions: Vec<Arc<Graph>> = self.executions.into_iter().map(|graph| Arc::new(graph.reindex())).collect();
        let branch = |(n, way): (usize, Option<Way>)| Some(Branch { of: Arc::clone(executions.get(n)?), way });
        let left: Option<Vec<Branch>> = self.left.into_iter().map(branch).collect();
        let left = left.ok_or("it names an execution that it does not hold")?;
        Ok(Report { tally: self.tally, failure: None, left, seconds: self.seconds })
    }

    /// Written beside it first, so that a broken-off write does no harm.
    fn write(&self, path: &Path) -> io::Result<()> {
        let beside = path.with_extension("new");
        fs::write(&beside, serde_json::to_vec(self).map_err(io::Error::other)?)?;
        fs::rename(&beside, path)
    }

    fn read(path: &Path, what: &str) -> Result<Report, String> {
        let text = fs::read(path).map_err(|error| error.to_string())?;
        let state: Checkpoint = serde_json::from_slice(&text).map_err(|error| format!("no checkpoint: {error}"))?;
        if state.rc11_checkpoint != FORMAT {
            return Err(format!("it has format {}; this program reads {FORMAT}", state.rc11_checkpoint));
        }
        if state.what != what {
            return Err(format!("it is a checkpoint of `{}`, not of `{what}`", state.what));
        }
        state.into_report()
    }
}

/// What a file is a checkpoint of, if it is one.
pub(crate) fn subject(path: &Path) -> Option<String> {
    let state: Checkpoint = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    Some(state.what)
}

/// Explores as [`explore`](crate::engine::explore) does, and writes its state to `path` every half minute, and at the end.
/// If there is such a file, it goes on where that left off; `what` distinguishes one exploration from another.
///
/// # Errors
/// If the file cannot be read or written, or is of another exploration. What was explored by then is lost, but for what
/// the file holds.
pub fn explore_with_checkpoint(
    config: &Config,
    what: &str,
    path: &Path,
    body: impl Fn() -> String + Send + Sync + 'static,
    mut progress: impl FnMut(&Tally),
) -> Result<Report, String> {
    let named = |error: String| format!("{}: {error}", path.display());
    let body = Arc::new(body);
    let start = || Report { left: vec![Branch::whole(Graph::new(config.spurious))], ..Report::default() };
    let mut report = if path.exists() { Checkpoint::read(path, what).map_err(named)? } else { start() };
    let begun = report.seconds;
    while !report.left.is_empty() && report.failure.is_none() {
        let left = |all: f64| all - (report.seconds - begun);
        let executions = config.executions.map(|all| all.saturating_sub(report.tally.executions));
        let seconds = config.seconds.map(left);
        if executions == Some(0) || seconds.is_some_and(|seconds| seconds <= 0.0) {
            break;
        }
        let seconds = Some(seconds.unwrap_or(EVERY).min(EVERY));
        let round = Config { executions, seconds, ..config.clone() };
        let (before, body) = (report.tally.clone(), Arc::clone(&body));
        let more = resume(
            &round,
            std::mem::take(&mut report.left),
            move || body(),
            |tally| {
                let (executions, done) = (before.executions + tally.executions, before.done + tally.done);
                progress(&Tally { executions, done, ..Tally::default() });
            },
        );
        report.add(more);
        Checkpoint::of(what, &report).write(path).map_err(|error| named(error.to_string()))?;
    }
    Ok(report)
}
