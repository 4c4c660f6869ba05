//! New tasks: from inside of one, and for whoever has a runtime.
//!
//! Go: `newproc`, `ready`.

use crate::runtime::exec::context::Context;
use crate::runtime::exec::goroutine::Goroutine;
use crate::runtime::exec::inside::Inside;
use crate::runtime::exec::join::JoinHandle;
use crate::runtime::exec::life::{InRuntime, Life};
use crate::runtime::exec::not_in_runtime::NotInRuntime;
use crate::runtime::exec::report;
use crate::runtime::exec::task::{Awaited, Meta, Task};
use crate::runtime::id::RuntimeId;
use crate::runtime::observe::{spans, watch};
use async_task::{Runnable, ScheduleInfo, WithInfo};
use core::future::Future;
use core::panic::Location;

impl Task {
    /// A task of the runtime `runtime_id`, and the right to its outcome.
    #[track_caller]
    pub(in crate::runtime) fn new<F>(runtime_id: RuntimeId, future: F) -> (Task, Awaited<F::Output>)
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        // It captures nothing: if it did, async-task would count the task up and down around each call.
        let schedule = WithInfo(|runnable: Runnable<Meta>, info: ScheduleInfo| {
            let runtime_id = runnable.metadata().runtime_id();
            ready(runtime_id, Task::from(runnable), info.woken_while_running);
        });
        let life = Life::new(spans::task(future), InRuntime::new(runtime_id));
        let (runnable, awaited) = async_task::Builder::new().metadata(Meta::here(runtime_id)).spawn(|_| life, schedule);
        report::created(runtime_id, || runnable.waker(), Location::caller());
        (Task::from(runnable), awaited)
    }

    /// A goroutine of the runtime `runtime_id`.
    #[track_caller]
    pub(in crate::runtime) fn of_closure<F, T>(runtime_id: RuntimeId, f: F) -> (Task, Awaited<T>)
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        Task::new(runtime_id, Goroutine::new(runtime_id, f))
    }
}

/// A task of `runtime_id` became runnable. Under the P that this thread holds it is the next to run, or, if it `yields`, the
/// last; found by a source, it is that source's; else it goes to the global queue. After the end it is dropped.
pub(in crate::runtime) fn ready(runtime_id: RuntimeId, task: Task, yields: bool) {
    if let Some(task) = Context::ready(runtime_id, task, yields) {
        submit(runtime_id, task);
    }
}

/// From a thread that holds no P of this runtime.
fn submit(runtime_id: RuntimeId, task: Task) {
    let tasks = runtime_id.find();
    let submitted = match &tasks {
        Some(tasks) => tasks.submit(task),
        None => Err(task),
    };
    if let Err(task) = submitted {
        // Closed: the task ends here, and its destructors inside the runtime, if that is still there.
        let _inside = tasks.as_ref().filter(|_| Context::current().is_none()).map(Inside::of);
        watch::drop_another(task);
    }
}

/// Runs `future` as a new task, from inside of one. It is the next to run under this P.
///
/// # Panics
/// If the caller is no task of a [`Runtime`](crate::Runtime). Use [`Runtime::spawn`](crate::Runtime::spawn) or a
/// [`Handle`](crate::Handle) from other threads, or [`try_spawn`] if you cannot know.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    match try_spawn(future) {
        Ok(handle) => handle,
        Err(error) => panic!("spinpark::spawn was {error}"),
    }
}

/// Runs `future` as a new task, from inside of one. It is the next to run under this P.
///
/// # Errors
/// [`NotInRuntime`] if the caller is no task of a [`Runtime`](crate::Runtime). `future` is dropped.
#[track_caller]
pub fn try_spawn<F>(future: F) -> Result<JoinHandle<F::Output>, NotInRuntime>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    let runtime_id = Context::around_id().ok_or(NotInRuntime)?;
    let (task, awaited) = Task::new(runtime_id, future);
    ready(runtime_id, task, false);
    Ok(JoinHandle::new(awaited, runtime_id))
}

/// Runs `f` as a goroutine, from inside a task. It is the next to run under this P. Go: `go f()`.
///
/// In it whatever can be awaited can be [waited](crate::Wait::wait) for. It runs on the stack of a thread, and **that thread
/// sleeps while it waits**: its P is handed on, so others run, but each goroutine that waits costs a thread, of which there
/// are [`max_threads`](crate::Builder::max_threads). Where many wait, use futures ([`spawn`]); or stacks of their own, as
/// Go has them, by [`stackful_goroutines`](crate::Builder::stackful_goroutines), which takes a promise.
///
/// If its runtime is shut down while it waits, it is unwound: what it owns is dropped, as by a panic. (With
/// `panic = "abort"` it is forgotten.) One with a stack of its own is so too when it is [aborted](JoinHandle::abort).
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
        Err(error) => panic!("spinpark::go was {error}"),
    }
}

/// Runs `f` as a new task, from inside one. It is the next to run under this P. Go: `go f()`.
///
/// # Errors
/// [`NotInRuntime`] if the caller is no task of a [`Runtime`](crate::Runtime). `f` is dropped.
#[track_caller]
pub fn try_go<F, T>(f: F) -> Result<JoinHandle<T>, NotInRuntime>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let runtime_id = Context::around_id().ok_or(NotInRuntime)?;
    let (task, awaited) = Task::of_closure(runtime_id, f);
    ready(runtime_id, task, false);
    Ok(JoinHandle::new(awaited, runtime_id))
}
