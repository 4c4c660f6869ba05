//! Slots that are held before there is a value.

use super::{SendError, Sender, Shared, TrySendError};
use crate::runtime::exec::yielding::Leaf;
use crate::runtime::sync::chan::parts::OnCores;
use crate::runtime::sync::waking::Lender;
use crate::waits::chan::reserve::Reserve;
use core::fmt;
use core::future::Future;
use core::iter::FusedIterator;
use core::mem;
use core::pin::Pin;
use core::task::{Context, Poll};

impl<T> Sender<T> {
    /// Waits for a slot of the channel, and holds it: [`Permit::send`] then never waits. For a value that is expensive to make, or that
    /// is taken from elsewhere, and must not be lost: it is made when there is room for it.
    ///
    /// Those that send and those that reserve are served in FIFO order. A receiver that waits is served without a slot: a send that finds
    /// one does not wait for those that reserve.
    ///
    /// # Errors
    /// When awaited: [`SendError`] if the channel is closed, or gets closed while it waits; of a [`rendezvous`](super::rendezvous),
    /// which has no slot, always.
    ///
    /// # Cancel safety
    /// Dropped while it waits, it gives up its place, and a slot that it was given goes to the next: called again, it waits at the end
    /// of the queue.
    ///
    /// ```
    /// use spinpark::chan::{self, TrySendError};
    ///
    /// # spinpark::run(async {
    /// let (sender, receiver) = chan::bounded(1);
    /// let permit = sender.reserve().await.expect("it is open");
    /// assert_eq!(sender.try_send(1), Err(TrySendError::Full(1))); // the only slot is held
    /// permit.send(2);
    /// assert_eq!(receiver.recv().await, Ok(2));
    /// drop(sender.reserve().await.expect("it is open")); // the slot is free again
    /// assert_eq!(sender.try_send(3), Ok(()));
    /// # });
    /// ```
    pub fn reserve(&self) -> Reserving<'_, T> {
        Reserving { shared: self.shared(), reserve: Reserve::new(self.shared()), leaf: Leaf::new() }
    }

    /// As [`reserve`](Sender::reserve), if that needs no waiting. From any thread.
    ///
    /// # Errors
    /// [`TrySendError::Full`]: no slot is free. [`TrySendError::Closed`].
    ///
    /// ```
    /// let (sender, receiver) = spinpark::chan::bounded(1);
    /// let permit = sender.try_reserve().expect("there is room");
    /// assert!(sender.try_reserve().unwrap_err().is_full());
    /// receiver.close();
    /// permit.send(1); // though it is closed: the slot was held
    /// assert_eq!(receiver.try_recv(), Ok(1));
    /// assert!(sender.try_reserve().unwrap_err().is_closed());
    /// ```
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        self.shared().try_reserve(1)?;
        Ok(Permit { shared: self.shared() })
    }

    /// As [`reserve`](Sender::reserve), with a permit that has the sender in it: it may be returned, kept, sent to another task.
    ///
    /// # Errors
    /// As [`reserve`](Sender::reserve).
    ///
    /// # Cancel safety
    /// As [`reserve`](Sender::reserve)'s; the sender is dropped, too.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let (sender, receiver) = spinpark::chan::bounded(1);
    /// let permit = sender.clone().reserve_owned().await.expect("it is open");
    /// spinpark::spawn(async move { permit.send(1) });
    /// assert_eq!(receiver.recv().await, Ok(1));
    /// # });
    /// ```
    pub async fn reserve_owned(self) -> Result<OwnedPermit<T>, SendError<()>> {
        mem::forget(self.reserve().await?);
        Ok(OwnedPermit { sender: Some(self) })
    }

    /// As [`try_reserve`](Sender::try_reserve), with a permit that has the sender in it.
    ///
    /// # Errors
    /// [`TrySendError`] with the sender.
    ///
    /// ```
    /// let (sender, receiver) = spinpark::chan::bounded(1);
    /// let permit = sender.try_reserve_owned().expect("there is room");
    /// let sender = permit.send(1);
    /// assert!(sender.try_reserve_owned().is_err());
    /// assert_eq!(receiver.try_recv(), Ok(1));
    /// ```
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        match self.shared().try_reserve(1) {
            Ok(()) => Ok(OwnedPermit { sender: Some(self) }),
            Err(TrySendError::Full(())) => Err(TrySendError::Full(self)),
            Err(TrySendError::Closed(())) => Err(TrySendError::Closed(self)),
        }
    }

    /// As [`reserve`](Sender::reserve), `n` slots. It gathers them one after another, before any later call of this function does;
    /// sends and single reservations go on between.
    ///
    /// # Errors
    /// As [`reserve`](Sender::reserve); also if there are never `n` slots.
    ///
    /// # Cancel safety
    /// Dropped, it gives back what it has gathered.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let (sender, receiver) = spinpark::chan::bounded(4);
    /// let mut permits = sender.reserve_many(3).await.expect("it is open");
    /// permits.next().expect("one of three").send(1);
    /// drop(permits); // the two others are free again
    /// assert!(sender.try_reserve_many(3).is_ok() && sender.reserve_many(5).await.is_err());
    /// assert_eq!(receiver.recv().await, Ok(1));
    /// # });
    /// ```
    pub async fn reserve_many(&self, n: usize) -> Result<PermitIterator<'_, T>, SendError<()>> {
        let mut permits = PermitIterator { shared: self.shared(), left: 0 };
        if n > self.shared().with(|state| state.capacity()) {
            return Err(SendError(()));
        }
        // One at a time: two of which each has half of the slots would wait for each other.
        let _turn = self.shared().turn().lock().await;
        if n == 0 && self.is_closed() {
            return Err(SendError(()));
        }
        while permits.left < n {
            mem::forget(self.reserve().await?);
            permits.left += 1;
        }
        Ok(permits)
    }

    /// As [`reserve_many`](Sender::reserve_many), if that needs no waiting: all `n` or none. From any thread.
    ///
    /// # Errors
    /// As [`try_reserve`](Sender::try_reserve).
    ///
    /// ```
    /// let (sender, receiver) = spinpark::chan::bounded(2);
    /// assert!(sender.try_reserve_many(3).unwrap_err().is_full());
    /// for (n, permit) in sender.try_reserve_many(2).expect("there is room").enumerate() {
    ///     permit.send(n);
    /// }
    /// assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok(0), Ok(1)));
    /// ```
    pub fn try_reserve_many(&self, n: usize) -> Result<PermitIterator<'_, T>, TrySendError<()>> {
        self.shared().try_reserve(n)?;
        Ok(PermitIterator { shared: self.shared(), left: n })
    }
}

