//! Two tasks and two channels with room for one; and many such pairs.

use crate::contenders::spinpark::Spinpark;
use crate::contenders::tokio::Tokio;
use crate::meters::Watch;
use crate::row::{Round, Sample, Setup, Tally, sum_below};
use crate::tasks::Tasks;
use async_channel::{Receiver, Sender};

/// Each pair counts from 0. The answer to `i` is `i + 1`.
pub(crate) fn tally(setup: Setup, n: u64) -> Tally {
    let each = n / setup.width;
    Tally { count: each * setup.width, sum: (sum_below(each) + each) * setup.width }
}

/// The one that answers.
async fn answers(pinged: Receiver<u64>, pong: Sender<u64>) {
    while let Ok(i) = pinged.recv().await {
        pong.send(i + 1).await.expect("it listens");
    }
}

/// The one that asks: so often; the sum of the answers.
async fn asks(n: u64, ping: &Sender<u64>, ponged: &Receiver<u64>) -> u64 {
    let mut sum = 0;
    for i in 0..n {
        ping.send(i).await.expect("it listens");
        sum += ponged.recv().await.expect("it answers");
    }
    sum
}

pub(crate) fn pairs<T: Tasks>(setup: Setup) -> Round {
    T::start(setup.workers);
    Box::new(move |n| T::run(all::<T>(setup.width, n / setup.width)))
}

async fn all<T: Tasks>(width: u64, each: u64) -> Sample {
    let watch = Watch::start();
    let pairs: Vec<_> = (0..width)
        .map(|_| {
            let (ping, pinged) = async_channel::bounded(1);
            let (pong, ponged) = async_channel::bounded(1);
            T::detach(answers(pinged, pong));
            T::spawn(async move { asks(each, &ping, &ponged).await })
        })
        .collect();
    let mut sum = 0;
    for pair in pairs {
        sum += T::join(pair).await;
    }
    watch.time_and_cpu(Tally { count: width * each, sum })
}

pub(crate) fn open<T: Tasks>(setup: Setup) -> Round {
    T::start(setup.workers);
    Box::new(|n| {
        T::run(async move {
            let (ping, pinged) = async_channel::bounded(1);
            let (pong, ponged) = async_channel::bounded(1);
            let answers = T::spawn(answers(pinged, pong));
            let watch = Watch::start();
            let sum = asks(n, &ping, &ponged).await;
            let sample = watch.time_and_cpu(Tally { count: n, sum });
            drop(ping);
            T::join(answers).await;
            sample
        })
    })
}

/// The same by tokio's own channel.
pub(crate) fn tokio_mpsc(setup: Setup) -> Round {
    use tokio::sync::mpsc;
    Tokio::start(setup.workers);
    Box::new(|n| {
        Tokio::run(async move {
            let (ping, mut pinged) = mpsc::channel(1);
            let (pong, mut ponged) = mpsc::channel(1);
            let answers = Tokio::spawn(async move {
                while let Some(i) = pinged.recv().await {
                    pong.send(i + 1).await.expect("it listens");
                }
            });
            let watch = Watch::start();
            let mut sum: u64 = 0;
            for i in 0..n {
                ping.send(i).await.expect("it listens");
                sum += ponged.recv().await.expect("it answers");
            }
            let sample = watch.time_and_cpu(Tally { count: n, sum });
            drop(ping);
            Tokio::join(answers).await;
            sample
        })
    })
}

/// The same by spinpark's own channel.
pub(crate) fn spinpark_chan(setup: Setup) -> Round {
    use spinpark::chan;
    Spinpark::start(setup.workers);
    Box::new(|n| {
        Spinpark::run(async move {
            let (ping, pinged) = chan::bounded(1);
            let (pong, ponged) = chan::bounded(1);
            let answers = Spinpark::spawn(async move {
                while let Ok(i) = pinged.recv().await {
                    pong.send(i + 1).await.expect("it listens");
                }
            });
            let watch = Watch::start();
            let mut sum: u64 = 0;
            for i in 0..n {
                ping.send(i).await.expect("it listens");
                sum += ponged.recv().await.expect("it answers");
            }
            let sample = watch.time_and_cpu(Tally { count: n, sum });
            drop(ping);
            Spinpark::join(answers).await;
            sample
        })
    })
}
