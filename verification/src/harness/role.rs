//! The smallest scheduler around `role`: one P, its word, and under a lock whether it is idle and whether the M wants it.

use crate::harness::common::g;
use crate::hosts::model_host::{Cell, ModelHost};
use crate::hosts::wrap::signals::Signals;
use crate::hosts::wrap::trace::main_plays;
use crate::mutation::mutant;
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::{Lock, Parker, Word};
use spinpark_kernel::protocol::role::{Role, RoleCell, Waits};
use spinpark_kernel::protocol::syscall::{self, Away, Neighbours, SyscallWord};
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::m::{M, MId, NextP};
use spinpark_kernel::types::p::{OwnedP, PId};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The M whose G is preempted.
pub const M0: MId = MId(0);
/// Its P.
pub const P0: PId = PId(0);

/// What the M's thread is.
pub type Place<H> = RoleCell<H, OwnedP, Away, ()>;

/// The smallest scheduler around the room.
pub struct Tiny<H: ModelHost> {
    word: SyscallWord<H>,
    /// Preemption is requested.
    pub asked: Atomic<H, bool>,
    /// How many Gs run without a P.
    pub detached: Atomic<H, u64>,
    /// What is done under the P; only its owner does anything.
    used: H::Cell<u64>,
    central: H::Lock<Central>,
    m0: M<H>,
    stopper: H::Parker,
}

#[derive(Default)]
struct Central {
    is_idle: bool,
    /// M0's ticket is queued.
    is_queued: bool,
    /// M0's G waits, and what it waits for has happened.
    waits: bool,
    has_value: bool,
}

impl<H: ModelHost> Neighbours<H> for Tiny<H> {
    fn syscall_word(&self, _: PId) -> &SyscallWord<H> {
        &self.word
    }
    fn is_wanted(&self) -> bool {
        false
    }
    fn handoffp(&self, p: OwnedP) {
        self.release(p);
    }
    fn pidleget_or_queue(&self, g: G) -> Option<(OwnedP, G)> {
        let is_idle = self.central.with(|c| {
            c.is_queued = !c.is_idle;
            std::mem::take(&mut c.is_idle)
        });
        is_idle.then(|| (OwnedP::forge(P0), g))
    }
}

impl<H: ModelHost> Tiny<H> {
    /// The P is M0's, whose thread is the main one.
    pub fn new() -> Arc<Self> {
        main_plays("M0");
        Arc::new(Tiny {
            word: SyscallWord::new(P0),
            asked: Atomic::new(false),
            detached: Atomic::new(0),
            used: Cell::new(0),
            central: H::Lock::new(Central::default()),
            m0: M::new(),
            stopper: H::Parker::new(),
        })
    }

    /// M0's thread runs a G, under its P.
    pub fn running() -> Rc<Place<H>> {
        let place = Rc::new(Place::new(H::Word::new(0)));
        drop(place.replace(Role::Running(OwnedP::forge(P0))));
        place
    }

    /// The owner of the P does something under it.
    pub fn work(&self, p: &OwnedP) {
        assert!(p.id() == P0, "there is one P");
        self.used.set(self.used.get() + 1);
    }

    /// The signal's handler, on M0's thread. Has M0's G lost its P by it?
    pub fn handle(&self, place: &Place<H>) -> bool {
        let mut has_lost = false;
        place.interrupt(|p| {
            // Relaxed: a request, as in the kernel.
            if !self.asked.load(Relaxed) {
                return Err(p);
            }
            self.work(&p);
            // Relaxed: counted, as in the kernel.
            self.detached.fetch_add(1, Relaxed);
            has_lost = true;
            Ok(syscall::interrupt(M0, p, self))
        });
        has_lost
    }

    fn is_counted_no_more(&self) {
        // Relaxed: counted.
        self.detached.fetch_sub(1, Relaxed);
        self.stopper.unpark();
    }

    /// M0 lost its P to a signal, and wants one again.
    pub fn reattach(&self, away: Away) -> OwnedP {
        self.is_counted_no_more();
        self.come_back(away)
    }

    /// M0 comes back from a system call.
    pub fn come_back(&self, away: Away) -> OwnedP {
        let p = match syscall::exitsyscall(away, g(1), self) {
            Ok((p, ..)) => p,
            Err(_) => self.wait_nextp(),
        };
        self.work(&p);
        p
    }

    /// M0's preempted G enters a system call.
    pub fn stay(&self, away: Away) -> Away {
        self.is_counted_no_more();
        away
    }

    /// M0 sleeps until it gets the P.
    fn wait_nextp(&self) -> OwnedP {
        match self.m0.wait_nextp() {
            NextP::Run { p, .. } => p,
            NextP::Exit => unreachable!("no exit was sent to M0"),
        }
    }

    /// The P is M0's, if its ticket is queued, or idle.
    pub fn release(&self, p: OwnedP) {
        self.work(&p);
        let is_wanted = self.central.with(|c| {
            let is_wanted = std::mem::take(&mut c.is_queued);
            c.is_idle |= !is_wanted;
            is_wanted
        });
        match is_wanted {
            true => self.m0.wake_with(NextP::Run { p, token: None }),
            false => drop(p.discard()),
        }
    }

    /// The monitor requests preemption, and takes the P if it was left in its word; others run under it.
    pub fn monitor(&self) -> bool {
        // Relaxed: a request.
        self.asked.store(true, Relaxed);
        let taken = self.word.take_any();
        let retook = taken.is_some();
        taken.into_iter().for_each(|p| self.release(p));
        retook
    }

