//! Where runnable Gs wait, and where idle Ps, sleeping Ms and timers do.
//!
//! ```text
//!   one P's own:  local = runnext ▣ + runq ■ ■ ■ ▢          shared, under the lock:       globq, idle
//!   timers: shards of what becomes due, each under a lock of its own
//! ```
//!
//! Imports [`types`](super::types) only; [`local`] joins two of the others, because a test for emptiness and the bound on
//! overtaking need both.

pub mod capacity;
pub mod globq;
pub mod idle;
pub mod local;
pub mod owner;
pub mod runnext;
pub mod runq;
pub mod timers;
