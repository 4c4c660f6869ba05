//! A file descriptor that is waited for, and the guard of one that was found ready.
//!
//! **What the poller knows is open as long as it knows it.** The poller is given a duplicate of the descriptor, which is closed
//! after the poller has forgotten it. So it does not matter what becomes of the user's own, nor whether two are made of one.
//!
//! **Readiness is asked of the system, not remembered.** Each wait looks first, with `poll(2)`, and then waits for the next change,
//! as [`Registered`] does: reads the tick, looks, puts its waker on the list unless the tick is another.

use crate::runtime::io::around;
use crate::runtime::io::async_fd::interest::{Interest, Ready, now};
use crate::runtime::io::netpoll::{Direction, Registered};
use core::fmt;
use core::task::{Context, Poll, ready};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// A file descriptor of any kind that the system can wait for: a pipe, an eventfd, a timerfd, inotify, a terminal, a socket of
/// another library.
///
/// The descriptor should not block: [`nonblocking`](AsyncFd::nonblocking) sees to that, [`new`](AsyncFd::new) leaves it as it is.
/// Where it does block, an attempt that has to wait occupies its thread.
///
/// It belongs to the runtime in whose task it was made, as sockets do. It costs a second descriptor, the poller's duplicate. So `T`
/// may be borrowed, and the same descriptor may be waited for in several places.
///
/// ```
/// # #[cfg(target_os = "linux")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use spinpark::io::AsyncFd;
/// use std::io::{Read, Write};
///
/// let runtime = spinpark::Runtime::new()?;
/// let text = runtime.block_on(async {
///     let (reader, mut writer) = std::io::pipe()?;
///     let reader = AsyncFd::nonblocking(reader)?;
///     spinpark::go(move || writer.write_all(b"hello"));
///     let mut buffer = [0; 16];
///     loop {
///         let guard = reader.readable().await?;
///         match guard.try_io(|fd| fd.get_ref().read(&mut buffer)) {
///             Ok(result) => return result.map(|n| buffer[..n].to_vec()),
///             Err(_would_block) => continue,
///         }
///     }
/// })??;
/// assert_eq!(text, b"hello");
/// # Ok(())
/// # }
/// # #[cfg(not(target_os = "linux"))]
/// # fn main() {}
/// ```
///
/// # Cancel safety
/// A wait that is dropped before it is ready has changed nothing.
///
/// ```
/// use spinpark::io::{AsyncFd, Interest};
/// use std::io::{Read, Write};
/// use std::os::unix::net::UnixStream;
///
/// # spinpark::run(async {
/// let (one, two) = UnixStream::pair()?;
/// let (mut one, two) = (AsyncFd::nonblocking(one)?, AsyncFd::nonblocking(two)?);
/// let mut guard = two.writable().await?;
/// assert!(guard.ready().is_writable());
/// assert!(guard.try_io(|fd| fd.get_ref().write(b"hello")).expect("it is ready").is_ok());
/// guard.clear_ready();
/// let mut bytes = [0; 5];
/// one.async_io(Interest::READABLE, |mut socket| socket.read(&mut bytes)).await?;
/// assert!(one.try_io(Interest::READABLE, |mut socket| socket.read(&mut bytes)).is_err());
/// one.ready(Interest::READABLE.add(Interest::WRITABLE)).await?.retain_ready();
/// std::future::poll_fn(|cx| one.poll_write_ready(cx)).await?;
/// two.get_ref().write_all(b"more")?;
/// std::future::poll_fn(|cx| one.poll_read_ready(cx)).await?;
/// one.readable().await?;
/// one.get_mut().set_nonblocking(true)?;
/// drop(one.into_inner());
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
pub struct AsyncFd<T> {
    // In this order: the poller forgets its duplicate, then the user's is closed.
    registered: Registered<OwnedFd>,
    inner: T,
}

impl<T: AsFd> AsyncFd<T> {
    /// Waits for `inner` from now on, in the mode that it is in.
    ///
    /// # Errors
    /// If the caller is no task, its runtime was shut down, or no descriptor is left;
    /// [`Unsupported`](io::ErrorKind::Unsupported) if the system cannot wait for such a one: a regular file, a folder.
    pub fn new(inner: T) -> io::Result<AsyncFd<T>> {
        let netpoll = around::netpoll("AsyncFd::new was called")?;
        let duplicate = inner.as_fd().try_clone_to_owned()?;
        let registered = Registered::new(netpoll, duplicate).map_err(say_which)?;
        Ok(AsyncFd { registered, inner })
    }

