//! What lives under the one lock, and what has to be done after it is released.
//!
//! Go: `sched.lock`.
//!
//! **No thread is woken, started or waited for under the lock.** A thread that finds under it that another has to be woken
//! notes that in `Calls`, and wakes it as soon as the lock is free.
//!
//! Checked by: verification/src/models/{lists,sched,whole}.rs, verification/rooms/src/rooms/sched.rs

use crate::host::{Host, Lock, Parker};
use crate::protocol::deadlock::Census;
use crate::protocol::locked::Bindings;
use crate::protocol::stw::WorldState;
use crate::protocol::stw::safepoint::Safepoint;
use crate::queues::globq::GlobQueue;
use crate::queues::idle::{IdleMask, IdlePs, SleepingMs};
use crate::sched::Sched;
use crate::sched::config::Config;
use crate::sched::observer::{Event, Observer};
use crate::types::g::G;
use crate::types::m::{MId, NextP};
use crate::types::p::{OwnedP, PId};
use alloc::{boxed::Box, sync::Arc, vec::Vec};
use core::sync::atomic::Ordering::Relaxed;

/// What lives under the one lock.
pub(crate) struct Central<H: Host> {
    pub(crate) global: GlobQueue,
    pub(crate) idle_ps: IdlePs,
    pub(crate) sleeping: SleepingMs,
    /// Ps above `procs`: they exist, and no M uses them.
    pub(crate) spare: Vec<OwnedP>,
    /// Ms that were never started, or have ended.
    pub(crate) unused: Vec<MId>,
    /// Ms that were started and have not ended.
    pub(crate) alive: usize,
    /// How many of those are lost: their lives ended by a panic, or without their workers.
    pub(crate) lost: usize,
    /// How often each M has ended as it should.
    pub(crate) ends: Box<[u32]>,
    pub(crate) closed: bool,
    pub(crate) world: WorldState<H>,
    pub(crate) safepoint: Option<Safepoint<H>>,
    pub(crate) bound: Bindings,
    pub(crate) monitor: Monitor,
    /// How often no M was available, and whether the monitor should try again.
    pub(crate) refused: u64,
    pub(crate) must_retry: bool,
    /// The monitor asks sources and the poller: what it has taken there is in no queue yet.
    pub(crate) monitor_takes: bool,
    pub(crate) calls: Calls<H>,
}

/// What the monitor does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Monitor {
    /// There is none.
    Absent,
    /// It ticks again soon.
    Awake,
    /// It sleeps until it is woken: a thread that takes an idle P wakes it.
    Asleep,
}

/// What is to be done when the lock is free.
pub(crate) struct Calls<H: Host> {
    /// Wake these: a stopper, or the caller of a safepoint.
    parkers: Vec<Arc<H::Parker>>,
    monitor: bool,
    closer: bool,
    /// Wake these Ms, each with its `nextp`.
    nextp: Vec<(MId, NextP)>,
    /// Run the safepoint's function under these, and hand them off.
    pass: Vec<OwnedP>,
    wakep: bool,
    poller: bool,
    /// Is there anything to do?
    any: bool,
}

impl<H: Host> Calls<H> {
    pub(crate) fn none() -> Self {
        let (parkers, nextp, pass) = (Vec::new(), Vec::new(), Vec::new());
        Calls { parkers, monitor: false, closer: false, nextp, pass, wakep: false, poller: false, any: false }
    }

    fn take(&mut self) -> Option<Self> {
        self.any.then(|| core::mem::replace(self, Calls::none()))
    }

    /// Wake this thread, if any.
    pub(crate) fn wake(&mut self, parker: Option<Arc<H::Parker>>) {
        self.any |= parker.is_some();
        self.parkers.extend(parker);
    }

    /// Wake the monitor.
    fn monitor(&mut self) {
        (self.monitor, self.any) = (true, true);
    }

    /// Wake the thread that closes the scheduler.
    pub(crate) fn closer(&mut self) {
        (self.closer, self.any) = (true, true);
    }

    /// Wake `m` with `nextp`.
    pub(crate) fn wake_with(&mut self, m: MId, nextp: NextP) {
        self.any = true;
        self.nextp.push((m, nextp));
    }

