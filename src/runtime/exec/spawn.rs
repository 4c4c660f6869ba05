//! New tasks: from inside of one, and for the owner of a runtime.
//!
//! Go: `newproc`, `ready`.

use crate::runtime::exec::awaited::Awaited;
use crate::runtime::exec::context::Context;
use crate::runtime::exec::goroutine::Goroutine;
use crate::runtime::exec::inside::Inside;
use crate::runtime::exec::join::JoinHandle;
use crate::runtime::exec::life::{InRuntime, Life};
use crate::runtime::exec::not_in_runtime::NotInRuntime;
use crate::runtime::exec::outcome::Outcome;
use crate::runtime::exec::polling;
use crate::runtime::exec::report;
use crate::runtime::exec::task::{Queue, Task};
use crate::runtime::host::cores::Cores;
use crate::runtime::id::RuntimeId;
use crate::runtime::observe::{spans, watch};
use core::future::Future;
use core::panic::Location;

impl Task {
    /// A task of the runtime `runtime_id`, and the right to its outcome.
    #[track_caller]
    pub(in crate::runtime) fn new<F>(runtime_id: RuntimeId, future: F) -> (Task, Awaited<Outcome<F::Output>>)
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        let life = Life::new(spans::task(future), InRuntime::new(runtime_id));
        let (task, awaited) = Awaited::allocate(runtime_id, Scheduled, life);
        report::created(runtime_id, task.address(), Location::caller());
        (task, awaited)
    }

    /// A goroutine of the runtime `runtime_id`.
    #[track_caller]
    pub(in crate::runtime) fn of_closure<F, T>(runtime_id: RuntimeId, f: F) -> (Task, Awaited<Outcome<T>>)
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        Task::new(runtime_id, Goroutine::new(runtime_id, f))
    }
}

/// In the scheduler of its runtime. Under the P that this thread holds it is the next to run, or, if it yields, the last;
/// found by a source, it is that source's; else it goes to the global queue.
#[derive(Clone, Copy)]
struct Scheduled;

impl Queue for Scheduled {
    #[inline]
    fn put(&self, task: Task, yields: bool) -> Result<(), Task> {
        let runtime_id = task.runtime_id();
        match Context::ready(runtime_id, task, yields) {
            None => Ok(()),
            // Preempted: what it queues would go through the lock each time. Only on `Cores` tasks lose their P.
            Some(task) if !yields && Context::try_reattach::<Cores>(runtime_id) => self.put(task, yields),
            // From a thread that holds no P of this runtime.
            Some(task) => match runtime_id.find() {
                Some(tasks) => tasks.submit(task),
                None => Err(task),
            },
        }
    }
}

/// Makes a new task run. After the end of its runtime it is dropped, here.
#[inline(never)] // because of `Context::ready`
pub(in crate::runtime) fn start(task: Task) {
    polling::spawns();
    let runtime_id = task.runtime_id();
    if let Err(task) = Scheduled.put(task, false) {
        let tasks = runtime_id.find();
        // Its destructors run inside the runtime, if that is still there.
        let _inside = tasks.as_ref().filter(|_| Context::current().is_none()).map(Inside::of);
        watch::drop_another(task);
    }
}

/// Runs `future` as a new task, from inside of one. It is the next to run under this P.
///
/// # Panics
/// If the caller is no task of a [`Runtime`](crate::Runtime). Use [`Runtime::spawn`](crate::Runtime::spawn) or a
/// [`Handle`](crate::Handle) from other threads, or [`try_spawn`] if you cannot know.
///
/// ```
/// # spinpark::run(async {
/// let task = spinpark::spawn(async { 6 * 7 });
/// assert_eq!(task.await.expect("no panic"), 42);
/// # });
/// ```
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    match spawn_around(future) {
        Some(handle) => handle,
        None => panic!("{}", NotInRuntime::with_method("spinpark::spawn was called")),
    }
}

/// Runs `future` as a new task, from inside of one. It is the next to run under this P.
///
/// # Errors
/// [`NotInRuntime`] if the caller is no task of a [`Runtime`](crate::Runtime). `future` is dropped.
///
/// ```
/// # spinpark::run(async {
/// let task = spinpark::try_spawn(async { 1 }).expect("inside of a task");
/// assert_eq!(task.await.expect("no panic"), 1);
/// # });
/// ```
#[track_caller]
pub fn try_spawn<F>(future: F) -> Result<JoinHandle<F::Output>, NotInRuntime>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    spawn_around(future).ok_or(NotInRuntime::with_method("spinpark::try_spawn was called"))
}

/// In the caller's runtime, if it has one.
#[track_caller]
fn spawn_around<F>(future: F) -> Option<JoinHandle<F::Output>>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    let runtime_id = Context::around_id()?;
    let (task, awaited) = Task::new(runtime_id, future);
    start(task);
    Some(JoinHandle::new(awaited, runtime_id))
}

/// Runs `f` as a goroutine, from inside a task. It is the next to run under this P. Go: `go f()`.
///
/// In it whatever can be awaited can be [waited](crate::Wait::wait) for. It runs on the stack of a thread, and **that thread
/// sleeps while it waits**: its P is handed on, so others run, but each goroutine that waits costs a thread, of which there
/// are [`max_threads`](crate::Builder::max_threads). Where many wait, use futures ([`spawn`]); or stacks of their own, as
/// Go has them, by [`stackful_goroutines`](crate::Builder::stackful_goroutines), which takes a promise.
///
/// If its runtime is shut down while it waits, it is unwound: what it owns is dropped, as by a panic. (With
/// `panic = "abort"` it is forgotten, and its thread; so is one that catches that 64 times and waits again.) One with a stack of its own is so too when it is [aborted](JoinHandle::abort).
///
/// # Panics
/// If the caller is no task of a [`Runtime`](crate::Runtime). Use [`Runtime::go`](crate::Runtime::go) or a
/// [`Handle`](crate::Handle) from other threads, or [`try_go`] if you cannot know.
///
/// ```
/// use spinpark::{Wait, go, time::sleep};
/// use std::time::Duration;
///
/// # spinpark::run(async {
/// let task = go(|| {
///     sleep(Duration::from_millis(1)).wait(); // where a future would say `.await`
///     6 * 7
/// });
/// assert_eq!(task.await.expect("no panic"), 42);
/// # });
/// ```
#[track_caller]
#[doc(alias = "goroutine")]
pub fn go<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    match go_around(f) {
        Some(handle) => handle,
        None => panic!("{}", NotInRuntime::with_method("spinpark::go was called")),
    }
}

/// Runs `f` as a new task, from inside one. It is the next to run under this P. Go: `go f()`.
///
/// # Errors
/// [`NotInRuntime`] if the caller is no task of a [`Runtime`](crate::Runtime). `f` is dropped.
///
/// ```
/// assert!(spinpark::try_go(|| 1).is_err(), "outside of a runtime");
/// ```
#[track_caller]
pub fn try_go<F, T>(f: F) -> Result<JoinHandle<T>, NotInRuntime>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    go_around(f).ok_or(NotInRuntime::with_method("spinpark::try_go was called"))
}

/// In the caller's runtime, if it has one.
#[track_caller]
fn go_around<F, T>(f: F) -> Option<JoinHandle<T>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let runtime_id = Context::around_id()?;
    let (task, awaited) = Task::of_closure(runtime_id, f);
    start(task);
    Some(JoinHandle::new(awaited, runtime_id))
}
