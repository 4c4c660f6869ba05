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
//!                       who wakes M2 when one more G comes?
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
//! | a scheduler under a runtime of your own | the kernel: [`kernel`], [`host`]; without the feature `std` | [embedding] |
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
//! # #[cfg(feature = "std")] {
//! let runtime = spinpark::Runtime::builder().procs(4).build().expect("numbers that are allowed, and a thread");
//! let sum = runtime.go(|| (1..=10).sum::<u32>());
//! assert_eq!(sum.join().expect("it did not panic"), 55);
//! # }
//! ```
//!
//! # Reading order
//!
//! 1. [`host`]: the seam, all that the kernel asks of the world. [`atomic`]: one word with a type, and `store_load`.
//! 2. [`kernel`]: the picture, the lock rule, and the rooms in an order of their own.
//! 3. [`kernel::protocol::spinning`], if you read one room only: which Ms spin, and when one more must be woken to spin.
//! 4. [`task`] and [`waits`]: a task's life, and what is between it and what it waits for; on the same seam.
//! 5. `runtime`: the hosts, one real and one simulated; futures and closures as Gs.
//!
//! In words: docs/guide/tour.md follows one G from `go` to done. docs/guide/coming-from-go.md maps Go's functions to these.
//!
//! # Invariants
//!
//! | room | invariant |
//! |------|-----------|
//! | [`g`](kernel::types::g) | a G is in one place at every moment |
//! | [`p`](kernel::types::p) | a P has one owner at every moment; overtaking is bounded |
//! | [`m`](kernel::types::m) | a woken M finds its `nextp` |
//! | [`runq`](kernel::queues::runq) | each G that is put is taken exactly once; `head <= tail <= head + capacity` |
//! | [`runnext`](kernel::queues::runnext) | whoever empties the slot owns the G that was in it |
//! | [`local`](kernel::queues::local) | never empty while a G was there all the time |
//! | [`globq`](kernel::queues::globq) | list and length agree whenever the lock is free |
//! | [`idle`](kernel::queues::idle) | a P is listed exactly when its bit is set and it is counted |
//! | [`spinning`](kernel::protocol::spinning) | **work conservation:** while a G waits and a P is idle, some M is spinning, or has yet to scan that queue |
//! | [`threads`](kernel::protocol::threads) | one wake a sleep; no P is lost when no M is available |
//! | [`sources`](kernel::protocol::sources), [`find`](kernel::protocol::find) | what is searched is scanned again before an M sleeps, and before it idles a P |
//! | [`work_source`](kernel::protocol::work_source) | a source that gets work wakes, after it can be seen |
//! | [`timers`](kernel::queues::timers) | a shard's word is the moment of its earliest timer |
//! | [`netpoll`](kernel::protocol::netpoll) | one M waits in the poller at most, and no longer than until the earliest timer; while there is one, an M waits there, or is awake |
//! | [`role`](kernel::protocol::role) | a thread that waits has handed its P off or is known to have none; a preempted G gets a P back once |
//! | [`syscall`](kernel::protocol::syscall) | the P of an M in a system call has one owner: one exchange decides |
//! | [`handoff`](kernel::protocol::handoff) | a P is idled only if nothing that it would find is left to find |
//! | [`sysmon`](kernel::protocol::sysmon) | a P in a system call while work waits is retaken within two ticks |
//! | [`stw`](kernel::protocol::stw) | after `stop` no P runs, and each is held once |
//! | [`safepoint`](kernel::protocol::stw::safepoint) | the function runs once for each P, by its owner |
//! | [`resize`](kernel::protocol::stw::resize) | no G is lost, and those of one P keep their order |
//! | [`locked`](kernel::protocol::locked) | a bound G never leaves its M; a ticket is queued once a wait |
//! | [`deadlock`](kernel::protocol::deadlock) | reported only if no M can ever run a G again, and always then |
//!
//! # Pairs
//!
//! A pair is two places that order each other. Its name opens the comment at both.
//!
//! | pair | one half | the other |
//! |------|----------|-----------|
//! | `publish` | the owner moves `tail` | a thief reads it ([`runq`](kernel::queues::runq)) |
//! | `consume` | whoever takes moves `head` | whoever reads `head` first ([`runq`](kernel::queues::runq)) |
//! | `slot` | the owner or the thief that fills or empties `runnext` | the thief that steals from it, the M that tests for emptiness ([`runnext`](kernel::queues::runnext)) |
//! | `nextp` | the waker sets it | the sleeper takes it ([`m`](kernel::types::m)) |
//! | `token` | a thread unparks | the thread that returns from `park` ([`Parker`](host::Parker)) |
//! | `work/spinning` | queue a G, StoreLoad, read `nmspinning` | leave `nmspinning`, StoreLoad, read the queues ([`spinning`](kernel::protocol::spinning)) |
//! | `baton` | a spinning M that leaves Gs in its ring | a spinning M that leaves after it, and looks ([`spinning`](kernel::protocol::spinning)) |
//! | `request` | a spinning M that clears `needspinning`, and leaves | an M that leaves after it, and sets it ([`spinning`](kernel::protocol::spinning)) |
//! | `share` | an M takes a share into its ring, then lowers the length | a spinning M reads the length, then the rings ([`globq`](kernel::queues::globq)) |
//! | `timer/poll` | add a timer, StoreLoad, read `who` and `until` | set them, StoreLoad, read the deadline ([`timers`](kernel::queues::timers), [`netpoll`](kernel::protocol::netpoll)) |
//! | `poll` | a thread leaves the poller | the thread that uses it next ([`netpoll`](kernel::protocol::netpoll)) |
//! | `syscall-word` | an M leaves its P in the P's word | the thread that takes it out ([`syscall`](kernel::protocol::syscall)) |
//! | `syscall/stop` | leave the P in its word, StoreLoad, read `wanted` | set `wanted`, StoreLoad, read the words ([`syscall`](kernel::protocol::syscall), [`stw`](kernel::protocol::stw), [`safepoint`](kernel::protocol::stw::safepoint)) |
//! | `bell` | a waker rings | the thread in `block_on` takes the ring ([`bell`](waits::bell)) |
//! | `awaited` | count down who was woken; the last that gives up: StoreLoad, read `who` | an M reads the count; having claimed the poller, StoreLoad ([`readiness`](waits::readiness)) |
//! | `cancelled` | mark a branch, from below | ask a token whether it is cancelled (`waits::cancellation`) |
//! | `notice` | StoreLoad, leave a notice with the poller | wait, StoreLoad, look ([`interrupt`](waits::interrupt)) |
//!
//! Numbers, and what checks each of them: docs/reference/invariants.md. What nothing checks: docs/reference/caveats.md.
//!
//! # Unsafe code
//!
//! In a few files of the runtime, which docs/reference/unsafe.md lists with what each rests on: where a task becomes a G's
//! number and a number its task, stacks, signal handlers, and one call each for sockets, simulated threads and owned guards. Elsewhere it
//! is denied, in the kernel forbidden. One public function is unsafe: `Builder::stackful_goroutines`, whose contract stands there.
//!
//! # Features
//!
//! * `std` (default): the runtime. Without it the kernel alone, `no_std` with `alloc`; the [`Host`](host::Host) is
//!   yours.
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
//! * `model`: for checkers of the kernel only. It makes evidence out of nothing (the ownership of a P, the count of a
//!   spinning M), so a program that switches it on can break every invariant above in safe code.
//!
//! Rust 1.88 or later, and a target with 64-bit atomics.

