//! The queues of a P under every interleaving of small random programs; and a queue that is not linearizable, which is
//! found out.

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark_kernel::queues::runnext::RunNext;
use spinpark_kernel::queues::runq::{Capacity, RunQueue};
use spinpark_proptests::linear::{History, linearize};
use spinpark_proptests::oracle::g;
use spinpark_proptests::room::{Program, Room, Trial, run};
use spinpark_proptests::rooms::queue::{Call, Local, Queue, Ring};
use spinpark_proptests::shrink::{Hunt, hunt};
use spinpark_verification::engines::{Engine, Verdict};
use spinpark_verification::hosts::model_host::ModelHost;
use std::sync::Arc;
use std::time::Duration;

fn trial(engine: Engine, schedules: u64, seed: u64) -> Trial {
    Trial { engine, schedules, seed, mutant: None }
}

/// Small programs under every interleaving: what a sample reaches is among what there is.
fn small_programs_hold<R: Room>() {
    let (mut proved, mut executions) = (0, 0);
    for seed in 0..60 {
        let program = Program::<R>::draw(seed, 6);
        let all = run(&program, &trial(Engine::Sc, 200, seed));
        assert!(all.failure.is_none(), "{program}{:?}", all.failure);
        executions += all.executions;
        if all.verdict != Verdict::Proved {
            continue; // too many for a test
        }
        proved += 1;
        let some = run(&program, &trial(Engine::Random, 20, seed));
        let missing = some.outcomes.keys().find(|outcome| !all.outcomes.contains_key(*outcome));
        assert_eq!(missing, None, "sampled, but not among all:\n{program}");
    }
    println!("{proved} of 60 programs to their end, {executions} executions");
    assert!(proved >= 30, "only {proved} of 60 programs were small enough");
}

mod every_interleaving_of_a_small_program_is_linearizable {
    use super::*;

    #[test]
    fn on_the_ring() {
        small_programs_hold::<Ring>();
    }

    #[test]
    #[ignore = "slow: `.ci/nightly` runs it"]
    fn on_ring_and_runnext() {
        small_programs_hold::<Local>();
    }
}

/// A ring and `runnext` whose test for emptiness looks at each once: a G on its way from the slot into the ring is
/// missed. (`local.rs` looks at the tail again, as Go's `runqempty` does.)
#[derive(Debug, Clone, PartialEq)]
struct LooksOnce;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Op {
    PutNext,
    Get,
    IsEmpty,
}

impl Room for LooksOnce {
    const NAME: &'static str = "looks-once";
    const CLAIM: &'static str = "seen empty only if it was";
    const THREADS: usize = 2;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random];
    const FALLS: &'static [&'static str] = &[];
    const PATHS: &'static [&'static str] = &[];
    type Setup = ();
    type Op = Op;

    fn setup() -> BoxedStrategy<()> {
        Just(()).boxed()
    }
    fn op(thread: usize) -> BoxedStrategy<Op> {
        match thread {
            0 => prop_oneof![2 => Just(Op::PutNext), 1 => Just(Op::Get)].boxed(),
            _ => Just(Op::IsEmpty).boxed(),
        }
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        let capacity = Capacity::new(4).expect("a power of two");
        let both = Arc::new((RunQueue::<H, 32>::new(capacity), RunNext::<H>::new(), History::<H, _>::default()));
        let asker = {
            let (both, ops) = (Arc::clone(&both), program.of(1));
            H::fork("asker", move || {
                for _ in ops {
                    let (ring, next, history) = &*both;
                    history.call(1, || ((), Call::IsEmpty(ring.is_empty() && !next.is_set())));
                }
            })
        };
        let (ring, next, history) = &*both;
        for (n, op) in (1..).zip(program.of(0)) {
            match op {
                Op::PutNext => history.calls(0, || {
                    let displaced = next.put(g(n));
                    displaced.into_iter().for_each(|g| ring.put(g).expect("a program has few operations"));
                    ((), vec![Call::SetNext(n), Call::PutHand])
                }),
                _ => history.call(0, || {
                    let g = next.take().or_else(|| ring.get()).map(|g| g.into_raw().get());
                    ((), Call::Get(g))
                }),
            }
        }
        H::join(asker);
        if let Err(wrong) = linearize(&Queue::new(4), &history.records()) {
            panic!("{wrong}");
        }
        while ring.get().is_some() {}
        next.take().map(spinpark_kernel::types::g::G::into_raw);
        String::new()
    }
}

#[test]
fn a_test_for_emptiness_that_looks_once_is_found_out() {
    let how = Hunt {
        trial: trial(Engine::Pct, 60, 1),
        engines: LooksOnce::ENGINES,
        longest: 5,
        programs: u64::MAX,
        time: Duration::from_secs(30),
        shrinking: Duration::from_secs(10),
    };
    let found = hunt::<LooksOnce>(&how, |_, _| ()).expect("it is wrong");
    println!("{}{}", found.program, found.failure.message);
    // Put, put (the first goes to the ring), take the second: and one that asks meanwhile.
    assert_eq!(found.program.ops.len(), 4, "{}", found.program);
    assert!(found.failure.message.contains("IsEmpty(true)"), "{}", found.failure.message);
    assert!(found.failure.script.is_some());
}
