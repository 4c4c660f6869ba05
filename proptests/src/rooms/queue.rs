//! The queues of one P: its owner, and two thieves with rings of their own. What they answer must be linearizable, and
//! each G is taken once.

use crate::linear::{History, Spec, linearize};
use crate::oracle::g;
use crate::room::{Program, Room, reached_if};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark::kernel::g::G;
use spinpark::kernel::local::LocalQueue;
use spinpark::kernel::p::Turn;
use spinpark::kernel::runq::{Capacity, Full, RunQueue};
use spinpark_verification::engine::Engine;
use spinpark_verification::mutant;
use spinpark_verification::stage::Stage;
use std::collections::VecDeque;
use std::sync::Arc;

/// What was called, and what was answered. Gs are numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// The owner appended one.
    Put(u64),
    /// It could not: the ring was full.
    Full,
    /// The owner appended some of a batch.
    PutBatch(Vec<u64>),
    /// The owner took the next, or there was none.
    Get(Option<u64>),
    /// The owner took the older half out of a full ring. `None`: it was not full.
    Spill(Option<Vec<u64>>),
    /// A thief took some of the oldest, up to half.
    Steal(Vec<u64>),
    /// A thief took the oldest, or the one in `runnext`.
    StealOne(u64),
    /// A thief found `runnext` empty.
    NoNext,
    /// The owner filled `runnext`, and has in its hand what was there.
    SetNext(u64),
    /// The owner appended what it had in its hand, if it had any.
    PutHand,
    /// The ring was full: the owner took half of it, and the one in its hand, elsewhere.
    SpillHand(Vec<u64>, u64),
    /// Was there nothing at all?
    IsEmpty(bool),
}

/// A list, a slot, the owner's hand, and what they may answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Queue {
    capacity: usize,
    ring: VecDeque<u64>,
    next: Option<u64>,
    hand: Option<u64>,
}

impl Queue {
    /// An empty one.
    pub fn new(capacity: usize) -> Self {
        Queue { capacity, ring: VecDeque::new(), next: None, hand: None }
    }

    fn take_front(&mut self, gs: &[u64]) -> bool {
        self.ring.len() >= gs.len() && self.ring.drain(..gs.len()).eq(gs.iter().copied())
    }

    fn take_half(&mut self, half: &[u64]) -> bool {
        self.ring.len() == self.capacity && half.len() == self.capacity / 2 && self.take_front(half)
    }

    fn take_one(&mut self, g: u64) -> bool {
        if self.next == Some(g) { self.next.take().is_some() } else { self.take_front(&[g]) }
    }
}

impl Spec for Queue {
    type Call = Call;

    fn after(&self, call: &Call) -> Option<Self> {
        let mut after = self.clone();
        let len = self.ring.len();
        let is_right = match call {
            Call::Put(g) => {
                after.ring.push_back(*g);
                len < self.capacity
            }
            Call::Full => len == self.capacity,
            // How much room there was it asked before it put: thieves may have made more since.
            Call::PutBatch(gs) => {
                after.ring.extend(gs);
                len + gs.len() <= self.capacity
            }
            Call::Get(None) => len == 0 && self.next.is_none(),
            Call::Get(Some(g)) | Call::StealOne(g) => after.take_one(*g),
            Call::Spill(None) => len < self.capacity,
            Call::Spill(Some(half)) => after.take_half(half),
            Call::Steal(gs) if gs.is_empty() => len == 0,
            // How many there were it asked before it took them: the owner may have put more since.
            Call::Steal(gs) => gs.len() <= len.div_ceil(2) && after.take_front(gs),
            Call::NoNext => self.next.is_none(),
            Call::SetNext(g) => {
                after.hand = after.next.replace(*g);
                true
            }
            Call::PutHand => {
                after.ring.extend(after.hand.take());
                after.ring.len() <= self.capacity
            }
            Call::SpillHand(half, last) => after.hand.take() == Some(*last) && after.take_half(half),
            // What the owner has in its hand counts for nothing: a thief runs the one that displaced it.
            Call::IsEmpty(is_empty) => *is_empty == (len == 0 && self.next.is_none()),
        };
        is_right.then_some(after)
    }
}

/// Sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// How many Gs the ring holds.
    pub ring: usize,
    /// How many steps the cursors are from wrapping around at first.
    pub before_wrap: u32,
}

fn setups() -> BoxedStrategy<Setup> {
    (prop_oneof![Just(2usize), Just(4)], 0u32..3).prop_map(|(ring, before_wrap)| Setup { ring, before_wrap }).boxed()
}

