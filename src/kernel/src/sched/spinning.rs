//! The scheduler's side of spinning: where work can be seen, and an idle P for the M that is to look for it.
//!
//! Go: `wakep`, `pidlegetSpinning`, `checkRunqsNoP`.
//!
//! **Every place that is searched is a place that is looked at again**: both walk the one list of sources.
//!
//! Checked by: verification/src/models/{lists,sched,whole}.rs, verification/rooms/src/rooms/sched.rs, verification/tests/stress.rs

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
    /// The M that is to run it; none, if the caller's is.
    m: Available,
    /// Does the monitor sleep? It is woken after the M: a G waits for that one.
    rouses_monitor: bool,
}

impl<H: Host, O: Observer> Sched<H, O> {
    /// Takes an idle P, and an M that is to run it, if another than the caller `starts`: one hold of the lock, where Go has two.
    fn take_idle(&self, c: &mut Central<H>, starts: bool, or_else: impl FnOnce()) -> Option<Taken> {
        let p = if c.closed { None } else { c.idle_ps.get(&self.idle_mask) };
        let Some(p) = p else {
            or_else();
            return None;
        };
        let m = if starts { self.available(c) } else { Available::None };
        Some(Taken { p, m, rouses_monitor: c.monitor_wakes() })
    }

    /// Queues what no P has, and calls `wakep`: under the same hold of the lock if a P is idle, as it takes that. Else it is to take
    /// nothing, and its StoreLoad can wait until others have the lock.
    pub(super) fn queue_and_wakep<E>(
        self: &Arc<Self>,
        queue: impl FnOnce(&mut Central<H>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (has_asked, starts) = self.central(|c| {
            queue(c)?;
            let is_any_p_idle = !c.idle_ps.is_empty();
            let take = || self.take_idle(c, true, || ());
            Ok((is_any_p_idle, is_any_p_idle.then(|| self.spinning.wakep_under(take)).flatten()))
        })?;
        match starts {
            Some((taken, token)) => spinning::Neighbours::startm(self, taken, token),
            None if has_asked => (),
            None => self.spinning.wakep(self),
        }
        Ok(())
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
        self.central(|c| self.take_idle(c, false, or_else))
    }

    fn pidleget_to_start(&self, or_else: impl FnOnce()) -> Option<Taken> {
        self.central(|c| self.take_idle(c, true, or_else))
    }

    fn startm(&self, taken: Taken, token: SpinningToken) {
        let Taken { p, m, rouses_monitor } = taken;
        threads::start(m, NextP::Run { p, token: Some(token) }, &self.ms, self);
        if rouses_monitor {
            self.monitor.unpark();
        }
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
