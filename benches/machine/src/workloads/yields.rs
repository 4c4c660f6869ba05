//! Gs that yield in turn: what a dispatch costs. For the cross-check with the real machine.

use crate::costs::Picos;
use crate::engine::{self, Place};
use crate::workloads::{Outside, Tally, Tasks, Workload, spawn};

/// Gs 1 to `gs`, begun by one more.
pub struct Yields {
    tally: Tally,
    each: u64,
}

impl Yields {
    /// So many, each of which yields so often.
    pub fn new(gs: u64, each: u64) -> Yields {
        Yields { tally: Tally::new(gs, each), each }
    }
}

impl Workload for Yields {
    fn operations(&self) -> u64 {
        self.tally.gs() * self.each
    }
    fn computing(&self) -> Picos {
        0
    }
    fn begin(&self, outside: &dyn Outside) {
        outside.submit(self.tally.gs() + 1);
    }
    fn run(&self, g: u64, tasks: &mut dyn Tasks) {
        if g > self.tally.gs() {
            return (1..=self.tally.gs()).for_each(|g| spawn(g, tasks));
        }
        // Taken to be run; notified by its own wake; at rest: a locked instruction each.
        (0..3).for_each(|_| engine::locked(Place::Task(g)));
        if self.tally.ran(g) + 1 < self.each {
            tasks.yields(g);
        }
        self.tally.ends();
    }
    fn tally(&self) -> &Tally {
        &self.tally
    }
}
