//! The smallest scheduler around `locked` and `deadlock`: one P, a few Ms, and a lock.
//!
//! The P is a cell that only its owner may touch: a G that goes on although it was never given a P, or twice for one
//! wait, is seen.

use crate::harness::bound::Truth;
use crate::hosts::model_host::{Cell, ModelHost};
use crate::hosts::wrap::trace::main_plays;
use crate::mutation::mutant::is_variant;
use spinpark_kernel::host::Lock;
use spinpark_kernel::protocol::deadlock::Census;
use spinpark_kernel::protocol::locked::{Bindings, Wake, Woken};
use spinpark_kernel::types::m::{M, MId, NextP};
use spinpark_kernel::types::p::{OwnedP, PId};
use std::sync::Arc;

/// The smallest scheduler around the rooms.
pub struct Tiny<H: ModelHost> {
    pub(super) lock: H::Lock<Central>,
    pub(super) ms: Vec<M<H>>,
    /// Used by the P's owner.
    used: H::Cell<bool>,
}

/// Under the lock.
pub struct Central {
    /// The waiting Ms, as the room has them.
    pub bound: Bindings,
    /// Is the P idle?
    pub idle: bool,
    /// Is it held by the stopper?
    pub held: bool,
    /// Is the world being stopped?
    pub stopping: bool,
    /// Ms whose tickets are queued.
    pub tickets: Vec<MId>,
    /// Gs in the global queue, as the M that each will ready.
    pub queued: Vec<MId>,
    /// Gs in the P's ring.
    pub local: Vec<MId>,
    /// Those that have not ended.
    pub alive: usize,
    /// Of these, those in a system call.
    pub away: usize,
    /// Ms that sleep until there is a G for them.
    pub sleeping: Vec<MId>,
    /// What those that wait for ever were told.
    pub told: Vec<Woken>,
    /// What is really so, if that is recorded.
    pub truth: Option<Truth>,
}

impl Central {
    /// Of `ms` Ms, all alive. An M has the P.
    pub fn new(ms: usize) -> Self {
        Central {
            bound: Bindings::new(ms),
            idle: false,
            held: false,
            stopping: false,
            tickets: Vec::new(),
            queued: Vec::new(),
            local: Vec::new(),
            alive: ms,
            away: 0,
            sleeping: Vec::new(),
            told: Vec::new(),
            truth: None,
        }
    }

    /// Does a G wait that is not bound?
    pub fn has_work(&self) -> bool {
        !self.queued.is_empty() || !self.local.is_empty()
    }

    /// An M that sleeps is to run what waits.
    pub fn pop_sleeper(&mut self) -> Option<MId> {
        let m = self.sleeping.pop();
        m.zip(self.truth.as_mut()).into_iter().for_each(|(m, truth)| truth.wakes(m));
        m
    }

    /// The P has no owner now: to whom does it go?
    pub fn releasep(&mut self) -> Option<MId> {
        self.held = self.stopping;
        if self.held {
            return None;
        }
        if !self.tickets.is_empty() {
            return Some(self.tickets.remove(0));
        }
        let worker = if self.has_work() { self.pop_sleeper() } else { None };
        self.idle = worker.is_none();
        if self.idle {
            // There is no M for them, so an idle P would keep them.
            self.queued.append(&mut self.local);
        }
        worker.or_else(|| self.checkdead())
    }

    /// `m`'s G may go on: it gets the P, or its ticket is queued.
    pub fn send_for(&mut self, m: MId) -> Option<MId> {
        if std::mem::take(&mut self.idle) {
            return Some(m);
        }
        self.tickets.push(m);
        None
    }

    /// An M rests, or releases the P: is it the last that could do anything?
    pub fn checkdead(&mut self) -> Option<MId> {
        let census = Census {
            alive: self.alive - if is_variant("ignores-system-calls") { self.away } else { 0 },
            sleeping: self.sleeping.len(),
            waiting: self.bound.inside(),
            busy_ps: usize::from(!self.idle && !is_variant("ignores-ps-in-use")),
            may_start: false,
            queued: if is_variant("ignores-the-queue") { 0 } else { self.queued.len() },
        };
        let (why, m) = census.verdict(|| false).zip(self.bound.oldest_inside())?;
        assert!(self.away == 0, "told {why:?}, but an M is in a system call");
        assert!(self.local.is_empty(), "told {why:?}, but a G waits in a ring");
        assert!(self.queued.is_empty() || why == Woken::NoThread, "told {why:?}, but a G is queued");
        self.truth.iter_mut().for_each(|truth| truth.told(m, why));
        self.told.push(why);
        if self.bound.ready(m, why) { self.send_for(m) } else { None }
    }
}

impl<H: ModelHost> Tiny<H> {
    /// The main thread plays `main`.
    pub fn new(main: &str, ms: usize, central: Central) -> Arc<Self> {
        main_plays(main);
        let ms = (0..ms).map(|_| M::new()).collect();
        Arc::new(Tiny { lock: H::Lock::new(central), ms, used: Cell::new(false) })
    }

