//! Where a runtime waits for sockets and files.

use crate::runtime::builder::Builder;
use crate::runtime::io::netpoll::choice::Poller;

impl Builder {
    /// Which of the system's pollers it waits in, for sockets and files. Default: [`Poller::Auto`]. What the system does not give
    /// is no error: then it is the one that there always is, and [`Metrics::poller`](crate::Metrics::poller) says so.
    pub fn poller(mut self, poller: Poller) -> Self {
        self.poller = poller;
        self
    }

    /// Lets libraries that are made for tokio find its runtime in every task, without [`Compat`](crate::tokio_compat::Compat): its sockets,
    /// its timers, `tokio::spawn`. No thread more: the one of ours that would wait for sockets waits in tokio's poller, in which ours is
    /// one source of many. `#[spinpark::main(tokio)]` is the same.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let runtime = spinpark::Runtime::builder().procs(2).tokio_context().build()?;
    /// let sum = runtime.block_on(async {
    ///     let ours = spinpark::spawn(async {
    ///         tokio::time::sleep(Duration::from_millis(1)).await; // by tokio's timer, in a task of ours
    ///         40
    ///     });
    ///     let theirs = tokio::spawn(async { 2 });
    ///     ours.await.expect("no panic") + theirs.await.expect("no panic")
    /// })?;
    /// assert_eq!(sum, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// * **Where it is**: in tasks and goroutines of this runtime, in the future of its [`block_on`](crate::Runtime::block_on), and in what
    ///   `tokio::spawn` was given, where our runtime is [entered](crate::Runtime::enter) besides.
    /// * **What `tokio::spawn` is given** is a task of tokio's, which has no hook to make it one of ours. Such tasks run one at a time, on
    ///   the thread that waits for sockets; beside tasks of ours that all have work, at the turns at which these look at sockets
    ///   ([`peek_every`](Builder::peek_every)). One that blocks or computes for long keeps the sockets waiting: give it to
    ///   [`spinpark::spawn`](crate::spawn), or to [`blocking`](crate::blocking).
    /// * **Impossible with tokio's interface**: `tokio::task::block_in_place`, which panics as in any `current_thread` runtime, and
    ///   `tokio::task::spawn_local` outside of a `LocalSet`. `spawn_blocking` has tokio's threads.
    /// * **Timers of ours** have tokio's resolution of a millisecond in a runtime that has nothing else to do.
    /// * **Deadlocks are not detected**: for all that is known something in tokio's runtime will wake a task.
    /// * **The poller** is the system's own, whatever [`poller`](Builder::poller) says.
    /// * **The end**: tasks of ours are dropped in the context, then those of tokio's.
    #[doc(alias = "tokio")]
    #[cfg(feature = "tokio-context")]
    pub fn tokio_context(mut self) -> Self {
        self.has_tokio = true;
        self
    }
}
