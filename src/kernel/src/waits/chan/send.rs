//! A send that may have to wait. Go: `chansend`.
//!
//! Checked by: verification/rooms/src/rooms/chan.rs

use crate::waits::chan::errors::{SendError, TrySendError};
use crate::waits::chan::state::{Side, State, Wake};
use crate::waits::chan::{Channel, Parts, TicketOf, Waiter};
use crate::waits::queue::Outcome;
use crate::waits::waker::{Lender, forget, wake};
use core::task::Poll;

/// What a send comes to.
pub type Sent<P> = Result<(), SendError<<P as Parts>::Value>>;

/// A send.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::{chan::{Channel, send::Send}, claim::{Claim, Ticket}};
/// let (channel, mut task) = (Channel::<Numbers>::new(0), Task::default());
/// let mut send = Send::new(&channel, 7);
/// assert!(send.poll(&mut task).is_pending() && send.is_waiting());
/// let put_away = send.put_away(); // without its borrow of the channel
/// let mut send = Send::resumed(&channel, put_away);
/// assert_eq!((channel.try_take(), task.wakes()), (Ok(7), 1));
/// assert_eq!(send.poll(&mut task), Poll::Ready(Ok(())));
/// assert_eq!(Send::new(&channel, 8).into_inner(), Some(8)); // it is not sent
///
/// let (mut case, claim) = (Send::new(&channel, 9), Arc::new(Claim::new())); // a case of a select
/// assert!(case.attempt().is_none() && case.enlist(Ticket::new(&claim, 0), task.clone()));
/// assert_eq!((channel.try_take(), claim.withdraw()), (Ok(9), Some(0)));
/// assert_eq!(case.collect(), Ok(()));
/// case.withdraw(); // an unsent value would be here again
/// # }
/// ```
pub struct Send<'a, P: Parts> {
    channel: &'a Channel<P>,
    /// `None`: while it waits the value lies in its waiter; after the end it is gone.
    value: Option<P::Value>,
    waiter: Option<usize>,
    /// It was sent, and not looked at yet.
    is_sent: bool,
}

/// A send without its channel.
pub struct PutAway<P: Parts> {
    value: Option<P::Value>,
    waiter: Option<usize>,
    is_sent: bool,
}

/// What became of a try.
enum Tried<P: Parts> {
    Over(Sent<P>, Wake<P>),
    Waits(usize),
    NeedsCopy(P::Value),
}

impl<'a, P: Parts> Send<'a, P> {
    /// Of this value.
    pub fn new(channel: &'a Channel<P>, value: P::Value) -> Self {
        Send { channel, value: Some(value), waiter: None, is_sent: false }
    }

    /// To this channel, where it waits since it was [put away](Send::put_away), if it does.
    pub fn resumed(channel: &'a Channel<P>, PutAway { value, waiter, is_sent }: PutAway<P>) -> Self {
        Send { channel, value, waiter, is_sent }
    }

    /// What is left of it without the channel. It is to be [resumed](Send::resumed) there: to go on, or to be dropped.
    #[must_use = "it may hold its place in the queue"]
    pub fn put_away(mut self) -> PutAway<P> {
        PutAway { value: self.value.take(), waiter: self.waiter.take(), is_sent: self.is_sent }
    }

    /// Does it wait?
    pub fn is_waiting(&self) -> bool {
        self.waiter.is_some()
    }

    /// Waits no more. The value, if it was not sent.
    pub fn into_inner(mut self) -> Option<P::Value> {
        self.withdraw();
        self.value.take()
    }

    #[cold]
    fn is_over() -> ! {
        panic!("a send was polled after it had ended");
    }

    /// Goes on with it; waits by the lender's waker if it has to.
    ///
    /// # Panics
    /// If it has ended.
    #[inline]
    pub fn poll(&mut self, lender: &mut impl Lender<Waker = P::Waker>) -> Poll<Sent<P>> {
        loop {
            match self.step(lender) {
                Some(polled) => return polled,
                None => lender.prepare(),
            }
        }
    }

