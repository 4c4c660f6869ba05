//! tokio, as others' tests use it: its own `sync` and macros; tasks and timers are spinpark's.

#![forbid(unsafe_code)]

use spinpark::JoinHandle;
use spinpark::tokio_compat::CompatExt;

pub use spinpark::test;
pub use tokio::{io, join, pin, select, sync, try_join};

/// A task of ours, in tokio's context: what it calls may call tokio's own `spawn`.
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    spinpark::spawn(future.compat())
}

/// A runtime, of which they only want that it plays a future.
pub mod runtime {
    /// Ours.
    #[derive(Debug)]
    pub struct Runtime(spinpark::Runtime);

    impl Runtime {
        /// With the usual numbers.
        pub fn new() -> Result<Self, spinpark::BuildError> {
            spinpark::Runtime::builder().build().map(Runtime)
        }

        /// Plays a future, on this thread.
        pub fn block_on<F: Future>(&self, future: F) -> F::Output {
            self.0.block_on(future).expect("it can be played to its end")
        }
    }
}

/// Tasks.
pub mod task {
    pub use crate::spawn;
    pub use spinpark::{JoinError, JoinHandle, yield_now};
    pub use tokio::task::coop;
}

/// Timers.
pub mod time {
    pub use spinpark::time::{Sleep, interval, sleep, sleep_until, timeout};
    pub use std::time::{Duration, Instant};
}
