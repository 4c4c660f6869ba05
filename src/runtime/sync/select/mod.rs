//! Waiting for several things, and taking one. Go: `selectgo`.
//!
//! The protocol is [`waits::select`](crate::waits::select): which case takes effect, and that no wake-up is lost. Here are
//! the cases that there are, and the future that polls them.
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
