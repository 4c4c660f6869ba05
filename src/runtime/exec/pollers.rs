//! Where an M waits that has nothing to do.
//!
//! Tasks that are woken from there are collected, and given to the scheduler that polls.

use crate::host::{Host, NEVER, Nanos, Parker};
use crate::kernel::protocol::work_source::Poller;
use crate::kernel::types::g::G;
use crate::runtime::exec::context::{Context, OnHost};
use crate::runtime::exec::inside::Callback;
use crate::runtime::id::RuntimeId;
use crate::runtime::io::reactor::Reactor;
use core::marker::PhantomData;
use core::time::Duration;
use std::sync::Arc;

/// Runs `f`, which wakes tasks of `runtime_id`, and gives those to `put`.
pub(super) fn collect<H: OnHost>(runtime_id: RuntimeId, put: &mut dyn FnMut(G), f: impl FnOnce()) {
    Context::collect::<H>(runtime_id, &mut |task| put(task.into_g::<H>()), f);
}

/// Does a piece of what is left to an idle moment, if there is any.
fn do_idle_work(reactor: &Reactor) -> bool {
    let is_any = reactor.idle.is_any();
    if is_any {
        let _callback = Callback::of(reactor.runtime_id);
        reactor.idle.do_some();
    }
    is_any
}

/// An M waits in the system's poller.
pub(super) struct SocketPoller<H> {
    reactor: Arc<Reactor>,
    host: PhantomData<H>,
}

impl<H: OnHost> SocketPoller<H> {
    pub(super) fn new(reactor: Arc<Reactor>) -> Self {
        SocketPoller { reactor, host: PhantomData }
    }

    fn collect(&self, timeout: Option<Duration>, put: &mut dyn FnMut(G)) {
        collect::<H>(self.reactor.runtime_id, put, || {
            self.reactor.netpoll.poll(timeout);
        });
    }
}

impl<H: OnHost> Poller for SocketPoller<H> {
    fn is_awaited(&self) -> bool {
        self.reactor.is_awaited()
    }

    fn poll(&self, until: Nanos, put: &mut dyn FnMut(G)) {
        if do_idle_work(&self.reactor) {
            // Then the thread looks for tasks, and if there are none it comes here again.
            return self.peek(put);
        }
        let timeout = (until != NEVER).then(|| Duration::from_nanos(until.saturating_sub(H::now())));
        self.collect(timeout, put);
    }

    fn peek(&self, put: &mut dyn FnMut(G)) {
        self.collect(Some(Duration::ZERO), put);
    }

    fn interrupt(&self) {
        self.reactor.netpoll.interrupt();
    }
}

/// An M sleeps: there is no network.
pub(super) struct IdlePoller<H: Host> {
    reactor: Arc<Reactor>,
    parker: H::Parker,
}

impl<H: OnHost> IdlePoller<H> {
    pub(super) fn new(reactor: Arc<Reactor>) -> Self {
        IdlePoller { reactor, parker: H::Parker::new() }
    }
}

impl<H: OnHost> Poller for IdlePoller<H> {
    fn is_awaited(&self) -> bool {
        self.reactor.is_awaited()
    }

    fn poll(&self, until: Nanos, _: &mut dyn FnMut(G)) {
        if do_idle_work(&self.reactor) {
            return;
        }
        match until {
            NEVER => self.parker.park(),
            until => self.parker.park_timeout(until.saturating_sub(H::now())),
        }
    }

    fn peek(&self, _: &mut dyn FnMut(G)) {}

    fn interrupt(&self) {
        self.parker.unpark();
    }
}
