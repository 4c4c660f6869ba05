//! Which runtime of this process, and which of its tasks.

use core::fmt;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

/// Which runtime: never 0, never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::runtime) struct RuntimeId(u32);

impl RuntimeId {
    /// That of no runtime.
    pub(in crate::runtime) const NONE: RuntimeId = RuntimeId(0);

    /// A number for a new runtime.
    pub(in crate::runtime) fn new() -> RuntimeId {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        // Relaxed: only that no number comes twice. (After four billion runtimes one would.)
        RuntimeId(NEXT.fetch_add(1, Relaxed))
    }
}

/// A task's number: no other task has it as long as the task runs, or there is a [`JoinHandle`](crate::JoinHandle) or an
/// [`AbortHandle`](crate::AbortHandle) of it. After that it may be another's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(usize);

impl TaskId {
    /// Of the task at this address.
    pub(in crate::runtime) fn at(address: usize) -> TaskId {
        TaskId(address)
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TaskId({:#x})", self.0)
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}
