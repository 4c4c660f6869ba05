//! What was found so far.

use crate::graph::{Graph, Loc};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What was found so far.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Tally {
    /// Executions: consistent graphs in which all threads have come to their end.
    pub executions: u64,
    /// Graphs in which a thread spins on what was overwritten. They stand for nothing.
    pub blocked: u64,
    /// How many times the program was played.
    pub plays: u64,
    /// How each execution ended, and how often.
    pub outcomes: BTreeMap<String, u64>,
    /// Which part of the whole is done, as a guess between 0 and 1.
    pub done: f64,
    /// Ways that were not to be explored: [`stop_exploring`](crate::stop_exploring).
    #[serde(default)]
    pub skipped: u64,
    /// Loops that write in their rounds, and were left after some that brought no news.
    #[serde(default)]
    pub cuts: u64,
    /// Which loops were left before their end, and why.
    #[serde(default)]
    pub cut: BTreeSet<String>,
    /// How many branches were left out because they take too many preemptions: [`Config::preemptions`](super::Config::preemptions).
    #[serde(default)]
    pub preempted: u64,
    /// How many times a loop was shown to have no end: its thread waits.
    #[serde(default)]
    pub shown: u64,
    /// Did a last owner, by a count of std's, free what other threads had accessed? The order was taken for granted.
    #[serde(default)]
    pub std_counts: bool,
    /// The most threads of an execution.
    #[serde(default)]
    pub threads: usize,
    /// What the threads of an execution had in common, of what the checker sees.
    #[serde(default)]
    pub sharing: Sharing,
    /// The most memory that graphs that waited took at once, in bytes: the sum of the workers' own peaks.
    pub peak_bytes: u64,
}

impl Tally {
    /// How many executions there are in all, as a guess: as many more as there are here as the rest weighs more. Each branch
    /// of an execution is taken to lead to as many as any other (Knuth, Estimating the efficiency of backtrack programs,
    /// 1975). `None`: nothing is known.
    #[must_use]
    pub fn estimate(&self) -> Option<f64> {
        (self.done > 0.0 && self.executions > 0).then(|| self.executions as f64 / self.done.min(1.0))
    }

    pub(super) fn add(&mut self, other: Tally) {
        self.executions += other.executions;
        self.blocked += other.blocked;
        self.plays += other.plays;
        self.done += other.done;
        self.peak_bytes += other.peak_bytes;
        self.skipped += other.skipped;
        self.cuts += other.cuts;
        self.cut.extend(other.cut);
        self.shown += other.shown;
        self.std_counts |= other.std_counts;
        self.preempted += other.preempted;
        self.threads = self.threads.max(other.threads);
        self.sharing = self.sharing.max(other.sharing);
        for (outcome, n) in other.outcomes {
            *self.outcomes.entry(outcome).or_default() += n;
        }
    }
}

/// What the threads of a program have in common, of what the checker sees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Sharing {
    /// No thread accesses a location.
    #[default]
    None,
    /// Each location is made and accessed by one thread alone.
    Own,
    /// A thread accesses a location that another has made or accesses too.
    Shared,
}

impl Graph {
    pub(super) fn sharing(&self) -> Sharing {
        let is_shared = |loc: Loc| {
            let mut threads = self.of(loc).map(|(_, event)| event.thread).chain(loc.maker());
            let first = threads.next();
            threads.any(|thread| Some(thread) != first)
        };
        let found = self.locations().filter(|loc| !matches!(*loc, Loc::CLOCK | Loc::REFUSALS));
        found.map(|loc| if is_shared(loc) { Sharing::Shared } else { Sharing::Own }).max().unwrap_or_default()
    }
}
