//! The rows. Each file has workloads; `list` says which contenders do them, how often, and what must come out.

pub(crate) mod busy;
pub(crate) mod echo;
pub(crate) mod http;
pub(crate) mod idle;
mod list;
pub(crate) mod memory;
mod pingpong;
mod pipes;
pub(crate) mod pread;
mod queues;
mod sleepers;
pub(crate) mod sparse;
pub(crate) mod spawns;
pub(crate) mod tails;
pub(crate) mod timers;
mod yields;

pub use list::all;
