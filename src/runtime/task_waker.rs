//! The waker of a task, as [`waits`](crate::waits) wants it. It knows nothing of the runtime: the state of `io` and `time` has it too.

use crate::runtime::guarded::guarded;
use crate::waits::waker;
use core::task::Waker;

/// A task's waker, as [`waits`](crate::waits) wants it: it does not panic.
pub(in crate::runtime) struct TaskWaker(pub(in crate::runtime) Waker);

impl TaskWaker {
    /// Wakes it.
    #[inline]
    pub(in crate::runtime) fn wake(self) {
        waker::Waker::wake(self);
    }

    /// Do both wake the same task?
    #[inline]
    pub(in crate::runtime) fn will_wake(&self, other: &TaskWaker) -> bool {
        self.0.will_wake(&other.0)
    }
}

impl waker::Waker for TaskWaker {
    #[inline]
    fn wake(self) {
        guarded(|| self.0.wake());
    }

    #[inline]
    fn forget(self) {
        guarded(|| drop(self.0));
    }
}
