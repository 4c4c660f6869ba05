//! What a channel does under its lock. Nothing here runs code of the user's: what is to be woken, and what is to be dropped,
//! is returned.
//!
//! While an open waiter is in the queue of the receivers, there is no value; while one is in the queue of the senders, there
//! is no room. (A waiter is open unless it is a case of a select that has another.)

use crate::runtime::sync::chan::errors::TryRecvError;
use crate::runtime::sync::chan::waitq::{Outcome, WaitQueue, Waiter, Waiters};
use crate::runtime::sync::select::ticket::Ticket;
use core::task::Waker;
use std::collections::VecDeque;

/// What is to be woken as soon as the lock is free.
pub(super) type Wake = Option<Waker>;

/// Why a value could not be sent.
pub(super) enum Refused<T> {
    Full(T),
    Closed(T),
}

/// Which queue.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Senders,
    Receivers,
}

pub(super) struct State<T> {
    /// How many values may lie in it.
    capacity: usize,
    buffer: VecDeque<T>,
    /// Values that were given to receivers which did not come for them, with their numbers, in order. They are older than
    /// those in the buffer, and there is room for them in any case.
    returned: VecDeque<(u64, T)>,
    /// How many values were given to receivers that waited.
    given: u64,
    waiters: Waiters<T>,
    senders: WaitQueue,
    receivers: WaitQueue,
    is_closed: bool,
    sender_count: usize,
    receiver_count: usize,
}

impl<T> State<T> {
    /// Of a channel with one sender and one receiver.
    pub(super) fn new(capacity: usize) -> Self {
        State {
            capacity,
            buffer: VecDeque::new(),
            returned: VecDeque::new(),
            given: 0,
            waiters: Waiters::new(),
            senders: WaitQueue::new(),
            receivers: WaitQueue::new(),
            is_closed: false,
            sender_count: 1,
            receiver_count: 1,
        }
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(super) fn len(&self) -> usize {
        self.buffer.len() + self.returned.len()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// One more on this side.
    pub(super) fn count_up(&mut self, side: Side) {
        *self.count(side) += 1;
    }

    /// One less on this side. Is nobody left there?
    pub(super) fn count_down(&mut self, side: Side) -> bool {
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

    /// Sends, if nobody has to wait for that. Go: `chansend`, with `block` false.
    #[inline]
    pub(super) fn put(&mut self, value: T) -> Result<Wake, Refused<T>> {
        if self.is_closed {
            return Err(Refused::Closed(value));
        }
        if let Some(key) = self.receivers.next(&mut self.waiters) {
            self.given += 1;
            return Ok(self.give(key, self.given, value));
        }
        if self.len() < self.capacity {
            self.buffer.push_back(value);
            return Ok(None);
        }
        Err(Refused::Full(value))
    }

    fn give(&mut self, key: usize, number: u64, value: T) -> Wake {
        let waiter = self.waiters.get(key);
        (waiter.value, waiter.number) = (Some(value), number);
        waiter.serve(Outcome::Done)
    }

    /// Receives, if nobody has to wait for that. Go: `chanrecv`, with `block` false.
    #[inline]
    pub(super) fn take(&mut self) -> Result<(T, Wake), TryRecvError> {
        let value = match self.returned.pop_front() {
            Some((_, value)) => Some(value),
            None => self.buffer.pop_front(),
        };
        match value {
            Some(value) => Ok((value, self.let_in())),
            None => self.take_from_sender(),
        }
    }

    /// There may be room now: the value of the first sender comes in.
    fn let_in(&mut self) -> Wake {
        if self.len() >= self.capacity {
            return None;
        }
        let (value, wake) = self.next_sent()?;
        self.buffer.push_back(value);
        wake
    }

    fn take_from_sender(&mut self) -> Result<(T, Wake), TryRecvError> {
        let empty = if self.is_closed { TryRecvError::Closed } else { TryRecvError::Empty };
        self.next_sent().ok_or(empty)
    }

    /// The value of the sender that has waited longest.
    fn next_sent(&mut self) -> Option<(T, Wake)> {
        let key = self.senders.next(&mut self.waiters)?;
        let waiter = self.waiters.get(key);
        let value = waiter.value.take().expect("chan: a sender waits without a value");
        Some((value, waiter.serve(Outcome::Done)))
    }

    /// A value comes back, from a receiver that had waited and did not come for it. The next waiter gets it; if nobody
    /// does, it is the first again, or stands behind those that came back and are older.
    pub(super) fn put_back(&mut self, number: u64, value: T) -> Wake {
        if let Some(key) = self.receivers.next(&mut self.waiters) {
            return self.give(key, number, value);
        }
        let at = self.returned.partition_point(|(older, _)| *older < number);
        self.returned.insert(at, (number, value));
        None
    }

    /// Waits.
    #[inline]
    pub(super) fn enqueue(&mut self, side: Side, waiter: Waiter<T>) -> usize {
        match side {
            Side::Senders => self.senders.join(&mut self.waiters, waiter),
            Side::Receivers => self.receivers.join(&mut self.waiters, waiter),
        }
    }

    /// Waits no more.
    #[inline]
    pub(super) fn leave(&mut self, side: Side, key: usize) -> Waiter<T> {
        match side {
            Side::Senders => self.senders.leave(&mut self.waiters, key),
            Side::Receivers => self.receivers.leave(&mut self.waiters, key),
        }
    }

    pub(super) fn waiter(&mut self, key: usize) -> &mut Waiter<T> {
        self.waiters.get(key)
    }

    /// Could this select go on at once, on this side?
    pub(super) fn is_ready(&self, side: Side, ticket: &Ticket) -> bool {
        self.is_closed
            || match side {
                Side::Senders => self.len() < self.capacity || self.receivers.has_any(&self.waiters, ticket),
                Side::Receivers => self.len() > 0 || self.senders.has_any(&self.waiters, ticket),
            }
    }

    /// Closes it. `None`: it was. Go: `closechan`.
    pub(super) fn close(&mut self) -> Option<Vec<Waker>> {
        if core::mem::replace(&mut self.is_closed, true) {
            return None;
        }
        let mut wakers = Vec::new();
        for queue in [&mut self.receivers, &mut self.senders] {
            while let Some(key) = queue.next(&mut self.waiters) {
                wakers.extend(self.waiters.get(key).serve(Outcome::Closed));
            }
        }
        Some(wakers)
    }

    /// All values, which nobody can receive any more.
    pub(super) fn clear(&mut self) -> impl Sized + use<T> {
        (core::mem::take(&mut self.returned), core::mem::take(&mut self.buffer))
    }
}
