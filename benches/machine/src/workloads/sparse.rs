//! Sparse wakes: an event from outside every so often, for which a G computes.

use crate::costs::Picos;
use crate::engine::{self, Place};
use crate::workloads::{Outside, Tally, Tasks, Workload, begins, ends};
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Events, each of which is a G.
pub struct Sparse {
    tally: Tally,
    every: Picos,
    work: Picos,
    /// When each came.
    came: Vec<AtomicU64>,
    /// How long each waited for its G to begin.
    waited: Mutex<Vec<Picos>>,
    submitting: AtomicU64,
}

impl Sparse {
    /// So many events, one in so long a time.
    pub fn new(events: u64, every: Picos, work: Picos) -> Sparse {
        let came = (0..=events).map(|_| AtomicU64::new(0)).collect();
        Sparse {
            tally: Tally::new(events, 1),
            every,
            work,
            came,
            waited: Mutex::default(),
            submitting: AtomicU64::new(0),
        }
    }

    /// The waits, sorted.
    fn waits(&self) -> Vec<Picos> {
        let mut waits = self.waited.lock().expect("no panic under it").clone();
        waits.sort_unstable();
        waits
    }
}

impl Workload for Sparse {
    fn operations(&self) -> u64 {
        self.tally.gs()
    }
    fn computing(&self) -> Picos {
        self.work * self.tally.gs()
    }
    fn begin(&self, outside: &dyn Outside) {
        let from = engine::now();
        for g in 1..=self.tally.gs() {
            engine::sleep_until(from + g * self.every);
            let came = engine::now();
            self.came[g as usize].store(came, Relaxed);
            engine::fresh(Place::Task(g));
            outside.submit(g);
            self.submitting.fetch_add(engine::now() - came, Relaxed);
        }
    }
    fn run(&self, g: u64, _: &mut dyn Tasks) {
        begins(g);
        self.tally.ran(g);
        let waited = engine::now() - self.came[g as usize].load(Relaxed);
        self.waited.lock().expect("no panic under it").push(waited);
        engine::work(self.work);
        ends(g);
        self.tally.ends();
    }
    fn tally(&self) -> &Tally {
        &self.tally
    }
    fn figures(&self) -> Vec<(&'static str, f64)> {
        let waits = self.waits();
        let at = |part: usize| waits.get(waits.len() * part / 100).copied().unwrap_or(0) as f64 / 1e3;
        let submit = self.submitting.load(Relaxed) as f64 / 1e3 / self.tally.gs() as f64;
        vec![("p50", at(50)), ("p99", at(99)), ("a submit", submit)]
    }
}
