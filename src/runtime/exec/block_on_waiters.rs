//! The threads that wait in the `block_on` of a runtime, as the others see them.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, PoisonError};

/// One of them, on whichever host.
pub(in crate::runtime) trait Wakes: Send + Sync {
    /// It looks again what it waits for.
    fn wake_up(&self);
}

/// The threads that wait in `block_on` of a runtime.
#[derive(Default)]
pub(in crate::runtime) struct BlockOnWaiters {
    count: AtomicUsize,
    /// How many of them are threads that run tasks: a task waits there, without a P.
    ms: AtomicUsize,
    /// The runtime is being shut down.
    is_closing: AtomicBool,
    bells: Mutex<Vec<Arc<dyn Wakes>>>,
}

impl BlockOnWaiters {
    pub(super) fn enter(&self, bell: Arc<dyn Wakes>) {
        self.bells.lock().unwrap_or_else(PoisonError::into_inner).push(bell);
        // Relaxed: a hint, it is looked at again.
        self.count.fetch_add(1, Relaxed);
    }

    /// Does anybody wait?
    pub(in crate::runtime) fn is_any(&self) -> bool {
        // Relaxed: a hint.
        self.count.load(Relaxed) > 0
    }

    /// How many threads that run tasks sleep here now.
    pub(in crate::runtime) fn ms(&self) -> usize {
        // Relaxed: believed only when everything is at rest.
        self.ms.load(Relaxed)
    }

    /// The runtime is being shut down: a task that waits here has to end.
    pub(in crate::runtime) fn close(&self) {
        // Release: `closing`, set before they are woken.
        self.is_closing.store(true, Release);
        let bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        bells.iter().for_each(|bell| bell.wake_up());
    }

    pub(super) fn is_closing(&self) -> bool {
        // Acquire: `closing`, the other half.
        self.is_closing.load(Acquire)
    }

    pub(super) fn leave(&self, bell: &Arc<dyn Wakes>) {
        let mut bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
        bells.retain(|other| !Arc::ptr_eq(other, bell));
        // Relaxed: a hint.
        self.count.fetch_sub(1, Relaxed);
    }

    /// No thread of the runtime does anything, and nothing is expected: each that waits looks whether it is deadlocked.
    pub(in crate::runtime) fn all_is_quiet(&self) {
        // Relaxed: a hint. A thread that comes after this looks by itself before it sleeps.
        if self.count.load(Relaxed) > 0 {
            let bells = self.bells.lock().unwrap_or_else(PoisonError::into_inner);
            bells.iter().for_each(|bell| bell.wake_up());
        }
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
