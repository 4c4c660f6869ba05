//! A page that shows a runtime while it runs. With the feature `console`.
//!
//! ```no_run
//! let runtime = spinpark::Runtime::builder().console(([127, 0, 0, 1], 6670)).build()?;
//! println!("look at http://{}", runtime.console_addr().expect("it was asked for"));
//! # Ok::<(), spinpark::BuildError>(())
//! ```
//!
//! ```text
//!   the runtime ── events ──► table: tasks by state and place, Ms ──┐
//!        └────── metrics, snapshot ─────────────────────────────────┴─► view ──► serve: /, /events ──► browser
//! ```
//!
//! **It is served by another runtime**, of one P, on threads of its own: so a runtime that is stuck can be looked at. It is an
//! [`Observer`](crate::runtime::Observer) like others, so a runtime without a console has nothing of it: no thread, no port, no step
//! in its scheduler.
//!
//! **Imports** everything; imported by nothing: a builder knows it as something that is attached.

mod serve;
mod table;
mod view;

use crate::runtime::builder::Builder;
use crate::runtime::console::serve::Asked;
use crate::runtime::runtime::Runtime;
use std::net::SocketAddr;
use std::sync::Arc;

impl Builder {
    /// Serves a page at this address that shows the runtime: its Ps, threads and queues, tasks by state and by the place where they
    /// were spawned, the longest polls, wake-ups per second, and what may be deadlocked. Port 0 takes any that is free:
    /// [`console_addr`](crate::Runtime::console_addr). Default: none. Needs the feature `console`.
    ///
    /// Every client that connects can look, and none can change anything. So only programs on this machine may connect: an address that
    /// is not a loopback one is refused by [`build`](Builder::build); [`console_exposed`](Builder::console_exposed) is for others.
    ///
    /// It is an [observer](Builder::observer), which takes a lock or two at each event, and a runtime of one P of its own. As
    /// long as that is there, a [deadlock](crate::Deadlock) is no error: the process has another runtime. The page names it.
    /// A [deterministic](Builder::deterministic) runtime has no console.
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(1).console(([127, 0, 0, 1], 0)).build()?;
    /// println!("look at http://{}", runtime.console_addr().expect("it was asked for"));
    /// # Ok::<(), spinpark::BuildError>(())
    /// ```
    pub fn console(mut self, address: impl Into<SocketAddr>) -> Self {
        self.watchers.console = Some(Arc::new(Asked::new(address.into(), false)));
        self
    }

    /// As [`console`](Builder::console), at any address: **every client that reaches it sees the names of your source files, and what your
    /// program does.** It has neither encryption nor passwords.
    ///
    /// ```
    /// let builder = spinpark::Runtime::builder().console_exposed(([0, 0, 0, 0], 6670)); // any machine may look
    /// # drop(builder);
    /// ```
    pub fn console_exposed(mut self, address: impl Into<SocketAddr>) -> Self {
        self.watchers.console = Some(Arc::new(Asked::new(address.into(), true)));
        self
    }
}

impl Runtime {
    /// Where its [console](Builder::console) listens, if it has one.
    #[must_use]
    pub fn console_addr(&self) -> Option<SocketAddr> {
        self.tasks().shared().console_addr()
    }
}
