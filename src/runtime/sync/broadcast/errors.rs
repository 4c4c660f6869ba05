//! Why nothing was received.

use crate::waits::broadcast::Missing;
use core::error::Error;
use core::fmt;

/// Why [`Receiver::recv`](super::Receiver::recv) gives no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecvError {
    /// All were received, and no sender is left.
    Closed,
    /// So many were missed: more were sent than there is room for. The next receive gives the oldest that is left.
    Lagged(u64),
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecvError::Closed => f.write_str("channel closed"),
            RecvError::Lagged(n) => write!(f, "channel lagged by {n}"),
        }
    }
}

impl Error for RecvError {}

impl From<Missing> for RecvError {
    fn from(missing: Missing) -> Self {
        match missing {
            Missing::Closed => RecvError::Closed,
            Missing::Lagged(n) => RecvError::Lagged(n),
        }
    }
}

/// Why [`Receiver::try_recv`](super::Receiver::try_recv) gives no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryRecvError {
    /// The next is yet to be sent.
    Empty,
    /// As [`RecvError::Closed`].
    Closed,
    /// As [`RecvError::Lagged`].
    Lagged(u64),
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TryRecvError::Empty => f.write_str("channel empty"),
            TryRecvError::Closed => RecvError::Closed.fmt(f),
            TryRecvError::Lagged(n) => RecvError::Lagged(*n).fmt(f),
        }
    }
}

impl Error for TryRecvError {}
