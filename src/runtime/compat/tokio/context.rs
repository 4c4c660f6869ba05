//! A context in which a future finds tokio's runtime, though a worker of spinpark polls it.
//!
//! ```text
//!   a worker:  enter ── poll ── leave                      the thread `spinpark-tokio`: its poller, its timers,
//!                         └ a socket of tokio's, a timer      and what was given to `tokio::spawn`
//!                              is registered there ────►  wakes the task, by its waker
//! ```
//!
//! **The context is entered for one poll, and for the drop**: a worker that leaves the poll has none. So it is never held across an
//! `await`, nor by the next task.

use crate::runtime::host::sim;
use ::tokio::runtime::{Builder, Handle};
use core::future::{Future, pending};
use core::pin::Pin;
use core::task::{Context, Poll};
use pin_project_lite::pin_project;
use std::io;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

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
    /// * **One thread more**, for the whole process: it runs a `current_thread` runtime of tokio's, with its poller and its timers.
    ///   The first [`Compat`] starts it, and it stays. It is nobody's worker.
    /// * **What is spawned inside** by `tokio::spawn` runs on that thread, not on spinpark's workers, and one after the other;
    ///   `spawn_blocking` has tokio's threads. [`spinpark::spawn`](crate::spawn) is spinpark's, as everywhere: its task has the
    ///   context only if it is wrapped, too.
    /// * **When spinpark's runtime is shut down** the future is dropped with its task, in the context. What it gave to
    ///   `tokio::spawn` goes on. tokio's runtime ends with the process, unless it is a
    ///   [runtime of yours](Compat::with_handle).
    /// * **Deadlocks** are not detected any more once that thread is there: for all that is known it will wake somebody.
    /// * **`block_in_place`** panics, as in any `current_thread` runtime; `spinpark::blocking` is what to take.
    /// * **Stackful goroutines**: the context belongs to the thread. A poll that waits in its middle by
    ///   [`wait`](crate::Wait::wait) holds it across a wait, which
    ///   [`stackful_goroutines`](crate::Builder::stackful_goroutines) forbids. To `await` is well.
    #[derive(Debug)]
    #[must_use = "a future does nothing until it is awaited"]
    pub struct Compat<F> {
        handle: Handle,
        #[pin]
        future: Option<F>,
    }

    impl<F> PinnedDrop for Compat<F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            // On a simulated machine it was never polled.
            let _entered = (!sim::is_here()).then(|| this.handle.enter());
            this.future.set(None);
        }
    }
}

impl<F: Future> Compat<F> {
    /// In the context of the process's own tokio runtime, which is started if this is the first.
    ///
    /// # Panics
    /// If it cannot be started: the system gives no thread, or no file descriptor. [`try_new`](Compat::try_new) says so.
    #[track_caller]
    pub fn new(future: F) -> Self {
        match Compat::try_new(future) {
            Ok(compat) => compat,
            Err(error) => panic!("tokio's runtime cannot be started: {error}"),
        }
    }

    /// As [`new`](Compat::new).
    ///
    /// # Errors
    /// The system's, if it gives no thread, or no file descriptor. The next caller tries again.
    pub fn try_new(future: F) -> io::Result<Self> {
        Ok(Compat::with_handle(own()?, future))
    }

    /// In the context of a tokio runtime of yours. It must be run by somebody: a `current_thread` runtime, by its `block_on`.
    ///
    /// When it is shut down, its sockets give errors, and its timers panic when they are polled: that panic is the task's.
    pub fn with_handle(handle: Handle, future: F) -> Self {
        Compat { handle, future: Some(future) }
    }
}

impl<F: Future> Future for Compat<F> {
    type Output = F::Output;

    /// # Panics
    /// In a deterministic runtime: neither tokio's thread nor its clock are simulated.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        assert!(!sim::is_here(), "tokio's runtime has no part in a deterministic one");
        let this = self.project();
        let _entered = this.handle.enter();
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

/// The process's own tokio runtime, once it runs.
static OWN: Mutex<Option<Handle>> = Mutex::new(None);

/// The process's own tokio runtime; started, if it does not run yet.
fn own() -> io::Result<Handle> {
    let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(handle) = &*own {
        return Ok(handle.clone());
    }
    let (sender, receiver) = channel();
    thread::Builder::new().name("spinpark-tokio".to_owned()).spawn(move || serve(&sender))?;
    let handle = receiver.recv().map_err(io::Error::other)??;
    Ok(own.insert(handle).clone())
}

/// What the thread does. It makes the runtime itself: one that is dropped on a thread of somebody else's, perhaps tokio's, panics.
fn serve(reports: &Sender<io::Result<Handle>>) {
    let built = Builder::new_current_thread().enable_io().enable_time().build();
    // Whoever asked waits for this.
    match built {
        Ok(runtime) => {
            let _ = reports.send(Ok(runtime.handle().clone()));
            runtime.block_on(pending())
        }
        Err(error) => drop(reports.send(Err(error))),
    }
}