    /// Run the safepoint's function under `p`, and hand it off.
    fn pass(&mut self, p: OwnedP) {
        self.any = true;
        self.pass.push(p);
    }

    /// Call `wakep`.
    pub(crate) fn wakep(&mut self) {
        (self.wakep, self.any) = (true, true);
    }

    /// Interrupt the M that waits in the poller, if there is one.
    pub(crate) fn poller(&mut self) {
        (self.poller, self.any) = (true, true);
    }
}

impl<H: Host, O: Observer> Sched<H, O> {
    /// Runs `f` under the lock, and makes the calls that it has noted.
    #[inline]
    pub(crate) fn central<R>(self: &Arc<Self>, f: impl FnOnce(&mut Central<H>) -> R) -> R {
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
            self.poller.interrupt(); // an M that begins to wait after this enters the lock first
        }
        if monitor {
            self.monitor.unpark();
        }
        if closer {
            self.closer.unpark();
        }
    }

    /// Takes an idle P. Wakes the monitor, which sleeps until it is woken while every P is idle.
    pub(crate) fn pidleget(&self, c: &mut Central<H>) -> Option<OwnedP> {
        let p = c.idle_ps.get(&self.idle_mask)?;
        self.rouse_monitor(c);
        Some(p)
    }

    pub(crate) fn rouse_monitor(&self, c: &mut Central<H>) {
        if c.monitor_wakes() {
            c.calls.monitor();
        }
    }

    /// Releases `p`, whose queues are empty: to a stop or to a safepoint; else it is idle. The one place where a P is
    /// released. If no M will look for work, because the scheduler is closed or no M is available, a bound G whose ticket
    /// waits gets it: its M exists already.
    pub(crate) fn releasep(&self, c: &mut Central<H>, p: OwnedP, nobody_looks: bool) {
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
                c.calls.closer(); // it waits until every P is idle
            }
            self.checkdead(c);
        }
    }

    /// The scheduler is closed: the monitor has to end, also if it sleeps only until its next tick.
    pub(crate) fn end_monitor(&self, c: &mut Central<H>) {
        if c.monitor != Monitor::Absent {
            c.monitor = Monitor::Awake;
            c.calls.monitor();
        }
    }

    /// Gives the G that is bound to `m` an idle P, or puts its ticket into the global queue.
    pub(crate) fn send_for(&self, c: &mut Central<H>, m: MId) {
        match self.pidleget(c) {
            Some(p) => c.calls.wake_with(m, NextP::Run { p, token: None }),
            // No `wakep`: no P is idle, and an M that idles one checks that queue first, under this lock.
            None => c.global.put(G::bound_to(m), &self.global_len),
        }
    }

    /// Could one more M be started? Detached Ms, whose preempted Gs run without a P, do not count: they serve no other G.
    pub(crate) fn may_start(&self, c: &Central<H>) -> bool {
        // Relaxed: a number that is too small makes the work wait until the monitor tries again.
        let detached = self.detached.load(Relaxed) as usize;
        // By numbers in use, not by Ms alive: an M that ends gives its number back first.
        let used = self.ms.len() - c.unused.len();
        !c.unused.is_empty() && used.saturating_sub(detached) < self.config.max_ms
    }

    /// A number for a new M, which counts as alive from now on. Go: `mReserveID`.
    pub(crate) fn reserve(&self, c: &mut Central<H>) -> Option<MId> {
        if !self.may_start(c) {
            return None;
        }
        let m = c.unused.pop()?;
        c.alive += 1;
        Some(m)
    }

    /// Takes `m`'s number back.
    pub(crate) fn free_m(&self, c: &mut Central<H>, m: MId) {
        self.observer.event(Event::Exited { m });
        c.bound.forget(m);
        c.ends[m.index()] = c.ends[m.index()].wrapping_add(1);
        c.unused.push(m);
    }

    /// An M, whose number was taken back, has ended.
    pub(crate) fn end_m(&self, c: &mut Central<H>) {
        c.alive -= 1;
        self.observer.event(Event::Gone { sleeping: c.sleeping.len(), alive: c.alive });
        if c.closed && !c.lives() {
            self.end_monitor(c);
            c.calls.closer();
        }
        self.checkdead(c);
    }

    /// Something that a G waited for, and that the scheduler does not know, has ended: deadlock detection. Go: `checkdead`.
    /// Returns whether a G is deadlocked, but for what a source expects for now.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, worker| {
    /// assert!(!sched.look_for_deadlock()); // this G runs
    /// # worker }) }
    /// ```
    pub fn look_for_deadlock(self: &Arc<Self>) -> bool {
        self.central(|c| {
            self.checkdead(c);
            self.census(c).verdict(|| false).is_some()
        })
    }

    /// Does no G run, nor is about to, because every M sleeps or waits with its G, and does `certain` hold? `elsewhere`: how many Ms wait
    /// with their Gs where the scheduler does not know. Both are asked under the lock: meanwhile no M gets a P.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, worker| {
    /// assert!(!sched.is_at_rest(|| 0, || true)); // this G runs
    /// # worker }) }
    /// ```
    pub fn is_at_rest(self: &Arc<Self>, elsewhere: impl FnOnce() -> isize, certain: impl FnOnce() -> bool) -> bool {
        self.central(|c| {
            let census = self.census(c);
            let with_gs = c.bound.total() as isize + elsewhere();
            let runs = census.alive as isize != census.sleeping as isize + with_gs || census.busy_ps > 0;
            !runs && !c.monitor_takes && self.detached() == 0 && (census.queued == 0 || census.lacks_ms()) && certain()
        })
    }

    fn census(&self, c: &Central<H>) -> Census {
        Census {
            alive: c.alive,
            sleeping: c.sleeping.len(),
            waiting: c.bound.inside(),
            busy_ps: self.procs() - c.idle_ps.len(),
            may_start: self.may_start(c),
            queued: c.global.len(),
        }
    }

    /// An M sleeps, rests, ends, or releases its P: was it the last that could run a G? Then the wait of the G that has waited
    /// longest ends with the reason.
    pub(crate) fn checkdead(&self, c: &mut Central<H>) {
        // What the monitor has taken is in no queue yet, and no source expects it any more. The monitor asks afterwards.
        if c.bound.inside() == 0 || c.closed || c.monitor_takes {
            return;
        }
        let census = self.census(c);
        // In this order: a source has its work before it stops expecting it.
        let is_expecting =
            || self.poller.is_awaited() || self.sources.iter().any(|source| source.is_expecting() || source.has_work());
        let Some(why) = census.verdict(is_expecting) else { return };
        if let Some(m) = c.bound.oldest_inside()
            && c.bound.ready(m, why)
        {
            self.observer.event(Event::Deadlock { m, why });
            self.send_for(c, m);
        }
    }
}

