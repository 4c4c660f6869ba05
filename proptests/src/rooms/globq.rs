//! The global queue: what is done under the lock must be linearizable; and a length that was read without it must have
//! been the length at some moment of the reading.

use crate::linear::{History, Spec, each_was_true_once};
use crate::oracle::g;
use crate::room::{Program, Room, reached_if, together};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark_kernel::host::Lock;
use spinpark_kernel::queues::globq::{GlobQueue, Len};
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::m::MId;
use spinpark_verification::engines::Engine;
use spinpark_verification::hosts::model_host::ModelHost;
use std::collections::VecDeque;

/// What is done to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Appends one.
    Put,
    /// Appends so many at once.
    PutBatch(u64),
    /// Puts so many before all others.
    PutFront(u64),
    /// Appends a ticket for this M.
    PutBound(u32),
    /// Takes the oldest, if there seems to be one.
    Get,
    /// Takes a share among so many Ps, if there seems to be one.
    GetBatch(usize),
    /// Takes the oldest ticket.
    GetBound,
    /// Reads the length without the lock.
    Peek,
}

/// What was called, and what was answered. Gs are their numbers; each put is of one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// These were appended.
    Put(Vec<u64>),
    /// These were put before all others.
    PutFront(Vec<u64>),
    /// The oldest was taken, if any.
    Get(Option<u64>),
    /// A share among so many Ps was taken, the first of it to be run.
    GetBatch(usize, Vec<u64>),
    /// The oldest ticket was taken, if any.
    GetBound(Option<u64>),
    /// So many there were.
    Len(usize),
}

/// Half of a ring: a share is no larger.
const HALF: usize = 2;

/// A list, and what it may answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct List(VecDeque<u64>);

/// The number of the ticket for `m`.
fn ticket(m: u32) -> u64 {
    G::forge_ticket(MId(m)).into_raw().get()
}

impl Spec for List {
    type Call = Call;

    fn after(&self, call: &Call) -> Option<Self> {
        let List(mut list) = self.clone();
        let is_right = match call {
            Call::Put(gs) => {
                list.extend(gs);
                true
            }
            Call::PutFront(gs) => {
                gs.iter().rev().for_each(|g| list.push_front(*g));
                true
            }
            Call::Get(g) => list.pop_front() == *g,
            Call::GetBatch(procs, gs) => {
                let share = (list.len() / procs + 1).min(HALF).min(list.len());
                list.drain(..share).eq(gs.iter().copied())
            }
            Call::GetBound(m) => {
                let at = list.iter().position(|g| *g >= ticket(0));
                at.and_then(|at| list.remove(at)) == *m
            }
            Call::Len(n) => list.len() == *n,
        };
        is_right.then_some(List(list))
    }
}

/// The room.
#[derive(Debug, Clone, PartialEq)]
pub struct Global;

impl Room for Global {
    const NAME: &'static str = "globq";
    const CLAIM: &'static str = "the queue is linearizable, and its length, read without the lock, was true once";
    const THREADS: usize = 3;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random];
    // Its one mutant is of `work/spinning`, behind a lock that drains the buffer.
    const FALLS: &'static [&'static str] = &[];
    const PATHS: &'static [&'static str] = &[
        "it seemed empty, and was not",
        "it seemed to hold one, and was empty",
        "a share of more than one",
        "a ticket was taken from behind others",
    ];
    type Setup = ();
    type Op = Op;

    fn setup() -> BoxedStrategy<()> {
        Just(()).boxed()
    }
    fn op(_: usize) -> BoxedStrategy<Op> {
        prop_oneof![
            3 => Just(Op::Put),
            2 => (1..=3u64).prop_map(Op::PutBatch),
            1 => (1..=2u64).prop_map(Op::PutFront),
            1 => (0..3u32).prop_map(Op::PutBound),
            4 => Just(Op::Get),
            3 => (1..=2usize).prop_map(Op::GetBatch),
            1 => Just(Op::GetBound),
            3 => Just(Op::Peek),
        ]
        .boxed()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        let shared =
            Shared::<H> { queue: H::Lock::new(GlobQueue::default()), len: Len::new(), history: History::default() };
        together::<H, _, _, _>(program, shared, Shared::plays, |shared, ops| shared.plays(0, ops)).0.check_at_rest()
    }
}

