//! Tasks that wait, at a channel for instance: waiters with numbers, and queues through them.
//!
//! A waiter is taken when somebody has to wait. Whoever serves it takes it out of its queue and leaves there what came of
//! it; its owner comes for that, and gives the waiter back. All of it happens under the lock of whose the waiters are. Waiters
//! are used again, so a wait allocates nothing once there have been as many at a time.

use crate::runtime::sync::select::ticket::Ticket;
use core::task::Waker;
use slab::Slab;

/// No waiter.
const NONE: usize = usize::MAX;

/// Where somebody waits, or has been served and has not come for it yet.
pub(in crate::runtime) struct Waiter<T> {
    /// A sender's value until it is taken; a receiver's as soon as it is given.
    pub(in crate::runtime) value: Option<T>,
    /// What the waiting came to. `None`: it goes on.
    pub(in crate::runtime) outcome: Option<Outcome>,
    /// Among the values that were given to receivers, the how manieth.
    pub(in crate::runtime) number: u64,
    /// `None`: has been served, and is woken.
    pub(in crate::runtime) waker: Option<Waker>,
    /// It is a case of a select, and is served only if that has no other.
    ticket: Option<Ticket>,
    before: usize,
    behind: usize,
    is_queued: bool,
}

/// What waiting came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::runtime) enum Outcome {
    /// The value was handed over.
    Done,
    /// The channel was closed.
    Closed,
}

impl<T> Waiter<T> {
    pub(in crate::runtime) fn new(waker: Waker, value: Option<T>, ticket: Option<Ticket>) -> Self {
        let (before, behind, is_queued) = (NONE, NONE, false);
        Waiter { value, outcome: None, number: 0, waker: Some(waker), ticket, before, behind, is_queued }
    }

    /// Is it a case of a select?
    pub(in crate::runtime) fn is_case(&self) -> bool {
        self.ticket.is_some()
    }

    /// Says what came of it. Returns the waker, as soon as the lock is free.
    pub(in crate::runtime) fn serve(&mut self, outcome: Outcome) -> Option<Waker> {
        self.outcome = Some(outcome);
        self.waker.take()
    }
}

/// The waiters of one channel, or the like.
pub(in crate::runtime) struct Waiters<T>(Slab<Waiter<T>>);

impl<T> Waiters<T> {
    pub(in crate::runtime) const fn new() -> Self {
        Waiters(Slab::new())
    }

    pub(in crate::runtime) fn get(&mut self, key: usize) -> &mut Waiter<T> {
        &mut self.0[key]
    }
}

/// Those that wait for the same thing, the oldest first.
pub(in crate::runtime) struct WaitQueue {
    first: usize,
    last: usize,
}

impl WaitQueue {
    pub(in crate::runtime) const fn new() -> Self {
        WaitQueue { first: NONE, last: NONE }
    }

    /// Sits down at the end.
    #[inline]
    pub(in crate::runtime) fn join<T>(&mut self, waiters: &mut Waiters<T>, mut waiter: Waiter<T>) -> usize {
        (waiter.before, waiter.behind, waiter.is_queued) = (self.last, NONE, true);
        let key = waiters.0.insert(waiter);
        match self.last {
            NONE => self.first = key,
            last => waiters.0[last].behind = key,
        }
        self.last = key;
        key
    }

    /// Gives the waiter back, served or not.
    #[inline]
    pub(in crate::runtime) fn leave<T>(&mut self, waiters: &mut Waiters<T>, key: usize) -> Waiter<T> {
        self.unlink(waiters, key);
        waiters.0.remove(key)
    }

    /// The first that may be served, taken out of the queue. Those before it are cases of selects that have another: they
    /// are taken out too, and their owners know.
    #[inline]
    pub(in crate::runtime) fn next<T>(&mut self, waiters: &mut Waiters<T>) -> Option<usize> {
        while self.first != NONE {
            let key = self.first;
            self.unlink(waiters, key);
            if waiters.0[key].ticket.as_ref().is_none_or(Ticket::win) {
                return Some(key);
            }
        }
        None
    }

    /// Would [`next`](WaitQueue::next) find one, other than a case of the same select as `ticket`?
    pub(in crate::runtime) fn has_any<T>(&self, waiters: &Waiters<T>, ticket: &Ticket) -> bool {
        let mut key = self.first;
        while key != NONE {
            let waiter = &waiters.0[key];
            if waiter.ticket.as_ref().is_none_or(|other| other.is_open() && !other.is_same_select(ticket)) {
                return true;
            }
            key = waiter.behind;
        }
        false
    }

    fn unlink<T>(&mut self, waiters: &mut Waiters<T>, key: usize) {
        let waiter = &mut waiters.0[key];
        if !core::mem::replace(&mut waiter.is_queued, false) {
            return;
        }
        let (before, behind) = (waiter.before, waiter.behind);
        match before {
            NONE => self.first = behind,
            before => waiters.0[before].behind = behind,
        }
        match behind {
            NONE => self.last = before,
            behind => waiters.0[behind].before = before,
        }
    }
}
