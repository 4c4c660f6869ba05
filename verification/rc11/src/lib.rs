//! A model checker for live Rust under weak memory: it plays a closure in every way that RC11 allows, each way once. It has
//! loom's paths, so that a crate with loom tests changes one line of its manifest:
//!
//! ```toml
//! [target.'cfg(loom)'.dependencies]
//! loom = { package = "rc11", version = "0.1" }
//! ```
//!
//! The closure uses this crate's atomics, cells, locks and threads where it would use std's. An atomic is no memory, but a
//! question to a graph:
//!
//! ```text
//!          sender                 receiver
//!
//!      data = 7                                        sb   program order: down a column
//!          │ sb                                        rf   the read has its value from that write
//!      flag = 1 Release ──rf──► flag is 1 Acquire      mo   the order of all writes of one location
//!                                   │ sb
//!                               data is 7              rf and Acquire of Release: all above the write
//!                                                      happens before all below the read
//! ```
//!
//! That is one execution. In the other one the receiver reads the flag's first value, and then may or may not see the
//! data: three graphs in all. Which thread ran first is no part of a graph, so that no two interleavings of the same
//! graph are played: this is TruSt (Kokologiannakis, Marmanis, Gladstein, Vafeiadis, POPL 2022), which needs no more
//! memory than a stack of what is still to be tried. A thread that waits, for a lock, in `park`, or in a loop that says
//! so ([`yield_now`](thread::yield_now)), is no execution for each time it looks.
//!
//! # What is proved
//!
//! If the verdict is [`Proved`](model::Verdict::Proved), there is no execution of the closure under RC11 (Lahav, Vafeiadis,
//! Kang, Hur, Dreyer, PLDI 2017, with the release sequences of C++20) in which an assertion fails, two accesses race,
//! threads wait for each other for ever, memory is used after it is freed or freed twice, an `Arc` or an allocation leaks, or a
//! location is used by a thread that cannot know of it. This goes for the closure as it is: so many threads, so many rounds,
//! and as many spurious wake-ups as [`Builder::spurious`](model::Builder::spurious) allows;
//! [`Outcome::assumes`](model::Outcome::assumes) has them in a line. If only a part was explored the verdict is
//! [`Bounded`](model::Verdict::Bounded), says why, and fails the test.
//!
//! # What is not
//!
//! - RC11 knows no load buffering: no read has its value from a write that depends on it, nor from one that comes after
//!   it in its own thread and might have been moved. C++ allows the second, and some machines do it; a program whose
//!   `Relaxed` loads are followed by `Relaxed` stores of other words may do on them what is not seen here.
//! - Memory that is not this crate's is not seen: an atomic of std's, a `Mutex`, a `static`. What one thread leaves there
//!   others find at once, in the order in which they happen to be played. If it changes what a thread asks next, that is
//!   [`Why::NotDeterministic`](verdict::Why::NotDeterministic), if it shows.
//! - Counts of std's `Arc` are not seen. What its last owner drops is taken to be ordered after all accesses, and the verdict says
//!   so; whether a thread without a reference still looks at it is not tried in each order. If the destructor uses the model, take
//!   [`sync::Arc`].
//! - An access of memory that is not this crate's is not seen: of a `Box<u32>` only that it is freed twice, or left. Where an
//!   atomic, a cell or a lock lies in memory that is freed, moved away or lent, each access that is not ordered before that
//!   is found, whichever is played first.
//! - A block of memory may lie where one was freed, if it is of a size and alignment of which an address is compared,
//!   exchanged by an `AtomicPtr`, or kept in an integer: [`Builder::reuse`](model::Builder::reuse) times an execution, and no
//!   oftener. Blocks of another size that would fit are not tried.
//! - A loop that waits is cut only if it is shown to have no end: [`yield_now`](thread::yield_now) says how. One that does not
//!   yield is given up at so many events.
//! - Waking by a [`Condvar`](sync::Condvar) gives no order, as in std; a [`Notify`](sync::Notify), a channel, `park` and
//!   `unpark` give acquire and release.
//! - When an execution is over before its threads are (a loop that waits for what went another way), their values are not
//!   dropped: nothing may be run any more, and that memory is lost.
//!
//! # A spin lock
//!
//! ```should_panic
//! use rc11::cell::UnsafeCell;
//! use rc11::sync::Arc;
//! use rc11::sync::atomic::{AtomicBool, Ordering::{self, Acquire, Relaxed, Release}};
//! use rc11::{hint, thread};
//!
//! struct Locked {
//!     is_taken: AtomicBool,
//!     count: UnsafeCell<u32>,
//! }
//! // SAFETY: only the thread that has taken the lock touches the count. Is that so?
//! unsafe impl Send for Locked {}
//! unsafe impl Sync for Locked {}
//!
//! fn add_one(shared: &Locked, unlock: Ordering) {
//!     while shared.is_taken.compare_exchange(false, true, Acquire, Relaxed).is_err() {
//!         hint::spin_loop();
//!     }
//!     shared.count.with_mut(|count| unsafe { *count += 1 });
//!     shared.is_taken.store(false, unlock);
//! }
//! fn two_add(unlock: Ordering) {
//!     let shared = Arc::new(Locked { is_taken: AtomicBool::new(false), count: UnsafeCell::new(0) });
//!     let theirs = shared.clone();
//!     let other = thread::spawn(move || add_one(&theirs, unlock));
//!     add_one(&shared, unlock);
//!     other.join().unwrap();
//!     shared.count.with(|count| assert_eq!(unsafe { *count }, 2));
//! }
//! rc11::model(|| two_add(Release));
//! rc11::model(|| two_add(Relaxed));
//! ```
//!
//! The first is proved. The second panics, and prints:
//!
//! ```text
//! a lock that releases nothing
//! data race: thread 1 and main touch the same memory, and neither happens before the other
//!
//!      main                          │ thread 1                      │
//!      ──────────────────────────────┼───────────────────────────────┤
//!    ① starts thread 1               │                               │ spin_lock.rs:24 let other = thread::spawn(move || add_one(&theirs, unlock));
//!    ② shared.is_taken: 0 → 1 acq ←⓪ │                               │ spin_lock.rs:15 while shared.is_taken.compare_exchange(false, true, Acquire, Relaxed).is_err() {
//!   *③ writes shared.count plain     │                               │ spin_lock.rs:18 shared.count.with_mut(|count| unsafe { *count += 1 });
//!    ④ shared.is_taken := 0 rlx      │                               │ spin_lock.rs:19 shared.is_taken.store(false, unlock);
//!    ⑤                               │ shared.is_taken: 0 → 1 acq ←④ │ spin_lock.rs:15 while shared.is_taken.compare_exchange(false, true, Acquire, Relaxed).is_err() {
//!   *⑥                               │ writes shared.count plain     │ spin_lock.rs:18 shared.count.with_mut(|count| unsafe { *count += 1 });
//!      ←⓪: what it was made with
//!
//! ③ and ⑥ touch shared.count, not both are atomic, and no path of happens-before leads from one to the other
//! ③ main writes shared.count (u32 = 1), not atomic, at spin_lock.rs:18
//! ⑥ thread 1 writes shared.count (u32 = 2), not atomic, at spin_lock.rs:18
//! ⑤ reads ④, but that gives no order: the write does not release
//! of main, ① is the last event that happens before ⑥
//! no event of thread 1 happens before ③
//! it would be forbidden by `Release` in place of `Relaxed` at spin_lock.rs:19
//! ```
//!
//! and where it is drawn, and a line that plays this execution again: `RC11_REPLAY=FILE cargo test NAME`.
//!
//! # The environment
//!
//! | variable | what it does |
//! |---|---|
//! | `LOOM_MAX_PERMUTATIONS`, `LOOM_MAX_DURATION` | so many executions, so many seconds: then *bounded* |
//! | `LOOM_MAX_PREEMPTIONS` | no execution that takes more preemptions: first those with none, then those with one, and so on; at most twenty seconds, if nothing else is said |
//! | `RC11_SEED` | which random branches a bounded exploration begins with |
//! | `LOOM_MAX_BRANCHES` | an execution with more than three times so many events fails |
//! | `LOOM_CHECKPOINT_FILE` | a long exploration goes on there when it is started again: an entry for each model |
//! | `RC11_BOUNDED_OK` | `true`: a model that was not explored whole passes its test |
//! | `LOOM_LOG` | each model's verdict is printed |
//! | `RC11_JOBS` | so many threads of the machine explore one model |
//! | `RC11_SPURIOUS` | so many times an execution something may wake, or a weak exchange fail, spuriously: 1, if it does not say |
//! | `RC11_REUSE` | so many times an execution a block of memory may lie where one was freed: 2, if it does not say |
//! | `RC11_LEAKS` | `true`: any block that is not freed is a failure |
//! | `RC11_SYMMETRY` | `false`: symmetric threads are told apart |
//! | `RC11_REPLAY`, `RC11_DIR` | the schedule to play again; where schedules and drawings are written |
//! | `RC11_REPORT` | a file to which each verdict is added as a line of JSON |
//!
//! Without loom's names, and with more to look at: [`engine`].

