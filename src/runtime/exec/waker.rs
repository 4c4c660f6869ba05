//! Wakers of third parties.

use crate::runtime::exec::context::Context;
use crate::runtime::guarded::guarded;
use core::task::Waker;
use std::sync::Arc;
use std::task::Wake;

/// A waker that may panic, and then harms nobody: a task that ends must not end its thread, or the process, because of
/// what waits for it.
pub(in crate::runtime) struct Gentle {
    theirs: Waker,
    ours: Waker,
}

struct Guarded(Waker);

impl Wake for Guarded {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        guarded(|| self.0.wake_by_ref());
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let theirs = core::mem::replace(&mut self.0, Waker::noop().clone());
        guarded(|| drop(theirs));
    }
}

impl Gentle {
    /// What wakes `theirs`, and does not panic. `None`: it is the waker of the task that runs on this thread, which does
    /// not.
    pub(in crate::runtime) fn around(place: &mut Option<Box<Gentle>>, theirs: &Waker) -> Option<Waker> {
        if Context::is_running(theirs) {
            return None;
        }
        match place {
            Some(gentle) if gentle.theirs.will_wake(theirs) => Some(gentle.ours.clone()),
            _ => {
                let ours = Waker::from(Arc::new(Guarded(theirs.clone())));
                Some(place.insert(Box::new(Gentle { theirs: theirs.clone(), ours })).ours.clone())
            }
        }
    }
}
