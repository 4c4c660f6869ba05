//! What a lock is without what it guards.

use crate::graph::{Loc, Order, Update};
use crate::machine::{LOCKING, TAKE};
use crate::model;
use crate::place::Place;
use crate::state::At;
use std::panic::Location;
use std::sync::atomic::Ordering;

/// A lock. One that is never tried has no event but being taken and being opened, which is cheaper; the first try of
/// another makes the exploration begin anew.
#[derive(Debug)]
pub(crate) struct RawLock {
    place: Place,
    is_tried: bool,
    at: At,
}

impl RawLock {
    #[track_caller]
    pub(crate) fn new() -> RawLock {
        let at = Location::caller();
        RawLock { place: Place::new(0), is_tried: model::is_observed(at), at }
    }

    /// Where it is.
    pub(crate) fn loc(&self) -> Loc {
        self.place.loc()
    }

    /// One of an object that several threads have by a count of std's.
    #[track_caller]
    pub(crate) fn counted() -> RawLock {
        let at = Location::caller();
        RawLock { place: Place::counted(0), is_tried: model::is_observed(at), at }
    }

    /// One thread has it for itself alone.
    #[track_caller]
    pub(crate) fn lend(&mut self) {
        self.place.lend();
    }

    #[track_caller]
    pub(crate) fn lock(&self) {
        self.lock_as(Order::Acquire);
    }

    /// With `Relaxed`, one after the other, but what one did need not be seen by the next.
    #[track_caller]
    pub(crate) fn lock_as(&self, order: Order) {
        self.place.update(order, if self.is_tried { TAKE } else { LOCKING });
    }

    /// Takes it, if it is open.
    #[track_caller]
    pub(crate) fn try_lock(&self) -> bool {
        if !self.is_tried {
            model::observe(self.at);
        }
        self.place.compare_exchange(0, 2, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[track_caller]
    pub(crate) fn unlock(&self) {
        if self.is_tried {
            self.place.update(Order::Release, Update::Swap(0));
        } else {
            self.place.open();
        }
    }
}
