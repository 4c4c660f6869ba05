//! The global queue, compared with a list.

use proptest::collection::vec;
use spinpark_proptests::check::{Tally, check};
use spinpark_proptests::oracle::global::{Kernel, Op, Oracle, op};
use spinpark_proptests::oracle::{Subject, compare, each_comes_out_once};
use spinpark_proptests::solo::Solo;

const CASES: u32 = 1000;

/// First in, first out, but for those that are put in front, which keep their order among themselves, and for the
/// oldest ticket when it is asked for; a share is fair, fits into an empty ring, and comes in order; the length without
/// the lock is the list's after each step.
mod the_global_queue_answers_as_a_list_would {
    use super::*;

    #[test]
    fn under_the_lock() {
        let seen = check(CASES, vec(op(20), 0..200), |ops| {
            let mut oracle = Oracle::new();
            compare(&mut Kernel::<Solo>::new(), &mut oracle, &ops)?;
            Ok(oracle.seen)
        });
        seen.must_have(&[
            "a get found nothing",
            "a share was nothing",
            "a share was all",
            "a share was cut to half a ring",
            "a share was fair",
            "some were put before others",
            "there was no ticket among the Gs",
            "a ticket was not the oldest",
            "there were several tickets",
        ]);
    }
}

/// Asked without a reference model, which could be wrong too.
mod each_g_is_taken_once {
    use super::*;

    #[test]
    fn under_the_lock() {
        check(CASES, vec(op(20), 0..200), |ops| {
            each_comes_out_once(&mut Kernel::<Solo>::new(), &ops)?;
            Ok(Tally::default())
        });
    }
}

/// Go's share, one more than the even part rounded down: a P that looks gets something, and no even part is left over.
mod a_share_is_the_even_part_or_one_more {
    use super::*;

    #[test]
    fn for_every_number_of_ps() {
        for (procs, waiting) in (1..=16).flat_map(|procs| (0..=64).map(move |waiting| (procs, waiting))) {
            let mut queue = Kernel::<Solo>::new();
            queue.apply(Op::PutBatch(waiting), 1..waiting as u64 + 1);
            let share = queue.apply(Op::GetBatch { procs, ring: 256 }, 1..1).len();
            assert!(share >= waiting.div_ceil(procs), "one of {procs} Ps takes only {share} of {waiting}");
            assert!(share <= waiting.div_ceil(procs) + 1, "one of {procs} Ps takes {share} of {waiting}");
        }
    }
}
