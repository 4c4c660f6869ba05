//! The ring of one P: its owner, and two thieves with rings of their own.

use super::{Call, Made, Setup, check_at_rest, numbers, setups};
use crate::linear::History;
use crate::oracle::g;
use crate::room::{Program, Room, reached_if, together};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark_kernel::queues::runq::{Capacity, Full, RunQueue};
use spinpark_verification::engines::Engine;
use spinpark_verification::hosts::model_host::ModelHost;
use spinpark_verification::mutation::mutant;

/// The ring of one P.
#[derive(Debug, Clone, PartialEq)]
pub struct Ring;

/// What is done to a ring.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum RingOp {
    /// The owner appends one.
    Put,
    /// The owner appends as many of this many as fit.
    PutBatch(usize),
    /// The owner takes the oldest.
    Get,
    /// The owner takes half, if it is full.
    Spill,
    /// A thief takes half.
    Steal,
    /// Any thread asks whether there is nothing.
    IsEmpty,
}

impl Room for Ring {
    const NAME: &'static str = "runq";
    const CLAIM: &'static str = "the ring is linearizable, and each G is taken once";
    const THREADS: usize = 3;
    // Not TSO: an owner's put is seen by others a little later, and nothing in a queue promises more.
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random];
    const FALLS: &'static [&'static str] = &["runq-cursors-of-two-bits"];
    const PATHS: &'static [&'static str] =
        &["a spill was robbed", "a steal took more than one", "a batch fitted in part", "full and no more"];
    type Setup = Setup;
    type Op = RingOp;

    fn setup() -> BoxedStrategy<Setup> {
        setups()
    }
    fn op(thread: usize) -> BoxedStrategy<RingOp> {
        match thread {
            0 => prop_oneof![
                6 => Just(RingOp::Put),
                4 => Just(RingOp::Get),
                1 => Just(RingOp::Spill),
                2 => (1usize..=3).prop_map(RingOp::PutBatch),
            ]
            .boxed(),
            _ => prop_oneof![5 => Just(RingOp::Steal), 1 => Just(RingOp::IsEmpty)].boxed(),
        }
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        match mutant::variant() {
            Some("cursors-of-two-bits") => Rings::<H, 2>::play(program),
            _ => Rings::<H, 32>::play(program),
        }
    }
}

struct Rings<H: ModelHost, const BITS: u32> {
    ring: RunQueue<H, BITS>,
    capacity: Capacity,
    history: History<H, Call>,
}

impl<H: ModelHost, const BITS: u32> Rings<H, BITS> {
    fn play(program: &Program<Ring>) -> String {
        let capacity = Capacity::new(program.setup.ring.min(1 << (BITS - 1))).expect("a power of two");
        let at = u32::MAX - program.setup.before_wrap;
        let rings =
            Rings::<H, BITS> { ring: RunQueue::starting_at(capacity, at), capacity, history: History::default() };
        let steal = |rings: &Self, thread, ops: Vec<RingOp>| ops.into_iter().for_each(|op| rings.thief(thread, op));
        let (rings, made) = together::<H, _, _, _>(program, rings, steal, |rings, ops| {
            let mut made = Made::default();
            ops.into_iter().for_each(|op| rings.owner(op, &mut made));
            made
        });
        while rings.get() {}
        check_at_rest(Setup { ring: capacity.get(), ..program.setup }, &rings.history, made.last, &made.refused)
    }

    fn owner(&self, op: RingOp, made: &mut Made) {
        match op {
            RingOp::Put => {
                let n = made.one();
                let refused = self.history.call(0, || match self.ring.put(g(n)) {
                    Ok(()) => (Vec::new(), Call::Put(n)),
                    Err(Full(g)) => (numbers([g]), Call::Full),
                });
                reached_if(!refused.is_empty(), "full and no more");
                made.refused.extend(refused);
            }
            RingOp::PutBatch(many) => {
                let gs: Vec<u64> = (0..many).map(|_| made.one()).collect();
                let fitted = self.history.call(0, || {
                    let mut left = gs.iter().map(|n| g(*n));
                    let fitted = self.ring.put_batch(&mut left);
                    assert!(fitted + numbers(left).len() == many, "put_batch counts what it takes");
                    (fitted, Call::PutBatch(gs[..fitted].to_vec()))
                });
                reached_if(fitted > 0 && fitted < many, "a batch fitted in part");
                made.refused.extend(&gs[fitted..]);
            }
            RingOp::Get => drop(self.get()),
            RingOp::Spill => {
                let was_full = self.ring.len() == self.capacity.get();
                let spilled = self.history.call(0, || {
                    let half = self.ring.spill_half().map(numbers);
                    (half.is_some(), Call::Spill(half))
                });
                reached_if(was_full && !spilled, "a spill was robbed");
            }
            RingOp::Steal => drop(self.steal(0)),
            RingOp::IsEmpty => self.is_empty(0),
        }
    }

    fn thief(&self, thread: usize, op: RingOp) {
        match op {
            RingOp::IsEmpty => self.is_empty(thread),
            _ => reached_if(self.steal(thread) > 1, "a steal took more than one"),
        }
    }

    fn get(&self) -> bool {
        self.history.call(0, || {
            let g = self.ring.get().map(|g| g.into_raw().get());
            (g.is_some(), Call::Get(g))
        })
    }

    fn steal(&self, thread: usize) -> usize {
        let mine = RunQueue::<H, BITS>::new(self.capacity);
        self.history.call(thread, || {
            let first = self.ring.steal_some(&mine).map(|(first, _)| first);
            let all = numbers(first.into_iter().chain(std::iter::from_fn(|| mine.get())));
            (all.len(), Call::Steal(all))
        })
    }

    fn is_empty(&self, thread: usize) {
        self.history.call(thread, || ((), Call::IsEmpty(self.ring.is_empty())));
    }
}
