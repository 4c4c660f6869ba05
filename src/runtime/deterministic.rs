//! A runtime that does the same again: for tests, which can so try many schedules and replay the one that failed.
//!
//! ```
//! use spinpark::{Runtime, spawn, yield_now};
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
//!
//! // Two tasks read, yield, and write: an update may be lost.
//! let count = |seed| {
//!     let runtime = Runtime::builder().procs(1).deterministic(seed).build().expect("a runtime");
//!     let count = Arc::new(AtomicU32::new(0));
//!     let tasks = [(); 2].map(|()| {
//!         let count = Arc::clone(&count);
//!         runtime.spawn(async move {
//!             let seen = count.load(Relaxed);
//!             yield_now().await;
//!             count.store(seen + 1, Relaxed);
//!         })
//!     });
//!     tasks.into_iter().for_each(|task| task.join().expect("it does not panic"));
//!     count.load(Relaxed)
//! };
//! let seed = (0..100).find(|&seed| count(seed) != 2).expect("one of them loses an update");
//! assert_eq!(count(seed), 1, "and does so every time");
//! ```
//!
//! **What is real.** The kernel and the runtime: queues, theft, spinning, hand-off, timers, the monitor. They run on a
//! machine that is simulated: its threads are threads of the system, but one runs at a time. The thread that built the runtime gives
//! the others their turns whenever it waits in one of the runtime's functions.
//!
//! **What the seed decides.** Which of the threads that can go on does: whenever one would sleep, and at each dispatch and
//! each [`checkpoint`](crate::checkpoint) perhaps. Whether the task whose turn it is goes behind the others of its P
//! instead; so one P, too, has many orders. Whether a checkpoint yields. Everything that the kernel chooses: which P to
//! steal from. And how often all of that happens: some seeds keep nearly the order that a real runtime would, some keep
//! none. Nothing is promised about which seed does what: another version of this crate may do something else.
//!
//! **Time** is a number. It stands still while a task runs; each dispatch and each checkpoint takes a microsecond; and
//! when no thread can go on it jumps to the earliest moment that one waits for: an hour of sleep is over at once. So it does when all
//! that can go on has only yielded, 10,000 times in a row: a loop that yields until a flag is set ends, though the flag is set in an
//! hour; and one that computes for so long, with checkpoints, may find that an hour has passed. Take moments from [`now`], not from
//! [`Instant::now`].
//!
//! **What it does not see.** A thread is only left where it sleeps, at a dispatch and at a checkpoint: races inside of the
//! kernel, and of atomics between two tasks, are not explored. (Those of the kernel are, by the model checkers.) A
//! closure that never yields, and waits for another in a loop, is never left.
//!
//! **What a program must do**, to be the same again: draw by [`choose`], tell time by [`now`], and let nothing depend on
//! addresses or on the order of a [`HashMap`](std::collections::HashMap).
//!
//! **What it must not do.** Use the runtime, or wake its tasks, from another thread: that panics. Wake what waits in `block_on` from
//! another thread: no seed decides when it does, and a deadlock may be reported first. Block the thread
//! itself, by [`std::thread::sleep`] or a channel of std, waiting for a task: all of the runtime blocks, for ever; use
//! [`pause`]. The same for a lock: none of std's may be held while the thread can be left, in a `pause`, a `join`, a
//! `block_on`, a `checkpoint`.
//!
//! **What there is not.** Sockets, pipes, child processes and signals fail with [`Unsupported`](std::io::ErrorKind::Unsupported).
//! Files are the real ones. Each simulated thread has thread locals of its own. What
//! [`latency_histogram`](crate::Builder::latency_histogram) measures is sampled at random, and not the same again.

use crate::runtime::exec::context::Context;
use crate::runtime::host::{clock, sim};
use core::time::Duration;
use std::thread;
use std::time::Instant;

/// The thread that calls this does nothing for so long: what a system call would do that blocks. Inside of a
/// [`syscall`](crate::syscall) or [`blocking`](crate::blocking) others run under the caller's P meanwhile. On a real
/// runtime, or outside of any, it is [`std::thread::sleep`].
///
/// ```
/// use spinpark::{blocking, deterministic};
/// use std::time::Duration;
///
/// let runtime = spinpark::Runtime::builder().procs(1).deterministic(0).build()?;
/// let hour = Duration::from_secs(3600);
/// let blocks = runtime.go(move || blocking(|| deterministic::pause(hour)));
/// let runs = runtime.go(|| deterministic::elapsed());
/// assert!(runs.join()? < Some(hour));
/// blocks.join()?;
/// assert!(deterministic::elapsed() >= Some(hour));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn pause(time: Duration) {
    if !sim::pause(time) {
        thread::sleep(time);
    }
}

/// The moment that it is, as timers of the caller's runtime see it: in a deterministic one the simulated time, else
/// [`Instant::now`]. For [`sleep_until`](crate::time::sleep_until) and
/// [`interval_at`](crate::time::interval_at), and to measure.
///
/// ```
/// use spinpark::{deterministic, time::sleep};
/// use std::time::Duration;
///
/// let runtime = spinpark::Runtime::builder().deterministic(7).build()?;
/// runtime.block_on(async {
///     let from = deterministic::now();
///     sleep(Duration::from_secs(3600)).await; // at once
///     assert!(deterministic::now() - from >= Duration::from_secs(3600));
///     assert!(deterministic::elapsed() >= Some(Duration::from_secs(3600)));
/// })?;
/// let place = runtime.spawn(async { deterministic::place() }).join()?;
/// assert!(place.is_some(), "a task runs somewhere");
/// assert_eq!(deterministic::seed(), Some(7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn now() -> Instant {
    clock::instant()
}

/// How much simulated time has gone by since the deterministic runtime of this thread was built. `None`: it has none.
///
/// An example is at [`now`].
#[must_use]
pub fn elapsed() -> Option<Duration> {
    sim::elapsed()
}

/// Any number below `n`: in a deterministic runtime by the seed, else at random. For faults that a test injects.
///
/// # Panics
/// If `n` is 0.
///
/// ```
/// use spinpark::deterministic;
///
/// let draw = |seed| {
///     let _runtime = spinpark::Runtime::builder().deterministic(seed).build().expect("a runtime");
///     let drawn = [(); 8].map(|()| deterministic::choose(6));
///     (drawn, deterministic::fingerprint())
/// };
/// assert_eq!(draw(7), draw(7));
/// assert!(deterministic::choose(6) < 6);
/// ```
#[must_use]
pub fn choose(n: usize) -> usize {
    assert!(n > 0, "there is no number below 0 to choose");
    clock::choose(n)
}

/// The seed of this thread's deterministic runtime. `None`: it has none.
#[must_use]
pub fn seed() -> Option<u64> {
    sim::seed()
}

/// A number that stands for all that was chosen so far in this thread's deterministic runtime, and which thread ran when. The same
/// seed and the same program give the same number: if they do not, the program depends on something else. `None`: this
/// thread has none.
#[must_use]
pub fn fingerprint() -> Option<u64> {
    sim::print()
}

/// Where a task runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Place {
    /// The number of its M: its thread.
    pub m: usize,
    /// The number of its P. `None`: it has left it, for a [`syscall`](crate::syscall) for instance.
    pub p: Option<usize>,
}

/// Where the calling task runs, in any runtime: for traces. `None`: the caller is no task.
#[must_use]
pub fn place() -> Option<Place> {
    Context::place().map(|(m, p)| Place { m: m.index(), p: p.map(|p| p.index()) })
}
