//! # spinpark
//!
//! The G-M-P scheduler of Go, in Rust, with its protocols isolated behind traits, so that model checkers explore the
//! very source that runs on real cores.
//!
//! ```text
//!   go(f) ──► G ──► global queue ──┬──────────────────────────────────────────┐
//!                                  │ one in 61, or nothing else               │
//!                                  ▼                                          ▼
//!   M0 ── holds ── P0: runnext ▣  ring ▣ ▣ ▣ ▢      M1 ── holds ── P1: runnext ▢  ring ▢ ▢ ▢ ▢
//!                                      └────────── half of it, stolen ─────────────────►
//!   M2 ── sleeps                                    P2: idle
//!                       which thread wakes M2 when one more G comes?
//! ```
//!
//! * **G**: a task; to the kernel one number, moved and never copied.
//! * **M**: a thread that runs Gs.
//! * **P**: the right to run them, with a queue. There are as many as Gs may run at once.
//!
//! # Three doors
//!
//! | you want | take | begin with |
//! |----------|------|------------|
//! | to run tasks | the runtime: `Runtime`, `spawn`, `go` | [the tour]; if you know Go: [coming from Go] |
//! | a scheduler under a runtime of your own | the kernel: the crate [`spinpark_kernel`], here by the name of [`kernel`] | [embedding] |
//! | to check a lock or a queue of your own | the checker: the crate `rc11` | [its page] |
//!
//! Not sure? [Which one do I need?]
//!
//! [the tour]: https://github.com/spinpark/spinpark/blob/main/docs/guide/tour.md
//! [coming from Go]: https://github.com/spinpark/spinpark/blob/main/docs/guide/coming-from-go.md
//! [embedding]: https://github.com/spinpark/spinpark/blob/main/docs/guide/embedding.md
//! [its page]: https://github.com/spinpark/spinpark/blob/main/verification/rc11/README.md
//! [Which one do I need?]: https://github.com/spinpark/spinpark/blob/main/docs/guide/which-one.md
//!
//! # An example
//!
//! ```
//! let runtime = spinpark::Runtime::builder().procs(4).build().expect("numbers that are allowed, and a thread");
//! let sum = runtime.go(|| (1..=10).sum::<u32>());
//! assert_eq!(sum.join().expect("it did not panic"), 55);
//! ```
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
//! * `tokio-context`: the same, and `tokio_compat::Compat`: futures that need tokio's runtime, on tasks of spinpark's.
//! * `tracing`: a span for each task, and events for what the scheduler does, for subscribers of the crate `tracing`. See
//!   docs/guide/seeing.md.
//!
//! Rust 1.88 or later, and a target with 64-bit atomics.

#![deny(unsafe_code)]

extern crate alloc;

pub mod runtime;

// The kernel's folders, by the names that the runtime uses.
#[doc(no_inline)]
pub use spinpark_kernel as kernel;
pub(crate) use spinpark_kernel::{host, waits};

#[cfg(feature = "hyper")]
pub use runtime::hyper;
#[cfg(all(unix, feature = "process"))]
pub use runtime::process;
#[cfg(all(unix, feature = "signal"))]
pub use runtime::signal;
#[cfg(feature = "futures")]
pub use runtime::stream;
#[cfg(feature = "tokio-compat")]
pub use runtime::tokio_compat;
pub use runtime::trace;
pub use runtime::{
    AbortHandle, AbortOnDropHandle, AccessError, BlockedTask, Blocking, BuildError, Builder, Deadlock, Dump,
    EnterGuard, ErrGroup, Handle, Histogram, JoinError, JoinHandle, JoinMap, JoinSet, LocalKey, LocalSet, Metrics,
    NoThread, NotInRuntime, PMetrics, Panic, Poller, Runtime, Scope, ScopedJoinHandle, SetProcsError, ShutdownError,
    StopError, TaskBuilder, TaskId, TaskLocalFuture, TaskTracker, TaskTrackerToken, TaskTrackerWait, ThreadLock,
    TrackedFuture, Unstarted, Wait, WaitingTask, YieldNow, blocking, checkpoint, go, lock_thread, run, scope, spawn,
    stop_the_world, syscall, time, try_blocking, try_go, try_spawn, yield_now,
};
pub use runtime::{chan, deterministic, fs, net, sync};
/// ```
/// #[spinpark::main]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let answer = spinpark::spawn(async { 42 }).await?;
///     assert_eq!(answer, 42);
///     Ok(())
/// }
/// ```
#[cfg(feature = "macros")]
pub use spinpark_macros::main;
/// ```
/// #[spinpark::test(procs = 1)]
/// async fn a_task_has_a_value() {
///     assert_eq!(spinpark::spawn(async { 1 }).await.unwrap(), 1);
/// }
/// ```
#[cfg(feature = "macros")]
pub use spinpark_macros::test;

/// Any file descriptor ([`AsyncFd`](io::AsyncFd)), pipes, and the standard streams. Sockets are in [`net`], files in [`fs`].
pub mod io {
    #[cfg(unix)]
    pub use crate::runtime::{
        AsyncFd, AsyncFdReadyGuard, Interest, PipeReader, PipeWriter, Ready, SpliceFrom, SpliceTo, TryIoError, pipe,
        splice,
    };
    pub use crate::runtime::{Stderr, Stdin, Stdout, stderr, stdin, stdout};
}

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