/// What [`Sender::reserve`] returns.
#[must_use = "a future does nothing until it is awaited"]
pub struct Reserving<'a, T> {
    shared: &'a Shared<T>,
    reserve: Reserve<'a, OnCores<T>>,
    leaf: Leaf,
}

impl<'a, T> Future for Reserving<'a, T> {
    type Output = Result<Permit<'a, T>, SendError<()>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Reserving { shared, reserve, leaf } = &mut *self;
        if shared.with(|state| state.capacity()) == 0 {
            return Poll::Ready(Err(SendError(())));
        }
        let polled = leaf.poll(cx, "chan reserve", |cx| reserve.poll(&mut Lender::new(cx.waker())));
        polled.map(|reserved| reserved.map(|()| Permit { shared }))
    }
}

impl<T> fmt::Debug for Reserving<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reserving").field("is_waiting", &self.reserve.is_waiting()).finish_non_exhaustive()
    }
}

/// A slot of a channel, until this is dropped. A channel that is closed meanwhile has its end for the receivers only after that.
#[must_use = "dropped, it gives its slot back at once"]
pub struct Permit<'a, T> {
    shared: &'a Shared<T>,
}

impl<T> Permit<'_, T> {
    /// Sends by this slot. It never waits and never fails, also if the channel was closed since; if no receiver is left, the value is
    /// dropped.
    ///
    /// ```
    /// let (sender, receiver) = spinpark::chan::bounded(1);
    /// sender.try_reserve().expect("there is room").send(1);
    /// assert_eq!(receiver.try_recv(), Ok(1));
    /// ```
    pub fn send(self, value: T) {
        let shared = self.shared;
        mem::forget(self);
        shared.put_reserved(value);
    }
}

