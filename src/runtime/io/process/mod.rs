//! Child processes. With the feature `process`. Go: `os/exec`.
//!
//! | you want | take |
//! |----------|------|
//! | to run a program, and have what it writes | [`Command::output`]; [`Command::status`] without that |
//! | to talk to it, or to end it | [`Command::spawn`]: a [`Child`], with its pipes |
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use spinpark::process::Command;
//!
//! let output = spinpark::Runtime::new()?.block_on(Command::new("echo").arg("hello").output())??;
//! assert!(output.status.success());
//! assert_eq!(output.stdout, b"hello\n");
//! # Ok(())
//! # }
//! ```
//!
//! The names and the meaning are those of [`std::process`]. What may block there is `async` here: a task that waits for a child, or
//! reads from its pipes, is no thread that waits, and can be dropped.
//!
//! **A child's end is seen by its descriptor** (`pidfd_open(2)`), in the poller, as a socket's readiness; no signal handler is
//! installed. Before Linux 5.3, and on other systems, a thread waits for each child instead.
//!
//! **No zombie is left.** A child whose [`Child`] is dropped runs on, unless [`kill_on_drop`](Command::kill_on_drop) says
//! otherwise; when it ends, a thread that has waited for it takes its status from the system.

mod child;
mod command;
mod exit;
mod reap;

pub use child::{Child, ChildStderr, ChildStdin, ChildStdout};
pub use command::Command;
pub use std::process::{ExitStatus, Output, Stdio};
