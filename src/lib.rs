//! A work-stealing runtime for Rust: futures and closures as tasks, timers, sockets, channels, `select!`, and calls that may block. It
//! schedules as Go does, and its concurrency protocols are model-checked in the very source that runs.
//!
//! # The first ten minutes
//!
//! **Run something.** [`run`] builds a runtime, runs a future, and returns its value; with the feature `macros` so does
//! [`#[spinpark::main]`](attr.main.html). A [`Runtime`] that is kept has [`block_on`](Runtime::block_on), and a [`Builder`] for its numbers.
//!
//! ```
//! let runtime = spinpark::Runtime::builder().procs(4).build()?; // four tasks run at once
//! let answer = runtime.block_on(async { 6 * 7 })?; // a deadlock is an error, not silence
//! assert_eq!(answer, 42);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Spawn.** [`spawn`] makes a task of a future, [`go`] one of a closure, [`JoinSet`] keeps many. See [`task`].
//!
//! ```
//! # spinpark::run(async {
//! let future = spinpark::spawn(async { 40 });
//! let closure = spinpark::go(|| 2);
//! assert_eq!(future.await? + closure.await?, 42);
//! # Ok::<(), spinpark::JoinError>(()) }).unwrap();
//! ```
//!
//! **Channels and locks.** [`chan`] is tokio's `mpsc`, with receivers that can be cloned; [`sync`] has `Mutex`, `Semaphore`, `oneshot`,
//! `watch`, `broadcast`. **Select** waits for several things, and takes one: [`select!`].
//!
//! ```
//! use spinpark::{chan, select, spawn};
//! use std::time::Duration;
//!
//! # spinpark::run(async {
//! let (sender, receiver) = chan::bounded(8);
//! spawn(async move { sender.send("hello").await });
//! select! {
//!     word = receiver.recv() => assert_eq!(word, Ok("hello")),
//!     timeout(Duration::from_secs(5)) => panic!("no word in time"),
//! }
//! # });
//! ```
//!
//! **Time and sockets.** [`time`] has `sleep`, `timeout`, `interval`; [`net`] TCP, UDP and Unix sockets; [`fs`], [`io`], [`process`](process/index.html)
//! and [`signal`](signal/index.html) files, pipes, child processes and Ctrl-C.
//!
//! ```
//! use spinpark::{net, spawn, time};
//! use std::time::Duration;
//!
//! # spinpark::run(async {
//! let listener = net::TcpListener::bind("127.0.0.1:0").await?;
//! let address = listener.local_addr()?;
//! spawn(async move {
//!     let (stream, _peer) = listener.accept().await?;
//!     stream.write_all(b"hello").await
//! });
//! let stream = net::TcpStream::connect(address).await?;
//! let mut word = [0; 5];
//! time::timeout(Duration::from_secs(5), stream.read_exact(&mut word)).await??;
//! assert_eq!(&word, b"hello");
//! # Ok::<(), std::io::Error>(()) }).unwrap();
//! ```
//!
//! **What blocks** is called inside of [`blocking`], where it stands: other tasks run meanwhile, and nothing has to be `'static`.
//!
//! ```
//! # spinpark::run(async {
//! let name = String::from(".");
//! let is_there = spinpark::blocking(|| std::fs::exists(&name));
//! assert!(is_there.unwrap());
//! # });
//! ```
//!
//! **Shut down.** A [`CancellationToken`](sync::CancellationToken) tells tasks to end, a [`TaskTracker`] waits until they
//! have, [`Runtime::shutdown_timeout`] waits no longer than you say: see [graceful shutdown](task#graceful-shutdown).
//!
//! # What is where
//!
//! | module | what is in it |
//! |--------|---------------|
//! | [`task`] | spawning, joining, groups of tasks, blocking calls, task-locals, graceful shutdown |
//! | [`time`] | `sleep`, `timeout`, `interval` |
//! | [`net`] | TCP, UDP and Unix sockets; names looked up |
//! | [`io`] | pipes, the standard streams, any file descriptor |
//! | [`fs`] | files |
//! | [`sync`] | locks, semaphores, `oneshot`, `watch`, `broadcast`, `Notify`, cancellation |
//! | [`chan`] | channels |
//! | [`context`] | a deadline, a cancellation and values for one piece of work, as Go's |
//! | [`process`](process/index.html), [`signal`](signal/index.html), by features | child processes; Ctrl-C and other signals |
//! | [`runtime`] | `Runtime`, `Builder`, `Handle`; metrics, deadlock reports, stopping the world |
//! | [`deterministic`], [`trace`] | a runtime that does the same again, for tests; what a runtime did, event by event |
//!
//! You come from tokio: [idioms side by side][tokio]. From Go: [Go's way][Go], and [Go's names][names]. From neither: [the tour].
//! Of the three crates of this project you may want another one: [which one do I need?]
//! The scheduler alone, `no_std`, for a runtime of your own, is the crate [`spinpark_kernel`], here by the name of [`kernel`].
//!
//! [tokio]: https://github.com/spinpark/spinpark/blob/main/docs/guide/from-tokio.md
//! [Go]: https://github.com/spinpark/spinpark/blob/main/docs/guide/from-go.md
//! [names]: https://github.com/spinpark/spinpark/blob/main/docs/guide/coming-from-go.md
//! [the tour]: https://github.com/spinpark/spinpark/blob/main/docs/guide/tour.md
//! [which one do I need?]: https://github.com/spinpark/spinpark/blob/main/docs/guide/which-one.md
//!
//! # Errors and cancellation
//!
//! A future that is dropped is a wait that was given up. Each `async` function says under *Cancel safety* what it has done by then.
//! What needs a runtime and finds none returns an error with [`NotInRuntime`] in it, or panics if it
//! cannot; the text names what was called. A panic ends its task alone, and is the [`JoinError`] of its handle.
//!
//! # Unsafe code
//!
//! In a few files of the runtime, which docs/reference/unsafe.md lists with what each rests on: where a task becomes a G's
//! number and a number its task, stacks, signal handlers, and one call each for sockets, simulated threads and owned guards. Elsewhere it
//! is denied, in the kernel, a crate of its own, forbidden. One public function is unsafe: `Builder::stackful_goroutines`, whose contract stands there.
//!
//! # Features
//!
//! * `console`: a page that shows a runtime while it runs, by `Builder::console`. See docs/guide/seeing.md.
//! * `futures`: channels as `Stream` and `Sink`, `time::Interval` and `net::Incoming` as `Stream`, those of futures 0.3.
//! * `hyper`: what hyper 1 wants of a runtime, in the module of that name.
//! * `macros`: `#[spinpark::main]` and `#[spinpark::test]`.
//! * `process`: child processes, with pipes, in the module of that name (on Unix).
//! * `signal`: Ctrl-C, and the other signals that a process is sent, in the module of that name (on Unix).
//! * `io-uring`: on Linux a second poller, for sockets and files, by `Builder::poller`.
//! * `tokio-compat`: streams by tokio's traits, and back, in the module `tokio_compat`.
//! * `tokio-context`: the same, and `Builder::tokio_context`: tokio's timers, sockets and `spawn` in every task of spinpark's; or in
//!   one future, by `tokio_compat::Compat`.
//! * `tracing`: a span for each task, and events for what the scheduler does, for subscribers of the crate `tracing`. See
//!   docs/guide/seeing.md.
//!
//! Rust 1.88 or later, and a target with 64-bit atomics.