struct Shared<H: ModelHost> {
    queue: H::Lock<GlobQueue>,
    len: Len<H>,
    /// What was done under the lock; and what was read without it, which is `Len`.
    history: History<H, Call>,
}

impl<H: ModelHost> Shared<H> {
    fn plays(&self, me: usize, ops: Vec<Op>) {
        // No two threads make the same Gs.
        let mut made = 100 * me as u64;
        for op in ops {
            let mut make = |n: u64| {
                made += n;
                (made - n + 1..=made).collect::<Vec<u64>>()
            };
            match op {
                Op::Put => self.puts(me, make(1), Call::Put),
                Op::PutBatch(n) => self.puts(me, make(n), Call::Put),
                Op::PutFront(n) => self.puts(me, make(n), Call::PutFront),
                Op::PutBound(m) => self.puts(me, vec![ticket(m)], Call::Put),
                Op::Get | Op::GetBatch(_) => {
                    let seems = self.peek(me);
                    // Taken in any case, to see how wrong a hint may be.
                    let n = if let Op::GetBatch(procs) = op { self.gets_batch(me, procs) } else { self.gets(me) };
                    reached_if(seems == 0 && n > 0, "it seemed empty, and was not");
                    reached_if(seems > 0 && n == 0, "it seemed to hold one, and was empty");
                    reached_if(n > 1, "a share of more than one");
                }
                Op::GetBound => self.gets_bound(me),
                Op::Peek => drop(self.peek(me)),
            }
        }
    }

    /// Does `act` under the lock, where list and length agree before and after.
    fn under_lock<R>(&self, me: usize, act: impl FnOnce(&mut GlobQueue) -> (R, Call)) -> R {
        self.history.call(me, || {
            self.queue.with(|queue| {
                let result = act(queue);
                assert!(queue.len() == self.len.peek(), "{} wait, the length says {}", queue.len(), self.len.peek());
                result
            })
        })
    }

    fn puts(&self, me: usize, gs: Vec<u64>, call: fn(Vec<u64>) -> Call) {
        self.under_lock(me, |queue| {
            let call = call(gs.clone());
            match (&call, &gs[..]) {
                (Call::PutFront(_), _) => queue.put_front(gs.into_iter().map(made), &self.len),
                (_, [one]) => queue.put(made(*one), &self.len),
                _ => queue.put_batch(gs.into_iter().map(made), &self.len),
            }
            ((), call)
        });
    }

    fn gets(&self, me: usize) -> usize {
        self.under_lock(me, |queue| {
            let g = queue.get(&self.len).map(|g| g.into_raw().get());
            (usize::from(g.is_some()), Call::Get(g))
        })
    }

    fn gets_batch(&self, me: usize, procs: usize) -> usize {
        self.under_lock(me, |queue| {
            let mut rest = Vec::new();
            let first = queue.get_batch(procs, HALF, &self.len, |gs| rest.extend(gs));
            let share: Vec<u64> = first.into_iter().chain(rest).map(|g| g.into_raw().get()).collect();
            (share.len(), Call::GetBatch(procs, share))
        })
    }

    fn gets_bound(&self, me: usize) {
        self.under_lock(me, |queue| {
            let before = queue.len();
            let m = queue.get_bound(&self.len);
            reached_if(m.is_some() && before > 1, "a ticket was taken from behind others");
            ((), Call::GetBound(m.map(|m| ticket(m.0))))
        });
    }

    fn peek(&self, me: usize) -> usize {
        self.history.call(me, || {
            let n = self.len.peek();
            (n, Call::Len(n))
        })
    }

    fn check_at_rest(self) -> String {
        let left = self.queue.with(|queue| queue.len());
        each_was_true_once(&List::default(), &self.history.records(), |call| matches!(call, Call::Len(_)));
        format!("left={left}")
    }
}

/// The G of this number, or the ticket.
fn made(n: u64) -> G {
    if n < ticket(0) { g(n) } else { (0..).map(|m| G::forge_ticket(MId(m))).find(|t| t.id() == n).expect("a ticket") }
}
