//! Wakers of third parties.

use crate::runtime::exec::context::Context;
use crate::runtime::guarded::{Theirs, guarded};
use core::task::Waker;
use std::sync::Arc;
use std::task::Wake;

/// A waker that may panic, and then harms no other task: a task that ends must not end its thread, or the process, because of
/// what waits for it.
pub(in crate::runtime) struct Gentle(Arc<Guarded>);

struct Guarded(Theirs<Waker>);

impl Wake for Guarded {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        guarded(|| self.0.wake_by_ref());
    }
}

impl Gentle {
    /// What wakes `theirs`, and does not panic. `None`: it is the waker of the task that runs on this thread, which does
    /// not.
    pub(in crate::runtime) fn around(place: &mut Option<Gentle>, theirs: &Waker) -> Option<Waker> {
        if Context::is_running(theirs) {
            return None;
        }
        let guarded = match place {
            Some(Gentle(guarded)) if guarded.0.will_wake(theirs) => guarded,
            _ => &place.insert(Gentle(Arc::new(Guarded(Theirs::new(theirs.clone()))))).0,
        };
        Some(Waker::from(Arc::clone(guarded)))
    }
}
