//! The runtime on real cores: closures as Gs.
//!
//! ```
//! use spinpark::{Runtime, go};
//!
//! let runtime = Runtime::new()?;
//! let sum = runtime.go(|| {
//!     go(|| println!("a task from inside a task")); // its handle is dropped: nobody waits for it
//!     (1..=10).sum::<u32>()
//! });
//! assert_eq!(sum.join()?, 55);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | file        | what it is                                                        |
//! |-------------|-------------------------------------------------------------------|
//! | `cores`     | the host: atomics, futex, threads                                 |
//! | `task`      | a closure as a G's number and back; the crate's only unsafe code  |
//! | `packet`    | what a task and its handle share                                  |
//! | `worker`    | an M's life, and `go`                                             |
//! | `join`      | waiting for an outcome                                            |
//! | `builder`   | the numbers                                                       |
//!
//! **What a task may do.** In this version it is a closure that runs to its end on one thread. While it blocks it keeps
//! its P, so with n Ps no more than n tasks may block at once. A panic ends only the task, and is carried to its
//! handle; if that was dropped, the panic hook's message is all there is. (With `panic = "abort"` the process ends.)

mod builder;
mod cores;
mod join;
mod packet;
mod task;
mod worker;

pub use builder::{BuildError, Builder};
pub use cores::{Bed, Cores};
pub use join::{JoinError, JoinHandle, Panic};
pub use worker::{NotInRuntime, go, try_go};

use crate::kernel::config::Config;
use crate::kernel::snapshot::Snapshot;
use core::fmt;
use std::thread;
use task::{Task, Tasks};

/// A scheduler with its threads.
///
/// Dropping it is [`shutdown`](Runtime::shutdown) and dropping what was never started. Dropped by one of its own tasks,
/// it cannot wait for that: a thread is started that does. (If there is none to be had, the runtime goes on until the
/// process ends.)
#[must_use = "a runtime that is dropped runs nothing"]
pub struct Runtime {
    handle: Handle,
    is_open: bool,
}

impl Runtime {
    /// A runtime with as many Ps as there are cores.
    ///
    /// # Errors
    /// If the system does not give a thread.
    pub fn new() -> Result<Runtime, BuildError> {
        Self::builder().build()
    }

    /// A runtime with other numbers.
    pub fn builder() -> Builder {
        Builder::new()
    }

    fn from_tasks(tasks: Tasks) -> Runtime {
        Runtime { handle: Handle { tasks }, is_open: true }
    }

    /// Runs `f` as a task. From any thread; inside one of this runtime's own tasks it is the same as [`go`].
    /// Go: `go f()`.
    pub fn go<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.handle.go(f)
    }

    /// A way to run tasks that can be cloned and given away.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Waits for the tasks that run now, ends all threads, and gives back the tasks that were never started. Not from
    /// inside one of them.
    ///
    /// # Errors
    /// [`ShutdownError`], with the runtime, if the caller is one of its own tasks, which cannot wait for itself.
    pub fn shutdown(mut self) -> Result<Vec<Unstarted>, ShutdownError> {
        if self.is_own_task() {
            return Err(ShutdownError(self));
        }
        self.is_open = false;
        Ok(self.handle.tasks.close().into_iter().map(Unstarted).collect())
    }

    /// What the scheduler looks like now.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.handle.tasks.snapshot()
    }

    /// The numbers it was made with.
    #[must_use]
    pub fn config(&self) -> &Config {
        self.handle.tasks.config()
    }

    fn is_own_task(&self) -> bool {
        worker::current() == Some(self.handle.tasks.id())
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if !self.is_open {
            return;
        }
        let tasks = self.handle.tasks.clone();
        if self.is_own_task() {
            let closer = thread::Builder::new().name("spinpark-closer".into());
            drop(closer.spawn(move || drop(tasks.close())));
        } else {
            drop(tasks.close());
        }
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("config", self.config()).finish_non_exhaustive()
    }
}

/// Runs tasks on a [`Runtime`] that somebody else owns. Does not keep it open.
#[derive(Clone)]
pub struct Handle {
    tasks: Tasks,
}

impl Handle {
    /// Runs `f` as a task. From any thread. Go: `go f()`.
    ///
    /// If the runtime was shut down, `f` is dropped and the handle's join is
    /// [`NeverStarted`](JoinError::NeverStarted).
    pub fn go<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let home = self.tasks.id();
        let (task, packet) = Task::new(f);
        if worker::current() == Some(home) {
            worker::ready(task);
        } else {
            // Given back if closed: it is abandoned, which its handle says.
            drop(self.tasks.submit(task));
        }
        JoinHandle::new(packet, home)
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}

/// A task that its runtime was shut down before. Dropped, it is never run, and its handle says so.
#[must_use = "a task that is dropped never runs"]
pub struct Unstarted(Task);

impl Unstarted {
    /// Runs it on this thread, after all. Its handle gets the value, or the panic. The task is then outside of a
    /// runtime: [`go`] panics in it.
    pub fn run(self) {
        self.0.run();
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
