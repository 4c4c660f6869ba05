//! Why nothing was sent or received.

use core::error::Error;
use core::fmt;

/// The channel is closed, and nothing is left in it. Go: the second value of `v, ok := <-ch` is false.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing was received: the channel is closed, and nothing is left in it")
    }
}

impl Error for Closed {}

/// The channel is closed; here is the value. Go panics.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SendError<T>(pub T);

impl<T> SendError<T> {
    /// The value that was not sent.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SendError(..)")
    }
}

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value was not sent: the channel is closed")
    }
}

impl<T> Error for SendError<T> {}

/// It could not be sent at once; here is the value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// There is no room, and no receiver waits.
    Full(T),
    /// The channel is closed.
    Closed(T),
}

impl<T> TrySendError<T> {
    /// The value that was not sent.
    pub fn into_inner(self) -> T {
        match self {
            TrySendError::Full(value) | TrySendError::Closed(value) => value,
        }
    }

    /// Could it be sent later?
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self, TrySendError::Full(_))
    }

    /// Is the channel closed?
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self, TrySendError::Closed(_))
    }
}

impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_full() { "Full(..)" } else { "Closed(..)" })
    }
}

impl<T> fmt::Display for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrySendError::Full(_) => "the value was not sent: the channel is full, and no receiver waits",
            TrySendError::Closed(_) => "the value was not sent: the channel is closed",
        })
    }
}

impl<T> Error for TrySendError<T> {}

/// Nothing could be received at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryRecvError {
    /// Nothing is there now.
    Empty,
    /// Nothing is there, and nothing will be.
    Closed,
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TryRecvError::Empty => f.write_str("nothing was received: the channel is empty, and no sender waits"),
            TryRecvError::Closed => Closed.fmt(f),
        }
    }
}

impl Error for TryRecvError {}

impl From<Closed> for TryRecvError {
    fn from(_: Closed) -> Self {
        TryRecvError::Closed
    }
}
