//! The global queue, its length, and the ring of the P that takes a share.

use super::{Subject, g, numbers};
use crate::check::Tally;
use proptest::prelude::*;
use proptest::sample::select;
use spinpark_kernel::host::Host;
use spinpark_kernel::queues::globq::{GlobQueue, Len};
use spinpark_kernel::queues::runq::{Capacity, RunQueue};
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::m::MId;
use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

/// What can be done under the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Appends one.
    Put,
    /// Appends this many.
    PutBatch(usize),
    /// Puts this many before what is there.
    PutFront(usize),
    /// Appends a ticket for the M with the fresh number.
    PutTicket,
    /// Takes the oldest, a G or a ticket.
    Get,
    /// Takes the oldest ticket.
    GetBound,
    /// One of `procs` Ps takes its share, at most half of its empty ring, and runs it.
    GetBatch {
        /// Among how many the queue is shared.
        procs: usize,
        /// How many Gs the ring holds.
        ring: usize,
    },
}

impl super::Op for Op {
    fn fresh(self) -> usize {
        match self {
            Op::Put | Op::PutTicket => 1,
            Op::PutBatch(n) | Op::PutFront(n) => n,
            Op::Get | Op::GetBound | Op::GetBatch { .. } => 0,
        }
    }
}

/// Any operation; batches have up to `batch` Gs.
pub fn op(batch: usize) -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => Just(Op::Put),
        2 => Just(Op::PutTicket),
        2 => Just(Op::Get),
        2 => Just(Op::GetBound),
        2 => (0..=batch).prop_map(Op::PutBatch),
        1 => (0..=batch).prop_map(Op::PutFront),
        2 => (1..=8usize, select(&[2usize, 4, 8, 256])).prop_map(|(procs, ring)| Op::GetBatch { procs, ring }),
    ]
}

/// What can be seen of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// Its `len`.
    pub len: usize,
    /// What it is without the lock.
    pub peek: usize,
    /// Its `is_empty`.
    pub is_empty: bool,
}

/// The kernel's.
pub struct Kernel<H: Host> {
    queue: GlobQueue,
    len: Len<H>,
}

impl<H: Host> Kernel<H> {
    /// An empty one.
    pub fn new() -> Self {
        Kernel { queue: GlobQueue::default(), len: Len::new() }
    }
}

impl<H: Host> Default for Kernel<H> {
    fn default() -> Self {
        Self::new()
    }
}

impl<H: Host> Subject for Kernel<H> {
    type Op = Op;
    type State = State;

    fn apply(&mut self, op: Op, mut gs: Range<u64>) -> Vec<u64> {
        match op {
            Op::Put => self.queue.put(g(gs.start), &self.len),
            Op::PutBatch(_) => self.queue.put_batch(gs.by_ref().map(g), &self.len),
            Op::PutFront(_) => self.queue.put_front(gs.by_ref().map(g), &self.len),
            Op::PutTicket => self.queue.put(G::forge_ticket(MId(gs.start as u32)), &self.len),
            Op::Get => return numbers(self.queue.get(&self.len)),
            Op::GetBound => return self.queue.get_bound(&self.len).map(|m| u64::from(m.0)).into_iter().collect(),
            Op::GetBatch { procs, ring } => {
                let mine = RunQueue::<H>::new(Capacity::new(ring).expect("an allowed capacity"));
                let first = self.queue.get_batch(procs, ring / 2, &self.len, |mut gs| {
                    mine.put_batch(&mut gs);
                    assert_eq!(gs.next(), None, "a share fits into an empty ring");
                });
                return numbers(first.into_iter().chain(std::iter::from_fn(|| mine.get())));
            }
        }
        Vec::new()
    }

    fn state(&self) -> State {
        State { len: self.queue.len(), peek: self.len.peek(), is_empty: self.queue.is_empty() }
    }

    fn drain(&mut self) -> Vec<u64> {
        numbers(std::iter::from_fn(|| self.queue.get(&self.len)))
    }
}

/// A list that knows the answer.
#[derive(Debug, Clone, Default)]
pub struct Oracle {
    queue: VecDeque<u64>,
    /// Which of them are tickets.
    tickets: BTreeSet<u64>,
    /// What was reached.
    pub seen: Tally,
}

impl Oracle {
    /// An empty one.
    pub fn new() -> Self {
        Oracle::default()
    }
}

impl Subject for Oracle {
    type Op = Op;
    type State = State;

    fn apply(&mut self, op: Op, gs: Range<u64>) -> Vec<u64> {
        match op {
            Op::PutFront(_) => {
                self.seen.note_if(!gs.is_empty() && !self.queue.is_empty(), "some were put before others");
                gs.rev().for_each(|g| self.queue.push_front(g));
                Vec::new()
            }
            Op::Put | Op::PutBatch(_) | Op::PutTicket => {
                if op == Op::PutTicket {
                    self.tickets.extend(gs.clone());
                }
                self.queue.extend(gs);
                Vec::new()
            }
            Op::GetBound => {
                let waiting = self.queue.iter().filter(|&g| self.tickets.contains(g)).count();
                let ticket = self.queue.iter().copied().find(|g| self.tickets.contains(g));
                self.seen.note_if(ticket.is_none() && !self.queue.is_empty(), "there was no ticket among the Gs");
                self.seen
                    .note_if(ticket.is_some() && ticket != self.queue.front().copied(), "a ticket was not the oldest");
                self.seen.note_if(waiting > 1, "there were several tickets");
                self.queue.retain(|&g| Some(g) != ticket);
                Vec::from_iter(ticket)
            }
            Op::Get => {
                self.seen.note_if(self.queue.is_empty(), "a get found nothing");
                Vec::from_iter(self.queue.pop_front())
            }
            Op::GetBatch { procs, ring } => {
                // One, then one more for each full round of the Ps; never more than there are or than half a ring.
                let mut n = 0;
                while n < self.queue.len() && n < ring / 2 && n <= self.queue.len() / procs {
                    n += 1;
                }
                let half = n == ring / 2;
                self.seen.note_if(n == 0, "a share was nothing");
                self.seen.note_if(n > 0 && n == self.queue.len(), "a share was all");
                self.seen.note_if(half && n < self.queue.len() / procs, "a share was cut to half a ring");
                self.seen.note_if(!half && n > 1 && n < self.queue.len(), "a share was fair");
                self.queue.drain(..n).collect()
            }
        }
    }

    fn state(&self) -> State {
        State { len: self.queue.len(), peek: self.queue.len(), is_empty: self.queue.is_empty() }
    }

    fn drain(&mut self) -> Vec<u64> {
        self.queue.drain(..).collect()
    }
}
