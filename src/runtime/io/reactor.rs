//! The sockets of a runtime, and what is done before an M waits for them.

use crate::runtime::exec::idle::IdleWork;
use crate::runtime::id::RuntimeId;
use crate::runtime::io::netpoll::choice::Poller;
use crate::runtime::io::netpoll::poller::Netpoll;
use std::io;
use std::sync::Arc;

/// What an M does that has nothing else to do.
pub(in crate::runtime) struct Reactor {
    pub(in crate::runtime) runtime_id: RuntimeId,
    pub(in crate::runtime) netpoll: Arc<Netpoll>,
    /// What is done before it waits.
    pub(in crate::runtime) idle: IdleWork,
    /// A simulated machine has no network.
    has_network: bool,
    /// The thread that polls waits in another reactor, which does not say whether a task waits there.
    has_outer: bool,
}

impl Reactor {
    /// # Errors
    /// If the system gives no poller.
    pub(in crate::runtime) fn new(
        runtime_id: RuntimeId,
        has_network: bool,
        poller: Poller,
        has_outer: bool,
        idle: IdleWork,
    ) -> io::Result<Reactor> {
        Ok(Reactor { runtime_id, netpoll: Arc::new(Netpoll::new(poller)?), idle, has_network, has_outer })
    }

    /// The sockets.
    ///
    /// # Errors
    /// On a simulated machine there are none.
    pub(in crate::runtime) fn netpoll(&self) -> io::Result<Arc<Netpoll>> {
        match self.has_network {
            true => Ok(Arc::clone(&self.netpoll)),
            false => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "a deterministic runtime has no sockets, pipes, child processes or signals: give the code under test a stream of \
                 the test's own",
            )),
        }
    }

    /// Is a socket waited for, or is there something to do before?
    pub(in crate::runtime) fn is_awaited(&self) -> bool {
        self.has_outer || self.netpoll.is_awaited() || self.idle.is_any()
    }

    pub(in crate::runtime) fn close(&self) {
        self.idle.close();
        self.netpoll.close();
    }
}
