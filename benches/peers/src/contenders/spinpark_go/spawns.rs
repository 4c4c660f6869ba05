//! Goroutines that end at once.

use super::run;
use crate::contenders::spinpark::Spinpark;
use crate::meters::Watch;
use crate::parts::Countdown;
use crate::row::{Round, Setup, Tally};
use crate::rows::spawns::{WAVE, depth};
use crate::tasks::Tasks;
use spinpark::{JoinHandle, Wait, go};

pub(crate) fn join(setup: Setup) -> Round {
    Spinpark::start(setup.workers);
    let countdown = Countdown::forever();
    Box::new(move |n| {
        run(move || {
            countdown.begin(n);
            let watch = Watch::start();
            let mut tasks = Vec::with_capacity(n as usize);
            for i in 0..n {
                tasks.push(go(move || {
                    countdown.add(i);
                }));
            }
            tasks.into_iter().for_each(super::join);
            watch.time_and_cpu(countdown.tally())
        })
    })
}

pub(crate) fn detached(setup: Setup) -> Round {
    Spinpark::start(setup.workers);
    let countdown = Countdown::forever();
    Box::new(move |n| {
        run(move || {
            countdown.begin(n);
            let watch = Watch::start();
            for i in 0..n {
                drop(go(move || countdown.add_and_wake(i)));
            }
            countdown.over().wait();
            watch.time_and_cpu(countdown.tally())
        })
    })
}

pub(crate) fn waves(setup: Setup) -> Round {
    Spinpark::start(setup.workers);
    let countdown = Countdown::forever();
    Box::new(move |n| {
        run(move || {
            let mut tally = Tally::default();
            let watch = Watch::start();
            for _ in 0..n / WAVE {
                countdown.begin(WAVE);
                for i in 0..WAVE {
                    drop(go(move || countdown.add_and_wake(i)));
                }
                countdown.over().wait();
                tally += countdown.tally();
            }
            watch.time_and_cpu(tally)
        })
    })
}

pub(crate) fn nested(setup: Setup) -> Round {
    Spinpark::start(setup.workers);
    let countdown = Countdown::forever();
    Box::new(move |n| {
        let each = n / setup.width;
        run(move || {
            countdown.begin(setup.width * each);
            let watch = Watch::start();
            for spawner in 0..setup.width {
                drop(go(move || {
                    for i in 0..each {
                        drop(go(move || countdown.add_and_wake(spawner * each + i)));
                    }
                }));
            }
            countdown.over().wait();
            watch.time_and_cpu(countdown.tally())
        })
    })
}

pub(crate) fn chain(setup: Setup) -> Round {
    fn link(countdown: &'static Countdown, left: u64) {
        drop(go(move || {
            if left > 0 {
                link(countdown, left - 1);
            }
            countdown.add_and_wake(left);
        }));
    }
    Spinpark::start(setup.workers);
    let countdown = Countdown::forever();
    Box::new(move |n| {
        run(move || {
            countdown.begin(n);
            let watch = Watch::start();
            link(countdown, n - 1);
            countdown.over().wait();
            watch.time_and_cpu(countdown.tally())
        })
    })
}

pub(crate) fn tree(setup: Setup) -> Round {
    fn node(depth: u32) -> JoinHandle<u64> {
        go(move || {
            if depth == 0 {
                return 1;
            }
            let (left, right) = (node(depth - 1), node(depth - 1));
            super::join(left) + super::join(right)
        })
    }
    Spinpark::start(setup.workers);
    Box::new(|n| {
        run(move || {
            let watch = Watch::start();
            let leaves = super::join(node(depth(n)));
            watch.time_and_cpu(Tally { count: 2 * leaves - 1, sum: leaves })
        })
    })
}
