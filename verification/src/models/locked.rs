//! Models of `locked` and `deadlock`: first one P, two Ms and a lock, then the real scheduler.
//!
//! The P is a cell that only its owner may touch: a G that goes on although it was never given a P, or twice for one
//! wait, is seen.

use super::common::party;
use super::stw::real::{More, On, Seen, finish, first_runs, open, quiet, small, submit};
use crate::engine::Engine;
use crate::model::{Model, loom, loom_apart, loom_bounded, sampled, sc, tso};
use crate::mutant::{self, Mutant, Mutation};
use crate::stage::{Cell, Stage};
use crate::wrap::trace::main_plays;
use spinpark::host::{Lock, Parker};
use spinpark::kernel::deadlock::Census;
use spinpark::kernel::find::Worker;
use spinpark::kernel::locked::{Bindings, Locks, Wake, Woken};
use spinpark::kernel::m::{M, MId, Mail};
use spinpark::kernel::p::{OwnedP, PId};
use std::sync::Arc;

const M0: MId = MId(0);
const M1: MId = MId(1);

/// The smallest scheduler around the rooms: one P, two Ms.
struct Tiny<H: Stage> {
    lock: H::Lock<Central>,
    ms: [M<H>; 2],
    /// Used by the P's owner.
    used: H::Cell<bool>,
}

/// Under the lock.
struct Central {
    bound: Bindings,
    /// Is the P idle?
    idle: bool,
    /// Ms whose tickets are queued.
    tickets: Vec<MId>,
    /// Gs that will ready M0: in the global queue, and in the P's ring.
    queued: usize,
    local: usize,
    alive: usize,
    away: usize,
    sleeping: Vec<MId>,
    closed: bool,
    told: Vec<Woken>,
}

fn twin(name: &str) -> bool {
    mutant::twin() == Some(name)
}

impl Central {
    fn new() -> Self {
        Central {
            bound: Bindings::new(2),
            idle: false,
            tickets: Vec::new(),
            queued: 0,
            local: 0,
            alive: 2,
            away: 0,
            sleeping: Vec::new(),
            closed: false,
            told: Vec::new(),
        }
    }

    /// The P has no owner now: to whom does it go?
    fn let_go(&mut self) -> Option<MId> {
        if !self.tickets.is_empty() {
            return Some(self.tickets.remove(0));
        }
        let worker = if self.queued + self.local > 0 { self.sleeping.pop() } else { None };
        self.idle = worker.is_none();
        worker
    }

    /// `m`'s G may go on: it gets the P, or its ticket is queued.
    fn send_for(&mut self, m: MId) -> Option<MId> {
        if std::mem::take(&mut self.idle) {
            return Some(m);
        }
        self.tickets.push(m);
        None
    }

    /// Somebody rests or sleeps: is it the last that could do anything?
    fn checkdead(&mut self) -> Option<MId> {
        let census = Census {
            alive: self.alive - if twin("ignores-system-calls") { self.away } else { 0 },
            sleeping: self.sleeping.len(),
            waiting: self.bound.inside(),
            may_start: false,
            queued: if twin("ignores-the-queue") { 0 } else { self.queued },
            is_expecting: false,
        };
        let (why, m) = census.verdict().zip(self.bound.oldest_inside())?;
        assert!(self.away == 0, "told {why:?}, but an M is in a system call");
        assert!(self.local == 0, "told {why:?}, but a G waits in a ring");
        assert!(self.queued == 0 || why == Woken::NoThread, "told {why:?}, but a G is queued");
        self.told.push(why);
        if self.bound.ready(m, why) { self.send_for(m) } else { None }
    }
}

impl<H: Stage> Tiny<H> {
    fn new(central: Central) -> Arc<Self> {
        main_plays("m0");
        Arc::new(Tiny { lock: H::Lock::new(central), ms: [M::new(), M::new()], used: Cell::new(false) })
    }

    fn run(&self) {
        assert!(!self.used.get(), "two use the P");
        self.used.set(true);
        self.used.set(false);
    }

    /// Changes something under the lock; who gets the P by that, gets it.
    fn central<R>(&self, f: impl FnOnce(&mut Central) -> (R, Option<MId>)) -> R {
        let (result, m) = self.lock.with(f);
        m.into_iter().for_each(|m| self.ms[m.index()].deliver(Mail::Run { p: OwnedP::assume(PId(0)), seeking: None }));
        result
    }