    /// As [`new`](AsyncFd::new), and sets it to non-blocking mode. That mode is of the open file: all share it that have inherited
    /// or duplicated it. So it is not for the standard streams, which other programs may have too.
    ///
    /// # Errors
    /// Those of [`new`](AsyncFd::new), and of the system in setting the mode.
    pub fn nonblocking(inner: T) -> io::Result<AsyncFd<T>> {
        rustix::io::ioctl_fionbio(inner.as_fd(), true)?;
        Self::new(inner)
    }
}

impl<T> AsyncFd<T> {
    /// What it was made of.
    pub fn get_ref(&self) -> &T {
        &self.inner
    }

    /// What it was made of. If it gets another descriptor, the old one is still what is waited for.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.inner
    }

    /// What it was made of; no task waits for it any more. Its mode is left as it is.
    pub fn into_inner(self) -> T {
        self.inner
    }

    /// Waits until it may be read from, or the other end is closed.
    ///
    /// # Errors
    /// If the runtime was shut down.
    ///
    /// ```
    /// use std::io::Write;
    ///
    /// # spinpark::run(async {
    /// let (one, two) = std::os::unix::net::UnixStream::pair()?;
    /// (&two).write_all(b"hello")?;
    /// let fd = spinpark::io::AsyncFd::nonblocking(one)?;
    /// assert!(fd.readable().await?.ready().is_readable());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn readable(&self) -> io::Result<AsyncFdReadyGuard<'_, T>> {
        self.ready(Interest::READABLE).await
    }

    /// Waits until it may be written to, or the other end is closed.
    ///
    /// # Errors
    /// If the runtime was shut down.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let (one, _two) = std::os::unix::net::UnixStream::pair()?;
    /// let fd = spinpark::io::AsyncFd::nonblocking(one)?;
    /// assert!(fd.writable().await?.ready().is_writable());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn writable(&self) -> io::Result<AsyncFdReadyGuard<'_, T>> {
        self.ready(Interest::WRITABLE).await
    }

    /// Waits until one of those is so. The guard says which.
    ///
    /// # Errors
    /// If the runtime was shut down.
    pub async fn ready(&self, interest: Interest) -> io::Result<AsyncFdReadyGuard<'_, T>> {
        let ready = self.io(interest, |fd| now(fd, interest)).await?;
        Ok(AsyncFdReadyGuard::new(self, ready))
    }

    /// As [`readable`](AsyncFd::readable), for futures written by hand. The last eight tasks that polled so are woken when
    /// it is ready.
    ///
    /// # Errors
    /// If the runtime was shut down.
    pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<AsyncFdReadyGuard<'_, T>>> {
        self.poll_ready(cx, Direction::Read, Interest::READABLE)
    }

    /// As [`writable`](AsyncFd::writable), for futures written by hand. The last eight tasks that polled so are woken when
    /// it is ready.
    ///
    /// # Errors
    /// If the runtime was shut down.
    pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<AsyncFdReadyGuard<'_, T>>> {
        self.poll_ready(cx, Direction::Write, Interest::WRITABLE)
    }

    /// Tries `f` until it would not block. That is the shortest way to read or write: nothing is asked of the system besides.
    ///
    /// # Errors
    /// Those of `f`; and if it would block though the runtime was shut down, that.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, `f` has not succeeded: its last call, if there was one, would have blocked.
    pub async fn async_io<R>(&self, interest: Interest, mut f: impl FnMut(&T) -> io::Result<R>) -> io::Result<R> {
        self.io(interest, |_| f(&self.inner)).await
    }

    /// Tries `f` if it is ready now, without waiting.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if it is not ready; those of `f`.
    pub fn try_io<R>(&self, interest: Interest, f: impl FnOnce(&T) -> io::Result<R>) -> io::Result<R> {
        now(self.registered.get(), interest)?;
        f(&self.inner)
    }

    async fn io<R>(&self, interest: Interest, f: impl FnMut(&OwnedFd) -> io::Result<R>) -> io::Result<R> {
        self.registered.io_for((interest.is_readable(), interest.is_writable()), f).await
    }

    fn poll_ready(
        &self,
        cx: &mut Context<'_>,
        direction: Direction,
        interest: Interest,
    ) -> Poll<io::Result<AsyncFdReadyGuard<'_, T>>> {
        let ready = ready!(self.registered.poll_io(direction, cx, |fd| now(fd, interest)))?;
        Poll::Ready(Ok(AsyncFdReadyGuard::new(self, ready)))
    }
}

