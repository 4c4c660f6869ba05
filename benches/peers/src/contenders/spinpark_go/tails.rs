//! How late things are, in goroutines.

use super::{connect, join, run, wait};
use crate::contenders::spinpark::Spinpark;
use crate::meters::Late;
use crate::row::{Round, Sample, Setup};
use crate::rows::busy::Work;
use crate::rows::echo::{MESSAGE, message, number};
use crate::rows::tails::{BLOCKED, BLOCKERS, COMPUTES, HABIT, HOGS, SLEEPERS, hogs};
use crate::rows::timers::times;
use crate::tasks::{Sockets, Tasks};
use spinpark::time::sleep;
use spinpark::{Wait, chan, go, yield_now};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

type Stream = <Spinpark as Sockets>::Stream;

/// `others` goroutines do `again` until `does` is over.
fn beside<R>(others: usize, again: impl Fn() + Clone + Send + 'static, does: impl FnOnce() -> R) -> R {
    let is_over = Arc::new(AtomicBool::new(false));
    let other = |_| {
        let (is_over, again) = (Arc::clone(&is_over), again.clone());
        go(move || {
            while !is_over.load(Relaxed) {
                again();
            }
        })
    };
    let others: Vec<_> = (0..others).map(other).collect();
    let found = does();
    is_over.store(true, Relaxed);
    others.into_iter().for_each(join);
    found
}

/// What the row has beside it.
fn beside_hogs<R>(workers: usize, hogs: Option<(Work, bool)>, does: impl FnOnce() -> R) -> R {
    let Some((work, yields)) = hogs else { return does() };
    let again = move || {
        if yields {
            work.compute();
            yield_now().wait();
        } else {
            join(go(move || work.compute()));
        }
    };
    beside(workers * HOGS, again, does)
}

pub(crate) fn echo(setup: Setup) -> Round {
    Spinpark::start(setup.workers);
    let hogs = hogs(setup);
    Box::new(move |n| run(move || beside_hogs(setup.workers, hogs, || trips(setup.width, n / setup.width))))
}

fn trips(width: u64, each: u64) -> Sample {
    let client = |mut stream: Stream| {
        go(move || {
            let (mut sum, mut late) = (0, Late::default());
            for i in 0..each {
                let start = Instant::now();
                sum += trip(&mut stream, i);
                late.take(start.elapsed());
            }
            (sum, late)
        })
    };
    let clients: Vec<_> = connect(width).into_iter().map(client).collect();
    Late::sample_of(clients.into_iter().map(join))
}

fn trip(stream: &mut Stream, i: u64) -> u64 {
    let mut answer = [0; MESSAGE];
    wait(Spinpark::write(stream, &message(i)));
    assert!(wait(Spinpark::read(stream, &mut answer)), "the server has closed");
    number(&answer)
}

pub(crate) fn fan_out(setup: Setup) -> Round {
    Spinpark::start(setup.workers);
    Box::new(move |n| {
        run(move || {
            let mut streams = connect(setup.width);
            let (mut sum, mut late) = (0, Late::default());
            for i in 0..n {
                let start = Instant::now();
                let ask = |mut stream| {
                    go(move || {
                        let answer = trip(&mut stream, i);
                        (stream, answer)
                    })
                };
                let asked: Vec<_> = streams.drain(..).map(ask).collect();
                for (stream, answer) in asked.into_iter().map(join) {
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

pub(crate) fn timers(setup: Setup) -> Round {
    Spinpark::start(setup.workers);
    let hogs = hogs(setup);
    Box::new(move |n| run(move || beside_hogs(setup.workers, hogs, || slept(n))))
}

fn slept(n: u64) -> Sample {
    let times: Vec<_> = times(n).collect();
    let sleeper = |times: &[Duration]| {
        let times = times.to_vec();
        go(move || {
            let (mut sum, mut late) = (0, Late::default());
            for time in times {
                let start = Instant::now();
                sleep(time).wait();
                late.take(start.elapsed() - time);
                sum += time.as_micros() as u64;
            }
            (sum, late)
        })
    };
    let sleepers: Vec<_> = times.chunks(times.len().div_ceil(SLEEPERS)).map(sleeper).collect();
    Late::sample_of(sleepers.into_iter().map(join))
}

pub(crate) fn blocked(setup: Setup) -> Round {
    Spinpark::start(setup.workers);
    let block = || spinpark::blocking(|| thread::sleep(BLOCKED));
    Box::new(move |n| run(move || beside(BLOCKERS, block, || slept(n))))
}

pub(crate) fn last(setup: Setup) -> Round {
    Spinpark::start(setup.workers);
    let work = Work::measure(COMPUTES);
    Box::new(move |n| {
        run(move || {
            let (ping, pinged) = chan::bounded(1);
            let (pong, ponged) = chan::bounded(1);
            let answers = go(move || {
                let mut late = Late::default();
                while let Ok((i, sent)) = pinged.recv().wait() {
                    match sent {
                        None => pong.send(i).wait().expect("it listens"),
                        Some(sent) => late.take(Instant::elapsed(&sent)),
                    }
                }
                late
            });
            let mut sum = 0;
            for _ in 0..n {
                for i in 0..HABIT {
                    ping.send((i, None)).wait().expect("it listens");
                    sum += ponged.recv().wait().expect("it answers");
                }
                ping.send((HABIT, Some(Instant::now()))).wait().expect("it listens");
                work.compute();
            }
            drop(ping);
            join(answers).sample(sum)
        })
    })
}
