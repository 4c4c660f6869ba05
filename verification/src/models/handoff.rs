//! Models of `handoff`: a P is handed on while others queue work, and nobody finds a P for it.
//!
//! The room is played with the real `Spinning`. The rest is as small as it can be: a number for each queue, and under a
//! lock the idle Ps. What `settle` decides under the lock is written down once more, beside its wrong twins. P0 is
//! handed on by the main thread; P1 is in use. At the end of every execution all parties have come to rest, and the
//! question is that of `spinning`: a G waits and a P is idle, but does anybody look, or has yet to?

use super::common::party;
use crate::engine::Engine;
use crate::model::{Model, loom, loom_apart, sc, tso};
use crate::mutant::{Mutant, Mutation};
use crate::stage::Stage;
use crate::twins::handoff::{Ask, Fate, Handing, Scene, play};
use crate::wrap::trace::main_plays;
use spinpark::atomic::Atomic;
use spinpark::host::Lock;
use spinpark::kernel::handoff;
use spinpark::kernel::m::Seeking;
use spinpark::kernel::p::{OwnedP, PId};
use spinpark::kernel::sources::Source;
use spinpark::kernel::spinning::{self, Spinning};
use spinpark::kernel::stw::{self, World};
use spinpark::kernel::wanted::{Want, Wanted};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::{Arc, Mutex};

const P0: PId = PId(0);
const P2: PId = PId(2);

/// The smallest scheduler around the room.
struct Tiny<H: Stage, D: Handing> {
    spinning: Spinning<H>,
    /// How many Gs wait in P1's ring. Only its owner adds to it.
    ring: Atomic<H, u64>,
    /// How many Gs wait in the global queue; written under the lock.
    global: Atomic<H, u64>,
    /// How many Ps are idle; written under the lock.
    npidle: Atomic<H, u64>,
    wanted: Wanted<H>,
    central: H::Lock<Central<H>>,
    /// What became of P0, step by step. No part of what is checked by an engine.
    story: Mutex<Vec<Step>>,
    handing: PhantomData<fn() -> D>,
}

struct Central<H: Stage> {
    world: World<H>,
    idle: Vec<PId>,
}

/// A step of P0's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Given to an M, for what waits in a queue.
    SawWork,
    /// The same, seen under the lock.
    SawWorkLate,
    /// Given to an M that looks for work: nobody else does, or somebody has asked for it.
    Seeks,
    /// The same, decided before the lock was taken: by a twin.
    SeeksEarly,
    /// Idle.
    Idled,
    /// Held for a stop.
    Held,
    /// Taken by a `wakep`, for an M that looks for work.
    Woken,
}

impl Step {
    fn seeks(self) -> bool {
        matches!(self, Step::Seeks | Step::SeeksEarly | Step::Woken)
    }
    fn starts(self) -> bool {
        self.seeks() || matches!(self, Step::SawWork | Step::SawWorkLate)
    }
}

impl<H: Stage, D: Handing> handoff::Neighbours for Tiny<H, D> {
    fn has_work(&self, _p: &OwnedP, source: Source) -> bool {
        !self.wanted.any() && self.has_any(source)
    }
    fn settle(&self, p: OwnedP) -> Option<(OwnedP, Option<Seeking>)> {
        self.central.with(|c| {
            let fate = D::settle(Ask {
                room: &self.spinning,
                is_stopping: c.world.is_stopping(),
                is_another_idle: !c.idle.is_empty(),
                has_work: || SOURCES.iter().any(|&source| self.has_any(source)),
            });
            self.tell(match &fate {
                Fate::Run(None) => Step::SawWorkLate,
                Fate::Run(Some(_)) => Step::Seeks,
                Fate::Held => Step::Held,
                Fate::Idle => Step::Idled,
            });
            match fate {
                Fate::Run(seeking) => return Some((p, seeking)),
                Fate::Held => drop(c.world.hold(p)),
                Fate::Idle => self.pidleput(c, p),
            }
            None
        })
    }
    fn startm(&self, p: OwnedP, seeking: Option<Seeking>) {
        p.relinquish();
        let is_seeking = seeking.map(Seeking::relinquish).is_some();
        if !self.has_started() {
            self.tell(if is_seeking { Step::SeeksEarly } else { Step::SawWork });
        }
    }
}

