//! `runnext` and the ring as one queue, compared with a slot and a list; and how long a G in the ring may be overtaken.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use spinpark_kernel::queues::runq::Capacity;
use spinpark_proptests::check::{Broken, Tally, check, refute};
use spinpark_proptests::deadlines::Deadlines;
use spinpark_proptests::oracle::local::{Kernel, Op, Oracle, dispatching, op};
use spinpark_proptests::oracle::{Op as _, Subject, compare, each_comes_out_once};
use spinpark_proptests::solo::Solo;
use std::ops::Range;

const CASES: u32 = 1000;

fn capacity(n: usize) -> Capacity {
    Capacity::new(n).expect("an allowed capacity")
}

/// A capacity, K, and what is done to queues of that.
fn streams(capacities: &'static [usize]) -> impl Strategy<Value = (usize, u32, Vec<Op>)> {
    (select(capacities), prop_oneof![0..5u32, Just(16)])
        .prop_flat_map(|(n, at_most)| (Just(n), Just(at_most), vec(op(n + 2), 0..200)))
}

/// `put`, `put_next` and what they spill, in order; `get` under each K; a thief that spares `runnext` or does not;
/// `drain`; `len` and `is_empty` after each step.
mod the_local_queue_answers_as_a_slot_and_a_list_would {
    use super::*;

    fn with_cursors_of<const BITS: u32>(capacities: &'static [usize]) -> Tally {
        let seen = check(CASES, streams(capacities), |(n, at_most, ops)| {
            let mut oracle = Oracle::new(capacity(n), at_most);
            compare(&mut Kernel::<Solo, BITS>::new(capacity(n), at_most), &mut oracle, &ops)?;
            let mut seen = oracle.seen;
            seen.note_if(seen.of("a G was put") >= 2 << BITS.min(30), "the tail wrapped around twice");
            Ok(seen)
        });
        seen.must_have(&[
            "a put spilled",
            "runnext was displaced",
            "runnext was displaced and spilled",
            "the ring came before runnext",
            "runnext ran on, the ring was empty",
            "a steal took more than one",
            "a steal spared runnext",
            "a steal took runnext",
            "a drain took both",
        ]);
        seen
    }

    #[test]
    fn owner_and_one_thief() {
        with_cursors_of::<32>(&[2, 4, 8]);
    }

    #[test]
    fn cursors_of_three_bits() {
        with_cursors_of::<3>(&[2, 4]).must_have(&["the tail wrapped around twice"]);
    }

    #[test]
    fn cursors_of_four_bits() {
        with_cursors_of::<4>(&[2, 4, 8]).must_have(&["the tail wrapped around twice"]);
    }
}

/// Asked without a reference model, which could be wrong too.
mod each_g_is_taken_once {
    use super::*;

    #[test]
    fn owner_and_one_thief() {
        check(CASES, streams(&[2, 4, 8]), |(n, at_most, ops)| {
            each_comes_out_once(&mut Kernel::<Solo, 4>::new(capacity(n), at_most), &ops)?;
            Ok(Tally::default())
        });
    }
}

/// A G at position d of the ring is dispatched within (d+1)(K+1) local dispatches, or spilled before that.
mod overtaking_is_bounded {
    use super::*;

    const RING: usize = 8;

    /// Holds if each G is dispatched no later than `slack` dispatches before the bound.
    fn within_bound(at_most: u32, slack: usize, ops: &[Op]) -> Result<Tally, Broken> {
        let mut queue = Kernel::<Solo, 32>::new(capacity(RING), at_most);
        let mut oracle = Oracle::new(capacity(RING), at_most);
        let mut seen = Tally::default();
        let mut due = Deadlines::of("the ring");
        let mut next = 1;
        for &op in ops {
            let gs = next..next + op.fresh() as u64;
            next = gs.end;
            let out = queue.apply(op, gs.clone());
            if out != oracle.apply(op, gs) {
                return Err(Broken::because("the reference model dispatches another G"));
            }
            seen.note_if(out.iter().any(|&g| op == Op::Get && due.has(g)), "a G of the ring was dispatched");
            if op != Op::Get {
                out.iter().for_each(|&g| due.forget(g));
            }
            let now = oracle.dispatches();
            seen.add("a G was dispatched at the last moment", due.check(now, |g| oracle.ring.contains(&g))?);
            for (d, &g) in oracle.ring.iter().enumerate() {
                due.enter(g, now, (d + 1) * (at_most as usize + 1) - slack);
            }
        }
        Ok(seen)
    }