#![deny(unsafe_code)]
#![cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux preempts by signal"))]

extern crate alloc;

pub mod io;
pub mod runtime;
#[doc(alias = "graceful shutdown")]
pub mod task;

// The kernel's folders, by the names that the runtime uses.
#[doc(no_inline)]
pub use spinpark_kernel as kernel;
pub(crate) use spinpark_kernel::{host, waits};

#[cfg(feature = "hyper")]
#[doc(inline)]
pub use runtime::hyper;
#[cfg(all(unix, feature = "process"))]
#[doc(inline)]
pub use runtime::process;
#[cfg(all(unix, feature = "signal"))]
#[doc(inline)]
pub use runtime::signal;
#[cfg(feature = "futures")]
#[doc(inline)]
pub use runtime::stream;
#[cfg(feature = "tokio-compat")]
#[doc(inline)]
pub use runtime::tokio_compat;
#[doc(inline)]
pub use runtime::{
    Builder, Handle, JoinError, JoinHandle, Runtime, blocking, go, run, scope, spawn, syscall, yield_now,
};
#[doc(inline)]
pub use runtime::{chan, context, deterministic, fs, net, sync, time, trace};
// Their pages are in `task` and `runtime`.
#[doc(hidden)]
pub use runtime::{
    AbortHandle, AbortOnDropHandle, AccessError, BlockedTask, Blocking, BuildError, Deadlock, Dump, EnterGuard,
    ErrGroup, Histogram, JoinMap, JoinSet, LocalKey, LocalSet, Metrics, NoThread, NotInRuntime, PMetrics, Panic,
    Poller, Scope, ScopedJoinHandle, SetProcsError, ShutdownError, StopError, TaskBuilder, TaskId, TaskLocalFuture,
    TaskTracker, TaskTrackerToken, TaskTrackerWait, ThreadLock, TrackedFuture, Unstarted, Wait, WaitingTask, YieldNow,
    checkpoint, lock_thread, stop_the_world, try_blocking, try_go, try_spawn,
};
/// Runs an `async fn main` on a [`Runtime`]. With the feature `macros`.
///
/// ```
/// #[spinpark::main]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let answer = spinpark::spawn(async { 42 }).await?;
///     assert_eq!(answer, 42);
///     Ok(())
/// }
/// ```
///
/// With stacks for goroutines, as in Go. The promise is [`Builder::stackful_goroutines`]'s:
///
/// ```
/// // SAFETY: no goroutine of this program holds across a wait what belongs to its thread.
/// #[spinpark::main(unsafe(stackful))]
/// async fn main() {
///     let two = spinpark::go(|| 2).await;
///     assert_eq!(two.expect("no panic"), 2);
/// }
/// ```
///
/// With what tokio's libraries need, by the feature `tokio-context` ([`Builder::tokio_context`](runtime::Builder)):
///
/// ```
/// #[spinpark::main(tokio)]
/// async fn main() {
///     tokio::time::sleep(std::time::Duration::from_millis(1)).await;
/// }
/// ```
///
/// A crate that forbids unsafe code cannot have stacks for goroutines:
///
/// ```compile_fail
/// #![forbid(unsafe_code)]
/// #[spinpark::main(unsafe(stackful))]
/// async fn main() {}
/// ```
#[cfg(feature = "macros")]
pub use spinpark_macros::main;
/// Runs an `async` test on a [`Runtime`]. With the feature `macros`.
///
/// ```
/// #[spinpark::test(procs = 1)]
/// async fn a_task_has_a_value() {
///     assert_eq!(spinpark::spawn(async { 1 }).await.unwrap(), 1);
/// }
/// ```
#[cfg(feature = "macros")]
pub use spinpark_macros::test;

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeIsTested;

