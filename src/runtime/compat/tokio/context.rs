//! A context in which a future finds tokio's runtime, though a worker of spinpark polls it.
//!
//! ```text
//!   a worker:  enter ── poll ── leave                      the thread `spinpark-tokio`: its poller, its timers,
//!                         └ a socket of tokio's, a timer      and what was given to `tokio::spawn`, inside of ours
//!                              is registered there ────►  wakes the task, by its waker
//! ```
//!
//! **The context is entered for one poll, and for the drop**: a worker that leaves the poll has none. So it is never held across an
//! `await`, nor by the next task.
//!
//! **Whose tokio**: that of the runtime of ours in which the [`Compat`] is made, or else first polled. It is started by the first of
//! them, and ends with that runtime, after its tasks.

use crate::runtime::exec::context;
use crate::runtime::exec::tasks::Tasks;
use crate::runtime::handle;
use crate::runtime::host::foreign_threads::MayAct;
use crate::runtime::host::sim;
use crate::runtime::sync::oneshot;
use ::tokio::runtime::{Builder, Handle};
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use pin_project_lite::pin_project;
use std::io;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

pin_project! {
    /// A future that finds tokio's runtime while it is polled, and while it is dropped: crates that need tokio's sockets,
    /// timers or `spawn` run in it, as a part of any task of spinpark's.
    ///
    /// ```
    /// use spinpark::tokio_compat::CompatExt;
    /// use std::time::Duration;
    ///
    /// spinpark::run(async {
    ///     let task = spinpark::spawn(async {
    ///         tokio::time::sleep(Duration::from_millis(1)).await; // by tokio's timer
    ///         tokio::spawn(async { 6 * 7 }).await.expect("no panic") // on tokio's thread
    ///     }.compat());
    ///     assert_eq!(task.await.expect("no panic"), 42);
    /// });
    /// ```
    ///
    /// * **One thread more** for a runtime of ours that needs it: it runs a `current_thread` runtime of tokio's, with its poller and its
    ///   timers. The first [`Compat`] starts it, and it ends with our runtime. It runs no worker. Outside of every runtime of ours there
    ///   is one for the process, which stays.
    /// * **What is spawned inside** by `tokio::spawn` runs on that thread, not on spinpark's workers, and one after the other; there
    ///   our runtime is [entered](crate::Runtime::enter): [`spinpark::spawn`](crate::spawn) runs tasks on its workers, as everywhere, and
    ///   what sleeps or has sockets of ours finds it. A task of ours has tokio's context only if it is wrapped, too.
    ///   `spawn_blocking` has tokio's threads.
    /// * **When spinpark's runtime is shut down** its tasks are dropped, in the context; then those that were given to `tokio::spawn`. One
    ///   that computes is waited for, as tasks of ours are; what is in `spawn_blocking` is not.
    /// * **Deadlocks** are not detected any more once that thread is there: for all that is known it will wake a task.
    /// * **`block_in_place`** panics, as in any `current_thread` runtime; `spinpark::blocking` is what to take.
    /// * **Stackful goroutines**: the context belongs to the thread. A poll that waits in its middle by
    ///   [`wait`](crate::Wait::wait) holds it across a wait, which
    ///   [`stackful_goroutines`](crate::Builder::stackful_goroutines) forbids. To `await` is well.
    ///
    /// In the context of a runtime of tokio's that is yours:
    ///
    /// ```
    /// use spinpark::tokio_compat::Compat;
    ///
    /// let tokio = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    /// let runtime = spinpark::Runtime::builder().procs(1).build()?;
    /// let here = runtime.spawn(Compat::with_handle(tokio.handle().clone(), async { tokio::runtime::Handle::try_current().is_ok() }));
    /// assert!(tokio.block_on(here)?);
    /// assert!(runtime.block_on(Compat::try_new(async { true })?)?);
    /// assert!(runtime.block_on(Compat::new(async { true }))?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[derive(Debug)]
    #[must_use = "a future does nothing until it is awaited"]
    pub struct Compat<F> {
        // `None`: that of the runtime in which it is first polled.
        handle: Option<Handle>,
        #[pin]
        future: Option<F>,
    }

    impl<F> PinnedDrop for Compat<F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            // There is none if it was never polled, or not on a machine that is real.
            let _entered = this.handle.as_ref().map(Handle::enter);
            this.future.set(None);
        }
    }
}

impl<F: Future> Compat<F> {
    /// In the context of the tokio runtime that belongs to the runtime of ours around, which is started if this is the first. Made outside
    /// of one: to that in which it is first polled.
    ///
    /// # Panics
    /// If it cannot be started: the system gives no thread, or no file descriptor. [`try_new`](Compat::try_new) says so.
    #[track_caller]
    pub fn new(future: F) -> Self {
        match Compat::try_new(future) {
            Ok(compat) => compat,
            Err(error) => panic!("{CANNOT_START}: {error}"),
        }
    }