/// Gs 1 to `made` each came out once, at the latest among `refused`, and every answer has its place in an order.
fn judge<H: Stage>(setup: Setup, history: &History<H, Call>, made: u64, refused: &[u64]) -> String {
    let records = history.records();
    let mut out: Vec<u64> = refused.to_vec();
    for record in &records {
        match &record.call {
            Call::Get(Some(g)) | Call::StealOne(g) => out.push(*g),
            Call::Steal(gs) | Call::Spill(Some(gs)) => out.extend(gs),
            Call::SpillHand(gs, g) => out.extend(gs.iter().chain([g])),
            _ => (),
        }
    }
    for n in 1..=made {
        let times = out.iter().filter(|g| **g == n).count();
        assert!(times > 0, "G{n} was lost");
        assert!(times < 2, "G{n} was taken twice");
    }
    if let Err(wrong) = linearize(&Queue::new(setup.ring), &records) {
        panic!("{wrong}");
    }
    let mut answers: Vec<_> = records.iter().map(|record| (record.thread, &record.call)).collect();
    answers.sort_by_key(|(thread, _)| *thread);
    format!("{answers:?}")
}

fn numbers(gs: impl IntoIterator<Item = G>) -> Vec<u64> {
    gs.into_iter().map(|g| g.into_raw().get()).collect()
}

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
    /// Anybody asks whether there is nothing.
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
    fn play<H: Stage>(program: &Program<Self>) -> String {
        match mutant::twin() {
            Some("cursors-of-two-bits") => Rings::<H, 2>::play(program),
            _ => Rings::<H, 32>::play(program),
        }
    }
}

struct Rings<H: Stage, const BITS: u32> {
    ring: RunQueue<H, BITS>,
    capacity: Capacity,
    history: History<H, Call>,
}

/// What the owner made so far, and what came back to it at once.
#[derive(Default)]
struct Made {
    last: u64,
    refused: Vec<u64>,
}

impl Made {
    fn one(&mut self) -> u64 {
        self.last += 1;
        self.last
    }
}

impl<H: Stage, const BITS: u32> Rings<H, BITS> {
    fn play(program: &Program<Ring>) -> String {
        let capacity = Capacity::new(program.setup.ring.min(1 << (BITS - 1))).expect("a power of two");
        let at = u32::MAX - program.setup.before_wrap;
        let rings = Arc::new(Rings::<H, BITS> {
            ring: RunQueue::starting_at(capacity, at),
            capacity,
            history: History::default(),
        });
        let thieves: Vec<_> = (1..program.threads())
            .map(|thread| {
                let (rings, ops) = (Arc::clone(&rings), program.of(thread));
                H::fork("thief", move || ops.into_iter().for_each(|op| rings.thief(thread, op)))
            })
            .collect();
        let mut made = Made::default();
        program.of(0).into_iter().for_each(|op| rings.owner(op, &mut made));
        thieves.into_iter().for_each(|thief| H::join(thief));
        while rings.get() {}
        let Ok(rings) = Arc::try_unwrap(rings) else { panic!("all threads have ended") };
        judge(Setup { ring: capacity.get(), ..program.setup }, &rings.history, made.last, &made.refused)
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
            let first = self.ring.steal_into(&mine);
            let all = numbers(first.into_iter().chain(std::iter::from_fn(|| mine.get())));
            (all.len(), Call::Steal(all))
        })
    }

    fn is_empty(&self, thread: usize) {
        self.history.call(thread, || ((), Call::IsEmpty(self.ring.is_empty())));
    }
}

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
    /// Anybody asks whether there is nothing.
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
    fn play<H: Stage>(program: &Program<Self>) -> String {
        let capacity = Capacity::new(program.setup.ring).expect("a power of two");
        let queues = Arc::new(Queues::<H> { queue: LocalQueue::new(capacity), capacity, history: History::default() });
        let thieves: Vec<_> = (1..program.threads())
            .map(|thread| {
                let (queues, ops) = (Arc::clone(&queues), program.of(thread));
                H::fork("thief", move || ops.into_iter().for_each(|op| queues.thief(thread, op)))
            })
            .collect();
        let (mut made, mut turn) = (Made::default(), Turn::default());
        program.of(0).into_iter().for_each(|op| queues.owner(op, &mut made, &mut turn));
        thieves.into_iter().for_each(|thief| H::join(thief));
        while queues.get(&mut turn) {}
        let Ok(queues) = Arc::try_unwrap(queues) else { panic!("all threads have ended") };
        judge(program.setup, &queues.history, made.last, &made.refused)
    }
}

struct Queues<H: Stage> {
    queue: LocalQueue<H, 32>,
    capacity: Capacity,
    history: History<H, Call>,
}

/// At most so many from `runnext` in a row.
const K: u32 = 2;

impl<H: Stage> Queues<H> {
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
            let first = self.queue.steal_into(&mine, and_next, || tried_next = true);
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
