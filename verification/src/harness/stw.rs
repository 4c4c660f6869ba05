//! The smallest scheduler around `stw` and `wanted`: words, idle Ps under a lock, and a line of stoppers.
//!
//! A P is a cell that only its owner may touch. While the world is stopped the stopper touches all of them, so a P that
//! was counted without being held is seen.

use crate::harness::common::g;
use crate::harness::unrest::Unrest;
use crate::hosts::model_host::{Cell, ModelHost};
use crate::mutation::mutant::is_variant;
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::{Host, Lock, Parker};
use spinpark_kernel::protocol::stw::WorldState;
use spinpark_kernel::protocol::stw::safepoint::Safepoint;
use spinpark_kernel::protocol::stw::wanted::{Want, Wanted};
use spinpark_kernel::protocol::syscall::{self, Away, SyscallWord, Way, entersyscall, exitsyscall};
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::m::{M, MId};
use spinpark_kernel::types::p::{OwnedP, PId};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// The smallest scheduler around the rooms.
pub struct Tiny<H: ModelHost> {
    pub(super) words: Vec<SyscallWord<H>>,
    /// What is asked for.
    pub wanted: Wanted<H>,
    pub(super) lock: H::Lock<Central<H>>,
    /// An M that a P is handed to.
    pub m: M<H>,
    /// One cell a P: its owner uses it.
    pub(super) used: Vec<H::Cell<bool>>,
    /// How often the safepoint's function ran under each.
    pub passed: Vec<H::Cell<u32>>,
    /// Where an M blocks in its system call.
    pub io: H::Parker,
    /// Can be known by an M: a stop was asked for.
    pub(super) asked: Atomic<H, bool>,
    /// Did an M that entered a system call give its P up itself? No part of what is checked.
    pub gave_up: AtomicBool,
    /// How many Ps were taken out of system calls. No part either.
    pub taken: AtomicUsize,
    pub(super) unrest: Unrest,
    /// How many safepoints there were. No part either.
    pub(super) safepoints: AtomicUsize,
}

/// Under the lock.
pub(super) struct Central<H: Host> {
    pub(super) world: WorldState<H>,
    pub(super) safepoint: Option<Safepoint<H>>,
    pub(super) idle: Vec<OwnedP>,
    /// How often a stopper was woken.
    pub(super) wakes: usize,
    /// Which stood in line, and which stopped the world, in order.
    pub(super) stood: Vec<u8>,
    pub(super) stopped: Vec<u8>,
    /// For the variant with a semaphore instead of a line.
    pub(super) taken: bool,
    pub(super) pushing: Vec<Arc<H::Parker>>,
}

impl<H: Host> Drop for Central<H> {
    fn drop(&mut self) {
        for p in self.idle.drain(..) {
            p.discard();
        }
    }
}

impl<H: ModelHost> Tiny<H> {
    /// `procs` Ps, of which the last `idle` are idle and the others are owned.
    pub fn new(procs: u32, idle: u32) -> Arc<Self> {
        Self::with(procs, idle, Unrest::unknown())
    }

    /// The same; `unrest` counts the Ms that may still do something, each of which says when it [rests](Tiny::rest).
    pub fn with(procs: u32, idle: u32, unrest: Unrest) -> Arc<Self> {
        Arc::new(Tiny {
            words: (0..procs).map(|p| SyscallWord::new(PId(p))).collect(),
            wanted: Wanted::new(),
            lock: H::Lock::new(Central {
                world: WorldState::new(procs as usize),
                safepoint: None,
                idle: (procs - idle..procs).map(|p| OwnedP::forge(PId(p))).collect(),
                wakes: 0,
                stood: Vec::new(),
                stopped: Vec::new(),
                taken: false,
                pushing: Vec::new(),
            }),
            m: M::new(),
            used: (0..procs).map(|_| Cell::new(false)).collect(),
            passed: (0..procs).map(|_| Cell::new(0)).collect(),
            io: H::Parker::new(),
            asked: Atomic::new(false),
            gave_up: AtomicBool::new(false),
            taken: AtomicUsize::new(0),
            unrest,
            safepoints: AtomicUsize::new(0),
        })
    }

