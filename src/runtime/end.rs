//! The end of a runtime: it is waited for, or not, or for so long.

use crate::runtime::exec::context::Context;
use crate::runtime::exec::task::Task;
use crate::runtime::exec::tasks::Tasks;
use crate::runtime::host::threads::Threads;
use crate::runtime::runtime::Runtime;
use core::fmt;
use core::time::Duration;

impl Runtime {
    /// Waits for the tasks that run now, ends all threads, joins them, and gives back the tasks that were never started. Not from
    /// inside one of them. A task that never comes back is waited for without end: then take
    /// [`shutdown_timeout`](Runtime::shutdown_timeout).
    ///
    /// # Errors
    /// [`ShutdownError`], with the runtime, if the caller is one of its own tasks, which cannot wait for itself, or is on one of its threads.
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(1).build()?;
    /// let task = runtime.spawn(std::future::pending::<()>());
    /// let never_started = runtime.shutdown()?;
    /// drop(never_started);
    /// assert!(task.join().unwrap_err().is_cancelled());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shutdown(mut self) -> Result<Vec<Unstarted>, ShutdownError> {
        if self.is_own_task() {
            return Err(ShutdownError(self));
        }
        self.is_open = false;
        Ok(self.handle.tasks.close().into_iter().map(Unstarted).collect())
    }

    /// As [`shutdown`](Runtime::shutdown), but waits for `timeout` at the most, for tasks that do not come back: that block, or
    /// compute for ever. tokio: `Runtime::shutdown_timeout`.
    ///
    /// If the runtime is closed by then, all is as after dropping it: no thread of it is left. Else the caller goes on, and a thread
    /// of its own closes the runtime as soon as the tasks that run have come back. Until that
    ///
    /// * tasks that run go on, each until it next waits, yields or ends; a call in [`blocking`](crate::blocking) is not interrupted;
    /// * no other task runs, nor is one started: what is [spawned](crate::Handle::spawn) is dropped, and its handle says
    ///   [`ShutDown`](crate::JoinError::ShutDown);
    /// * tasks that wait, or were never started, are there, and what they own. They are dropped when the last that runs has come
    ///   back: if it never does, not before the process ends.
    ///
    /// With [`Duration::ZERO`] it does not wait; with [`Duration::MAX`] for as long as it takes. From any thread. Called by one of the
    /// runtime's own tasks, or elsewhere on one of its threads, in a waker or a thread local's destructor, it cannot wait, and is
    /// [`shutdown_background`](Runtime::shutdown_background); called by a task of another
    /// runtime, others run there meanwhile. A deterministic runtime has one thread, and no other could close it: it is shut down
    /// without a limit. If the system gives no thread, the runtime goes on until the process ends.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    ///
    /// let runtime = spinpark::Runtime::builder().procs(2).build()?;
    /// let (begins, begun) = std::sync::mpsc::channel();
    /// drop(runtime.go(move || {
    ///     begins.send(()).expect("we wait");
    ///     spinpark::blocking(|| std::thread::sleep(Duration::from_secs(3)));
    /// }));
    /// begun.recv()?;
    /// let from = Instant::now();
    /// runtime.shutdown_timeout(Duration::from_millis(10));
    /// assert!(from.elapsed() < Duration::from_secs(2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "graceful shutdown")]
    pub fn shutdown_timeout(mut self, timeout: Duration) {
        self.is_open = false;
        let tasks = self.handle.tasks.clone();
        match &tasks {
            // The thread that closes it would wait for this one.
            _ if self.is_own_task() || self.threads().has_this_one() => tasks.close_elsewhere(),
            Tasks::Cores(_) => tasks.close_within(timeout),
            Tasks::Sim(_) => drop(tasks.close()),
        }
    }

    /// As [`shutdown`](Runtime::shutdown), but waits for nothing: a thread of its own closes the runtime. What goes on meanwhile says
    /// [`shutdown_timeout`](Runtime::shutdown_timeout). From any thread, and any task, also one of the runtime's own. tokio:
    /// `Runtime::shutdown_background`.
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(2).build()?;
    /// let handle = runtime.handle();
    /// let task = handle.spawn(async move {
    ///     runtime.shutdown_background(); // not `shutdown`: the task would wait for itself
    ///     6 * 7
    /// });
    /// assert_eq!(task.join()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shutdown_background(self) {
        self.shutdown_timeout(Duration::ZERO);
    }

    /// Is the caller one of its tasks, or runs a closure for it, or has stopped its world, so that it would wait for itself? Or is it on one of
    /// its threads: in a waker, or in the `block_on` of another runtime?
    fn is_own_task(&self) -> bool {
        Context::is_part_of(self.handle.tasks.runtime_id()) || self.threads().runs_this_one()
    }

    fn threads(&self) -> &Threads {
        self.handle.tasks.shared().thread_config.threads()
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if !self.is_open {
            return;
        }
        let tasks = self.handle.tasks.clone();
        if self.is_own_task() {
            tasks.close_elsewhere();
        } else {
            drop(tasks.close());
        }
    }
}

/// A task that its runtime was shut down before. Dropped, it is never run, and its handle says so.
#[must_use = "a task that is dropped never runs"]
pub struct Unstarted(Task);

impl Unstarted {
    /// Runs it on this thread, after all. Its handle gets the value, or the panic. The task is then outside of a
    /// runtime: [`go`](crate::go) panics in it; and it is run once: if it has to wait, or yields, it is
    /// dropped, and its handle says [`ShutDown`](crate::JoinError::ShutDown).
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(1).build()?;
    /// let task = runtime.go(|| 1);
    /// for unstarted in runtime.shutdown()? {
    ///     unstarted.run(); // none, if the task was faster
    /// }
    /// assert_eq!(task.join()?, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run(self) {
        self.0.run_last();
    }
}

impl fmt::Debug for Unstarted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unstarted").finish_non_exhaustive()
    }
}

/// [`Runtime::shutdown`] was called by one of the runtime's own tasks. The runtime comes back.
#[derive(Debug)]
pub struct ShutdownError(pub Runtime);

impl fmt::Display for ShutdownError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a task cannot shut down its own runtime, it would wait for itself: \
             do it from another thread, or drop the runtime",
        )
    }
}

impl core::error::Error for ShutdownError {}
