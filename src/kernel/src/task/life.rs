//! What is done with a task, in the order in which it is done: the same source over a future and over a model's cells.

use crate::host::Host;
use crate::task::slot::{JoinerSlot, WakerWords};
use crate::task::word::{Active, Closing, Handle, TaskWord, View, Waiting};
use core::task::Poll;

/// How a task becomes runnable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It was woken.
    Woken,
    /// Behind the others: it was polled, and is to be polled again; or what wakes it knows that it can wait.
    Yields,
}

/// What a task's word gives rights to. Nothing here panics.
pub trait Memory {
    /// What it runs on.
    type Host: Host;

    /// Its word.
    fn word(&self) -> &TaskWord<Self::Host>;

    /// Where its handle stores its waker.
    fn slot(&self) -> &JoinerSlot<Self::Host>;

    /// Polls the future. If it is ready, the output is kept, and the future dropped.
    fn poll(&self, right: &Active) -> Poll<()>;

    /// Has the task woken itself while it was polled, on this thread? Asked once after each poll, also of a task that is ready: a
    /// wake by this thread is one as any other from then on, even of a new task in the same memory.
    fn has_woken_itself(&self) -> bool;

    /// Drops the future.
    fn drop_future(&self, right: &Active);

    /// Drops the output, which is not wanted. The caller has the right to the future, and has not completed the task yet; or
    /// its handle, after that.
    fn drop_output(&self);

    /// Makes it run.
    ///
    /// # Errors
    /// The right comes back if nothing is run any more where it would be.
    fn schedule(&self, right: Active, mode: Mode) -> Result<(), Active>;

    /// Wakes the task that awaits the handle. The memory may be gone already.
    fn wake_joiner(&self, joiner: WakerWords);

    /// Drops a waker that was in the slot. The memory may be gone already.
    fn drop_joiner(&self, joiner: WakerWords);

    /// Frees the memory.
    fn free(&self);
}

/// Runs the task, here and now: until it waits, or ends.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/task.in")); fn main() {
/// use spinpark_kernel::task::{drop_handle, poll_handle, run, wake};
/// let (task, active, handle) = task(1);
/// task.word.clone_waker(); // the one that the future keeps
/// run(&task, active); // it waits
/// wake(&task, Mode::Woken);
/// run(&task, task.queued()); // it ends
/// let Poll::Ready(view) = poll_handle(&task, &handle, |_| None) else { panic!("it is complete") };
/// assert!(view.is_complete() && !view.is_empty()); // there is an output, to be taken
/// drop_handle(&task, handle, true);
/// assert_eq!(task.log(), ["polled", "polled", "freed"]);
/// # }
/// ```
#[inline]
pub fn run<T: Memory>(task: &T, active: Active) {
    if !task.word().start(&active) {
        return cancel(task, active);
    }
    if task.poll(&active).is_ready() {
        task.has_woken_itself();
        return complete(task, active, true);
    }
    let active = match task.has_woken_itself() {
        true => active,
        false => match task.word().wait(active) {
            Waiting::Idle => return,
            Waiting::Over(active) => return cancel(task, active),
            Waiting::Woken(active) => active,
        },
    };
    if let Err(active) = task.schedule(active, Mode::Yields) {
        cancel(task, active);
    }
}

/// Runs the task once, where it would not be run again: if it waits it ends.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/task.in")); fn main() {
/// use spinpark_kernel::task::run_last;
/// let (task, active, _handle) = task(1);
/// run_last(&task, active); // it waits, so it ends
/// assert_eq!(task.log(), ["polled", "future dropped"]);
/// # }
/// ```
pub fn run_last<T: Memory>(task: &T, active: Active) {
    match task.word().start(&active) && task.poll(&active).is_ready() {
        true => {
            task.has_woken_itself();
            complete(task, active, true);
        }
        false => {
            task.has_woken_itself();
            cancel(task, active);
        }
    }
}

