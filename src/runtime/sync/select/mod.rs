//! Waiting for several things, and taking one. Go: `selectgo`.
//!
//! ```text
//!   what the claim says      what changes it
//!   OPEN ──► the case        whoever serves one of its waiters, under that channel's lock
//!     ▲ └──► WITHDRAWN       the select, when it is polled or dropped
//!     └──────────┘           the select, when no waiter of it is left
//! ```
//!
//! A select first tries each case, in random order. If none can go on, it enqueues a waiter at each channel, one after the
//! other; never does it hold two locks. All its waiters share one word, the claim, and whoever serves one must win that. A
//! case that could go on when its waiter was to be enqueued (somebody came in between) makes it withdraw and begin anew.
//!
//! **One case takes effect**, because the claim leaves OPEN by one exchange. **No wake-up is lost**, because each waiter is
//! enqueued under the lock under which its case was seen not to be ready. Futures are polled only while there is no waiter, so
//! nothing that a future gave is ever dropped in favour of a channel.
//!
//! Two selects that meet from two sides may withdraw from each other once, and again; each time the random order lets one
//! come first in every second case or more.
//!
//! Public for the macro [`select!`](crate::select); not for others.

mod case;
mod future;
mod macros;
pub(in crate::runtime) mod ticket;

pub use case::{
    Awaitable, Case, Cases, ChannelKind, End, FutureKind, More, NeitherKind, OfFuture, OfNeither, One, Other, Probe,
};
pub use future::{AtOnce, Never, Otherwise, Select, Selected};
pub use ticket::Ticket;
