//! The smallest scheduler around `handoff`: the real `Spinning`, a number for each queue, and under a lock the idle Ps.
//! What `settle` decides under the lock is written down once more, beside its wrong variants.

use crate::hosts::model_host::ModelHost;
use crate::mutation::variants::handoff::{Ask, Fate, Handing};
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::Lock;
use spinpark_kernel::protocol::handoff;
use spinpark_kernel::protocol::sources::Source;
use spinpark_kernel::protocol::spinning::{self, Spinning};
use spinpark_kernel::protocol::stw::WorldState;
use spinpark_kernel::protocol::stw::wanted::{Want, Wanted};
use spinpark_kernel::types::m::SpinningToken;
use spinpark_kernel::types::p::{OwnedP, PId};
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::{Arc, Mutex};

/// The smallest scheduler around the room.
pub struct Tiny<H: ModelHost, D: Handing> {
    /// The real one.
    pub spinning: Spinning<H>,
    /// How many Gs wait in P1's ring. Only its owner adds to it.
    ring: Atomic<H, u64>,
    /// How many Gs wait in the global queue; written under the lock.
    global: Atomic<H, u64>,
    /// How many Ps are idle; written under the lock.
    npidle: Atomic<H, u64>,
    /// As the kernel's.
    pub wanted: Wanted<H>,
    /// What is under the lock.
    pub central: H::Lock<Central<H>>,
    /// What became of the Ps that were handed on, step by step. No part of what is checked by an engine.
    steps: Mutex<Vec<Step>>,
    handing: PhantomData<fn() -> D>,
}

/// What is under the lock.
pub struct Central<H: ModelHost> {
    /// Does it stop?
    pub world: WorldState<H>,
    /// The idle Ps.
    pub idle: Vec<PId>,
}

/// What became of a P that was handed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Given to an M, for what waits in a queue.
    SawWork,
    /// The same, seen under the lock.
    SawWorkLate,
    /// Given to an M that looks for work: no other M does, or a spinning M was asked for.
    Seeks,
    /// The same, decided before the lock was taken: by a variant.
    SpinsEarly,
    /// Idle.
    Idled,
    /// Held for a stop.
    Held,
    /// Taken by a `wakep`, for an M that looks for work.
    Woken,
}

impl Step {
    /// Does its M look for work?
    pub fn seeks(self) -> bool {
        matches!(self, Step::Seeks | Step::SpinsEarly | Step::Woken)
    }

    /// Has an M got it?
    pub fn starts(self) -> bool {
        self.seeks() || matches!(self, Step::SawWork | Step::SawWorkLate)
    }
}

/// The tiny scheduler as the room sees it, and what became of the P.
struct PartyView<'a, H: ModelHost, D: Handing> {
    tiny: &'a Tiny<H, D>,
    step: Cell<Option<Step>>,
}

impl<H: ModelHost, D: Handing> PartyView<'_, H, D> {
    fn tell(&self, step: Step) {
        self.step.set(Some(step));
        self.tiny.tell(step);
    }
}

impl<H: ModelHost, D: Handing> handoff::Neighbours for PartyView<'_, H, D> {
    fn has_work(&self, _p: &OwnedP, source: Source) -> bool {
        !self.tiny.wanted.any() && self.tiny.has_any(source)
    }
    fn settle(&self, p: OwnedP) -> Option<(OwnedP, Option<SpinningToken>)> {
        let tiny = self.tiny;
        tiny.central.with(|c| {
            let fate = D::settle(Ask {
                room: &tiny.spinning,
                is_stopping: c.world.is_stopping(),
                is_another_idle: !c.idle.is_empty(),
                has_work: || SOURCES.iter().any(|&source| tiny.has_any(source)),
            });
            self.tell(match &fate {
                Fate::Run(None) => Step::SawWorkLate,
                Fate::Run(Some(_)) => Step::Seeks,
                Fate::Held => Step::Held,
                Fate::Idle => Step::Idled,
            });
            match fate {
                Fate::Run(token) => return Some((p, token)),
                Fate::Held => drop(c.world.hold(p)),
                Fate::Idle => tiny.pidleput(c, p),
            }
            None
        })
    }
    fn startm(&self, p: OwnedP, token: Option<SpinningToken>) {
        p.discard();
        let is_spinning = token.map(SpinningToken::discard).is_some();
        if self.step.get().is_none() {
            self.tell(if is_spinning { Step::SpinsEarly } else { Step::SawWork });
        }
    }
}

/// In Go's order, in which an M takes a share of the global queue before it seeks.
const SOURCES: &[Source] = &[Source::Local, Source::Global, Source::Steal];

impl<H: ModelHost, D: Handing> spinning::Neighbours for Tiny<H, D> {
    type IdleP = OwnedP;

    fn any_work(&self) -> bool {
        // Relaxed: the room's fence has to do.
        self.ring.load(Relaxed) > 0 || self.global.load(Relaxed) > 0
    }
    fn is_any_p_idle(&self) -> bool {
        // Relaxed: a hint, as the kernel's `npidle`.
        self.npidle.load(Relaxed) > 0
    }
    fn pidleget(&self, or_else: impl FnOnce()) -> Option<OwnedP> {
        self.central.with(|c| {
            let p = self.take_idle(c);
            if p.is_none() {
                or_else();
            }
            p
        })
    }
    fn startm(&self, p: OwnedP, token: SpinningToken) {
        p.discard();
        token.discard();
        self.tell(Step::Woken);
    }
}

