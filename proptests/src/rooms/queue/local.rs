//! The ring and `runnext`: their owner, a thief, and one that asks whether there is nothing.

use super::{Call, Made, Setup, check_at_rest, numbers, setups};
use crate::linear::History;
use crate::oracle::g;
use crate::room::{Program, Room, reached_if, together};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark_kernel::queues::local::LocalQueue;
use spinpark_kernel::queues::runq::Capacity;
use spinpark_kernel::types::p::Turn;
use spinpark_verification::engines::Engine;
use spinpark_verification::hosts::model_host::ModelHost;

/// The ring, and `runnext` before it.
#[derive(Debug, Clone, PartialEq)]
pub struct Local;

/// What is done to both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum LocalOp {
    /// The owner appends one.
    Put,
    /// The owner makes one the next; the one before goes to the ring.
    PutNext,
    /// The owner takes the next.
    Get,
    /// A thief takes half of the ring.
    Steal,
    /// The same, and `runnext` if the ring is empty.
    StealNext,
    /// Any thread asks whether there is nothing.
    IsEmpty,
}

impl Room for Local {
    const NAME: &'static str = "local";
    const CLAIM: &'static str = "ring and runnext are linearizable, and seen empty only if they were";
    const THREADS: usize = 3;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random];
    const FALLS: &'static [&'static str] = &[];
    const PATHS: &'static [&'static str] =
        &["overflow while robbed", "displaced and spilled", "runnext was stolen", "runnext was gone when a thief came"];
    type Setup = Setup;
    type Op = LocalOp;

    fn setup() -> BoxedStrategy<Setup> {
        setups()
    }
    fn op(thread: usize) -> BoxedStrategy<LocalOp> {
        match thread {
            0 => prop_oneof![5 => Just(LocalOp::Put), 4 => Just(LocalOp::PutNext), 4 => Just(LocalOp::Get)].boxed(),
            1 => prop_oneof![2 => Just(LocalOp::Steal), 3 => Just(LocalOp::StealNext)].boxed(),
            _ => prop_oneof![2 => Just(LocalOp::IsEmpty), 1 => Just(LocalOp::StealNext)].boxed(),
        }
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        let capacity = Capacity::new(program.setup.ring).expect("a power of two");
        let queues = Queues::<H> { queue: LocalQueue::new(capacity), capacity, history: History::default() };
        let steal =
            |queues: &Queues<H>, thread, ops: Vec<LocalOp>| ops.into_iter().for_each(|op| queues.thief(thread, op));
        let (queues, (made, mut turn)) = together::<H, _, _, _>(program, queues, steal, |queues, ops| {
            let (mut made, mut turn) = (Made::default(), Turn::default());
            ops.into_iter().for_each(|op| queues.owner(op, &mut made, &mut turn));
            (made, turn)
        });
        while queues.get(&mut turn) {}
        check_at_rest(program.setup, &queues.history, made.last, &made.refused)
    }
}

struct Queues<H: ModelHost> {
    queue: LocalQueue<H, 32>,
    capacity: Capacity,
    history: History<H, Call>,
}

/// At most so many from `runnext` in a row.
const K: u32 = 2;

impl<H: ModelHost> Queues<H> {
    fn owner(&self, op: LocalOp, made: &mut Made, turn: &mut Turn) {
        match op {
            LocalOp::Put => self.put(made),
            LocalOp::PutNext => self.put_next(made.one()),
            _ => drop(self.get(turn)),
        }
    }

    fn put(&self, made: &mut Made) {
        let n = made.one();
        let was_full = self.queue.len() >= self.capacity.get();
        let out = self.history.call(0, || {
            let mut out = None;
            self.queue.put(g(n), |half, g| out = Some((numbers(half), numbers([g]))));
            match out {
                None => (Vec::new(), Call::Put(n)),
                Some((half, last)) => (last, Call::Spill(Some(half))),
            }
        });
        reached_if(was_full && out.is_empty(), "overflow while robbed");
        made.refused.extend(out);
    }

    /// Two steps to its specification too: a thief may come while the owner has the displaced G in its hand.
    fn put_next(&self, n: u64) {
        let spilled = self.history.calls(0, || {
            let mut out = None;
            self.queue.put_next(g(n), |half, g| out = Some((numbers(half), g.into_raw().get())));
            let is_spilled = out.is_some();
            let then = out.map_or(Call::PutHand, |(half, last)| Call::SpillHand(half, last));
            (is_spilled, vec![Call::SetNext(n), then])
        });
        reached_if(spilled, "displaced and spilled");
    }

    fn get(&self, turn: &mut Turn) -> bool {
        self.history.call(0, || {
            let g = self.queue.get(turn, K).map(|g| g.into_raw().get());
            (g.is_some(), Call::Get(g))
        })
    }

    fn thief(&self, thread: usize, op: LocalOp) {
        match op {
            LocalOp::IsEmpty => self.history.call(thread, || ((), Call::IsEmpty(self.queue.is_empty()))),
            op => self.steal(thread, op == LocalOp::StealNext),
        }
    }

    fn steal(&self, thread: usize, and_next: bool) {
        let mine = LocalQueue::<H, 32>::new(self.capacity);
        let mut tried_next = false;
        self.history.calls(thread, || {
            let first = self.queue.steal_some(&mine, and_next, || tried_next = true).map(|(first, _)| first);
            let all = numbers(first.into_iter().chain(mine.drain()));
            reached_if(tried_next && !all.is_empty(), "runnext was stolen");
            reached_if(tried_next && all.is_empty(), "runnext was gone when a thief came");
            match all[..] {
                [] if and_next => ((), vec![Call::Steal(all), Call::NoNext]),
                [g] if and_next => ((), vec![Call::StealOne(g)]),
                _ => ((), vec![Call::Steal(all)]),
            }
        });
    }
}
