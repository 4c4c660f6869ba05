//! The idle Ps and the sleeping Ms, compared with two stacks.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use spinpark_kernel::queues::idle::{IdleMask, IdlePs, SleepingMs};
use spinpark_kernel::types::m::MId;
use spinpark_kernel::types::p::{OwnedP, PId};
use spinpark_proptests::check::{Broken, Tally, check};
use spinpark_proptests::oracle::compare;
use spinpark_proptests::oracle::idle::{Kernel, Oracle, op};
use spinpark_proptests::solo::Solo;

const CASES: u32 = 500;

/// Last in, first out; an M is ended only if it has slept for long, the one that has slept longest first, and never the
/// last one; list, bits and count agree after each step, with one word of bits and with several.
mod the_idle_lists_answer_as_stacks_would {
    use super::*;

    fn with_procs(procs: &'static [usize]) -> Tally {
        let streams = (select(procs), vec(op(), 0..200));
        check(CASES, streams, |(procs, ops)| {
            let mut oracle = Oracle::new(procs);
            compare(&mut Kernel::<Solo>::new(procs), &mut oracle, &ops)?;
            Ok(oracle.seen)
        })
    }

    #[test]
    fn few_ps() {
        with_procs(&[1, 2, 3, 8]).must_have(&[
            "a get found nothing",
            "there was nothing left to put",
            "all Ps were idle",
            "all Ms slept",
            "an old one was taken, not the last",
            "the last one was left to sleep",
            "none had slept for so long",
        ]);
    }

    #[test]
    fn more_ps_than_a_word_has_bits() {
        with_procs(&[63, 64, 65, 130]).must_have(&["a bit beyond the first word was set"]);
    }
}

/// The check is alive: it says no where the two do not belong together.
mod a_list_agrees_only_with_its_own_mask {
    use super::*;

    #[test]
    fn and_with_no_other() {
        check(CASES, (1..130usize, any::<prop::sample::Index>()), |(procs, p)| {
            let (mut ps, mask, other) = (IdlePs::default(), IdleMask::<Solo>::new(procs), IdleMask::<Solo>::new(procs));
            ps.put(OwnedP::forge(PId(p.index(procs) as u32)), &mask);
            match (ps.agrees_with(&mask), ps.agrees_with(&other), IdlePs::default().agrees_with(&mask)) {
                (true, false, false) => Ok(Tally::default()),
                agreed => Err(Broken::because(format_args!("own, other, empty list: {agreed:?}"))),
            }
        });
    }
}

mod an_m_sleeps_once {
    use super::*;

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "M3 is listed already")]
    fn listing_it_twice() {
        let mut sleeping = SleepingMs::default();
        sleeping.put(MId(3), 0);
        sleeping.put(MId(3), 1);
    }
}
