//! What the examples `http_server` and `https_proxy` use of spinpark, made of tokio, under spinpark's names: so the same source is
//! built for both. Nothing here does more than tokio's own users would write.

#![forbid(unsafe_code)]

use std::io;
pub use tokio;

/// As `spinpark::spawn`.
pub use tokio::spawn;

/// TCP.
pub mod net {
    pub use tokio::net::{TcpListener, TcpStream};
}

/// Time.
pub mod time {
    pub use tokio::time::{sleep, timeout};
}

/// Signals.
pub mod signal {
    pub use tokio::signal::unix;
}

/// Channels of which the examples use only that one end is gone.
pub mod chan {
    pub use async_channel::{Receiver, Sender};

    /// Nothing is ever sent in it.
    pub fn rendezvous<T>() -> (Sender<T>, Receiver<T>) {
        async_channel::bounded(1)
    }
}

/// What hyper wants.
pub mod hyper {
    use ::hyper::rt;
    pub use hyper_util::rt::TokioIo as Io;
    use hyper_util::rt::TokioTimer;
    use std::pin::Pin;
    use std::time::{Duration, Instant};

    /// Spawns.
    #[derive(Debug, Clone, Copy)]
    pub struct Executor;

    impl<F: Future<Output: Send> + Send + 'static> rt::Executor<F> for Executor {
        fn execute(&self, future: F) {
            drop(tokio::spawn(future));
        }
    }

    /// Sleeps.
    #[derive(Debug, Clone, Copy)]
    pub struct Timer;

    impl rt::Timer for Timer {
        fn sleep(&self, time: Duration) -> Pin<Box<dyn rt::Sleep>> {
            TokioTimer::new().sleep(time)
        }

        fn sleep_until(&self, when: Instant) -> Pin<Box<dyn rt::Sleep>> {
            TokioTimer::new().sleep_until(when)
        }

        fn reset(&self, sleep: &mut Pin<Box<dyn rt::Sleep>>, when: Instant) {
            TokioTimer::new().reset(sleep, when);
        }

        fn now(&self) -> Instant {
            TokioTimer::new().now()
        }
    }
}

/// tokio's, with a case for the time.
#[macro_export]
macro_rules! select {
    (@ [$($done:tt)*]) => { $crate::tokio::select! { $($done)* } };
    (@ [$($done:tt)*] timeout($time:expr) => $body:expr $(,)?) => {
        $crate::tokio::select! { $($done)* _ = $crate::time::sleep($time) => { $body } }
    };
    (@ [$($done:tt)*] $next:tt $($rest:tt)*) => { $crate::select! { @ [$($done)* $next] $($rest)* } };
    ($($all:tt)*) => { $crate::select! { @ [] $($all)* } };
}

/// tokio's runtime, with as many workers as there are cores.
pub struct Runtime(tokio::runtime::Runtime);

impl Runtime {
    /// As tokio's.
    ///
    /// # Errors
    /// If the system refuses something.
    pub fn new() -> io::Result<Runtime> {
        tokio::runtime::Runtime::new().map(Runtime)
    }

    /// Nothing of it is set.
    pub fn builder() -> Builder {
        Builder
    }

    /// As tokio's.
    ///
    /// # Errors
    /// None: tokio knows of no deadlock.
    pub fn block_on<F: Future>(&self, future: F) -> io::Result<F::Output> {
        Ok(self.0.block_on(future))
    }
}

/// A runtime as it is.
pub struct Builder;

impl Builder {
    /// Makes it.
    ///
    /// # Errors
    /// If the system refuses something.
    pub fn build(self) -> io::Result<Runtime> {
        Runtime::new()
    }
}

/// tokio's handle.
pub struct Handle(tokio::runtime::Handle);

/// What the metrics page shows.
pub struct Metrics {
    /// Workers.
    pub procs: usize,
    /// Workers, again: tokio counts no more in its stable interface.
    pub threads: usize,
    /// Tasks that live.
    pub tasks_waiting: usize,
}

impl Metrics {
    /// Not counted.
    pub fn dispatches(&self) -> u64 {
        0
    }
}

impl Handle {
    /// As tokio's.
    ///
    /// # Errors
    /// Outside of a runtime.
    pub fn try_current() -> Result<Handle, tokio::runtime::TryCurrentError> {
        tokio::runtime::Handle::try_current().map(Handle)
    }

    /// As tokio's.
    pub fn metrics(&self) -> Metrics {
        let metrics = self.0.metrics();
        let workers = metrics.num_workers();
        Metrics { procs: workers, threads: workers, tasks_waiting: metrics.num_alive_tasks() }
    }
}
