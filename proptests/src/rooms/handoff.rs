//! Ps that are handed on while others queue work, with a wake or without, come back from system calls, and stop the
//! world. At the end all parties have come to rest: a G waits and a P is idle, but does an M look, or has yet to?

use crate::room::{Program, Room, reached, reached_if};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark_kernel::host::Lock;
use spinpark_kernel::protocol::stw::wanted::Want;
use spinpark_kernel::types::p::PId;
use spinpark_verification::engines::Engine;
use spinpark_verification::harness::handoff::{Step, Tiny};
use spinpark_verification::hosts::model_host::ModelHost;
use spinpark_verification::hosts::wrap::trace::main_plays;
use spinpark_verification::mutation::variants::handoff::{Handing, Scenario, play};
use std::sync::Arc;

/// The one that has P0, the owner of P1 with a ring of Gs, and one that comes and goes.
const NAMES: [&str; 3] = ["M0", "M1, owner of P1", "others"];

/// How it begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// How many Ps are idle.
    pub idle_ps: u32,
    /// Is each M asked to attend to a safepoint?
    pub safepoint: bool,
}

/// What an M does. The first has P0, the second P1, and the third thread stands for several without a P.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Its G is about to block: hands its P on. Without one: comes back first.
    Handoffp,
    /// Its G has come back from a system call: takes an idle P, or is queued, which wakes no M.
    Exitsyscall,
    /// The owner of P1 puts a G into its ring, and wakes.
    Ready,
    /// The owner of P1, whose ring is empty, takes all of the global queue; what it does not run goes to the ring.
    TakeBatch,
    /// Puts a G into the global queue, and wakes.
    Submit,
    /// Wakes for nothing.
    Wakep,
    /// Stops the world, and has yet to start it again.
    StopTheWorld,
}

/// The room.
#[derive(Debug, Clone, PartialEq)]
pub struct Handoff;

impl Room for Handoff {
    const NAME: &'static str = "handoff";
    const CLAIM: &'static str = "no P is idled beside a G that no M looks for, nor while the world is to stop";
    const THREADS: usize = NAMES.len();
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random];
    const FALLS: &'static [&'static str] = &[
        "handoff-ignores-the-call",
        "handoff-idles-at-once",
        "handoff-no-spinning-m",
        "handoff-elects-outside-the-lock",
        "handoff-forgets-the-stop",
    ];
    const PATHS: &'static [&'static str] = &[
        "there was work for it",
        "there was work for it, seen under the lock only",
        "no M looked, or a spinning M was requested: it is to look",
        "it was idled",
        "it was held for a stop",
        "an M that came back found no P",
    ];
    type Setup = Setup;
    type Op = Op;

    fn setup() -> BoxedStrategy<Setup> {
        (0..=1u32, prop::bool::weighted(0.2)).prop_map(|(idle_ps, safepoint)| Setup { idle_ps, safepoint }).boxed()
    }
    fn op(thread: usize) -> BoxedStrategy<Op> {
        match thread {
            0 => prop_oneof![4 => Just(Op::Handoffp), 1 => Just(Op::Submit)].boxed(),
            1 => prop_oneof![3 => Just(Op::Ready), 3 => Just(Op::TakeBatch), 1 => Just(Op::Wakep)].boxed(),
            _ => prop_oneof![
                8 => Just(Op::Exitsyscall),
                2 => Just(Op::Submit),
                2 => Just(Op::Wakep),
                2 => Just(Op::Handoffp),
                1 => Just(Op::StopTheWorld),
            ]
            .boxed(),
        }
    }
    fn simpler(setup: &Setup) -> Vec<Setup> {
        let fewer = setup.idle_ps.checked_sub(1).map(|idle_ps| Setup { idle_ps, ..setup.clone() });
        let calm = setup.safepoint.then(|| Setup { safepoint: false, ..setup.clone() });
        fewer.into_iter().chain(calm).collect()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        play::<H, _>(program)
    }
}

impl<H: ModelHost> Scenario<H> for &Program<Handoff> {
    fn play<D: Handing>(self) -> String {
        main_plays(NAMES[0]);
        let idle: Vec<PId> = (2..2 + self.setup.idle_ps).map(PId).collect();
        let tiny = Tiny::<H, D>::new(2 + idle.len(), &idle);
        if self.setup.safepoint {
            tiny.wanted.ask(Want::Safepoint);
        }
        let party = |thread: usize, p: Option<PId>| {
            let party = Party { tiny: Arc::clone(&tiny), p, in_ring: 0 };
            let ops = self.of(thread);
            move || party.plays(ops)
        };
        let others: Vec<_> = (1..self.threads())
            .map(|thread| H::fork(NAMES[thread], party(thread, (thread == 1).then_some(PId(1)))))
            .collect();
        party(0, Some(PId(0)))();
        others.into_iter().for_each(|other| H::join(other));
        tiny.central.with(|c| {
            assert!(!c.world.is_stopping() || c.idle.is_empty(), "a P is idle, but the world is to stop");
        });
        tiny.check_at_rest()
    }
}

struct Party<H: ModelHost, D: Handing> {
    tiny: Arc<Tiny<H, D>>,
    p: Option<PId>,
    /// How many Gs are in the ring of P1; for its owner.
    in_ring: u64,
}

impl<H: ModelHost, D: Handing> Party<H, D> {
    fn plays(mut self, ops: Vec<Op>) {
        ops.into_iter().for_each(|op| self.does(op));
    }

    fn does(&mut self, op: Op) {
        match op {
            Op::Handoffp => {
                if self.p.is_none() {
                    self.comes_back();
                }
                self.p.take().into_iter().for_each(|p| tell(self.tiny.handoffp(p)));
            }
            Op::Exitsyscall => self.comes_back(),
            Op::Ready => {
                self.in_ring += 1;
                self.tiny.ready(self.in_ring);
            }
            Op::TakeBatch if self.in_ring == 0 => self.in_ring = self.tiny.take_batch(),
            Op::TakeBatch => (),
            Op::Submit => self.tiny.submit(),
            Op::Wakep => self.tiny.wakep(),
            Op::StopTheWorld => {
                if !self.tiny.central.with(|c| c.world.is_stopping()) {
                    self.tiny.begin_stop();
                }
            }
        }
    }

    /// One more M comes back; the last one, if it has a P, runs on.
    fn comes_back(&mut self) {
        let p = self.tiny.exitsyscall();
        reached_if(p.is_none(), "an M that came back found no P");
        self.p = p.or(self.p);
    }
}

fn tell(step: Step) {
    reached(match step {
        Step::SawWork => "there was work for it",
        Step::SawWorkLate => "there was work for it, seen under the lock only",
        Step::Seeks | Step::SpinsEarly => "no M looked, or a spinning M was requested: it is to look",
        Step::Idled => "it was idled",
        Step::Held => "it was held for a stop",
        Step::Woken => "it was woken",
    });
}
