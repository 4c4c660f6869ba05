//! What can be wrong with the numbers of a runtime, or with the system that it is built on.

use crate::host::SpawnError;
use crate::kernel::sched::config::{Config, ConfigError};
use crate::runtime::exec::goroutine::stack::Stacks;
use crate::runtime::host::thread_config::Plan;
use core::fmt;
use core::time::Duration;
use std::io;
use std::path::PathBuf;

/// A runtime could not be made.
///
/// What `{:?}` prints is the sentence too, so that it is what a program ends with whose `main` returns this.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// A number is not allowed.
    Config(ConfigError),
    /// A variable of the environment is not allowed as it is.
    Env {
        /// Its name.
        variable: &'static str,
        /// What it is.
        value: String,
        /// What it could be.
        allowed: String,
    },
    /// Threads cannot have such a name.
    ThreadName(String),
    /// Threads cannot have a stack of so many bytes.
    ThreadStack(usize),
    /// Goroutines cannot have a stack of so many bytes.
    GoroutineStack(usize),
    /// A deterministic runtime lives on this thread.
    Nested,
    /// The handler of the preemption signal was replaced.
    SignalReplaced,
    /// Thread creation failed: there is not even one.
    Spawn(SpawnError),
    /// The file to trace to could not be made.
    Trace {
        /// Where it should have been.
        path: PathBuf,
        /// The system's error code, where there is one.
        os_error: Option<i32>,
    },
    /// SIGQUIT cannot be listened to; the system's error code, where there is one.
    #[cfg(all(unix, feature = "signal"))]
    Sigquit(Option<i32>),
    /// The console could not be served there.
    #[cfg(feature = "console")]
    Console {
        /// Where it should have been.
        address: std::net::SocketAddr,
        /// Why not.
        reason: String,
    },
    /// A deterministic runtime cannot have tokio's context.
    #[cfg(feature = "tokio-context")]
    DeterministicTokio,
    /// The system gave no poller for sockets; its error code, where there is one.
    Poller(Option<i32>),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The kernel calls it by Go's name.
            BuildError::Config(ConfigError::MaxDetached(n)) => {
                write!(f, "max_preempted_threads is {n}: give {} at most", Config::MAX_MS)
            }
            BuildError::Config(ConfigError::Slice(nanos)) => {
                write!(f, "time_slice is {:?}: give 20 us or more", Duration::from_nanos(*nanos))
            }
            BuildError::Config(ConfigError::MaxMs(n)) => {
                write!(f, "max_threads is {n}: give 1 to {}", Config::MAX_MS)
            }
            BuildError::Config(error) => error.fmt(f),
            BuildError::Env { variable, value, allowed } => write!(f, "{variable} is {value:?}: give {allowed}"),
            BuildError::ThreadName(name) => {
                write!(f, "thread_name is {name:?}: give one byte or more, and none that is zero")
            }
            BuildError::ThreadStack(bytes) => write!(
                f,
                "thread_stack_size is {bytes}: give {} to {} bytes",
                Plan::SMALLEST_STACK,
                Plan::LARGEST_STACK
            ),
            BuildError::GoroutineStack(bytes) => {
                write!(f, "goroutine_stack_size is {bytes}: give {} to {} bytes", Stacks::SMALLEST, Stacks::LARGEST)
            }
            BuildError::Nested => f.write_str(
                "a deterministic runtime lives on this thread: drop it first, or build the other on another thread",
            ),
            BuildError::SignalReplaced => f.write_str(
                "the handler of SIGURG was replaced since the first runtime was built: install the other one before that, \
                 let it call the one before it, or build with preemption(false)",
            ),
            BuildError::Spawn(error) => error.fmt(f),
            BuildError::Trace { path, os_error } => {
                write!(f, "the file to trace to, {}, cannot be made", path.display())?;
                os_error.map_or(Ok(()), |code| write!(f, ": {}", io::Error::from_raw_os_error(code)))
            }
            #[cfg(all(unix, feature = "signal"))]
            BuildError::Sigquit(code) => {
                f.write_str("SIGQUIT cannot be listened to")?;
                code.map_or(Ok(()), |code| write!(f, ": {}", io::Error::from_raw_os_error(code)))
            }
            #[cfg(feature = "console")]
            BuildError::Console { address, reason } => {
                write!(f, "the console cannot be served at {address}: {reason}")
            }
            #[cfg(feature = "tokio-context")]
            BuildError::DeterministicTokio => f.write_str(
                "a deterministic runtime cannot have tokio's context: tokio's clock and sockets are not simulated; leave one of `deterministic` \
                 and `tokio_context` out",
            ),
            BuildError::Poller(code) => {
                f.write_str("the system gave no poller for sockets")?;
                code.map_or(Ok(()), |code| write!(f, ": {}", io::Error::from_raw_os_error(code)))?;
                f.write_str("; are too many files open?")
            }
        }
    }
}

impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

// No `source`: the whole of it is in the text.
impl core::error::Error for BuildError {}
