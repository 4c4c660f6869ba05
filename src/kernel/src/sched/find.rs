//! The scheduler's side of finding work: what each source gives, theft, and idling a P.
//!
//! Go: `findRunnable`, `stealWork`, `globrunqget`, `execute`, `pidleput`.
//!
//! **A G that is found is dispatched once**: counted in its P's `turn`, and reported, before it runs.
//!
//! Checked by: verification/src/models/{lists,sched,whole}.rs, verification/rooms/src/rooms/sched.rs, verification/tests/stress.rs

use crate::host::Host;
use crate::protocol::find::{self, Idled, Worker};
use crate::protocol::random_order::random_order;
use crate::protocol::sources::Source;
use crate::queues::runq::Spilled;
use crate::sched::Sched;
use crate::sched::central::Central;
use crate::sched::observer::{Event, Observer};
use crate::types::g::G;
use crate::types::m::{MId, NextP, SpinningToken};
use crate::types::p::{PId, Turn};
use alloc::sync::Arc;
use core::sync::atomic::Ordering::Relaxed;

impl<H: Host, O: Observer> Sched<H, O> {
    /// A fair share of the global queue: one to run, the rest into the ring, which holds `waiting` Gs. They fill it to its half
    /// at most. (In its turn Go's takes one: then what comes back to a P whose ring is never empty waits for a turn each.)
    fn take_global(&self, c: &mut Central<H>, worker: &Worker, waiting: usize) -> Option<G> {
        let room = (self.config.ring / 2).saturating_sub(waiting).max(1);
        let local = self.queue(worker);
        let g = c.global.get_batch(self.procs(), room, &self.global_len, |mut gs| {
            local.put_batch(&mut gs);
        })?;
        self.dispatch(worker.p.id(), Turn::from_global);
        Some(g)
    }

    /// One from the P's own queues; and was it in `runnext`?
    pub(crate) fn take_local(&self, p: PId) -> Option<(G, bool)> {
        let proc = self.proc(p);
        // Relaxed: written by the owner of the P, which is us.
        let mut turn = proc.turn.load(Relaxed);
        // Once at least: a ticket that `next_local` has met stands in `runnext`, also where nothing else does.
        let g = proc.queue.get(&mut turn, self.config.inherit_at_most.max(1))?;
        proc.begin_slice(turn);
        Some((g, turn.has_inherited()))
    }

    /// What the search would find in its first two places, which are the same in every order, without the rest of it.
    #[inline]
    pub(super) fn take_first(&self, worker: &Worker) -> Option<G> {
        if self.wanted.any() || worker.token.is_some() || worker.is_detached || self.is_globals_turn(worker) {
            return None;
        }
        let (g, next) = self.take_local(worker.p.id())?;
        self.observer.event(Event::Found { m: worker.m, p: worker.p.id(), g: &g, from: Source::Local, next });
        Some(g)
    }

    /// A full ring gives its older half, and the G that did not fit, to the global queue. Go: `runqputslow`.
    ///
    /// And `wakep` is called, whichever caller fills the ring and whether or not it wakes an M afterwards: the Gs were in the
    /// ring and are in the global queue now, and an M that scanned the global queue before, and the ring after, has seen none
    /// of them. Go's `goyield` does not.
    #[inline(never)]
    pub(super) fn spill(self: &Arc<Self>, half: Spilled<'_, H, 32>, g: G) {
        self.central(|c| c.global.put_batch(half.chain(core::iter::once(g)), &self.global_len));
        self.wake_another();
    }

    /// What the embedder's sources have: one to run, the rest into the ring.
    fn take_extra(self: &Arc<Self>, worker: &Worker) -> Option<G> {
        let (mut first, mut more) = (None, false);
        let mut put = |g| match first {
            None => first = Some(g),
            Some(_) => {
                more = true;
                self.observer.event(Event::Queued { p: Some(worker.p.id()), g: &g, next: false });
                self.queue(worker).put(g, |half, g| self.spill(half, g));
            }
        };
        let p = Some(worker.p.id());
        self.sources.iter().filter(|source| source.has_work()).for_each(|source| source.take(p, &mut put));
        if more {
            self.spinning.wakep(self);
        }
        let g = first?;
        self.dispatch(worker.p.id(), Turn::from_global);
        Some(g)
    }

    /// Go: `stealWork`.
    fn steal(&self, worker: &mut Worker) -> Option<G> {
        if !self.may_steal(worker) {
            return None;
        }
        for pass in 1..=self.config.steal_passes {
            let is_last = pass == self.config.steal_passes;
            for victim in random_order(self.procs(), H::choose) {
                if victim == worker.p.id().index() || self.idle_mask.is_idle(PId(victim as u32)) {
                    continue;
                }
                if let Some(g) = self.steal_from(worker, victim, is_last) {
                    self.dispatch(worker.p.id(), Turn::from_ring);
                    return Some(g);
                }
            }
        }
        None
    }

    /// An M that steals counts as spinning, unless enough others do: they will come to it.
    fn may_steal(&self, worker: &mut Worker) -> bool {
        if worker.token.is_none() {
            if !self.spinning.may_spin(self.procs(), self.idle_mask.npidle(), self.config.spinning_at_most) {
                return false;
            }
            self.observer.event(Event::Spinning { m: worker.m });
            worker.token = Some(self.spinning.become_spinning());
        }
        true
    }

    fn steal_from(&self, worker: &Worker, victim: usize, and_next: bool) -> Option<G> {
        let (g, gs) = self.ps[victim].queue.steal_some(self.queue(worker), and_next, H::relax)?;
        self.observer.event(Event::Stole { m: worker.m, p: worker.p.id(), victim: PId(victim as u32), gs });
        Some(g)
    }

