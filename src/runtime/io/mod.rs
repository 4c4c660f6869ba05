//! Sockets and files: who waits for which socket, and where the last M waits for all of them.
//!
//! ```text
//!   net ── registered ──► netpoll ── driver: epoll, or the crate polling ──► reactor: the last M waits here
//! ```

mod around;
pub mod fs;
pub mod net;
pub(super) mod netpoll;
pub(super) mod reactor;