    fn streams(at_most: impl Strategy<Value = u32>) -> impl Strategy<Value = (u32, Vec<Op>)> {
        (at_most, vec(dispatching(), 0..300))
    }

    #[test]
    fn by_one_owner() {
        let seen =
            check(CASES, streams(prop_oneof![0..5u32, Just(16)]), |(at_most, ops)| within_bound(at_most, 0, &ops));
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
            let (ops, _) = refute(CASES, vec(dispatching(), 0..300), |ops| within_bound(at_most, 1, ops));
            // One G to wait, K that run next, and the dispatch at which it is its turn.
            assert!(ops.len() <= 12, "{} operations are too many to read: {ops:?}", ops.len());
        }
    }
}

/// Queues with one mistake each: the properties above see it, and show it in few operations.
mod a_wrong_variant_is_caught {
    use super::*;

    /// A queue that is right, but for what `wrong` does before or instead.
    struct Variant {
        right: Oracle,
        wrong: fn(&mut Oracle, Op, Range<u64>) -> Option<Vec<u64>>,
    }

    impl Subject for Variant {
        type Op = Op;
        type State = <Oracle as Subject>::State;

        fn apply(&mut self, op: Op, gs: Range<u64>) -> Vec<u64> {
            (self.wrong)(&mut self.right, op, gs.clone()).unwrap_or_else(|| self.right.apply(op, gs))
        }
        fn state(&self) -> Self::State {
            self.right.state()
        }
        fn drain(&mut self) -> Vec<u64> {
            self.right.drain()
        }
    }

    fn shortest(at_most: u32, wrong: fn(&mut Oracle, Op, Range<u64>) -> Option<Vec<u64>>) -> Vec<Op> {
        let (ops, _) = refute(CASES, vec(op(6), 0..200), |ops| {
            let mut variant = Variant { right: Oracle::new(capacity(4), at_most), wrong };
            // The roles are exchanged: the variant says what should be, and the kernel disagrees.
            compare(&mut Kernel::<Solo, 4>::new(capacity(4), at_most), &mut variant, ops).map(|()| Tally::default())
        });
        assert!(ops.len() <= 12, "{} operations are too many to read: {ops:?}", ops.len());
        ops
    }

    #[test]
    fn a_put_next_that_loses_what_it_displaces() {
        let ops = shortest(1, |queue, op, gs| {
            (op == Op::PutNext).then(|| {
                queue.next = Some(gs.start);
                Vec::new()
            })
        });
        assert_eq!(ops, [Op::PutNext, Op::PutNext]);
    }

    #[test]
    fn a_get_that_always_runs_the_next_first() {
        let ops = shortest(1, |queue, op, _| {
            let overdue = op == Op::Get && !queue.state().may_inherit && !queue.ring.is_empty();
            (overdue && queue.next.is_some()).then(|| Vec::from_iter(queue.next.take()))
        });
        assert_eq!(ops.last(), Some(&Op::Get));
    }

    #[test]
    fn a_spill_that_overtakes_what_it_spills() {
        let ops = shortest(1, |queue, op, gs| {
            (op == Op::Put && queue.ring.len() == 4).then(|| {
                let mut out = queue.apply(op, gs);
                out.rotate_right(1);
                out
            })
        });
        assert_eq!(ops.last(), Some(&Op::Put));
    }

    #[test]
    fn a_thief_that_always_takes_runnext() {
        let ops = shortest(1, |queue, op, gs| match op {
            Op::Steal { and_next: false } => Some(queue.apply(Op::Steal { and_next: true }, gs)),
            _ => None,
        });
        assert_eq!(ops, [Op::PutNext, Op::Steal { and_next: false }]);
    }
}
