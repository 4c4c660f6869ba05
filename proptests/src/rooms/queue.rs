//! The queues of one P: its owner, and two thieves with rings of their own. What they answer must be linearizable, and
//! each G is taken once.

mod local;
mod ring;

pub use local::{Local, LocalOp};
pub use ring::{Ring, RingOp};

use crate::linear::{History, Spec, linearize};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark_kernel::types::g::G;
use spinpark_verification::hosts::model_host::ModelHost;
use std::collections::VecDeque;

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
fn check_at_rest<H: ModelHost>(setup: Setup, history: &History<H, Call>, made: u64, refused: &[u64]) -> String {
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