/// Drops the future. The handle learns that there is no output.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/task.in")); fn main() {
/// use spinpark_kernel::task::cancel;
/// let (task, active, _handle) = task(0);
/// cancel(&task, active);
/// assert!(task.word.view().is_empty()); // complete, without an output
/// assert_eq!(task.log(), ["future dropped"]);
/// # }
/// ```
pub fn cancel<T: Memory>(task: &T, active: Active) {
    task.drop_future(&active);
    complete(task, active, false);
}

/// There is no future any more.
#[inline]
fn complete<T: Memory>(task: &T, _: Active, has_output: bool) {
    let mut wanted = has_output;
    let mut view = task.word().view();
    loop {
        if wanted && !view.has_handle() {
            task.drop_output();
            wanted = false;
        }
        if view.is_only_active() {
            return task.free();
        }
        // Perhaps not ours: only if nothing changes until the exchange.
        let joiner = view.has_joiner().then(|| task.slot().read());
        match task.word().complete(view, wanted) {
            Err(found) => view = found,
            Ok(()) if view.is_late() => return complete_late(task),
            // Something refers to it: it is freed by that.
            Ok(()) => return joiner.into_iter().for_each(|joiner| task.wake_joiner(joiner)),
        }
    }
}

/// The task is complete, and the caller has kept its right, to read the slot now that no thread writes it.
#[cold]
fn complete_late<T: Memory>(task: &T) {
    let joiner = task.slot().read();
    if task.word().leave().is_unreferenced() {
        task.free();
    }
    task.wake_joiner(joiner);
}

/// Wakes the task.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/task.in")); fn main() {
/// use spinpark_kernel::task::{run, wake_by_ref};
/// let (task, active, _handle) = task(1);
/// task.word.clone_waker();
/// run(&task, active);
/// wake_by_ref(&task);
/// wake_by_ref(&task); // it is awake already
/// assert_eq!(task.queue.lock().unwrap().len(), 1);
/// # }
/// ```
#[inline]
pub fn wake_by_ref<T: Memory>(task: &T) {
    if let (Some(active), _) = task.word().wake(false) {
        submit(task, active, Mode::Woken);
    }
}

/// Wakes the task by a waker that is gone then; it becomes runnable in this `mode`.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/task.in")); fn main() {
/// use spinpark_kernel::task::{run, wake};
/// let (task, active, _handle) = task(1);
/// task.word.clone_waker();
/// run(&task, active);
/// wake(&task, Mode::Woken);
/// run(&task, task.queued());
/// assert_eq!(task.log(), ["polled", "polled"]);
/// # }
/// ```
#[inline]
pub fn wake<T: Memory>(task: &T, mode: Mode) {
    match task.word().wake(true) {
        (Some(active), _) => submit(task, active, mode),
        (None, left) => release(task, left),
    }
}

/// Makes a task run that waited. Where nothing is run any more it waits on: its future is not dropped here, because the thread that
/// wakes may hold a lock that its destructor wants. [`close`] drops it.
#[inline]
fn submit<T: Memory>(task: &T, active: Active, mode: Mode) {
    if let Err(active) = task.schedule(active, mode) {
        task.word().put_back(active);
    }
}

/// Something that referred to the task does so no more, and this is left.
fn release<T: Memory>(task: &T, left: View) {
    if !left.is_unreferenced() {
        return;
    }
    if left.is_complete() {
        return task.free();
    }
    // No waker is left.
    let active = task.word().revive();
    if let Err(active) = task.schedule(active, Mode::Woken) {
        cancel(task, active);
    }
}

/// Drops a waker.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/task.in")); fn main() {
/// use spinpark_kernel::task::{drop_handle, drop_waker, run};
/// let (task, active, handle) = task(1);
/// task.word.clone_waker();
/// run(&task, active);
/// drop_handle(&task, handle, false);
/// drop_waker(&task); // nothing is left that could wake it: it is made runnable, to end
/// run(&task, task.queued());
/// assert_eq!(task.log().last(), Some(&"freed"));
/// # }
/// ```
#[inline]
pub fn drop_waker<T: Memory>(task: &T) {
    release(task, task.word().drop_waker());
}

