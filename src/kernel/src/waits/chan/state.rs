//! What a channel does under its lock. Nothing here runs code of the user's: what is to be woken, and what is to be dropped,
//! is returned.
//!
//! Go: `chansend`, `chanrecv`, `closechan`.
//!
//! Checked by: verification/rooms/src/rooms/chan.rs

use crate::waits::chan::errors::{TryRecvError, TrySendError};
use crate::waits::chan::{Parts, TicketOf, Waiter};
use crate::waits::queue::{Outcome, Renewed, WaitQueue, Waiters};
use crate::waits::waker::Lender;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// What is to be woken as soon as the lock is free.
pub type Wake<P> = Option<<P as Parts>::Waker>;

/// The same, of several: the receiver of a value, and others.
pub type Woken<P> = (Wake<P>, Vec<<P as Parts>::Waker>);

/// Which queue.
#[derive(Clone, Copy)]
pub enum Side {
    /// Of those that send.
    Senders,
    /// Of those that receive.
    Receivers,
}

/// The state of a channel.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::{chan::{errors::TrySendError, state::{Side, State}}, claim::{Claim, Ticket}, queue::{Renewed, Waiter}, waker::wake};
/// let (mut state, mut task) = (State::<Numbers>::new(1), Task::default());
/// state.put(1).expect("there is room");
/// let sender = state.enqueue(Side::Senders, Waiter::new(task.clone(), Some(2), None));
/// assert!(matches!(state.renew(sender, &mut task), Renewed::Waits(None)));
/// assert_eq!(state.pop(), Some(1));
/// wake(state.let_in()); // the sender's value comes in
/// assert_eq!((task.wakes(), state.waiter(sender).value), (1, None));
/// state.leave(Side::Senders, sender);
/// assert_eq!(state.take().ok().map(|(value, _)| value), Some(2));
///
/// let ticket = Ticket::new(&Arc::new(Claim::new()), 0);
/// let receiver = state.enqueue_unless_ready(Side::Receivers, None, ticket, task.clone()).ok().expect("nothing is there");
/// assert_eq!(state.next(Side::Receivers), Some(receiver)); // and wins the claim
/// wake(state.hand_over(receiver, 3));
/// let given = state.leave(Side::Receivers, receiver); // it gives up all the same
/// state.put_back(given.number, given.value.expect("it was given 3"));
/// assert_eq!(state.len(), 1);
///
/// state.count_up(Side::Senders);
/// assert!(!state.count_down(Side::Senders) && state.count_down(Side::Senders)); // none is left
/// assert!(state.shut());
/// state.turn_away(Side::Receivers, &mut Vec::new());
/// assert!(state.close().is_none()); // it was closed
/// assert_eq!(state.clear().collect::<Vec<_>>(), [3]);
///
/// let mut state = State::<Numbers>::new(1);
/// assert_eq!((state.reserve(1), state.room(), state.reserve(1)), (Ok(()), 0, Err(TrySendError::Full(()))));
/// state.close();
/// assert!(state.put_reserved(4).is_ok() && state.take().is_ok()); // by the slot that is held
/// # }
/// ```
pub struct State<P: Parts> {
    /// How many values may lie in it.
    capacity: usize,
    /// Slots of these that are held: a value that is sent by one always finds room.
    reserved: usize,
    buffer: VecDeque<P::Value>,
    /// Values that were given to receivers which did not come for them, with their numbers, in order. They are older than
    /// those in the buffer, and there is room for them in any case.
    returned: VecDeque<(u64, P::Value)>,
    /// How many values were given to receivers that waited.
    given: u64,
    waiters: Waiters<P::Host, P::Value, P::Waker>,
    senders: WaitQueue,
    receivers: WaitQueue,
    is_closed: bool,
    sender_count: usize,
    receiver_count: usize,
}

impl<P: Parts> State<P> {
    /// Of a channel with one sender and one receiver.
    pub fn new(capacity: usize) -> Self {
        State {
            capacity,
            buffer: VecDeque::new(),
            returned: VecDeque::new(),
            given: 0,
            reserved: 0,
            waiters: Waiters::new(),
            senders: WaitQueue::new(),
            receivers: WaitQueue::new(),
            is_closed: false,
            sender_count: 1,
            receiver_count: 1,
        }
    }

    /// How many values it has room for; `usize::MAX`: for all.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// How many values are in it.
    pub fn len(&self) -> usize {
        self.buffer.len() + self.returned.len()
    }

    /// Is nothing in it?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// For how many values there is room that no permit holds. While a sender waits, for none.
    pub fn room(&self) -> usize {
        self.capacity.saturating_sub(self.len().saturating_add(self.reserved))
    }

