//! What may be said of a model.

use super::{BOUNDED_SECONDS, Builder};
use crate::engine::{Report, Sharing, Tally};
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
    /// What the verdict assumes, in a line.
    pub assumes: String,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {} executions, {:.2} s", self.verdict, self.executions, self.seconds)?;
        if self.verdict == Verdict::Proved { write!(f, "; assumes: {}", self.assumes) } else { Ok(()) }
    }
}

pub(super) fn of(report: &Report, builder: &Builder) -> Outcome {
    let Report { tally, failure, seconds, .. } = report;
    let verdict = match failure {
        Some(found) => {
            let thread = |n: u8| if n == 0 { "main".to_owned() } else { format!("thread {n}") };
            Verdict::Failed(found.failure.why.sentence(&found.graph, thread))
        }
        None => {
            let why = why_not_all(report, builder);
            // A reason for which there are no words yet is no proof either.
            match (why.is_empty(), report.is_proof()) {
                (true, true) => Verdict::Proved,
                (true, false) => Verdict::Bounded("not all was explored".to_owned()),
                (false, _) => Verdict::Bounded(why.join("; ")),
            }
        }
    };
    let (executions, blocked, plays) = (tally.executions, tally.blocked, tally.plays);
    Outcome { verdict, executions, blocked, plays, seconds: *seconds, assumes: assumptions(tally, builder) }
}

fn assumptions(tally: &Tally, builder: &Builder) -> String {
    let many = |n: u64, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    let loops = match tally.shown {
        0 => "no loop is cut".to_owned(),
        n => format!("no loop is cut ({}: shown to go on for ever)", many(n, "wait")),
    };
    let addresses = match builder.reuse {
        0 => "no address is used again".to_owned(),
        n => format!("addresses that are compared or exchanged are used again up to {}", many(u64::from(n), "time")),
    };
    let counts = match tally.std_counts {
        true => "; what std's Arc drops is not used any more by a thread without a reference",
        false => "",
    };
    format!(
        "RC11; {}; {loops}; any number of preemptions; {}; {addresses}; dependencies are not redirected: what they do with \
         std's atomics is not seen{counts}",
        many(tally.threads as u64, "thread"),
        many(u64::from(builder.spurious), "spurious wake-up"),
    )
}

/// Each reason, and what would complete it.
fn why_not_all(report: &Report, builder: &Builder) -> Vec<String> {
    let Report { tally, left, .. } = report;
    let mut why = Vec::new();
    if !left.is_empty() {
        let bounds = [
            builder.max_permutations.map(|n| format!("max_permutations {n}")),
            builder.max_duration.map(|duration| format!("max_duration {duration:?}")),
            builder
                .preemption_bound
                .map(|_| format!("{BOUNDED_SECONDS} seconds, since there is a preemption_bound"))
                .filter(|_| builder.max_duration.is_none()),
        ];
        let guess = tally.estimate().map(|all| format!(", of about {all:.0} executions")).unwrap_or_default();
        let bounds = bounds.into_iter().flatten().collect::<Vec<_>>().join(", ");
        why.push(format!("not all was explored: {bounds}{guess}"));
    }
    if let (Some(bound), true) = (builder.preemption_bound, tally.preempted > 0) {
        why.push(format!(
            "executions with more than {bound} preemptions were left out, at {} places: raise `preemption_bound`, or leave it out",
            tally.preempted
        ));
    }
    if tally.skipped > 0 {
        why.push("the model has stopped the exploration, for a part".to_owned());
    }
    why.extend(tally.cut.iter().cloned());
    let is_explored = left.is_empty() && tally.skipped + tally.preempted == 0;
    if is_explored && tally.executions == 0 {
        why.push("no execution came to its end".to_owned());
    }
    if is_explored && (tally.sharing == Sharing::None || tally.threads > 1 && tally.sharing != Sharing::Shared) {
        why.push(
            "the checker sees nothing that the threads share: use rc11's atomics, cells and locks in place of std's"
                .to_owned(),
        );
    }
    why
}
