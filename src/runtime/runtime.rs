//! A runtime.

use crate::kernel::sched::config::Config;
use crate::kernel::sched::snapshot::Snapshot;
use crate::runtime::build_error::BuildError;
use crate::runtime::builder::Builder;
use crate::runtime::exec::entered::EnterGuard;
use crate::runtime::exec::join::JoinHandle;
use crate::runtime::exec::tasks::Tasks;
use crate::runtime::exec::wait_graph::Deadlock;
use crate::runtime::handle::Handle;
use crate::runtime::observe::metrics::Metrics;
use crate::runtime::world::{SetProcsError, StopError};
use core::fmt;
use core::future::Future;

/// A scheduler with its threads.
///
/// Dropping it is [`shutdown`](Runtime::shutdown) and dropping what was never started. Dropped by one of its own tasks,
/// it cannot wait for that: a thread is started that does. (If thread creation failed, the runtime goes on until the
/// process ends.)
///
/// After either no thread of the runtime is left: they have been joined, so destructors of their thread locals have run. (But
/// for a thread whose closure [will not be unwound](crate::go), and one that serves timers of this runtime for which a future elsewhere waits.)
#[must_use = "a runtime that is dropped runs nothing"]
pub struct Runtime {
    pub(super) handle: Handle,
    pub(super) is_open: bool,
}