#![cfg_attr(not(feature = "std"), no_std)]
#![deny(unsafe_code)]

extern crate alloc;

pub mod atomic;
pub mod host;
#[forbid(unsafe_code)]
pub mod kernel;
#[cfg(feature = "std")]
pub mod runtime;
#[forbid(unsafe_code)]
pub mod task;
#[forbid(unsafe_code)]
pub mod waits;

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
#[cfg(feature = "std")]
pub use runtime::trace;
#[cfg(feature = "std")]
pub use runtime::{
    AbortHandle, AccessError, BlockedTask, Blocking, BuildError, Builder, Deadlock, EnterGuard, Handle, Histogram,
    JoinError, JoinHandle, JoinSet, LocalKey, LocalSet, Metrics, NoThread, NotInRuntime, PMetrics, Panic, Poller,
    Runtime, Scope, ScopedJoinHandle, SetProcsError, ShutdownError, StopError, TaskId, TaskLocalFuture, ThreadLock,
    Unstarted, Wait, WaitingTask, YieldNow, blocking, checkpoint, go, lock_thread, run, scope, spawn, stop_the_world,
    syscall, time, try_blocking, try_go, try_spawn, yield_now,
};
#[cfg(feature = "std")]
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
#[cfg(feature = "std")]
pub mod io {
    #[cfg(unix)]
    pub use crate::runtime::{
        AsyncFd, AsyncFdReadyGuard, Interest, PipeReader, PipeWriter, Ready, SpliceFrom, SpliceTo, TryIoError, pipe,
        splice,
    };
    pub use crate::runtime::{Stderr, Stdin, Stdout, stderr, stdin, stdout};
}

/// The README's example compiles and runs.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../README.md")]
struct ReadmeIsTested;

/// A build without the feature `model` makes no evidence out of nothing.
///
/// ```compile_fail,E0599
/// let _ = spinpark::kernel::types::p::OwnedP::forge(spinpark::kernel::types::p::PId(0));
/// ```
/// ```compile_fail,E0599
/// let _ = spinpark::kernel::types::m::SpinningToken::forge();
/// ```
/// ```compile_fail,E0624
/// let _ = spinpark::kernel::types::p::OwnedP::assume(spinpark::kernel::types::p::PId(0));
/// ```
/// ```compile_fail,E0624
/// let _ = spinpark::kernel::types::m::SpinningToken::assume();
/// ```
/// ```compile_fail,E0624
/// let _ = spinpark::kernel::types::g::G::bound_to(spinpark::kernel::types::m::MId(0));
/// ```
/// ```compile_fail,E0277
/// let _ = <Option<spinpark::kernel::types::m::NextP> as spinpark::atomic::Value>::from_word(2);
/// ```
#[cfg(all(doctest, not(feature = "model")))]
struct EvidenceIsNotForged;

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
#[cfg(all(doctest, feature = "std"))]
struct ScopesLendAsTheCompilerDoes;
