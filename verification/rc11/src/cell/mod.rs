//! Like `std::cell`, with every access known: two that are not ordered, one of them a write, are a data race.

#[expect(clippy::module_inception, reason = "the path is loom's")]
mod cell;
mod unsafe_cell;

pub use self::cell::Cell;
pub use self::unsafe_cell::{ConstPtr, MutPtr, UnsafeCell};