/// A regular file is never waited for: epoll says no more than that it is not permitted.
fn say_which(error: io::Error) -> io::Error {
    if error.raw_os_error() != Some(rustix::io::Errno::PERM.raw_os_error()) {
        return error;
    }
    io::Error::new(
        io::ErrorKind::Unsupported,
        "this file descriptor cannot be waited for: a regular file or folder, say, is always ready; use spinpark::fs::File",
    )
}

impl<T: fmt::Debug> fmt::Debug for AsyncFd<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncFd").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl<T: AsFd> AsFd for AsyncFd<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner.as_fd()
    }
}

impl<T: AsRawFd> AsRawFd for AsyncFd<T> {
    fn as_raw_fd(&self) -> RawFd {
        self.inner.as_raw_fd()
    }
}

/// A file descriptor that was ready a moment ago. It may no longer be: another task may have been faster.
///
/// ```
/// use spinpark::io::AsyncFd;
/// use std::io::Write;
///
/// # spinpark::run(async {
/// let (one, _two) = std::os::unix::net::UnixStream::pair()?;
/// let fd = AsyncFd::nonblocking(one)?;
/// let mut guard = fd.writable().await?;
/// match guard.try_io(|fd| fd.get_ref().write(b"hello")) {
///     Ok(written) => assert_eq!(written?, 5),
///     Err(_would_block) => println!("wait again"),
/// }
/// guard.clear_ready(); // for code that was written for tokio
/// guard.retain_ready();
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[must_use = "it was waited for; `try_io` makes the attempt"]
pub struct AsyncFdReadyGuard<'a, T> {
    fd: &'a AsyncFd<T>,
    ready: Ready,
}

impl<'a, T> AsyncFdReadyGuard<'a, T> {
    fn new(fd: &'a AsyncFd<T>, ready: Ready) -> Self {
        AsyncFdReadyGuard { fd, ready }
    }

    /// What it was ready for.
    pub fn ready(&self) -> Ready {
        self.ready
    }

    /// The descriptor.
    pub fn get_ref(&self) -> &'a AsyncFd<T> {
        self.fd
    }

    /// What the descriptor was made of.
    pub fn get_inner(&self) -> &'a T {
        self.fd.get_ref()
    }

    /// Tries `f` once, and again if a signal ended it.
    ///
    /// # Errors
    /// [`TryIoError`] if it would block: then wait again. What else comes of `f` is inside.
    pub fn try_io<R>(&self, mut f: impl FnMut(&'a AsyncFd<T>) -> io::Result<R>) -> Result<io::Result<R>, TryIoError> {
        loop {
            match f(self.fd) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(TryIoError(())),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return Ok(result),
            }
        }
    }

    /// Says that it is not ready any more. There is nothing to be done about it: the next wait asks the system. It is here
    /// for code that was written for a reactor that remembers.
    pub fn clear_ready(&mut self) {}

    /// Says that it is still ready. As for the rest see [`clear_ready`](AsyncFdReadyGuard::clear_ready).
    pub fn retain_ready(&mut self) {}
}

impl<T: fmt::Debug> fmt::Debug for AsyncFdReadyGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncFdReadyGuard").field("fd", self.fd).field("ready", &self.ready).finish()
    }
}

/// The attempt would block. Wait again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TryIoError(());

impl fmt::Display for TryIoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("operation would block")
    }
}

impl core::error::Error for TryIoError {}

static_assertions::assert_impl_all!(AsyncFd<OwnedFd>: Send, Sync, Unpin);
