//! What a user has of a runtime: the runtime, and handles to it.

use crate::host::NEVER;
use crate::runtime::exec::awaited::Awaited;
use crate::runtime::exec::block_on;
use crate::runtime::exec::context::Context;
use crate::runtime::exec::dump::Dump;
use crate::runtime::exec::entered::EnterGuard;
use crate::runtime::exec::join::JoinHandle;
use crate::runtime::exec::not_in_runtime::NotInRuntime;
use crate::runtime::exec::outcome::Outcome;
use crate::runtime::exec::spawn::start;
use crate::runtime::exec::task::Task;
use crate::runtime::exec::tasks::Tasks;
use crate::runtime::exec::wait_graph::Deadlock;
use crate::runtime::observe::metrics::Metrics;
use crate::runtime::world::{self, SetProcsError, StopError};
use core::fmt;
use core::future::Future;
use core::panic::Location;

/// Runs tasks on a [`Runtime`](crate::Runtime) that another owner keeps. Does not keep it open.
///
/// ```
/// use spinpark::Handle;
///
/// let runtime = spinpark::Runtime::builder().procs(1).max_procs(2).build()?;
/// let handle = runtime.handle();
/// let from_afar = std::thread::spawn(move || {
///     let (future, closure) = (handle.spawn(async { 40 }), handle.go(|| 2));
///     let sum = handle.block_on(async { Ok::<_, spinpark::JoinError>(future.await? + closure.await?) });
///     assert_eq!(handle.run(async { 1 }), 1);
///     assert_eq!(handle.stop_the_world(|| 1), Ok(1));
///     assert_eq!(handle.set_procs(2), Ok(1));
///     handle.for_each_p(|p| println!("P{p}")).expect("the world runs");
///     println!("{} {:?}", handle.schedtrace(), handle.metrics());
///     sum
/// });
/// assert_eq!(from_afar.join().expect("no panic")??, 42);
///
/// assert!(Handle::try_current().is_err());
/// let handle = runtime.handle();
/// let _inside = handle.enter();
/// assert!(Handle::try_current().is_ok());
/// handle.when_idle(|| println!("nothing else to do"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Handle {
    pub(super) tasks: Tasks,
}

impl Handle {
    /// Of the runtime that this code is inside of: because it is a task of it, or runs in its
    /// [`block_on`](crate::Runtime::block_on), or has [entered](crate::Runtime::enter) it.
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(1).build()?;
    /// let task = runtime.go(|| spinpark::Handle::current().go(|| 1));
    /// assert_eq!(task.join()?.join()?, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If it is inside of none. See [`try_current`](Handle::try_current).
    #[track_caller]
    #[must_use]
    pub fn current() -> Handle {
        Handle::current_for("spinpark::Handle::current was called")
    }

    /// The same, for what `what` says.
    #[track_caller]
    pub(in crate::runtime) fn current_for(what: &'static str) -> Handle {
        match Context::around() {
            Some(tasks) => Handle { tasks },
            None => panic!("{}", NotInRuntime::new(what)),
        }
    }

    /// Of the runtime that this code is inside of.
    ///
    /// # Errors
    /// [`NotInRuntime`] if it is inside of none.
    ///
    /// ```
    /// # spinpark::run(async {
    /// assert!(spinpark::Handle::try_current().is_ok());
    /// # });
    /// ```
    pub fn try_current() -> Result<Handle, NotInRuntime> {
        let around = Context::around().map(|tasks| Handle { tasks });
        around.ok_or(NotInRuntime::new("spinpark::Handle::try_current was called"))
    }

