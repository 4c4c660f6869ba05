//! Waiting for several things, and taking one. Go: `selectgo`.
//!
//! A select first tries each case, in random order. If none can go on, it enqueues a waiter at each channel, one after the
//! other; never does it hold two locks. All its waiters share one word, the [claim](crate::waits::claim), and a thread that serves
//! one must win that. A case that could go on when its waiter was to be enqueued (another thread came in between) makes it withdraw
//! and begin anew.
//!
//! **One case takes effect**, because the claim leaves OPEN by one exchange. **No wake-up is lost**, because each waiter is
//! enqueued under the lock under which its case was seen not to be ready. Futures are polled only while there is no waiter, so
//! nothing that a future gave is ever dropped in favour of a channel.
//!
//! Two selects that meet from two sides may withdraw from each other once, and again; each time the random order lets one
//! come first in every second case or more.
//!
//! Checked by: verification/rooms/src/rooms/select.rs

use crate::host::Host;
use crate::waits::claim::{Claim, Ticket};
use alloc::sync::Arc;
use core::task::Poll;

/// How many cases a select can have.
pub const MOST: usize = 64;

/// Several cases, by number, and their select.
pub trait Cases<H: Host> {
    /// What comes of the one that was chosen.
    type Output;
    /// How many: at most [`MOST`].
    const LEN: usize;

    /// Any number below `n`.
    fn choose(&mut self, n: usize) -> usize;

    /// Tries this case. It has no waiter.
    fn attempt(&mut self, case: usize) -> Poll<Self::Output>;

    /// No case is ready: what there is besides.
    fn otherwise(&mut self) -> Poll<Self::Output>;

    /// Enqueues a waiter for this case. `false`: no need to, it is worth another try.
    fn enlist(&mut self, case: usize, ticket: Ticket<H>) -> bool;

    /// What came of this case: its waiter was served, and the claim won.
    fn collect(&mut self, case: usize) -> Self::Output;

    /// Dequeues all waiters. What was given to one of them goes back.
    fn withdraw(&mut self);
}

/// What a select is besides its cases.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::{claim::Ticket, select::{Cases, Selection}};
/// struct Doors([bool; 2]); // which of them is open
/// impl Cases<Os> for Doors {
///     type Output = usize;
///     const LEN: usize = 2;
///     fn choose(&mut self, n: usize) -> usize { Os::choose(n) }
///     fn attempt(&mut self, case: usize) -> Poll<usize> { if self.0[case] { Poll::Ready(case) } else { Poll::Pending } }
///     fn otherwise(&mut self) -> Poll<usize> { Poll::Pending }
///     fn enlist(&mut self, _: usize, ticket: Ticket<Os>) -> bool { ticket.is_open() } // a waiter at the door
///     fn collect(&mut self, case: usize) -> usize { case }
///     fn withdraw(&mut self) {}
/// }
/// let mut select = Selection::new();
/// assert!(select.poll(&mut Doors([false, false])).is_pending() && select.is_waiting());
/// assert_eq!(select.poll(&mut Doors([false, true])), Poll::Ready(1));
/// select.withdraw(|| ()); // dropped early: no case is served
/// # }
/// ```
pub struct Selection<H: Host> {
    /// Made at the first wait, and used again.
    claim: Option<Arc<Claim<H>>>,
    is_waiting: bool,
}

impl<H: Host> Selection<H> {
    /// Waits for nothing yet.
    pub const fn new() -> Self {
        Selection { claim: None, is_waiting: false }
    }

    /// May it have waiters?
    pub const fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    /// Goes on with it. Pending: one of the cases, or what there is besides, wakes it.
    #[inline]
    pub fn poll<C: Cases<H>>(&mut self, cases: &mut C) -> Poll<C::Output> {
        loop {
            if self.is_waiting
                && let Some(output) = self.settle(cases)
            {
                return Poll::Ready(output);
            }
            let order = Order::of(cases);
            if let Poll::Ready(output) = attempt(cases, &order) {
                return Poll::Ready(output);
            }
            if self.enlist(cases, &order) {
                return Poll::Pending;
            }
        }
    }

    /// Enqueues a waiter for each. `false`: no need to.
    fn enlist<C: Cases<H>>(&mut self, cases: &mut C, order: &Order) -> bool {
        let claim = self.claim.get_or_insert_with(|| Arc::new(Claim::new()));
        claim.reopen();
        self.is_waiting = true;
        order.iter().all(|case| cases.enlist(case, Ticket::new(claim, case)))
    }

    /// Dequeues all waiters; but the case that was served, if one was, is returned, and keeps its own.
    fn settle<C: Cases<H>>(&mut self, cases: &mut C) -> Option<C::Output> {
        self.is_waiting = false;
        let served = self.claim.as_ref().and_then(|claim| claim.withdraw());
        let output = served.map(|case| cases.collect(case));
        cases.withdraw();
        output
    }

    /// Waits no more: from now on no case is served, then `dequeue` dequeues all waiters.
    pub fn withdraw(&mut self, dequeue: impl FnOnce()) {
        self.is_waiting = false;
        if let Some(claim) = &self.claim {
            // Served meanwhile: its case gives back what it can.
            let _ = claim.withdraw();
        }
        dequeue();
    }
}

impl<H: Host> Default for Selection<H> {
    fn default() -> Self {
        Self::new()
    }
}

/// Tries all.
#[inline]
fn attempt<H: Host, C: Cases<H>>(cases: &mut C, order: &Order) -> Poll<C::Output> {
    for case in order.iter() {
        if let Poll::Ready(output) = cases.attempt(case) {
            return Poll::Ready(output);
        }
    }
    cases.otherwise()
}

/// The cases in random order: each order is as likely as any other.
struct Order {
    cases: [u8; MOST],
    len: usize,
}

impl Order {
    #[inline]
    fn of<H: Host, C: Cases<H>>(asker: &mut C) -> Order {
        let mut cases = [0; MOST];
        for n in 0..C::LEN {
            // The `n`th comes to one of the places up to its own; what was there comes to its own.
            let at = if n == 0 { 0 } else { asker.choose(n + 1) };
            cases[n] = cases[at];
            cases[at] = n as u8;
        }
        Order { cases, len: C::LEN }
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        self.cases[..self.len].iter().map(|&case| usize::from(case))
    }
}
