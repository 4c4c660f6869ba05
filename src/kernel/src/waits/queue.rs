//! Tasks that wait, at a channel for instance: waiters with numbers, and queues through them. Go: `sudog`, `waitq`.
//!
//! A waiter is taken when a task has to wait. The server takes it out of its queue and leaves there what came of
//! it; its owner comes for that, and gives the waiter back. All of it happens under the lock of whose the waiters are. Waiters
//! are used again, so a wait allocates nothing once there have been as many at a time.
//!
//! **A waiter is served once, in FIFO order, and its waker is given to the server.**
//!
//! Checked by: verification/rooms/src/rooms/{chan,wait_group}.rs

use crate::host::Host;
use crate::waits::claim::Ticket;
use crate::waits::waker::Lender;
use slab::Slab;

/// No waiter.
const NONE: usize = usize::MAX;

/// Where a task waits, or has been served and has not come for it yet.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::queue::{Outcome, Waiter};
/// let task = Task::default();
/// let mut sender = Waiter::<Os, u8, Task>::new(task.clone(), Some(7), None);
/// assert_eq!(sender.value.take(), Some(7)); // a receiver takes it
/// sender.serve(Outcome::Done).expect("it waited").wake();
/// assert_eq!((task.wakes(), sender.outcome), (1, Some(Outcome::Done)));
/// assert!(Waiter::<Os, u8, Task>::of(None).serve(Outcome::Closed).is_none()); // it was not polled yet
/// # }
/// ```
pub struct Waiter<H: Host, T, W> {
    /// A sender's value until it is taken; a receiver's as soon as it is given. A sender that reserves has none.
    pub value: Option<T>,
    /// What the waiting came to. `None`: it goes on.
    pub outcome: Option<Outcome>,
    /// Its index among the values that were given to receivers.
    pub number: u64,
    /// `None`: has been served, and is woken; or is yet to be polled.
    pub waker: Option<W>,
    /// It is a case of a select, and is served only if that has no other.
    ticket: Option<Ticket<H>>,
    before: usize,
    behind: usize,
    is_queued: bool,
}

/// What waiting came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The value was handed over.
    Done,
    /// The channel was closed.
    Closed,
}

impl<H: Host, T, W> Waiter<H, T, W> {
    /// Of a task that waits for `waker` to be woken: a sender, with a value; a case of a select, with a ticket.
    pub fn new(waker: W, value: Option<T>, ticket: Option<Ticket<H>>) -> Self {
        Waiter { value, ticket, ..Self::of(Some(waker)) }
    }

    /// Of a task that waits for nothing that is handed over. `None`: its task is yet to be polled.
    pub fn of(waker: Option<W>) -> Self {
        let (before, behind, is_queued) = (NONE, NONE, false);
        Waiter { value: None, outcome: None, number: 0, waker, ticket: None, before, behind, is_queued }
    }

    /// Says what came of it. Returns the waker, to be woken as soon as the lock is free.
    pub fn serve(&mut self, outcome: Outcome) -> Option<W> {
        self.outcome = Some(outcome);
        self.waker.take()
    }
}

/// What becomes of a waiter whose task is polled.
pub enum Renewed<W> {
    /// It waits on, by the waker of this poll; this one is to be dropped as soon as the lock is free.
    Waits(Option<W>),
    /// It would, but a copy of the waker is needed.
    NeedsCopy,
    /// It was served; or it was a case of a select that is gone.
    Served,
}

/// The waiters of one channel, or the like.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::queue::{Outcome, Renewed, WaitQueue, Waiter, Waiters};
/// let (mut waiters, mut queue) = (Waiters::<Os, u8, Task>::new(), WaitQueue::new());
/// let (mut task, mut other) = (Task::default(), Task::default());
/// let key = queue.join(&mut waiters, Waiter::of(Some(task.clone())));
/// assert!(matches!(waiters.renew(key, &mut task), Renewed::Waits(None))); // the same waker
/// assert!(matches!(waiters.renew(key, &mut other), Renewed::Waits(Some(_)))); // the old one comes back
/// waiters.get(key).serve(Outcome::Done);
/// assert!(matches!(waiters.renew(key, &mut other), Renewed::Served));
/// # }
/// ```
pub struct Waiters<H: Host, T, W>(Slab<Waiter<H, T, W>>);