    /// Is it closed?
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Is it closed, and no slot held? Then no value comes any more.
    fn is_over(&self) -> bool {
        self.is_closed && self.reserved == 0
    }

    /// One more on this side.
    pub fn count_up(&mut self, side: Side) {
        *self.count(side) += 1;
    }

    /// One less on this side. Is none left there?
    pub fn count_down(&mut self, side: Side) -> bool {
        let count = self.count(side);
        *count -= 1;
        *count == 0
    }

    fn count(&mut self, side: Side) -> &mut usize {
        match side {
            Side::Senders => &mut self.sender_count,
            Side::Receivers => &mut self.receiver_count,
        }
    }

    /// Sends, if that needs no wait. Go: `chansend`, with `block` false.
    ///
    /// # Errors
    /// There is no room, or it is closed; here is the value.
    #[inline]
    pub fn put(&mut self, value: P::Value) -> Result<Wake<P>, TrySendError<P::Value>> {
        if self.is_closed {
            return Err(TrySendError::Closed(value));
        }
        if let Some(key) = self.next(Side::Receivers) {
            return Ok(self.hand_over(key, value));
        }
        if self.room() > 0 {
            self.buffer.push_back(value);
            return Ok(None);
        }
        Err(TrySendError::Full(value))
    }

    /// Holds `n` slots, if that needs no wait.
    ///
    /// # Errors
    /// There are fewer, or it is closed.
    pub fn reserve(&mut self, n: usize) -> Result<(), TrySendError<()>> {
        if self.is_closed {
            return Err(TrySendError::Closed(()));
        }
        if self.room() < n {
            return Err(TrySendError::Full(()));
        }
        self.reserved += n;
        Ok(())
    }

    /// Sends by a slot that is held, also if it is closed.
    ///
    /// # Errors
    /// No receiver is left, and whether the slot is held does not matter any more; here is the value.
    pub fn put_reserved(&mut self, value: P::Value) -> Result<Woken<P>, P::Value> {
        if self.receiver_count == 0 {
            return Err(value);
        }
        let woken = match self.next(Side::Receivers) {
            Some(key) => self.hand_over(key, value),
            None => {
                self.buffer.push_back(value);
                None
            }
        };
        Ok((woken, self.unreserve(1)))
    }

    /// `n` slots are held no more: they go to the senders that have waited longest. Was one the last of a closed channel, no receiver
    /// waits on.
    pub fn unreserve(&mut self, n: usize) -> Vec<P::Waker> {
        self.reserved -= n;
        let mut wakers = Vec::new();
        if self.is_over() {
            self.turn_away(Side::Receivers, &mut wakers);
        }
        wakers.extend(core::iter::from_fn(|| self.let_in()));
        wakers
    }

    /// The waiter that is served next on this side, taken out of its queue. The caller serves it under the same lock.
    #[inline]
    pub fn next(&mut self, side: Side) -> Option<usize> {
        match side {
            Side::Senders => self.senders.next(&mut self.waiters),
            Side::Receivers => self.receivers.next(&mut self.waiters),
        }
    }

    /// A new value, to a receiver that waited.
    #[inline]
    pub fn hand_over(&mut self, key: usize, value: P::Value) -> Wake<P> {
        self.given += 1;
        self.give(key, self.given, value)
    }

    fn give(&mut self, key: usize, number: u64, value: P::Value) -> Wake<P> {
        let waiter = self.waiters.get(key);
        (waiter.value, waiter.number) = (Some(value), number);
        waiter.serve(Outcome::Done)
    }

    /// Receives, if that needs no wait. Go: `chanrecv`, with `block` false.
    ///
    /// # Errors
    /// There is nothing, now or for ever.
    #[inline]
    pub fn take(&mut self) -> Result<(P::Value, Wake<P>), TryRecvError> {
        match self.pop() {
            Some(value) => Ok((value, self.let_in())),
            None => self.take_from_sender(),
        }
    }

    /// The first value in it. The caller that takes it [lets in](State::let_in) the next under the same lock.
    #[inline]
    pub fn pop(&mut self) -> Option<P::Value> {
        match self.returned.pop_front() {
            Some((_, value)) => Some(value),
            None => self.buffer.pop_front(),
        }
    }

    /// There may be room now: the value of the first sender comes in, or it holds a slot.
    #[inline]
    pub fn let_in(&mut self) -> Wake<P> {
        if self.room() == 0 {
            return None;
        }
        let key = self.next(Side::Senders)?;
        let waiter = self.waiters.get(key);
        match waiter.value.take() {
            Some(value) => self.buffer.push_back(value),
            None => self.reserved += 1,
        }
        waiter.serve(Outcome::Done)
    }

