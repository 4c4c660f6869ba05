//! Larger programs at random, each sampled on RC11; one that fails is made smaller.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use spinpark_rooms::explore::explore;
use spinpark_rooms::program::{Program, Thread, nexts};
use spinpark_rooms::room::Room;
use spinpark_rooms::rooms::{
    barrier, broadcast, cancellation, chan, cond, join_set, notify, oneshot, permits, semaphore, wait_group, watch,
};
use std::sync::Arc;

/// So many programs of each room, unless `PROPTEST_CASES` says otherwise: `.ci/nightly` asks for more.
const PROGRAMS: u32 = 60;

/// So many executions of each program.
const EXECUTIONS: u64 = 200;

/// A program as numbers, each of which chooses among what there is: of the room's sizes, and of each thread a role and its steps.
type Chosen = (usize, Vec<(usize, Vec<usize>)>);

fn program<R: Room>((setup, threads): &Chosen) -> Option<Program<R>> {
    let (setups, roles) = (R::setups(), R::roles());
    let thread = |(role, steps): &(usize, Vec<usize>)| {
        let mut thread = Thread::<R> { role: roles[role % roles.len()], steps: Vec::new() };
        for chosen in steps {
            let nexts = nexts::<R>(thread.role, &thread.steps);
            if let Some(step) = nexts.get(chosen % nexts.len().max(1)) {
                thread.steps.push(*step);
            }
        }
        thread
    };
    let program = Program { setup: setups[setup % setups.len()], threads: threads.iter().map(thread).collect() };
    R::is_worth_it(&program.roles()).then_some(program)
}

fn holds<R: Room>() {
    let threads = prop::collection::vec((0..8_usize, prop::collection::vec(0..64_usize, 1..=4)), 2..=3);
    let asked = std::env::var("PROPTEST_CASES").ok();
    let cases = asked.map_or(PROGRAMS, |n| n.parse().expect("PROPTEST_CASES is a number"));
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let ran = runner.run(&(0..4_usize, threads), |chosen| {
        let Some(program) = program::<R>(&chosen) else { return Ok(()) };
        let program = Arc::new(program);
        let report = explore(&program, Some(EXECUTIONS), Some(1));
        let why = |failure: rc11::engine::Counterexample| {
            failure.failure.why.sentence(&failure.graph, |n| format!("thread {n}"))
        };
        report.failure.map_or(Ok(()), |failure| Err(TestCaseError::fail(why(failure))))
    });
    ran.unwrap_or_else(|why| panic!("{why}"));
}

mod every_random_program_is_explained {
    use super::*;

    #[test]
    fn of_a_barrier() {
        holds::<barrier::Barriers>();
    }
    #[test]
    fn of_a_broadcast() {
        holds::<broadcast::Broadcasts>();
    }
    #[test]
    fn of_a_tree_of_tokens() {
        holds::<cancellation::Cancellations>();
    }
    #[test]
    fn of_a_channel() {
        holds::<chan::Chans>();
    }
    #[test]
    fn of_a_condition_variable() {
        holds::<cond::Conds>();
    }
    #[test]
    fn of_a_set_of_tasks() {
        holds::<join_set::JoinSets>();
    }
    #[test]
    fn of_a_notify() {
        holds::<notify::Notifies>();
    }
    #[test]
    fn of_a_oneshot() {
        holds::<oneshot::Oneshots>();
    }
    #[test]
    fn of_slots_that_are_held() {
        holds::<permits::Permits>();
    }
    #[test]
    fn of_a_semaphore() {
        holds::<semaphore::Semaphores>();
    }
    #[test]
    fn of_a_wait_group() {
        holds::<wait_group::WaitGroups>();
    }
    #[test]
    fn of_a_watch() {
        holds::<watch::Watches>();
    }
}
