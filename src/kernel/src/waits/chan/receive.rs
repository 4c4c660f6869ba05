//! A receive that may have to wait. Go: `chanrecv`.
//!
//! Checked by: verification/rooms/src/rooms/chan.rs

use crate::waits::chan::errors::{Closed, TryRecvError};
use crate::waits::chan::state::{Side, State, Wake};
use crate::waits::chan::{Channel, Parts, TicketOf, Waiter};
use crate::waits::queue::Outcome;
use crate::waits::waker::{Lender, forget, wake};
use core::task::Poll;

/// What a receive comes to.
pub type Received<P> = Result<<P as Parts>::Value, Closed>;

/// A receive. Dropped while it waits, it gives back what it was given.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::{chan::{Channel, receive::Receive}, claim::{Claim, Ticket}};
/// let (channel, mut task) = (Channel::<Numbers>::new(1), Task::default());
/// let mut receive = Receive::new(&channel);
/// assert!(receive.poll(&mut task).is_pending() && receive.is_waiting());
/// let waiter = receive.put_away(); // without its borrow of the channel
/// let mut receive = Receive::resumed(&channel, waiter);
/// channel.try_put(7).expect("a receiver waits");
/// assert_eq!((task.wakes(), receive.poll(&mut task)), (1, Poll::Ready(Ok(7))));
///
/// let (mut case, claim) = (Receive::new(&channel), Arc::new(Claim::new())); // a case of a select
/// assert!(case.attempt().is_none() && case.enlist(Ticket::new(&claim, 0), task.clone()));
/// channel.try_put(8).expect("a receiver waits");
/// assert_eq!((claim.withdraw(), case.collect()), (Some(0), Ok(8)));
/// case.withdraw(); // what it was given would go back
/// # }
/// ```
pub struct Receive<'a, P: Parts> {
    channel: &'a Channel<P>,
    /// Where it waits.
    waiter: Option<usize>,
}

/// What became of a try.
enum Tried<P: Parts> {
    Over(Received<P>, Wake<P>),
    Waits(usize),
    NeedsCopy,
}

impl<'a, P: Parts> Receive<'a, P> {
    /// From this channel.
    pub fn new(channel: &'a Channel<P>) -> Self {
        Receive { channel, waiter: None }
    }

    /// From this channel, where it waits since it was [put away](Receive::put_away), if it does.
    pub fn resumed(channel: &'a Channel<P>, waiter: Option<usize>) -> Self {
        Receive { channel, waiter }
    }

    /// Where it waits. It is to be [resumed](Receive::resumed) there: to go on, or to be dropped.
    #[must_use = "it holds its place in the queue"]
    pub fn put_away(mut self) -> Option<usize> {
        self.waiter.take()
    }

    /// Does it wait?
    pub fn is_waiting(&self) -> bool {
        self.waiter.is_some()
    }

    /// Goes on with it; waits by the lender's waker if it has to.
    #[inline]
    pub fn poll(&mut self, lender: &mut impl Lender<Waker = P::Waker>) -> Poll<Received<P>> {
        loop {
            match self.step(lender) {
                Some(polled) => return polled,
                None => lender.prepare(),
            }
        }
    }

    /// `None`: it needs a copy of the waker.
    #[inline]
    fn step(&mut self, lender: &mut impl Lender<Waker = P::Waker>) -> Option<Poll<Received<P>>> {
        if let Some(key) = self.waiter {
            if let Some(goes_on) = self.channel.goes_on(key, lender) {
                return goes_on.then_some(Poll::Pending);
            }
            if let Some(received) = self.get_up() {
                return Some(Poll::Ready(received));
            }
        }
        match self.channel.with(|state| Self::take_or_wait(state, lender)) {
            Tried::Over(received, woken) => {
                wake(woken);
                Some(Poll::Ready(received))
            }
            Tried::Waits(key) => {
                self.waiter = Some(key);
                Some(Poll::Pending)
            }
            Tried::NeedsCopy => None,
        }
    }

    /// Under one lock: a sender finds the waiter, or was found.
    #[inline]
    fn take_or_wait(state: &mut State<P>, lender: &mut impl Lender<Waker = P::Waker>) -> Tried<P> {
        match state.take() {
            Ok((value, woken)) => Tried::Over(Ok(value), woken),
            Err(TryRecvError::Closed) => Tried::Over(Err(Closed), None),
            Err(TryRecvError::Empty) => match lender.lend() {
                None => Tried::NeedsCopy,
                Some(waker) => Tried::Waits(state.enqueue(Side::Receivers, Waiter::<P>::new(waker, None, None))),
            },
        }
    }

    /// Gives its waiter back. Returns what the waiting came to, if it did.
    #[inline]
    fn get_up(&mut self) -> Option<Received<P>> {
        let key = self.waiter.take()?;
        let mut waiter = self.channel.with(|state| state.leave(Side::Receivers, key));
        forget(waiter.waker.take());
        match waiter.outcome? {
            Outcome::Closed => Some(Err(Closed)),
            Outcome::Done => waiter.value.take().map(Ok),
        }
    }

    /// Takes part in a select: is it ready?
    pub fn attempt(&mut self) -> Option<Received<P>> {
        self.get_up().or_else(|| self.channel.try_recv_or_closed())
    }

    /// The same: waits. `false`: no need to, it is worth another try.
    pub fn enlist(&mut self, ticket: TicketOf<P>, waker: P::Waker) -> bool {
        self.waiter = self.channel.enlist(Side::Receivers, None, ticket, waker).ok();
        self.waiter.is_some()
    }

    /// The same: it won the claim. What it got.
    pub fn collect(&mut self) -> Received<P> {
        self.get_up().expect("select: a receive was chosen that was given nothing")
    }

    /// Waits no more; what it was given goes back.
    pub fn withdraw(&mut self) {
        let Some(key) = self.waiter.take() else { return };
        let (woken, unused) = self.channel.with(|state| {
            let mut waiter = state.leave(Side::Receivers, key);
            // As good as under another, and one entry less: meanwhile it is as if the task had not given up yet.
            let woken = waiter.value.take().and_then(|value| state.put_back(waiter.number, value));
            (woken, waiter.waker)
        });
        wake(woken);
        forget(unused);
    }
}

impl<P: Parts> Drop for Receive<'_, P> {
    #[inline]
    fn drop(&mut self) {
        if self.waiter.is_some() {
            self.withdraw();
        }
    }
}
