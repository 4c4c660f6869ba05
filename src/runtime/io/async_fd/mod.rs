//! Any file descriptor: tasks wait until it is ready.

mod fd;
mod interest;
#[cfg(test)]
mod tests;

pub use fd::{AsyncFd, AsyncFdReadyGuard, TryIoError};
pub(in crate::runtime::io) use interest::now;
pub use interest::{Interest, Ready};
