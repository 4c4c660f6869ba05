//! A runtime: built, used and shut down; its numbers, and what it says about deadlocks.
//!
//! | you want | take |
//! |----------|------|
//! | a runtime | [`run`](run()) for a program of one future; [`Runtime`], built by a [`Builder`] or with a [`BuildError`] |
//! | to use it from elsewhere | [`Handle`]; [`EnterGuard`] makes a thread one of its own |
//! | to end it | drop it, or [`Runtime::shutdown_timeout`], with [`ShutdownError`] and [`Unstarted`] |
//! | to know why nothing goes on | [`Deadlock`], with [`BlockedTask`] and [`WaitingTask`]; [`Handle::dump`], a [`Dump`] |
//! | numbers | [`Metrics`], [`PMetrics`], [`Histogram`]; [`Event`] and [`Observer`], for each step; [`trace`] |
//! | to stop it for a moment | [`stop_the_world`], [`StopError`]; [`Handle::set_procs`], [`SetProcsError`] |
//! | the error outside of a runtime | [`NotInRuntime`] |
//! | the kernel's host on real cores | [`Cores`], [`FutexParker`]; which poller: [`Poller`] |
//!
//! Tasks have their page in [`task`](crate::task).
//!
//! ```
//! use spinpark::{Runtime, go, spawn, time};
//! use std::time::Duration;
//!
//! let runtime = Runtime::new()?;
//! let sum = runtime.block_on(async {
//!     let slow = spawn(async {
//!         time::sleep(Duration::from_millis(1)).await;
//!         40
//!     });
//!     let quick = go(|| 2); // a closure
//!     Ok::<_, spinpark::JoinError>(slow.await? + quick.await?)
//! })??;
//! assert_eq!(sum, 42);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **What a task may do.** A future, and a closure with a stack of its own, is run by one thread at a time, by any of them,
//! until it waits; a closure without one stays on its thread. While one computes, or blocks, it keeps its P for 10 ms, longer where it cannot be interrupted (see
//! [`Builder::preemption`]), and with n Ps no more than n can do
//! so at once; unless it blocks inside of [`syscall`] or [`blocking`], or in [`join`](JoinHandle::join): then others run.
//! One that computes for long yields by [`yield_now`] or [`checkpoint`]. A panic ends only the task, and is carried to
//! its handle; if that was dropped, the panic hook's message is all there is. (With `panic = "abort"` the process ends.)
//!
//! # How it is built
//!
//! ```text
//!   spawn(future) ──► Task: one allocation, whose address is the G ──► the kernel's queues
//!                        ▲                                                 │
//!      a waker: `ready`: the next under this P, or of a source,            ▼
//!      or into the global queue                                mloop: next ─ execute ─ …
//!                        ▲                                                 │ nothing to do
//!        timers ─────────┤                                                 ▼
//!        netpoll ────────┘◄────────────── poller: the last M waits here for sockets and timers
//! ```
//!
//! | folder | what is in it |
//! |--------|---------------|
//! | `host` | real cores: atomics, the futex parker, threads, signals; `sim`, a host that is simulated |
//! | `observe` | metrics, traces, spans, `schedtrace`, observers |
//! | `io`, `time` | sockets, files, pipes, signals, child processes, which tasks wait for which, where the last M waits; sleeping, and what becomes due |
//! | `sync` | channels, `select!`, locks |
//! | `shared`, `companion`, `events` | the state of one runtime, and what stands beside it until its end; what is done about what its scheduler reports |
//! | `exec` | an M's life, tasks, joining, `block_on`, goroutines, system calls, preemption; waiting in tokio's poller |
//! | `structured` | tasks that belong together: `JoinSet`, `scope`, cancellation, task-locals, `join!` |
//! | `env`, `builder`, `build`, `build_error` | the numbers, and a runtime made of them |
//! | `world`, `handle`, `runtime`, `end` | stopping the world; what a user has of a runtime; its end |
//! | `compat` | the traits that hyper wants, and tokio's; one future in tokio's context; streams and sinks |
//! | `console` | a page that shows a runtime, served by another one |
//!
//! **Imports** run one way, `host < observe < state of io, time, exec < shared < events < exec < world, handle, build,
//! runtime < end < compat < console`, and the futures of `io`, `time` and `sync` stand above `exec`, `structured` above these; tests/seam.rs checks that no files
//! import each other in a circle, but for the simulated host and its module.

