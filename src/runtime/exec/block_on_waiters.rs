//! The threads that wait in the `block_on` of a runtime, as the others see them.

use crate::runtime::host::cores::Cores;
use crate::runtime::host::foreign_threads;
use crate::waits::bell::{Bells, Counts, LooksAgain};
use core::ops::Deref;
use core::sync::atomic::AtomicIsize;
use core::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;

/// The threads that wait in `block_on` of a runtime, each by its bell, on whichever host.
pub(in crate::runtime) struct BlockOnWaiters {
    bells: Bells<Cores, dyn LooksAgain>,
    /// How many threads that run tasks wait with one, and were not woken: a task waits there, without a P.
    ms: Arc<AtomicIsize>,
}

impl BlockOnWaiters {
    pub(in crate::runtime) fn new() -> BlockOnWaiters {
        BlockOnWaiters { bells: Bells::new(), ms: Arc::default() }
    }

    /// How many threads that run tasks wait here now, and were not woken. For a moment less, if one is woken before it is counted.
    pub(in crate::runtime) fn ms(&self) -> isize {
        // Relaxed: asked under the scheduler's lock, to which an M comes that wakes one, before it rests; and between the two reads of
        // `at-rest`, which another thread that does changes.
        self.ms.load(Relaxed)
    }

    /// The calling thread runs tasks of this runtime, and waits with one.
    pub(super) fn counts_m(&self) -> Waits {
        Waits::M(Arc::clone(&self.ms))
    }
}

impl Deref for BlockOnWaiters {
    type Target = Bells<Cores, dyn LooksAgain>;

    fn deref(&self) -> &Self::Target {
        &self.bells
    }
}

/// As what a thread counts while it waits.
pub(super) enum Waits {
    /// As a thread that is no runtime's.
    Thread,
    /// As an M of the runtime that counts so.
    M(Arc<AtomicIsize>),
    /// It does not: to its own runtime it is busy.
    Busy,
}

impl Counts for Waits {
    fn enter(&self) {
        match self {
            Waits::Thread => foreign_threads::enter(),
            // Relaxed: as in `ms`.
            Waits::M(ms) => _ = ms.fetch_add(1, Relaxed),
            Waits::Busy => (),
        }
    }

    fn leave(&self) {
        match self {
            Waits::Thread => foreign_threads::leave(),
            // Relaxed: as in `ms`.
            Waits::M(ms) => _ = ms.fetch_sub(1, Relaxed),
            Waits::Busy => (),
        }
    }
}