    /// The owner of the P uses it.
    pub fn run(&self) {
        assert!(!self.used.get(), "two use the P");
        self.used.set(true);
        self.used.set(false);
    }

    /// Changes something under the lock; an M that gets the P by that is given it.
    pub fn central<R>(&self, f: impl FnOnce(&mut Central) -> (R, Option<MId>)) -> R {
        let (result, m) = self.lock.with(|c| {
            let (result, m) = f(c);
            // A G that was queued just now may wait for the submitter to wake a sleeper.
            let nobody_comes = m.is_none() && c.idle && (c.sleeping.is_empty() || !c.has_work());
            let is_stuck = nobody_comes && c.truth.as_ref().is_some_and(Truth::is_stuck);
            assert!(!is_stuck, "every G waits for another, and none was told");
            (result, m)
        });
        m.into_iter().for_each(|m| self.ms[m.index()].wake_with(NextP::Run { p: OwnedP::forge(PId(0)), token: None }));
        result
    }

    /// Reads or writes something under the lock.
    pub fn with<R>(&self, f: impl FnOnce(&mut Central) -> R) -> R {
        self.lock.with(f)
    }

    /// Lets go of the P.
    pub fn release(&self, p: OwnedP) {
        p.discard();
        self.central(|c| ((), c.releasep()));
    }

    /// `m` waits for its `nextp`, which is the P.
    pub fn wait_p(&self, m: MId) -> OwnedP {
        match self.ms[m.index()].wait_nextp() {
            NextP::Run { p, .. } => p,
            NextP::Exit => unreachable!("no exit was sent"),
        }
    }

    /// Did a wake come already, so that `m`'s next wait is over at once? That wake is used up.
    pub fn is_readied(&self, m: MId) -> bool {
        self.lock.with(|c| !c.bound.wait(m, Wake::Inside))
    }

    /// `m`'s G waits.
    pub fn wait(&self, m: MId, p: OwnedP, wake: Wake) -> (OwnedP, Woken) {
        let waits = self.lock.with(|c| {
            let waits = c.bound.wait(m, wake);
            c.truth.iter_mut().for_each(|truth| truth.waits(m, waits));
            waits
        });
        if !waits {
            return (p, Woken::Ready);
        }
        self.release(p);
        self.central(|c| {
            if is_variant("rests-though-readied") && !c.bound.waiting().any(|waits| waits == m) {
                let _ = c.bound.wait(m, wake);
            }
            let rests = c.bound.rest(m);
            c.truth.iter_mut().for_each(|truth| truth.rests(m, rests));
            let asks = rests && !is_variant("rests-and-asks-nobody");
            ((), if asks { c.checkdead() } else { None })
        });
        let p = self.wait_p(m);
        let woken = self.lock.with(|c| {
            c.truth.iter().for_each(|truth| truth.goes_on(m, c.bound.waiting().any(|waits| waits == m)));
            c.bound.woken(m)
        });
        (p, woken)
    }

    /// `m`'s G may go on. What it did when that was said.
    pub fn ready(&self, m: MId) -> &'static str {
        self.central(|c| {
            let is_oldest = c.bound.oldest_inside() == Some(m);
            let did = if !c.bound.waiting().any(|waits| waits == m) {
                "early"
            } else if c.truth.as_ref().map_or(is_oldest, |truth| truth.is_resting(m)) {
                "resting"
            } else {
                "waiting"
            };
            let goes_on = c.truth.as_mut().map(|truth| truth.readied(m));
            if is_variant("forgets-an-early-wake") && did == "early" {
                return (did, None);
            }
            let is_to_queue = c.bound.ready(m, Woken::Ready) || is_variant("queues-a-second-ticket");
            assert!(goes_on.is_none_or(|goes_on| goes_on == is_to_queue), "M{} is sent for, and does not wait", m.0);
            (did, if is_to_queue { c.send_for(m) } else { None })
        })
    }

    /// M `m` sleeps until there is a G for it, and runs that one.
    pub fn works(&self, m: MId) {
        let p = self.wait_p(m);
        let readies = self.lock.with(|c| if c.local.is_empty() { c.queued.remove(0) } else { c.local.remove(0) });
        self.run();
        self.ready(readies);
        self.release(p);
    }

    /// Every M has come to rest, and the P is idle.
    pub fn check_at_rest(&self) -> Vec<Woken> {
        assert!(self.ms.iter().all(|m| m.take_nextp().is_none()), "a P lies in a `nextp` and no M comes");
        self.lock.with(|c| {
            assert!(c.idle, "every M is done, but the P is not idle");
            assert!(!c.has_work(), "a G waits, and no M comes");
            assert!(c.tickets.is_empty(), "a ticket is queued for {:?}, which has gone on", c.tickets);
            c.told.clone()
        })
    }
}
