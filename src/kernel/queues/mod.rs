//! Where runnable Gs wait, and where idle Ps and sleeping Ms do.
//!
//! ```text
//!   one P's own:  local = runnext ▣ + runq ■ ■ ■ ▢          everybody's, under the lock:  globq, idle
//! ```
//!
//! Imports [`types`](super::types) only; [`local`] joins two of the others, because a test for emptiness and the bound on
//! overtaking need both.

pub mod capacity;
pub mod globq;
pub mod idle;
pub mod local;
pub mod runnext;
pub mod runq;
