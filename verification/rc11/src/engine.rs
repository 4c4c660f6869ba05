//! The checker itself, without loom's names: explore a closure that uses [`Word`]s, [`Lock`]s, [`Parker`]s and
//! [`PlainCell`]s, and look at what came of it.
//!
//! ```
//! use rc11::engine::{Config, PlainCell, Word, explore, fork};
//! use std::sync::{Arc, atomic::Ordering::{Acquire, Release}};
//!
//! let message = || {
//!     let shared = Arc::new((PlainCell::new(0), Word::new(0)));
//!     let theirs = Arc::clone(&shared);
//!     let sender = fork("sender", move || {
//!         theirs.0.set(7);
//!         theirs.1.store(1, Release);
//!     });
//!     let seen = if shared.1.load(Acquire) == 1 { shared.0.get() } else { 0 };
//!     sender.join();
//!     seen.to_string()
//! };
//! let report = explore(&Config::default(), message, |_| ());
//! assert!(report.is_proof() && report.tally.outcomes.keys().eq(["0", "7"]));
//! ```

pub use crate::checkpoint::{CheckpointError, explore_with_checkpoint};
pub use crate::explore::{
    AtEnd, AtGraph, Branch, Config, Counterexample, Played, Report, Sharing, Tally, explore, resume, watch, watch_as,
};
pub use crate::machine::{Moment, Site, Wait, Wants};
pub use crate::picture::Picture;
pub use crate::primitives::{
    Lock, Parker, PlainCell, Refused, SymmetricThreads, Thread, Word, advance, at_the_latest, choose, fence, fork,
    fork_symmetric, heavy_fence, holds_a_lock, leave_waiting, light_fence, me, moment, name_thread, now, refuse_spawns,
    spawn, spin,
};
pub use crate::text::panic_text;
