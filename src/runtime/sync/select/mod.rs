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
    Awaitable, ByFuture, ByOption, Case, Cases, ChannelKind, End, FutureKind, More, NeitherKind, OfFuture, OfNeither,
    One, Other, Probe, awaitable,
};
pub use future::{AtOnce, Choice, Never, Otherwise, Select, Selected, nothing_left};
pub use ticket::Ticket;
