//! Models of `handoff`: a P is handed on while other Ms queue work, and none finds a P for it.
//!
//! The room is played with the real `Spinning`. The rest is as small as it can be, see `tiny`: a number for each queue,
//! and under a lock the idle Ps. P0 is handed on by the main thread; P1 is in use. At the end of every execution all parties have come to rest, and the
//! question is that of `spinning`: a G waits and a P is idle, but does an M look, or has yet to?

use crate::harness::common::party;
use crate::harness::handoff::Tiny;
use crate::hosts::model_host::ModelHost;
use crate::hosts::wrap::trace::main_plays;
use crate::model::{Model, loom, loom_apart, rc11, sc, tso};
use crate::mutation::mutant::Mutant;
use crate::mutation::variants::handoff::Handing;
use crate::mutation::variants::scenario;
use spinpark_kernel::host::Lock;
use spinpark_kernel::protocol::stw;
use spinpark_kernel::protocol::stw::wanted::Want;
use spinpark_kernel::types::p::{OwnedP, PId};
use std::cell::RefCell;
use std::sync::Arc;

const P0: PId = PId(0);
const P2: PId = PId(2);

fn with_idle<H: ModelHost, D: Handing>(main: &str, procs: usize, idle: &[PId]) -> Arc<Tiny<H, D>> {
    main_plays(main);
    Tiny::new(procs, idle)
}

scenario!(handoff::Handing, a_g_in_anothers_ring, |H, D| {
    let tiny = with_idle::<H, D>("handoff", 2, &[]);
    let submitter = party::<H, _, _>("submitter", &tiny, |tiny| tiny.ready(1));
    tiny.handoffp(P0);
    H::join(submitter);
    tiny.check_at_rest()
});

scenario!(handoff::Handing, a_count_that_nobody_stands_behind, |H, D| {
    // One M passes a baton for nothing: it raises the count and lowers it without a look.
    let tiny = with_idle::<H, D>("handoff", 3, &[]);
    let passer = party::<H, _, _>("passer", &tiny, |tiny| tiny.wakep());
    let submitter = party::<H, _, _>("submitter", &tiny, |tiny| tiny.ready(1));
    tiny.handoffp(P0);
    H::join(passer);
    H::join(submitter);
    tiny.check_at_rest()
});

scenario!(handoff::Handing, a_g_in_the_global_queue, |H, D| {
    let tiny = with_idle::<H, D>("handoff", 2, &[]);
    let submitter = party::<H, _, _>("submitter", &tiny, Tiny::submit);
    tiny.handoffp(P0);
    H::join(submitter);
    tiny.check_at_rest()
});

scenario!(handoff::Handing, two_come_back_from_system_calls, |H, D| {
    // P2 is idle. The first takes it, for the second there is none: its G is queued, and no M is woken.
    let tiny = with_idle::<H, D>("handoff", 3, &[P2]);
    let returners = party::<H, _, _>("M3, M4", &tiny, |tiny| {
        tiny.exitsyscall();
        tiny.exitsyscall();
    });
    tiny.handoffp(P0);
    H::join(returners);
    tiny.check_at_rest()
});

scenario!(handoff::Handing, a_batch_goes_into_anothers_ring, |H, D| {
    // Two Gs were queued by Ms that came back from system calls and woke no M. P1's owner takes both.
    let tiny = with_idle::<H, D>("handoff", 2, &[]);
    tiny.exitsyscall();
    tiny.exitsyscall();
    let owner = party::<H, _, _>("owner of P1", &tiny, |tiny| tiny.take_batch());
    tiny.handoffp(P0);
    H::join(owner);
    tiny.check_at_rest()
});

scenario!(handoff::Handing, the_idle_p_is_taken_and_a_batch_goes_into_a_ring, |H, D| {
    // P2 is idle. An M that comes back takes it, and two more find none; P1's owner takes both Gs. No M is woken.
    let tiny = with_idle::<H, D>("handoff", 3, &[P2]);
    let others = party::<H, _, _>("M3, M4, M5, owner of P1", &tiny, |tiny| {
        (0..3).for_each(|_| _ = tiny.exitsyscall());
        tiny.take_batch();
    });
    tiny.handoffp(P0);
    H::join(others);
    tiny.check_at_rest()
});

scenario!(handoff::Handing, a_safepoint_hands_it_on, |H, D| {
    // The same without an idle P, while each M is asked to attend to a safepoint.
    let tiny = with_idle::<H, D>("handoff", 2, &[]);
    tiny.wanted.ask(Want::Safepoint);
    let others = party::<H, _, _>("M4, M5, owner of P1", &tiny, |tiny| {
        (0..2).for_each(|_| _ = tiny.exitsyscall());
        tiny.take_batch();
    });
    tiny.handoffp(P0);
    H::join(others);
    tiny.check_at_rest()
});

/// The stopper, while P0 is handed on. It sleeps until that is done.
struct Stopper<'a, H: ModelHost, D: Handing> {
    tiny: &'a Tiny<H, D>,
    handing: RefCell<Option<H::Thread<()>>>,
}

