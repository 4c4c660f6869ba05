//! Pairs of Gs that wake each other, as by a channel with room for one.

use crate::costs::Picos;
use crate::engine::{self, Place};
use crate::workloads::{Outside, Tally, Tasks, Workload, begins, ends, spawn};

/// Gs 1 and 2 are a pair, 3 and 4, and so on; the last begins them.
pub struct PingPong {
    tally: Tally,
    pairs: u64,
    rounds: u64,
}

impl PingPong {
    /// So many pairs, each of which goes to and fro so often.
    pub fn new(pairs: u64, rounds: u64) -> PingPong {
        PingPong { tally: Tally::new(2 * pairs, rounds), pairs, rounds }
    }

    fn starter(&self) -> u64 {
        2 * self.pairs + 1
    }
}

impl Workload for PingPong {
    fn operations(&self) -> u64 {
        self.pairs * self.rounds
    }
    fn computing(&self) -> Picos {
        0
    }
    fn begin(&self, outside: &dyn Outside) {
        outside.submit(self.starter());
    }
    fn run(&self, g: u64, tasks: &mut dyn Tasks) {
        begins(g);
        if g == self.starter() {
            return (0..self.pairs).for_each(|pair| spawn(2 * pair + 1, tasks));
        }
        let runs = self.tally.ran(g) + 1;
        let partner = ((g - 1) ^ 1) + 1;
        // Two channels: one is received from, one sent to. Each is a lock, taken and left, on a line of its own.
        for channel in [2 * g, 2 * partner] {
            engine::locked(Place::Other(channel));
            engine::store(Place::Other(channel));
        }
        let is_last = g.is_multiple_of(2) && runs == self.rounds;
        if !is_last {
            // Its state says that it is notified.
            engine::locked(Place::Task(partner));
            tasks.ready(partner);
        }
        ends(g);
        self.tally.ends();
    }
    fn tally(&self) -> &Tally {
        &self.tally
    }
}