    /// Runs a G under `p`, which the caller owns.
    pub fn run(&self, p: &OwnedP) {
        let used = &self.used[p.id().index()];
        assert!(!used.get(), "P{} is used by two, or while the world is stopped", p.id().0);
        used.set(true);
        used.set(false);
    }

    /// Lets go of `p`, under the lock. What there is to do then: wake the stopper, or run the safepoint's function.
    pub(super) fn releasep(c: &mut Central<H>, p: OwnedP) -> (Option<Arc<H::Parker>>, Option<OwnedP>) {
        if c.world.is_stopping() {
            let stopper = c.world.hold(p);
            c.wakes += usize::from(stopper.is_some());
            return (stopper.filter(|_| !is_variant("wakes-nobody")), None);
        }
        let wants = |safepoint: &Safepoint<H>| safepoint.wants(&p) && !is_variant("idles-what-is-wanted");
        if c.safepoint.as_ref().is_some_and(wants) {
            return (None, Some(p));
        }
        c.idle.push(p);
        (None, None)
    }

    /// Lets go of `p`: it is held for a stop, or passes a safepoint, or is idle.
    pub fn release(&self, p: OwnedP) {
        let (stopper, pass) = self.lock.with(|c| Self::releasep(c, p));
        stopper.into_iter().for_each(|parker| parker.unpark());
        pass.into_iter().for_each(|p| self.pass(p));
    }

    /// Runs the safepoint's function under `p` if it is wanted, and lets go of `p`.
    pub(super) fn pass(&self, p: OwnedP) {
        self.attend(&p);
        self.release(p);
    }

    /// The owner of `p` has come to a scheduling point: runs the safepoint's function under it, if it is wanted.
    pub fn attend(&self, p: &OwnedP) {
        if !self.wanted.is(Want::Safepoint) {
            return;
        }
        let count = |run| {
            let caller = self.lock.with(|c| c.safepoint.as_mut().and_then(|safepoint| safepoint.ran(run)));
            caller.into_iter().for_each(|caller| caller.unpark());
        };
        let Some(run) = self.lock.with(|c| c.safepoint.as_mut()?.begin(p)) else { return };
        match () {
            () if is_variant("counts-before-it-ran") => {
                count(Arc::clone(&run));
                run(p.id());
            }
            () if is_variant("keeps-the-function") => {
                run(p.id());
                count(Arc::clone(&run));
                // It holds on to the function for a moment.
                self.lock.with(|_| ());
                drop(run);
            }
            () => {
                run(p.id());
                count(run);
            }
        }
    }

    /// An M enters a system call.
    pub fn enter(&self, m: MId, p: OwnedP) -> Option<Away> {
        if is_variant("enters-in-gos-order") {
            if self.wanted.any() {
                self.pass(p);
                return None;
            }
            return Some(entersyscall(m, p, &Blind(self)));
        }
        if is_variant("enters-blindly") {
            return Some(entersyscall(m, p, &Blind(self)));
        }
        Some(entersyscall(m, p, self))
    }

    /// An M with `p` makes a system call that lasts until the world has run again. How it comes back.
    pub fn block(&self, p: OwnedP) -> Option<Way> {
        self.run(&p);
        let away = self.enter(MId(0), p);
        self.io.park();
        away.and_then(|away| self.come_back(away)).map(|(p, way)| {
            self.run(&p);
            self.release(p);
            way
        })
    }

    /// The system call is over: the P that its M has now, if there was one, and how it got it.
    pub fn come_back(&self, away: Away) -> Option<(OwnedP, Way)> {
        let (p, g, way) = exitsyscall(away, g(1), self).ok()?;
        let _ = g.into_raw();
        Some((p, way))
    }

