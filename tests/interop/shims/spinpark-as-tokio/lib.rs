//! spinpark's own primitives by tokio's paths, for tokio's tests. What is here is named, not made, but for `runtime` and `io`: ours
//! returns a `Result` from `block_on`, and its streams have the traits of futures-io.

#![forbid(unsafe_code)]

pub use spinpark::{fs, process, signal};
pub use spinpark::{join, select, spawn, task_local, test, try_join};

/// `pin!`, which declares what it pins.
#[macro_export]
macro_rules! pin {
    ($($name:ident),* $(,)?) => { $(let mut $name = ::core::pin::pin!($name);)* };
    ($(let $name:ident = $value:expr;)*) => { $(let mut $name = ::core::pin::pin!($value);)* };
}

/// Locks and channels. `mpsc` is theirs: some tests of other things use it.
pub mod sync {
    pub use spinpark::sync::*;
    pub use tokio::sync::mpsc;

    /// Futures that have a name there.
    pub mod futures {
        pub use spinpark::sync::Notified;
    }
}

/// Sockets.
pub mod net {
    pub use spinpark::net::unix::{UnixDatagram, UnixListener, UnixStream};
    pub use spinpark::net::*;
}

/// Streams, by the traits of futures-io.
pub mod io {
    pub use futures_util::io::{
        AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncSeek, AsyncSeekExt, AsyncWrite, BufReader,
    };
    pub use spinpark::io::*;
    pub use std::io::{Error, ErrorKind, Result, SeekFrom};
    pub use tokio::io::ReadBuf;

    /// Writing; to end it is `shutdown` there.
    pub trait AsyncWriteExt: AsyncWrite + Unpin {
        /// As `write_all` of futures.
        fn write_all(&mut self, bytes: &[u8]) -> impl Future<Output = Result<()>> {
            async { futures_util::io::AsyncWriteExt::write_all(self, bytes).await }
        }

        /// As `write_vectored` of futures.
        fn write_vectored(&mut self, slices: &[std::io::IoSlice<'_>]) -> impl Future<Output = Result<usize>> {
            async { futures_util::io::AsyncWriteExt::write_vectored(self, slices).await }
        }

        /// As `flush` of futures.
        fn flush(&mut self) -> impl Future<Output = Result<()>> {
            futures_util::io::AsyncWriteExt::flush(self)
        }

        /// As `close` of futures.
        fn shutdown(&mut self) -> impl Future<Output = Result<()>> {
            futures_util::io::AsyncWriteExt::close(self)
        }
    }

    impl<T: AsyncWrite + Unpin + ?Sized> AsyncWriteExt for T {}

    /// From one to the other.
    pub async fn copy<R, W>(from: &mut R, to: &mut W) -> Result<u64>
    where
        R: AsyncRead + Unpin + ?Sized,
        W: AsyncWrite + Unpin + ?Sized,
    {
        futures_util::io::copy(from, to).await
    }

    /// Any descriptor.
    pub mod unix {
        pub use spinpark::io::{AsyncFd, AsyncFdReadyGuard, TryIoError};
    }
}

/// Runtimes, of which the tests want that they play a future.
pub mod runtime {
    use spinpark::{BuildError, JoinHandle};
    pub use spinpark::{EnterGuard, Handle};

    /// How many at once.
    #[derive(Debug)]
    pub struct Builder(usize);

    impl Builder {
        /// One task at a time.
        pub fn new_current_thread() -> Self {
            Builder(1)
        }

        /// Some.
        pub fn new_multi_thread() -> Self {
            Builder(4)
        }

        /// So many.
        pub fn worker_threads(&mut self, n: usize) -> &mut Self {
            self.0 = n;
            self
        }

        /// It is so.
        pub fn enable_all(&mut self) -> &mut Self {
            self
        }

        /// It is so.
        pub fn enable_time(&mut self) -> &mut Self {
            self
        }

        /// It is so.
        pub fn enable_io(&mut self) -> &mut Self {
            self
        }

        /// The runtime.
        pub fn build(&mut self) -> Result<Runtime, BuildError> {
            Runtime::of(self.0)
        }
    }

    /// Ours; `block_on` panics where ours has an error.
    #[derive(Debug)]
    pub struct Runtime {
        handle: Handle,
        inner: spinpark::Runtime,
    }

    impl Runtime {
        fn of(procs: usize) -> Result<Self, BuildError> {
            let inner = spinpark::Runtime::builder().procs(procs).build()?;
            Ok(Runtime { handle: inner.handle(), inner })
        }

        /// With some Ps.
        pub fn new() -> Result<Self, BuildError> {
            Self::of(4)
        }

        /// Plays a future, on this thread.
        #[track_caller]
        pub fn block_on<F: Future>(&self, future: F) -> F::Output {
            self.inner.run(future)
        }

        /// A handle.
        pub fn handle(&self) -> &Handle {
            &self.handle
        }

        /// From now on this thread is inside.
        pub fn enter(&self) -> EnterGuard<'_> {
            self.inner.enter()
        }

        /// A task.
        pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
        where
            F: Future<Output: Send + 'static> + Send + 'static,
        {
            self.inner.spawn(future)
        }

        /// Ends it.
        pub fn shutdown_background(self) {
            drop(self);
        }
    }
}

/// Tasks.
pub mod task {
    pub use spinpark::{AbortOnDropHandle, JoinMap, TaskTracker};
    pub use spinpark::{AbortHandle, JoinError, JoinHandle, JoinSet, LocalKey, LocalSet, TaskId as Id, YieldNow};
    pub use spinpark::{spawn, yield_now};
    /// `task_local!`'s.
    pub mod futures {
        pub use spinpark::TaskLocalFuture;
    }
}

/// Timers. Moments are std's.
pub mod time {
    pub use spinpark::time::{
        Interval, MissedTickBehavior, Sleep, Timeout, interval, interval_at, sleep, sleep_until,
        timeout, timeout_at,
    };
    pub use std::time::{Duration, Instant};

    /// Errors.
    pub mod error {
        pub use spinpark::time::Elapsed;
    }
}

/// What their macros name.
pub mod macros {
    /// The same.
    pub mod support {
        pub use std::future::poll_fn;
    }
}
