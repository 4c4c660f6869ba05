//! Where an M waits that has nothing to do.
//!
//! Tasks that are woken from there are collected, and given to the scheduler that polls.

use crate::host::{Host, NEVER, Nanos, Parker};
use crate::kernel::protocol::work_source::Poller;
use crate::kernel::types::g::G;
use crate::runtime::exec::context::{Context, OnHost};
use crate::runtime::exec::inside::Callback;
use crate::runtime::exec::time_here;
use crate::runtime::id::RuntimeId;
use crate::runtime::io::reactor::Reactor;
use crate::runtime::time::clock::FAR;
use crate::runtime::time::timer::TimerQueue;
use core::marker::PhantomData;
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

/// Runs `f`, which wakes tasks of `runtime_id`, and gives those to `put`.
pub(super) fn collect<H: OnHost>(runtime_id: RuntimeId, put: &mut dyn FnMut(G), f: impl FnOnce()) {
    // Wakers that are not ours run here.
    let _callback = Callback::that_delays_stops(runtime_id);
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

/// While time is paused: so long bytes may be on their way from a task to another, in the system.
const ON_THE_WAY: Duration = Duration::from_millis(1);

/// While time is paused and something still runs: so often it is looked soon, then not so soon.
const SOON: (u32, Duration, Duration) = (20, Duration::from_micros(20), Duration::from_millis(1));

/// An M waits in the system's poller.
pub(super) struct SocketPoller<H> {
    reactor: Arc<Reactor>,
    timers: Arc<TimerQueue>,
    /// How often it was looked since time has last jumped.
    looks: Mutex<u32>,
    host: PhantomData<H>,
}

impl<H: OnHost> SocketPoller<H> {
    pub(super) fn new(reactor: Arc<Reactor>, timers: Arc<TimerQueue>) -> Self {
        SocketPoller { reactor, timers, looks: Mutex::new(0), host: PhantomData }
    }

    /// Time is paused, and there is a timer. If all else waits, and what may be on its way has not come, time jumps; if not, the M that
    /// polls comes here again soon. No thread says when it comes to wait: a clock that tests use shall cost others nothing.
    fn poll_paused(&self, put: &mut dyn FnMut(G)) {
        if self.waits_for_time() {
            let on_the_way = if self.reactor.netpoll.is_awaited() { ON_THE_WAY } else { Duration::ZERO };
            let from = Instant::now();
            let woken = self.collect(Some(on_the_way), put);
            // A thread in `block_on` that was woken may sleep again by now. Less time: the wait was interrupted.
            if woken == 0 && from.elapsed() >= on_the_way && self.waits_for_time() {
                self.timers.jump();
            }
            *self.looks() = 0;
            return;
        }
        let (times, soon, later) = SOON;
        let looks = {
            let mut looks = self.looks();
            *looks = looks.saturating_add(1);
            *looks
        };
        if looks <= times {
            thread::sleep(soon);
            return self.peek(put);
        }
        self.collect(Some(later), put);
    }

    fn looks(&self) -> MutexGuard<'_, u32> {
        self.looks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn waits_for_time(&self) -> bool {
        self.reactor.runtime_id.find().is_some_and(|tasks| time_here::waits_for_time(&tasks))
    }

    /// Returns how many it has woken.
    fn collect(&self, timeout: Option<Duration>, put: &mut dyn FnMut(G)) -> usize {
        let mut woken = 0;
        collect::<H>(self.reactor.runtime_id, put, || woken = self.reactor.netpoll.poll(timeout));
        woken
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
        if until == FAR {
            return self.poll_paused(put);
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
