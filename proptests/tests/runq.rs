//! The ring: what the owner and one thief get out of it, compared with two lists.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use spinpark_kernel::queues::runq::{Capacity, RunQueue};
use spinpark_proptests::check::{Broken, Tally, check, refute};
use spinpark_proptests::oracle::ring::{Kernel, Op, Oracle, op};
use spinpark_proptests::oracle::{Subject, compare, each_comes_out_once, g};
use spinpark_proptests::solo::Solo;
use std::ops::Range;

const CASES: u32 = 1000;

fn capacity(n: usize) -> Capacity {
    Capacity::new(n).expect("an allowed capacity")
}

/// A capacity, and what is done to rings of it.
fn streams(capacities: &'static [usize]) -> impl Strategy<Value = (usize, Vec<Op>)> {
    select(capacities).prop_flat_map(|n| (Just(n), vec(op(n + 2), 0..200)))
}

const REACHED: [&str; 9] = [
    "the ring was full",
    "a put met a full ring",
    "a batch fitted in part",
    "a get found nothing",
    "a spill was not needed",
    "a spill took half",
    "a steal took one",
    "a steal had to round",
    "a steal met a full ring",
];

/// Half of a ring of two is one: nothing is left for the thief's own ring.
const REACHED_FROM_FOUR: [&str; 2] = ["a steal took more than one", "a thief ran more of what it stole"];

/// A steal takes the older half, rounded up, the thief runs the oldest; a spill takes the older half of a full ring;
/// order is kept; `len` and `is_empty` are right after each step.
mod the_ring_answers_as_a_list_would {
    use super::*;

    fn with_cursors_of<const BITS: u32>(capacities: &'static [usize]) -> Tally {
        let seen = check(CASES, streams(capacities), |(n, ops)| {
            let mut oracle = Oracle::new(capacity(n));
            compare(&mut Kernel::<Solo, BITS>::new(capacity(n)), &mut oracle, &ops)?;
            let mut seen = oracle.seen;
            seen.note_if(seen.of("a G was put") >= 4 << BITS.min(30), "the tail wrapped around four times");
            Ok(seen)
        });
        seen.must_have(&REACHED);
        seen
    }

    #[test]
    fn owner_and_one_thief() {
        with_cursors_of::<32>(&[2, 4, 8]).must_have(&REACHED_FROM_FOUR);
    }

    #[test]
    fn cursors_of_two_bits() {
        with_cursors_of::<2>(&[2]).must_have(&["the tail wrapped around four times"]);
    }

    #[test]
    fn cursors_of_three_bits() {
        let seen = with_cursors_of::<3>(&[2, 4]);
        seen.must_have(&REACHED_FROM_FOUR);
        seen.must_have(&["the tail wrapped around four times"]);
    }

    #[test]
    fn cursors_of_four_bits() {
        let seen = with_cursors_of::<4>(&[2, 4, 8]);
        seen.must_have(&REACHED_FROM_FOUR);
        seen.must_have(&["the tail wrapped around four times"]);
    }
}

/// Asked without a reference model, which could be wrong too.
mod each_g_is_taken_once {
    use super::*;

    #[test]
    fn owner_and_one_thief() {
        check(CASES, streams(&[2, 4, 8]), |(n, ops)| {
            each_comes_out_once(&mut Kernel::<Solo, 32>::new(capacity(n)), &ops)?;
            Ok(Tally::default())
        });
    }

    #[test]
    fn cursors_of_three_bits() {
        check(CASES, streams(&[2, 4]), |(n, ops)| {
            each_comes_out_once(&mut Kernel::<Solo, 3>::new(capacity(n)), &ops)?;
            Ok(Tally::default())
        });
    }
}

/// For each capacity and each number of Gs in it, wherever in its round the ring is.
mod a_steal_takes_the_older_half_rounded_up {
    use super::*;