    /// As [`new`](Compat::new).
    ///
    /// # Errors
    /// The system's, if it gives no thread, or no file descriptor. The next caller tries again.
    pub fn try_new(future: F) -> io::Result<Self> {
        let handle = match context::Context::around() {
            Some(Tasks::Cores(_)) => Some(handle_around()?),
            Some(Tasks::Sim(_)) | None => None,
        };
        Ok(Compat { handle, future: Some(future) })
    }

    /// In the context of a tokio runtime of yours. It must be driven: a `current_thread` runtime, by its `block_on`.
    ///
    /// When it is shut down, its sockets give errors, and its timers panic when they are polled: that panic is the task's.
    pub fn with_handle(handle: Handle, future: F) -> Self {
        Compat { handle: Some(handle), future: Some(future) }
    }
}

const CANNOT_START: &str = "tokio's runtime cannot be started";

impl<F: Future> Future for Compat<F> {
    type Output = F::Output;

    /// # Panics
    /// In a deterministic runtime: neither tokio's thread nor its clock are simulated. And if tokio's runtime has to be started, and cannot
    /// be.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        assert!(!sim::is_here(), "tokio's runtime has no part in a deterministic one");
        let this = self.project();
        let start = || handle_around().unwrap_or_else(|error| panic!("{CANNOT_START}: {error}"));
        let _entered = this.handle.get_or_insert_with(start).enter();
        this.future.as_pin_mut().expect("it is there until it is dropped").poll(cx)
    }
}

/// `future.compat()`.
pub trait CompatExt: Future + Sized {
    /// [`Compat::new`].
    ///
    /// # Panics
    /// As that does.
    #[track_caller]
    fn compat(self) -> Compat<Self> {
        Compat::new(self)
    }
}

impl<F: Future> CompatExt for F {}

/// A tokio runtime on a thread of its own. Dropped, it ends.
struct Beside {
    handle: Handle,
    /// Ends it, by being dropped.
    ends: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    /// Its thread wakes tasks.
    _may_act: MayAct,
}

/// Outside of every runtime of ours: the process's, once it runs.
static OF_THE_PROCESS: Mutex<Option<Beside>> = Mutex::new(None);

/// Of the tokio runtime that belongs to the runtime around this thread; started, if it does not run yet.
fn handle_around() -> io::Result<Handle> {
    if let Some(tasks) = context::Context::around() {
        if let Some(handle) = &tasks.shared().tokio {
            return Ok(handle.clone());
        }
        let start = || Beside::start(Some(tasks.clone()));
        if let Some(beside) = tasks.shared().companion.get_or_start(start)? {
            return Ok(beside.handle.clone());
        }
        // Our runtime was shut down: a future that is still polled in it finds the process's.
    }
    let mut place = OF_THE_PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
    let beside = match place.take() {
        Some(beside) => beside,
        None => Beside::start(None)?,
    };
    Ok(place.insert(beside).handle.clone())
}

impl Beside {
    /// Starts it; what it runs is inside of `tasks`.
    fn start(tasks: Option<Tasks>) -> io::Result<Beside> {
        let may_act = MayAct::new();
        let ((sender, receiver), (ends, ended)) = (channel(), oneshot::channel());
        let name = "spinpark-tokio".to_owned();
        let thread = thread::Builder::new().name(name).spawn(move || serve(tasks, &sender, ended))?;
        let handle = receiver.recv().map_err(io::Error::other)??;
        Ok(Beside { handle, ends: Some(ends), thread: Some(thread), _may_act: may_act })
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.ends = None;
        let thread = self.thread.take().filter(|thread| thread.thread().id() != thread::current().id());
        // A task of tokio's that shuts our runtime down cannot wait for itself. A panic was reported when it happened.
        let _ = thread.map(JoinHandle::join);
    }
}

/// What the thread does. It makes the runtime itself: one that is dropped on another thread, perhaps tokio's, panics.
fn serve(tasks: Option<Tasks>, reports: &Sender<io::Result<Handle>>, ended: oneshot::Receiver<()>) {
    let ours = tasks.map(|tasks| handle::Handle { tasks });
    let _inside = ours.as_ref().map(handle::Handle::enter);
    let built = Builder::new_current_thread().enable_io().enable_time().build();
    // The requester waits for this.
    match built {
        Ok(runtime) => {
            let _ = reports.send(Ok(runtime.handle().clone()));
            let _ = runtime.block_on(ended);
            // What blocks is not waited for.
            runtime.shutdown_background();
        }
        Err(error) => drop(reports.send(Err(error))),
    }
}
