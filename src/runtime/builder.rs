//! The numbers of a runtime, and what can be wrong with them.

use super::Runtime;
use super::task::Tasks;
use crate::host::SpawnError;
use crate::kernel::config::{Config, ConfigError};
use crate::kernel::sources::SearchOrder;
use core::fmt;
use core::time::Duration;
use std::thread;

/// How a [`Runtime`] shall be. Every number has a default.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a builder does nothing until `build`"]
pub struct Builder {
    config: Config,
}

impl Builder {
    pub(super) fn new() -> Self {
        let procs = thread::available_parallelism().map_or(1, usize::from).min(Config::MAX_PROCS);
        let config = Config::default();
        Builder { config: Config { procs, max_procs: 64, max_ms: config.max_ms.max(procs), ..config } }
    }

    /// How many tasks may run at once: the number of Ps. Default: the number of cores there are for this process.
    /// Go: `GOMAXPROCS`.
    pub fn procs(mut self, n: usize) -> Self {
        self.config.procs = n;
        self
    }

    /// How many Ps [`set_procs`](Runtime::set_procs) may ask for later. Default 64, or `procs` if that is more. Some
    /// two kilobytes for each are taken at once.
    pub fn max_procs(mut self, n: usize) -> Self {
        self.config.max_procs = n;
        self
    }

    /// How many tasks the local queue of a P holds before half of them go to the global one: a power of two.
    /// Default 256, as Go's.
    pub fn ring(mut self, n: usize) -> Self {
        self.config.ring = n;
        self
    }

    /// Where to look for work first, at other Ps or in the global queue. Default: at other Ps.
    pub fn order(mut self, order: SearchOrder) -> Self {
        self.config.order = order;
        self
    }

    /// How many tasks in a row may overtake those that wait in the queue of their P, because they were spawned from
    /// inside a task, last. Default 16; 0: none, so that tasks run in order. Go bounds the time instead.
    pub fn inherit_at_most(mut self, k: u32) -> Self {
        self.config.inherit_at_most = k;
        self
    }

    /// How many threads there may be, besides the monitor's. With fewer than [`procs`](Builder::procs), so many tasks
    /// run at once; a task that waits in a [`syscall`](crate::syscall), in [`blocking`](crate::blocking) or for another
    /// task occupies one. Default 512, or `procs` if there are more cores. Go: `SetMaxThreads`, where reaching it is
    /// fatal; here work waits for a thread, [`try_blocking`](crate::try_blocking) says so, and tasks that could so
    /// never go on are told by [`JoinError::Deadlock`](crate::JoinError::Deadlock).
    pub fn max_threads(mut self, n: usize) -> Self {
        self.config.max_ms = n;
        self
    }

    /// For how long a thread without work is kept; one always is. Default 10 s. Go keeps all of them for ever.
    pub fn thread_keep_alive(mut self, time: Duration) -> Self {
        self.config.keep_alive = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self
    }

    /// Makes the runtime and starts its first thread and its monitor; others are started when there is work for them.
    ///
    /// # Errors
    /// If a number is not allowed, or the system does not give a thread.
    pub fn build(self) -> Result<Runtime, BuildError> {
        let tasks = Tasks::new(self.config).map_err(BuildError::Config)?;
        if let Err(error) = tasks.start() {
            drop(tasks.close());
            return Err(BuildError::Spawn(error));
        }
        Ok(Runtime::from_tasks(tasks))
    }
}

/// A runtime could not be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// A number is not allowed.
    Config(ConfigError),
    /// There was no thread to be had, not even one.
    Spawn(SpawnError),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The kernel calls it by Go's name.
            BuildError::Config(ConfigError::MaxMs(n)) => {
                write!(f, "max_threads is {n}: give 1 to {}", Config::MAX_MS)
            }
            BuildError::Config(error) => error.fmt(f),
            BuildError::Spawn(error) => error.fmt(f),
        }
    }
}

// No `source`: the whole of it is in the text.
impl core::error::Error for BuildError {}