    #[test]
    fn from_every_position() {
        for (held, start) in (0..=8).flat_map(|held| (0..40).map(move |start| (held, start))) {
            let rings = Kernel::<Solo, 4>::new(capacity(8));
            for i in 0..start {
                rings.owner.put(g(i + 1)).expect("room for one");
                assert_eq!(rings.owner.get(), Some(g(i + 1)));
            }
            assert_eq!(rings.owner.put_batch(&mut (100..100 + held).map(g)) as u64, held);
            let first = rings.owner.steal_some(&rings.thief).map(|(g, _)| g.id());
            assert_eq!(first, (held > 0).then_some(100), "the thief runs the oldest of {held}");
            assert_eq!(rings.owner.len() as u64, held / 2, "the owner keeps the newer half of {held}");
            for i in 1..held.div_ceil(2) {
                assert_eq!(rings.thief.get(), Some(g(100 + i)), "the thief has the rest, in order");
            }
            assert_eq!(rings.thief.get(), None);
        }
    }
}

mod a_ring_needs_cursors_that_tell_full_from_empty {
    use super::*;

    #[test]
    fn three_bits_are_enough_for_four() {
        assert_eq!(RunQueue::<Solo, 3>::new(capacity(4)).capacity(), 4);
    }

    #[test]
    #[should_panic(expected = "3 bits cannot tell 8 Gs from none")]
    fn three_bits_are_too_few_for_eight() {
        RunQueue::<Solo, 3>::new(capacity(8));
    }
}

/// Else the narrow cursors above would be wide ones, and never wrap around.
mod a_cursor_never_needs_more_bits_than_it_has {
    use super::*;
    use spinpark_kernel::host::{self, Host, Nanos, SpawnError};
    use spinpark_proptests::solo;
    use std::cell::Cell;
    use std::sync::atomic::Ordering;

    thread_local! {
        static LARGEST: Cell<u64> = const { Cell::new(0) };
    }

    /// One thread, and the largest value that it wrote into any word.
    struct Watched;

    struct Word(solo::Word);

    fn written(value: u64) -> u64 {
        LARGEST.set(LARGEST.get().max(value));
        value
    }

    impl Host for Watched {
        type Word = Word;
        type Lock<T: Send + 'static> = solo::Lock<T>;
        type Parker = solo::Parker;

        fn fence(order: Ordering) {
            Solo::fence(order);
        }
        fn relax() {
            Solo::relax();
        }
        fn choose(n: usize) -> usize {
            Solo::choose(n)
        }
        fn now() -> Nanos {
            Solo::now()
        }
        fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
            Solo::spawn(name, body)
        }
    }

    impl host::Word for Word {
        fn new(value: u64) -> Self {
            Word(solo::Word::new(written(value)))
        }
        fn load(&self, order: Ordering) -> u64 {
            self.0.load(order)
        }
        fn store(&self, value: u64, order: Ordering) {
            self.0.store(written(value), order);
        }
        fn swap(&self, value: u64, order: Ordering) -> u64 {
            self.0.swap(written(value), order)
        }
        fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
            written(self.0.fetch_add(value, order).wrapping_add(value)).wrapping_sub(value)
        }
        fn compare_exchange(&self, current: u64, new: u64, yes: Ordering, no: Ordering) -> Result<u64, u64> {
            self.0.compare_exchange(current, written(new), yes, no)
        }
    }

    #[test]
    fn three_bits_and_gs_of_as_many() {
        let rings = Kernel::<Watched, 3>::new(capacity(4));
        for _ in 0..100 {
            // Both cursors go round in each of their functions, by steps of 1, 2 and 4.
            assert_eq!(rings.owner.put_batch(&mut (1..=5).map(g)), 4);
            assert_eq!(rings.owner.spill_half().map(Iterator::count), Some(2));
            assert_eq!(rings.owner.steal_some(&rings.thief), Some((g(3), 1)));
            assert!(rings.owner.put(g(5)).is_ok() && rings.owner.put(g(6)).is_ok());
            assert_eq!(rings.owner.steal_some(&rings.thief), Some((g(4), 2)));
            assert_eq!((rings.thief.get(), rings.thief.get()), (Some(g(5)), None));
            assert_eq!((rings.owner.get(), rings.owner.get()), (Some(g(6)), None));
        }
        assert_eq!(LARGEST.get(), 7);
    }
}

