//! What lives under the one lock, and what has to be done after it is released.
//!
//! Go: `sched.lock`.
//!
//! **Nobody is woken, started or waited for under the lock.** Who finds under it that somebody has to be woken writes
//! that down, in `Calls`; it is done as soon as the lock is free, by the same thread.
//!
//! Checked by: verification/src/models/{lists,sched,whole}.rs

use crate::host::{Host, Lock, Parker};
use crate::kernel::protocol::deadlock::Census;
use crate::kernel::protocol::locked::Bindings;
use crate::kernel::protocol::stw::WorldState;
use crate::kernel::protocol::stw::safepoint::Safepoint;
use crate::kernel::queues::globq::GlobQueue;
use crate::kernel::queues::idle::{IdlePs, SleepingMs};
use crate::kernel::sched::Sched;
use crate::kernel::sched::observer::{Event, Observer};
use crate::kernel::types::g::G;
use crate::kernel::types::m::{MId, NextP};
use crate::kernel::types::p::OwnedP;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::Relaxed;

/// What lives under the one lock.
pub(in crate::kernel) struct Central<H: Host> {
    pub(in crate::kernel) global: GlobQueue,
    pub(in crate::kernel) idle_ps: IdlePs,
    pub(in crate::kernel) sleeping: SleepingMs,
    /// Ps that there may be, but are not.
    pub(in crate::kernel) spare: Vec<OwnedP>,
    /// Ms that were never started, or have ended.
    pub(in crate::kernel) unused: Vec<MId>,
    /// Ms that were started and have not ended.
    pub(in crate::kernel) alive: usize,
    pub(in crate::kernel) closed: bool,
    pub(in crate::kernel) world: WorldState<H>,
    pub(in crate::kernel) safepoint: Option<Safepoint<H>>,
    pub(in crate::kernel) bound: Bindings,
    pub(in crate::kernel) monitor: Monitor,
    /// How often no M was available, and whether the monitor should try again.
    pub(in crate::kernel) refused: u64,
    pub(in crate::kernel) must_retry: bool,
    pub(in crate::kernel) calls: Calls<H>,
}

/// What the monitor does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::kernel) enum Monitor {
    /// There is none.
    Absent,
    /// It looks again soon.
    Awake,
    /// It sleeps deeply: whoever takes an idle P wakes it.
    Asleep,
}

/// What is to be done when the lock is free.
pub(in crate::kernel) struct Calls<H: Host> {
    /// Wake these: a stopper, or who waits for a safepoint.
    parkers: Vec<Arc<H::Parker>>,
    monitor: bool,
    closer: bool,
    /// Deliver this.
    nextp: Vec<(MId, NextP)>,
    /// Run the safepoint's function under these, and hand them on.
    pass: Vec<OwnedP>,
    wakep: bool,
    poller: bool,
    /// Is there anything at all?
    any: bool,
}

impl<H: Host> Calls<H> {
    pub(in crate::kernel) fn none() -> Self {
        let (parkers, nextp, pass) = (Vec::new(), Vec::new(), Vec::new());
        Calls { parkers, monitor: false, closer: false, nextp, pass, wakep: false, poller: false, any: false }
    }

    fn take(&mut self) -> Option<Self> {
        self.any.then(|| core::mem::replace(self, Calls::none()))
    }

    /// Wake this one.
    pub(in crate::kernel) fn wake(&mut self, parker: Option<Arc<H::Parker>>) {
        self.any |= parker.is_some();
        self.parkers.extend(parker);
    }

    /// Wake the monitor.
    fn monitor(&mut self) {
        (self.monitor, self.any) = (true, true);
    }

    /// Wake who closes the scheduler.
    pub(in crate::kernel) fn closer(&mut self) {
        (self.closer, self.any) = (true, true);
    }

    /// Wake `m` with `nextp`.
    pub(in crate::kernel) fn wake_with(&mut self, m: MId, nextp: NextP) {
        self.any = true;
        self.nextp.push((m, nextp));
    }

    /// Run the safepoint's function under `p`, and hand it on.
    fn pass(&mut self, p: OwnedP) {
        self.any = true;
        self.pass.push(p);
    }

    /// See to it that somebody looks for work.
    pub(in crate::kernel) fn wakep(&mut self) {
        (self.wakep, self.any) = (true, true);
    }

    /// Bring back who waits in the poller, if anybody does.
    pub(in crate::kernel) fn poller(&mut self) {
        (self.poller, self.any) = (true, true);
    }
}

impl<H: Host, O: Observer> Sched<H, O> {
    /// Runs `f` under the lock, and makes the calls it has left behind.
    #[inline]
    pub(in crate::kernel) fn central<R>(self: &Arc<Self>, f: impl FnOnce(&mut Central<H>) -> R) -> R {
        let (result, calls) = self.lock.with(|c| {
            let result = f(c);
            (result, c.calls.take())
        });
        if let Some(calls) = calls {
            self.make(calls);
        }
        result
    }

    #[cold]
    fn make(self: &Arc<Self>, calls: Calls<H>) {
        let Calls { parkers, monitor, closer, nextp, pass, wakep, poller, any: _ } = calls;
        nextp.into_iter().for_each(|(m, nextp)| self.ms[m.index()].wake_with(nextp));
        parkers.into_iter().for_each(|parker| parker.unpark());
        pass.into_iter().for_each(|p| self.handoffp(p));
        if wakep {
            self.spinning.wakep(self);
        }
        if poller && self.netpoll.is_blocked() {
            self.poller.interrupt(); // who begins to wait after this looks under the lock first
        }
        if monitor {
            self.monitor.unpark();
        }
        if closer {
            self.closer.unpark();
        }
    }