mod build;
mod build_error;
mod builder;
#[cfg(feature = "tokio-context")]
mod companion;
#[cfg(any(feature = "futures", feature = "hyper", feature = "tokio-compat"))]
mod compat;
#[cfg(feature = "console")]
mod console;
#[doc(hidden)] // inlined at the top
pub mod deterministic;
mod end;
mod env;
mod events;
mod exec;
mod guarded;
mod handle;
mod host;
mod id;
mod io;
mod observe;
#[allow(clippy::module_inception)]
mod runtime;
mod shared;
#[doc(hidden)]
pub mod structured;
#[doc(hidden)] // inlined at the top
pub mod sync;
mod task_waker;
#[cfg(test)]
mod testing;
#[doc(hidden)] // inlined at the top
pub mod time;
mod world;

pub use build_error::BuildError;
pub use builder::Builder;
pub use end::{ShutdownError, Unstarted};
pub use exec::dump::Dump;
pub use exec::entered::EnterGuard;
pub use exec::not_in_runtime::NotInRuntime;
pub use exec::wait_graph::{BlockedTask, Deadlock, WaitingTask};
pub use handle::Handle;
pub use host::cores::Cores;
pub use host::futex::FutexParker;
pub use io::netpoll::choice::Poller;
pub use observe::event::{Event, Observer};
pub use observe::histogram::Histogram;
pub use observe::metrics::{Metrics, PMetrics};
pub use runtime::{Runtime, run};
pub use world::{SetProcsError, StopError, stop_the_world};

// By these paths, too. Their pages are in `task`, `io`, and at the top.
#[cfg(feature = "hyper")]
#[doc(hidden)]
pub use compat::hyper;
#[cfg(feature = "futures")]
#[doc(hidden)]
pub use compat::stream;
#[cfg(feature = "tokio-compat")]
#[doc(hidden)]
pub use compat::tokio as tokio_compat;
#[doc(hidden)]
pub use exec::abort::AbortHandle;
#[doc(hidden)]
pub use exec::blocking::{NoThread, blocking, syscall, try_blocking};
#[doc(hidden)]
pub use exec::checkpoint::checkpoint;
#[doc(hidden)]
pub use exec::goroutine::Wait;
#[doc(hidden)]
pub use exec::goroutine::wait_io::Blocking;
#[doc(hidden)]
pub use exec::join::{JoinError, JoinHandle};
#[doc(hidden)]
pub use exec::local_set::LocalSet;
#[doc(hidden)]
pub use exec::outcome::Panic;
#[doc(hidden)]
pub use exec::spawn::{go, spawn, try_go, try_spawn};
#[doc(hidden)]
pub use exec::thread_lock::{ThreadLock, lock_thread};
#[doc(hidden)]
pub use exec::yielding::{YieldNow, yield_now};
#[doc(hidden)]
pub use id::TaskId;
#[cfg(unix)]
#[doc(hidden)]
pub use io::async_fd::{AsyncFd, AsyncFdReadyGuard, Interest, Ready, TryIoError};
#[doc(hidden)]
pub use io::copy::{copy, copy_bidirectional};
#[doc(hidden)]
pub use io::duplex::{DuplexStream, duplex};
#[cfg(unix)]
#[doc(hidden)]
pub use io::pipe::{PipeReader, PipeWriter, pipe};
#[cfg(all(unix, feature = "process"))]
#[doc(hidden)]
pub use io::process;
#[cfg(all(unix, feature = "signal"))]
#[doc(hidden)]
pub use io::signal;
#[doc(hidden)]
pub use io::standard::{Stderr, Stdin, Stdout, stderr, stdin, stdout};
#[cfg(unix)]
#[doc(hidden)]
pub use io::zero_copy::{SpliceFrom, SpliceTo, splice};
#[doc(hidden)]
pub use io::{fs, net};
#[doc(hidden)]
pub use observe::trace;
#[doc(hidden)]
pub use structured::abort_on_drop::AbortOnDropHandle;
#[doc(hidden)]
pub use structured::context;
#[doc(hidden)]
pub use structured::err_group::ErrGroup;
#[doc(hidden)]
pub use structured::join_map::JoinMap;
#[doc(hidden)]
pub use structured::join_set::JoinSet;
#[doc(hidden)]
pub use structured::scope::{Scope, scope};
#[doc(hidden)]
pub use structured::scoped::ScopedJoinHandle;
#[doc(hidden)]
pub use structured::task_builder::TaskBuilder;
#[doc(hidden)]
pub use structured::task_local::{AccessError, LocalKey, TaskLocalFuture};
#[doc(hidden)]
pub use structured::tracker::{TaskTracker, TaskTrackerToken, TaskTrackerWait, TrackedFuture};
#[doc(hidden)]
pub use sync::{chan, select};