/// Rings with one mistake each: the properties above see it, and show it in few operations.
mod a_wrong_variant_is_caught {
    use super::*;

    /// A ring that is right, but for what `wrong` does instead.
    struct Variant {
        right: Kernel<Solo, 4>,
        wrong: fn(&mut Kernel<Solo, 4>, Op) -> Option<Vec<u64>>,
    }

    impl Subject for Variant {
        type Op = Op;
        type State = <Kernel<Solo, 4> as Subject>::State;

        fn apply(&mut self, op: Op, gs: Range<u64>) -> Vec<u64> {
            (self.wrong)(&mut self.right, op).unwrap_or_else(|| self.right.apply(op, gs))
        }
        fn state(&self) -> Self::State {
            self.right.state()
        }
        fn drain(&mut self) -> Vec<u64> {
            self.right.drain()
        }
    }

    fn shortest(wrong: fn(&mut Kernel<Solo, 4>, Op) -> Option<Vec<u64>>) -> (Vec<Op>, Broken) {
        let (ops, why) = refute(CASES, vec(op(6), 0..200), |ops| {
            let mut variant = Variant { right: Kernel::new(capacity(4)), wrong };
            compare(&mut variant, &mut Oracle::new(capacity(4)), ops).map(|()| Tally::default())
        });
        assert!(ops.len() <= 12, "{} operations are too many to read: {ops:?}", ops.len());
        (ops, why)
    }

    fn take(ring: &RunQueue<Solo, 4>, n: usize) -> Vec<u64> {
        (0..n).filter_map(|_| ring.get()).map(|g| g.id()).collect()
    }

    fn put(ring: &RunQueue<Solo, 4>, gs: &[u64]) {
        assert_eq!(ring.put_batch(&mut gs.iter().copied().map(g)), gs.len());
    }

    #[test]
    fn a_steal_that_rounds_down() {
        let (ops, why) = shortest(|rings, op| {
            (op == Op::Steal).then(|| {
                let mut out = take(&rings.thief, 8);
                let stolen = take(&rings.owner, rings.owner.len() / 2);
                put(&rings.thief, stolen.get(1..).unwrap_or(&[]));
                out.extend(stolen.first());
                out
            })
        });
        assert!(ops.len() <= 3 && ops.last() == Some(&Op::Steal), "{ops:?}");
        assert!(why.to_string().contains("Steal"), "{why}");
    }

    #[test]
    fn a_thief_that_runs_the_newest() {
        let (ops, _) = shortest(|rings, op| {
            (op == Op::Steal).then(|| {
                let mut out = take(&rings.thief, 8);
                let mut stolen = take(&rings.owner, rings.owner.len().div_ceil(2));
                out.extend(stolen.pop());
                put(&rings.thief, &stolen);
                out
            })
        });
        assert_eq!(ops.last(), Some(&Op::Steal));
    }

    #[test]
    fn a_spill_of_the_newer_half() {
        let (ops, _) = shortest(|rings, op| {
            (op == Op::SpillHalf && rings.owner.len() == 4).then(|| {
                let older = take(&rings.owner, 2);
                let newer = take(&rings.owner, 2);
                put(&rings.owner, &older);
                newer
            })
        });
        assert_eq!(ops.last(), Some(&Op::SpillHalf));
    }

    #[test]
    fn a_spill_out_of_a_ring_that_is_not_full() {
        let (ops, _) = shortest(|rings, op| (op == Op::SpillHalf).then(|| take(&rings.owner, 2)));
        assert!(ops.len() <= 3 && ops.last() == Some(&Op::SpillHalf), "{ops:?}");
    }

    #[test]
    fn a_put_that_overwrites_the_oldest() {
        let (ops, _) = shortest(|rings, op| {
            if op == Op::Put && rings.owner.len() == 4 {
                rings.owner.get().map(|g| g.id());
            }
            None
        });
        assert_eq!(ops.last(), Some(&Op::Put));
    }
}
