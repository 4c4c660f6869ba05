//! A place for a waker.

use crate::sync::Mutex;
use std::sync::PoisonError;
use std::task::Waker;

/// A place for the waker of the task that is to be woken next. Each operation is one step.
///
/// ```
/// use rc11::future::AtomicWaker;
/// use std::task::Waker;
/// rc11::model(|| {
///     let waker = AtomicWaker::new();
///     waker.register_by_ref(Waker::noop());
///     waker.register(Waker::noop().clone());
///     waker.wake();
///     assert!(waker.take_waker().is_none()); // it was woken
/// });
/// ```
#[derive(Debug)]
pub struct AtomicWaker {
    waker: Mutex<Option<Waker>>,
}

impl AtomicWaker {
    /// One without a waker.
    ///
    /// # Panics
    /// Outside of a model.
    #[must_use]
    #[track_caller]
    pub fn new() -> AtomicWaker {
        AtomicWaker { waker: Mutex::new(None) }
    }

    /// `waker` is to be woken by the next [`wake`](AtomicWaker::wake).
    #[track_caller]
    pub fn register(&self, waker: Waker) {
        let before = self.waker.lock().unwrap_or_else(PoisonError::into_inner).replace(waker);
        drop(before);
    }

    /// The same, with a copy.
    #[track_caller]
    pub fn register_by_ref(&self, waker: &Waker) {
        self.register(waker.clone());
    }

    /// Wakes the last one that was registered, once.
    #[track_caller]
    pub fn wake(&self) {
        if let Some(waker) = self.take_waker() {
            waker.wake();
        }
    }

    /// Takes it, to be woken later.
    #[track_caller]
    pub fn take_waker(&self) -> Option<Waker> {
        self.waker.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Default for AtomicWaker {
    #[track_caller]
    fn default() -> Self {
        AtomicWaker::new()
    }
}
