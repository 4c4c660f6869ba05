//! Have all parties come to rest, so that what is waited for now will never come?

use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

/// Parties that may still do something. Counted beside the engine: no part of what is checked, and no step.
#[derive(Debug)]
pub struct Unrest {
    awake: AtomicUsize,
    has_looked: AtomicBool,
}

impl Unrest {
    /// So many parties, beside the one that waits for them.
    pub fn of(parties: usize) -> Self {
        Unrest { awake: AtomicUsize::new(parties), has_looked: AtomicBool::new(false) }
    }

    /// Without a count: then no party is ever told.
    pub fn unknown() -> Self {
        Unrest::of(usize::MAX)
    }

    /// A party ends, or blocks for as long as a party waits. True: it was the last, and the waiter looks no more.
    pub fn rest(&self) -> bool {
        // SeqCst, here and below: not what is checked.
        self.awake.fetch_sub(1, SeqCst) == 1 && self.has_looked.load(SeqCst)
    }

    /// The waiter begins to wait.
    pub fn begin(&self) {
        self.has_looked.store(false, SeqCst);
    }

    /// The waiter has looked everywhere, and relies on the others from now on. True: there are none to rely on.
    pub fn relies(&self) -> bool {
        self.has_looked.store(true, SeqCst);
        self.is_over()
    }

    /// Do all parties rest?
    pub fn is_over(&self) -> bool {
        self.awake.load(SeqCst) == 0
    }
}