/// In Go's order, in which an M takes a share of the global queue before it seeks.
const SOURCES: &[Source] = &[Source::Local, Source::Global, Source::Steal];

impl<H: Stage, D: Handing> spinning::Neighbours for Tiny<H, D> {
    type IdleP = OwnedP;

    fn any_work(&self) -> bool {
        // Relaxed: the room's fence has to do.
        self.ring.load(Relaxed) > 0 || self.global.load(Relaxed) > 0
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
    fn startm(&self, p: OwnedP, seeking: Seeking) {
        p.relinquish();
        seeking.relinquish();
        self.tell(Step::Woken);
    }
}

impl<H: Stage, D: Handing> Tiny<H, D> {
    /// `idle`: the Ps that are idle at first.
    fn new(main: &str, procs: usize, idle: &[PId]) -> Arc<Self> {
        main_plays(main);
        Arc::new(Tiny {
            spinning: Spinning::new(),
            ring: Atomic::new(0),
            global: Atomic::new(0),
            npidle: Atomic::new(idle.len() as u64),
            wanted: Wanted::new(),
            central: H::Lock::new(Central { world: World::new(procs), idle: idle.to_vec() }),
            story: Mutex::default(),
            handing: PhantomData,
        })
    }

    fn tell(&self, step: Step) {
        self.story.lock().unwrap().push(step);
    }

    fn has_started(&self) -> bool {
        self.story.lock().unwrap().iter().any(|step| step.starts())
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
        c.idle.push(p.relinquish());
        // Relaxed: written under the lock only.
        self.npidle.store(c.idle.len() as u64, Relaxed);
    }

