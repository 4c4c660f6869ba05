//! Fork and join: every G spawns two and waits for both; the second that ends wakes it.

use crate::costs::Picos;
use crate::engine::{self, Place};
use crate::workloads::{Outside, Tally, Tasks, Workload, begins, ends, spawn, tree};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// A tree of Gs; the leaves compute.
pub struct ForkJoin {
    tally: Tally,
    /// How many children have ended.
    ended: Vec<AtomicU64>,
    work: Picos,
}

impl ForkJoin {
    /// Of at most so many Gs.
    pub fn new(gs: u64, work: Picos) -> ForkJoin {
        let tally = Tally::new(tree(gs), 1);
        let ended = (0..=tally.gs()).map(|_| AtomicU64::new(0)).collect();
        ForkJoin { tally, ended, work }
    }

    /// `g` is done; if it is the second of its parent's, that goes on.
    fn done(&self, g: u64, tasks: &mut dyn Tasks) {
        self.tally.ran(g);
        let parent = g / 2;
        if parent > 0 {
            // The handle: a locked instruction on the parent's line.
            engine::locked(Place::Task(parent));
            if self.ended[parent as usize].fetch_add(1, Relaxed) == 1 {
                tasks.ready(parent);
            }
        }
        self.tally.ends();
    }
}

impl Workload for ForkJoin {
    fn operations(&self) -> u64 {
        self.tally.gs()
    }
    fn computing(&self) -> Picos {
        self.work * self.tally.gs().div_ceil(2)
    }
    fn begin(&self, outside: &dyn Outside) {
        outside.submit(1);
    }
    fn run(&self, g: u64, tasks: &mut dyn Tasks) {
        begins(g);
        let is_leaf = 2 * g > self.tally.gs();
        if is_leaf {
            engine::work(self.work);
        } else if self.ended[g as usize].load(Relaxed) < 2 {
            // It waits from the moment at which it has spawned the second.
            ends(g);
            spawn(2 * g, tasks);
            return spawn(2 * g + 1, tasks);
        }
        ends(g);
        self.done(g, tasks);
    }
    fn tally(&self) -> &Tally {
        &self.tally
    }
}
