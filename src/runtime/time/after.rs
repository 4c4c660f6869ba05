//! A function that is called later. Go: `time.AfterFunc`.

use crate::runtime::exec::abort::AbortHandle;
use crate::runtime::handle::Handle;
use crate::runtime::time::sleep::{Sleep, sleep};
use core::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Calls `f` after so much time, in a goroutine of its own. Go: `time.AfterFunc`.
///
/// What is returned stops it, or sets it to another moment. Dropped, it changes nothing: `f` is called all the same, as in Go. When its
/// runtime is shut down before, `f` is dropped, and never called.
///
/// # Panics
/// If the caller is outside of a runtime.
///
/// ```
/// use spinpark::{chan, time::after_func};
/// use std::time::Duration;
///
/// # spinpark::run(async {
/// let (sender, receiver) = chan::bounded(8);
/// let timer = after_func(Duration::from_millis(1), move || drop(sender.try_send("called")));
/// assert_eq!(receiver.recv().await, Ok("called"));
/// assert!(!timer.stop(), "it is too late");
/// assert!(!timer.reset(Duration::from_millis(1)), "it was over; it is called once more");
/// assert_eq!(receiver.recv().await, Ok("called"));
/// # });
/// ```
#[track_caller]
#[doc(alias("AfterFunc", "call_later"))]
pub fn after_func(time: Duration, f: impl Fn() + Send + Sync + 'static) -> AfterFunc {
    let runtime = Handle::current_for("spinpark::time::after_func was called");
    let timer = AfterFunc(Arc::new(Inner { f: Box::new(f), runtime, armed: Mutex::default() }));
    timer.reset(time);
    timer
}

/// What [`after_func`] returns. Clones are of the same timer. Go: `*time.Timer`, of `time.AfterFunc`.
///
/// [`stop`](AfterFunc::stop) and [`reset`](AfterFunc::reset) keep Go 1.23's rule: after either has returned, a call that was due before is no
/// longer begun. Neither waits for a call that runs.
///
/// ```
/// use spinpark::time::after_func;
/// use std::time::Duration;
///
/// # spinpark::run(async {
/// let hour = Duration::from_secs(3600);
/// let timer = after_func(hour, || panic!("it was stopped"));
/// assert!(timer.reset(2 * hour) && timer.is_active());
/// assert!(timer.stop());
/// assert!(!timer.is_active() && !timer.stop());
/// # });
/// ```
#[derive(Clone)]
pub struct AfterFunc(Arc<Inner>);

struct Inner {
    f: Box<dyn Fn() + Send + Sync>,
    runtime: Handle,
    armed: Mutex<Armed>,
}

/// **A task calls `f` only if it takes `task` out, and finds its own number beside it**: so a task that was stopped, or replaced, and sleeps
/// no more does not call it.
#[derive(Default)]
struct Armed {
    number: u64,
    /// Sleeps until the moment. `None`: it was stopped, or is over.
    task: Option<AbortHandle>,
}

impl Inner {
    fn armed(&self) -> MutexGuard<'_, Armed> {
        self.armed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The task of this number has slept to the end.
    fn fire(self: &Arc<Self>, number: u64) {
        let is_due = {
            let mut armed = self.armed();
            armed.number == number && armed.task.take().is_some()
        };
        if is_due {
            let inner = Arc::clone(self);
            drop(self.runtime.go(move || (inner.f)()));
        }
    }
}

impl AfterFunc {
    /// Stops it: `f` is not called, unless it is [reset](AfterFunc::reset). `false`: it was over or stopped already; then a call may be under
    /// way. From any thread. Go: `Stop`.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let timer = spinpark::time::after_func(std::time::Duration::from_secs(60), || ());
    /// assert!(timer.stop());
    /// # });
    /// ```
    pub fn stop(&self) -> bool {
        let task = self.0.armed().task.take();
        // Not under the lock: the task's destructor may drop the last timer of another.
        task.map(|task| task.abort()).is_some()
    }

    /// Calls `f` so much time from now instead; once more, if it was over or stopped: then it returns `false`. From any thread. Go: `Reset`.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let timer = spinpark::time::after_func(std::time::Duration::from_secs(60), || ());
    /// assert!(timer.reset(std::time::Duration::from_secs(90)));
    /// # });
    /// ```
    #[track_caller]
    pub fn reset(&self, time: Duration) -> bool {
        let (inner, sleep) = (Arc::clone(&self.0), sleep(time));
        let mut armed = self.0.armed();
        let before = armed.task.take();
        armed.number += 1;
        let sleeps = sleeps(sleep, inner, armed.number);
        armed.task = Some(self.0.runtime.spawn(sleeps).abort_handle());
        drop(armed);
        before.map(|task| task.abort()).is_some()
    }

    /// Is a call of `f` still to come?
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.0.armed().task.is_some()
    }
}

async fn sleeps(sleep: Sleep, inner: Arc<Inner>, number: u64) {
    sleep.await;
    inner.fire(number);
}

impl fmt::Debug for AfterFunc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AfterFunc").field("is_active", &self.is_active()).finish_non_exhaustive()
    }
}

static_assertions::assert_impl_all!(AfterFunc: Send, Sync);
