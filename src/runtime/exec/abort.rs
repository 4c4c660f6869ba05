//! Ending a task without having its value.

use crate::kernel::task::{self, Memory};
use crate::runtime::exec::task::Raw;
use crate::runtime::id::TaskId;
use core::fmt;
use core::task::Waker;

/// What can abort a task, and nothing else: of [`JoinHandle::abort_handle`](crate::JoinHandle::abort_handle), or of
/// [`JoinSet::spawn`](crate::JoinSet::spawn). It may be copied; the task's value stays with its handle. Dropping it does
/// nothing.
///
/// ```
/// let runtime = spinpark::Runtime::builder().procs(1).build()?;
/// let task = runtime.spawn(std::future::pending::<()>());
/// let abort = task.abort_handle();
/// abort.abort();
/// assert!(matches!(task.join(), Err(spinpark::JoinError::Aborted)));
/// assert!(abort.is_finished());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct AbortHandle {
    /// The task's own: it keeps the task's memory, so no other task has its number meanwhile.
    waker: Waker,
}

impl AbortHandle {
    /// Of one of our wakers.
    pub(in crate::runtime) fn new(waker: Waker) -> AbortHandle {
        debug_assert!(Raw::of(&waker).is_some(), "abort: a foreign waker");
        AbortHandle { waker }
    }

    /// Aborts the task, as [`JoinHandle::abort`](crate::JoinHandle::abort) does.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let task = spinpark::spawn(std::future::pending::<()>());
    /// task.abort_handle().abort();
    /// assert!(task.await.unwrap_err().is_cancelled());
    /// # });
    /// ```
    pub fn abort(&self) {
        if let Some(task) = Raw::of(&self.waker) {
            task::abort(&task);
        }
    }

    /// Has the task ended: with a value, by a panic, or because it was aborted? One that was only told to may still be
    /// running.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        Raw::of(&self.waker).is_none_or(|task| task.word().view().is_complete())
    }

    /// The task's number.
    #[must_use]
    pub fn id(&self) -> TaskId {
        TaskId::at(self.waker.data().addr())
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = (self.id(), self.is_finished());
        f.debug_struct("AbortHandle").field("id", &fields.0).field("is_finished", &fields.1).finish()
    }
}

static_assertions::assert_impl_all!(AbortHandle: Send, Sync);
