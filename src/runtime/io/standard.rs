//! The standard streams. Go: `os.Stdin`, `os.Stdout`.

use crate::runtime::exec::blocking::syscall;
use crate::runtime::exec::yielding::yield_p;
#[cfg(unix)]
use crate::runtime::io::async_fd::{AsyncFd, Interest};
use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use futures_io::{AsyncRead, AsyncWrite};
#[cfg(not(unix))]
use std::io::Read;
use std::io::{self, IoSlice, Write};

/// The standard input of the process.
///
/// A task that reads waits until there is something, and can be dropped meanwhile; the runtime ends though nobody has typed. (Of
/// what the system cannot wait for, a regular file, say, each read is a [`syscall`], and so it is where there is no `poll(2)`.)
///
/// It goes past the buffer of [`std::io::stdin`]: what was read into that before is not seen here. If others read the standard
/// input at the same time, in this process or another, one may be faster; then the read holds its thread until more comes.
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
            crate::runtime::io::around::netpoll()?;
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
    /// Those of the system, and if the runtime was shut down.
    #[cfg(unix)]
    pub async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(source) = &self.source {
            let _ready = source.ready(Interest::READABLE).await?;
        }
        read_some(buffer)
    }

    /// Reads what has come, at least one byte; 0: no more will come, or `buffer` is empty.
    ///
    /// # Errors
    /// Those of the system.
    #[cfg(not(unix))]
    pub async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        read_some(buffer)
    }

    /// Reads all until no more will come, behind what `bytes` has already. Returns how many there were.
    ///
    /// # Errors
    /// Those of [`read`](Stdin::read).
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
    loop {
        match syscall(|| rustix::io::read(io::stdin(), &mut *buffer)) {
            Err(rustix::io::Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
}

#[cfg(not(unix))]
fn read_some(buffer: &mut [u8]) -> io::Result<usize> {
    syscall(|| io::stdin().read(buffer))
}

impl AsyncRead for Stdin {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        #[cfg(unix)]
        if let Some(source) = &self.source {
            let _ready = core::task::ready!(source.poll_read_ready(cx))?;
        }
        let _ = cx;
        Poll::Ready(read_some(buffer))
    }
}

/// What writes to a standard stream of std's: what [`println!`] writes and this stay in their order.
macro_rules! output {
    ($(#[$about:meta])* $name:ident, $(#[$make_about:meta])* $make:ident, $std:ident) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, Default)]
        pub struct $name(());

        $(#[$make_about])*
        pub fn $make() -> $name {
            $name(())
        }

        impl $name {
            /// Writes all of `bytes`, and has them on their way before it returns.
            ///
            /// # Errors
            /// Those of the system.
            pub async fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
                poll_fn(|cx| yield_p(cx)).await;
                syscall(|| {
                    let mut stream = io::$std().lock();
                    stream.write_all(bytes)?;
                    stream.flush()
                })
            }
        }

        impl AsyncWrite for $name {
            fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
                ready!(yield_p(cx));
                Poll::Ready(syscall(|| io::$std().write(bytes)))
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                slices: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                ready!(yield_p(cx));
                Poll::Ready(syscall(|| io::$std().write_vectored(slices)))
            }

            /// Has on its way what std's buffer holds back: what was written since the last line ended.
            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(syscall(|| io::$std().flush()))
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
    stdout
);
output!(
    /// The standard error of the process. As for the rest see [`Stdout`].
    Stderr,
    /// The standard error.
    stderr,
    stderr
);