impl<H: Host, T, W> Waiters<H, T, W> {
    /// None.
    pub const fn new() -> Self {
        Waiters(Slab::new())
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The waiter of this number.
    pub fn get(&mut self, key: usize) -> &mut Waiter<H, T, W> {
        &mut self.0[key]
    }

    /// Its task is polled: if it waits on, it is the waker of this poll that will be woken.
    #[inline]
    pub fn renew(&mut self, key: usize, lender: &mut impl Lender<Waker = W>) -> Renewed<W> {
        let waiter = &mut self.0[key];
        if waiter.outcome.is_some() || waiter.ticket.is_some() {
            return Renewed::Served;
        }
        if waiter.waker.as_ref().is_some_and(|waker| lender.is_same(waker)) {
            return Renewed::Waits(None);
        }
        match lender.lend() {
            Some(waker) => Renewed::Waits(waiter.waker.replace(waker)),
            None => Renewed::NeedsCopy,
        }
    }
}

impl<H: Host, T, W> Default for Waiters<H, T, W> {
    fn default() -> Self {
        Self::new()
    }
}

/// Those that wait for the same thing, the oldest first.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::{claim::{Claim, Ticket}, queue::{WaitQueue, Waiter, Waiters}};
/// let (mut waiters, mut queue) = (Waiters::<Os, u8, Task>::new(), WaitQueue::new());
/// let first = queue.join(&mut waiters, Waiter::of(Some(Task::default())));
/// let second = queue.join(&mut waiters, Waiter::of(Some(Task::default())));
/// assert!(queue.has_any(&waiters, &Ticket::new(&Arc::new(Claim::new()), 0), |_| true));
/// assert_eq!(queue.next_of(&mut waiters, |waiter| waiter.value.is_some()), None); // neither sends
/// assert_eq!(queue.next(&mut waiters), Some(first)); // in FIFO order
/// queue.leave(&mut waiters, second); // gives up
/// assert_eq!(queue.next(&mut waiters), None);
/// # }
/// ```
pub struct WaitQueue {
    first: usize,
    last: usize,
}

impl WaitQueue {
    /// None.
    pub const fn new() -> Self {
        WaitQueue { first: NONE, last: NONE }
    }

    /// One more, at the end.
    #[inline]
    pub fn join<H: Host, T, W>(&mut self, waiters: &mut Waiters<H, T, W>, mut waiter: Waiter<H, T, W>) -> usize {
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
    pub fn leave<H: Host, T, W>(&mut self, waiters: &mut Waiters<H, T, W>, key: usize) -> Waiter<H, T, W> {
        self.unlink(waiters, key);
        waiters.0.remove(key)
    }

    /// The oldest, if none of those that wait is a case of a select.
    #[inline]
    pub const fn first(&self) -> Option<usize> {
        match self.first {
            NONE => None,
            key => Some(key),
        }
    }

    /// The first that may be served, taken out of the queue. Those before it are cases of selects that have another: they
    /// are taken out too, and their owners know.
    #[inline]
    pub fn next<H: Host, T, W>(&mut self, waiters: &mut Waiters<H, T, W>) -> Option<usize> {
        self.next_of(waiters, |_| true)
    }

    /// The same of those that `is_one` takes. The others keep their places.
    #[inline]
    pub fn next_of<H: Host, T, W>(
        &mut self,
        waiters: &mut Waiters<H, T, W>,
        is_one: impl Fn(&Waiter<H, T, W>) -> bool,
    ) -> Option<usize> {
        let mut key = self.first;
        while key != NONE {
            let (this, waiter) = (key, &waiters.0[key]);
            key = waiter.behind;
            if is_one(waiter) {
                self.unlink(waiters, this);
                if waiters.0[this].ticket.as_ref().is_none_or(Ticket::win) {
                    return Some(this);
                }
            }
        }
        None
    }

    /// Would [`next_of`](WaitQueue::next_of) find one, other than a case of the same select as `ticket`?
    pub fn has_any<H: Host, T, W>(
        &self,
        waiters: &Waiters<H, T, W>,
        ticket: &Ticket<H>,
        is_one: impl Fn(&Waiter<H, T, W>) -> bool,
    ) -> bool {
        let may_win = |other: &Ticket<H>| other.is_open() && !other.is_same_select(ticket);
        let mut key = self.first;
        while key != NONE {
            let waiter = &waiters.0[key];
            if is_one(waiter) && waiter.ticket.as_ref().is_none_or(may_win) {
                return true;
            }
            key = waiter.behind;
        }
        false
    }

    #[inline]
    fn unlink<H: Host, T, W>(&mut self, waiters: &mut Waiters<H, T, W>, key: usize) {
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

impl Default for WaitQueue {
    fn default() -> Self {
        Self::new()
    }
}
