//! Each value to every receiver.
//!
//! ```
//! use spinpark::{spawn, sync::broadcast};
//!
//! # let runtime = spinpark::Runtime::builder().procs(2).build()?;
//! let sums = runtime.block_on(async {
//!     let (sender, receiver) = broadcast::channel(16);
//!     let tasks: Vec<_> = [sender.subscribe(), receiver]
//!         .into_iter()
//!         .map(|mut receiver| {
//!             spawn(async move {
//!                 let mut sum = 0;
//!                 while let Ok(n) = receiver.recv().await {
//!                     sum += n;
//!                 }
//!                 sum
//!             })
//!         })
//!         .collect();
//!     for n in 1..=4 {
//!         sender.send(n).expect("both receive");
//!     }
//!     drop(sender);
//!     let mut sums = vec![];
//!     for task in tasks {
//!         sums.push(task.await.expect("no panic"));
//!     }
//!     sums
//! })?;
//! assert_eq!(sums, [10, 10]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! No sender waits. So a receiver that does not keep up misses the oldest values: it is told how many, by
//! [`RecvError::Lagged`], and goes on with the oldest that is left. A value is cloned for each receiver but the last.

mod errors;
mod weak;

use crate::runtime::exec::yielding::Leaf;
use crate::runtime::guarded::Theirs;
use crate::runtime::host::cores::{Cores, CoresLock};
use crate::runtime::sync::waking::Lender;
use crate::runtime::task_waker::TaskWaker;
use crate::waits::broadcast::{self, End, Missing, Recv, State, own};
use core::fmt;
use core::future::Future;
use core::ops::Deref;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

#[doc(inline)]
pub use crate::waits::chan::errors::SendError;
pub use errors::{RecvError, TryRecvError};
pub use weak::WeakSender;

/// The errors, by the names that they have in tokio.
pub mod error {
    pub use super::{RecvError, SendError, TryRecvError};
}

/// A value may borrow; so the lock is not the host's, but of its kind.
type Lock<T> = CoresLock<State<Cores, Theirs<T>, TaskWaker>>;
type Broadcast<T> = broadcast::Broadcast<Cores, Theirs<T>, TaskWaker, Lock<T>>;

/// What all ends have.
struct Shared<T> {
    broadcast: Broadcast<T>,
    /// Each [`WeakSender`] has a copy, and so they are counted.
    weak: Arc<()>,
}

impl<T> Shared<T> {
    fn weak_count(&self) -> usize {
        Arc::strong_count(&self.weak) - 1
    }
}

impl<T> Deref for Shared<T> {
    type Target = Broadcast<T>;

    fn deref(&self) -> &Broadcast<T> {
        &self.broadcast
    }
}

/// A sender and a receiver, and room for `capacity` values, which is exact. Memory is taken as values come.
///
/// # Panics
/// If `capacity` is 0.
///
/// ```
/// # spinpark::run(async {
/// let (sender, mut one) = spinpark::sync::broadcast::channel(8);
/// let mut two = sender.subscribe();
/// assert_eq!(sender.send("hello"), Ok(2));
/// assert_eq!((one.recv().await, two.recv().await), (Ok("hello"), Ok("hello")));
/// # });
/// ```
#[must_use]
#[track_caller]
pub fn channel<T: Clone>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let sender = Sender::new(capacity);
    let receiver = sender.subscribe();
    (sender, receiver)
}

/// The end that sends. Clones are equals. When the last is dropped, receivers are told, after the last value.
///
/// ```
/// use spinpark::sync::broadcast::{Receiver, Sender};
///
/// # spinpark::run(async {
/// let sender = Sender::new(8);
/// let mut receiver: Receiver<u32> = sender.subscribe();
/// assert_eq!(sender.send(1), Ok(1));
/// assert_eq!((receiver.recv().await, receiver.try_recv().is_err()), (Ok(1), true));
/// assert!(sender.same_channel(&sender.clone()) && receiver.same_channel(&sender.subscribe()));
/// let weak = sender.downgrade();
/// drop(receiver);
/// sender.closed().await;
/// drop(sender);
/// assert!(weak.upgrade().is_none());
/// # });
/// ```
pub struct Sender<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Sender<T> {
    /// A sender without a receiver yet, with room for `capacity` values.
    ///
    /// # Panics
    /// If `capacity` is 0.
    #[must_use]
    #[track_caller]
    pub fn new(capacity: usize) -> Self {
        assert!(capacity > 0, "broadcast: a channel has room for one value at least");
        Sender { shared: Arc::new(Shared { broadcast: Broadcast::new(capacity, 0), weak: Arc::new(()) }) }
    }

    /// Sends to all receivers; never waits. Returns how many there are, each of which gets it, if it keeps up. From any thread.
    ///
    /// # Errors
    /// With the value: there is no receiver now.
    ///
    /// ```
    /// let (sender, _receiver) = spinpark::sync::broadcast::channel(8);
    /// assert_eq!(sender.send(1), Ok(1)); // one receiver
    /// ```
    pub fn send(&self, value: T) -> Result<usize, SendError<T>> {
        self.shared.send(Theirs::new(value)).map_err(|SendError(value)| SendError(value.into_inner()))
    }

