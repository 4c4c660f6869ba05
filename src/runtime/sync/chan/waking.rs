//! Wakers are anybody's code: it runs outside of locks, and its panic harms nobody.

use crate::runtime::exec::context::Context;
use crate::runtime::guarded::guarded;
use core::task::Waker;

/// Wakes what is to be woken.
#[inline]
pub(in crate::runtime) fn wake(wakers: impl IntoIterator<Item = Waker>) {
    wakers.into_iter().for_each(|waker| guarded(|| waker.wake()));
}

/// Drops a waker, or several.
#[inline]
pub(in crate::runtime) fn forget(wakers: impl IntoIterator<Item = Waker>) {
    wakers.into_iter().for_each(|waker| guarded(|| drop(waker)));
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

    pub(in crate::runtime) fn waker(&self) -> &Waker {
        self.waker
    }

    /// A copy. `None`: leave the lock, [`prepare`](Lender::prepare) one, and come again.
    #[inline]
    pub(in crate::runtime) fn lend(&mut self) -> Option<Waker> {
        self.copy.take().or_else(|| Context::is_running(self.waker).then(|| self.waker.clone()))
    }

    /// Makes a copy, outside of any lock.
    #[cold]
    pub(in crate::runtime) fn prepare(&mut self) {
        self.copy = Some(self.waker.clone());
    }
}

impl Drop for Lender<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.copy.is_some() {
            forget(self.copy.take());
        }
    }
}
