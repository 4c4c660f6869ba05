//! One value, from one task to another.
//!
//! ```
//! use spinpark::{spawn, sync::oneshot};
//!
//! # let runtime = spinpark::Runtime::builder().procs(2).build()?;
//! let answer = runtime.block_on(async {
//!     let (sender, receiver) = oneshot::channel();
//!     spawn(async move {
//!         if sender.send(42).is_err() {
//!             println!("the receiver is gone");
//!         }
//!     });
//!     receiver.await
//! })?;
//! assert_eq!(answer, Ok(42));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A value that is sent and not received is dropped with the receiver; one that cannot be sent any more comes back. If the
//! sender is dropped, the receiver is told. Go: a channel with room for one.

use crate::runtime::exec::yielding::{Leaf, poll_leaf};
use crate::runtime::guarded::Theirs;
use crate::runtime::host::cores::CoresLock;
use crate::runtime::sync::waking::Lender;
use crate::runtime::task_waker::TaskWaker;
use crate::waits::oneshot::{self, State};
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use std::sync::Arc;

#[doc(inline)]
pub use crate::waits::chan::errors::{Closed, TryRecvError};

/// The errors, by the names that they have in tokio.
pub mod error {
    pub use crate::waits::chan::errors::{Closed as RecvError, TryRecvError};
}

/// A value may be bound to a thread, or borrow; so the lock is not the host's, but of its kind.
type Oneshot<T> = oneshot::Oneshot<Theirs<T>, TaskWaker, CoresLock<State<Theirs<T>, TaskWaker>>>;

/// Two ends, for one value.
///
/// ```
/// # spinpark::run(async {
/// let (sender, receiver) = spinpark::sync::oneshot::channel();
/// sender.send(1).expect("it is awaited");
/// assert_eq!(receiver.await, Ok(1));
/// # });
/// ```
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Oneshot::new());
    (Sender { shared: Some(Arc::clone(&shared)) }, Receiver { shared: Some(shared), leaf: Leaf::new() })
}

/// The end that sends. Dropped, it tells the receiver.
///
/// ```
/// # spinpark::run(async {
/// let (mut sender, mut receiver) = spinpark::sync::oneshot::channel();
/// assert!(receiver.try_recv().is_err(), "not yet");
/// receiver.close();
/// sender.closed().await;
/// std::future::poll_fn(|cx| sender.poll_closed(cx)).await;
/// assert_eq!(sender.send(1), Err(1)); // it comes back
/// # });
/// ```
pub struct Sender<T> {
    /// `None`: it has sent.
    shared: Option<Arc<Oneshot<T>>>,
}

impl<T> Sender<T> {
    fn shared(&self) -> &Oneshot<T> {
        self.shared.as_ref().expect("oneshot: a sender that has sent is gone")
    }

    /// Sends. Does not wait. From any thread. That it was sent does not say that it will be received.
    ///
    /// # Errors
    /// With the value: the receiver is dropped, or has [closed](Receiver::close).
    ///
    /// ```
    /// let (sender, receiver) = spinpark::sync::oneshot::channel();
    /// drop(receiver);
    /// assert_eq!(sender.send(1), Err(1)); // it comes back
    /// ```
    pub fn send(mut self, value: T) -> Result<(), T> {
        self.shared
            .take()
            .expect("oneshot: a sender that has sent is gone")
            .send(Theirs::new(value))
            .map_err(Theirs::into_inner)
    }

    /// Is the receiver dropped, or has it closed?
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared().with(|state| state.is_closed())
    }

    /// Waits until the receiver is dropped, or has closed: the value is not wanted any more.
    ///
    /// # Cancel safety
    /// Dropped, it changes nothing.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let (mut sender, receiver) = spinpark::sync::oneshot::channel::<()>();
    /// drop(receiver);
    /// sender.closed().await; // it is not wanted any more
    /// # });
    /// ```
    pub fn closed(&mut self) -> SenderClosed<'_, T> {
        SenderClosed { sender: self, waits: false, leaf: Leaf::new() }
    }

    /// The same, for a future that polls by hand.
    pub fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        poll_leaf(cx, "sync.oneshot.Closed", |cx| self.shared().poll_closed(&mut Lender::new(cx.waker())))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.take() {
            shared.drop_sender();
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("is_closed", &self.is_closed()).finish_non_exhaustive()
    }
}

