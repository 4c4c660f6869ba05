//! Of the simulated machine itself; the runtime on it: tests/deterministic.rs.

use crate::host::{Host, Parker};
use crate::runtime::host::duration::START;
use crate::runtime::host::sim::*;
use std::collections::BTreeSet;
use std::panic::{catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};

/// Runs `f` on a machine.
fn on_machine<R>(seed: u64, f: impl FnOnce() -> R) -> R {
    let number = machine_for(Some(seed)).expect("there is none yet");
    let result = f();
    finish(number);
    assert!(!is_here(), "the machine is still there");
    result
}

fn start(body: impl FnOnce() + Send + 'static) {
    spawn("spinpark-m0", None, body).expect("a stack");
}

mod a_parker {
    use super::sim_host::Sim;
    use super::*;

    #[test]
    fn is_left_when_a_simulated_thread_unparks() {
        for seed in 0..100 {
            on_machine(seed, || {
                let parkers = Arc::new([<Sim as Host>::Parker::new(), <Sim as Host>::Parker::new()]);
                let theirs = Arc::clone(&parkers);
                start(move || {
                    for _ in 0..10 {
                        theirs[0].park();
                        theirs[1].unpark();
                    }
                });
                for _ in 0..10 {
                    parkers[0].unpark();
                    parkers[1].park();
                }
            });
        }
    }

    #[test]
    fn is_left_at_its_moment_the_earliest_first() {
        on_machine(1, || {
            let order = Arc::new(Mutex::new(Vec::new()));
            for nanos in [30, 10, 20] {
                let order = Arc::clone(&order);
                start(move || {
                    <Sim as Host>::Parker::new().park_timeout(nanos);
                    order.lock().expect("no panic").push((nanos, Sim::now() - START));
                });
            }
            <Sim as Host>::Parker::new().park_timeout(100);
            assert_eq!(*order.lock().expect("no panic"), [(10, 10), (20, 20), (30, 30)]);
            assert_eq!(elapsed(), Some(Duration::from_nanos(100)));
        });
    }

    #[test]
    fn that_nobody_can_unpark_take_deadlock() {
        let number = machine_for(Some(0)).expect("there is none yet");
        let caught = catch_unwind(|| <Sim as Host>::Parker::new().park());
        let payload = caught.expect_err("it was left");
        assert!(payload.downcast_ref::<&str>().is_some_and(|text| text.contains("no task will bring")));
        finish(number);
    }

    #[test]
    fn of_a_thread_that_awaits_a_future_is_left_and_the_deadlock_is_said_once() {
        on_machine(0, || {
            let patient = AwaitsFuture::new();
            <Sim as Host>::Parker::new().park();
            assert!(take_deadlock());
            assert!(!take_deadlock());
            drop(patient);
        });
    }
}

mod a_thread {
    use super::*;
    use crate::runtime::host::sim::sim_host::Sim;

    #[test]
    fn that_panics_has_ended_and_its_panic_is_that_of_who_waits() {
        on_machine(0, || {
            start(|| resume_unwind(Box::new("its own")));
            let caught = catch_unwind(|| pause(Duration::from_nanos(1)));
            assert_eq!(caught.expect_err("it panicked").downcast_ref(), Some(&"its own"));
            assert!(pause(Duration::from_nanos(1)), "the machine does not go on");
        });
    }

    #[test]
    fn in_its_middle_is_forgotten_with_the_machine() {
        on_machine(0, || {
            start(|| <Sim as Host>::Parker::new().park());
            pause(Duration::from_nanos(1));
        });
    }
}

mod seeds {
    use super::*;

    #[test]
    fn that_are_neighbours_draw_differently() {
        let draws = |seed| on_machine(seed, || [(); 4].map(|()| choose(1 << 20)));
        let seen: BTreeSet<_> = (0..1000).map(draws).collect();
        assert_eq!(seen.len(), 1000);
        let firsts: BTreeSet<_> = (0..1000).map(|seed| draws(seed)[0]).collect();
        assert!(firsts.len() > 990, "{} first draws of 1000 seeds", firsts.len());
    }
}
