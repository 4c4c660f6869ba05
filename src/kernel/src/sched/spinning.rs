//! The scheduler's side of spinning: where work can be seen, and an idle P for the M that is to look for it.
//!
//! Go: `wakep`, `pidlegetSpinning`, `checkRunqsNoP`.
//!
//! **Every place that is searched is a place that is looked at again**: both walk the one list of sources.
//!
//! Checked by: verification/src/models/{lists,sched,pairs,whole}.rs, verification/tests/stress.rs

use crate::host::{Host, Nanos, Parker};
use crate::protocol::sources::Source;
use crate::protocol::spinning;
use crate::protocol::threads::{self, Available};
use crate::protocol::work_source::Wakep;
use crate::sched::Sched;
use crate::sched::central::Central;
use crate::sched::observer::Observer;
use crate::types::m::{NextP, SpinningToken};
use crate::types::p::{OwnedP, PId};
use alloc::sync::Arc;
use core::cell::{Cell, RefCell};

impl<H: Host, O: Observer> Sched<H, O> {
    /// Makes sure that another M looks for work, beside the caller, which holds a P.
    #[inline]
    pub(super) fn wake_another(self: &Arc<Self>) {
        // Not if the only P is the caller's: no other M could run a G, and while the caller holds it there will be no second P.
        if self.procs() > 1 {
            self.spinning.wakep(self);
        }
    }

    /// Is there work in `source`, for an M with `p`; or with `None`, for any M?
    pub(crate) fn has_any(&self, source: Source, p: Option<PId>) -> bool {
        match (source, p) {
            (Source::GlobalTurn | Source::Global, _) => self.global_len.peek() > 0,
            (Source::Local, Some(p)) => !self.proc(p).queue.is_empty(),
            (Source::Local, None) => false,
            (Source::Extra, _) => self.sources.iter().any(|source| source.has_work()),
            (Source::Steal, Some(_)) => false,
            // A number of Ps that is out of date does no harm: a P that has ended has no G, and the M that fills the ring of
            // a new one had to see that it is there.
            (Source::Steal, None) => self.ps.iter().take(self.procs()).any(|p| !p.queue.is_empty()),
        }
    }
}

/// An idle P, taken.
pub struct Taken {
    p: OwnedP,
    /// Who is to run it. None, if it is the caller.
    m: Available,
    /// Does the monitor sleep? It is woken after the M: a G waits for that one.
    rouses_monitor: bool,
}

impl<H: Host, O: Observer> Sched<H, O> {
    /// Takes an idle P and, with `mget`, an M for it: one hold of the lock, where Go has two.
    fn take_idle(
        self: &Arc<Self>,
        or_else: impl FnOnce(),
        mget: impl FnOnce(&mut Central<H>) -> Available,
    ) -> Option<Taken> {
        self.central(|c| self.take_idle_of(c, or_else, mget))
    }

    fn take_idle_of(
        &self,
        c: &mut Central<H>,
        or_else: impl FnOnce(),
        mget: impl FnOnce(&mut Central<H>) -> Available,
    ) -> Option<Taken> {
        let p = if c.closed { None } else { c.idle_ps.get(&self.idle_mask) };
        let Some(p) = p else {
            or_else();
            return None;
        };
        Some(Taken { p, m: mget(c), rouses_monitor: c.monitor_wakes() })
    }

    /// `wakep`, by a thread that holds the lock. What it returns is to be started when that is free.
    pub(super) fn wakep_under(self: &Arc<Self>, c: &mut Central<H>) -> Option<(Taken, SpinningToken)> {
        let others = Holder { sched: self, c: RefCell::new(c), starts: Cell::new(None) };
        self.spinning.wakep(&others);
        others.starts.into_inner()
    }

    /// The P, for an M that is awake, or will be woken by the caller.
    pub(crate) fn use_taken(&self, taken: Taken) -> OwnedP {
        if taken.rouses_monitor {
            self.monitor.unpark();
        }
        taken.p
    }
}

impl<H: Host, O: Observer> spinning::Neighbours for Arc<Sched<H, O>> {
    type IdleP = Taken;

    fn any_work(&self) -> bool {
        // Each order begins with the global queue: `share`.
        self.config.order.sources().iter().any(|&source| self.has_any(source, None))
    }

    fn needs_spinning_m(&self) -> bool {
        self.any_work() || self.netpoll.is_missing(self)
    }

    fn is_any_p_idle(&self) -> bool {
        self.idle_mask.npidle() > 0
    }

    fn pidleget(&self, or_else: impl FnOnce()) -> Option<Taken> {
        self.take_idle(or_else, |_| Available::None)
    }

    fn pidleget_to_start(&self, or_else: impl FnOnce()) -> Option<Taken> {
        self.take_idle(or_else, |c| self.available(c))
    }

    fn startm(&self, taken: Taken, token: SpinningToken) {
        let Taken { p, m, rouses_monitor } = taken;
        threads::start(m, NextP::Run { p, token: Some(token) }, &self.ms, self);
        if rouses_monitor {
            self.monitor.unpark();
        }
    }
}

/// The rest of the scheduler, to a thread that holds the lock.
struct Holder<'a, H: Host, O: Observer> {
    sched: &'a Arc<Sched<H, O>>,
    c: RefCell<&'a mut Central<H>>,
    starts: Cell<Option<(Taken, SpinningToken)>>,
}

impl<H: Host, O: Observer> spinning::Neighbours for Holder<'_, H, O> {
    type IdleP = Taken;

    fn any_work(&self) -> bool {
        self.sched.any_work()
    }

    fn is_any_p_idle(&self) -> bool {
        self.sched.is_any_p_idle()
    }

    fn pidleget(&self, or_else: impl FnOnce()) -> Option<Taken> {
        self.sched.take_idle_of(&mut self.c.borrow_mut(), or_else, |c| self.sched.available(c))
    }

    fn startm(&self, taken: Taken, token: SpinningToken) {
        self.starts.set(Some((taken, token)));
    }
}

impl<H: Host, O: Observer> Wakep for Sched<H, O> {
    fn wakep(self: Arc<Self>) {
        self.spinning.wakep(&self);
    }

    fn announce(self: Arc<Self>, when: Nanos) {
        self.netpoll.announce(when, &self);
    }
}
