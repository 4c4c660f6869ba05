//! tokio, as others' tests and examples use it: its own `sync`, sockets and macros; tasks, timers and signals are spinpark's.

#![forbid(unsafe_code)]

use spinpark::{Handle, JoinHandle};

pub use spinpark::{main, test};
pub use tokio::{io, join, net, pin, select, sync, try_join};

/// A task of ours, in tokio's context: what it calls may call tokio's own `spawn`, and what that has spawned may call this.
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    match Handle::try_current() {
        Ok(runtime) => runtime.spawn(future),
        Err(_) => spinpark_interop::runtime().spawn(future),
    }
}

/// A runtime, of which they only want that it plays a future.
pub mod runtime {
    use spinpark::JoinHandle;
    use std::io;
    use tokio::runtime::{EnterGuard, Handle};

    /// Ours.
    #[derive(Debug)]
    pub struct Runtime {
        ours: spinpark::Runtime,
        theirs: Handle,
    }

    impl Runtime {
        /// With the usual numbers.
        pub fn new() -> io::Result<Self> {
            let ours = spinpark::Runtime::builder().tokio_context().build().map_err(io::Error::other)?;
            let theirs = ours.run(async { Handle::current() });
            Ok(Runtime { ours, theirs })
        }

        /// In tokio's context.
        pub fn enter(&self) -> EnterGuard<'_> {
            self.theirs.enter()
        }

        /// A task of it, in tokio's context.
        pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
        where
            F: Future<Output: Send + 'static> + Send + 'static,
        {
            self.ours.spawn(future)
        }

        /// Plays a future, on this thread, in tokio's context.
        pub fn block_on<F: Future>(&self, future: F) -> F::Output {
            self.ours.block_on(future).expect("it can be played to its end")
        }
    }

    /// Of a runtime, whatever is asked of it.
    #[derive(Debug)]
    pub struct Builder;

    impl Builder {
        /// On several threads, as each of ours.
        pub fn new_current_thread() -> Self {
            Builder
        }

        /// Sockets and timers are always there.
        pub fn enable_all(&mut self) -> &mut Self {
            self
        }

        /// With the usual numbers.
        pub fn build(&mut self) -> io::Result<Runtime> {
            Runtime::new()
        }
    }
}

/// Tasks.
pub mod task {
    pub use crate::spawn;
    pub use spinpark::{JoinError, JoinHandle, JoinSet, yield_now};
    pub use tokio::task::coop;
}

/// Signals.
pub mod signal {
    pub use spinpark::signal::ctrl_c;
}

/// Timers.
pub mod time {
    pub use spinpark::time::{interval, timeout};
    pub use std::time::{Duration, Instant};

    /// A timer of ours; on tokio's thread one of its own.
    pub async fn sleep(time: Duration) {
        match spinpark::Handle::try_current() {
            Ok(_) => spinpark::time::sleep(time).await,
            Err(_) => tokio::time::sleep(time).await,
        }
    }
}
