//! What a task costs that does nothing but wait.

use crate::meters::{allocated, resident};
use crate::parts::{Countdown, Gate, Pass};
use crate::row::{Round, Sample, Setup, Tally, sum_below};
use crate::tasks::Tasks;

pub(crate) fn tally(_: Setup, n: u64) -> Tally {
    Tally { count: n, sum: sum_below(n) }
}

pub(crate) fn open<T: Tasks>(setup: Setup) -> Round {
    T::start(setup.workers);
    let countdown = Countdown::forever();
    // More than any round asks for, so that the list of wakers never grows.
    let gate = Gate::forever(1 << 17);
    Box::new(move |n| {
        T::run(async move {
            let first = waited::<T>(countdown, gate, n).await;
            sample(countdown.tally(), first, waited::<T>(countdown, gate, n).await)
        })
    })
}

/// `n` tasks come, wait, and go.
async fn waited<T: Tasks>(countdown: &'static Countdown, gate: &'static Gate, n: u64) -> Waited {
    countdown.begin(n);
    let before = Memory::now();
    for i in 0..n {
        T::detach(async move {
            Pass(gate).await;
            countdown.add_and_wake(i);
        });
    }
    while gate.waiting() < n {
        T::yield_now().await;
    }
    let waiting = Memory::now();
    gate.open();
    countdown.over().await;
    // The last one has counted down, and is freed when it returns.
    for _ in 0..10 {
        T::yield_now().await;
    }
    gate.close();
    Waited { before, waiting, after: Memory::now() }
}

#[derive(Clone, Copy)]
pub(crate) struct Memory {
    allocated: i64,
    resident: i64,
}

impl Memory {
    pub(crate) fn now() -> Memory {
        Memory { allocated: allocated(), resident: resident() }
    }
}

/// Before the tasks were spawned, while all of them waited, and after they had ended.
pub(crate) struct Waited {
    pub(crate) before: Memory,
    pub(crate) waiting: Memory,
    pub(crate) after: Memory,
}

/// What the first so many tasks of the process cost, with all that grew for them.
///
/// # Panics
/// If as many again leave anything: what stays after the first may be tables that have grown, what stays after the second
/// is lost.
pub(crate) fn sample(tally: Tally, first: Waited, second: Waited) -> Sample {
    let each = |bytes: i64| bytes as f64 / tally.count as f64;
    let lost = each(second.after.allocated - first.after.allocated);
    assert!(lost < 1.0, "{lost} bytes a task were not given back");
    Sample {
        tally,
        figures: vec![
            each(first.waiting.allocated - first.before.allocated),
            each(first.waiting.resident - first.before.resident),
            each(first.after.allocated - first.before.allocated),
        ],
    }
}
