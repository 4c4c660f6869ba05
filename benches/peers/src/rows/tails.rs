//! How late things are that nothing but the scheduler delays.

use crate::meters::Late;
use crate::row::{Hogs, Round, Sample, Setup, Tally, sum_below};
use crate::rows::busy::Work;
use crate::rows::echo::{self, MESSAGE, message, number};
use crate::rows::timers;
use crate::tasks::{Sockets, Tasks};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

/// Hogs a worker.
pub(crate) const HOGS: usize = 2;

/// The computation of a row's hogs, measured, and whether they yield.
pub(crate) fn hogs(setup: Setup) -> Option<(Work, bool)> {
    setup.beside.map(|Hogs { computes, yields }| (Work::measure(computes), yields))
}

/// `others` tasks do `again` until `future` is over.
async fn beside<T: Tasks, F, R>(
    others: usize,
    again: impl Fn() -> F + Copy + Send + 'static,
    future: impl Future<Output = R>,
) -> R
where
    F: Future<Output = ()> + Send,
{
    let is_over = Arc::new(AtomicBool::new(false));
    let other = |_| {
        let is_over = Arc::clone(&is_over);
        T::spawn(async move {
            while !is_over.load(Relaxed) {
                again().await;
            }
        })
    };
    let others: Vec<_> = (0..others).map(other).collect();
    let found = future.await;
    is_over.store(true, Relaxed);
    for other in others {
        T::join(other).await;
    }
    found
}

/// What the row has beside it.
async fn beside_hogs<T: Tasks, R>(workers: usize, hogs: Option<(Work, bool)>, future: impl Future<Output = R>) -> R {
    let Some((work, yields)) = hogs else { return future.await };
    let again = move || async move {
        if yields {
            work.compute();
            T::yield_now().await;
        } else {
            T::join(T::spawn(async move { work.compute() })).await;
        }
    };
    beside::<T, _, R>(workers * HOGS, again, future).await
}

/// Of tasks that have measured how late each of their numbers was.
async fn all<T: Tasks>(tasks: Vec<T::Handle<(u64, Late)>>) -> Sample {
    let mut found = Vec::new();
    for task in tasks {
        found.push(T::join(task).await);
    }
    Late::sample_of(found)
}

/// Round trips over TCP, each of which is timed.
pub(crate) fn echo<T: Sockets>(setup: Setup) -> Round {
    T::start(setup.workers);
    let Setup { workers, width, .. } = setup;
    let hogs = hogs(setup);
    Box::new(move |n| T::run(beside_hogs::<T, _>(workers, hogs, trips::<T>(width, n / width))))
}

async fn trips<T: Sockets>(width: u64, each: u64) -> Sample {
    let client = |mut stream: T::Stream| {
        T::spawn(async move {
            let (mut sum, mut late) = (0, Late::default());
            for i in 0..each {
                let start = Instant::now();
                sum += trip::<T>(&mut stream, i).await;
                late.take(start.elapsed());
            }
            (sum, late)
        })
    };
    all::<T>(echo::connect::<T>(width).await.into_iter().map(client).collect()).await
}

async fn trip<T: Sockets>(stream: &mut T::Stream, i: u64) -> u64 {
    let mut answer = [0; MESSAGE];
    T::write(stream, &message(i)).await;
    assert!(T::read(stream, &mut answer).await, "the server has closed");
    number(&answer)
}

/// Each of `n` requests asks all `width` servers at once, by a task each, and waits for all answers.
pub(crate) fn fan_out<T: Sockets>(setup: Setup) -> Round {
    T::start(setup.workers);
    Box::new(move |n| {
        T::run(async move {
            let mut streams = echo::connect::<T>(setup.width).await;
            let (mut sum, mut late) = (0, Late::default());
            for i in 0..n {
                let start = Instant::now();
                let ask = |mut stream| {
                    T::spawn(async move {
                        let answer = trip::<T>(&mut stream, i).await;
                        (stream, answer)
                    })
                };
                let asked: Vec<_> = streams.drain(..).map(ask).collect();
                for asked in asked {
                    let (stream, answer) = T::join(asked).await;
                    assert_eq!(answer, i, "the answer to another request");
                    streams.push(stream);
                }
                late.take(start.elapsed());
                sum += i;
            }
            late.sample(sum)
        })
    })
}

/// Sleeps of 1 to 10 ms, twenty tasks at a time.
pub(crate) fn timers<T: Tasks>(setup: Setup) -> Round {
    T::start(setup.workers);
    let hogs = hogs(setup);
    Box::new(move |n| T::run(beside_hogs::<T, _>(setup.workers, hogs, slept::<T>(n))))
}

pub(crate) const SLEEPERS: usize = 20;

async fn slept<T: Tasks>(n: u64) -> Sample {
    let times: Vec<_> = timers::times(n).collect();
    let sleeper = |times: &[Duration]| {
        let times = times.to_vec();
        T::spawn(async move {
            let (mut sum, mut late) = (0, Late::default());
            for time in times {
                let start = Instant::now();
                T::sleep(time).await;
                late.take(start.elapsed() - time);
                sum += time.as_micros() as u64;
            }
            (sum, late)
        })
    };
    all::<T>(times.chunks(times.len().div_ceil(SLEEPERS)).map(sleeper).collect()).await
}

/// The same beside four tasks that block for a millisecond, as the runtime says that such calls be made.
pub(crate) fn blocked<T: Tasks>(setup: Setup) -> Round {
    T::start(setup.workers);
    let again = || T::block_long(|| thread::sleep(BLOCKED));
    Box::new(move |n| T::run(beside::<T, _, _>(BLOCKERS, again, slept::<T>(n))))
}

pub(crate) const BLOCKERS: usize = 4;
pub(crate) const BLOCKED: Duration = Duration::from_millis(1);

/// After so many round trips the last message goes one way, and its sender computes for a millisecond.
pub(crate) const HABIT: u64 = 100;
pub(crate) const COMPUTES: Duration = Duration::from_millis(1);

pub(crate) fn tally_of_last(_: Setup, n: u64) -> Tally {
    Tally { count: n, sum: n * sum_below(HABIT) }
}

pub(crate) fn last<T: Tasks>(setup: Setup) -> Round {
    T::start(setup.workers);
    let work = Work::measure(COMPUTES);
    Box::new(move |n| {
        T::run(async move {
            let (ping, pinged) = async_channel::bounded(1);
            let (pong, ponged) = async_channel::bounded(1);
            let answers = T::spawn(async move {
                let mut late = Late::default();
                while let Ok((i, sent)) = pinged.recv().await {
                    match sent {
                        None => pong.send(i).await.expect("it listens"),
                        Some(sent) => late.take(Instant::elapsed(&sent)),
                    }
                }
                late
            });
            let mut sum = 0;
            for _ in 0..n {
                for i in 0..HABIT {
                    ping.send((i, None)).await.expect("it listens");
                    sum += ponged.recv().await.expect("it answers");
                }
                ping.send((HABIT, Some(Instant::now()))).await.expect("it listens");
                work.compute();
            }
            drop(ping);
            T::join(answers).await.sample(sum)
        })
    })
}