    /// Takes an idle P. Wakes the monitor: it sleeps deeply only while every P is idle.
    pub(in crate::kernel) fn pidleget(&self, c: &mut Central<H>) -> Option<OwnedP> {
        let p = c.idle_ps.get(&self.idle_mask)?;
        self.rouse_monitor(c);
        Some(p)
    }

    pub(in crate::kernel) fn rouse_monitor(&self, c: &mut Central<H>) {
        if c.monitor == Monitor::Asleep {
            c.monitor = Monitor::Awake;
            c.calls.monitor();
        }
    }

    /// Lets go of `p`, whose queues are empty: for a stop or for a safepoint; else it is idle. The one place where a P
    /// is let go of. If there is nobody to look for work, because the scheduler is closed or no M is available, a bound G
    /// whose ticket waits gets it: its M is one that need not be looked for.
    pub(in crate::kernel) fn releasep(&self, c: &mut Central<H>, p: OwnedP, nobody_looks: bool) {
        if c.world.is_stopping() {
            self.observer.event(Event::Held { p: p.id() });
            let stopper = c.world.hold(p);
            c.calls.wake(stopper);
        } else if c.safepoint.as_ref().is_some_and(|safepoint| safepoint.wants(&p)) {
            c.calls.pass(p);
        } else {
            let bound = if nobody_looks || c.closed { c.global.get_bound(&self.global_len) } else { None };
            match bound {
                Some(m) => c.calls.wake_with(m, NextP::Run { p, token: None }),
                None => {
                    self.observer.event(Event::Listed { p: p.id() });
                    c.idle_ps.put(p, &self.idle_mask);
                }
            }
            if c.closed {
                c.calls.closer(); // it waits for every P to come home
            }
            self.checkdead(c);
        }
    }

    /// The scheduler is closed: the monitor has to end, also if it only naps.
    pub(in crate::kernel) fn end_monitor(&self, c: &mut Central<H>) {
        if c.monitor != Monitor::Absent {
            c.monitor = Monitor::Awake;
            c.calls.monitor();
        }
    }

    /// Gives the G that is bound to `m` an idle P, or puts its ticket into the global queue.
    pub(in crate::kernel) fn send_for(&self, c: &mut Central<H>, m: MId) {
        match self.pidleget(c) {
            Some(p) => c.calls.wake_with(m, NextP::Run { p, token: None }),
            // No `wakep`: no P is idle, and who idles one looks there first, under this lock.
            None => c.global.put(G::bound_to(m), &self.global_len),
        }
    }

    /// Could one more M be started? Those whose Gs were preempted and go on without a P do not count: they serve nobody
    /// else.
    pub(in crate::kernel) fn may_start(&self, c: &Central<H>) -> bool {
        // Relaxed: a number that is too small makes the work wait until the monitor tries again.
        let detached = self.detached.load(Relaxed) as usize;
        // By numbers in use, not by who is alive: one that ends gives its number back first.
        let used = self.ms.len() - c.unused.len();
        !c.unused.is_empty() && used.saturating_sub(detached) < self.config.max_ms
    }

    /// A number for a new M, which counts as alive from now on. Go: `mReserveID`.
    pub(in crate::kernel) fn reserve(&self, c: &mut Central<H>) -> Option<MId> {
        if !self.may_start(c) {
            return None;
        }
        let m = c.unused.pop()?;
        c.alive += 1;
        Some(m)
    }

    /// Takes `m`'s number back.
    pub(in crate::kernel) fn free_m(&self, c: &mut Central<H>, m: MId) {
        self.observer.event(Event::Exited { m });
        c.bound.forget(m);
        c.unused.push(m);
    }

    /// An M, whose number was taken back, is no more.
    pub(in crate::kernel) fn end_m(&self, c: &mut Central<H>) {
        c.alive -= 1;
        self.observer.event(Event::Gone { sleeping: c.sleeping.len(), alive: c.alive });
        if c.closed && c.alive == 0 {
            self.end_monitor(c);
            c.calls.closer();
        }
        self.checkdead(c);
    }

    /// Something else than the scheduler's own doing has ended that was expected: can anything still happen?
    pub fn look_for_deadlock(self: &Arc<Self>) {
        self.central(|c| self.checkdead(c));
    }

    /// Somebody sleeps, rests, ends, or lets go of a P: was it the last that could do anything? Then the G that has
    /// waited longest is told.
    pub(in crate::kernel) fn checkdead(&self, c: &mut Central<H>) {
        if c.bound.inside() == 0 || c.closed {
            return;
        }
        let census = Census {
            alive: c.alive,
            sleeping: c.sleeping.len(),
            waiting: c.bound.inside(),
            busy_ps: self.procs() - c.idle_ps.len(),
            may_start: self.may_start(c),
            queued: c.global.len(),
            // In this order: a source has its work before it stops expecting it.
            is_expecting: self.poller.is_awaited()
                || self.sources.iter().any(|source| source.is_expecting() || source.has_work()),
        };
        let Some(why) = census.verdict() else { return };
        if let Some(m) = c.bound.oldest_inside()
            && c.bound.ready(m, why)
        {
            self.observer.event(Event::Deadlock { m, why });
            self.send_for(c, m);
        }
    }
}

impl<H: Host> Drop for Central<H> {
    /// The end of the scheduler: the Ps end with it.
    fn drop(&mut self) {
        for p in self.spare.drain(..) {
            p.relinquish();
        }
    }
}
