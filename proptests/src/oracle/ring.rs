//! The ring of one P, and one thief with a ring of its own.

use super::{Subject, g, numbers};
use crate::check::Tally;
use proptest::prelude::*;
use spinpark_kernel::host::Host;
use spinpark_kernel::queues::runq::{Capacity, Full, RunQueue};
use std::collections::VecDeque;
use std::ops::Range;

/// What the owner and the thief can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// The owner appends one. Comes out: it, if the ring was full.
    Put,
    /// The owner appends as many of this many as fit. Come out: the others.
    PutBatch(usize),
    /// The owner takes the oldest.
    Get,
    /// The owner takes the older half, if the ring is full.
    SpillHalf,
    /// The thief runs what it still has, then steals, and runs the first of what it stole.
    Steal,
    /// The thief takes the oldest of its own ring.
    ThiefGet,
}

impl super::Op for Op {
    fn fresh(self) -> usize {
        match self {
            Op::Put => 1,
            Op::PutBatch(n) => n,
            Op::Get | Op::SpillHalf | Op::Steal | Op::ThiefGet => 0,
        }
    }
}

/// Any operation; batches have up to `batch` Gs.
pub fn op(batch: usize) -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => Just(Op::Put),
        3 => Just(Op::Get),
        2 => Just(Op::Steal),
        2 => Just(Op::ThiefGet),
        2 => Just(Op::SpillHalf),
        2 => (0..=batch).prop_map(Op::PutBatch),
    ]
}

/// What can be seen of both rings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// The owner's `len`.
    pub len: usize,
    /// The owner's `is_empty`.
    pub is_empty: bool,
    /// The thief's `len`.
    pub thief: usize,
}

/// Two rings of the kernel's.
pub struct Kernel<H: Host, const BITS: u32> {
    /// The owner's.
    pub owner: RunQueue<H, BITS>,
    /// The thief's.
    pub thief: RunQueue<H, BITS>,
}

impl<H: Host, const BITS: u32> Kernel<H, BITS> {
    /// Empty ones.
    pub fn new(capacity: Capacity) -> Self {
        Kernel { owner: RunQueue::new(capacity), thief: RunQueue::new(capacity) }
    }
}

impl<H: Host, const BITS: u32> Subject for Kernel<H, BITS> {
    type Op = Op;
    type State = State;

    fn apply(&mut self, op: Op, gs: Range<u64>) -> Vec<u64> {
        match op {
            Op::Put => numbers(self.owner.put(g(gs.start)).err().map(|Full(g)| g)),
            Op::PutBatch(n) => {
                let mut gs = gs.map(g);
                let fitted = self.owner.put_batch(&mut gs);
                let refused = numbers(gs);
                assert_eq!(fitted + refused.len(), n, "put_batch counts what it takes");
                refused
            }
            Op::Get => numbers(self.owner.get()),
            Op::SpillHalf => numbers(self.owner.spill_half().into_iter().flatten()),
            Op::Steal => {
                let mut out = numbers(std::iter::from_fn(|| self.thief.get()));
                out.extend(numbers(self.owner.steal_some(&self.thief).map(|(first, _)| first)));
                out
            }
            Op::ThiefGet => numbers(self.thief.get()),
        }
    }

    fn state(&self) -> State {
        State { len: self.owner.len(), is_empty: self.owner.is_empty(), thief: self.thief.len() }
    }

    fn drain(&mut self) -> Vec<u64> {
        numbers(std::iter::from_fn(|| self.owner.get().or_else(|| self.thief.get())))
    }
}

/// Two lists that know the answer.
#[derive(Debug, Clone)]
pub struct Oracle {
    capacity: usize,
    /// The owner's.
    pub owner: VecDeque<u64>,
    /// The thief's.
    pub thief: VecDeque<u64>,
    /// What was reached.
    pub seen: Tally,
}

impl Oracle {
    /// Empty ones.
    pub fn new(capacity: Capacity) -> Self {
        let (owner, thief) = (VecDeque::new(), VecDeque::new());
        Oracle { capacity: capacity.get(), owner, thief, seen: Tally::default() }
    }

    /// Fills the owner's list; what does not fit.
    fn fill(&mut self, gs: Range<u64>) -> Vec<u64> {
        let room = self.capacity - self.owner.len();
        let (fits, refused): (Vec<_>, Vec<_>) = gs.enumerate().partition(|(i, _)| *i < room);
        self.seen.add("a G was put", fits.len() as u64);
        self.owner.extend(fits.into_iter().map(|(_, g)| g));
        self.seen.note_if(self.owner.len() == self.capacity, "the ring was full");
        refused.into_iter().map(|(_, g)| g).collect()
    }
}

impl Subject for Oracle {
    type Op = Op;
    type State = State;

    fn apply(&mut self, op: Op, gs: Range<u64>) -> Vec<u64> {
        match op {
            Op::Put => {
                let refused = self.fill(gs);
                self.seen.note_if(!refused.is_empty(), "a put met a full ring");
                refused
            }
            Op::PutBatch(n) => {
                let refused = self.fill(gs);
                self.seen.note_if(!refused.is_empty() && refused.len() < n, "a batch fitted in part");
                refused
            }
            Op::Get => {
                self.seen.note_if(self.owner.is_empty(), "a get found nothing");
                Vec::from_iter(self.owner.pop_front())
            }
            Op::SpillHalf if self.owner.len() < self.capacity => {
                self.seen.note("a spill was not needed");
                Vec::new()
            }
            Op::SpillHalf => {
                self.seen.note("a spill took half");
                self.owner.drain(..self.capacity / 2).collect()
            }
            Op::Steal => {
                let n = self.owner.len().div_ceil(2);
                self.seen.note_if(n == 0, "a steal found nothing");
                self.seen.note_if(n == 1, "a steal took one");
                self.seen.note_if(n > 1, "a steal took more than one");
                self.seen.note_if(self.owner.len() % 2 == 1, "a steal had to round");
                self.seen.note_if(self.owner.len() == self.capacity, "a steal met a full ring");
                let mut out: Vec<u64> = self.thief.drain(..).collect();
                let mut stolen = self.owner.drain(..n);
                out.extend(stolen.next());
                self.thief.extend(stolen);
                out
            }
            Op::ThiefGet => {
                self.seen.note_if(!self.thief.is_empty(), "a thief ran more of what it stole");
                Vec::from_iter(self.thief.pop_front())
            }
        }
    }

    fn state(&self) -> State {
        State { len: self.owner.len(), is_empty: self.owner.is_empty(), thief: self.thief.len() }
    }

    fn drain(&mut self) -> Vec<u64> {
        self.owner.drain(..).chain(self.thief.drain(..)).collect()
    }
}