    /// At a turn that is asked for: steals from a P that has dispatched nothing since the one before, though its ring holds Gs. Its G
    /// computes for long, or the system does not let its thread run. Each such turn looks at one P, and steals where more than twice as
    /// many wait: so its own ring has room. What is stolen counts as the global queue's: it comes before the P's own, which must not starve.
    fn relieve(&self, worker: &mut Worker) -> Option<G> {
        let (me, procs) = (worker.p.id(), self.procs());
        // Relaxed: a number that changes.
        let see = |p: usize| u64::from(self.ps[p].turn.load(Relaxed).dispatches()) << 32 | p as u64;
        // Relaxed: written by the owner of the P, which is us.
        let seen = self.proc(me).watched.load(Relaxed);
        let victim = seen as u32 as usize % procs;
        let next = (1..=procs).map(|n| (victim + n) % procs).find(|&p| p != me.index())?;
        // Relaxed: as above.
        self.proc(me).watched.store(see(next), Relaxed);
        let is_stuck = victim != me.index() && see(victim) == seen && !self.idle_mask.is_idle(PId(victim as u32));
        let has_more = || 2 * self.queue(worker).len() < self.ps[victim].queue.len();
        let may = is_stuck && has_more() && self.may_steal(worker);
        may.then(|| self.steal_from(worker, victim, false)).flatten().inspect(|_| self.dispatch(me, Turn::from_global))
    }

    /// By count; or the embedder asks for a turn, and the last dispatch was none of the global queue's.
    #[inline(always)]
    pub(crate) fn is_globals_turn(&self, worker: &Worker) -> bool {
        // Relaxed: written by the owner of the P, which is us.
        let turn = self.proc(worker.p.id()).turn.load(Relaxed);
        turn.is_global(self.every) || worker.asks_turn && turn.may_be_asked()
    }

    fn dispatch(&self, p: PId, count: fn(&mut Turn)) {
        let proc = self.proc(p);
        // Relaxed: written by the owner of the P, which is us.
        let mut turn = proc.turn.load(Relaxed);
        count(&mut turn);
        proc.begin_slice(turn);
    }
}

impl<H: Host, O: Observer> find::Neighbours for Arc<Sched<H, O>> {
    fn take(&self, worker: &mut Worker, from: Source) -> Option<G> {
        if self.wanted.any() {
            self.attend(&worker.p);
            if self.wanted.is_end() {
                return None; // `idle` looks under the lock
            }
        }
        let mut next = false;
        let g = match from {
            Source::GlobalTurn if !self.is_globals_turn(worker) => None,
            Source::Global if self.global_len.peek() == 0 => None,
            Source::GlobalTurn => {
                let any = self.take_turn(worker);
                let g = match self.global_len.peek() {
                    0 if worker.asks_turn => self.relieve(worker),
                    0 => None,
                    _ => {
                        let waiting = self.queue(worker).len();
                        self.central(|c| self.take_global(c, worker, waiting))
                    }
                };
                // What is alone is run next. Where a G comes before it, it waits: so `wakep`, with its StoreLoad, stands behind that choice.
                if any && (g.is_some() || self.queue(worker).len() > 1) {
                    self.spinning.wakep(self);
                }
                g
            }
            Source::Global => self.central(|c| self.take_global(c, worker, 0)),
            Source::Local => self.take_local(worker.p.id()).map(|(g, is_next)| {
                next = is_next;
                g
            }),
            Source::Extra => self.take_extra(worker),
            Source::Steal => self.steal(worker),
        }?;
        self.observer.event(Event::Found { m: worker.m, p: worker.p.id(), g: &g, from, next });
        Some(g)
    }

    fn found(&self, worker: &mut Worker) {
        if let Some(token) = worker.token.take() {
            self.observer.event(Event::Sought { m: worker.m });
            self.spinning.found_work(token, self);
        }
    }

    fn idle(&self, mut worker: Worker) -> Idled {
        self.central(|c| {
            if c.closed || c.world.is_stopping() {
                if c.closed {
                    c.global.put_batch(self.queue(&worker).drain(), &self.global_len);
                }
                // No second scan: `close` wants none, and `start_the_world` calls `wakep`.
                worker.token.into_iter().for_each(|token| self.spinning.give_up(token));
                self.releasep(c, worker.p, false);
                return if c.closed { Idled::Closed(worker.m) } else { Idled::Idle(worker.m, None) };
            }
            if let Some(g) = self.take_global(c, &worker, 0) {
                let (m, p, from) = (worker.m, worker.p.id(), Source::Global);
                self.observer.event(Event::Found { m, p, g: &g, from, next: false });
                return Idled::Work(worker, g);
            }
            if worker.token.is_none() {
                worker.token = self.spinning.must_recheck(!c.idle_ps.is_empty());
                if worker.token.is_some() {
                    self.notify_called(worker.m, &worker.token);
                    return Idled::NeedSpinning(worker);
                }
            }
            let Worker { m, p, token, .. } = worker;
            debug_assert!(self.proc(p.id()).queue.is_empty(), "idle: P{} still holds Gs", p.id().0);
            self.observer.event(Event::Idled { m, p: p.id() });
            self.releasep(c, p, false);
            Idled::Idle(m, token)
        })
    }

    fn stop(&self, m: MId, token: Option<SpinningToken>) -> NextP {
        if token.is_some() {
            self.observer.event(Event::Sought { m });
        }
        let nextp = match token.and_then(|token| self.spinning.retire(token, self)) {
            Some((taken, token)) => NextP::Run { p: self.use_taken(taken), token: Some(token) },
            None => self.sleep(m),
        };
        if let NextP::Run { p, token } = &nextp {
            self.notify_got(m, p, token);
        }
        nextp
    }
}
