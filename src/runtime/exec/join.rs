//! Waiting for a task's outcome, and the ways in which there is none.

use crate::kernel::protocol::role::Waits;
use crate::runtime::exec::abort::AbortHandle;
use crate::runtime::exec::awaited::{Awaited, Ended};
use crate::runtime::exec::block_on;
use crate::runtime::exec::blocking::blocking;
use crate::runtime::exec::context::Context;
use crate::runtime::exec::goroutine::{self, Wait as _};
use crate::runtime::exec::outcome::{Outcome, Panic};
use crate::runtime::exec::wait_graph::Deadlock;
use crate::runtime::exec::waits::{self, Unmet};
use crate::runtime::exec::waker::Gentle;
use crate::runtime::exec::yielding::Leaf;
use crate::runtime::id::{RuntimeId, TaskId};
use core::any::Any;
use core::fmt;
use core::future::Future;
use core::panic::Location;
use core::pin::Pin;
use core::task::{self, Poll, Waker};

/// The right to a task's value: `.await` it, or [`join`](JoinHandle::join) it on a thread that may wait. Dropping it does
/// not stop the task; its value, or its panic, is then lost.
///
/// Go has no such thing: `go f()` returns nothing, and one writes the channel by hand.
///
/// # Cancel safety
/// Await `&mut handle` where the wait may be given up: the task goes on, and its value is there when it is awaited again.
///
/// ```
/// use std::time::Duration;
///
/// # spinpark::run(async {
/// let mut task = spinpark::spawn(async {
///     spinpark::time::sleep(Duration::from_millis(5)).await;
///     1
/// });
/// assert!(!task.is_finished());
/// if spinpark::time::timeout(Duration::ZERO, &mut task).await.is_err() {
///     assert_eq!(task.await.expect("no panic"), 1);
/// }
/// let task = spinpark::spawn(std::future::pending::<()>());
/// task.abort();
/// assert!(task.await.unwrap_err().is_cancelled());
/// # });
/// ```
pub struct JoinHandle<T> {
    task: Awaited<Outcome<T>>,
    /// The runtime whose task it is.
    runtime_id: RuntimeId,
    /// What wakes us, if it is not to be trusted.
    gentle: Option<Gentle>,
    leaf: Leaf,
}

impl<T> JoinHandle<T> {
    pub(in crate::runtime) fn new(task: Awaited<Outcome<T>>, runtime_id: RuntimeId) -> Self {
        JoinHandle { task, runtime_id, gentle: None, leaf: Leaf::new() }
    }

