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

/// A row's hogs, with their work measured.
#[derive(Clone, Copy)]
pub(crate) struct Beside {
    count: usize,
    work: Option<Work>,
    yields: bool,
}

impl Beside {
    pub(crate) fn measure(setup: Setup) -> Beside {
        let work = setup.beside.map(|Hogs { computes, .. }| Work::measure(computes));
        let yields = setup.beside.is_some_and(|hogs| hogs.yields);
        Beside { count: setup.workers * HOGS, work, yields }
    }

    /// They compute until `future` is over.
    async fn run<T: Tasks, R>(self, future: impl Future<Output = R>) -> R {
        let Some(work) = self.work else { return future.await };
        let is_over = Arc::new(AtomicBool::new(false));
        let hogs: Vec<_> = (0..self.count).map(|_| T::spawn(hog::<T>(work, self.yields, is_over.clone()))).collect();
        let found = future.await;
        is_over.store(true, Relaxed);
        for hog in hogs {
            T::join(hog).await;
        }
        found
    }
}

async fn hog<T: Tasks>(work: Work, yields: bool, is_over: Arc<AtomicBool>) {
    while !is_over.load(Relaxed) {
        if yields {
            work.compute();
            T::yield_now().await;
        } else {
            T::join(T::spawn(async move { work.compute() })).await;
        }
    }
}

fn sample(late: &Late, sum: u64) -> Sample {
    Sample { tally: Tally { count: late.count(), sum }, figures: late.figures().into() }
}

/// Round trips over TCP, each of which is timed.
pub(crate) fn echo<T: Sockets>(setup: Setup) -> Round {
    T::start(setup.workers);
    let beside = Beside::measure(setup);
    Box::new(move |n| T::run(async move { beside.run::<T, _>(trips::<T>(setup.width, n / setup.width)).await }))
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
    let clients: Vec<_> = echo::connect::<T>(width).await.into_iter().map(client).collect();
    let (mut sum, mut late) = (0, Late::default());
    for client in clients {
        let (its_sum, its_late) = T::join(client).await;
        sum += its_sum;
        late.add(&its_late);
    }
    sample(&late, sum)
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
            sample(&late, sum)
        })
    })
}

/// Sleeps of 1 to 10 ms, twenty tasks at a time.
pub(crate) fn timers<T: Tasks>(setup: Setup) -> Round {
    T::start(setup.workers);
    let beside = Beside::measure(setup);
    Box::new(move |n| T::run(async move { beside.run::<T, _>(slept::<T>(n)).await }))
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
    let sleepers: Vec<_> = times.chunks(times.len().div_ceil(SLEEPERS)).map(sleeper).collect();
    let (mut sum, mut late) = (0, Late::default());
    for sleeper in sleepers {
        let (its_sum, its_late) = T::join(sleeper).await;
        sum += its_sum;
        late.add(&its_late);
    }
    sample(&late, sum)
}

/// The same beside four tasks that block for a millisecond, as the runtime says that such calls be made.
pub(crate) fn blocked<T: Tasks>(setup: Setup) -> Round {
    T::start(setup.workers);
    Box::new(move |n| {
        T::run(async move {
            let is_over = Arc::new(AtomicBool::new(false));
            let block = |is_over: Arc<AtomicBool>| async move {
                while !is_over.load(Relaxed) {
                    T::block_long(|| thread::sleep(BLOCKED)).await;
                }
            };
            let blocked: Vec<_> = (0..BLOCKERS).map(|_| T::spawn(block(is_over.clone()))).collect();
            let sample = slept::<T>(n).await;
            is_over.store(true, Relaxed);
            for blocked in blocked {
                T::join(blocked).await;
            }
            sample
        })
    })
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
            sample(&T::join(answers).await, sum)
        })
    })
}