/// The task is to end: its future is dropped when it would be polled the next time.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/task.in")); fn main() {
/// use spinpark_kernel::task::{abort, run};
/// let (task, active, _handle) = task(1);
/// task.word.clone_waker();
/// run(&task, active);
/// abort(&task);
/// run(&task, task.queued()); // not polled again
/// assert!(task.word.view().is_aborted());
/// assert_eq!(task.log(), ["polled", "future dropped"]);
/// # }
/// ```
pub fn abort<T: Memory>(task: &T) {
    if let Some(active) = task.word().abort() {
        submit(task, active, Mode::Woken);
    }
}

/// Ends the task, which nothing runs any more: its future is dropped, here. `false`: not yet. A thread was about to make it
/// run, and puts it back; to be asked again. The caller has a waker of it.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/task.in")); fn main() {
/// use spinpark_kernel::task::{close, run};
/// let (task, active, _handle) = task(1);
/// task.word.clone_waker();
/// run(&task, active);
/// assert!(close(&task)); // at the runtime's end
/// assert_eq!(task.log(), ["polled", "future dropped"]);
/// # }
/// ```
#[must_use = "a thread may have been about to make it run"]
pub fn close<T: Memory>(task: &T) -> bool {
    match task.word().close() {
        Closing::Busy => return false,
        Closing::Complete => (),
        Closing::Mine(active) => cancel(task, active),
    }
    true
}

/// Is the task complete? If not, what `waker` gives is woken when it is; it is told what would be woken already, and gives
/// nothing if that will do.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/task.in")); fn main() {
/// use spinpark_kernel::task::{poll_handle, run};
/// let (task, active, handle) = task(0);
/// let joiner = WakerWords { data: 1, vtable: 2 };
/// assert!(poll_handle(&task, &handle, |_| Some(joiner)).is_pending());
/// run(&task, active);
/// assert_eq!(task.log(), ["polled", "joiner woken"]);
/// assert!(poll_handle(&task, &handle, |_| None).is_ready());
/// # }
/// ```
pub fn poll_handle<T: Memory>(
    task: &T,
    handle: &Handle,
    waker: impl FnOnce(Option<WakerWords>) -> Option<WakerWords>,
) -> Poll<View> {
    let mut view = task.word().view();
    if view.is_complete() {
        return Poll::Ready(view);
    }
    let old = view.has_joiner().then(|| task.slot().read());
    let Some(new) = waker(old) else { return Poll::Pending };
    if let Some(old) = old {
        match task.word().withdraw(handle, view) {
            Ok(now) => view = now,
            Err(view) => {
                task.drop_joiner(new);
                return Poll::Ready(view);
            }
        }
        task.drop_joiner(old);
    }
    task.slot().write(new);
    match task.word().offer(handle, view) {
        Ok(()) => Poll::Pending,
        Err(view) => {
            task.drop_joiner(new);
            Poll::Ready(view)
        }
    }
}

/// The output is not wanted any more; it `was_taken` perhaps.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/task.in")); fn main() {
/// use spinpark_kernel::task::{drop_handle, run};
/// let (task, active, handle) = task(0);
/// drop_handle(&task, handle, false); // detached
/// run(&task, active);
/// assert_eq!(task.log(), ["polled", "output dropped", "freed"]);
/// # }
/// ```
pub fn drop_handle<T: Memory>(task: &T, _: Handle, was_taken: bool) {
    let mut wanted = !was_taken;
    let mut view = task.word().view();
    loop {
        if view.is_complete() && wanted && !view.is_empty() {
            task.drop_output();
            wanted = false;
        }
        if view.is_complete() && view.is_only_handle() {
            return task.free();
        }
        // Perhaps not ours: only if nothing changes until the exchange.
        let joiner = (!view.is_complete() && view.has_joiner()).then(|| task.slot().read());
        match task.word().detach(view) {
            Err(found) => view = found,
            Ok(left) => {
                release(task, left);
                return joiner.into_iter().for_each(|joiner| task.drop_joiner(joiner));
            }
        }
    }
}
