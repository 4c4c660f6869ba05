//! The local queue of one P, `runnext` and ring, under a [`Turn`]; and one thief with a queue of its own.

use super::{Subject, g, numbers};
use crate::check::Tally;
use proptest::prelude::*;
use spinpark_kernel::host::Host;
use spinpark_kernel::queues::local::LocalQueue;
use spinpark_kernel::queues::runq::Capacity;
use spinpark_kernel::types::p::{Every, Turn};
use std::collections::VecDeque;
use std::ops::Range;

/// What the owner and the thief can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// The owner appends one to the ring. Come out: the older half and then it, if the ring was full.
    Put,
    /// The owner makes one the next to run, which puts the one displaced.
    PutNext,
    /// The owner appends as many of this many as fit into the ring. Come out: the others.
    PutBatch(usize),
    /// The owner takes the next.
    Get,
    /// The thief runs what it still has, then steals, and runs the first of what it stole.
    Steal {
        /// Also from `runnext`, when the ring is empty.
        and_next: bool,
    },
    /// The thief takes its next.
    ThiefGet,
    /// The owner takes everything.
    Drain,
}

impl super::Op for Op {
    fn fresh(self) -> usize {
        match self {
            Op::Put | Op::PutNext => 1,
            Op::PutBatch(n) => n,
            Op::Get | Op::Steal { .. } | Op::ThiefGet | Op::Drain => 0,
        }
    }
}

/// Any operation; batches have up to `batch` Gs.
pub fn op(batch: usize) -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => Just(Op::Put),
        8 => Just(Op::PutNext),
        8 => Just(Op::Get),
        2 => (0..=batch).prop_map(Op::PutBatch),
        3 => any::<bool>().prop_map(|and_next| Op::Steal { and_next }),
        3 => Just(Op::ThiefGet),
        1 => Just(Op::Drain),
    ]
}

/// What the owner does while it dispatches: no thief, no drain.
pub fn dispatching() -> impl Strategy<Value = Op> {
    prop_oneof![4 => Just(Op::Get), 3 => Just(Op::PutNext), 1 => Just(Op::Put)]
}

/// What can be seen of both queues and of the owner's turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// The owner's `len`.
    pub len: usize,
    /// The owner's `is_empty`.
    pub is_empty: bool,
    /// The thief's `len`.
    pub thief: usize,
    /// Would `runnext` come before the ring?
    pub may_inherit: bool,
    /// Is the next dispatch one in three?
    pub is_third: bool,
    /// How often the thief gave the owner time.
    pub back_offs: usize,
}

/// Two local queues of the kernel's.
pub struct Kernel<H: Host, const BITS: u32> {
    owner: LocalQueue<H, BITS>,
    thief: LocalQueue<H, BITS>,
    at_most: u32,
    turn: Turn,
    thieves_turn: Turn,
    back_offs: usize,
}

impl<H: Host, const BITS: u32> Kernel<H, BITS> {
    /// Empty ones. `at_most` is K.
    pub fn new(capacity: Capacity, at_most: u32) -> Self {
        let (owner, thief) = (LocalQueue::new(capacity), LocalQueue::new(capacity));
        Kernel { owner, thief, at_most, turn: Turn::default(), thieves_turn: Turn::default(), back_offs: 0 }
    }
}

impl<H: Host, const BITS: u32> Subject for Kernel<H, BITS> {
    type Op = Op;
    type State = State;

    fn apply(&mut self, op: Op, gs: Range<u64>) -> Vec<u64> {
        let mut out = Vec::new();
        match op {
            Op::Put => self.owner.put(g(gs.start), |half, g| out = numbers(half.chain([g]))),
            Op::PutNext => self.owner.put_next(g(gs.start), |half, g| out = numbers(half.chain([g]))),
            Op::PutBatch(n) => {
                let mut gs = gs.map(g);
                let fitted = self.owner.put_batch(&mut gs);
                out = numbers(gs);
                assert_eq!(fitted + out.len(), n, "put_batch counts what it takes");
            }
            Op::Get => out = numbers(self.owner.get(&mut self.turn, self.at_most)),
            Op::Steal { and_next } => {
                out = numbers(self.thief.drain());
                out.extend(numbers(
                    self.owner.steal_some(&self.thief, and_next, || self.back_offs += 1).map(|(first, _)| first),
                ));
            }
            Op::ThiefGet => out = numbers(self.thief.get(&mut self.thieves_turn, self.at_most)),
            Op::Drain => out = numbers(self.owner.drain()),
        }
        out
    }

    fn state(&self) -> State {
        State {
            len: self.owner.len(),
            is_empty: self.owner.is_empty(),
            thief: self.thief.len(),
            may_inherit: self.turn.may_inherit(self.at_most),
            is_third: self.turn.is_global(Every::new(3)),
            back_offs: self.back_offs,
        }
    }

