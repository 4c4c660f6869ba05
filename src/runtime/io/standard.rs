//! The standard streams. Go: `os.Stdin`, `os.Stdout`.
//!
//! **A stream in non-blocking mode behaves as one in blocking mode.** The mode belongs to the open file, which other processes
//! share: a parent, a shell or a child may set it at any time. An attempt that would block waits until the stream is ready, and is
//! repeated.

use crate::runtime::exec::blocking::syscall;
use crate::runtime::exec::yielding::{poll_leaf, proceed};
#[cfg(unix)]
use crate::runtime::io::async_fd::AsyncFd;
use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use futures_io::{AsyncRead, AsyncWrite};
#[cfg(not(unix))]
use std::io::Read;
use std::io::{self, IoSlice, Write};
#[cfg(unix)]
use std::os::fd::AsFd;

/// The standard input of the process.
///
/// A task that reads waits until there is something, and can be dropped meanwhile; the runtime ends though no input has come. (Of
/// what the system cannot wait for, a regular file, say, each read is a [`syscall`], and so it is where there is no `poll(2)`.)
///
/// It goes past the buffer of [`std::io::stdin`]: what was read into that before is not seen here. If others read the standard
/// input at the same time, in this process or another, one may be faster; then the read holds its thread until more comes.
///
/// ```
/// # spinpark::run(async {
/// let mut stdin = spinpark::io::stdin().expect("in a task");
/// let mut bytes = Vec::new();
/// let read = stdin.read_to_end(&mut bytes);
/// let _in_time = spinpark::time::timeout(std::time::Duration::from_millis(1), read).await;
/// let mut buffer = [0; 64];
/// let _one = spinpark::time::timeout(std::time::Duration::from_millis(1), stdin.read(&mut buffer)).await;
/// # });
/// ```
#[derive(Debug)]
pub struct Stdin {
    /// `None`: it need not be waited for.
    #[cfg(unix)]
    source: Option<AsyncFd<io::Stdin>>,
    #[cfg(not(unix))]
    source: (),
}

/// The standard input.
///
/// # Errors
/// If the caller is no task.
///
/// ```no_run
/// # async fn lines() -> std::io::Result<()> {
/// let mut input = spinpark::io::stdin()?;
/// let mut buffer = [0; 4096];
/// let n = input.read(&mut buffer).await?;
/// spinpark::io::stdout().write_all(&buffer[..n]).await?;
/// # Ok(())
/// # }
/// ```
#[cfg(unix)]
pub fn stdin() -> io::Result<Stdin> {
    match AsyncFd::new(io::stdin()) {
        Ok(source) => Ok(Stdin { source: Some(source) }),
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            // On a simulated machine nothing is waited for, this neither.
            crate::runtime::io::around::netpoll("stdin was called")?;
            Ok(Stdin { source: None })
        }
        Err(error) => Err(error),
    }
}

/// The standard input.
///
/// # Errors
/// None here.
#[cfg(not(unix))]
pub fn stdin() -> io::Result<Stdin> {
    Ok(Stdin { source: () })
}

impl Stdin {
    /// Reads what has come, at least one byte; 0: no more will come, or `buffer` is empty.
    ///
    /// # Errors
    /// Those of the system, and, where it waits in a poller, if the runtime was shut down.
    ///
    /// # Cancel safety
    /// A read that is dropped has read nothing.
    pub async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        poll_fn(|cx| self.poll_read_some(cx, buffer)).await
    }

    fn poll_read_some(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        #[cfg(unix)]
        if let Some(source) = &self.source {
            loop {
                let _ready = ready!(source.poll_read_ready(cx))?;
                match syscall(|| read_some(buffer)) {
                    // Another reader was faster.
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    result => return Poll::Ready(result),
                }
            }
        }
        poll_leaf(cx, "IO wait", |_| {
            #[cfg(unix)]
            return Poll::Ready(syscall(|| persistently(&mut io::stdin(), Readiness::Read, |_| read_some(buffer))));
            #[cfg(not(unix))]
            Poll::Ready(syscall(|| io::stdin().read(buffer)))
        })
    }

    /// Reads all until no more will come, behind what `bytes` has already. Returns how many there were.
    ///
    /// # Errors
    /// Those of [`read`](Stdin::read). What was read before is in `bytes`.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, what was read is in `bytes`, and nothing else is.
    pub async fn read_to_end(&mut self, bytes: &mut Vec<u8>) -> io::Result<usize> {
        let (before, mut buffer) = (bytes.len(), vec![0; 32 * 1024]);
        loop {
            match self.read(&mut buffer).await? {
                0 => return Ok(bytes.len() - before),
                n => bytes.extend_from_slice(&buffer[..n]),
            }
        }
    }
}

