//! Sparse events that come from inside: a task computes, sends to a task that waits, and computes again.

use crate::meters::{quantile, thread_cpu};
use crate::row::{Round, Setup};
use crate::rows::sparse::{Alone, Received, Start};
use crate::tasks::Tasks;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// What is computed between two events takes about so long.
pub(crate) const BETWEEN: Duration = Duration::from_micros(5);

pub(crate) fn open<T: Tasks>(setup: Setup) -> Round {
    T::start(setup.workers);
    let work = Work::measure(BETWEEN);
    Box::new(move |n| {
        let alone = work.alone(n);
        T::run(async move {
            // With room for one: a sender waits until its last message was taken, so none can be left to the end.
            let (send, sent) = async_channel::bounded(1);
            let start = Start::now();
            T::detach(async move {
                for i in 0..n {
                    work.compute();
                    send.send((i, Instant::now())).await.expect("it listens");
                }
            });
            let mut received = Received::default();
            while let Ok(message) = sent.recv().await {
                received.take(message);
            }
            received.since(start, alone)
        })
    })
}

/// A computation of so many steps. By the clock it would be less of one where its thread was set aside.
#[derive(Clone, Copy)]
pub(crate) struct Work {
    steps: u64,
}

impl Work {
    /// One that takes as long as it should, on this machine.
    pub(crate) fn measure(of: Duration) -> Work {
        let sample = Work { steps: 10_000 };
        let time = |_| {
            let start = Instant::now();
            sample.compute();
            start.elapsed()
        };
        let least = (0..100).map(time).min().expect("some");
        Work { steps: sample.steps * of.as_nanos() as u64 / least.as_nanos() as u64 }
    }

    pub(crate) fn compute(self) {
        for i in 0..self.steps {
            black_box(i);
        }
    }

    /// What it uses where nothing is sent: half of some batches use less.
    pub(crate) fn alone(self, times: u64) -> Alone {
        const BATCH: u64 = 100;
        let batch = |_| {
            let start = thread_cpu();
            (0..BATCH).for_each(|_| self.compute());
            (thread_cpu() - start) as f64 / BATCH as f64
        };
        let mut cpu: Vec<_> = (0..times.div_ceil(BATCH)).map(batch).collect();
        cpu.sort_by(f64::total_cmp);
        Alone { cpu: quantile(&cpu, 0.5), switches: 0.0 }
    }
}
