//! One value, from one task to another. tokio: `sync::oneshot`.
//!
//! **The value is received once, or comes back, or is dropped with the receiver. A waiter at one end is woken by what the other
//! does: the receiver by the value or by the sender's end, the sender by the receiver's end.**
//!
//! | the receiver                                            | the sender                                         |
//! |---------------------------------------------------------|----------------------------------------------------|
//! | under one lock: no value, and the sender is there: leaves its waker | under one lock: is the receiver gone? the value comes back; if not it lies there, and takes the waker |
//! | sleeps, until it is woken                               | unlocks; wakes                                     |
//! | closes, under one lock: is gone, takes the sender's waker | waits for that, under one lock: is the receiver gone? if not leaves its waker |
//! | dropped: closes, and under the same lock takes the value; drops it under none | dropped: under one lock is gone, takes the receiver's waker |
//!
//! Whether the value lies there and whether the receiver is gone are decided under the same lock, so a value that is sent beside a
//! close has one owner (tokio-rs/tokio #4225). An end that is gone leaves no waker behind (#7884).
//!
//! Checked by: verification/rooms/src/rooms/oneshot.rs

use crate::host::Lock;
use crate::waits::chan::errors::{Closed, TryRecvError};
use crate::waits::waker::{Lender, Waits, Waker, forget, wait_at, wake};
use core::marker::PhantomData;
use core::task::Poll;

/// One end.
struct End<W> {
    is_gone: bool,
    /// It waits.
    waker: Option<W>,
}

/// Wakers that the end of one end came upon.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::oneshot::State;
/// let (mut state, mut task) = (State::<u8, Task>::new(), Task::default());
/// state.receiver_waits(&mut task);
/// state.sender_gone().settle(); // outside of the lock, if there is one
/// assert_eq!(task.wakes(), 1);
/// # }
/// ```
pub struct Left<W> {
    /// To be woken: of the other.
    wakes: Option<W>,
    /// To be dropped: its own.
    own: Option<W>,
}

impl<W: Waker> Left<W> {
    /// Outside of the lock.
    pub fn settle(self) {
        wake(self.wakes);
        forget(self.own);
    }
}

/// What it is under its lock.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::{chan::errors::TryRecvError, oneshot::State};
/// let (mut state, mut task) = (State::<u8, Task>::new(), Task::default());
/// assert_eq!(state.take(), Err(TryRecvError::Empty));
/// state.receiver_waits(&mut task);
/// state.put(7).expect("the receiver is there");
/// state.sender_gone().settle();
/// assert_eq!((task.wakes(), state.take()), (1, Ok(7)));
/// state.receiver_gone().settle();
/// assert_eq!((state.put(8), state.is_closed()), (Err(8), true));
/// # }
/// ```
pub struct State<T, W> {
    value: Option<T>,
    sender: End<W>,
    receiver: End<W>,
}

impl<T, W: Waker> State<T, W> {
    /// Nothing is sent, and both ends are there.
    pub const fn new() -> Self {
        State {
            value: None,
            sender: End { is_gone: false, waker: None },
            receiver: End { is_gone: false, waker: None },
        }
    }

    /// Sends.
    ///
    /// # Errors
    /// The receiver is gone; here is the value.
    pub fn put(&mut self, value: T) -> Result<(), T> {
        if self.receiver.is_gone {
            return Err(value);
        }
        self.value = Some(value);
        Ok(())
    }

    /// The sender is gone.
    pub fn sender_gone(&mut self) -> Left<W> {
        self.sender.is_gone = true;
        Left { wakes: self.receiver.waker.take(), own: self.sender.waker.take() }
    }

    /// The receiver takes nothing that is sent from now on.
    pub fn receiver_gone(&mut self) -> Left<W> {
        self.receiver.is_gone = true;
        Left { wakes: self.sender.waker.take(), own: self.receiver.waker.take() }
    }

    /// Is the receiver gone?
    pub const fn is_closed(&self) -> bool {
        self.receiver.is_gone
    }

    /// Does a value lie there?
    pub const fn has_value(&self) -> bool {
        self.value.is_some()
    }

    /// Receives, if that needs no wait.
    ///
    /// # Errors
    /// There is nothing, now or for ever.
    pub fn take(&mut self) -> Result<T, TryRecvError> {
        let is_over = self.sender.is_gone || self.receiver.is_gone;
        self.value.take().ok_or(if is_over { TryRecvError::Closed } else { TryRecvError::Empty })
    }

    /// The receiver waits.
    pub fn receiver_waits(&mut self, lender: &mut impl Lender<Waker = W>) -> Waits<W> {
        wait_at(&mut self.receiver.waker, lender)
    }
}

