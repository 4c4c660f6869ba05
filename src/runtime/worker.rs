//! An M's life: find a task, run it, over and over; and spawning from inside one.
//!
//! Go: `mstart`, `schedule`, `execute`, `newproc`.

use super::join::JoinHandle;
use super::task::{Post, Task};
use core::cell::RefCell;
use core::fmt;
use core::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// The P that this thread holds, while it runs a task. Borrowed for a moment only, never while a task's code runs.
    static POST: RefCell<Option<Post>> = const { RefCell::new(None) };
}

/// Runs tasks until the scheduler is closed.
pub(super) fn live(mut post: Post) {
    while let Some((next, task)) = post.next() {
        POST.set(Some(next));
        // The task's own panic is in its packet. This one is of a value that nobody will join, when it is dropped.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| task.run())) {
            // And a payload may panic in its turn.
            mem::forget(payload);
        }
        post = POST.take().expect("worker: its P was gone after the task");
    }
}

/// Which scheduler's task this thread runs, if any's.
pub(super) fn current() -> Option<usize> {
    POST.try_with(|post| post.borrow().as_ref().map(Post::id)).ok().flatten()
}

/// Queues `task` under the P that this thread holds.
///
/// # Panics
/// If it holds none: ask [`current`] first.
pub(super) fn ready(task: Task) {
    POST.with_borrow_mut(|post| post.as_mut().expect("worker: no P to queue a task under").ready(task));
}

/// Runs `f` as a new task, from inside one. It is the next to run under this P. Go: `go f()`.
///
/// # Panics
/// If the caller is no task of a [`Runtime`](crate::Runtime). Use [`Runtime::go`](crate::Runtime::go) or a
/// [`Handle`](crate::Handle) from other threads, or [`try_go`] if you cannot know.
#[track_caller]
pub fn go<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    match try_go(f) {
        Ok(handle) => handle,
        Err(error) => panic!("{error}"),
    }
}

/// Runs `f` as a new task, from inside one. It is the next to run under this P. Go: `go f()`.
///
/// # Errors
/// [`NotInRuntime`] if the caller is no task of a [`Runtime`](crate::Runtime). `f` is dropped.
pub fn try_go<F, T>(f: F) -> Result<JoinHandle<T>, NotInRuntime>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let home = current().ok_or(NotInRuntime)?;
    let (task, packet) = Task::new(f);
    ready(task);
    Ok(JoinHandle::new(packet, home))
}

/// There is no runtime here to run the task: the thread does not run one of a runtime's tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotInRuntime;

impl fmt::Display for NotInRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "spinpark::go was called outside of a task: call `go` on a Runtime, or on a Handle, \
             which any thread may own",
        )
    }
}

impl core::error::Error for NotInRuntime {}
