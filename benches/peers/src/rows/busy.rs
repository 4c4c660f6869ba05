//! Sparse events that come from inside: a task computes, sends to a task that waits, and computes again.

use crate::meters::thread_cpu;
use crate::row::{Round, Setup};
use crate::rows::sparse::{Alone, Received, Start};
use crate::tasks::Tasks;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// What is computed between two events takes about so long.
const BETWEEN: Duration = Duration::from_micros(5);

pub(crate) fn open<T: Tasks>(setup: Setup) -> Round {
    T::start(setup.workers);
    let work = Work::measure();
    Box::new(move |n| {
        let alone = work.alone(n);
        T::run(async move {
            // With room for one: who sends waits until what it sent before was taken, so nobody can take all at the end.
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
    pub(crate) fn measure() -> Work {
        let sample = Work { steps: 10_000 };
        let time = |_| {
            let start = Instant::now();
            sample.compute();
            start.elapsed()
        };
        let least = (0..100).map(time).min().expect("some");
        Work { steps: sample.steps * BETWEEN.as_nanos() as u64 / least.as_nanos() as u64 }
    }

    pub(crate) fn compute(self) {
        for i in 0..self.steps {
            black_box(i);
        }
    }

    /// What it uses where nothing is sent.
    pub(crate) fn alone(self, times: u64) -> Alone {
        let start = thread_cpu();
        for _ in 0..times {
            self.compute();
        }
        Alone { cpu: (thread_cpu() - start) as f64 / times as f64, switches: 0.0 }
    }
}
