//! A file descriptor that was found ready, and one attempt on it.

use crate::runtime::io::async_fd::{AsyncFd, Ready};
use core::fmt;
use std::io;

/// A file descriptor that was ready a moment ago. It may be no more: somebody else may have been faster.
#[must_use = "it was waited for; `try_io` makes the attempt"]
pub struct AsyncFdReadyGuard<'a, T> {
    fd: &'a AsyncFd<T>,
    ready: Ready,
}

impl<'a, T> AsyncFdReadyGuard<'a, T> {
    pub(super) fn new(fd: &'a AsyncFd<T>, ready: Ready) -> Self {
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
pub struct TryIoError(pub(super) ());

impl fmt::Display for TryIoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("operation would block")
    }
}

impl core::error::Error for TryIoError {}
