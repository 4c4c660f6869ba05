//! How long a G in the ring may be overtaken. What the queues answer besides, `verification/rooms` asks.

use proptest::collection::vec;
use proptest::prelude::*;
use spinpark_kernel::queues::local::LocalQueue;
use spinpark_kernel::queues::runq::Capacity;
use spinpark_kernel::types::p::Turn;
use spinpark_proptests::check::{Broken, Tally, check, refute};
use spinpark_proptests::deadlines::Deadlines;
use spinpark_proptests::oracle::{g, numbers};
use spinpark_proptests::solo::Solo;
use std::collections::VecDeque;

const CASES: u32 = 1000;
const RING: usize = 8;

/// What an owner does while it dispatches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Put,
    PutNext,
    Get,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![4 => Just(Op::Get), 3 => Just(Op::PutNext), 1 => Just(Op::Put)]
}

/// The queues, and what is in them.
struct Both {
    queue: LocalQueue<Solo>,
    turn: Turn,
    next: Option<u64>,
    ring: VecDeque<u64>,
    put: u64,
}

impl Both {
    fn new() -> Self {
        let queue = LocalQueue::new(Capacity::new(RING).expect("a power of two"));
        Both { queue, turn: Turn::default(), next: None, ring: VecDeque::new(), put: 0 }
    }

    /// What comes out.
    fn does(&mut self, op: Op, at_most: u32) -> Vec<u64> {
        let (n, mut out) = (self.put + 1, Vec::new());
        let to_the_ring = match op {
            Op::Get => {
                out = numbers(self.queue.get(&mut self.turn, at_most));
                self.next = self.next.filter(|n| !out.contains(n));
                None
            }
            Op::Put => {
                self.queue.put(g(n), |half, last| out = numbers(half.chain([last])));
                Some(n)
            }
            Op::PutNext => {
                self.queue.put_next(g(n), |half, last| out = numbers(half.chain([last])));
                self.next.replace(n)
            }
        };
        self.put += u64::from(op != Op::Get);
        self.ring.extend(to_the_ring);
        self.ring.retain(|n| !out.contains(n));
        out
    }
}

/// A G at position d of the ring is dispatched within (d+1)(K+1) local dispatches, or spilled before that. Holds if each is, no
/// later than `slack` dispatches before the bound.
fn within_bound(at_most: u32, slack: usize, ops: &[Op]) -> Result<Tally, Broken> {
    let (mut both, mut seen, mut due) = (Both::new(), Tally::default(), Deadlines::of("the ring"));
    for &op in ops {
        let out = both.does(op, at_most);
        seen.note_if(out.iter().any(|&g| op == Op::Get && due.has(g)), "a G of the ring was dispatched");
        if op != Op::Get {
            out.iter().for_each(|&g| due.forget(g));
        }
        let now = both.turn.dispatches() as usize;
        seen.add("a G was dispatched at the last moment", due.check(now, |g| both.ring.contains(&g))?);
        for (d, &g) in both.ring.iter().enumerate() {
            due.enter(g, now, (d + 1) * (at_most as usize + 1) - slack);
        }
    }
    Ok(seen)
}

mod overtaking_is_bounded {
    use super::*;

    #[test]
    fn by_one_owner() {
        let streams = (prop_oneof![0..5u32, Just(16)], vec(op(), 0..300));
        let seen = check(CASES, streams, |(at_most, ops)| within_bound(at_most, 0, &ops));
        seen.must_have(&["a G of the ring was dispatched", "a G was dispatched at the last moment"]);
    }

    #[test]
    fn the_bound_is_reached_at_every_position_and_for_every_k() {
        for (d, at_most) in (0..RING).flat_map(|d| (0..=16).map(move |k| (d, k))) {
            let bound = (d + 1) * (at_most as usize + 1);
            // Gs up to the one at position d, then always one more to run next.
            let mut ops = vec![Op::Put; d + 1];
            if at_most > 0 {
                ops.extend([Op::PutNext, Op::Get].repeat(bound));
            } else {
                ops.extend([Op::Get].repeat(bound));
            }
            within_bound(at_most, 0, &ops).expect("within the bound");
            within_bound(at_most, 1, &ops).expect_err("not within one less");
        }
    }

    #[test]
    fn a_bound_of_one_less_is_refuted() {
        for at_most in 0..=4 {
            let (ops, _) = refute(CASES, vec(op(), 0..300), |ops| within_bound(at_most, 1, ops));
            // One G to wait, K that run next, and the dispatch at which it is its turn.
            assert!(ops.len() <= 12, "{} operations are too many to read: {ops:?}", ops.len());
        }
    }
}