impl<H: Host> Central<H> {
    /// All Ps idle, and no M yet.
    pub(crate) fn new(config: &Config, idle_mask: &IdleMask<H>) -> Self {
        let (procs, table) = (config.procs as u32, config.max_ms + config.max_detached);
        let mut idle_ps = IdlePs::default();
        (0..procs).rev().for_each(|p| idle_ps.put(OwnedP::assume(PId(p)), idle_mask));
        Central {
            global: GlobQueue::default(),
            idle_ps,
            sleeping: SleepingMs::default(),
            spare: (procs..config.capacity() as u32).map(|p| OwnedP::assume(PId(p))).collect(),
            unused: (0..table as u32).rev().map(MId).collect(),
            alive: 0,
            lost: 0,
            ends: (0..table).map(|_| 0).collect(),
            closed: false,
            world: WorldState::new(config.procs),
            safepoint: None,
            bound: Bindings::new(table),
            monitor: Monitor::Absent,
            refused: 0,
            must_retry: false,
            monitor_takes: false,
            calls: Calls::none(),
        }
    }

    /// Does the monitor sleep until it is woken? From now on it does not: the caller wakes it.
    #[must_use]
    pub(crate) fn monitor_wakes(&mut self) -> bool {
        let asleep = self.monitor == Monitor::Asleep;
        if asleep {
            self.monitor = Monitor::Awake;
        }
        asleep
    }

    /// Is there an M that may still end?
    pub(crate) fn lives(&self) -> bool {
        self.alive > self.lost
    }
}

impl<H: Host> Drop for Central<H> {
    /// The scheduler ends, and its Ps with it.
    fn drop(&mut self) {
        for p in self.spare.drain(..) {
            p.relinquish();
        }
    }
}
