//! Tasks that yield.

use crate::meters::Watch;
use crate::row::{Round, Setup, Tally, sum_below};
use crate::tasks::Tasks;
use std::hint::black_box;

/// Each of the tasks counts its operations from 0.
pub(crate) fn tally(setup: Setup, n: u64) -> Tally {
    let each = n / setup.width;
    Tally { count: each * setup.width, sum: sum_below(each) * setup.width }
}

pub(crate) fn open<T: Tasks>(setup: Setup) -> Round {
    T::start(setup.workers);
    Box::new(move |n| T::run(all::<T>(setup.width, n / setup.width)))
}

async fn all<T: Tasks>(width: u64, each: u64) -> crate::row::Sample {
    let watch = Watch::start();
    let tasks: Vec<_> = (0..width)
        .map(|_| {
            T::spawn(async move {
                let mut sum = 0;
                for i in 0..each {
                    T::yield_now().await;
                    sum += black_box(i);
                }
                sum
            })
        })
        .collect();
    let mut sum = 0;
    for task in tasks {
        sum += T::join(task).await;
    }
    watch.time_and_cpu(Tally { count: width * each, sum })
}
