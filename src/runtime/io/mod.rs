//! Sockets, pipes and files: which tasks wait for which of them, and where the last M waits for all of them.
//!
//! ```text
//!   net, async_fd, pipe, process, signal ── registered ──► netpoll ── system: epoll, or the crate polling
//!    └── around: the poller of the caller's runtime                          └──► reactor: the last M waits here
//!   copy: from one stream to another, of any kind; duplex: two ends in memory, which know no poller
//!   zero_copy: from one of them to another, inside of the system
//!   fs, standard: files, and the standard streams, block: they are system calls
//! ```
//!
//! **Imports**: `netpoll`, but for `registered`, and `reactor` are state, below `shared`: they import `guarded`, `id` and
//! `exec::idle`. `registered`, `around` and the others are above `exec`. Imported by `shared` (the
//! state), and by `compat`.

#[macro_use]
mod futures_traits;
#[macro_use]
mod macros;
#[macro_use]
mod halves;
mod around;
#[cfg(unix)]
pub(super) mod async_fd;
pub(super) mod copy;
pub(super) mod duplex;
pub mod fs;
pub mod net;
pub(super) mod netpoll;
#[cfg(unix)]
pub(super) mod pipe;
#[cfg(all(unix, feature = "process"))]
pub mod process;
pub(super) mod reactor;
#[cfg(all(unix, feature = "signal"))]
pub mod signal;
pub(super) mod standard;
#[cfg(unix)]
pub(super) mod zero_copy;
