//! One producer for all: a G that spawns, and all others compute.

use crate::costs::Picos;
use crate::engine;
use crate::workloads::{Outside, Tally, Tasks, Workload, begins, ends, spawn};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// G 1 spawns the others.
pub struct Producer {
    tally: Tally,
    work: Picos,
    produced: AtomicU64,
}

impl Producer {
    /// So many Gs, each of which computes for so long.
    pub fn new(gs: u64, work: Picos) -> Producer {
        Producer { tally: Tally::new(gs, 1), work, produced: AtomicU64::new(0) }
    }
}

impl Workload for Producer {
    fn operations(&self) -> u64 {
        self.tally.gs()
    }
    fn computing(&self) -> Picos {
        self.work * (self.tally.gs() - 1)
    }
    fn begin(&self, outside: &dyn Outside) {
        outside.submit(1);
    }
    fn run(&self, g: u64, tasks: &mut dyn Tasks) {
        begins(g);
        self.tally.ran(g);
        if g == 1 {
            let from = engine::now();
            (2..=self.tally.gs()).for_each(|g| spawn(g, tasks));
            self.produced.store(engine::now() - from, Relaxed);
        } else {
            engine::work(self.work);
        }
        ends(g);
        self.tally.ends();
    }
    fn tally(&self) -> &Tally {
        &self.tally
    }
    fn figures(&self) -> Vec<(&'static str, f64)> {
        vec![("a spawn", self.produced.load(Relaxed) as f64 / 1e3 / (self.tally.gs() - 1) as f64)]
    }
}