    /// M0's G waits with its thread for the value, and hands `p` on meanwhile.
    pub fn park_bound(&self, p: OwnedP) -> OwnedP {
        let is_there = self.central.with(|c| {
            c.waits = !c.has_value;
            c.has_value
        });
        if is_there {
            return p;
        }
        self.release(p);
        let p = self.wait_nextp();
        self.work(&p);
        p
    }

    /// The value is there: M0's G gets the P, or its ticket is queued.
    pub fn bring(&self) {
        let is_idle = self.central.with(|c| {
            c.has_value = true;
            if !std::mem::take(&mut c.waits) {
                return false;
            }
            c.is_queued = !c.is_idle;
            std::mem::take(&mut c.is_idle)
        });
        if is_idle {
            self.m0.wake_with(NextP::Run { p: OwnedP::forge(P0), token: None });
        }
    }

    /// Waits until no G runs without a P: a stopper of the world.
    pub fn stop(&self) {
        // Relaxed: counted; woken after each change.
        while self.detached.load(Relaxed) > 0 {
            self.stopper.park();
        }
    }

    /// All parties have come to rest: the P is idle, once.
    pub fn check_at_rest(&self) {
        let (is_idle, is_queued) = self.central.with(|c| (c.is_idle, c.is_queued));
        let in_word = self.word.peek().in_syscall.is_some();
        assert!(is_idle && !in_word && !is_queued, "the P is lost: idle {is_idle}, in its word {in_word}");
        // Relaxed: all others have ended.
        assert!(self.detached.load(Relaxed) == 0, "a G counts as detached, and none is");
    }
}

/// What M0's G does, on a thread that hears signals: each needs a decision.
impl<H: ModelHost> Tiny<Signals<H>> {
    /// It waits for the value, with its thread.
    pub fn block(&self, place: &Place<Signals<H>>) {
        match decide(place, false) {
            Waits::Suspend => panic!("it left a thread that it could not leave"),
            Waits::WithoutP => panic!("it waits as if it had no P to hand on, and has one, or had"),
            Waits::Block => {}
        }
        let p = match mutant::variant() {
            // It waits as it is, with its P or without.
            Some("waits-without-reattaching") => place.with(|role| match role {
                Role::Detached(_) => panic!("it waits, has lost its P, and is not known to have none"),
                _ => None,
            }),
            _ => None,
        };
        let p = p.or_else(|| place.take(|away| self.reattach(away))).expect("it had a P, or had lost one");
        let p = self.park_bound(p);
        drop(place.replace(Role::Running(p)));
    }

    /// It waits, and could leave its thread. Its M goes on with another.
    pub fn suspend(&self, place: &Place<Signals<H>>) {
        match decide(place, true) {
            Waits::Suspend => {}
            Waits::Block => panic!("it waits with its thread, and could leave it"),
            Waits::WithoutP => panic!("it waits as if it had no P to hand on, and could leave its thread"),
        }
        let p = place.take(|away| self.reattach(away)).expect("an M ran a G, and has no P");
        self.work(&p);
        drop(place.replace(Role::Running(p)));
    }

    /// It enters a system call, and comes back.
    pub fn system_call(&self, place: &Place<Signals<H>>) {
        let stay = |away| match mutant::variant() {
            Some("a-system-call-stays-detached") => away,
            _ => self.stay(away),
        };
        let leave = |p| syscall::entersyscall(M0, p, self);
        assert!(place.enter_syscall(leave, stay), "it had a P, or had lost one");
        assert!(place.waits(true) == Waits::WithoutP, "in a system call there is no P to hand on");
        // Nested, nothing is left, and nothing comes back.
        assert!(!place.enter_syscall(|p| panic!("{p:?} in a system call"), |away| away), "it was in one already");
        // Relaxed: a count that only this thread changes.
        let is_counted = self.detached.load(Relaxed) > 0;
        assert!(!is_counted, "a stopper waits for a G that sits in a system call");
        let p = place.exit_syscall(|away| self.come_back(away)).expect("it was in a system call");
        drop(place.replace(Role::Running(p)));
    }

    /// It does something under its P, if it has one, and the handler does not come between.
    pub fn readies(&self, place: &Place<Signals<H>>) -> bool {
        let works = place.try_with_mut(|role| {
            let Role::Running(p) = role else { return false };
            Signals::<H>::point();
            self.work(p);
            Signals::<H>::point();
            true
        });
        works == Some(true)
    }

    /// It has ended: its M lets go of the P, wherever a signal has put it.
    pub fn end(&self, place: &Place<Signals<H>>) -> OwnedP {
        Signals::<H>::point();
        place.take(|away| self.reattach(away)).expect("M0's G has no P, and has lost none")
    }
}

/// How it may wait. A wrong variant asks a flag beside the role first, as the runtime once did.
fn decide<H: ModelHost>(place: &Place<Signals<H>>, could_leave: bool) -> Waits {
    if mutant::variant() != Some("asks-a-flag-beside-the-role") {
        return place.waits(could_leave);
    }
    let has_lost = place.with(|role| matches!(role, Role::Detached(_)));
    Signals::<H>::point();
    let has_p = place.with(|role| matches!(role, Role::Running(_)));
    match has_lost || has_p {
        true if could_leave => Waits::Suspend,
        true => Waits::Block,
        false => Waits::WithoutP,
    }
}
