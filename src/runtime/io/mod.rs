//! Sockets and files: which tasks wait for which socket, and where the last M waits for all of them.
//!
//! ```text
//!   net ── registered ──► netpoll ── system: epoll, or the crate polling ──► reactor: the last M waits here
//!    └── around: the poller of the caller's runtime
//! ```
//!
//! **Imports**: `netpoll`, but for `registered`, and `reactor` are state, below `shared`: they import `guarded`, `id` and
//! `exec::idle`. `registered`, `around`, `net` and `fs` are above `exec`. Imported by `shared` (the state), and by `compat`.

mod around;
pub mod fs;
pub mod net;
pub(super) mod netpoll;
pub(super) mod reactor;