    /// All parties have come to rest: every P is idle, and each stop was served in turn, by one wake.
    pub fn check_at_rest(&self) {
        self.lock.with(|c| {
            let mut idle: Vec<u32> = c.idle.iter().map(|p| p.id().0).collect();
            idle.sort_unstable();
            assert!(idle.iter().copied().eq(0..self.procs() as u32), "not every P is idle, once: {idle:?}");
            assert!(c.stood == c.stopped, "stood in line: {:?}, but stopped: {:?}", c.stood, c.stopped);
            assert!(c.wakes == c.stopped.len(), "{} stops, but {} wakes", c.stopped.len(), c.wakes);
        });
    }
}

impl<H: ModelHost> Tiny<H> {
    /// An idle P, if there is one.
    pub fn acquire(&self) -> Option<OwnedP> {
        self.lock.with(|c| c.idle.pop())
    }

    /// Was a stop asked for, that has not ended? An M that owns a P and reads true sees `wanted` as well.
    pub fn is_needspinning(&self) -> bool {
        // Acquire: then `wanted` is seen as well.
        self.asked.load(Acquire)
    }

    /// How many Ps there are.
    pub fn procs(&self) -> usize {
        self.words.len()
    }

    /// Those that stopped the world, in order.
    pub fn served(&self) -> Vec<u8> {
        self.lock.with(|c| c.stopped.clone())
    }

    /// How many stand in line, with the one that has stopped the world.
    pub fn line(&self) -> usize {
        self.lock.with(|c| c.stood.len() + 1 - c.stopped.len())
    }

    /// An M ends, or blocks until all that is asked for is over.
    pub fn rest(&self) {
        self.lock.with(|c| {
            if self.unrest.rest() {
                self.nothing_is_sat_out(c);
            }
        });
    }

    /// All parties have come to rest: whatever is asked for has to be over now, or will never be.
    pub(super) fn nothing_is_sat_out(&self, c: &Central<H>) {
        let what = match &c.safepoint {
            _ if c.world.is_stopping() && !c.world.is_stopped() => "stop",
            Some(safepoint) if !safepoint.is_passed() => "safepoint",
            _ => return,
        };
        let left = self.words.iter().find_map(|word| word.peek().in_syscall).map(|m| m.0);
        assert!(left.is_none(), "the {what} waits until the system call of M{} is over", left.unwrap_or_default());
        panic!("every M has come to rest, but the {what} waits for one more P");
    }
}

impl<H: ModelHost> syscall::Neighbours<H> for Tiny<H> {
    fn syscall_word(&self, p: PId) -> &SyscallWord<H> {
        &self.words[p.index()]
    }
    fn is_wanted(&self) -> bool {
        self.wanted.any()
    }
    fn handoffp(&self, p: OwnedP) {
        self.gave_up.store(true, Relaxed);
        self.pass(p);
    }
    fn pidleget_or_queue(&self, g: G) -> Option<(OwnedP, G)> {
        self.lock.with(|c| match c.idle.pop() {
            Some(p) => Some((p, g)),
            None => {
                let _ = g.into_raw();
                None
            }
        })
    }
}

/// Neighbours that do not know that every P is wanted.
struct Blind<'a, H: ModelHost>(&'a Tiny<H>);

impl<H: ModelHost> syscall::Neighbours<H> for Blind<'_, H> {
    fn syscall_word(&self, p: PId) -> &SyscallWord<H> {
        self.0.syscall_word(p)
    }
    fn is_wanted(&self) -> bool {
        false
    }
    fn handoffp(&self, p: OwnedP) {
        self.0.handoffp(p);
    }
    fn pidleget_or_queue(&self, g: G) -> Option<(OwnedP, G)> {
        self.0.pidleget_or_queue(g)
    }
}
