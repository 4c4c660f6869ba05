//! The latest value, for many that read it and wait for the next.
//!
//! ```
//! use spinpark::{spawn, sync::watch};
//!
//! # let runtime = spinpark::Runtime::builder().procs(2).build()?;
//! let last = runtime.block_on(async {
//!     let (sender, mut receiver) = watch::channel("starting");
//!     spawn(async move {
//!         for state in ["running", "stopping", "stopped"] {
//!             sender.send_replace(state);
//!         }
//!     });
//!     // Not every value is seen, but the last one is.
//!     while receiver.changed().await.is_ok() {
//!         println!("{}", *receiver.borrow_and_update());
//!     }
//!     *receiver.borrow()
//! })?;
//! assert_eq!(last, "stopped");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each [`Receiver`] knows which version it has seen. One that waits goes on when there is a later one, also if many were sent in
//! between. What [`borrow`](Receiver::borrow) returns keeps senders from changing the value, with their threads: let go of it
//! soon, and never await while it is there.

mod value;

use crate::runtime::exec::yielding::{Leaf, proceed};
use crate::runtime::guarded::Theirs;
use crate::runtime::host::cores::Cores;
use crate::runtime::sync::waking::Lender;
use crate::runtime::task_waker::TaskWaker;
use crate::waits::watch::{self, Change, End};
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

#[doc(inline)]
pub use crate::waits::chan::errors::{Closed, SendError};

pub use value::Ref;
use value::Value;

/// The errors, by the names that they have in tokio.
pub mod error {
    pub use crate::waits::chan::errors::{Closed as RecvError, SendError};
}

type Watch<T> = watch::Watch<Cores, TaskWaker, Value<T>>;

/// A sender and a receiver, with a value that the receiver has seen.
#[must_use]
pub fn channel<T>(initial: T) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Watch::new(Value::new(initial), 1));
    (Sender { shared: Arc::clone(&shared) }, Receiver { shared, seen: 0 })
}

/// The end that changes the value. Clones are equals. When the last is dropped, waiting for a change is an error.
///
/// ```
/// # spinpark::run(async {
/// let sender = spinpark::sync::watch::Sender::new(1);
/// let receiver = sender.subscribe();
/// sender.send(2).expect("one reads");
/// sender.send_modify(|value| *value += 1);
/// assert!(!sender.send_if_modified(|_| false));
/// assert_eq!(sender.send_replace(4), 3);
/// assert!(sender.same_channel(&sender.clone()));
/// drop(receiver);
/// sender.closed().await;
/// # });
/// ```
pub struct Sender<T> {
    shared: Arc<Watch<T>>,
}

impl<T> Sender<T> {
    /// A sender of a value that has no receiver yet.
    #[must_use]
    pub fn new(initial: T) -> Self {
        Sender { shared: Arc::new(Watch::new(Value::new(initial), 0)) }
    }

    /// Sends, if there is a receiver. From any thread. To keep a value for receivers to come,
    /// [`send_replace`](Sender::send_replace).
    ///
    /// # Errors
    /// With the value: there is no receiver.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.shared.send(value).map(|old| drop(Theirs::new(old))).map_err(SendError)
    }

    /// Sends, and returns the value before. From any thread.
    pub fn send_replace(&self, value: T) -> T {
        self.shared.replace(value)
    }

    /// Changes the value where it lies. From any thread. No receiver can read it meanwhile. If `modify` panics, receivers are not notified.
    pub fn send_modify(&self, modify: impl FnOnce(&mut T)) {
        self.send_if_modified(|value| {
            modify(value);
            true
        });
    }

    /// The same, if `modify` says that it has changed it; that is returned.
    pub fn send_if_modified(&self, modify: impl FnOnce(&mut T) -> bool) -> bool {
        self.shared.modify(modify)
    }

    /// The value.
    #[must_use]
    pub fn borrow(&self) -> Ref<'_, T> {
        Ref { value: self.shared.read().0, has_changed: false }
    }

    /// Is there no receiver?
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.receiver_count() == 0
    }

    /// Waits until there is no receiver, if only for a moment.
    ///
    /// # Cancel safety
    /// Dropped, it changes nothing.
    pub fn closed(&self) -> SenderClosed<'_, T> {
        SenderClosed { end: self.shared.closed(), leaf: Leaf::new() }
    }

    /// One more receiver, which has seen the value as it is now.
    #[must_use]
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver { seen: self.shared.add_receiver(), shared: Arc::clone(&self.shared) }
    }

    /// How many receivers there are.
    #[must_use]
    pub fn receiver_count(&self) -> usize {
        self.shared.with(|state| state.receivers())
    }

    /// How many senders there are.
    #[must_use]
    pub fn sender_count(&self) -> usize {
        self.shared.with(|state| state.senders())
    }

    /// Do both send to the same?
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl<T: Default> Default for Sender<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.shared.add_sender();
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
    end: End<'a, Cores, TaskWaker, Value<T>>,
    leaf: Leaf,
}

impl<T> Future for SenderClosed<'_, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let SenderClosed { end, leaf } = &mut *self;
        leaf.poll(cx, "sync.watch.Closed", |cx| end.poll(&mut Lender::new(cx.waker())))
    }
}

impl<T> fmt::Debug for SenderClosed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SenderClosed").finish_non_exhaustive()
    }
}

