//! Which case of a select was served. Go: `selectDone`.
//!
//! ```text
//!   what the claim says      what changes it
//!   OPEN ──► the case        a thread that serves one of its waiters, under that channel's lock
//!     ▲ └──► WITHDRAWN       the select, when it is polled or dropped
//!     └──────────┘           the select, when no waiter of it is left
//! ```
//!
//! **One case takes effect**, because the claim leaves OPEN by one exchange.
//!
//! | a thread that serves a waiter | the select |
//! |---------------------|------------|
//! | under the lock: the claim, from OPEN to the case | the claim, from OPEN to WITHDRAWN, under no lock |
//! | if it was OPEN: the outcome, into the waiter | if it was OPEN: dequeues every waiter; no value is in one |
//! | if not: takes the waiter out of the queue, and goes to the next | if not: comes for that case's outcome, under its lock |
//!
//! Checked by: verification/rooms/src/rooms/select.rs

use crate::atomic::Atomic;
use crate::host::Host;
use alloc::sync::Arc;
use core::sync::atomic::Ordering::Relaxed;

/// It was not served.
const OPEN: u64 = u64::MAX;
/// It is not to be served.
const WITHDRAWN: u64 = OPEN - 1;

/// Which case of a select was served.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::claim::{Claim, Ticket};
/// let claim = Arc::new(Claim::<Os>::new());
/// assert!(Ticket::new(&claim, 3).win()); // a sender serves case 3
/// assert!(!Ticket::new(&claim, 5).win()); // another comes too late
/// assert_eq!(claim.withdraw(), Some(3));
/// claim.reopen();
/// assert_eq!(claim.withdraw(), None); // no case was served, and none will be
/// assert!(!Ticket::new(&claim, 5).win());
/// # }
/// ```
pub struct Claim<H: Host>(Atomic<H, u64>);

impl<H: Host> Claim<H> {
    /// It was not served.
    pub fn new() -> Self {
        Claim(Atomic::new(OPEN))
    }

    /// This case is served, unless another is, or none is to be.
    fn win(&self, case: u64) -> bool {
        // Relaxed: one exchange wins, in whatever order the rest is seen; what is handed over lies under the lock that the
        // caller holds. Relaxed, of a failure: nothing is read then.
        self.0.compare_exchange(OPEN, case, Relaxed, Relaxed).is_ok()
    }

    /// No case is to be served; `Some`: this one was.
    pub fn withdraw(&self) -> Option<usize> {
        // Relaxed: as in `win`. Relaxed, of a failure: a case that was served finds the value under the lock of its channel.
        let found = self.0.compare_exchange(OPEN, WITHDRAWN, Relaxed, Relaxed).err();
        found.filter(|&now| now != WITHDRAWN).map(|case| case as usize)
    }

    /// It can be served again. No waiter has it.
    pub fn reopen(&self) {
        // Relaxed: others see it when they find a waiter that has it, under a lock that was taken after this.
        self.0.store(OPEN, Relaxed);
    }

    fn is_open(&self) -> bool {
        // Relaxed: a reader of an older value tries once too often; `win` decides.
        self.0.load(Relaxed) == OPEN
    }
}

impl<H: Host> Default for Claim<H> {
    fn default() -> Self {
        Self::new()
    }
}

/// What a select's waiter has: which select, and which of its cases.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::claim::{Claim, Ticket};
/// let claim = Arc::new(Claim::<Os>::new());
/// let (one, two) = (Ticket::new(&claim, 1), Ticket::new(&claim, 2));
/// assert!(one.is_same_select(&two) && !one.is_same_select(&Ticket::new(&Arc::new(Claim::new()), 1)));
/// assert!(two.win());
/// assert!(!one.is_open() && !one.win());
/// # }
/// ```
pub struct Ticket<H: Host> {
    claim: Arc<Claim<H>>,
    case: u64,
}

impl<H: Host> Ticket<H> {
    /// Of this case of the select that has this claim.
    pub fn new(claim: &Arc<Claim<H>>, case: usize) -> Self {
        Ticket { claim: Arc::clone(claim), case: case as u64 }
    }

    /// The waiter is served, if its select goes on by no other.
    pub fn win(&self) -> bool {
        self.claim.win(self.case)
    }

    /// Can it be won?
    pub fn is_open(&self) -> bool {
        self.claim.is_open()
    }

    /// Are both of one select?
    pub fn is_same_select(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.claim, &other.claim)
    }
}