impl Runtime {
    /// A runtime with as many Ps as there are cores.
    ///
    /// # Errors
    /// If the system does not give a thread.
    ///
    /// ```
    /// let runtime = spinpark::Runtime::new()?;
    /// assert_eq!(runtime.block_on(async { 1 })?, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new() -> Result<Runtime, BuildError> {
        Self::builder().build()
    }

    /// A runtime with other numbers.
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(2).thread_name("web").build()?;
    /// assert_eq!(runtime.block_on(async { 1 })?, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder() -> Builder {
        Builder::new()
    }

    pub(super) fn from_tasks(tasks: Tasks) -> Runtime {
        Runtime { handle: Handle { tasks }, is_open: true }
    }

    /// Runs `f` as a goroutine: in it whatever can be awaited can be [waited](crate::Wait::wait) for; [`go`](crate::go) says on whose stack. From
    /// any thread; inside one of this runtime's own tasks it is the same as [`go`](crate::go). Go: `go f()`.
    ///
    /// What `f` captures goes to another thread, so it has to be `Send`. What it makes for itself need not be, and may be
    /// held across a wait: the closure stays on its thread (but for
    /// [`stackful_goroutines`](crate::Builder::stackful_goroutines)).
    ///
    /// ```
    /// # use spinpark::{Runtime, Wait, time};
    /// # let runtime = Runtime::builder().procs(1).build()?;
    /// let shared = std::sync::Arc::new(41);
    /// let task = runtime.go(move || {
    ///     let own = std::rc::Rc::new(*shared);
    ///     time::sleep(std::time::Duration::from_millis(1)).wait();
    ///     *own + 1
    /// });
    /// assert_eq!(task.join()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// ```compile_fail,E0277
    /// # use spinpark::{Runtime, Wait, time};
    /// # let runtime = Runtime::builder().procs(1).build()?;
    /// let shared = std::rc::Rc::new(41); // not `Send`
    /// let task = runtime.go(move || *shared + 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn go<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.handle.go(f)
    }

    /// Runs `future` as a task. From any thread; inside one of this runtime's own tasks it is the same as [`spawn`](crate::spawn).
    ///
    /// It goes from thread to thread, so what it holds across an `await` has to be `Send`:
    ///
    /// ```compile_fail,E0277
    /// # use spinpark::{Runtime, time};
    /// # let runtime = Runtime::builder().procs(1).build()?;
    /// let task = runtime.spawn(async {
    ///     let own = std::rc::Rc::new(41); // not `Send`
    ///     time::sleep(std::time::Duration::from_millis(1)).await;
    ///     *own + 1
    /// });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(1).build()?;
    /// let task = runtime.spawn(async { 1 });
    /// assert_eq!(task.join()?, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        self.handle.spawn(future)
    }

    /// Runs `future` on this thread to its end; meanwhile it can [`spawn`](crate::spawn) tasks, sleep, and use the network of this
    /// runtime. `future` need not be `Send`. Called from inside of a task, others run under its P meanwhile, as in
    /// [`blocking`](crate::blocking). A panic of `future` is the caller's.
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(2).build()?;
    /// let sum = runtime.block_on(async {
    ///     let halves = [1..=50, 51..=100].map(|half| spinpark::spawn(async move { half.sum::<u32>() }));
    ///     let mut sum = 0;
    ///     for half in halves {
    ///         sum += half.await?;
    ///     }
    ///     Ok::<_, spinpark::JoinError>(sum)
    /// })??;
    /// assert_eq!(sum, 5050);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Deadlock`] if `future` waits and nothing can happen any more: every task waits, no timer runs, no socket is
    /// waited for, and there is no thread in the process that could do something. Only where that is certain: on Linux,
    /// in a process without other threads and other runtimes. See [`Builder::detect_deadlock`].
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> Result<F::Output, Deadlock> {
        self.handle.block_on(future)
    }

    /// The same, where a deadlock is not handled: `future` is run on this thread to its end.
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(2).build()?;
    /// assert_eq!(runtime.run(async { 6 * 7 }), 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If `future` waits and nothing can happen any more, where [`block_on`](Runtime::block_on) is a [`Deadlock`]: the message says
    /// what waits, and where it was spawned. Go: `fatal error: all goroutines are asleep - deadlock!`
    #[track_caller]
    pub fn run<F: Future>(&self, future: F) -> F::Output {
        self.handle.run(future)
    }

    /// A way to run tasks that can be cloned and given away.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Runs `f` while no task runs. Waits until each task that runs now has ended, waits for something, is in a
    /// [`syscall`](crate::syscall), or comes to a [`checkpoint`](crate::checkpoint); tasks in a [`syscall`](crate::syscall) stay in it, and do not come out of it before
    /// `f` has returned. From any thread, also from inside a task, and from one of another runtime. If several threads
    /// want it, they come one after the other, in the order in which they asked. Go: `stopTheWorld`.
    ///
    /// If `f` panics the world goes on, and so does the panic. `f` must not wait for a task of this runtime, for none runs:
    /// [`join`](JoinHandle::join) is an error in it, [`block_on`](Runtime::block_on) of what waits for a task never returns.
    ///
    /// # Errors
    /// [`StopError::Nested`] if it is called from inside `f`; [`StopError::InCallback`] in a waker, or a closure that runs for a P.
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(2).build()?;
    /// assert_eq!(runtime.stop_the_world(|| "no task runs")?, "no task runs");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stop_the_world<R>(&self, f: impl FnOnce() -> R) -> Result<R, StopError> {
        self.handle.stop_the_world(f)
    }

    /// From now on, `n` tasks run at once. Returns how many it were. Stops the world for a moment. Go: `GOMAXPROCS`.
    ///
    /// # Errors
    /// [`SetProcsError`] if it is none, or more than the runtime has room for
    /// ([`max_procs`](Builder::max_procs)), or if the caller has stopped the world.
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(1).max_procs(4).build()?;
    /// assert_eq!(runtime.set_procs(3)?, 1);
    /// assert_eq!(runtime.metrics().procs, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_procs(&self, n: usize) -> Result<usize, SetProcsError> {
        self.handle.set_procs(n)
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
    /// use std::sync::{Arc, atomic::{AtomicUsize, Ordering::Relaxed}};
    ///
    /// let runtime = spinpark::Runtime::builder().procs(2).build()?;
    /// let count = Arc::new(AtomicUsize::new(0));
    /// let counts = Arc::clone(&count);
    /// runtime.for_each_p(move |_p| drop(counts.fetch_add(1, Relaxed)))?;
    /// assert_eq!(count.load(Relaxed), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn for_each_p(&self, f: impl Fn(usize) + Send + Sync + 'static) -> Result<(), StopError> {
        self.handle.for_each_p(f)
    }

    /// Runs `f` when the runtime has nothing else to do: once, on a thread that found no task anywhere and was about to
    /// wait. For what can be left to such a moment: caches to be trimmed, statistics, memory to be given back. The
    /// runtime itself gives back the memory of unused stacks then. Several are run one after the other, in order,
    /// and a task that becomes runnable meanwhile comes before the next. A runtime that is never idle never runs it; one
    /// that is shut down before drops it.
    ///
    /// `f` is no task: it must be short, and not wait. If it panics, the panic hook says so, and that was all.
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(1).build()?;
    /// let (tell, told) = std::sync::mpsc::channel();
    /// runtime.when_idle(move || tell.send(()).expect("we wait"));
    /// told.recv()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn when_idle(&self, f: impl FnOnce() + Send + 'static) {
        self.handle.when_idle(f);
    }

    /// How many tasks may run at once, now.
    #[must_use]
    pub fn procs(&self) -> usize {
        self.handle.tasks.procs()
    }

    /// What the scheduler looks like now.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.handle.tasks.snapshot()
    }

    /// What it has done so far: dispatches, thefts, threads that slept and woke, and more. Costs a microsecond or two, and
    /// the scheduler's lock for a moment. Go: `runtime/metrics`.
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(1).build()?;
    /// runtime.spawn(async {}).join()?;
    /// println!("{:?}", runtime.metrics());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        self.handle.metrics()
    }

    /// What it looks like now, in one line, with the names and in the order of Go's `GODEBUG=schedtrace=1000`:
    ///
    /// ```text
    /// SCHED 1004ms: gomaxprocs=2 idleprocs=2 threads=2 spinningthreads=0 needspinning=0 idlethreads=2 runqueue=0 [ 0 0 ] schedticks=[ 12 7 ]
    /// ```
    ///
    /// The time is since the runtime was built. Threads are those that run tasks: not the monitor, which Go counts. With
    /// `SPINPARK_DEBUG=schedtrace=1000` in the environment such a line is printed to standard error every second.
    #[must_use]
    pub fn schedtrace(&self) -> String {
        self.handle.schedtrace()
    }

    /// Until the guard is dropped, the code of this thread is inside of this runtime: [`spawn`](crate::spawn), [`go`](crate::go) and
    /// [`Handle::current`] find it, and so do timers and sockets that are first awaited here. It runs no task itself. Of
    /// several runtimes that were entered the last one counts; inside of a task, or of
    /// [`block_on`](Runtime::block_on), that one's own runtime does, and the guard changes nothing.
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(1).build()?;
    /// let guard = runtime.enter();
    /// let task = spinpark::spawn(async { 6 * 7 });
    /// drop(guard);
    /// assert_eq!(task.join()?, 42);
    /// assert!(spinpark::try_go(|| ()).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn enter(&self) -> EnterGuard<'_> {
        self.handle.enter()
    }

    /// The numbers it was made with.
    #[must_use]
    pub fn config(&self) -> &Config {
        self.handle.tasks.config()
    }

    /// Its scheduler.
    #[cfg(feature = "console")]
    pub(super) fn tasks(&self) -> &Tasks {
        &self.handle.tasks
    }
}

/// Runs `future` on this thread to its end, in a runtime with as many Ps as there are cores, which is shut down after that. What it spawned
/// and did not await is dropped then.
///
/// ```
/// let sum = spinpark::run(async {
///     let half = spinpark::spawn(async { 20 });
///     22 + half.await.expect("it does not panic")
/// });
/// assert_eq!(sum, 42);
/// ```
///
/// # Panics
/// If no runtime can be made, or if `future` will never be ready: see [`Runtime::run`].
#[track_caller]
pub fn run<F: Future>(future: F) -> F::Output {
    match Runtime::new() {
        Ok(runtime) => runtime.run(future),
        Err(error) => panic!("spinpark::run: {error}"),
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("config", self.config()).finish_non_exhaustive()
    }
}
