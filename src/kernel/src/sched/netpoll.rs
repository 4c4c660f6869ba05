//! The scheduler's side of waiting: the last M that has nothing to do waits in the poller, the others sleep.
//!
//! Go: the end of `findRunnable`, `injectglist`, `wakeNetPoller`, and the poll duty of `sysmon`.
//!
//! **An M that comes back from the poller takes an idle P for the Gs that became runnable; if no P is idle, they go to the
//! global queue under the same hold of the lock** (so that no M has to be woken: an M that idles a P checks that queue first),
//! and the M sleeps without a second claim: a deadline that has passed, with no P to serve it, must not be waited for again
//! and again (golang/go #51654).
//!
//! With one G to run it does not search, and wakes no other M: a wake-up wakes one M.
//!
//! Checked by: verification/src/models/{poll,poller}.rs

use crate::host::{Host, NEVER, Nanos, Parker};
use crate::protocol::find::Worker;
use crate::protocol::netpoll;
use crate::protocol::sysmon::SLICE;
use crate::protocol::threads;
use crate::protocol::work_source::Poller;
use crate::sched::Sched;
use crate::sched::central::Central;
use crate::sched::observer::{Event, Observer};
use crate::types::g::G;
use crate::types::m::{MId, NextP};
use crate::types::p::PId;
use alloc::{sync::Arc, vec::Vec};

impl<H: Host, O: Observer> Sched<H, O> {
    /// `m`, which has no P and is not spinning, waits in the poller or sleeps, until its `nextp` is set or it finds one.
    pub(crate) fn sleep(self: &Arc<Self>, m: MId) -> NextP {
        while let Some(poll) = self.netpoll.claim(self) {
            let until = self.netpoll.prepare(&poll, self);
            if until == NEVER && !self.poller.is_awaited() {
                // The timer or the wait is gone. An M that waits for nothing has to sleep: else it would not be available for
                // a P, and no deadlock would be seen.
                self.netpoll.leave(poll, H::now());
                continue;
            }
            let instead = self.central(|c| self.instead_of_sleep(c));
            let mut ready = Vec::new();
            if instead.is_none() {
                self.observer.event(Event::Polling { m, until });
                self.poller.poll(until, &mut |g| ready.push(g));
                self.observer.event(Event::Polled { m });
            }
            self.netpoll.leave(poll, H::now());
            if let Some(nextp) = instead {
                return nextp;
            }
            if ready.is_empty() && H::now() < netpoll::Neighbours::deadline(self) {
                continue; // interrupted: to wait less long, or not at all
            }
            match self.injectglist(ready) {
                Some(nextp) => return nextp,
                None => break,
            }
        }
        threads::stopm(m, &self.ms, self)
    }

    /// What an M that is about to sleep should do instead. Under the lock.
    pub(crate) fn instead_of_sleep(&self, c: &mut Central<H>) -> Option<NextP> {
        if c.closed {
            return Some(NextP::Exit);
        }
        if c.idle_ps.is_empty() {
            return None;
        }
        let token = self.spinning.take_needspinning()?;
        self.pidleget(c).map(|p| NextP::Run { p, token: Some(token) })
    }

    /// An idle P for what is `ready`. Go: `injectglist`.
    fn injectglist(self: &Arc<Self>, ready: Vec<G>) -> Option<NextP> {
        let (p, ready) = self.central(|c| {
            let p = if c.closed { None } else { self.pidleget(c) };
            if p.is_none() {
                self.queue_all(c, ready);
                return None;
            }
            p.map(|p| (p, ready))
        })?;
        let is_many = ready.len() > 1;
        for g in ready {
            self.observer.event(Event::Queued { p: Some(p.id()), g: &g, next: false });
            self.proc(p.id()).queue.put(g, |half, g| self.spill(half, g));
        }
        if is_many {
            self.spinning.wakep(self);
        }
        Some(NextP::Run { p, token: None })
    }

    fn queue_all(&self, c: &mut Central<H>, gs: Vec<G>) {
        let seen = gs.into_iter().inspect(|g| {
            self.observer.event(Event::Queued { p: None, g, next: false });
        });
        c.global.put_batch(seen, &self.global_len);
    }

