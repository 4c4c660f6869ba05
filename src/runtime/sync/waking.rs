//! Lending a task's waker to [`waits`](crate::waits).

use crate::runtime::exec::context::Context;
use crate::runtime::task_waker::TaskWaker;
use crate::waits::waker;
use core::task::Waker;

/// Clones of a waker, for use under a lock. The waker of the running task, which is ours, is copied there;
/// one that is not to be trusted, outside, before.
pub(in crate::runtime) struct Lender<'a> {
    waker: &'a Waker,
    copy: Option<TaskWaker>,
}

impl<'a> Lender<'a> {
    #[inline]
    pub(in crate::runtime) fn new(waker: &'a Waker) -> Self {
        Lender { waker, copy: None }
    }
}

impl waker::Lender for Lender<'_> {
    type Waker = TaskWaker;

    #[inline]
    fn is_same(&self, waker: &TaskWaker) -> bool {
        waker.0.will_wake(self.waker)
    }

    #[inline]
    fn lend(&mut self) -> Option<TaskWaker> {
        self.copy.take().or_else(|| Context::is_running(self.waker).then(|| TaskWaker(self.waker.clone())))
    }

    #[cold]
    fn prepare(&mut self) {
        self.copy = Some(TaskWaker(self.waker.clone()));
    }
}

impl Drop for Lender<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.copy.is_some() {
            waker::forget(self.copy.take());
        }
    }
}