    /// Until the guard is dropped, the code of this thread is inside of this runtime. See [`Runtime::enter`](crate::Runtime::enter).
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(1).build()?;
    /// let handle = runtime.handle();
    /// let _inside = handle.enter();
    /// spinpark::spawn(async {}).join()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn enter(&self) -> EnterGuard<'_> {
        EnterGuard::new(&self.tasks)
    }

    /// What the runtime has done so far. See [`Runtime::metrics`](crate::Runtime::metrics).
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        Metrics::of(&self.tasks)
    }

    /// What the runtime looks like now, in one line. See [`Runtime::schedtrace`](crate::Runtime::schedtrace).
    #[must_use]
    pub fn schedtrace(&self) -> String {
        self.tasks.schedtrace()
    }

    /// What every task that has waited waits for now: by name, number and place. From any thread; while it looks, no task is held up for
    /// longer than it takes to copy a row of the list. Go: what SIGQUIT prints; tokio: `Handle::dump`.
    ///
    /// ```
    /// use spinpark::{TaskBuilder, Wait, chan};
    ///
    /// let runtime = spinpark::Runtime::builder().procs(1).build()?;
    /// let (orders, received) = chan::rendezvous::<u8>();
    /// let cook = TaskBuilder::new().name("cook").spawn_on(async move { received.recv().await }, &runtime.handle());
    /// let waits = |dump: &spinpark::Dump| dump.blocked().iter().any(|task| task.why == "chan receive");
    /// while !waits(&runtime.handle().dump()) {
    ///     std::thread::yield_now(); // it has not begun
    /// }
    /// let dump = runtime.handle().dump();
    /// assert_eq!(dump.blocked()[0].name.as_deref(), Some("cook"));
    /// assert!(dump.to_string().contains("\"cook\", chan receive"));
    /// orders.send(1).wait()?;
    /// assert_eq!(cook.join()?, Ok(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn dump(&self) -> Dump {
        Dump::of(&self.tasks)
    }

    /// Runs `f` as a goroutine; see [`go`](crate::go). From any thread. Go: `go f()`.
    ///
    /// If the runtime was shut down, `f` is dropped and the handle's join is
    /// [`ShutDown`](crate::JoinError::ShutDown).
    ///
    /// ```
    /// # spinpark::run(async {
    /// let task = spinpark::Handle::current().go(|| 1);
    /// assert_eq!(task.await.expect("no panic"), 1);
    /// # });
    /// ```
    #[track_caller]
    pub fn go<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let (task, awaited) = Task::of_closure(self.tasks.runtime_id(), f);
        self.queue(task, awaited)
    }

    /// Runs `future` as a task. From any thread.
    ///
    /// If the runtime was shut down, `future` is dropped and awaiting the handle is
    /// [`ShutDown`](crate::JoinError::ShutDown).
    ///
    /// ```
    /// # spinpark::run(async {
    /// let task = spinpark::Handle::current().spawn(async { 1 });
    /// assert_eq!(task.await.expect("no panic"), 1);
    /// # });
    /// ```
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        let (task, awaited) = Task::new(self.tasks.runtime_id(), future);
        self.queue(task, awaited)
    }

    fn queue<T>(&self, task: Task, awaited: Awaited<Outcome<T>>) -> JoinHandle<T> {
        let runtime_id = self.tasks.runtime_id();
        if Context::holds_p_of(runtime_id) {
            start(task);
        } else {
            // Given back if closed: it is dropped, which its handle says.
            drop(self.tasks.submit(task));
        }
        JoinHandle::new(awaited, runtime_id)
    }

    /// Runs `f` when the runtime has nothing else to do. See [`Runtime::when_idle`](crate::Runtime::when_idle).
    ///
    /// ```
    /// # spinpark::run(async {
    /// spinpark::Handle::current().when_idle(|| println!("nothing else to do"));
    /// # });
    /// ```
    pub fn when_idle(&self, f: impl FnOnce() + Send + 'static) {
        let shared = self.tasks.shared();
        shared.reactor.idle.put(Box::new(f));
        shared.timers.announce(NEVER);
    }

    /// Runs `future` on this thread to its end. See [`Runtime::block_on`](crate::Runtime::block_on).
    ///
    /// # Errors
    /// [`Deadlock`]
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(1).build()?;
    /// assert_eq!(runtime.handle().block_on(async { 1 })?, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> Result<F::Output, Deadlock> {
        block_on::block_on(&self.tasks, future, Location::caller())
    }

    /// Runs `future` on this thread to its end. See [`Runtime::run`](crate::Runtime::run).
    ///
    /// # Panics
    /// If it will never be ready: lists every waiting task and what it waits for.
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(1).build()?;
    /// assert_eq!(runtime.handle().run(async { 1 }), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn run<F: Future>(&self, future: F) -> F::Output {
        match self.block_on(future) {
            Ok(output) => output,
            Err(deadlock) => panic!("{deadlock}"),
        }
    }

    /// Runs `f` while no task runs. Waits until each task that runs now has ended, waits for something, is in a
    /// [`syscall`](crate::syscall), or comes to a [`checkpoint`](crate::checkpoint); tasks in a [`syscall`](crate::syscall) stay in it, and do not come out of it before
    /// `f` has returned. From any thread, also from inside a task, and from one of another runtime. If several threads
    /// want it, they come one after the other, in the order in which they asked. Go: `stopTheWorld`.
    ///
    /// If `f` panics the world goes on, and so does the panic.
    ///
    /// # Errors
    /// [`StopError::Nested`] if it is called from inside `f`; [`StopError::InCallback`] in a waker, or a closure that runs for a P.
    ///
    /// ```
    /// # spinpark::run(async {
    /// assert_eq!(spinpark::Handle::current().stop_the_world(|| 1), Ok(1));
    /// # });
    /// ```
    pub fn stop_the_world<R>(&self, f: impl FnOnce() -> R) -> Result<R, StopError> {
        world::stop(&self.tasks, f)
    }

    /// From now on, `n` tasks run at once. Returns how many it were. Stops the world for a moment. Go: `GOMAXPROCS`.
    ///
    /// # Errors
    /// [`SetProcsError`] if it is none, or more than the runtime has room for
    /// ([`max_procs`](crate::Builder::max_procs)), or if the caller has stopped the world.
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(1).max_procs(2).build()?;
    /// assert_eq!(runtime.handle().set_procs(2), Ok(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_procs(&self, n: usize) -> Result<usize, SetProcsError> {
        world::set_procs(&self.tasks, n)
    }

    /// Runs `f` once for each P, with its number, at a moment at which the thread it runs on owns that P, without
    /// stopping the world: each P as soon as its task has ended or yields. Returns when `f` has run for all. Go:
    /// `forEachP`.
    ///
    /// A panic of `f` is reported and dropped. `f` must not wait.
    ///
    /// # Errors
    /// [`StopError::Nested`] if the caller has stopped the world; [`StopError::InCallback`] in a waker, or in `f`.
    ///
    /// ```
    /// # spinpark::run(async {
    /// spinpark::Handle::current().for_each_p(|p| println!("P{p}")).expect("the world runs");
    /// # });
    /// ```
    pub fn for_each_p(&self, f: impl Fn(usize) + Send + Sync + 'static) -> Result<(), StopError> {
        world::for_each_p(&self.tasks, f)
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}