/// What a scope lends is lent as the compiler lends: what would be gone is refused.
///
/// ```compile_fail,E0373
/// spinpark::scope(|scope| {
///     let inside = 1;
///     scope.go(|| inside + 1); // gone when the closure returns, before the tasks have ended
/// });
/// ```
/// ```compile_fail,E0597
/// spinpark::scope(|scope| {
///     let inside = 1;
///     let lent = &inside;
///     scope.spawn(async move { lent + 1 });
/// });
/// ```
/// ```compile_fail,E0499
/// let mut outside = 1;
/// spinpark::scope(|scope| {
///     scope.go(|| outside += 1);
///     scope.go(|| outside += 1); // both at once
/// });
/// ```
/// ```compile_fail,E0506
/// let mut outside = 1;
/// spinpark::scope(|scope| {
///     let task = scope.go(|| outside + 1);
///     outside = 2; // while the task reads it
///     task.join()
/// });
/// ```
/// ```compile_fail
/// let escaped = spinpark::scope(|scope| scope.go(|| 1)); // a handle
/// ```
/// ```compile_fail,E0521
/// spinpark::scope(|scope| {
///     std::thread::spawn(move || scope.go(|| 1)); // the scope itself
/// });
/// ```
/// ```compile_fail,E0277
/// let shared = std::rc::Rc::new(1);
/// spinpark::scope(|scope| drop(scope.go(|| *shared))); // not `Sync`
/// ```
#[cfg(doctest)]
struct ScopesLendAsTheCompilerDoes;