    fn drain(&mut self) -> Vec<u64> {
        numbers(self.owner.drain().chain(self.thief.drain()))
    }
}

/// Two lists and a slot that know the answer.
#[derive(Debug, Clone)]
pub struct Oracle {
    capacity: usize,
    at_most: usize,
    /// The owner's `runnext`.
    pub next: Option<u64>,
    /// The owner's ring.
    pub ring: VecDeque<u64>,
    /// The thief's ring.
    pub thief: VecDeque<u64>,
    /// What was dispatched so far, the latest last: did it come from `runnext`?
    dispatched: Vec<bool>,
    back_offs: usize,
    /// What was reached.
    pub seen: Tally,
}

impl Oracle {
    /// Empty ones. `at_most` is K.
    pub fn new(capacity: Capacity, at_most: u32) -> Self {
        Oracle {
            capacity: capacity.get(),
            at_most: at_most as usize,
            next: None,
            ring: VecDeque::new(),
            thief: VecDeque::new(),
            dispatched: Vec::new(),
            back_offs: 0,
            seen: Tally::default(),
        }
    }

    /// How many Gs were dispatched so far.
    pub fn dispatches(&self) -> usize {
        self.dispatched.len()
    }

    fn may_inherit(&self) -> bool {
        self.dispatched.iter().rev().take_while(|&&inherited| inherited).take(self.at_most).count() < self.at_most
    }

    /// Appends to the ring; what has to go elsewhere.
    fn put(&mut self, g: u64) -> Vec<u64> {
        if self.ring.len() == self.capacity {
            self.seen.note("a put spilled");
            return self.ring.drain(..self.capacity / 2).chain([g]).collect();
        }
        self.ring.push_back(g);
        self.seen.add("a G was put", 1);
        Vec::new()
    }

    fn get(&mut self) -> Option<u64> {
        let overdue = !self.may_inherit() && !self.ring.is_empty();
        self.seen.note_if(overdue && self.next.is_some(), "the ring came before runnext");
        self.seen.note_if(!self.may_inherit() && !overdue && self.next.is_some(), "runnext ran on, the ring was empty");
        let from_next = if overdue { None } else { self.next.take() };
        let g = from_next.or_else(|| self.ring.pop_front());
        if g.is_some() {
            self.dispatched.push(from_next.is_some());
        }
        g
    }
}

impl Subject for Oracle {
    type Op = Op;
    type State = State;

    fn apply(&mut self, op: Op, mut gs: Range<u64>) -> Vec<u64> {
        match op {
            Op::Put => self.put(gs.start),
            Op::PutNext => {
                let displaced = self.next.replace(gs.start);
                self.seen.note_if(displaced.is_some(), "runnext was displaced");
                let out = displaced.map_or(Vec::new(), |g| self.put(g));
                self.seen.note_if(!out.is_empty(), "runnext was displaced and spilled");
                out
            }
            Op::PutBatch(_) => {
                let room = self.capacity - self.ring.len();
                self.ring.extend(gs.by_ref().take(room));
                gs.collect()
            }
            Op::Get => Vec::from_iter(self.get()),
            Op::Steal { and_next } => {
                let mut out: Vec<u64> = self.thief.drain(..).collect();
                let n = self.ring.len().div_ceil(2);
                self.seen.note_if(n > 1, "a steal took more than one");
                self.seen.note_if(n == 0 && !and_next && self.next.is_some(), "a steal spared runnext");
                if n == 0 && and_next && self.next.is_some() {
                    self.seen.note("a steal took runnext");
                    self.back_offs += 1;
                    out.extend(self.next.take());
                }
                let mut stolen = self.ring.drain(..n);
                out.extend(stolen.next());
                self.thief.extend(stolen);
                out
            }
            Op::ThiefGet => Vec::from_iter(self.thief.pop_front()),
            Op::Drain => {
                self.seen.note_if(self.next.is_some() && !self.ring.is_empty(), "a drain took both");
                self.next.take().into_iter().chain(self.ring.drain(..)).collect()
            }
        }
    }

    fn state(&self) -> State {
        State {
            len: self.ring.len() + usize::from(self.next.is_some()),
            is_empty: self.ring.is_empty() && self.next.is_none(),
            thief: self.thief.len(),
            may_inherit: self.may_inherit(),
            is_third: self.dispatched.len().is_multiple_of(3),
            back_offs: self.back_offs,
        }
    }

    fn drain(&mut self) -> Vec<u64> {
        self.next.take().into_iter().chain(self.ring.drain(..)).chain(self.thief.drain(..)).collect()
    }
}
