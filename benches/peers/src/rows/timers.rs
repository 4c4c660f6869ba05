//! Sleeps: such as are never slept, and such as are.

use crate::meters::{Late, Watch};
use crate::row::{Round, Sample, Setup, Tally, sum_below};
use crate::tasks::Tasks;
use futures_lite::future::poll_once;
use std::pin::pin;
use std::time::{Duration, Instant};

/// All that were polled were pending.
pub(crate) fn tally_of_cancelled(_: Setup, n: u64) -> Tally {
    Tally { count: n, sum: sum_below(n) }
}

pub(crate) fn cancel<T: Tasks>(setup: Setup) -> Round {
    T::start(setup.workers);
    Box::new(|n| {
        T::run(async move {
            let mut tally = Tally { count: 0, sum: 0 };
            let watch = Watch::start();
            for i in 0..n {
                let sleep = pin!(T::sleep(Duration::from_secs(1)));
                if poll_once(sleep).await.is_none() {
                    tally.count += 1;
                    tally.sum += i;
                }
            }
            watch.time(tally)
        })
    })
}

/// 1 to 10 ms. The same in every round, and for every contender: go/main.go has them too.
pub(crate) fn times(n: u64) -> impl Iterator<Item = Duration> {
    (0..n).map(|i| Duration::from_micros(1_000 + i * 7_919 % 9_000))
}

/// The microseconds that all slept.
pub(crate) fn tally_of_slept(_: Setup, n: u64) -> Tally {
    Tally { count: n, sum: times(n).map(|time| time.as_micros() as u64).sum() }
}

pub(crate) fn sleep<T: Tasks>(setup: Setup) -> Round {
    T::start(setup.workers);
    Box::new(|n| {
        T::run(async move {
            let watch = Watch::start();
            let tasks: Vec<_> = times(n)
                .map(|time| {
                    T::spawn(async move {
                        let start = Instant::now();
                        T::sleep(time).await;
                        (time, start.elapsed())
                    })
                })
                .collect();
            let mut slept = Vec::with_capacity(n as usize);
            for task in tasks {
                slept.push(T::join(task).await);
            }
            lateness(watch, &slept)
        })
    })
}

/// How long each was to sleep, and how long it did.
pub(crate) fn lateness(watch: Watch, slept: &[(Duration, Duration)]) -> Sample {
    let sum = slept.iter().map(|(asked, _)| asked.as_micros() as u64).sum();
    let cpu = watch.time_and_cpu(Tally { count: slept.len() as u64, sum });
    let mut late = Late::default();
    for (asked, found) in slept {
        assert!(found >= asked, "it slept {found:?}, not {asked:?}");
        late.take(*found - *asked);
    }
    let mut figures = vec![cpu.figures[1]];
    figures.extend(late.figures());
    Sample { figures, ..cpu }
}