impl<T> Drop for Permit<'_, T> {
    fn drop(&mut self) {
        self.shared.unreserve(1);
    }
}

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").finish_non_exhaustive()
    }
}

/// As [`Permit`], with the sender in it.
#[must_use = "dropped, it gives its slot back at once"]
pub struct OwnedPermit<T> {
    /// `None`: the slot was used.
    sender: Option<Sender<T>>,
}

impl<T> OwnedPermit<T> {
    fn take(&mut self) -> Sender<T> {
        self.sender.take().expect("a permit is used once")
    }

    /// As [`Permit::send`]. The sender comes back.
    ///
    /// ```
    /// let (sender, receiver) = spinpark::chan::bounded(1);
    /// let sender = sender.try_reserve_owned().expect("there is room").send(1);
    /// assert_eq!((sender.len(), receiver.try_recv()), (1, Ok(1)));
    /// ```
    pub fn send(mut self, value: T) -> Sender<T> {
        let sender = self.take();
        sender.shared().put_reserved(value);
        sender
    }

    /// Gives the slot back, unused. The sender comes back.
    ///
    /// ```
    /// let (sender, _receiver) = spinpark::chan::bounded(1);
    /// let sender = sender.try_reserve_owned().expect("there is room").release();
    /// assert_eq!(sender.try_send(1), Ok(()));
    /// ```
    pub fn release(mut self) -> Sender<T> {
        let sender = self.take();
        sender.shared().unreserve(1);
        sender
    }

    fn sender(&self) -> &Sender<T> {
        self.sender.as_ref().expect("a permit is used once")
    }

    /// Are both of the same channel?
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        self.same_channel_as_sender(other.sender())
    }

    /// Is it of the sender's channel?
    ///
    /// ```
    /// let (sender, _receiver) = spinpark::chan::bounded::<u8>(2);
    /// let one = sender.clone().try_reserve_owned().expect("there is room");
    /// let two = sender.clone().try_reserve_owned().expect("there is room");
    /// assert!(one.same_channel(&two) && one.same_channel_as_sender(&sender));
    /// ```
    #[must_use]
    pub fn same_channel_as_sender(&self, sender: &Sender<T>) -> bool {
        self.sender().same_channel(sender)
    }
}

impl<T> Drop for OwnedPermit<T> {
    fn drop(&mut self) {
        if let Some(sender) = self.sender.take() {
            sender.shared().unreserve(1);
        }
    }
}

impl<T> fmt::Debug for OwnedPermit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedPermit").finish_non_exhaustive()
    }
}

/// Several slots, one after another. Dropped, those that are left are given back.
#[must_use = "dropped, it gives its slots back at once"]
pub struct PermitIterator<'a, T> {
    shared: &'a Shared<T>,
    left: usize,
}

impl<'a, T> Iterator for PermitIterator<'a, T> {
    type Item = Permit<'a, T>;

    fn next(&mut self) -> Option<Permit<'a, T>> {
        self.left = self.left.checked_sub(1)?;
        Some(Permit { shared: self.shared })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> ExactSizeIterator for PermitIterator<'_, T> {}
impl<T> FusedIterator for PermitIterator<'_, T> {}

impl<T> Drop for PermitIterator<'_, T> {
    fn drop(&mut self) {
        if self.left > 0 {
            self.shared.unreserve(self.left);
        }
    }
}

impl<T> fmt::Debug for PermitIterator<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PermitIterator").field("left", &self.left).finish_non_exhaustive()
    }
}

static_assertions::assert_impl_all!(Reserving<'static, std::cell::Cell<u8>>: Send, Unpin);
static_assertions::assert_impl_all!(Permit<'static, std::cell::Cell<u8>>: Send, Sync);
static_assertions::assert_impl_all!(OwnedPermit<std::cell::Cell<u8>>: Send, Sync);
