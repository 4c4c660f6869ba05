//! Awaiting a task: the right to its output, as a value.

#![allow(unsafe_code)]

use crate::kernel::task::{self, Handle, Memory};
use crate::runtime::exec::task::{Queue, Raw, Task};
use crate::runtime::exec::waker_words::words_of;
use crate::runtime::id::RuntimeId;
use core::future::Future;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::panic::Location;
use core::task::{Poll, Waker};

/// The right to a task's output.
pub(in crate::runtime) struct Awaited<T> {
    task: Raw,
    /// Until it is dropped.
    handle: Option<Handle>,
    /// There is no output to be dropped any more.
    was_taken: bool,
    output: PhantomData<T>,
}

// SAFETY: what it does with the task from another thread is the word's, but for the output, which is `Send`.
unsafe impl<T: Send> Send for Awaited<T> {}
// SAFETY: by a shared reference only the word is used.
unsafe impl<T: Send> Sync for Awaited<T> {}
impl<T> Unpin for Awaited<T> {}

/// How a task has ended.
pub(in crate::runtime) enum Ended<T> {
    /// With this.
    With(T),
    /// It was aborted.
    Aborted,
    /// It was dropped.
    Dropped,
}

impl<T: 'static> Awaited<T> {
    /// A task of the runtime `runtime_id`, and the right to its outcome.
    #[inline]
    #[track_caller]
    pub(in crate::runtime) fn allocate<F>(runtime_id: RuntimeId, queue: impl Queue, future: F) -> (Task, Self)
    where
        F: Future<Output = T> + Send + 'static,
    {
        let (runs, task, handle) = Task::allocate(runtime_id, queue, future);
        (runs, Awaited { task, handle: Some(handle), was_taken: false, output: PhantomData })
    }
}

impl<T> Awaited<T> {
    /// Has the task ended? If not, `waker` is woken when it has.
    ///
    /// # Panics
    /// If it has said so before.
    pub(in crate::runtime) fn poll(&mut self, waker: &Waker) -> Poll<Ended<T>> {
        assert!(!self.was_taken, "a JoinHandle was polled after it had given its value");
        let handle = self.handle.as_ref().expect("task: a handle that was dropped");
        let ended = task::poll_handle(&self.task, handle, |old| {
            let is_new = old != Some(words_of(waker));
            is_new.then(|| words_of(&ManuallyDrop::new(waker.clone())))
        });
        let Poll::Ready(view) = ended else { return Poll::Pending };
        self.was_taken = true;
        Poll::Ready(match view.is_empty() {
            true if view.is_aborted() => Ended::Aborted,
            true => Ended::Dropped,
            false => {
                // SAFETY: the task is complete and has an output, of this type; this is its handle, and takes it once.
                Ended::With(unsafe { self.task.take_output() })
            }
        })
    }

    /// Has the task ended?
    pub(in crate::runtime) fn is_finished(&self) -> bool {
        self.task.word().view().is_complete()
    }

    /// The task is not polled again, and its future is dropped.
    pub(in crate::runtime) fn abort(&self) {
        task::abort(&self.task);
    }

    /// A waker of the task.
    pub(in crate::runtime) fn waker(&self) -> Waker {
        self.task.to_waker()
    }

    /// Was it aborted, in time or not?
    pub(in crate::runtime) fn was_aborted(&self) -> bool {
        self.task.word().view().is_aborted()
    }

    /// Where it was spawned.
    pub(in crate::runtime) fn spawned_at(&self) -> &'static Location<'static> {
        self.task.spawned_at()
    }
}

impl<T> Drop for Awaited<T> {
    fn drop(&mut self) {
        if let Some(handle) = self.handle.take() {
            task::drop_handle(&self.task, handle, self.was_taken);
        }
    }
}
