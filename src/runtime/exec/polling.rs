//! Which task this thread polls, and whether that has woken itself: then it is queued again without a step of its word.

use core::cell::Cell;

thread_local! {
    static POLLING: Polling = const { Polling { task: Cell::new(0), has_woken: Cell::new(false) } };
}

/// What a simulated thread knows of it, while another runs.
#[derive(Default)]
pub(in crate::runtime) struct Polling {
    /// The task's address, or 0.
    task: Cell<usize>,
    /// It has woken itself.
    has_woken: Cell<bool>,
}

impl Polling {
    /// Exchanges it with what the thread knows that plays it.
    pub(in crate::runtime) fn swap(&self) {
        POLLING.with(|polling| {
            polling.task.swap(&self.task);
            polling.has_woken.swap(&self.has_woken);
        });
    }
}

/// This thread is about to poll the task at this address; 0: none.
#[inline]
pub(super) fn begins(task: usize) {
    POLLING.with(|polling| {
        polling.task.set(task);
        polling.has_woken.set(false);
    });
}

/// Is this the task that the thread polls? It has woken itself then.
#[inline]
pub(super) fn wakes_itself(task: usize) -> bool {
    POLLING.with(|polling| {
        let is_itself = polling.task.get() == task;
        polling.has_woken.set(polling.has_woken.get() | is_itself);
        is_itself
    })
}

/// The task at this address was polled: has it woken itself? A wake that comes from now on is one as any other.
#[inline]
pub(super) fn has_woken_itself(task: usize) -> bool {
    POLLING.with(|polling| {
        if polling.task.get() != task {
            return false;
        }
        polling.task.set(0);
        polling.has_woken.get()
    })
}