    fn take_idle(&self, c: &mut Central<H>) -> Option<OwnedP> {
        let p = c.idle.pop().map(OwnedP::assume)?;
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

    /// Hands P0 on.
    fn handoffp(&self) {
        D::handoffp(OwnedP::assume(P0), SOURCES, self, || {
            // Relaxed: a hint.
            let is_of_no_use = self.wanted.any() || self.npidle.load(Relaxed) > 0;
            if is_of_no_use { None } else { self.spinning.elect() }
        });
    }

    /// The owner of P1 puts a G into its ring: the only one.
    fn ready(&self) {
        // Release: as the ring's `publish`.
        self.ring.store(1, Release);
        self.spinning.wakep(self);
    }

    /// A G is put into the global queue, from outside or by an owner.
    fn submit(&self) {
        self.central.with(|_| self.queue());
        self.spinning.wakep(self);
    }

    /// An M comes back from a system call: takes an idle P, or queues its G. It wakes nobody: see `exitsyscall`.
    fn exitsyscall(&self) {
        self.central.with(|c| match self.take_idle(c) {
            Some(p) => {
                p.relinquish();
            }
            None => self.queue(),
        });
    }

    /// The owner of P1 has nothing in its ring: takes what is in the global queue, one to run, the rest into the ring.
    /// It was not seeking, so it wakes nobody.
    fn take_batch(&self) {
        self.central.with(|_| {
            // Relaxed: under the lock.
            let n = self.global.load(Relaxed);
            if n > 0 {
                // Release: as the ring's `publish`.
                self.ring.store(n - 1, Release);
                // Relaxed: written under the lock only.
                self.global.store(0, Relaxed);
            }
        });
    }

    /// Everybody has come to rest.
    fn judge(&self) -> String {
        let is_idle = self.central.with(|c| !c.idle.is_empty());
        assert!(
            !is_idle || self.has_started() || !spinning::Neighbours::any_work(self),
            "a G waits and a P is idle, but nobody looks and nobody was started"
        );
        let story = self.story.lock().unwrap().clone();
        let (spinning, seekers) = (self.spinning.count(), story.iter().filter(|step| step.seeks()).count());
        assert!(spinning == seekers, "{spinning} Ms are counted as spinning, but {seekers} were started to look");
        format!("{story:?}")
    }
}

macro_rules! scene {
    ($(#[$doc:meta])* $name:ident, |$h:ident, $d:ident| $play:block) => {
        $(#[$doc])*
        fn $name<H: Stage>() -> String {
            struct This;
            impl<$h: Stage> Scene<$h> for This {
                fn play<$d: Handing>() -> String $play
            }
            play::<H, This>(PhantomData)
        }
    };
}

scene!(a_g_in_anothers_ring, |H, D| {
    let tiny = Tiny::<H, D>::new("handoff", 2, &[]);
    let submitter = party::<H, _, _>("submitter", &tiny, Tiny::ready);
    tiny.handoffp();
    H::join(submitter);
    tiny.judge()
});

scene!(a_count_that_nobody_stands_behind, |H, D| {
    // One M passes a baton for nothing: it raises the count and lowers it without a look.
    let tiny = Tiny::<H, D>::new("handoff", 3, &[]);
    let passer = party::<H, _, _>("passer", &tiny, |tiny| tiny.spinning.wakep(tiny));
    let submitter = party::<H, _, _>("submitter", &tiny, Tiny::ready);
    tiny.handoffp();
    H::join(passer);
    H::join(submitter);
    tiny.judge()
});

scene!(a_g_in_the_global_queue, |H, D| {
    let tiny = Tiny::<H, D>::new("handoff", 2, &[]);
    let submitter = party::<H, _, _>("submitter", &tiny, Tiny::submit);
    tiny.handoffp();
    H::join(submitter);
    tiny.judge()
});

scene!(two_come_back_from_system_calls, |H, D| {
    // P2 is idle. The first takes it, for the second there is none: its G is queued, and nobody is woken.
    let tiny = Tiny::<H, D>::new("handoff", 3, &[P2]);
    let returners = party::<H, _, _>("M3, M4", &tiny, |tiny| {
        tiny.exitsyscall();
        tiny.exitsyscall();
    });
    tiny.handoffp();
    H::join(returners);
    tiny.judge()
});

scene!(a_batch_goes_into_anothers_ring, |H, D| {
    // Two Gs were queued by Ms that came back from system calls and woke nobody. P1's owner takes both.
    let tiny = Tiny::<H, D>::new("handoff", 2, &[]);
    tiny.exitsyscall();
    tiny.exitsyscall();
    let owner = party::<H, _, _>("owner of P1", &tiny, Tiny::take_batch);
    tiny.handoffp();
    H::join(owner);
    tiny.judge()
});

scene!(the_idle_p_is_taken_and_a_batch_goes_into_a_ring, |H, D| {
    // P2 is idle. An M that comes back takes it, and two more find none; P1's owner takes both Gs. Nobody is woken.
    let tiny = Tiny::<H, D>::new("handoff", 3, &[P2]);
    let others = party::<H, _, _>("M3, M4, M5, owner of P1", &tiny, |tiny| {
        (0..3).for_each(|_| tiny.exitsyscall());
        tiny.take_batch();
    });
    tiny.handoffp();
    H::join(others);
    tiny.judge()
});

scene!(a_safepoint_hands_it_on, |H, D| {
    // The same without an idle P, while everybody is asked to attend to a safepoint.
    let tiny = Tiny::<H, D>::new("handoff", 2, &[]);
    tiny.wanted.ask(Want::Safepoint);
    let others = party::<H, _, _>("M4, M5, owner of P1", &tiny, |tiny| {
        (0..2).for_each(|_| tiny.exitsyscall());
        tiny.take_batch();
    });
    tiny.handoffp();
    H::join(others);
    tiny.judge()
});

/// Who stops the world while P0 is handed on. It sleeps until that is done.
struct Stopper<'a, H: Stage, D: Handing> {
    tiny: &'a Tiny<H, D>,
    handing: RefCell<Option<H::Thread<()>>>,
}

impl<H: Stage, D: Handing> stw::Neighbours for Stopper<'_, H, D> {
    fn begin(&self, own: Option<OwnedP>) {
        self.tiny.central.with(|c| {
            c.world.begin_stop();
            self.tiny.wanted.ask(Want::Stop);
            while let Some(p) = self.tiny.take_idle(c) {
                drop(c.world.hold(p));
            }
        });
        debug_assert!(own.is_none(), "this stopper has no P");
    }
    fn take_from_syscalls(&self) {}
    fn is_stopped(&self) -> bool {
        self.tiny.central.with(|c| c.world.is_stopped())
    }
    fn sleep(&self) {
        self.handing.borrow_mut().take().into_iter().for_each(H::join);
        // An M that was started has seen the stop before it found a G.
        if self.tiny.has_started() {
            self.tiny.central.with(|c| drop(c.world.hold(OwnedP::assume(P0))));
        }
        assert!(stw::Neighbours::is_stopped(self), "P0 was handed on, but the stop does not get it");
    }
}

scene!(a_stop, |H, D| {
    let tiny = Tiny::<H, D>::new("stopper", 1, &[]);
    let handing = party::<H, _, _>("handoff", &tiny, Tiny::handoffp);
    let stopper = Stopper { tiny: &*tiny, handing: RefCell::new(Some(handing)) };
    stw::stop::<H>(None, &stopper);
    stopper.handing.into_inner().into_iter().for_each(H::join);
    tiny.judge()
});

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("handoff::nothing_is_left_behind::a_g_in_anothers_ring", a_g_in_anothers_ring,
        claim: "a G put into another P's ring while this P is handed on is not left there with this P idle",
        size: "2 threads, 1 G, 2 Ps",
        invariants: [11, 14, 30, 31],
        must_reach: ["[Seeks]", "[Idled, Woken]"],
        runs: [loom(), loom_apart(), sc(), tso()]),
    crate::model!("handoff::nothing_is_left_behind::a_count_that_nobody_stands_behind",
        a_count_that_nobody_stands_behind,
        claim: "nor if the count that kept the submitter from acting stood for nobody",
        size: "3 threads, 1 G, 3 Ps",
        invariants: [11, 14, 30, 31],
        must_reach: ["[Seeks]", "[Idled, Woken]"],
        runs: [loom(), sc(), tso()]),
    crate::model!("handoff::nothing_is_left_behind::a_g_in_the_global_queue", a_g_in_the_global_queue,
        claim: "a G submitted while a P is handed on is not left in the global queue with this P idle",
        size: "2 threads, 1 G, 2 Ps",
        invariants: [11, 14, 30, 31],
        must_reach: ["[SawWork]", "[SawWorkLate]", "[Seeks]"],
        runs: [loom(), loom_apart(), sc(), tso()]),
    crate::model!("handoff::nothing_is_left_behind::two_come_back_from_system_calls", two_come_back_from_system_calls,
        claim: "a G queued by an M that found no P, and woke nobody, is seen before this P is idled",
        size: "2 threads, 1 G, 3 Ps, 1 taken",
        invariants: [11, 30, 31],
        must_reach: ["[SawWork]", "[SawWorkLate]", "[Seeks]", "[Idled]"],
        runs: [loom(), loom_apart(), sc(), tso()]),
    crate::model!("handoff::nothing_is_left_behind::a_batch_goes_into_anothers_ring", a_batch_goes_into_anothers_ring,
        claim: "a G that went from the global queue into another P's ring, and woke nobody, is looked for",
        size: "2 threads, 2 Gs, 2 Ps",
        invariants: [11, 30, 31],
        must_reach: ["[SawWork]", "[Seeks]"],
        runs: [loom(), loom_apart(), sc(), tso()]),
    crate::model!("handoff::nothing_is_left_behind::the_idle_p_is_taken_and_a_batch_goes_into_a_ring",
        the_idle_p_is_taken_and_a_batch_goes_into_a_ring,
        claim: "the same if a P was idle at first: who took it looks for nothing",
        size: "2 threads, 2 Gs, 3 Ps, 1 taken",
        invariants: [11, 30, 31],
        must_reach: ["[SawWork]", "[SawWorkLate]", "[Seeks]", "[Idled]"],
        runs: [loom(), loom_apart(), sc(), tso()]),
    crate::model!("handoff::nothing_is_left_behind::a_safepoint_hands_it_on", a_safepoint_hands_it_on,
        claim: "the same while a safepoint is wanted under each P",
        size: "2 threads, 2 Gs, 2 Ps",
        invariants: [11, 30, 31],
        must_reach: ["[SawWorkLate]", "[Seeks]"],
        runs: [loom(), loom_apart(), sc(), tso()]),
    crate::model!("handoff::nothing_is_left_behind::a_stop", a_stop,
        claim: "a P that is handed on while the world is to stop is held for it, and not idled",
        size: "2 threads, 1 P",
        invariants: [4, 16, 41],
        must_reach: ["[Seeks]", "[Held]"],
        runs: [loom(), loom_apart(), sc(), tso()]),
];

const RING: &str = "handoff::nothing_is_left_behind::a_g_in_anothers_ring";
const COUNT: &str = "handoff::nothing_is_left_behind::a_count_that_nobody_stands_behind";
const GLOBAL: &str = "handoff::nothing_is_left_behind::a_g_in_the_global_queue";
const RETURN: &str = "handoff::nothing_is_left_behind::two_come_back_from_system_calls";
const BATCH: &str = "handoff::nothing_is_left_behind::a_batch_goes_into_anothers_ring";
const TAKEN: &str = "handoff::nothing_is_left_behind::the_idle_p_is_taken_and_a_batch_goes_into_a_ring";
const SAFEPOINT: &str = "handoff::nothing_is_left_behind::a_safepoint_hands_it_on";
const STOP: &str = "handoff::nothing_is_left_behind::a_stop";

/// The mutants.
pub const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "handoff-ignores-the-call",
        room: "handoff",
        what: "whether somebody looks is asked before the lock, and not whether a seeker is asked for (Go's handoffp)",
        mutation: Mutation::Twin("ignores-the-call"),
        killed_by: &[(RING, Engine::Sc), (RING, Engine::Loom), (COUNT, Engine::Sc)],
    },
    Mutant {
        name: "handoff-idles-at-once",
        room: "handoff",
        what: "the P is idled without a look at anything under the lock",
        mutation: Mutation::Twin("idles-at-once"),
        killed_by: &[(GLOBAL, Engine::Sc), (GLOBAL, Engine::Loom), (RETURN, Engine::Sc)],
    },
    Mutant {
        name: "handoff-no-seeker",
        room: "handoff",
        what: "nobody looks and no P is idle, and still the P is not sent to look",
        mutation: Mutation::Twin("no-seeker"),
        killed_by: &[(BATCH, Engine::Sc), (BATCH, Engine::LoomApart)],
    },
    Mutant {
        name: "handoff-elects-outside-the-lock",
        room: "handoff",
        what: "whether somebody looks, or a P is idle, is asked before the lock is taken, and not again",
        mutation: Mutation::Twin("elects-outside-the-lock"),
        killed_by: &[(TAKEN, Engine::Sc), (SAFEPOINT, Engine::Sc), (SAFEPOINT, Engine::LoomApart)],
    },
    Mutant {
        name: "handoff-forgets-the-stop",
        room: "handoff",
        what: "the P is idled although the world is to stop",
        mutation: Mutation::Twin("forgets-the-stop"),
        killed_by: &[(STOP, Engine::Sc), (STOP, Engine::Loom)],
    },
];
