#![doc = include_str!("../README.md")]
// An operation that answers `()` answers a value, as any other.
#![allow(clippy::unit_arg)]

pub mod cores;
pub mod explore;
pub mod history;
pub mod host;
pub mod oracle;
pub mod others;
pub mod plain;
pub mod play;
pub mod program;
pub mod room;
pub mod rooms;
pub mod values;
pub mod wakers;
