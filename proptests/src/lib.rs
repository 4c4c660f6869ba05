//! Random operations against spinpark's kernel: long sequences beside lists that know the answer, and short concurrent
//! programs under many schedules.
//!
//! ```text
//!   generated operations ──┬──► the kernel, on a host for one thread ──┐
//!                          └──► a list ────────────────────────────────┴──► the same answers?
//!
//!   dice ──► program ──► a room on its stage ──► schedules sampled at random, store buffers, real cores
//!                                                   └──► each G once? the invariants? ──no──► made short
//! ```
//!
//! A model checker tries every interleaving of a few operations that a person chose. Sequences find other mistakes:
//! a slot off by one after the cursor has wrapped around, a half rounded the wrong way, a G that waits for longer than it
//! may. Random programs find the scenarios that no person thought of.
//!
//! **For** authors of changes to the kernel; for authors of a [`Host`](spinpark_kernel::host::Host) of their own: before a
//! host meets other threads, it must get the sequential case right, and every type here that drives the kernel is generic
//! in the host; and for authors of a queue or a protocol over a `Host`: a [`Room`](room::Room) for it is some sixty lines,
//! and gets the schedules, the shortening and the replay.
//!
//! | module | holds |
//! |--------|-------|
//! | [`oracle`] | operations; the kernel and the reference model behind one trait; [`compare`](oracle::compare) |
//! | [`check`] | runs a property over generated sequences; says which paths were reached; finds shortest failures |
//! | [`room`], [`rooms`] | random concurrent programs: what a room is; every room of the kernel |
//! | [`whole`] | the whole scheduler under random numbers, workload and faults; a watch over its invariants |
//! | [`shrink`], [`regression`], [`fuzz`] | the shortest failing program; as a file; hunting for a given time |
//! | [`deadlines`] | by when a waiting G must have been dispatched |
//! | [`machine`] | reference models as state machines: what may be done next depends on what was done |
//! | [`solo`] | a host for one thread, and the smallest example of a host of one's own |
//! | [`stepped`] | a host of which exactly one thread moves at a time, and the test says which: a whole scheduler, played by hand |
//!
//! # A host of your own
//!
//! Put your host where [`Solo`](solo::Solo) stands. A wrong `compare_exchange`, or a `swap` that returns the new value,
//! is found in a few operations.
//!
//! ```
//! use proptest::collection::vec;
//! use spinpark_kernel::queues::runq::Capacity;
//! use spinpark_proptests::check::check;
//! use spinpark_proptests::oracle::{compare, ring};
//! use spinpark_proptests::solo::Solo as MyHost;
//!
//! let capacity = Capacity::new(4)?;
//! // Cursors of 3 bits wrap around after 8 Gs.
//! let seen = check(200, vec(ring::op(6), 0..100), |ops| {
//!     let mut oracle = ring::Oracle::new(capacity);
//!     compare(&mut ring::Kernel::<MyHost, 3>::new(capacity), &mut oracle, &ops)?;
//!     Ok(oracle.seen)
//! });
//! seen.must_have(&["a put met a full ring", "a steal took more than one"]);
//! # Ok::<(), spinpark_kernel::queues::runq::BadCapacity>(())
//! ```
//!
//! # When a property fails
//!
//! The failure shows the shortest sequence found and the step at which the answers part. Its seed is kept beside the
//! test, in `tests/<name>.regressions`, and is tried first from then on. `PROPTEST_CASES` sets how many sequences are
//! generated for each property.

pub mod check;
pub mod deadlines;
pub mod fuzz;
pub mod machine;
pub mod oracle;
pub mod regression;
pub mod room;
pub mod rooms;
pub mod shrink;
pub mod whole;

pub use spinpark_verification::hosts::{solo, stepped};
