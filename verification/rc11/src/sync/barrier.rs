//! A barrier. In loom it is there only to be compiled.

use super::lock::RawLock;
use crate::graph::Order;
use crate::place::Place;
use std::sync::{Arc, Mutex, PoisonError};

/// Like `std::sync::Barrier`.
///
/// ```
/// use rc11::sync::{Arc, Barrier};
/// rc11::model(|| {
///     let barrier = Arc::new(Barrier::new(2));
///     let theirs = barrier.clone();
///     let other = rc11::thread::spawn(move || theirs.wait().is_leader());
///     let leads = barrier.wait().is_leader();
///     assert_ne!(leads, other.join().unwrap());
/// });
/// ```
#[derive(Debug)]
pub struct Barrier {
    raw: RawLock,
    threads: usize,
    waiters: Mutex<Vec<Arc<Place>>>,
}

/// Whether this thread was the last to arrive.
#[derive(Debug)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// It was this one.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    /// One for so many threads.
    ///
    /// # Panics
    /// Outside of a model.
    #[must_use]
    #[track_caller]
    pub fn new(n: usize) -> Barrier {
        Barrier { raw: RawLock::new(), threads: n, waiters: Mutex::default() }
    }

    /// Waits until so many threads do. What each has done before happens before what all do after.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let waiters = || self.waiters.lock().unwrap_or_else(PoisonError::into_inner);
        self.raw.lock();
        let is_last = waiters().len() + 1 >= self.threads;
        if is_last {
            let woken = std::mem::take(&mut *waiters());
            self.raw.unlock();
            woken.into_iter().for_each(|waiter| waiter.wake(Order::Release));
        } else {
            let me = Arc::new(Place::internal(0));
            waiters().push(Arc::clone(&me));
            self.raw.unlock();
            me.sleep(Order::Acquire);
        }
        BarrierWaitResult(is_last)
    }
}
