//! A channel, as both of its ends have it: its state, and the lock around it. Go: `hchan`.
//!
//! **Each value that is sent is received once, or given back, or dropped with the last receiver; in the order of sending, but
//! for those that were given to a receive which was dropped: they are the first again.** While an open waiter is in the queue
//! of the receivers, there is no value, neither in the channel nor with a sender; while one is in the queue of the senders, there is
//! no room. (A waiter is open unless it is a case of a select that has another.)
//!
//! A slot can be held without a value: no send and no other reservation takes it, and the channel has an end for its receivers only when
//! it is closed and none is held.
//!
//! | a task that has to wait | a task that serves |
//! |-----------------|------------|
//! | under one lock: sees nothing to take, or no room; enqueues its waiter | under one lock: takes the first waiter, hands the value over, says so in the waiter |
//! | sleeps, until it is woken | unlocks; wakes |
//! | under the lock: dequeues its waiter, with what came of it | |
//! | or, dropped: the same, and under the same lock a value goes on to the next, or back | |
//!
//! What happens before what is Go's memory model: a send before its receive completes; without room a receive before its send
//! completes; the close before a receive that finds the channel closed; with room for C values the k-th receive before the
//! k+C-th send completes. The lock gives all of that, as everything is handed over under it.
//!
//! ```text
//!   send, receive ──► state: what is done under the lock ──► queue
//! ```
//!
//! Checked by: verification/rooms/src/rooms/chan.rs

pub mod errors;
pub mod receive;
pub mod reserve;
pub mod send;
pub mod state;

use crate::host::{Host, Lock};
use crate::waits::chan::errors::{Closed, TryRecvError, TrySendError};
use crate::waits::chan::state::{Side, State};
use crate::waits::claim::Ticket;
use crate::waits::queue::{self, Renewed};
use crate::waits::waker::{Lender, Waker, forget, wake};

/// What a channel is made of.
pub trait Parts: Sized {
    /// What it runs on.
    type Host: Host;
    /// What is sent.
    type Value;
    /// Whom it wakes.
    type Waker: Waker;
    /// What its state lies under.
    type Lock: Lock<State<Self>>;

    /// Drops a value that no receiver is left for. No lock is held.
    fn drop_value(value: Self::Value);
}

/// A waiter of a channel.
pub type Waiter<P> = queue::Waiter<<P as Parts>::Host, <P as Parts>::Value, <P as Parts>::Waker>;
/// The ticket of a channel's waiter that is a case of a select.
pub type TicketOf<P> = Ticket<<P as Parts>::Host>;

/// What both ends have in common.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::chan::{Channel, errors::TrySendError, state::Side};
/// let channel = Channel::<Numbers>::new(1);
/// channel.try_put(7).expect("there is room");
/// assert_eq!(channel.try_put(8), Err(TrySendError::Full(8)));
/// assert_eq!(channel.try_take(), Ok(7));
/// assert!(channel.try_recv_or_closed().is_none());
///
/// channel.add_end(Side::Senders);
/// channel.drop_end(Side::Senders);
/// assert!(!channel.with(|state| state.is_closed())); // one sender is left
/// assert!(channel.close() && !channel.close());
///
/// let channel = Channel::<Numbers>::new(2);
/// channel.try_reserve(2).expect("there is room");
/// assert_eq!(channel.try_put(7), Err(TrySendError::Full(7)));
/// channel.put_reserved(8);
/// channel.unreserve(1);
/// assert_eq!((channel.try_put(9), channel.try_take()), (Ok(()), Ok(8)));
/// # }
/// ```
pub struct Channel<P: Parts> {
    state: P::Lock,
}

impl<P: Parts> Channel<P> {
    /// With room for so many values, one sender and one receiver.
    pub fn new(capacity: usize) -> Self {
        Channel { state: P::Lock::new(State::new(capacity)) }
    }

    /// Under the lock. None of the user's code is to run there: what is to be woken or dropped is returned.
    #[inline]
    pub fn with<R>(&self, f: impl FnOnce(&mut State<P>) -> R) -> R {
        self.state.with(f)
    }

