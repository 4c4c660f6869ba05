//! The wakers of tasks, as [`waits`](crate::waits) wants them: a panic of one harms nobody.

use crate::runtime::exec::context::Context;
use crate::runtime::guarded::guarded;
use crate::waits::waker;
use core::task::Waker;

impl waker::Waker for Waker {
    #[inline]
    fn wake(self) {
        guarded(|| Waker::wake(self));
    }

    #[inline]
    fn forget(self) {
        guarded(|| drop(self));
    }
}

/// Copies of a waker, for whoever needs one under a lock. The waker of the running task, which is ours, is copied there;
/// one that is not to be trusted, outside, before.
pub(in crate::runtime) struct Lender<'a> {
    waker: &'a Waker,
    copy: Option<Waker>,
}

impl<'a> Lender<'a> {
    #[inline]
    pub(in crate::runtime) fn new(waker: &'a Waker) -> Self {
        Lender { waker, copy: None }
    }
}

impl waker::Lender for Lender<'_> {
    type Waker = Waker;

    #[inline]
    fn is_same(&self, waker: &Waker) -> bool {
        waker.will_wake(self.waker)
    }

    #[inline]
    fn lend(&mut self) -> Option<Waker> {
        self.copy.take().or_else(|| Context::is_running(self.waker).then(|| self.waker.clone()))
    }

    #[cold]
    fn prepare(&mut self) {
        self.copy = Some(self.waker.clone());
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