/// What [`Sender::closed`] returns.
#[must_use = "a future does nothing until it is awaited"]
pub struct SenderClosed<'a, T> {
    sender: &'a mut Sender<T>,
    waits: bool,
    leaf: Leaf,
}

impl<T> Future for SenderClosed<'_, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let SenderClosed { sender, waits, leaf } = &mut *self;
        leaf.poll(cx, "sync.oneshot.Closed", |cx| {
            let polled = sender.shared().poll_closed(&mut Lender::new(cx.waker()));
            *waits = polled.is_pending();
            polled
        })
    }
}

impl<T> Drop for SenderClosed<'_, T> {
    fn drop(&mut self) {
        if self.waits {
            self.sender.shared().stop_waiting();
        }
    }
}

impl<T> fmt::Debug for SenderClosed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SenderClosed").finish_non_exhaustive()
    }
}

/// The end that receives: a future of the value. A reference to it is one, too: `(&mut receiver).await`.
///
/// # Cancel safety
/// Await `&mut receiver` where the wait may be given up: no value is lost.
///
/// ```
/// # spinpark::run(async {
/// let (sender, mut receiver) = spinpark::sync::oneshot::channel();
/// sender.send(1).expect("it is awaited");
/// receiver.close(); // what was sent is still received
/// assert_eq!(receiver.try_recv(), Ok(1));
/// # });
/// ```
#[must_use = "a future does nothing until it is awaited"]
pub struct Receiver<T> {
    /// `None`: it has received, or knows that nothing will come.
    shared: Option<Arc<Oneshot<T>>>,
    leaf: Leaf,
}

impl<T> Receiver<T> {
    /// From now on nothing can be sent. What was sent before can still be received. Twice is once.
    ///
    /// ```
    /// let (sender, mut receiver) = spinpark::sync::oneshot::channel();
    /// receiver.close();
    /// assert_eq!(sender.send(1), Err(1));
    /// ```
    pub fn close(&mut self) {
        if let Some(shared) = &self.shared {
            shared.close();
        }
    }

    /// Receives, if the value was sent. From any thread.
    ///
    /// # Errors
    /// [`TryRecvError::Empty`]: not yet. [`TryRecvError::Closed`]: the sender was dropped, or this end has closed, or the value was
    /// received.
    ///
    /// ```
    /// let (sender, mut receiver) = spinpark::sync::oneshot::channel();
    /// assert!(receiver.try_recv().is_err());
    /// sender.send(1).expect("it is awaited");
    /// assert_eq!(receiver.try_recv(), Ok(1));
    /// ```
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let received = self.shared.as_ref().map_or(Err(TryRecvError::Closed), |shared| shared.try_recv());
        if !matches!(received, Err(TryRecvError::Empty)) {
            self.is_over();
        }
        received.map(Theirs::into_inner)
    }

    /// Has it received, or was it told that nothing will come?
    #[must_use]
    pub fn is_terminated(&self) -> bool {
        self.shared.is_none()
    }

    /// Is there nothing to be received now?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.shared.as_ref().is_some_and(|shared| shared.with(|state| state.has_value()))
    }

    /// What is left of it is let go of, as soon as nothing can come.
    fn is_over(&mut self) {
        if let Some(shared) = self.shared.take() {
            shared.drop_receiver();
        }
    }
}

impl<T> Future for Receiver<T> {
    /// An error: the sender was dropped and has not sent, or this end has closed before; or it has ended once.
    type Output = Result<T, Closed>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Receiver { shared, leaf } = &mut *self;
        let received = ready!(leaf.poll(cx, "sync.oneshot.Recv", |cx| match shared {
            Some(shared) => shared.poll_recv(&mut Lender::new(cx.waker())),
            None => Poll::Ready(Err(Closed)),
        }));
        self.is_over();
        Poll::Ready(received.map(Theirs::into_inner))
    }
}

/// The value is moved, never pinned.
impl<T> Unpin for Receiver<T> {}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.is_over();
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("is_terminated", &self.is_terminated()).finish_non_exhaustive()
    }
}

static_assertions::assert_impl_all!(Sender<std::cell::Cell<u8>>: Send, Sync);
static_assertions::assert_impl_all!(Receiver<std::cell::Cell<u8>>: Send, Sync, Unpin);
