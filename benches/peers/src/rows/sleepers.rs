//! Many tasks that sleep in the system, all at once, beside one that computes.

use crate::meters::Watch;
use crate::row::{Round, Sample, Setup, Tally};
use crate::tasks::Tasks;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

/// How long each sleeps: a round takes no less.
const SLEEP: Duration = Duration::from_millis(20);

/// Each adds one.
pub(crate) fn tally(_: Setup, n: u64) -> Tally {
    Tally { count: n, sum: n }
}

/// As the runtime says that a call be made that may block.
pub(crate) fn may_block<T: Tasks>(setup: Setup) -> Round {
    T::start(setup.workers);
    Box::new(|n| T::run(round::<T>(n, false)))
}

/// As it says that one be made that does.
pub(crate) fn blocks<T: Tasks>(setup: Setup) -> Round {
    T::start(setup.workers);
    Box::new(|n| T::run(round::<T>(n, true)))
}

fn sleep() -> u64 {
    thread::sleep(SLEEP);
    1
}

/// `n` tasks, and one that computes and yields for as long as they do, and notes how long it was away at most.
async fn round<T: Tasks>(n: u64, is_long: bool) -> Sample {
    let is_over = Arc::new(AtomicBool::new(false));
    let computes = T::spawn(computes::<T>(Arc::clone(&is_over)));
    let watch = Watch::start();
    let tasks: Vec<_> = (0..n).map(|_| T::spawn(T::block_as(is_long, sleep))).collect();
    let mut sum = 0;
    for task in tasks {
        sum += T::join(task).await;
    }
    let sample = watch.time(Tally { count: n, sum });
    is_over.store(true, Relaxed);
    let longest = T::join(computes).await;
    // The figure is that of a round, not of a task in it.
    Sample { figures: vec![sample.figures[0] * n as f64 / 1e6, longest.as_secs_f64() * 1e3], ..sample }
}

/// Computes and yields, until it is told. How long it was away at most.
pub(crate) async fn computes<T: Tasks>(is_over: Arc<AtomicBool>) -> Duration {
    let (mut longest, mut last) = (Duration::ZERO, Instant::now());
    while !is_over.load(Relaxed) {
        let until = last + Duration::from_micros(30);
        while Instant::now() < until {
            black_box(&is_over);
        }
        T::yield_now().await;
        longest = longest.max(last.elapsed());
        last = Instant::now();
    }
    longest
}