    fn release(&self, p: OwnedP) {
        p.relinquish();
        self.central(|c| ((), c.let_go()));
    }

    fn receive(&self, m: MId) -> Option<OwnedP> {
        match self.ms[m.index()].receive() {
            Mail::Run { p, .. } => Some(p),
            Mail::Exit => None,
        }
    }

    fn receive_p(&self, m: MId) -> OwnedP {
        self.receive(m).expect("an M with a G is not told to end")
    }

    /// `m`'s G waits.
    fn wait(&self, m: MId, p: OwnedP, wake: Wake) -> (OwnedP, Woken) {
        if !self.lock.with(|c| c.bound.wait(m, wake)) {
            return (p, Woken::Ready);
        }
        let rests = || {
            self.central(|c| {
                if twin("rests-though-readied") && !c.bound.waiting().any(|waits| waits == m) {
                    let _ = c.bound.wait(m, wake);
                }
                let asks = c.bound.rest(m) && !twin("rests-and-asks-nobody");
                ((), if asks { c.checkdead() } else { None })
            });
        };
        if twin("rests-before-it-hands-on") {
            rests();
            self.release(p);
        } else {
            self.release(p);
            rests();
        }
        let p = self.receive_p(m);
        (p, self.lock.with(|c| c.bound.woken(m)))
    }

    /// `m`'s G may go on. What it did when that was said.
    fn ready(&self, m: MId) -> &'static str {
        self.central(|c| {
            let did = if !c.bound.waiting().any(|waits| waits == m) {
                "early"
            } else if c.bound.oldest_inside() == Some(m) {
                "resting"
            } else {
                "waiting"
            };
            if twin("forgets-an-early-wake") && did == "early" {
                return (did, None);
            }
            let is_to_queue = c.bound.ready(m, Woken::Ready) || twin("queues-a-second-ticket");
            (did, if is_to_queue { c.send_for(m) } else { None })
        })
    }

    /// `m` has nothing to do. `false`: it is to end.
    fn sleeps(&self, m: MId) -> bool {
        self.central(|c| {
            if c.closed {
                return (false, None);
            }
            c.sleeping.push(m);
            (true, c.checkdead())
        })
    }

    /// The life of M1: what it runs readies M0.
    fn works(&self) {
        while let Some(p) = self.receive(M1) {
            self.lock.with(|c| match c.local.checked_sub(1) {
                Some(left) => c.local = left,
                None => c.queued -= 1,
            });
            self.run();
            self.ready(M0);
            self.release(p);
            if !self.sleeps(M1) {
                return;
            }
        }
    }

    fn close(&self) {
        let asleep = self.lock.with(|c| {
            c.closed = true;
            c.sleeping.pop()
        });
        asleep.into_iter().for_each(|m| self.ms[m.index()].deliver(Mail::Exit));
    }

    /// Everybody has come to rest, and the P is idle.
    fn judge(&self) -> Vec<Woken> {
        assert!(self.ms.iter().all(|m| m.collect().is_none()), "a P lies in a mailbox and nobody comes");
        self.lock.with(|c| {
            assert!(c.idle, "everybody is done, but the P is not idle");
            assert!(c.tickets.is_empty(), "a ticket is queued for {:?}, which has gone on", c.tickets);
            c.told.clone()
        })
    }
}

fn one_waits_and_two_ready_it<H: Stage>() -> String {
    let tiny = Tiny::<H>::new(Central { alive: 3, ..Central::new() });
    let one = party::<H, _, _>("readier 1", &tiny, |tiny| tiny.ready(M0));
    let two = party::<H, _, _>("readier 2", &tiny, |tiny| tiny.ready(M0));
    let (p, woken) = tiny.wait(M0, OwnedP::assume(PId(0)), Wake::Inside);
    assert!(woken == Woken::Ready, "{woken:?}");
    tiny.run();
    tiny.release(p);
    let mut did = [H::join(one), H::join(two)];
    did.sort_unstable();
    tiny.judge();
    // The second wake is left over, unless both came before the wait.
    let left = !tiny.lock.with(|c| c.bound.wait(M0, Wake::Inside));
    assert!(left == (did != ["early", "early"]) || left, "the second wake is lost: {did:?}");
    format!("{}, {}, left over: {left}", did[0], did[1])
}

