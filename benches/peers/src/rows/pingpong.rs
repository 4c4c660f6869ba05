//! Two tasks and two channels with room for one.

use crate::contenders::spinpark::Spinpark;
use crate::contenders::tokio::Tokio;
use crate::meters::Watch;
use crate::row::{Round, Setup, Tally, sum_below};
use crate::tasks::Tasks;

/// The answer to `i` is `i + 1`.
pub(crate) fn tally(_: Setup, n: u64) -> Tally {
    Tally { count: n, sum: sum_below(n) + n }
}

pub(crate) fn open<T: Tasks>(setup: Setup) -> Round {
    T::start(setup.workers);
    Box::new(|n| {
        T::run(async move {
            let (ping, pinged) = async_channel::bounded(1);
            let (pong, ponged) = async_channel::bounded(1);
            let answers = T::spawn(async move {
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
            let sample = watch.time(Tally { count: n, sum });
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
            let sample = watch.time(Tally { count: n, sum });
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
            let sample = watch.time(Tally { count: n, sum });
            drop(ping);
            Spinpark::join(answers).await;
            sample
        })
    })
}
