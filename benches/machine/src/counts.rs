//! What is counted while a machine runs.

use crate::costs::Picos;
use std::ops::Sub;

/// Everything since the machine began. The difference of two is what was between them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Accesses to words.
    pub accesses: u64,
    /// Lines that came from another core, or had to be taken from others.
    pub lines: u64,
    /// Those of them that came while a thread looked for a G.
    pub lines_in_search: u64,
    /// Gs that were run.
    pub runs: u64,
    /// Sleeping threads that were woken.
    pub wakes: u64,
    /// Those that ran nothing before they slept again.
    pub wasted: u64,
    /// Rings that a thief looked into.
    pub tries: u64,
    /// Thefts that brought a G.
    pub steals: u64,
    /// Gs that they brought.
    pub stolen: u64,
    /// How often a lock was entered, and how often it was taken then.
    pub locks: u64,
    /// How often a thread had to wait for one.
    pub contended: u64,
    /// Time in locks.
    pub held: Picos,
    /// Time before locks.
    pub waited: Picos,
    /// Time in which threads looked for a G, awake.
    pub searched: Picos,
}

impl Sub for Counts {
    type Output = Counts;

    fn sub(self, before: Counts) -> Counts {
        Counts {
            accesses: self.accesses - before.accesses,
            lines: self.lines - before.lines,
            lines_in_search: self.lines_in_search - before.lines_in_search,
            runs: self.runs - before.runs,
            wakes: self.wakes - before.wakes,
            wasted: self.wasted - before.wasted,
            tries: self.tries - before.tries,
            steals: self.steals - before.steals,
            stolen: self.stolen - before.stolen,
            locks: self.locks - before.locks,
            contended: self.contended - before.contended,
            held: self.held - before.held,
            waited: self.waited - before.waited,
            searched: self.searched - before.searched,
        }
    }
}
