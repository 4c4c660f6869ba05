//! Channels: values from one task to another. Go: `chan`.
//!
//! | you want | take |
//! |----------|------|
//! | a channel with room for so many (tokio: `mpsc::channel`) | [`bounded`]: a [`Sender`] and a [`Receiver`], both `Clone` |
//! | one whose sender never waits | [`unbounded`] |
//! | one that hands over | [`rendezvous`] |
//! | a sender that keeps nothing open | [`WeakSender`] |
//! | to know that values are not wanted any more | [`Sender::closed`] |
//! | not to wait for too long | [`Sender::send_timeout`]; [`time::timeout`](crate::time::timeout) around a receive |
//! | room before there is a value | [`Sender::reserve`]: a [`Permit`] |
//! | several values at a time | [`Receiver::recv_many`] |
//! | other kinds | [`oneshot`](crate::sync::oneshot), [`watch`](crate::sync::watch), [`broadcast`](crate::sync::broadcast) |
//!
//! ```
//! use spinpark::{chan, spawn};
//!
//! # let runtime = spinpark::Runtime::builder().procs(2).build()?;
//! let sum = runtime.block_on(async {
//!     let (sender, receiver) = chan::bounded(2);
//!     spawn(async move {
//!         for n in 1..=4 {
//!             sender.send(n).await.expect("there is a receiver");
//!         }
//!     }); // the only sender ends with the task: the channel is closed
//!     let mut sum = 0;
//!     while let Ok(n) = receiver.recv().await {
//!         sum += n;
//!     }
//!     sum
//! })?;
//! assert_eq!(sum, 10);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | Go | here |
//! |----|------|
//! | `make(chan T, n)`, `make(chan T)` | [`bounded(n)`](bounded), [`rendezvous()`](rendezvous); also [`unbounded()`](unbounded) |
//! | `ch <- v` | [`send(v)`](Sender::send); on a closed channel an error with the value, not a panic |
//! | `v, ok := <-ch` | [`recv()`](Receiver::recv): `Ok(v)`, or [`Closed`] |
//! | `for v := range ch` | `while let Ok(v) = receiver.recv().await` |
//! | `select` | [`select!`](crate::select) |
//! | `close(ch)` | [`close()`](Sender::close), from either side; twice is no panic; the last [`Sender`] that is dropped closes too |
//! | `len(ch)`, `cap(ch)` | [`len()`](Receiver::len), [`capacity()`](Receiver::capacity) |
//! | a nil channel | `None` as a case of [`select!`](crate::select) |
//!
//! Waiters are served in FIFO order. A sender that finds a receiver waiting hands it the value, and the
//! receiver's task is the next under the sender's P; a receiver that makes room in a full channel lets the value of the
//! first waiting sender in.
//!
//! **Dropped futures.** A send or a receive can be dropped while it waits. A send that is dropped drops its value, unless
//! that was taken already ([`Sending::into_inner`] tells, and gives it back). A value that was handed to a receive which
//! is dropped before it looked is not lost: the next waiter gets it; without one, it is the first in the channel
//! again, in one without room (`rendezvous`) too, though its sender has gone on by then. Others that ask before it is dropped do
//! not see that value: they may receive a later one, or find the channel closed.
//!
//! **As streams.** With the feature `futures`: `Receiver::into_stream`, `Sender::into_sink`.
//!
//! **From where it may be called.** The futures may be awaited in any executor; the methods that do not wait may be called from any
//! thread. A lock is held for a few instructions, never while anybody waits, and none of the user's code runs under it.

mod closed;
mod futures;
mod many;
pub(in crate::runtime) mod parts;
mod permits;
mod shared;
mod timed;
mod weak;

#[doc(inline)]
pub use crate::waits::chan::errors::{Closed, SendError, TryRecvError, TrySendError};
pub use closed::SenderClosed;
pub use futures::{Receiving, Sending};
pub use permits::{OwnedPermit, Permit, PermitIterator, Reserving};
pub use timed::SendTimeoutError;
pub use weak::WeakSender;

use crate::runtime::exec::goroutine::Wait as _;
use crate::waits::chan::state::Side;
use core::fmt;
#[cfg(feature = "futures")]
use parts::Channel;
use shared::Shared;
use std::sync::Arc;

/// A channel with room for `capacity` values: a send waits while it is full. With room for none it is a
/// [`rendezvous`]. Memory is taken as values come. Go: `make(chan T, capacity)`.
///
/// ```
/// # spinpark::run(async {
/// let (sender, receiver) = spinpark::chan::bounded(2);
/// sender.send(1).await.expect("it is open");
/// assert_eq!(receiver.recv().await, Ok(1));
/// # });
/// ```
#[must_use]
#[doc(alias("mpsc", "channel"))]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let channel = Arc::new(Shared::new(capacity));
    (Sender { channel: Arc::clone(&channel) }, Receiver { channel })
}

