//! A model checker for live Rust under weak memory: it plays a closure in every way that RC11 allows, each way once.
//!
//! The closure uses this crate's words, locks and cells where it would use std's, and starts its threads by [`fork`]. A
//! [`Word`] is no memory, but a question to a graph.
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
//! so ([`spin`]), is no execution for each time it looks.
//!
//! # What is proved
//!
//! If [`Report::is_proof`] says so, there is no execution of the closure under RC11 (Lahav, Vafeiadis, Kang, Hur,
//! Dreyer, PLDI 2017, with the release sequences of C++20) in which an assertion fails, two accesses race, threads
//! wait for each other for ever, or a location is used by a thread that cannot know of it: see [`Why`](verdict::Why).
//! The outcomes in the [`Tally`] are all there are. This goes for the closure as it is: so many threads, so many
//! rounds; and for as many spurious wake-ups of `park` as [`Config::spurious`] allows.
//!
//! # What is not
//!
//! - RC11 knows no load buffering: no read has its value from a write that depends on it, nor from one that comes after
//!   it in its own thread and might have been moved. C++ allows the second, and some machines do it; a program whose
//!   `Relaxed` loads are followed by `Relaxed` stores of other words may do on them what is not seen here.
//! - Memory that is not this crate's is not seen: an atomic of std's, a `Mutex`, a `static`. What one thread leaves there
//!   others find at once, in the order in which they happen to be played. If it changes what a thread asks next, that is
//!   [`Why::NotDeterministic`](verdict::Why::NotDeterministic), if it shows.
//! - What std does by itself is trusted: reference counts of `Arc`, and what destructors do with other memory.
//! - A loop that waits without [`spin`] has no end: it is given up at [`Config::max_events`]. One that asks this
//!   crate for nothing hangs.
//!
//! # A spin lock
//!
//! ```
//! use rc11::{Config, PlainCell, Word};
//! use std::sync::{Arc, atomic::Ordering::{self, Acquire, Relaxed, Release}};
//!
//! fn locked(lock: &Word, unlock: Ordering, f: impl FnOnce()) {
//!     while lock.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
//!         rc11::spin();
//!     }
//!     f();
//!     lock.store(0, unlock);
//! }
//! fn two_add(unlock: Ordering) -> String {
//!     let shared = Arc::new((Word::new(0), PlainCell::new(0)));
//!     let [one, two] = ["one", "two"].map(|name| {
//!         let shared = Arc::clone(&shared);
//!         rc11::fork(name, move || locked(&shared.0, unlock, || shared.1.set(shared.1.get() + 1)))
//!     });
//!     one.join();
//!     two.join();
//!     shared.1.get().to_string()
//! }
//! let wrong = rc11::explore(&Config::default(), || two_add(Relaxed), |_| ()).failure.expect("a data race");
//! println!("{}", wrong.picture("A lock that releases nothing", || two_add(Relaxed)).columns());
//! let right = rc11::explore(&Config::default(), || two_add(Release), |_| ());
//! assert!(right.is_proof() && right.tally.outcomes.keys().eq(["2"]));
//! ```
//!
//! It prints:
//!
//! ```text
//! A lock that releases nothing
//! data race: two and one touch the same memory, and neither happens before the other
//!
//!      main       │ one              │ two              │
//!      ───────────┼──────────────────┼──────────────────┤
//!    ① starts one │                  │                  │ spin_lock.rs:15
//!    ② starts two │                  │                  │ spin_lock.rs:15
//!    ③            │ a: 0 → 1 acq ←⓪  │                  │ spin_lock.rs:5
//!    ④            │ reads b plain ←⓪ │                  │ spin_lock.rs:15
//!   *⑤            │ writes b plain   │                  │ spin_lock.rs:15
//!    ⑥            │ a := 0 rlx       │                  │ spin_lock.rs:9
//!    ⑦ joins one  │                  │                  │ spin_lock.rs:17
//!    ⑧            │                  │ a: 0 → 1 acq ←⑥  │ spin_lock.rs:5
//!   *⑨            │                  │ reads b plain ←⑤ │ spin_lock.rs:15
//!      ←⓪: what it was made with
//!
//! ⑤ and ⑨ touch b, not both are atomic, and no path of happens-before leads from one to the other
//! ⑧ reads ⑥, but that gives no order: the write does not release
//! ```

mod axiom;
mod check;
mod checkpoint;
mod explore;
pub mod graph;
mod machine;
pub mod naming;
pub mod picture;
mod primitives;
mod step;
mod text;
pub mod verdict;

pub use checkpoint::explore_with_checkpoint;
pub use explore::{Branch, Config, Counterexample, Played, Report, Tally, explore, resume, watch};
pub use machine::{Site, Wait, Wants};
pub use picture::Picture;
pub use primitives::{
    Lock, Parker, PlainCell, Refused, Thread, Word, advance, choose, fence, fork, me, name_thread, now, refuse_spawns,
    spawn, spin,
};
pub use text::panic_text;

/// The example in the README is run too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
