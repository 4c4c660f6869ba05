//! A count that any thread may read.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

/// How often something happened.
#[derive(Debug, Default)]
pub(in crate::runtime) struct Count(AtomicU64);

impl Count {
    /// Counted by one thread at a time.
    #[inline(always)]
    pub(in crate::runtime) fn add_alone(&self, n: u64) {
        // Relaxed: written by us only; a reader gets a number that was true a moment ago.
        let before = self.0.load(Relaxed);
        // Relaxed: as above.
        self.0.store(before.wrapping_add(n), Relaxed);
    }

    /// Counted by any.
    pub(in crate::runtime) fn add(&self, n: u64) {
        // Relaxed: a count, and nothing is published by it.
        self.0.fetch_add(n, Relaxed);
    }

    pub(in crate::runtime) fn get(&self) -> u64 {
        // Relaxed: as above.
        self.0.load(Relaxed)
    }
}