impl<H: ModelHost, D: Handing> stw::Neighbours for Stopper<'_, H, D> {
    fn begin(&self, own: Option<OwnedP>) {
        self.tiny.begin_stop();
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
            self.tiny.central.with(|c| drop(c.world.hold(OwnedP::forge(P0))));
        }
        assert!(stw::Neighbours::is_stopped(self), "P0 was handed on, but the stop does not get it");
    }
}

scenario!(handoff::Handing, a_stop, |H, D| {
    let tiny = with_idle::<H, D>("stopper", 1, &[]);
    let handing = party::<H, _, _>("handoff", &tiny, |tiny| _ = tiny.handoffp(P0));
    let stopper = Stopper { tiny: &*tiny, handing: RefCell::new(Some(handing)) };
    stw::stop::<H>(None, &stopper);
    stopper.handing.into_inner().into_iter().for_each(H::join);
    tiny.check_at_rest()
});

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("handoff::nothing_is_left_behind::a_g_in_anothers_ring", a_g_in_anothers_ring,
        claim: "a G put into another P's ring while this P is handed on is not left there with this P idle",
        size: "2 threads, 1 G, 2 Ps",
        invariants: [11, 14, 30, 31],
        must_reach: ["[Seeks]", "[Idled, Woken]"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("handoff::nothing_is_left_behind::a_count_that_nobody_stands_behind",
        a_count_that_nobody_stands_behind,
        claim: "nor if the count that kept the submitter from acting stood for no M",
        size: "3 threads, 1 G, 3 Ps",
        invariants: [11, 14, 30, 31],
        must_reach: ["[Seeks]", "[Idled, Woken]"],
        runs: [rc11(), loom(), sc(), tso()]),
    crate::model!("handoff::nothing_is_left_behind::a_g_in_the_global_queue", a_g_in_the_global_queue,
        claim: "a G submitted while a P is handed on is not left in the global queue with this P idle",
        size: "2 threads, 1 G, 2 Ps",
        invariants: [11, 14, 30, 31],
        must_reach: ["[SawWork]", "[SawWorkLate]", "[Seeks]"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("handoff::nothing_is_left_behind::two_come_back_from_system_calls", two_come_back_from_system_calls,
        claim: "a G queued by an M that found no P, and woke no M, is seen before this P is idled",
        size: "2 threads, 1 G, 3 Ps, 1 taken",
        invariants: [11, 30, 31],
        must_reach: ["[SawWork]", "[SawWorkLate]", "[Seeks]", "[Idled]"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("handoff::nothing_is_left_behind::a_batch_goes_into_anothers_ring", a_batch_goes_into_anothers_ring,
        claim: "a G that went from the global queue into another P's ring, and woke no M, is looked for",
        size: "2 threads, 2 Gs, 2 Ps",
        invariants: [11, 30, 31],
        must_reach: ["[SawWork]", "[Seeks]"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("handoff::nothing_is_left_behind::the_idle_p_is_taken_and_a_batch_goes_into_a_ring",
        the_idle_p_is_taken_and_a_batch_goes_into_a_ring,
        claim: "the same if a P was idle at first: the M that took it looks for nothing",
        size: "2 threads, 2 Gs, 3 Ps, 1 taken",
        invariants: [11, 30, 31],
        must_reach: ["[SawWork]", "[SawWorkLate]", "[Seeks]", "[Idled]"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("handoff::nothing_is_left_behind::a_safepoint_hands_it_on", a_safepoint_hands_it_on,
        claim: "the same while a safepoint is wanted under each P",
        size: "2 threads, 2 Gs, 2 Ps",
        invariants: [11, 30, 31],
        must_reach: ["[SawWorkLate]", "[Seeks]"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
    crate::model!("handoff::nothing_is_left_behind::a_stop", a_stop,
        claim: "a P that is handed on while the world is to stop is held for it, and not idled",
        size: "2 threads, 1 P",
        invariants: [4, 16, 41],
        must_reach: ["[Seeks]", "[Held]"],
        runs: [rc11(), loom(), loom_apart(), sc(), tso()]),
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
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "handoff";
    "handoff-ignores-the-call":
        "whether an M looks is asked before the lock, and not whether a spinning M is asked for (Go's handoffp)",
        variant("ignores-the-call"), by RING => [Sc, Loom], COUNT => [Sc], RING => [Rc11], COUNT => [Rc11];
    "handoff-idles-at-once": "the P is idled without a look at anything under the lock",
        variant("idles-at-once"), by GLOBAL => [Sc, Loom], RETURN => [Sc], GLOBAL => [Rc11], RETURN => [Rc11];
    "handoff-no-spinning-m": "no M looks and no P is idle, and still the P is not sent to look",
        variant("no-spinning-m"), by BATCH => [Sc, LoomApart, Rc11];
    "handoff-elects-outside-the-lock":
        "whether an M looks, or a P is idle, is asked before the lock is taken, and not again",
        variant("elects-outside-the-lock"),
        by TAKEN => [Sc], SAFEPOINT => [Sc, LoomApart], TAKEN => [Rc11], SAFEPOINT => [Rc11];
    "handoff-forgets-the-stop": "the P is idled although the world is to stop",
        variant("forgets-the-stop"), by STOP => [Sc, Loom, Rc11];
};
