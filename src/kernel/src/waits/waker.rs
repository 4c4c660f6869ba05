//! Whom a wait wakes. Wakers are anybody's code: they are copied, woken and dropped outside of locks.
//!
//! Checked by: verification/src/models/chan.rs

/// Wakes one task.
pub trait Waker: Sized {
    /// Wakes it. No lock is held. Does not panic.
    fn wake(self);

    /// Dropped, without a wake. No lock is held. Does not panic.
    fn forget(self);
}

/// Wakes these.
#[inline]
pub fn wake<W: Waker>(wakers: impl IntoIterator<Item = W>) {
    wakers.into_iter().for_each(Waker::wake);
}

/// Drops these.
#[inline]
pub fn forget<W: Waker>(wakers: impl IntoIterator<Item = W>) {
    wakers.into_iter().for_each(Waker::forget);
}

/// The polling task, which gives clones of its waker. One that may be copied under a lock is given at once; any other is prepared
/// outside, before.
pub trait Lender {
    /// What it gives.
    type Waker: Waker;

    /// Would that one wake the same task?
    fn is_same(&self, waker: &Self::Waker) -> bool;

    /// A copy. `None`: leave the lock, [`prepare`](Lender::prepare) one, and come again.
    fn lend(&mut self) -> Option<Self::Waker>;

    /// Makes a copy, outside of any lock.
    fn prepare(&mut self);
}