/// A channel without room: a send waits for a receiver, and hands the value over. Go: `make(chan T)`.
///
/// ```
/// # spinpark::run(async {
/// let (sender, receiver) = spinpark::chan::rendezvous();
/// spinpark::spawn(async move { sender.send(1).await }); // waits for the receiver
/// assert_eq!(receiver.recv().await, Ok(1));
/// # });
/// ```
#[must_use]
pub fn rendezvous<T>() -> (Sender<T>, Receiver<T>) {
    bounded(0)
}

/// A channel with room for everything: a send never waits. Nothing slows down a sender that is faster than the receivers; Go
/// has no such channel for that reason.
///
/// ```
/// # spinpark::run(async {
/// let (sender, receiver) = spinpark::chan::unbounded();
/// sender.try_send(1).expect("there is room");
/// assert_eq!(receiver.recv().await, Ok(1));
/// # });
/// ```
#[must_use]
#[doc(alias = "unbounded_channel")]
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    bounded(usize::MAX)
}

/// What both ends can tell.
macro_rules! both_ends {
    () => {
        /// Closes the channel: what is in it can still be received, after that a receive is an error; a send is one at
        /// once. A task that waits to send gets its value back, one that waits to receive an error. While a [`Permit`] is out, a
        /// receive waits for its value. `false`: it was closed. From any thread. Go: `close`, which panics then.
        pub fn close(&self) -> bool {
            self.channel.close()
        }

        /// Is it closed? Something may be left in it.
        #[must_use]
        pub fn is_closed(&self) -> bool {
            self.channel.with(|state| state.is_closed())
        }

        /// How many values are in it; without those with which senders wait. Go: `len`.
        #[must_use]
        pub fn len(&self) -> usize {
            self.channel.with(|state| state.len())
        }

        /// Is nothing in it?
        #[must_use]
        pub fn is_empty(&self) -> bool {
            self.len() == 0
        }

        /// How many values it has room for, held slots among them. `None`: for everything. Go: `cap`.
        #[must_use]
        pub fn capacity(&self) -> Option<usize> {
            parts::capacity(&self.channel)
        }
    };
}

/// The end of a channel that values are put in at. Clones are equals. When the last is dropped, the channel is closed.
///
/// ```
/// use spinpark::chan::{self, TrySendError};
///
/// let (sender, receiver) = chan::bounded(1);
/// assert_eq!(sender.try_send(1), Ok(()));
/// assert!(matches!(sender.try_send(2), Err(TrySendError::Full(2))));
/// assert_eq!((sender.len(), sender.capacity()), (1, Some(1)));
/// assert!(sender.same_channel(&sender.clone()));
/// assert!(sender.close() && receiver.is_closed());
/// assert!(matches!(sender.try_send(3), Err(TrySendError::Closed(3))));
/// ```
pub struct Sender<T> {
    channel: Arc<Shared<T>>,
}

impl<T> Sender<T> {
    fn shared(&self) -> &Shared<T> {
        &self.channel
    }

    /// What both ends have in common.
    #[cfg(feature = "futures")]
    pub(in crate::runtime) fn channel(&self) -> &Channel<T> {
        &self.channel
    }

    /// Sends `value`; waits while the channel has no room. Go: `ch <- value`.
    ///
    /// It holds its place in the queue from the first poll on.
    ///
    /// # Errors
    /// When awaited: [`SendError`] with the value if the channel is closed, or gets closed while the send waits, or if no
    /// [`Receiver`] is left.
    ///
    /// # Cancel safety
    /// Dropped while it waits, it drops the value, or has sent it; [`Sending::into_inner`] tells, and gives it back.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let (sender, receiver) = spinpark::chan::bounded(1);
    /// sender.send(1).await.expect("it is open");
    /// drop(receiver);
    /// assert_eq!(sender.send(2).await.unwrap_err().into_inner(), 2);
    /// # });
    /// ```
    #[inline]
    pub fn send(&self, value: T) -> Sending<'_, T> {
        Sending::new(&self.channel, value)
    }

    /// Sends `value`, if that needs no waiting. From any thread. Go: `select` with one case and `default`.
    ///
    /// # Errors
    /// [`TrySendError`], with the value.
    ///
    /// ```
    /// let (sender, receiver) = spinpark::chan::bounded(1);
    /// assert!(sender.try_send(1).is_ok());
    /// assert_eq!(sender.try_send(2).unwrap_err().into_inner(), 2); // full
    /// assert_eq!(receiver.try_recv(), Ok(1));
    /// ```
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        self.channel.try_put(value)
    }

    /// As [`send`](Sender::send), with this thread: for code that is not async. In a goroutine it is `send(value).wait()`; a thread
    /// that runs none of our tasks sleeps.
    ///
    /// ```
    /// let (sender, receiver) = spinpark::chan::bounded(1);
    /// let thread = std::thread::spawn(move || receiver.blocking_recv());
    /// sender.blocking_send(7).expect("the thread receives");
    /// assert_eq!(thread.join().expect("no panic"), Ok(7));
    /// ```
    ///
    /// # Errors
    /// As [`send`](Sender::send).
    #[track_caller]
    pub fn blocking_send(&self, value: T) -> Result<(), SendError<T>> {
        self.send(value).wait()
    }

    /// A sender that does not keep the channel open.
    #[must_use]
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender::new(&self.channel)
    }

    /// Are both ends of the same channel?
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.channel, &other.channel)
    }

    both_ends!();
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.channel.add_end(Side::Senders);
        Sender { channel: Arc::clone(&self.channel) }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.channel.drop_end(Side::Senders);
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        parts::show(&self.channel, f, "Sender")
    }
}