    /// One more receiver, of what is sent from now on.
    #[must_use]
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver { next: self.shared.subscribe(), shared: Arc::clone(&self.shared) }
    }

    /// How many values some receiver has yet to receive.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.with(|state| state.len())
    }

    /// Has every receiver received everything?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shared.with(|state| state.is_empty())
    }

    /// How many receivers there are.
    #[must_use]
    pub fn receiver_count(&self) -> usize {
        self.shared.with(|state| state.receivers())
    }

    /// Do both send to the same?
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// A sender that does not keep the channel open.
    #[must_use = "a weak sender does nothing unless it is used"]
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender::new(&self.shared)
    }

    /// How many senders there are, this one included.
    #[must_use]
    pub fn strong_count(&self) -> usize {
        self.shared.with(|state| state.senders())
    }

    /// How many [`WeakSender`]s there are.
    #[must_use]
    pub fn weak_count(&self) -> usize {
        self.shared.weak_count()
    }

    /// Waits until there is no receiver, if only for a moment.
    ///
    /// # Cancel safety
    /// Dropped, it changes nothing.
    pub fn closed(&self) -> SenderClosed<'_, T> {
        SenderClosed { end: self.shared.closed(), leaf: Leaf::new() }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.shared.with(State::add_sender);
        Sender { shared: Arc::clone(&self.shared) }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.shared.drop_sender();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("receiver_count", &self.receiver_count()).finish_non_exhaustive()
    }
}

/// What [`Sender::closed`] returns.
#[must_use = "a future does nothing until it is awaited"]
pub struct SenderClosed<'a, T> {
    end: End<'a, Cores, Theirs<T>, TaskWaker, Lock<T>>,
    leaf: Leaf,
}

impl<T> Future for SenderClosed<'_, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let SenderClosed { end, leaf } = &mut *self;
        leaf.poll(cx, "sync.broadcast.Closed", |cx| end.poll(&mut Lender::new(cx.waker())))
    }
}

impl<T> fmt::Debug for SenderClosed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SenderClosed").finish_non_exhaustive()
    }
}

/// The end that receives each value that is sent while it is there.
///
/// ```
/// # spinpark::run(async {
/// let (sender, mut receiver) = spinpark::sync::broadcast::channel(8);
/// sender.send(1).expect("one receives");
/// drop(sender);
/// assert!(receiver.is_closed() && receiver.same_channel(&receiver));
/// assert_eq!(receiver.recv().await, Ok(1));
/// assert!(receiver.try_recv().is_err());
/// # });
/// ```
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
    /// The number of the value that is next.
    next: u64,
}

impl<T> Receiver<T> {
    /// How many values it has yet to receive, those that it has missed included.
    #[must_use]
    pub fn len(&self) -> usize {
        (self.shared.with(|state| state.next_number()) - self.next) as usize
    }

    /// Has it received everything?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many senders there are.
    #[must_use]
    pub fn sender_strong_count(&self) -> usize {
        self.shared.with(|state| state.senders())
    }

    /// How many [`WeakSender`]s there are.
    #[must_use]
    pub fn sender_weak_count(&self) -> usize {
        self.shared.weak_count()
    }

    /// Is there no sender? Something may be left to receive.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.with(|state| state.senders()) == 0
    }

    /// Another receiver, of what is sent from now on: not of what this one has yet to receive.
    #[must_use]
    pub fn resubscribe(&self) -> Self {
        Receiver { next: self.shared.subscribe(), shared: Arc::clone(&self.shared) }
    }

    /// Do both receive from the same?
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl<T: Clone> Receiver<T> {
    /// Receives the next value; waits until it is sent.
    ///
    /// # Errors
    /// When awaited: [`RecvError`].
    ///
    /// # Cancel safety
    /// Dropped, no value is lost: the next call receives the same.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let (sender, mut receiver) = spinpark::sync::broadcast::channel(8);
    /// sender.send(1).expect("one receives");
    /// assert_eq!(receiver.recv().await, Ok(1));
    /// # });
    /// ```
    pub fn recv(&mut self) -> Receiving<'_, T> {
        Receiving { recv: self.shared.recv(), next: &mut self.next, leaf: Leaf::new() }
    }

    /// Receives the next value, if it was sent. From any thread.
    ///
    /// # Errors
    /// [`TryRecvError`]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let next = &mut self.next;
        match self.shared.with(|state| state.take(next)) {
            Some(Ok(value)) => Ok(own(value).into_inner()),
            Some(Err(Missing::Closed)) => Err(TryRecvError::Closed),
            Some(Err(Missing::Lagged(n))) => Err(TryRecvError::Lagged(n)),
            None => Err(TryRecvError::Empty),
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.shared.drop_receiver(self.next);
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// What [`Receiver::recv`] returns.
#[must_use = "a future does nothing until it is awaited"]
pub struct Receiving<'a, T> {
    recv: Recv<'a, Cores, Theirs<T>, TaskWaker, Lock<T>>,
    next: &'a mut u64,
    leaf: Leaf,
}

impl<T: Clone> Future for Receiving<'_, T> {
    type Output = Result<T, RecvError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Receiving { recv, next, leaf } = &mut *self;
        let polled = leaf.poll(cx, "sync.broadcast.Recv", |cx| recv.poll(next, &mut Lender::new(cx.waker())));
        polled.map(|received| received.map(|value| own(value).into_inner()).map_err(RecvError::from))
    }
}

impl<T> fmt::Debug for Receiving<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiving").finish_non_exhaustive()
    }
}

static_assertions::assert_impl_all!(Sender<u8>: Send, Sync);
static_assertions::assert_impl_all!(Receiver<u8>: Send, Sync);
static_assertions::assert_impl_all!(Receiving<'static, u8>: Send, Unpin);
