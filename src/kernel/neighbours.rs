//! What each room asks of the others, answered with the real structures. One `impl` a room; it decides nothing itself.
//!
//! Checked by: verification/src/models/sched.rs, verification/tests/stress.rs

use super::find::{self, Idled, Worker};
use super::g::G;
use super::m::{MId, Mail, Seeking};
use super::observer::{Event, Observer};
use super::p::{OwnedP, PId};
use super::sched::{Central, Sched};
use super::sources::Source;
use super::spinning;
use super::threads::{self, Available};
use crate::host::{Host, Lock, SpawnError};
use alloc::format;
use alloc::sync::Arc;
use core::sync::atomic::Ordering::Relaxed;

impl<H: Host, O: Observer> Sched<H, O> {
    /// One from the global queue, or with `share` a fair share: the rest goes into the ring, which is empty.
    fn take_global(&self, c: &mut Central, worker: &mut Worker, share: bool) -> Option<G> {
        let g = if share {
            let local = self.local(worker);
            c.global.get_batch(self.config.procs, self.config.ring / 2, &self.global_len, |mut gs| {
                local.put_batch(&mut gs);
            })?
        } else {
            c.global.get(&self.global_len)?
        };
        worker.p.turn().from_global();
        Some(g)
    }

    /// Go: `stealWork`.
    fn steal(&self, worker: &mut Worker) -> Option<G> {
        if worker.seeking.is_none() {
            if !self.spinning.may_spin(self.config.procs, self.idle_mask.npidle()) {
                return None;
            }
            self.observer.event(Event::Spinning { m: worker.m });
            worker.seeking = Some(self.spinning.become_spinning());
        }
        let mine = self.local(worker);
        for pass in 1..=self.config.steal_passes {
            let is_last = pass == self.config.steal_passes;
            for victim in self.steal_order.pick(H::choose) {
                if victim == worker.p.id().index() || self.idle_mask.is_idle(PId(victim as u32)) {
                    continue;
                }
                if let Some(g) = self.ps[victim].steal_into(mine, is_last, H::relax) {
                    worker.p.turn().from_ring();
                    return Some(g);
                }
            }
        }
        None
    }
}

impl<H: Host, O: Observer> spinning::Neighbours for Arc<Sched<H, O>> {
    type IdleP = OwnedP;

    fn any_work(&self) -> bool {
        self.global_len.peek() > 0 || self.ps.iter().any(|p| !p.is_empty())
    }

    fn pidleget(&self, or_else: impl FnOnce()) -> Option<OwnedP> {
        self.lock.with(|c| {
            let p = if c.closed { None } else { c.idle_ps.get(&self.idle_mask) };
            if p.is_none() {
                or_else();
            }
            p
        })
    }

    fn startm(&self, p: OwnedP, seeking: Seeking) {
        threads::startm(Mail::Run { p, seeking: Some(seeking) }, &self.ms, self);
    }
}

impl<H: Host, O: Observer> threads::Neighbours<H> for Arc<Sched<H, O>> {
    fn mget(&self) -> Available {
        self.lock.with(|c| match c.sleeping.get() {
            Some(m) => {
                self.observer.event(Event::Woken { m });
                Available::Sleeping(m)
            }
            None if c.closed => Available::None,
            None => c.reserve().map_or(Available::None, Available::New),
        })
    }

    fn mput(&self, m: MId) -> Option<Mail> {
        self.lock.with(|c| {
            if c.closed {
                return Some(Mail::Exit);
            }
            if !c.idle_ps.is_empty()
                && let Some(seeking) = self.spinning.called_upon()
            {
                return c.idle_ps.get(&self.idle_mask).map(|p| Mail::Run { p, seeking: Some(seeking) });
            }
            c.sleeping.put(m);
            self.observer.event(Event::Slept { m, sleeping: c.sleeping.len(), alive: c.alive });
            None
        })
    }

    fn newm(&self, m: MId) -> Result<(), SpawnError> {
        self.observer.event(Event::Starting { m });
        let sched = Arc::clone(self);
        H::spawn(&format!("spinpark-m{}", m.0), move || {
            if let Some(Mail::Run { p, seeking }) = sched.ms[m.index()].collect() {
                (sched.life)(&sched, Worker { m, p, seeking });
            }
        })
    }

    fn refused(&self, mail: Mail, m: Option<MId>) -> Option<(MId, Mail)> {
        self.observer.event(Event::Refused);
        let (late, was_last) = self.lock.with(|c| {
            let was_last = m.is_some_and(|m| self.release(c, m));
            if let Some(sleeper) = c.sleeping.get() {
                self.observer.event(Event::Woken { m: sleeper });
                return (Some((sleeper, mail)), was_last);
            }
            if let Mail::Run { p, seeking } = mail {
                c.idle_ps.put(p, &self.idle_mask);
                self.spinning.ask_for_seeker();
                seeking.into_iter().for_each(|seeking| self.spinning.give_up(seeking));
            }
            (None, was_last)
        });
        self.tell_closer(was_last);
        late
    }
}

impl<H: Host, O: Observer> find::Neighbours for Arc<Sched<H, O>> {
    fn take(&self, worker: &mut Worker, from: Source) -> Option<G> {
        // Relaxed: a hint. Missing it costs one more G; `idle` looks under the lock.
        if self.closing.load(Relaxed) {
            return None;
        }
        let g = match from {
            Source::GlobalTurn if !worker.p.turn().is_global(self.config.global_every) => None,
            Source::GlobalTurn | Source::Global if self.global_len.peek() == 0 => None,
            Source::GlobalTurn => self.lock.with(|c| self.take_global(c, worker, false)),
            Source::Global => self.lock.with(|c| self.take_global(c, worker, true)),
            Source::Local => self.ps[worker.p.id().index()].get(worker.p.turn(), self.config.inherit_at_most),
            Source::Steal => self.steal(worker),
        }?;
        self.observer.event(Event::Found { m: worker.m, p: worker.p.id(), g: &g, from });
        Some(g)
    }

    fn found(&self, worker: &mut Worker) {
        if let Some(seeking) = worker.seeking.take() {
            self.spinning.found_work(seeking, self);
        }
    }

    fn idle(&self, mut worker: Worker) -> Idled {
        self.lock.with(|c| {
            if c.closed {
                c.global.put_batch(self.local(&worker).drain(), &self.global_len);
                worker.seeking.into_iter().for_each(|seeking| self.spinning.give_up(seeking));
                c.idle_ps.put(worker.p, &self.idle_mask);
                return Idled::Closed(worker.m);
            }
            if let Some(g) = self.take_global(c, &mut worker, true) {
                self.observer.event(Event::Found { m: worker.m, p: worker.p.id(), g: &g, from: Source::Global });
                return Idled::Work(worker, g);
            }
            if worker.seeking.is_none() {
                worker.seeking = self.spinning.called_upon();
                if worker.seeking.is_some() {
                    return Idled::CalledUpon(worker);
                }
            }
            let Worker { m, p, seeking } = worker;
            debug_assert!(self.ps[p.id().index()].is_empty(), "idle: P{} still holds Gs", p.id().0);
            self.observer.event(Event::Idled { m, p: p.id() });
            c.idle_ps.put(p, &self.idle_mask);
            Idled::Idle(m, seeking)
        })
    }

    fn stop(&self, m: MId, seeking: Option<Seeking>) -> Mail {
        match seeking.and_then(|seeking| self.spinning.retire(seeking, self)) {
            Some((p, seeking)) => Mail::Run { p, seeking: Some(seeking) },
            None => threads::stopm(m, &self.ms, self),
        }
    }
}