impl<T, W: Waker> Default for State<T, W> {
    fn default() -> Self {
        Self::new()
    }
}

/// What both ends have in common. Each operation is one end's, which sees to it that it is called by no other.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::{chan::errors::TryRecvError, oneshot::{Oneshot, State}};
/// type Channel = Oneshot<u8, Task, OsLock<State<u8, Task>>>;
/// let (channel, mut task) = (Channel::new(), Task::default());
/// assert!(channel.poll_recv(&mut task).is_pending());
/// channel.send(7).expect("the receiver is there");
/// assert_eq!((task.wakes(), channel.poll_recv(&mut task)), (1, Poll::Ready(Ok(7))));
///
/// let (channel, mut sender) = (Channel::new(), Task::default());
/// assert!(channel.poll_closed(&mut sender).is_pending());
/// channel.close(); // the receiver wants nothing any more
/// assert_eq!((sender.wakes(), channel.poll_closed(&mut sender)), (1, Poll::Ready(())));
/// channel.stop_waiting();
/// channel.drop_sender();
/// assert_eq!(channel.try_recv(), Err(TryRecvError::Closed));
/// channel.drop_receiver();
/// assert!(channel.with(|state| state.is_closed()));
/// # }
/// ```
pub struct Oneshot<T, W, L> {
    state: L,
    holds: PhantomData<fn(State<T, W>)>,
}

impl<T, W: Waker, L: Lock<State<T, W>>> Oneshot<T, W, L> {
    /// Nothing is sent, and both ends are there.
    pub fn new() -> Self {
        Oneshot { state: L::new(State::new()), holds: PhantomData }
    }

    /// Under the lock. None of the user's code is to run there: what is to be woken or dropped is returned.
    pub fn with<R>(&self, f: impl FnOnce(&mut State<T, W>) -> R) -> R {
        self.state.with(f)
    }

    /// The sender sends, which is its last.
    ///
    /// # Errors
    /// The receiver is gone, or has closed; here is the value.
    pub fn send(&self, value: T) -> Result<(), T> {
        let (sent, left) = self.with(|state| (state.put(value), state.sender_gone()));
        left.settle();
        sent
    }

    /// The sender is dropped, and has not sent.
    pub fn drop_sender(&self) {
        self.with(State::sender_gone).settle();
    }

    /// The sender waits until the receiver is gone, or has closed.
    pub fn poll_closed(&self, lender: &mut impl Lender<Waker = W>) -> Poll<()> {
        self.poll(lender, |state, lender| match state.receiver.is_gone {
            true => Ok(()),
            false => Err(wait_at(&mut state.sender.waker, lender)),
        })
    }

    /// The sender waits no more for the receiver's end.
    pub fn stop_waiting(&self) {
        let waker = self.with(|state| state.sender.waker.take());
        forget(waker);
    }

    /// The receiver receives; waits if it has to.
    ///
    /// # Errors
    /// [`Closed`]: nothing was sent, and nothing will be.
    pub fn poll_recv(&self, lender: &mut impl Lender<Waker = W>) -> Poll<Result<T, Closed>> {
        self.poll(lender, |state, lender| match state.take() {
            Ok(value) => Ok(Ok(value)),
            Err(TryRecvError::Closed) => Ok(Err(Closed)),
            Err(TryRecvError::Empty) => Err(state.receiver_waits(lender)),
        })
    }

    /// Under one lock: a change of what is waited for finds the waker, or was seen.
    fn poll<R, B: Lender<Waker = W>>(
        &self,
        lender: &mut B,
        look: impl Fn(&mut State<T, W>, &mut B) -> Result<R, Waits<W>>,
    ) -> Poll<R> {
        loop {
            match self.with(|state| look(state, lender)) {
                Ok(result) => return Poll::Ready(result),
                Err(Waits::Yes(old)) => {
                    forget(old);
                    return Poll::Pending;
                }
                Err(Waits::NeedsCopy) => lender.prepare(),
            }
        }
    }

    /// The receiver receives, if it has not to wait for that.
    ///
    /// # Errors
    /// There is nothing, now or for ever.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.with(State::take)
    }

    /// The receiver takes nothing that is sent from now on. What was sent can still be received.
    pub fn close(&self) {
        self.with(State::receiver_gone).settle();
    }

    /// The receiver is dropped, and with it what was sent and not received.
    pub fn drop_receiver(&self) {
        let (left, value) = self.with(|state| (state.receiver_gone(), state.value.take()));
        left.settle();
        drop(value); // not under the lock: by its own code
    }
}

impl<T, W: Waker, L: Lock<State<T, W>>> Default for Oneshot<T, W, L> {
    fn default() -> Self {
        Self::new()
    }
}
