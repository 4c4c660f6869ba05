//! Many pairs of tasks, each with two channels with room for one.

use crate::meters::Watch;
use crate::row::{Round, Setup, Tally, sum_below};
use crate::tasks::Tasks;

/// Each pair counts from 0. The answer to `i` is `i + 1`.
pub(crate) fn tally(setup: Setup, n: u64) -> Tally {
    let each = n / setup.width;
    Tally { count: each * setup.width, sum: (sum_below(each) + each) * setup.width }
}

pub(crate) fn open<T: Tasks>(setup: Setup) -> Round {
    T::start(setup.workers);
    Box::new(move |n| T::run(all::<T>(setup.width, n / setup.width)))
}

async fn all<T: Tasks>(width: u64, each: u64) -> crate::row::Sample {
    let watch = Watch::start();
    let pairs: Vec<_> = (0..width)
        .map(|_| {
            let (ping, pinged) = async_channel::bounded(1);
            let (pong, ponged) = async_channel::bounded(1);
            T::detach(async move {
                while let Ok(i) = pinged.recv().await {
                    pong.send(i + 1).await.expect("it listens");
                }
            });
            T::spawn(async move {
                let mut sum: u64 = 0;
                for i in 0..each {
                    ping.send(i).await.expect("it listens");
                    sum += ponged.recv().await.expect("it answers");
                }
                sum
            })
        })
        .collect();
    let mut sum = 0;
    for pair in pairs {
        sum += T::join(pair).await;
    }
    watch.time_and_cpu(Tally { count: width * each, sum })
}
