//! The threads that wait in the `block_on` of a runtime, as the others see them.

use crate::runtime::host::cores::Cores;
use crate::waits::bell::{Bells, LooksAgain};
use core::ops::Deref;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;

/// The threads that wait in `block_on` of a runtime, each by its bell, on whichever host.
pub(in crate::runtime) struct BlockOnWaiters {
    bells: Bells<Cores, dyn LooksAgain>,
    /// How many of them are threads that run tasks: a task waits there, without a P.
    ms: AtomicUsize,
}

impl BlockOnWaiters {
    pub(in crate::runtime) fn new() -> BlockOnWaiters {
        BlockOnWaiters { bells: Bells::new(), ms: AtomicUsize::new(0) }
    }

    /// How many threads that run tasks sleep here now.
    pub(in crate::runtime) fn ms(&self) -> usize {
        // Relaxed: believed only when everything is at rest.
        self.ms.load(Relaxed)
    }
}

impl Deref for BlockOnWaiters {
    type Target = Bells<Cores, dyn LooksAgain>;

    fn deref(&self) -> &Self::Target {
        &self.bells
    }
}

/// One more is counted, as long as this lives.
pub(super) struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    /// A thread that runs tasks sleeps here.
    pub(super) fn new(waiters: &'a BlockOnWaiters) -> Waiting<'a> {
        // Relaxed: counted.
        waiters.ms.fetch_add(1, Relaxed);
        Waiting(&waiters.ms)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        // Relaxed: counted.
        self.0.fetch_sub(1, Relaxed);
    }
}
