//! What may be said of a model.

use super::Builder;
use crate::engine::Report;
use std::fmt;

/// What is known of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// Every execution was explored, and none is wrong.
    Proved,
    /// None that was explored is wrong; why not all were.
    Bounded(String),
    /// One is wrong; why.
    Failed(String),
}

impl Verdict {
    /// In a word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Proved => "proved",
            Verdict::Bounded(_) => "bounded",
            Verdict::Failed(_) => "failed",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Proved => f.write_str("proved"),
            Verdict::Bounded(why) => write!(f, "bounded: {why}"),
            Verdict::Failed(why) => write!(f, "failed: {why}"),
        }
    }
}

/// What came of a check.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// What is known.
    pub verdict: Verdict,
    /// How many executions were explored.
    pub executions: u64,
    /// How many graphs were left because a loop in them waits for what has come already, or is yet to come: they stand
    /// for nothing.
    pub blocked: u64,
    /// How often the closure was played.
    pub plays: u64,
    /// How long it took.
    pub seconds: f64,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {} executions, {:.2} s", self.verdict, self.executions, self.seconds)
    }
}

pub(super) fn of(report: &Report, builder: &Builder) -> Outcome {
    let Report { tally, failure, left, seconds } = report;
    let verdict = match failure {
        Some(found) => {
            let thread = |n: u8| if n == 0 { "main".to_owned() } else { format!("thread {n}") };
            Verdict::Failed(found.failure.why.sentence(&found.graph, thread))
        }
        None if report.is_proof() => Verdict::Proved,
        None => Verdict::Bounded(why_not_all(report, builder)),
    };
    debug_assert!(
        failure.is_some() || !left.is_empty() || tally.skipped + tally.cuts > 0 || verdict == Verdict::Proved
    );
    let (executions, blocked, plays) = (tally.executions, tally.blocked, tally.plays);
    Outcome { verdict, executions, blocked, plays, seconds: *seconds }
}

fn why_not_all(report: &Report, builder: &Builder) -> String {
    let mut why = Vec::new();
    if !report.left.is_empty() {
        let bounds = [
            builder.max_permutations.map(|n| format!("max_permutations {n}")),
            builder.max_duration.map(|duration| format!("max_duration {duration:?}")),
            builder.preemption_bound.map(|n| format!("preemption_bound {n}, as a bound of time")),
        ];
        why.push(format!("not all was explored: {}", bounds.into_iter().flatten().collect::<Vec<_>>().join(", ")));
    }
    if report.tally.skipped > 0 {
        why.push("the model has stopped the exploration, for a part".to_owned());
    }
    if report.tally.cuts > 0 {
        why.push("loops that write in their rounds were left after some without news".to_owned());
    }
    why.join("; ")
}
