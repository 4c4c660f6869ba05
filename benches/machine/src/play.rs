//! One workload on one design.

use crate::costs::{Costs, MICRO, Picos};
use crate::counts::Counts;
use crate::designs::Design;
use crate::engine;
use crate::workloads::Workload;
use std::sync::{Arc, Mutex};

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// How many operations.
    pub operations: u64,
    /// From the first submission to the last G's end.
    pub time: Picos,
    /// What the operations compute.
    pub computing: Picos,
    /// What was counted meanwhile, and until all slept again.
    pub counts: Counts,
    /// The line that was on its way longest, for how long, and which it is.
    pub hottest: (Picos, String),
    /// The workload's own figures.
    pub figures: Vec<(&'static str, f64)>,
}

/// So long after a round every thread sleeps.
const PAUSE: Picos = 500 * MICRO;

/// Plays what `make` makes on `design`: once to start the threads, and once more from rest, which counts.
///
/// # Panics
/// If a G did not run as often as it was to.
pub fn play<W: Workload>(
    design: Design,
    procs: usize,
    costs: Costs,
    seed: u64,
    make: impl Fn() -> W + Send + 'static,
) -> Outcome {
    let outcome = Arc::new(Mutex::new(None));
    let result = Arc::clone(&outcome);
    engine::run(costs, seed, move || {
        let scheduler = design.start(procs);
        let mut last = None;
        for _ in 0..2 {
            let workload = Arc::new(make());
            scheduler.plays(Arc::clone(&workload) as Arc<dyn Workload>);
            engine::forget_moves();
            let (from, before) = (engine::now(), engine::counts());
            workload.begin(&*scheduler);
            workload.tally().wait();
            let time = engine::now() - from;
            let hottest = engine::hottest();
            // What it took to fall asleep again is counted too.
            engine::sleep_until(engine::now() + PAUSE);
            engine::turn();
            let wrong = workload.tally().wrong();
            assert!(wrong.is_none(), "play: (a G, how often it ran): {wrong:?}");
            let (operations, computing) = (workload.operations(), workload.computing());
            let counts = engine::counts() - before;
            last = Some(Outcome { operations, time, computing, counts, hottest, figures: workload.figures() });
        }
        scheduler.close();
        *result.lock().expect("one thread") = last;
    });
    let outcome = outcome.lock().expect("one thread").take();
    outcome.expect("the machine has run to its end")
}