/// The end of a channel that values come out at. Clones are equals: each value goes to one of them. When the last is
/// dropped, the channel is closed, and what is left in it is dropped.
///
/// ```
/// let (sender, receiver) = spinpark::chan::bounded(2);
/// sender.blocking_send(1).expect("there is room");
/// sender.blocking_send(2).expect("there is room");
/// assert!(receiver.close());
/// assert_eq!(receiver.try_recv(), Ok(1)); // what is in it is still received
/// assert_eq!(receiver.blocking_recv(), Ok(2));
/// assert!(receiver.blocking_recv().is_err());
/// ```
pub struct Receiver<T> {
    channel: Arc<Shared<T>>,
}

impl<T> Receiver<T> {
    /// What both ends have in common.
    #[cfg(feature = "futures")]
    pub(in crate::runtime) fn channel(&self) -> &Channel<T> {
        &self.channel
    }

    /// Receives the oldest value; waits while there is none. Go: `<-ch`.
    ///
    /// It holds its place in the queue from the first poll on.
    ///
    /// # Errors
    /// When awaited: [`Closed`], if the channel is closed and nothing is left in it.
    ///
    /// # Cancel safety
    /// Dropped, no value is lost; called again, it waits at the end of the queue.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let (sender, receiver) = spinpark::chan::bounded(1);
    /// sender.send(1).await.expect("it is open");
    /// drop(sender);
    /// assert_eq!(receiver.recv().await, Ok(1));
    /// assert!(receiver.recv().await.is_err(), "closed");
    /// # });
    /// ```
    #[inline]
    pub fn recv(&self) -> Receiving<'_, T> {
        Receiving::new(&self.channel)
    }

    /// Receives the oldest value, if there is one, or if a sender waits with one. From any thread. Go: `select` with one
    /// case and `default`.
    ///
    /// # Errors
    /// [`TryRecvError`]
    ///
    /// ```
    /// use spinpark::chan::{TryRecvError, bounded};
    ///
    /// let (sender, receiver) = bounded::<u32>(1);
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    /// drop(sender);
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
    /// ```
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.channel.try_take()
    }

    /// As [`recv`](Receiver::recv), with this thread; see [`Sender::blocking_send`].
    ///
    /// # Errors
    /// As [`recv`](Receiver::recv).
    ///
    /// ```
    /// let (sender, receiver) = spinpark::chan::bounded(1);
    /// let thread = std::thread::spawn(move || receiver.blocking_recv());
    /// sender.blocking_send(1).expect("it is open");
    /// assert_eq!(thread.join().unwrap(), Ok(1));
    /// ```
    #[track_caller]
    pub fn blocking_recv(&self) -> Result<T, Closed> {
        self.recv().wait()
    }

    both_ends!();
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.channel.add_end(Side::Receivers);
        Receiver { channel: Arc::clone(&self.channel) }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.channel.drop_end(Side::Receivers);
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        parts::show(&self.channel, f, "Receiver")
    }
}

static_assertions::assert_impl_all!(Sender<std::cell::Cell<u8>>: Send, Sync);
static_assertions::assert_impl_all!(Receiver<std::cell::Cell<u8>>: Send, Sync);
static_assertions::assert_impl_all!(Sending<'static, std::cell::Cell<u8>>: Send, Unpin);
static_assertions::assert_impl_all!(Receiving<'static, std::cell::Cell<u8>>: Send, Unpin);