    /// Waits until the task has finished, and returns its value. In a future `.await` the handle instead: this occupies
    /// a thread. In a goroutine with a stack of its own it does not: it is the same as [`wait`](crate::Wait::wait).
    ///
    /// From inside a task of the same runtime the caller's P goes to another thread meanwhile, so that the awaited task
    /// can run, with one P too; the caller's thread is occupied. A task of *another* runtime waits as in
    /// [`blocking`]. A task that [`shutdown`](crate::Runtime::shutdown) gave back is waited for until
    /// its [`Unstarted`](crate::Unstarted) is run or dropped.
    ///
    /// # Errors
    /// [`JoinError::Panicked`] if the task panicked; [`JoinError::Aborted`] if it was [aborted](JoinHandle::abort);
    /// [`JoinError::ShutDown`] if its runtime was shut down before it ended. Because waiting would never
    /// end: [`JoinError::Deadlock`] if no task of the runtime can go on.
    /// And from inside a task of the same runtime:
    /// [`JoinError::Closed`] if the runtime is being shut down; [`JoinError::WorldStopped`] if the caller has stopped
    /// the world. After these three [`join_mut`](JoinHandle::join_mut) can be called again.
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(1).build()?;
    /// assert_eq!(runtime.spawn(async { 1 }).join()?, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn join(mut self) -> Result<T, JoinError> {
        self.join_mut()
    }

    /// As [`join`](JoinHandle::join), and the caller keeps the handle: after [`JoinError::Deadlock`], [`JoinError::Closed`] and
    /// [`JoinError::WorldStopped`] the task may still end, and can be joined again.
    ///
    /// ```
    /// # #[cfg(target_os = "linux")]
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use spinpark::JoinError;
    ///
    /// let runtime = spinpark::Runtime::builder().deterministic(1).build()?;
    /// let mut task = runtime.spawn(std::future::pending::<()>());
    /// assert!(matches!(task.join_mut(), Err(JoinError::Deadlock(..)))); // nothing can end it but us
    /// task.abort();
    /// assert!(matches!(task.join_mut(), Err(JoinError::Aborted)));
    /// # Ok(())
    /// # }
    /// # #[cfg(not(target_os = "linux"))]
    /// # fn main() {}
    /// ```
    ///
    /// # Errors
    /// Those of [`join`](JoinHandle::join).
    ///
    /// # Panics
    /// If it has returned the task's value, its panic or its end before.
    #[track_caller]
    pub fn join_mut(&mut self) -> Result<T, JoinError> {
        let at = Location::caller();
        if Context::stopped() == Some(self.runtime_id) && !self.is_finished() {
            return Err(JoinError::WorldStopped);
        }
        let unmet = match goroutine::waits() {
            Waits::Suspend => return self.wait(),
            Waits::Block if Context::current() == Some(self.runtime_id) => {
                let for_task = self.task.spawned_at();
                waits::wait_inside(self, at, for_task)
            }
            Waits::Block | Waits::WithoutP => blocking(|| block_on::join(self.runtime_id, self, at)),
        };
        unmet.unwrap_or_else(|unmet| {
            Err(match unmet {
                Unmet::Deadlock(deadlock) => JoinError::Deadlock(deadlock, self.id()),
                Unmet::Closed => JoinError::Closed,
            })
        })
    }

    /// Would [`join`](JoinHandle::join) return at once? True also of a task that panicked or will never run.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let task = spinpark::spawn(std::future::pending::<()>());
    /// assert!(!task.is_finished());
    /// # });
    /// ```
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.task.is_finished()
    }

    /// Aborts the task: it is not run again, and its future is dropped, now or, if it runs just now, when it next
    /// waits. A goroutine with [a stack of its own](crate::Builder::stackful_goroutines) is unwound when it next waits. One on its thread's
    /// stack, the default, is not: once it has begun nothing can take the thread out of it, and it runs to its end, also if it waits; one that
    /// has not begun never runs. A task that does not wait any more ends as it would have. Whatever awaits the handle waits for that, and gets
    /// [`JoinError::Aborted`], or the value if the task was faster.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let task = spinpark::spawn(std::future::pending::<()>());
    /// task.abort();
    /// assert!(task.await.unwrap_err().is_cancelled());
    /// # });
    /// ```
    pub fn abort(&self) {
        self.task.abort();
    }

    /// What can [abort](JoinHandle::abort) the task too, and no more: its value stays this handle's.
    #[must_use]
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle::new(self.task.waker())
    }

    /// The task's number.
    #[must_use]
    pub fn id(&self) -> TaskId {
        self.abort_handle().id()
    }

    /// Has it ended? If not, `waker`, which is ours, is woken when it has.
    pub(in crate::runtime) fn poll_by(&mut self, waker: &Waker) -> Poll<Result<T, JoinError>> {
        self.task.poll(waker).map(|ended| self.result(ended))
    }

    fn result(&self, ended: Ended<Outcome<T>>) -> Result<T, JoinError> {
        match ended {
            Ended::With(outcome) => match outcome.into_result() {
                Some(Ok(value)) => Ok(value),
                Some(Err(panic)) => Err(JoinError::Panicked(panic)),
                // Unwound by its runtime's end, or because it was aborted.
                None if self.task.was_aborted() => Err(JoinError::Aborted),
                None => Err(JoinError::ShutDown),
            },
            Ended::Aborted => Err(JoinError::Aborted),
            Ended::Dropped => Err(JoinError::ShutDown),
        }
    }
}

