//! A wait for one thread. loom's, not std's.

use crate::graph::Order;
use crate::machine;
use crate::place::Place;
use crate::step::Ask;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// One thread waits here until another notifies. A notification before is remembered, once. It releases, and the wait
/// acquires.
///
/// ```
/// use rc11::sync::{Arc, Notify};
/// rc11::model(|| {
///     let notify = Arc::new(Notify::new());
///     let theirs = notify.clone();
///     let other = rc11::thread::spawn(move || theirs.notify());
///     notify.wait(); // may wake spuriously
///     other.join().unwrap();
/// });
/// ```
#[derive(Debug)]
pub struct Notify {
    place: Place,
    is_awaited: AtomicBool,
    /// It has woken spuriously, which it may once.
    was_spurious: AtomicBool,
}

impl Notify {
    /// One without a notification.
    ///
    /// # Panics
    /// Outside of a model.
    #[must_use]
    #[track_caller]
    pub fn new() -> Notify {
        Notify::at(Place::new(0))
    }

    /// One that threads have by a count of std's.
    #[track_caller]
    pub(crate) fn counted() -> Notify {
        Notify::at(Place::counted(0))
    }

    fn at(place: Place) -> Notify {
        Notify { place, is_awaited: AtomicBool::new(false), was_spurious: AtomicBool::new(false) }
    }

    /// Wakes the waiter, present or future.
    #[track_caller]
    pub fn notify(&self) {
        self.place.wake(Order::Release);
    }

    /// Waits for a notification. Once in an execution it may return without one.
    ///
    /// # Panics
    /// If another thread waits.
    #[track_caller]
    pub fn wait(&self) {
        // Relaxed, here and below: a play is one thread of the machine.
        assert!(!self.is_awaited.swap(true, Relaxed), "only a single thread may wait on `Notify`");
        let is_spurious = !self.was_spurious.load(Relaxed) && machine::ask(Ask::Choose(2)) == 1;
        if is_spurious {
            self.was_spurious.store(true, Relaxed);
        } else {
            self.place.sleep(Order::Acquire);
        }
        self.is_awaited.store(false, Relaxed);
    }
}

impl Default for Notify {
    #[track_caller]
    fn default() -> Self {
        Notify::new()
    }
}
