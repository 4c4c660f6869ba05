//! What waits: for a value, for room, for a permit, for a lock, for several of these, for bytes, for a moment.

mod channels;
mod io_util;
mod permits;
mod polled;
mod select;
mod streams;
mod sync;
mod sync_primitives;
mod timers;
