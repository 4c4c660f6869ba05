//! A ring and its reference model, as a state machine; and that a wrong one is refuted.

use proptest::prelude::*;
use proptest::sample::select;
use spinpark_kernel::queues::runq::Capacity;
use spinpark_proptests::check::{Broken, Tally};
use spinpark_proptests::machine::room::{Of, Room};
use spinpark_proptests::machine::{Played, check, refute};
use spinpark_proptests::oracle::ring;
use spinpark_proptests::solo::Solo;

const CASES: u32 = 100;
const OPS: usize = 100;

fn capacities() -> impl Strategy<Value = Capacity> {
    select(&[2, 4, 8][..]).prop_map(|n| Capacity::new(n).expect("a power of two"))
}

struct Ring;

impl Room for Ring {
    type Setup = Capacity;
    type Kernel = ring::Kernel<Solo, 4>;
    type Oracle = ring::Oracle;
    fn setups() -> BoxedStrategy<Capacity> {
        capacities().boxed()
    }
    fn ops() -> BoxedStrategy<ring::Op> {
        ring::op(6).boxed()
    }
    fn both(capacity: &Capacity) -> (Self::Kernel, ring::Oracle) {
        (ring::Kernel::new(*capacity), ring::Oracle::new(*capacity))
    }
    fn seen(oracle: ring::Oracle) -> Tally {
        oracle.seen
    }
}

mod a_ring_answers_as_its_model_does {
    use super::*;

    #[test]
    fn of_each_size() {
        check::<Of<Ring>>(CASES, OPS).must_have(&["a put met a full ring", "a steal took more than one"]);
    }
}

/// Alive: with a wrong model the two differ, and the shortest sequence has no operation too many.
mod a_model_of_a_ring_of_another_size_is_refuted {
    use super::*;

    struct Smaller;

    impl Room for Smaller {
        type Setup = Capacity;
        type Kernel = ring::Kernel<Solo, 4>;
        type Oracle = ring::Oracle;
        fn setups() -> BoxedStrategy<Capacity> {
            Just(Capacity::MIN).boxed()
        }
        fn ops() -> BoxedStrategy<ring::Op> {
            ring::op(6).boxed()
        }
        fn both(capacity: &Capacity) -> (Self::Kernel, ring::Oracle) {
            let larger = Capacity::new(2 * capacity.get()).expect("a power of two");
            (ring::Kernel::new(larger), ring::Oracle::new(*capacity))
        }
        fn seen(oracle: ring::Oracle) -> Tally {
            oracle.seen
        }
    }

    #[test]
    fn in_three_operations_or_fewer() {
        let refuted = refute::<Of<Smaller>>(CASES);
        assert!(refuted.ops.len() <= 3, "{refuted}");
        for at in 0..refuted.ops.len() {
            let mut fewer = refuted.ops.clone();
            fewer.remove(at);
            let played: Result<Tally, Broken> = Of::<Smaller>::play(&refuted.start, &fewer, || ());
            assert!(played.is_ok(), "without operation {at} of {refuted}");
        }
    }
}