/// No value of type `T` is ever pinned in it.
impl<T> Unpin for JoinHandle<T> {}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        let JoinHandle { task, gentle, leaf, .. } = &mut *self;
        let polled = leaf.poll(cx, "join", |cx| match Gentle::around(gentle, cx.waker()) {
            Some(gentle) => task.poll(&gentle),
            None => task.poll(cx.waker()),
        });
        polled.map(|ended| self.result(ended))
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("is_finished", &self.is_finished()).finish_non_exhaustive()
    }
}

/// A task has no value to give. It is `Send`, `Sync` and `'static` whatever the task returns: `?` turns it into `Box<dyn Error>`, or
/// into the error of a crate like anyhow.
///
/// ```
/// use spinpark::{JoinHandle, Runtime};
/// use std::error::Error;
///
/// fn twice(task: JoinHandle<u8>) -> Result<u8, Box<dyn Error + Send + Sync>> {
///     Ok(2 * task.join()?)
/// }
///
/// let runtime = Runtime::builder().procs(1).build()?;
/// assert_eq!(twice(runtime.go(|| 4)).expect("no panic"), 8);
/// let error = twice(runtime.go(|| panic!("out of paper"))).expect_err("it panics");
/// assert_eq!(error.to_string(), "task panicked: out of paper");
/// # Ok::<(), Box<dyn Error>>(())
/// ```
#[derive(Debug)]
pub enum JoinError {
    /// It panicked.
    Panicked(Panic),
    /// It was aborted: [`abort`](JoinHandle::abort).
    Aborted,
    /// Its runtime was shut down before it ended.
    ShutDown,
    /// It will never finish, nor will the caller's task if it goes on waiting: each task of the runtime waits for
    /// another. The number is that of the task that was to be joined. See [`join_mut`](JoinHandle::join_mut).
    Deadlock(Deadlock, TaskId),
    /// The runtime is being shut down, and starts no task any more; this one may be among those that it gives back.
    Closed,
    /// It has not finished, and cannot go on: the caller has stopped the world.
    WorldStopped,
}

impl JoinError {
    /// Did the task panic?
    #[must_use]
    pub fn is_panic(&self) -> bool {
        matches!(self, JoinError::Panicked(_))
    }

    /// Was it ended before it had a value: aborted, or dropped by its runtime's end?
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self, JoinError::Aborted | JoinError::ShutDown)
    }

    /// What it panicked with, to go on panicking by [`resume_unwind`](std::panic::resume_unwind).
    ///
    /// # Panics
    /// If it did not panic: [`is_panic`](JoinError::is_panic) says so.
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(1).build()?;
    /// let error = runtime.go(|| std::panic::resume_unwind(Box::new("oh"))).join().unwrap_err();
    /// assert!(error.is_panic());
    /// assert_eq!(error.into_panic().downcast_ref(), Some(&"oh"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[track_caller]
    pub fn into_panic(self) -> Box<dyn Any + Send> {
        match self.try_into_panic() {
            Ok(payload) => payload,
            Err(error) => panic!("JoinError::into_panic: it is no panic: {error}"),
        }
    }

    /// What it panicked with.
    ///
    /// # Errors
    /// With itself, if it did not panic.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let task = spinpark::spawn(std::future::pending::<()>());
    /// task.abort();
    /// let error = task.await.unwrap_err();
    /// assert!(error.try_into_panic().is_err(), "it was aborted");
    /// # });
    /// ```
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send>, Self> {
        match self {
            JoinError::Panicked(panic) => Ok(panic.into_payload()),
            other => Err(other),
        }
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JoinError::Panicked(panic) => panic.fmt(f),
            JoinError::Aborted => f.write_str("task was aborted"),
            JoinError::ShutDown => f.write_str("the task did not run to its end: its runtime was shut down before"),
            JoinError::Deadlock(deadlock, _) => deadlock.fmt(f),
            JoinError::Closed => f.write_str(
                "the runtime is being shut down and starts no more tasks, perhaps not this one either: join it from \
                 outside, after shutdown",
            ),
            JoinError::WorldStopped => f.write_str(
                "the task has not finished, and the caller has stopped the world in which it would: join it after",
            ),
        }
    }
}

impl core::error::Error for JoinError {}

static_assertions::assert_impl_all!(JoinError: Send, Sync);
static_assertions::assert_impl_all!(JoinHandle<u8>: Send, Sync);
