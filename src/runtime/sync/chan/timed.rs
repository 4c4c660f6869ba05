//! Sending, and not waiting for too long.

use super::Sender;
use crate::runtime::time::timeout;
use core::error::Error;
use core::fmt;
use core::time::Duration;

impl<T> Sender<T> {
    /// As [`send`](Sender::send), for no longer than `time`. With no time it sends what can be sent at once.
    ///
    /// # Errors
    /// [`SendTimeoutError`], with the value.
    ///
    /// # Panics
    /// If it has to wait, and is polled outside of a runtime.
    ///
    /// # Cancel safety
    /// Dropped while it waits, it drops the value, or has sent it.
    ///
    /// ```
    /// use spinpark::chan::{self, SendTimeoutError};
    /// use std::time::Duration;
    ///
    /// # spinpark::run(async {
    /// let (sender, receiver) = chan::bounded(1);
    /// assert_eq!(sender.send_timeout(1, Duration::from_secs(5)).await, Ok(()));
    /// assert_eq!(sender.send_timeout(2, Duration::ZERO).await, Err(SendTimeoutError::Timeout(2)));
    /// drop(receiver);
    /// assert_eq!(sender.send_timeout(3, Duration::ZERO).await, Err(SendTimeoutError::Closed(3)));
    /// # });
    /// ```
    pub async fn send_timeout(&self, value: T, time: Duration) -> Result<(), SendTimeoutError<T>> {
        let mut sending = self.send(value);
        match timeout(time, &mut sending).await {
            Ok(sent) => sent.map_err(|error| SendTimeoutError::Closed(error.into_inner())),
            // Between the last poll and now a receiver may have taken it.
            Err(_) => sending.into_inner().map_or(Ok(()), |value| Err(SendTimeoutError::Timeout(value))),
        }
    }
}

/// The value was not sent in time; here it is. Of [`Sender::send_timeout`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendTimeoutError<T> {
    /// There was no room, and no receiver, until the deadline.
    Timeout(T),
    /// The channel is closed.
    Closed(T),
}

impl<T> SendTimeoutError<T> {
    /// The value that was not sent.
    ///
    /// ```
    /// use spinpark::chan::SendTimeoutError;
    ///
    /// assert_eq!(SendTimeoutError::Timeout(1).into_inner(), 1);
    /// ```
    pub fn into_inner(self) -> T {
        match self {
            SendTimeoutError::Timeout(value) | SendTimeoutError::Closed(value) => value,
        }
    }
}

impl<T> fmt::Debug for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SendTimeoutError::Timeout(_) => "Timeout(..)",
            SendTimeoutError::Closed(_) => "Closed(..)",
        })
    }
}

impl<T> fmt::Display for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SendTimeoutError::Timeout(_) => "the value was not sent: deadline has elapsed",
            SendTimeoutError::Closed(_) => "the value was not sent: the channel is closed",
        })
    }
}

impl<T> Error for SendTimeoutError<T> {}