    /// Sends, if that needs no wait.
    ///
    /// # Errors
    /// There is no room, or the channel is closed.
    pub fn try_put(&self, value: P::Value) -> Result<(), TrySendError<P::Value>> {
        let woken = self.with(|state| state.put(value))?;
        wake(woken);
        Ok(())
    }

    /// Receives, if that needs no wait.
    ///
    /// # Errors
    /// There is nothing, now or for ever.
    pub fn try_take(&self) -> Result<P::Value, TryRecvError> {
        let (value, woken) = self.with(State::take)?;
        wake(woken);
        Ok(value)
    }

    /// Receives, if that needs no wait. `None`: nothing is there now.
    ///
    /// # Errors
    /// [`Closed`]: nothing is there, and nothing will be.
    pub fn try_recv_or_closed(&self) -> Option<Result<P::Value, Closed>> {
        match self.try_take() {
            Ok(value) => Some(Ok(value)),
            Err(TryRecvError::Closed) => Some(Err(Closed)),
            Err(TryRecvError::Empty) => None,
        }
    }

    /// Holds `n` slots, if that needs no wait. Each is to be used by [`put_reserved`](Channel::put_reserved), or given back by
    /// [`unreserve`](Channel::unreserve).
    ///
    /// # Errors
    /// There are fewer, or the channel is closed.
    pub fn try_reserve(&self, n: usize) -> Result<(), TrySendError<()>> {
        self.with(|state| state.reserve(n))
    }

    /// Sends by a slot that the caller holds. It needs no wait, also if the channel is closed. Without a receiver the value is
    /// dropped.
    pub fn put_reserved(&self, value: P::Value) {
        match self.with(|state| state.put_reserved(value)) {
            Ok((first, others)) => wake(first.into_iter().chain(others)),
            Err(value) => P::drop_value(value),
        }
    }

    /// The caller holds `n` slots less.
    pub fn unreserve(&self, n: usize) {
        wake(self.with(|state| state.unreserve(n)));
    }

    /// Closes it, and wakes all that wait; receivers only if no slot is held. `false`: it was closed.
    pub fn close(&self) -> bool {
        let woken = self.with(State::close);
        let is_first = woken.is_some();
        wake(woken.into_iter().flatten());
        is_first
    }

    /// One more on this side.
    pub fn add_end(&self, side: Side) {
        self.with(|state| state.count_up(side));
    }

    /// One less on this side. The last closes the channel; the last receiver drops what is left in it.
    pub fn drop_end(&self, side: Side) {
        // Under one lock: this drops what was sent by a held slot before; its sender drops what is sent later.
        let (woken, left) = self.with(|state| match (state.count_down(side), side) {
            (false, _) => (None, None),
            (true, Side::Senders) => (state.close(), None),
            (true, Side::Receivers) => (state.close(), Some(state.clear())),
        });
        wake(woken.into_iter().flatten());
        // Not under the lock: they are dropped by their own code.
        left.into_iter().flatten().for_each(P::drop_value);
    }

    /// The task that waits there is polled. Does it wait on? `Some(false)`: a copy of its waker is needed. `None`: it was
    /// served, or it was a case of a select that is gone.
    #[inline]
    fn goes_on(&self, key: usize, lender: &mut impl Lender<Waker = P::Waker>) -> Option<bool> {
        match self.with(|state| state.renew(key, lender)) {
            Renewed::Served => None,
            Renewed::NeedsCopy => Some(false),
            Renewed::Waits(old) => {
                forget(old);
                Some(true)
            }
        }
    }

    /// Waits as a case of a select, unless there is no need to: then the value comes back.
    fn enlist(
        &self,
        side: Side,
        value: Option<P::Value>,
        ticket: TicketOf<P>,
        waker: P::Waker,
    ) -> Result<usize, Option<P::Value>> {
        let refused = match self.with(|state| state.enqueue_unless_ready(side, value, ticket, waker)) {
            Ok(key) => return Ok(key),
            Err((value, waker)) => (value, waker),
        };
        forget(Some(refused.1));
        Err(refused.0)
    }
}
