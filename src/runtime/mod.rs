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
//! | `worker`    | an M's life; `go`, `checkpoint`, waiting for another task         |
//! | `block`     | `syscall`, `blocking`: the P is another's meanwhile               |
//! | `world`     | `stop_the_world`, `set_procs`, `for_each_p`                       |
//! | `thread_lock` | `lock_thread`                                                   |
//! | `join`      | waiting for an outcome                                            |
//! | `board`     | who waits for whom: what a deadlock is told with                  |
//! | `builder`   | the numbers                                                       |
//!
//! **What a task may do.** In this version it is a closure that runs to its end on one thread, and nothing interrupts it.
//! While it blocks it keeps its P, and with n Ps no more than n tasks can do so at once; unless it blocks inside of
//! [`syscall`] or [`blocking`], or in [`join`](JoinHandle::join): then others run. One that computes for long makes way
//! by [`checkpoint`]. A panic ends only the task, and is carried to its handle; if that was dropped, the panic hook's
//! message is all there is. (With `panic = "abort"` the process ends.)

mod block;
mod board;
mod builder;
mod cores;
mod join;
mod packet;
mod task;
mod thread_lock;
mod worker;
mod world;

pub use block::{NoThread, blocking, syscall, try_blocking};
pub use board::{Deadlock, Wait};
pub use builder::{BuildError, Builder};
pub use cores::{Bed, Cores};
pub use join::{JoinError, JoinHandle, Panic};
pub use thread_lock::{ThreadLock, lock_thread};
pub use worker::{NotInRuntime, checkpoint, go, try_go};
pub use world::{SetProcsError, StopError, stop_the_world};

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
    #[track_caller]
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

    /// Runs `f` while no task runs. Waits until each task that runs now has ended, waits for something, is in a
    /// [`syscall`], or comes to a [`checkpoint`]; tasks in a [`syscall`] stay in it, and do not come out of it before
    /// `f` has returned. From any thread, also from inside a task, and from one of another runtime. If several threads
    /// want it, they come one after the other, in the order in which they asked. Go: `stopTheWorld`.
    ///
    /// If `f` panics the world goes on, and so does the panic.
    ///
    /// # Errors
    /// [`StopError::Nested`] if it is called from inside `f`.
    pub fn stop_the_world<R>(&self, f: impl FnOnce() -> R) -> Result<R, StopError> {
        self.handle.stop_the_world(f)
    }

    /// From now on, `n` tasks run at once. Returns how many it were. Stops the world for a moment. Go: `GOMAXPROCS`.
    ///
    /// # Errors
    /// [`SetProcsError`] if it is none, or more than the runtime has room for
    /// ([`max_procs`](Builder::max_procs)), or if the caller has stopped the world.
    pub fn set_procs(&self, n: usize) -> Result<usize, SetProcsError> {
        self.handle.set_procs(n)
    }

    /// Runs `f` once for each P, with its number, at a moment at which the thread it runs on owns that P, without
    /// stopping the world: each P as soon as its task has ended or makes way. Returns when `f` has run for all. Go:
    /// `forEachP`.
    ///
    /// A panic of `f` is reported and dropped. `f` must not wait.
    ///
    /// # Errors
    /// [`StopError::Nested`] if the caller has stopped the world.
    pub fn for_each_p(&self, f: impl Fn(usize) + Send + Sync + 'static) -> Result<(), StopError> {
        self.handle.for_each_p(f)
    }

    /// How many tasks may run at once, now.
    #[must_use]
    pub fn procs(&self) -> usize {
        self.handle.tasks.procs()
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

    /// Is the caller one of its tasks, or has stopped its world, so that it would wait for itself?
    fn is_own_task(&self) -> bool {
        let id = self.handle.tasks.id();
        worker::current() == Some(id) || worker::stopped() == id
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
    #[track_caller]
    pub fn go<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let home = self.tasks.id();
        let (task, packet) = Task::new(f);
        let elsewhere = if worker::current() == Some(home) { worker::ready(task).err() } else { Some(task) };
        if let Some(task) = elsewhere {
            // Given back if closed: it is abandoned, which its handle says.
            drop(self.tasks.submit(task));
        }
        JoinHandle::new(packet, home)
    }

    /// Runs `f` while no task runs. Waits until each task that runs now has ended, waits for something, is in a
    /// [`syscall`], or comes to a [`checkpoint`]; tasks in a [`syscall`] stay in it, and do not come out of it before
    /// `f` has returned. From any thread, also from inside a task, and from one of another runtime. If several threads
    /// want it, they come one after the other, in the order in which they asked. Go: `stopTheWorld`.
    ///
    /// If `f` panics the world goes on, and so does the panic.
    ///
    /// # Errors
    /// [`StopError::Nested`] if it is called from inside `f`.
    pub fn stop_the_world<R>(&self, f: impl FnOnce() -> R) -> Result<R, StopError> {
        world::stop(&self.tasks, f)
    }

    /// From now on, `n` tasks run at once. Returns how many it were. Stops the world for a moment. Go: `GOMAXPROCS`.
    ///
    /// # Errors
    /// [`SetProcsError`] if it is none, or more than the runtime has room for
    /// ([`max_procs`](Builder::max_procs)), or if the caller has stopped the world.
    pub fn set_procs(&self, n: usize) -> Result<usize, SetProcsError> {
        world::set_procs(&self.tasks, n)
    }

    /// Runs `f` once for each P, with its number, at a moment at which the thread it runs on owns that P, without
    /// stopping the world: each P as soon as its task has ended or makes way. Returns when `f` has run for all. Go:
    /// `forEachP`.
    ///
    /// A panic of `f` is reported and dropped. `f` must not wait.
    ///
    /// # Errors
    /// [`StopError::Nested`] if the caller has stopped the world.
    pub fn for_each_p(&self, f: impl Fn(usize) + Send + Sync + 'static) -> Result<(), StopError> {
        world::for_each_p(&self.tasks, f)
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