pub mod alloc;
mod asymmetric;
mod axiom;
pub mod cell;
mod check;
pub mod checkpoint;
pub mod engine;
mod explore;
pub mod future;
pub mod graph;
mod heap;
pub mod hint;
pub mod lazy_static;
mod machine;
mod macros;
pub mod model;
pub mod naming;
pub mod picture;
mod place;
mod preemption;
mod primitives;
mod quarantine;
mod state;
mod step;
mod symmetry;
pub mod sync;
mod text;
pub mod thread;
mod timeout;
pub mod verdict;
mod walk;

pub use graph::MAX_THREADS;
#[doc(inline)]
pub use model::model;

/// From here on the other ways of what threads do are explored again: after [`stop_exploring`], or if the model was
/// started with [`Builder::expect_explicit_explore`](model::Builder::expect_explicit_explore).
///
/// ```
/// use rc11::sync::{Arc, atomic::{AtomicU32, Ordering::Relaxed}};
/// # rc11::model::Builder::new().bounded_ok().check(|| {
/// rc11::stop_exploring(); // the set-up: one way of it
/// let n = Arc::new(AtomicU32::new(0));
/// rc11::explore();
/// let theirs = n.clone();
/// let other = rc11::thread::spawn(move || theirs.fetch_add(1, Relaxed));
/// n.fetch_add(1, Relaxed);
/// other.join().unwrap();
/// assert_eq!(n.load(Relaxed), 2);
/// # });
/// ```
pub fn explore() {
    machine::note_other_ways(true);
}

/// From here on only one way is explored of what any thread does, until [`explore`]. The verdict is *bounded*, if there
/// were others.
///
/// ```
/// rc11::model::Builder::new().bounded_ok().check(|| {
///     rc11::stop_exploring();
///     let other = rc11::thread::spawn(|| 7); // one way
///     assert_eq!(other.join().unwrap(), 7);
/// });
/// ```
pub fn stop_exploring() {
    machine::note_other_ways(false);
}

/// From here on only one way is explored, to the end of the execution. The verdict is *bounded*, if there were others.
///
/// ```
/// rc11::model::Builder::new().bounded_ok().check(|| {
///     rc11::skip_branch(); // from here on nothing is of interest
///     let other = rc11::thread::spawn(|| 7);
///     assert_eq!(other.join().unwrap(), 7);
/// });
/// ```
pub fn skip_branch() {
    machine::note_no_more_ways();
}

/// The example in the README is run too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