    /// The value of the sender that has waited longest with one. No slot is needed for it, so none that waits for a slot is overtaken.
    fn take_from_sender(&mut self) -> Result<(P::Value, Wake<P>), TryRecvError> {
        let empty = if self.is_over() { TryRecvError::Closed } else { TryRecvError::Empty };
        let key = self.senders.next_of(&mut self.waiters, Self::sends).ok_or(empty)?;
        let waiter = self.waiters.get(key);
        let value = waiter.value.take().expect("chan: a sender waits without a value");
        Ok((value, waiter.serve(Outcome::Done)))
    }

    /// Does this sender wait with a value, and not for a slot?
    fn sends(waiter: &Waiter<P>) -> bool {
        waiter.value.is_some()
    }

    /// A value comes back, from a receiver that had waited and did not come for it. The next waiter gets it; if none
    /// does, it is the first again, or stands behind those that came back and are older.
    pub fn put_back(&mut self, number: u64, value: P::Value) -> Wake<P> {
        if let Some(key) = self.next(Side::Receivers) {
            return self.give(key, number, value);
        }
        let at = self.returned.partition_point(|(older, _)| *older < number);
        self.returned.insert(at, (number, value));
        None
    }

    /// Waits.
    #[inline]
    pub fn enqueue(&mut self, side: Side, waiter: Waiter<P>) -> usize {
        match side {
            Side::Senders => self.senders.join(&mut self.waiters, waiter),
            Side::Receivers => self.receivers.join(&mut self.waiters, waiter),
        }
    }

    /// Waits no more.
    #[inline]
    pub fn leave(&mut self, side: Side, key: usize) -> Waiter<P> {
        match side {
            Side::Senders => self.senders.leave(&mut self.waiters, key),
            Side::Receivers => self.receivers.leave(&mut self.waiters, key),
        }
    }

    /// The waiter of this number.
    pub fn waiter(&mut self, key: usize) -> &mut Waiter<P> {
        self.waiters.get(key)
    }

    /// The task of this waiter is polled.
    #[inline]
    pub fn renew(&mut self, key: usize, lender: &mut impl Lender<Waker = P::Waker>) -> Renewed<P::Waker> {
        self.waiters.renew(key, lender)
    }

    /// Waits as a case of a select.
    ///
    /// # Errors
    /// It could go on at once; here is what it came with.
    pub fn enqueue_unless_ready(
        &mut self,
        side: Side,
        value: Option<P::Value>,
        ticket: TicketOf<P>,
        waker: P::Waker,
    ) -> Result<usize, (Option<P::Value>, P::Waker)> {
        if self.is_ready(side, &ticket) {
            return Err((value, waker));
        }
        Ok(self.enqueue(side, Waiter::<P>::new(waker, value, Some(ticket))))
    }

    /// Could this select go on at once, on this side?
    fn is_ready(&self, side: Side, ticket: &TicketOf<P>) -> bool {
        match side {
            Side::Senders => {
                self.is_closed || self.room() > 0 || self.receivers.has_any(&self.waiters, ticket, |_| true)
            }
            Side::Receivers => {
                self.is_over() || !self.is_empty() || self.senders.has_any(&self.waiters, ticket, Self::sends)
            }
        }
    }

    /// Closes it. While a slot is held, receivers wait on. `None`: it was. Go: `closechan`.
    pub fn close(&mut self) -> Option<Vec<P::Waker>> {
        if !self.shut() {
            return None;
        }
        let mut wakers = Vec::new();
        if self.is_over() {
            self.turn_away(Side::Receivers, &mut wakers);
        }
        self.turn_away(Side::Senders, &mut wakers);
        Some(wakers)
    }

    /// Nothing can be sent from now on. `false`: it was so. Each waiter is [turned away](State::turn_away) under the same
    /// lock.
    pub fn shut(&mut self) -> bool {
        !core::mem::replace(&mut self.is_closed, true)
    }

    /// Those that wait on this side wait no more: it is closed.
    pub fn turn_away(&mut self, side: Side, wakers: &mut Vec<P::Waker>) {
        while let Some(key) = self.next(side) {
            wakers.extend(self.waiters.get(key).serve(Outcome::Closed));
        }
    }

    /// All values, which cannot be received any more.
    pub fn clear(&mut self) -> impl Iterator<Item = P::Value> + use<P> {
        let returned = core::mem::take(&mut self.returned).into_iter().map(|(_, value)| value);
        returned.chain(core::mem::take(&mut self.buffer))
    }
}
