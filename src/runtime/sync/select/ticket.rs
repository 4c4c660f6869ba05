//! Which case of a select was served.

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::Arc;

/// Nobody has served it.
const OPEN: usize = usize::MAX;
/// It is not to be served.
const WITHDRAWN: usize = OPEN - 1;

/// Which case of a select was served. Go: `selectDone`.
pub(super) struct Claim(AtomicUsize);

impl Claim {
    pub(super) fn new() -> Claim {
        Claim(AtomicUsize::new(OPEN))
    }

    /// This case is served, unless another is, or none is to be.
    fn win(&self, case: usize) -> bool {
        // Relaxed: one exchange wins, in whatever order the rest is seen; what is handed over lies under the lock that the
        // caller holds.
        self.0.compare_exchange(OPEN, case, Relaxed, Relaxed).is_ok()
    }

    /// No case is to be served; `Some`: this one was.
    pub(super) fn withdraw(&self) -> Option<usize> {
        // Relaxed: as in `win`. A case that was served finds the value under the lock of the case's channel.
        self.0.compare_exchange(OPEN, WITHDRAWN, Relaxed, Relaxed).err().filter(|&now| now != WITHDRAWN)
    }

    /// It can be served again. No waiter has it.
    pub(super) fn reopen(&self) {
        // Relaxed: others see it when they find a waiter that has it, under a lock that was taken after this.
        self.0.store(OPEN, Relaxed);
    }

    fn is_open(&self) -> bool {
        // Relaxed: whoever reads an older value tries once too often; `win` decides.
        self.0.load(Relaxed) == OPEN
    }
}

/// What a select's waiter has: which select, and which of its cases.
pub struct Ticket {
    claim: Arc<Claim>,
    case: usize,
}

impl Ticket {
    /// Of this case of the select that has this claim.
    pub(super) fn new(claim: &Arc<Claim>, case: usize) -> Ticket {
        Ticket { claim: Arc::clone(claim), case }
    }

    /// The waiter is served, if its select goes on by no other.
    pub(in crate::runtime) fn win(&self) -> bool {
        self.claim.win(self.case)
    }

    /// Can it be won?
    pub(in crate::runtime) fn is_open(&self) -> bool {
        self.claim.is_open()
    }

    pub(in crate::runtime) fn is_same_select(&self, other: &Ticket) -> bool {
        Arc::ptr_eq(&self.claim, &other.claim)
    }
}

static_assertions::assert_impl_all!(Ticket: Send, Sync);
