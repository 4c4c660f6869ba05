//! A storm of spawns: every G spawns two, to a depth, and no task waits for them.

use crate::costs::Picos;
use crate::engine;
use crate::workloads::{Outside, Tally, Tasks, Workload, begins, ends, spawn, tree};

/// A tree of Gs, each of which computes for a while.
pub struct Storm {
    tally: Tally,
    work: Picos,
}

impl Storm {
    /// Of at most so many Gs.
    pub fn new(gs: u64, work: Picos) -> Storm {
        Storm { tally: Tally::new(tree(gs), 1), work }
    }
}

impl Workload for Storm {
    fn operations(&self) -> u64 {
        self.tally.gs()
    }
    fn computing(&self) -> Picos {
        self.work * self.tally.gs()
    }
    fn begin(&self, outside: &dyn Outside) {
        outside.submit(1);
    }
    fn run(&self, g: u64, tasks: &mut dyn Tasks) {
        begins(g);
        self.tally.ran(g);
        if 2 * g < self.tally.gs() {
            spawn(2 * g, tasks);
            spawn(2 * g + 1, tasks);
        }
        engine::work(self.work);
        ends(g);
        self.tally.ends();
    }
    fn tally(&self) -> &Tally {
        &self.tally
    }
}
