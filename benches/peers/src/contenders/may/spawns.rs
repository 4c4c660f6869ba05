//! Coroutines that end at once.

use super::{add_and_wake, over, run, start};
use crate::meters::Watch;
use crate::parts::Countdown;
use crate::row::{Round, Setup, Tally};
use crate::rows::spawns::{WAVE, depth};
use may::coroutine::{Coroutine, JoinHandle, current};
use may::go;

pub(crate) fn join(setup: Setup) -> Round {
    start(setup, 10_000);
    let countdown = Countdown::forever();
    Box::new(move |n| {
        run(move || {
            countdown.begin(n);
            let watch = Watch::start();
            let mut tasks = Vec::with_capacity(n as usize);
            for i in 0..n {
                tasks.push(go!(move || {
                    countdown.add(i);
                }));
            }
            tasks.into_iter().for_each(super::join);
            watch.time_and_cpu(countdown.tally())
        })
    })
}

pub(crate) fn detached(setup: Setup) -> Round {
    start(setup, 10_000);
    let countdown = Countdown::forever();
    Box::new(move |n| {
        run(move || {
            countdown.begin(n);
            let watch = Watch::start();
            let waiter: &'static Coroutine = Box::leak(Box::new(current()));
            for i in 0..n {
                drop(go!(move || add_and_wake(countdown, i, waiter)));
            }
            over(countdown);
            watch.time_and_cpu(countdown.tally())
        })
    })
}

pub(crate) fn waves(setup: Setup) -> Round {
    start(setup, 1000);
    let countdown = Countdown::forever();
    Box::new(move |n| {
        run(move || {
            let mut tally = Tally::default();
            let watch = Watch::start();
            let waiter: &'static Coroutine = Box::leak(Box::new(current()));
            for _ in 0..n / WAVE {
                countdown.begin(WAVE);
                for i in 0..WAVE {
                    drop(go!(move || add_and_wake(countdown, i, waiter)));
                }
                over(countdown);
                tally += countdown.tally();
            }
            watch.time_and_cpu(tally)
        })
    })
}

pub(crate) fn chain(setup: Setup) -> Round {
    fn link(countdown: &'static Countdown, left: u64, waiter: &'static Coroutine) {
        drop(go!(move || {
            if left > 0 {
                link(countdown, left - 1, waiter);
            }
            add_and_wake(countdown, left, waiter);
        }));
    }
    start(setup, 1000);
    let countdown = Countdown::forever();
    Box::new(move |n| {
        run(move || {
            countdown.begin(n);
            let watch = Watch::start();
            link(countdown, n - 1, Box::leak(Box::new(current())));
            over(countdown);
            watch.time_and_cpu(countdown.tally())
        })
    })
}

pub(crate) fn tree(setup: Setup) -> Round {
    fn node(depth: u32) -> JoinHandle<u64> {
        go!(move || {
            if depth == 0 {
                return 1;
            }
            let (left, right) = (node(depth - 1), node(depth - 1));
            super::join(left) + super::join(right)
        })
    }
    start(setup, 16_384);
    Box::new(|n| {
        run(move || {
            let watch = Watch::start();
            let leaves = super::join(node(depth(n)));
            watch.time_and_cpu(Tally { count: 2 * leaves - 1, sum: leaves })
        })
    })
}
