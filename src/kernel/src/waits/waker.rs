//! Whom a wait wakes. Wakers are anybody's code: they are copied, woken and dropped outside of locks.
//!
//! Checked by: verification/rooms/src/rooms/{chan,oneshot,operation}.rs

/// Wakes one task.
pub trait Waker: Sized {
    /// Wakes it. No lock is held. Does not panic.
    fn wake(self);

    /// Dropped, without a wake. No lock is held. Does not panic.
    fn forget(self);
}

/// Wakes these.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::waker::wake;
/// let task = Task::default();
/// wake([task.clone(), task.clone()]);
/// assert_eq!(task.wakes(), 2);
/// # }
/// ```
#[inline]
pub fn wake<W: Waker>(wakers: impl IntoIterator<Item = W>) {
    wakers.into_iter().for_each(Waker::wake);
}

/// Drops these.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::waker::forget;
/// let task = Task::default();
/// forget([task.clone()]);
/// assert_eq!(task.wakes(), 0);
/// # }
/// ```
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

/// What becomes of a task that waits.
pub enum Waits<W> {
    /// It does, by the waker of this poll; this one is to be dropped as soon as the lock is free.
    Yes(Option<W>),
    /// It would, but a copy of the waker is needed: [`prepare`](Lender::prepare) one.
    NeedsCopy,
}

/// The task waits, by the waker at `place`. Under the lock that guards it.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::waker::{Waits, wait_at};
/// let (mut place, mut task) = (None, Task::default());
/// assert!(matches!(wait_at(&mut place, &mut task), Waits::Yes(None)));
/// assert!(place.is_some());
/// assert!(matches!(wait_at(&mut place, &mut Task::default()), Waits::Yes(Some(_)))); // the old waker
/// # }
/// ```
pub fn wait_at<L: Lender>(place: &mut Option<L::Waker>, lender: &mut L) -> Waits<L::Waker> {
    if place.as_ref().is_some_and(|waker| lender.is_same(waker)) {
        return Waits::Yes(None);
    }
    lender.lend().map_or(Waits::NeedsCopy, |waker| Waits::Yes(place.replace(waker)))
}
