//! Where the last M waits that has nothing to do: in the poller of the sockets.

use crate::host::{Host, NEVER, Nanos, Parker};
use crate::kernel::protocol::work_source::Poller;
use crate::kernel::types::g::G;
use crate::runtime::exec::idle::IdleWork;
use crate::runtime::exec::registry::RuntimeId;
use crate::runtime::exec::worker;
use crate::runtime::io::netpoll::Netpoll;
use crate::runtime::time::timer::TimerQueue;
use crate::runtime::{Cores, FutexParker};
use core::time::Duration;
use std::io;
use std::sync::Arc;

/// The sockets of a runtime, as its scheduler sees them.
pub(in crate::runtime) struct Reactor {
    runtime_id: RuntimeId,
    pub(in crate::runtime) netpoll: Arc<Netpoll>,
    /// Where to wait instead, on a simulated machine: it has no network.
    parker: Option<FutexParker>,
    /// What is done before anybody waits.
    pub(in crate::runtime) idle: IdleWork,
}

impl Reactor {
    /// # Errors
    /// If the system gives no poller.
    pub(in crate::runtime) fn new(
        runtime_id: RuntimeId,
        timers: &Arc<TimerQueue>,
        is_simulated: bool,
        idle: IdleWork,
    ) -> io::Result<Reactor> {
        let netpoll = Netpoll::new()?;
        let timers = Arc::clone(timers);
        netpoll.set_on_first(Box::new(move || {
            // Who holds a P looks whether somebody has to wait, before it sleeps.
            if !worker::holds_p_of(runtime_id) {
                timers.announce(NEVER);
            }
        }));
        netpoll.set_on_none(Box::new(move || {
            if let Some(tasks) = runtime_id.find() {
                tasks.break_idle_poll();
            }
        }));
        Ok(Reactor { runtime_id, netpoll: Arc::new(netpoll), parker: is_simulated.then(FutexParker::new), idle })
    }

    /// The sockets.
    ///
    /// # Errors
    /// On a simulated machine there are none.
    pub(in crate::runtime) fn netpoll(&self) -> io::Result<Arc<Netpoll>> {
        match self.parker {
            None => Ok(Arc::clone(&self.netpoll)),
            Some(_) => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "a deterministic runtime has no network: give the code under test a stream of the test's own",
            )),
        }
    }

    pub(in crate::runtime) fn close(&self) {
        self.idle.close();
        self.netpoll.close();
    }
}

impl Poller for Arc<Reactor> {
    fn is_awaited(&self) -> bool {
        self.netpoll.is_awaited() || self.idle.is_any()
    }

    fn poll(&self, until: Nanos, put: &mut dyn FnMut(G)) {
        if self.idle.is_any() {
            // Then the thread looks for tasks, and if there are none it comes here again.
            self.idle.do_some();
            return self.peek(put);
        }
        if let Some(parker) = &self.parker {
            return match until {
                NEVER => parker.park(),
                until => parker.park_timeout(until.saturating_sub(Cores::now())),
            };
        }
        let timeout = (until != NEVER).then(|| Duration::from_nanos(until.saturating_sub(Cores::now())));
        worker::collect(self.runtime_id, put, || {
            self.netpoll.poll(timeout);
        });
    }

    fn peek(&self, put: &mut dyn FnMut(G)) {
        if self.parker.is_some() {
            return;
        }
        worker::collect(self.runtime_id, put, || {
            self.netpoll.poll(Some(Duration::ZERO));
        });
    }

    fn interrupt(&self) {
        match &self.parker {
            Some(parker) => parker.unpark(),
            None => self.netpoll.interrupt(),
        }
    }
}