    /// `None`: it needs a copy of the waker.
    #[inline]
    fn step(&mut self, lender: &mut impl Lender<Waker = P::Waker>) -> Option<Poll<Sent<P>>> {
        if let Some(key) = self.waiter {
            if let Some(goes_on) = self.channel.goes_on(key, lender) {
                return goes_on.then_some(Poll::Pending);
            }
            if let Some(sent) = self.get_up() {
                return Some(Poll::Ready(sent));
            }
        }
        if core::mem::take(&mut self.is_sent) {
            return Some(Poll::Ready(Ok(())));
        }
        let Some(value) = self.value.take() else { Self::is_over() };
        match self.channel.with(|state| Self::put_or_wait(state, value, lender)) {
            Tried::Over(sent, woken) => {
                wake(woken);
                Some(Poll::Ready(sent))
            }
            Tried::Waits(key) => {
                self.waiter = Some(key);
                Some(Poll::Pending)
            }
            Tried::NeedsCopy(value) => {
                self.value = Some(value);
                None
            }
        }
    }

    /// Under one lock: a receiver finds the waiter, or was found.
    #[inline]
    fn put_or_wait(state: &mut State<P>, value: P::Value, lender: &mut impl Lender<Waker = P::Waker>) -> Tried<P> {
        match state.put(value) {
            Ok(woken) => Tried::Over(Ok(()), woken),
            Err(TrySendError::Closed(value)) => Tried::Over(Err(SendError(value)), None),
            Err(TrySendError::Full(value)) => match lender.lend() {
                None => Tried::NeedsCopy(value),
                Some(waker) => Tried::Waits(state.enqueue(Side::Senders, Waiter::<P>::new(waker, Some(value), None))),
            },
        }
    }

    /// Gives its waiter back. Returns what the waiting came to, if it did; if not, the value is here again.
    #[inline]
    fn get_up(&mut self) -> Option<Sent<P>> {
        let key = self.waiter.take()?;
        let mut waiter = self.channel.with(|state| state.leave(Side::Senders, key));
        forget(waiter.waker.take());
        match (waiter.outcome, waiter.value.take()) {
            (Some(Outcome::Closed), Some(value)) => Some(Err(SendError(value))),
            (Some(_), _) => Some(Ok(())),
            (None, value) => {
                self.value = value;
                None
            }
        }
    }

    /// Takes part in a select: is it ready?
    ///
    /// # Panics
    /// If it has ended.
    pub fn attempt(&mut self) -> Option<Sent<P>> {
        if let Some(sent) = self.get_up() {
            return Some(sent);
        }
        if core::mem::take(&mut self.is_sent) {
            return Some(Ok(()));
        }
        let Some(value) = self.value.take() else { Self::is_over() };
        match self.channel.try_put(value) {
            Ok(()) => Some(Ok(())),
            Err(TrySendError::Closed(value)) => Some(Err(SendError(value))),
            Err(TrySendError::Full(value)) => {
                self.value = Some(value);
                None
            }
        }
    }

    /// The same: waits. `false`: no need to, it is worth another try.
    pub fn enlist(&mut self, ticket: TicketOf<P>, waker: P::Waker) -> bool {
        let value = self.value.take();
        match self.channel.enlist(Side::Senders, value, ticket, waker) {
            Ok(waiter) => self.waiter = Some(waiter),
            Err(value) => self.value = value,
        }
        self.waiter.is_some()
    }

    /// The same: it won the claim. What came of it.
    pub fn collect(&mut self) -> Sent<P> {
        self.get_up().expect("select: a send was chosen that was not served")
    }

    /// Waits no more. The value is here again, unless it was taken.
    pub fn withdraw(&mut self) {
        match self.get_up() {
            None => (),
            Some(Ok(())) => self.is_sent = true,
            Some(Err(SendError(value))) => self.value = Some(value),
        }
    }
}

impl<P: Parts> Drop for Send<'_, P> {
    #[inline]
    fn drop(&mut self) {
        if self.waiter.is_some() {
            self.withdraw();
        }
    }
}
