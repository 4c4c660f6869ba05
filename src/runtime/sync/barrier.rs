//! Waiting for each other.

use crate::runtime::exec::yielding::Leaf;
use crate::runtime::host::cores::{Cores, CoresLock};
use crate::runtime::sync::waking::Lender;
use crate::runtime::task_waker::TaskWaker;
use crate::waits::barrier::{self, State, Wait};
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

/// Where tasks wait for each other, in rounds of so many.
///
/// ```
/// use spinpark::sync::Barrier;
/// use std::sync::Arc;
///
/// # let runtime = spinpark::Runtime::builder().procs(2).build()?;
/// let leaders = runtime.block_on(async {
///     let barrier = Arc::new(Barrier::new(3));
///     let tasks: Vec<_> = (0..3)
///         .map(|_| {
///             let barrier = Arc::clone(&barrier);
///             spinpark::spawn(async move { barrier.wait().await.is_leader() })
///         })
///         .collect();
///     let mut leaders = 0;
///     for task in tasks {
///         leaders += usize::from(task.await.expect("no panic"));
///     }
///     leaders
/// })?;
/// assert_eq!(leaders, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Barrier(barrier::Barrier<Cores, TaskWaker>);

impl Barrier {
    /// For `n` in each round; for 0 it is as for 1, which does not wait.
    ///
    /// ```
    /// use spinpark::{spawn, sync::Barrier};
    /// use std::sync::Arc;
    ///
    /// # spinpark::run(async {
    /// let barrier = Arc::new(Barrier::new(2));
    /// let other = Arc::clone(&barrier);
    /// let task = spawn(async move { other.wait().await.is_leader() });
    /// let is_leader = barrier.wait().await.is_leader();
    /// assert_ne!(task.await.expect("no panic"), is_leader); // one of the two is
    /// # });
    /// ```
    pub const fn new(n: usize) -> Self {
        Barrier(barrier::Barrier::from_lock(CoresLock::new(State::new(n))))
    }

    /// Waits until all of this round have come: the last is the leader of it. The next round begins at once, so it may be used
    /// again and again.
    ///
    /// # Cancel safety
    /// Not safe: dropped after its first poll it has come, and is counted in this round; called again, it comes once more.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let barrier = spinpark::sync::Barrier::new(1); // of one task
    /// assert!(barrier.wait().await.is_leader());
    /// # });
    /// ```
    pub fn wait(&self) -> BarrierWait<'_> {
        BarrierWait { wait: self.0.wait(), leaf: Leaf::new() }
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}

/// What became of [`Barrier::wait`].
#[derive(Debug, Clone)]
pub struct BarrierWaitResult {
    leads: bool,
}

impl BarrierWaitResult {
    /// Was it the last of its round? One in each is.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.leads
    }
}

/// What [`Barrier::wait`] returns.
#[must_use = "a future does nothing until it is awaited"]
pub struct BarrierWait<'a> {
    wait: Wait<'a, Cores, TaskWaker>,
    leaf: Leaf,
}

impl Future for BarrierWait<'_> {
    type Output = BarrierWaitResult;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<BarrierWaitResult> {
        let BarrierWait { wait, leaf } = &mut *self;
        let polled = leaf.poll(cx, "sync.Barrier.Wait", |cx| wait.poll(&mut Lender::new(cx.waker())));
        polled.map(|leads| BarrierWaitResult { leads })
    }
}

impl fmt::Debug for BarrierWait<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWait").finish_non_exhaustive()
    }
}

static_assertions::assert_impl_all!(BarrierWait<'static>: Send, Sync, Unpin);