fn two_ready_each_other<H: Stage>() -> String {
    // M1's G has its ticket in the queue.
    let tiny = Tiny::<H>::new(Central { tickets: vec![M1], alive: 3, ..Central::new() });
    let other = party::<H, _, _>("m1", &tiny, |tiny| {
        let p = tiny.receive_p(M1);
        tiny.run();
        let did = tiny.ready(M0);
        let (p, _) = tiny.wait(M1, p, Wake::Inside);
        tiny.run();
        tiny.release(p);
        did
    });
    let p = OwnedP::assume(PId(0));
    tiny.run();
    let (p, _) = tiny.wait(M0, p, Wake::Inside);
    tiny.run();
    tiny.ready(M1);
    tiny.release(p);
    let did = H::join(other);
    tiny.judge();
    format!("m0 was {did}")
}

/// Two Gs that wait for each other; `queued` Gs wait for an M that there cannot be.
fn two_wait<H: Stage>(queued: usize) -> String {
    let tiny = Tiny::<H>::new(Central { tickets: vec![M1], queued, ..Central::new() });
    fn waits<H: Stage>(tiny: &Tiny<H>, m: MId, other: MId, p: OwnedP) -> Woken {
        tiny.run();
        let (p, woken) = tiny.wait(m, p, Wake::Inside);
        tiny.run();
        if woken != Woken::Ready {
            tiny.ready(other);
        }
        tiny.release(p);
        woken
    }
    let other = party::<H, _, _>("m1", &tiny, |tiny| waits(tiny, M1, M0, tiny.receive_p(M1)));
    let first = waits(&tiny, M0, M1, OwnedP::assume(PId(0)));
    let second = H::join(other);
    let told = tiny.judge();
    assert!(told.len() == 1, "told: {told:?}");
    assert!((first == Woken::Ready) != (second == Woken::Ready), "woken: {first:?} and {second:?}");
    format!("m0 {first:?}, m1 {second:?}")
}

fn two_wait_for_each_other<H: Stage>() -> String {
    two_wait::<H>(0)
}

fn two_wait_and_no_third_can_be_had<H: Stage>() -> String {
    two_wait::<H>(1)
}

fn the_readier_is_in_a_system_call<H: Stage>() -> String {
    let tiny = Tiny::<H>::new(Central { away: 1, ..Central::new() });
    let caller = party::<H, _, _>("m1", &tiny, |tiny| {
        // Back: takes the P if it is idle, else its ticket is queued.
        tiny.central(|c| {
            c.away = 0;
            ((), c.send_for(M1))
        });
        let p = tiny.receive_p(M1);
        tiny.run();
        let did = tiny.ready(M0);
        tiny.release(p);
        did
    });
    tiny.run();
    let (p, woken) = tiny.wait(M0, OwnedP::assume(PId(0)), Wake::Inside);
    assert!(woken == Woken::Ready, "told {woken:?}, but an M was in a system call");
    tiny.release(p);
    let did = H::join(caller);
    let told = tiny.judge();
    format!("m0 was {did}, told {}", told.len())
}

fn the_readier_is_queued<H: Stage>() -> String {
    // What an M that sleeps is woken for comes from outside. If it comes too late, there is nothing to wait for.
    let tiny = Tiny::<H>::new(Central { sleeping: vec![M1], ..Central::new() });
    let worker = party::<H, _, _>("m1", &tiny, |tiny| tiny.works());
    let submitter = party::<H, _, _>("submitter", &tiny, |tiny| {
        tiny.lock.with(|c| c.queued = 1);
        tiny.central(|c| {
            let worker = if c.idle && c.queued > 0 { c.sleeping.pop() } else { None };
            c.idle &= worker.is_none();
            ((), worker)
        });
    });
    tiny.run();
    let (p, woken) = tiny.wait(M0, OwnedP::assume(PId(0)), Wake::Inside);
    tiny.release(p);
    H::join(submitter);
    tiny.close();
    H::join(worker);
    tiny.judge();
    format!("woken: {woken:?}")
}

fn the_readier_is_in_its_own_ring<H: Stage>() -> String {
    let tiny = Tiny::<H>::new(Central { sleeping: vec![M1], local: 1, ..Central::new() });
    let worker = party::<H, _, _>("m1", &tiny, |tiny| tiny.works());
    tiny.run();
    let (p, woken) = tiny.wait(M0, OwnedP::assume(PId(0)), Wake::Inside);
    assert!(woken == Woken::Ready, "told {woken:?}, but a G was in the ring of its P");
    tiny.release(p);
    tiny.close();
    H::join(worker);
    let told = tiny.judge();
    assert!(told.is_empty(), "told {told:?}");
    "woken".to_owned()
}
