//! Waiting until several have done.

use crate::runtime::exec::yielding::Leaf;
use crate::runtime::host::cores::{Cores, CoresLock};
use crate::runtime::sync::waking::Lender;
use crate::runtime::task_waker::TaskWaker;
use crate::waits::wait_group::{self, State, Wait};
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

/// Waits until several have done. Go: `sync.WaitGroup`.
///
/// The task that starts something calls [`add`](WaitGroup::add) before, and that calls [`done`](WaitGroup::done) at its end;
/// [`wait`](WaitGroup::wait) waits until all that were added have. It may be used again and again. Tasks share it by an
/// `Arc` or a `static`. A task that panics does not come to its `done`; a [`JoinHandle`](crate::JoinHandle) knows that.
///
/// ```
/// use spinpark::sync::WaitGroup;
/// use std::sync::Arc;
///
/// # spinpark::run(async {
/// let group = Arc::new(WaitGroup::new());
/// for _ in 0..3 {
///     group.add(1);
///     let group = Arc::clone(&group);
///     spinpark::spawn(async move { group.done() });
/// }
/// group.wait().await;
/// assert_eq!(group.count(), 0);
/// # });
/// ```
pub struct WaitGroup(wait_group::WaitGroup<Cores, TaskWaker>);

impl WaitGroup {
    /// Its count is zero.
    pub const fn new() -> Self {
        WaitGroup(wait_group::WaitGroup::from_lock(CoresLock::new(State::new())))
    }

    /// `n` more are to be waited for. From any thread. Go: `Add`.
    ///
    /// # Panics
    /// If there are too many for a `usize`.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let group = spinpark::sync::WaitGroup::new();
    /// group.add(2);
    /// group.done();
    /// assert_eq!(group.count(), 1);
    /// # });
    /// ```
    pub fn add(&self, n: usize) {
        assert!(self.0.add(n), "WaitGroup: more were added than can be counted");
    }

    /// One has done. If it was the last, all that wait go on. From any thread. Go: `Done`.
    ///
    /// # Panics
    /// If the counter would be negative.
    pub fn done(&self) {
        let was_counted = self.0.done();
        assert!(was_counted, "WaitGroup: `done` was called more often than was added: the counter would be negative");
    }

    /// How many are waited for.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.with(|state| state.count())
    }

    /// Waits until the counter is zero, if only for a moment. Go: `Wait`.
    ///
    /// # Cancel safety
    /// Dropped, it changes nothing.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let group = spinpark::sync::WaitGroup::new();
    /// group.wait().await; // its count is zero
    /// # });
    /// ```
    pub fn wait(&self) -> Waiting<'_> {
        Waiting { group: self, wait: self.0.wait(), leaf: Leaf::new() }
    }
}

impl Default for WaitGroup {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for WaitGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitGroup").field("count", &self.count()).finish_non_exhaustive()
    }
}

/// What [`WaitGroup::wait`] returns.
#[must_use = "a future does nothing until it is awaited"]
pub struct Waiting<'a> {
    group: &'a WaitGroup,
    wait: Wait<'a, Cores, TaskWaker>,
    leaf: Leaf,
}

impl Future for Waiting<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Waiting { wait, leaf, .. } = &mut *self;
        leaf.poll(cx, "sync.WaitGroup.Wait", |cx| wait.poll(&mut Lender::new(cx.waker())))
    }
}

impl fmt::Debug for Waiting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").field("group", self.group).finish_non_exhaustive()
    }
}
