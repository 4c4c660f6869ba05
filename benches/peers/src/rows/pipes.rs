//! Bytes to and fro over two pipes, each end of which is a descriptor that its runtime watches.

use crate::contenders::smol::Smol;
use crate::contenders::spinpark::Spinpark;
use crate::contenders::tokio::Tokio;
use crate::meters::Watch;
use crate::row::{Round, Setup, Tally};
use crate::rows::echo::{MESSAGE, message, number};
use crate::tasks::Tasks;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsFd;

/// Both ends of a pipe. A message is shorter than what a pipe takes at once, so it comes whole.
trait Pipes: Tasks {
    type Reads: Send + 'static;
    type Writes: Send + 'static;

    fn reader(end: PipeReader) -> Self::Reads;
    fn writer(end: PipeWriter) -> Self::Writes;
    fn read(end: &Self::Reads, bytes: &mut [u8; MESSAGE]) -> impl Future<Output = usize> + Send;
    fn write(end: &Self::Writes, bytes: &[u8; MESSAGE]) -> impl Future<Output = usize> + Send;
}

pub(crate) fn tokio(setup: Setup) -> Round {
    open::<Tokio>(setup)
}

pub(crate) fn smol(setup: Setup) -> Round {
    open::<Smol>(setup)
}

pub(crate) fn spinpark(setup: Setup) -> Round {
    open::<Spinpark>(setup)
}

fn open<T: Pipes>(setup: Setup) -> Round {
    T::start(setup.workers);
    Box::new(|n| {
        T::run(async move {
            let ((asked, ask), (answered, answer)) = (pipe::<T>(), pipe::<T>());
            let server = T::spawn(async move {
                let mut message = [0; MESSAGE];
                while T::read(&asked, &mut message).await > 0 {
                    T::write(&answer, &message).await;
                }
            });
            let watch = Watch::start();
            let (mut sum, mut message_back) = (0, [0; MESSAGE]);
            for i in 0..n {
                T::write(&ask, &message(i)).await;
                T::read(&answered, &mut message_back).await;
                sum += number(&message_back);
            }
            let sample = watch.time_and_cpu(Tally { count: n, sum });
            drop(ask);
            T::join(server).await;
            sample
        })
    })
}

fn pipe<T: Pipes>() -> (T::Reads, T::Writes) {
    let (reads, writes) = io::pipe().expect("a pipe");
    non_blocking(&reads);
    non_blocking(&writes);
    (T::reader(reads), T::writer(writes))
}

fn non_blocking(end: &impl AsFd) {
    use nix::fcntl::{FcntlArg, OFlag, fcntl};
    fcntl(end, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).expect("a pipe can be told not to block");
}

/// tokio's and spinpark's `AsyncFd` have the same methods.
macro_rules! by_async_fd {
    ($runtime:ident, $fd:ident, $interest:ident) => {
        impl Pipes for $runtime {
            type Reads = $fd<PipeReader>;
            type Writes = $fd<PipeWriter>;

            fn reader(end: PipeReader) -> Self::Reads {
                $fd::new(end).expect("it is watched")
            }

            fn writer(end: PipeWriter) -> Self::Writes {
                $fd::new(end).expect("it is watched")
            }

            async fn read(end: &Self::Reads, bytes: &mut [u8; MESSAGE]) -> usize {
                let read = end.async_io($interest::READABLE, |mut end| end.read(bytes));
                read.await.expect("bytes, or the end")
            }

            async fn write(end: &Self::Writes, bytes: &[u8; MESSAGE]) -> usize {
                let written = end.async_io($interest::WRITABLE, |mut end| end.write(bytes));
                written.await.expect("it is read")
            }
        }
    };
}

mod by_tokio {
    // tokio's `register` is unsafe, since a type could change its descriptor. A pipe's end does not.
    #![expect(deprecated)]
    use super::*;
    use ::tokio::io::Interest;
    use ::tokio::io::unix::AsyncFd;

    by_async_fd!(Tokio, AsyncFd, Interest);
}

mod by_spinpark {
    use super::*;
    use ::spinpark::io::{AsyncFd, Interest};

    by_async_fd!(Spinpark, AsyncFd, Interest);
}

impl Pipes for Smol {
    type Reads = async_io::Async<PipeReader>;
    type Writes = async_io::Async<PipeWriter>;

    fn reader(end: PipeReader) -> Self::Reads {
        async_io::Async::new_nonblocking(end).expect("it is watched")
    }

    fn writer(end: PipeWriter) -> Self::Writes {
        async_io::Async::new_nonblocking(end).expect("it is watched")
    }

    async fn read(end: &Self::Reads, bytes: &mut [u8; MESSAGE]) -> usize {
        end.read_with(|mut end| end.read(bytes)).await.expect("bytes, or the end")
    }

    async fn write(end: &Self::Writes, bytes: &[u8; MESSAGE]) -> usize {
        end.write_with(|mut end| end.write(bytes)).await.expect("it is read")
    }
}
