//! A runtime whose time stands still.

use crate::runtime::builder::Builder;

impl Builder {
    /// Lets time stand still from the beginning, and jump, for tests: an hour of sleep is over at once, with real threads and real
    /// sockets. [`time::pause`](crate::time::pause) does so later, `resume` ends it, `advance` jumps by hand. (tokio: `start_paused`.)
    /// A [deterministic](Builder::deterministic) runtime, whose time jumps by itself, is as without it.
    ///
    /// **Time jumps to the next timer when all that the runtime does waits**: no task runs or could, none is in a
    /// [`syscall`](crate::syscall) or in [`blocking`](crate::blocking), and every thread in [`block_on`](crate::Runtime::block_on) or
    /// [`join`](crate::JoinHandle::join), of which there must be one, sleeps. Then the poller is asked; if a task waits for a socket, for a
    /// millisecond of real time. If it reports nothing, time jumps. So bytes from a task to another of this process, which the system
    /// delivers at once, arrive before a timer of the reader is due. The poller is the system's own for that, whatever [`poller`](Builder::poller) says: a ring's
    /// reports come later, so after `time::pause` in a runtime with io_uring time may jump before them.
    ///
    /// **What cannot be known**: bytes that are on their way from another process or machine, a child process that is about to end, a
    /// signal, a thread that no runtime knows and that is about to wake a task, and what io_uring does with a file. Time may jump before
    /// they come: where such a thing is waited for, a `timeout` around it may be over at once.
    ///
    /// Moments are to be taken from [`deterministic::now`](crate::deterministic::now): [`Instant::now`](std::time::Instant::now) shows
    /// real time, and so do calls that block, and the runtime's own numbers.
    ///
    /// ```
    /// use spinpark::{Runtime, deterministic, net, spawn, time};
    /// use std::time::Duration;
    ///
    /// let runtime = Runtime::builder().procs(2).start_paused(true).build()?;
    /// runtime.block_on(async {
    ///     let from = deterministic::now();
    ///     let listener = net::TcpListener::bind("127.0.0.1:0").await?;
    ///     let address = listener.local_addr()?;
    ///     let server = spawn(async move {
    ///         let (stream, _peer) = listener.accept().await?;
    ///         time::sleep(Duration::from_secs(3600)).await; // slow
    ///         stream.write_all(b"hello").await
    ///     });
    ///     let stream = net::TcpStream::connect(address).await?;
    ///     let mut word = [0; 5];
    ///     let early = time::timeout(Duration::from_secs(60), stream.read_exact(&mut word)).await;
    ///     assert!(early.is_err());
    ///     stream.read_exact(&mut word).await?;
    ///     assert_eq!((&word, deterministic::now() - from), (b"hello", Duration::from_secs(3600)));
    ///     server.await.expect("no panic")
    /// })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias("pause", "advance"))]
    pub fn start_paused(mut self, yes: bool) -> Self {
        self.starts_paused = yes;
        self
    }
}