impl<H: ModelHost, D: Handing> Tiny<H, D> {
    /// `idle`: the Ps that are idle at first.
    pub fn new(procs: usize, idle: &[PId]) -> Arc<Self> {
        Arc::new(Tiny {
            spinning: Spinning::new(),
            ring: Atomic::new(0),
            global: Atomic::new(0),
            npidle: Atomic::new(idle.len() as u64),
            wanted: Wanted::new(),
            central: H::Lock::new(Central { world: WorldState::new(procs), idle: idle.to_vec() }),
            steps: Mutex::default(),
            handing: PhantomData,
        })
    }

    fn tell(&self, step: Step) {
        self.steps.lock().unwrap().push(step);
    }

    /// Has any M got a P?
    pub fn has_started(&self) -> bool {
        self.steps.lock().unwrap().iter().any(|step| step.starts())
    }

    fn has_any(&self, source: Source) -> bool {
        match source {
            // Relaxed: a hint; under the lock exact.
            Source::Global => self.global.load(Relaxed) > 0,
            // P0's own ring is empty, only we could fill it; of other Ps' rings one is not asked here.
            _ => false,
        }
    }

    fn pidleput(&self, c: &mut Central<H>, p: OwnedP) {
        c.idle.push(p.discard());
        // Relaxed: written under the lock only.
        self.npidle.store(c.idle.len() as u64, Relaxed);
    }

    fn take_idle(&self, c: &mut Central<H>) -> Option<OwnedP> {
        let p = c.idle.pop().map(OwnedP::forge)?;
        // Relaxed: written under the lock only.
        self.npidle.store(c.idle.len() as u64, Relaxed);
        Some(p)
    }

    /// Under the lock.
    fn queue(&self) {
        // Relaxed: written under the lock only.
        let n = self.global.load(Relaxed);
        // Relaxed: as above.
        self.global.store(n + 1, Relaxed);
    }

    /// Hands `p` on; what became of it.
    pub fn handoffp(&self, p: PId) -> Step {
        let seen = PartyView { tiny: self, step: Cell::new(None) };
        D::handoffp(OwnedP::forge(p), SOURCES, &seen, || {
            // Relaxed: a hint.
            let is_of_no_use = self.wanted.any() || self.npidle.load(Relaxed) > 0;
            if is_of_no_use { None } else { self.spinning.elect() }
        });
        seen.step.get().expect("something became of it")
    }

    /// The owner of P1 puts a G into its ring, in which so many are then.
    pub fn ready(&self, n: u64) {
        // Release: as the ring's `publish`.
        self.ring.store(n, Release);
        self.wakep();
    }

    /// A G is put into the global queue, from outside or by an owner.
    pub fn submit(&self) {
        self.central.with(|_| self.queue());
        self.wakep();
    }

    /// A submitter has queued a G, or says so.
    pub fn wakep(&self) {
        self.spinning.wakep(self);
    }

    /// An M comes back from a system call: takes an idle P, or queues its G. It wakes no M: see `exitsyscall`.
    pub fn exitsyscall(&self) -> Option<PId> {
        self.central.with(|c| {
            let p = self.take_idle(c).map(OwnedP::discard);
            if p.is_none() {
                self.queue();
            }
            p
        })
    }

    /// The owner of P1 has nothing in its ring: takes what is in the global queue, one to run, the rest into the ring;
    /// how many are there then. It was not spinning, so it wakes no M.
    pub fn take_batch(&self) -> u64 {
        self.central.with(|_| {
            // Relaxed: under the lock.
            let n = self.global.load(Relaxed);
            if n > 0 {
                // Release: as the ring's `publish`.
                self.ring.store(n - 1, Release);
                // Relaxed: written under the lock only.
                self.global.store(0, Relaxed);
            }
            n.saturating_sub(1)
        })
    }

    /// Begins to stop the world: from now on a released P is held; the idle ones are at once.
    pub fn begin_stop(&self) {
        self.central.with(|c| {
            c.world.begin_stop();
            self.wanted.ask(Want::Stop);
            while let Some(p) = self.take_idle(c) {
                drop(c.world.hold(p));
            }
        });
    }

    /// All parties have come to rest.
    ///
    /// # Panics
    /// If a G waits and a P is idle, and no M looks; or if the count is not that of the Ms that look.
    pub fn check_at_rest(&self) -> String {
        let is_idle = self.central.with(|c| !c.idle.is_empty());
        assert!(
            !is_idle || self.has_started() || !spinning::Neighbours::any_work(self),
            "a G waits and a P is idle, but no M looks and none was started"
        );
        let steps = self.steps.lock().unwrap().clone();
        let (spinning, spinning_ms) = (self.spinning.count(), steps.iter().filter(|step| step.seeks()).count());
        assert!(
            spinning == spinning_ms,
            "{spinning} Ms are counted as spinning, but {spinning_ms} were started to look"
        );
        format!("{steps:?}")
    }
}