#[cfg(unix)]
fn read_some(buffer: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::io::retry_on_intr(|| rustix::io::read(io::stdin(), &mut *buffer))?)
}

impl AsyncRead for Stdin {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        self.poll_read_some(cx, buffer)
    }
}

/// What a stream has to be ready for.
#[derive(Clone, Copy)]
enum Readiness {
    #[cfg(unix)]
    Read,
    Write,
}

/// Repeats `attempt` on `stream` as long as it would block or a signal ends it, and waits between two attempts. Not in a poller: a
/// writer keeps std's lock of the stream meanwhile, so that what it writes stays together, as it does in blocking mode.
#[cfg(unix)]
fn persistently<S: AsFd, R>(
    stream: &mut S,
    readiness: Readiness,
    mut attempt: impl FnMut(&mut S) -> io::Result<R>,
) -> io::Result<R> {
    use rustix::event::{PollFd, PollFlags, poll};
    let flags = match readiness {
        Readiness::Read => PollFlags::IN,
        Readiness::Write => PollFlags::OUT,
    };
    loop {
        match attempt(stream) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                rustix::io::retry_on_intr(|| poll(&mut [PollFd::new(stream, flags)], None))?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Without `poll(2)`, there are no streams in non-blocking mode.
#[cfg(not(unix))]
fn persistently<S, R>(stream: &mut S, _: Readiness, mut attempt: impl FnMut(&mut S) -> io::Result<R>) -> io::Result<R> {
    attempt(stream)
}

/// What writes to a standard stream of std's: what [`println!`] writes and this stay in their order.
macro_rules! output {
    ($(#[$about:meta])* $name:ident, $(#[$make_about:meta])* $make:ident, $std:ident, $lock:ident) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, Default)]
        pub struct $name(());

        $(#[$make_about])*
        pub fn $make() -> $name {
            $name(())
        }

        /// ```
        /// # spinpark::run(async {
        /// spinpark::io::stdout().write_all(b"hello\n").await.expect("it takes it");
        /// spinpark::io::stderr().write_all(b"hello\n").await.expect("it takes it");
        /// # });
        /// ```
        impl $name {
            /// Writes all of `bytes`, and has them on their way before it returns. The thread waits while the stream takes no
            /// more, in blocking and in non-blocking mode.
            ///
            /// # Errors
            /// Those of the system.
            ///
            /// # Cancel safety
            /// Dropped before it is ready, it has written nothing: once it writes, it writes all.
            pub async fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
                proceed().await;
                syscall(|| {
                    let (mut stream, mut bytes) = (io::$std().lock(), bytes);
                    while !bytes.is_empty() {
                        // Not std's `write_all`: it does not say how much it has written before it would block.
                        match persistently(&mut stream, Readiness::Write, |stream| stream.write(bytes))? {
                            0 => return Err(io::ErrorKind::WriteZero.into()),
                            n => bytes = &bytes[n..],
                        }
                    }
                    persistently(&mut stream, Readiness::Write, Write::flush)
                })
            }

            /// Makes one attempt, with std's lock.
            fn write_some<R>(attempt: impl FnMut(&mut io::$lock<'static>) -> io::Result<R>) -> io::Result<R> {
                syscall(|| persistently(&mut io::$std().lock(), Readiness::Write, attempt))
            }
        }

        impl AsyncWrite for $name {
            fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
                poll_leaf(cx, "IO wait", |_| Poll::Ready(Self::write_some(|stream| stream.write(bytes))))
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                slices: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                poll_leaf(cx, "IO wait", |_| Poll::Ready(Self::write_some(|stream| stream.write_vectored(slices))))
            }

            /// Has on its way what std's buffer holds back: what was written since the last line ended.
            fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                poll_leaf(cx, "IO wait", |_| Poll::Ready(Self::write_some(Write::flush)))
            }

            /// Flushes. It stays open.
            fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.poll_flush(cx)
            }
        }
    };
}

output!(
    /// The standard output of the process, as [`std::io::stdout`] has it, in a [`syscall`]: others run while a slow reader is
    /// waited for.
    Stdout,
    /// The standard output.
    stdout,
    stdout,
    StdoutLock
);
output!(
    /// The standard error of the process. As for the rest see [`Stdout`].
    Stderr,
    /// The standard error.
    stderr,
    stderr,
    StderrLock
);
