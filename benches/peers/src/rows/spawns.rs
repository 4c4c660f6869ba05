//! Tasks that end at once: what it costs that there was one.

use crate::meters::Watch;
use crate::parts::Countdown;
use crate::row::{Round, Setup, Tally, sum_below};
use crate::tasks::Tasks;

pub(crate) fn tally(_: Setup, n: u64) -> Tally {
    Tally { count: n, sum: sum_below(n) }
}

/// How deep a tree of `n` tasks is.
pub(crate) fn depth(n: u64) -> u32 {
    (n + 1).ilog2() - 1
}

/// All its tasks, and all its leaves.
pub(crate) fn tally_of_tree(_: Setup, n: u64) -> Tally {
    Tally { count: (2 << depth(n)) - 1, sum: 1 << depth(n) }
}

/// Waves of so many.
pub(crate) const WAVE: u64 = 1000;

/// The numbers of each wave begin at 0.
pub(crate) fn tally_of_waves(_: Setup, n: u64) -> Tally {
    Tally { count: n / WAVE * WAVE, sum: n / WAVE * sum_below(WAVE) }
}

/// `width` tasks spawn as many each.
pub(crate) fn tally_of_nested(setup: Setup, n: u64) -> Tally {
    tally(setup, n / setup.width * setup.width)
}

pub(crate) fn join<T: Tasks>(setup: Setup) -> Round {
    T::start(setup.workers);
    let countdown = Countdown::forever();
    Box::new(move |n| {
        T::run(async move {
            countdown.begin(n);
            let watch = Watch::start();
            let mut tasks = Vec::with_capacity(n as usize);
            for i in 0..n {
                tasks.push(T::spawn(async move {
                    countdown.add(i);
                }));
            }
            for task in tasks {
                T::join(task).await;
            }
            watch.time_and_cpu(countdown.tally())
        })
    })
}

pub(crate) fn detached<T: Tasks>(setup: Setup) -> Round {
    T::start(setup.workers);
    let countdown = Countdown::forever();
    Box::new(move |n| {
        T::run(async move {
            countdown.begin(n);
            let watch = Watch::start();
            for i in 0..n {
                T::detach(async move { countdown.add_and_wake(i) });
            }
            countdown.over().await;
            watch.time_and_cpu(countdown.tally())
        })
    })
}

pub(crate) fn waves<T: Tasks>(setup: Setup) -> Round {
    T::start(setup.workers);
    let countdown = Countdown::forever();
    Box::new(move |n| {
        T::run(async move {
            let mut tally = Tally::default();
            let watch = Watch::start();
            for _ in 0..n / WAVE {
                countdown.begin(WAVE);
                for i in 0..WAVE {
                    T::detach(async move { countdown.add_and_wake(i) });
                }
                countdown.over().await;
                tally += countdown.tally();
            }
            watch.time_and_cpu(tally)
        })
    })
}

pub(crate) fn nested<T: Tasks>(setup: Setup) -> Round {
    T::start(setup.workers);
    let countdown = Countdown::forever();
    Box::new(move |n| {
        let each = n / setup.width;
        T::run(async move {
            countdown.begin(setup.width * each);
            let watch = Watch::start();
            for spawner in 0..setup.width {
                T::detach(async move {
                    for i in 0..each {
                        T::detach(async move { countdown.add_and_wake(spawner * each + i) });
                    }
                });
            }
            countdown.over().await;
            watch.time_and_cpu(countdown.tally())
        })
    })
}

pub(crate) fn chain<T: Tasks>(setup: Setup) -> Round {
    fn link<T: Tasks>(countdown: &'static Countdown, left: u64) {
        T::detach(async move {
            if left > 0 {
                link::<T>(countdown, left - 1);
            }
            countdown.add_and_wake(left);
        });
    }
    T::start(setup.workers);
    let countdown = Countdown::forever();
    Box::new(move |n| {
        T::run(async move {
            countdown.begin(n);
            let watch = Watch::start();
            link::<T>(countdown, n - 1);
            countdown.over().await;
            watch.time_and_cpu(countdown.tally())
        })
    })
}

pub(crate) fn tree<T: Tasks>(setup: Setup) -> Round {
    fn node<T: Tasks>(depth: u32) -> T::Handle<u64> {
        T::spawn(async move {
            if depth == 0 {
                return 1;
            }
            let (left, right) = (node::<T>(depth - 1), node::<T>(depth - 1));
            T::join(left).await + T::join(right).await
        })
    }
    T::start(setup.workers);
    Box::new(|n| {
        T::run(async move {
            let watch = Watch::start();
            let leaves = T::join(node::<T>(depth(n))).await;
            watch.time_and_cpu(Tally { count: 2 * leaves - 1, sum: leaves })
        })
    })
}
