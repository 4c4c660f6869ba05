//! Kernels that take a wake for an end, for every model of [`spinpark_kernel::task`]: a harness asks here as the poll ends.

use crate::mutation::mutant::is_variant;
use spinpark_kernel::task::{self, Memory};

/// In a wrong kernel: a task that was woken while it was polled is not polled again.
pub fn poll_ends<T: Memory>(task: &T) {
    let is_dropped = |unreferenced| task.word().view().was_woken_meanwhile(unreferenced);
    if is_variant("task-drops-what-is-woken-while-polled") && is_dropped(false)
        || is_variant("task-counts-its-references-before-its-wakes") && is_dropped(true)
    {
        task::abort(task);
    }
}