    /// No task waits any more for what the poller reports: the M that waits in it checks again whether to wait.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, worker| {
    /// sched.break_idle_poll(); // no M waits in the poller: nothing happens
    /// # worker }) }
    /// ```
    pub fn break_idle_poll(&self) {
        if self.netpoll.is_blocked() {
            self.poller.interrupt();
        }
    }

    /// What sources have and, if no M has asked it for some time, the poller reports; without waiting.
    fn look_around(self: &Arc<Self>, p: Option<PId>, asked: bool, put: &mut dyn FnMut(G)) {
        self.sources.iter().filter(|source| source.has_work()).for_each(|source| source.take(p, put));
        let every = self.config.peek_every;
        let is_due = |since| H::now().saturating_sub(since) >= every;
        if self.poller.is_awaited() && (every == 0 || asked || self.netpoll.neglected_since().is_some_and(is_due)) {
            self.netpoll.peek(self, H::now, || self.poller.peek(put));
        }
    }

    /// It is the turn of sources and poller: their Gs go into the ring of `worker`, which is busy. At a turn that is asked for, the first
    /// runs next, as if a G had readied it: those in the ring run for long.
    pub(crate) fn take_turn(self: &Arc<Self>, worker: &Worker) {
        let mut any = false;
        self.look_around(Some(worker.p.id()), worker.asks_turn, &mut |g| {
            let next = worker.asks_turn && !any && self.config.inherit_at_most > 0;
            any = true;
            self.observer.event(Event::Queued { p: Some(worker.p.id()), g: &g, next });
            match next {
                true => self.queue(worker).put_next(g, |half, g| self.spill(half, g)),
                false => self.queue(worker).put(g, |half, g| self.spill(half, g)),
            }
        });
        if any {
            self.spinning.wakep(self);
        }
    }

    /// Called by the monitor: is a deadline missed, or was the poller not polled for long, though a task waits? Go: `sysmon`.
    pub(crate) fn sysmon_netpoll(self: &Arc<Self>, now: Nanos) {
        let deadline = netpoll::Neighbours::deadline(self);
        let Some(since) = self.netpoll.neglected_since() else {
            if deadline <= now {
                // The M in the poller may not know of it: it was added under a P whose M has not gone to sleep since.
                self.netpoll.announce(deadline, self);
            } else if deadline == NEVER && !self.poller.is_awaited() {
                // The last timer was cancelled: an M that waits for nothing has to sleep, as in `sleep`.
                self.break_idle_poll();
            }
            return;
        };
        let is_old = now.saturating_sub(since) >= SLICE && (deadline != NEVER || self.poller.is_awaited());
        if deadline > now && !is_old {
            return;
        }
        if self.idle_mask.npidle() > 0 && !self.central(|c| c.must_retry) {
            return self.spinning.wakep(self); // an M searches, and waits there if it finds no work
        }
        // Every P is busy; or there is no M: all there may be wait with their Gs, perhaps for this.
        self.central(|c| c.monitor_takes = true);
        let mut ready = Vec::new();
        self.look_around(None, false, &mut |g| ready.push(g));
        let is_any = !ready.is_empty();
        self.central(|c| {
            c.monitor_takes = false;
            self.queue_all(c, ready);
            self.checkdead(c);
        });
        if is_any {
            self.spinning.wakep(self);
        }
    }
}

impl<H: Host, O: Observer> netpoll::Neighbours for Arc<Sched<H, O>> {
    fn deadline(&self) -> Nanos {
        self.sources.iter().map(|source| source.deadline()).min().unwrap_or(NEVER)
    }

    fn is_awaited(&self) -> bool {
        self.poller.is_awaited()
    }

    fn interrupt(&self) {
        self.poller.interrupt();
    }

    fn wakep(&self) {
        self.spinning.wakep(self);
    }
}

/// The poller of a scheduler that was given none: nothing is ever ready, but an M can wait in it, on a parker.
pub(super) struct ParkerPoller<H: Host>(pub(super) H::Parker);

impl<H: Host> Poller for ParkerPoller<H> {
    fn is_awaited(&self) -> bool {
        false
    }

    fn poll(&self, until: Nanos, _: &mut dyn FnMut(G)) {
        match until.saturating_sub(H::now()) {
            0 => (),
            _ if until == NEVER => self.0.park(),
            nanos => self.0.park_timeout(nanos),
        }
    }

    fn interrupt(&self) {
        self.0.unpark();
    }
}
