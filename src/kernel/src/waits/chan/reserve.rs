//! Reserving a slot, which may have to wait. In FIFO order with the sends that wait.
//!
//! Checked by: verification/rooms/src/rooms/permits.rs

use crate::waits::chan::errors::{SendError, TrySendError};
use crate::waits::chan::state::{Side, State};
use crate::waits::chan::{Channel, Parts, Waiter};
use crate::waits::queue::Outcome;
use crate::waits::waker::{Lender, forget, wake};
use core::task::Poll;

/// What a reservation comes to: the caller holds a slot, or the channel is closed.
pub type Reserved = Result<(), SendError<()>>;

/// A reservation. Dropped while it waits, it gives back what it was given.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::chan::{Channel, reserve::Reserve};
/// let (channel, mut task) = (Channel::<Numbers>::new(1), Task::default());
/// let mut first = Reserve::new(&channel);
/// assert_eq!(first.poll(&mut task), Poll::Ready(Ok(())));
/// let mut second = Reserve::new(&channel);
/// assert!(second.poll(&mut task).is_pending() && second.is_waiting());
/// channel.unreserve(1); // by the first
/// assert_eq!((task.wakes(), second.poll(&mut task)), (1, Poll::Ready(Ok(()))));
/// channel.put_reserved(7);
/// assert_eq!(channel.try_take(), Ok(7));
/// # }
/// ```
pub struct Reserve<'a, P: Parts> {
    channel: &'a Channel<P>,
    /// Where it waits.
    waiter: Option<usize>,
}

/// What became of a try.
enum Tried {
    Over(Reserved),
    Waits(usize),
    NeedsCopy,
}

impl<'a, P: Parts> Reserve<'a, P> {
    /// Of one slot.
    pub fn new(channel: &'a Channel<P>) -> Self {
        Reserve { channel, waiter: None }
    }

    /// Does it wait?
    pub fn is_waiting(&self) -> bool {
        self.waiter.is_some()
    }

    /// Goes on with it; waits by the lender's waker if it has to. Ready, the caller holds the slot.
    pub fn poll(&mut self, lender: &mut impl Lender<Waker = P::Waker>) -> Poll<Reserved> {
        loop {
            match self.step(lender) {
                Some(polled) => return polled,
                None => lender.prepare(),
            }
        }
    }

    /// `None`: it needs a copy of the waker.
    fn step(&mut self, lender: &mut impl Lender<Waker = P::Waker>) -> Option<Poll<Reserved>> {
        if let Some(key) = self.waiter {
            if let Some(goes_on) = self.channel.goes_on(key, lender) {
                return goes_on.then_some(Poll::Pending);
            }
            return self.get_up().map(Poll::Ready);
        }
        match self.channel.with(|state| Self::reserve_or_wait(state, lender)) {
            Tried::Over(reserved) => Some(Poll::Ready(reserved)),
            Tried::Waits(key) => {
                self.waiter = Some(key);
                Some(Poll::Pending)
            }
            Tried::NeedsCopy => None,
        }
    }

    /// Under one lock: a free slot finds the waiter, or was found.
    fn reserve_or_wait(state: &mut State<P>, lender: &mut impl Lender<Waker = P::Waker>) -> Tried {
        match state.reserve(1) {
            Ok(()) => Tried::Over(Ok(())),
            Err(TrySendError::Closed(())) => Tried::Over(Err(SendError(()))),
            Err(TrySendError::Full(())) => match lender.lend() {
                None => Tried::NeedsCopy,
                Some(waker) => Tried::Waits(state.enqueue(Side::Senders, Waiter::<P>::new(waker, None, None))),
            },
        }
    }

    /// Gives its waiter back. Returns what the waiting came to.
    fn get_up(&mut self) -> Option<Reserved> {
        let key = self.waiter.take()?;
        match self.channel.with(|state| state.leave(Side::Senders, key)).outcome? {
            Outcome::Done => Some(Ok(())),
            Outcome::Closed => Some(Err(SendError(()))),
        }
    }
}

impl<P: Parts> Drop for Reserve<'_, P> {
    fn drop(&mut self) {
        let Some(key) = self.waiter.take() else { return };
        let (woken, unused) = self.channel.with(|state| {
            let waiter = state.leave(Side::Senders, key);
            let has_slot = waiter.outcome == Some(Outcome::Done);
            (has_slot.then(|| state.unreserve(1)), waiter.waker)
        });
        wake(woken.into_iter().flatten());
        forget(unused);
    }
}
