//! What a G, a P and an M are, and the evidence that cannot be copied.
//!
//! ```text
//!   G  a task, by number          M  a thread: nextp, parker          P  the right to run Gs, and its queues
//!                                       └──────── holds: OwnedP ────────►│
//! ```
//!
//! Imports nothing of the kernel; all the rest of it imports this.

pub mod g;
pub mod m;
pub mod p;
pub(crate) mod token;