/// The end that reads the value. A clone has seen what this one has.
///
/// ```
/// # spinpark::run(async {
/// let (sender, mut receiver) = spinpark::sync::watch::channel(1);
/// assert_eq!(receiver.has_changed(), Ok(false));
/// sender.send_replace(2);
/// receiver.changed().await.expect("there is a sender");
/// receiver.mark_changed();
/// receiver.mark_unchanged();
/// assert!(!receiver.borrow().has_changed() && receiver.same_channel(&receiver.clone()));
/// assert_eq!(*receiver.wait_for(|n| *n == 2).await.expect("it is"), 2);
/// drop(sender);
/// assert!(receiver.is_closed() && receiver.changed().await.is_err());
/// # });
/// ```
pub struct Receiver<T> {
    shared: Arc<Watch<T>>,
    /// The version.
    seen: u64,
}

impl<T> Receiver<T> {
    /// The value; it is not taken for seen.
    #[must_use]
    pub fn borrow(&self) -> Ref<'_, T> {
        let (value, version) = self.shared.read();
        Ref { value, has_changed: version != self.seen }
    }

    /// The value, which is taken for seen.
    #[must_use = "to take it for seen without a look, `mark_unchanged`"]
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        let (value, version) = self.shared.read();
        let before = core::mem::replace(&mut self.seen, version);
        Ref { value, has_changed: version != before }
    }

    /// Is the value another than that seen?
    ///
    /// # Errors
    /// There is no sender, whether the value was seen or not.
    pub fn has_changed(&self) -> Result<bool, Closed> {
        self.shared.with(|state| if state.senders() == 0 { Err(Closed) } else { Ok(state.version() != self.seen) })
    }

    /// Takes the value for unseen.
    pub fn mark_changed(&mut self) {
        // A version that none is: they are counted from 0.
        self.seen = u64::MAX;
    }

    /// Takes the value for seen.
    pub fn mark_unchanged(&mut self) {
        self.seen = self.shared.with(|state| state.version());
    }

    /// Waits until the value is another than that seen, and takes it for seen.
    ///
    /// # Errors
    /// When awaited: the value was seen, and there is no sender.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, nothing is taken for seen.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let (sender, mut receiver) = spinpark::sync::watch::channel(1);
    /// sender.send_replace(2);
    /// receiver.changed().await.expect("there is a sender");
    /// assert_eq!(*receiver.borrow(), 2);
    /// # });
    /// ```
    pub fn changed(&mut self) -> Changed<'_, T> {
        Changed { change: self.shared.changed(), seen: &mut self.seen, leaf: Leaf::new() }
    }

    /// Waits until the value is as `is_wanted` says, and takes what it looks at for seen. Looks at the one there is first, seen or
    /// not.
    ///
    /// # Errors
    /// When awaited: no value was, and there is no sender.
    ///
    /// # Cancel safety
    /// Dropped, the values that it has looked at are taken for seen; none of them was wanted.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let (sender, mut receiver) = spinpark::sync::watch::channel(1);
    /// sender.send_replace(7);
    /// assert_eq!(*receiver.wait_for(|n| *n > 5).await.expect("it is"), 7);
    /// # });
    /// ```
    pub async fn wait_for(&mut self, mut is_wanted: impl FnMut(&T) -> bool) -> Result<Ref<'_, T>, Closed> {
        let (shared, seen) = (&*self.shared, &mut self.seen);
        let mut is_over = false;
        // It may be as wanted each time it is asked for.
        proceed().await;
        loop {
            {
                let (value, version) = shared.read();
                let has_changed = core::mem::replace(seen, version) != version;
                if is_wanted(&value) {
                    return Ok(Ref { value, has_changed });
                }
            }
            if is_over {
                return Err(Closed);
            }
            // The last value is looked at even if there is no sender by then.
            is_over = Changed { change: shared.changed(), seen: &mut *seen, leaf: Leaf::new() }.await.is_err();
        }
    }

    /// Is there no sender? The last value may not have been seen yet.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.with(|state| state.senders()) == 0
    }

    /// Do both receive from the same?
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.shared.add_receiver();
        Receiver { shared: Arc::clone(&self.shared), seen: self.seen }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.shared.drop_receiver();
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("has_changed", &self.has_changed()).finish_non_exhaustive()
    }
}

/// What [`Receiver::changed`] returns.
#[must_use = "a future does nothing until it is awaited"]
pub struct Changed<'a, T> {
    change: Change<'a, Cores, TaskWaker, Value<T>>,
    seen: &'a mut u64,
    leaf: Leaf,
}

impl<T> Future for Changed<'_, T> {
    type Output = Result<(), Closed>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Changed { change, seen, leaf } = &mut *self;
        let polled = leaf.poll(cx, "sync.watch.Changed", |cx| change.poll(**seen, &mut Lender::new(cx.waker())));
        polled.map_ok(|version| **seen = version)
    }
}

impl<T> fmt::Debug for Changed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changed").finish_non_exhaustive()
    }
}

static_assertions::assert_impl_all!(Sender<u8>: Send, Sync);
static_assertions::assert_impl_all!(Receiver<u8>: Send, Sync);
static_assertions::assert_impl_all!(Changed<'static, u8>: Send, Unpin);
