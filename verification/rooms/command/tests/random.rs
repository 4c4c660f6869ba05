//! Larger programs at random, each sampled on RC11; one that fails is made smaller.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use spinpark_rooms::explore::Played;
use spinpark_rooms::program::Chosen;
use spinpark_rooms_command::ROOMS;

/// So many programs of each room, unless `PROPTEST_CASES` says otherwise: `.ci/nightly` asks for more.
const PROGRAMS: u32 = 60;

/// So many executions of each program.
const EXECUTIONS: u64 = 200;

fn holds(room: &Played) {
    let threads = prop::collection::vec((0..8_usize, prop::collection::vec(0..64_usize, 1..=4)), 2..=3);
    let asked = std::env::var("PROPTEST_CASES").ok();
    let cases = asked.map_or(PROGRAMS, |n| n.parse().expect("PROPTEST_CASES is a number"));
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let ran = runner.run(&(0..4_usize, threads), |chosen| {
        room.sample(&chosen, EXECUTIONS).map_or(Ok(()), |why| Err(TestCaseError::fail(why)))
    });
    ran.unwrap_or_else(|why| panic!("{}: {why}", room.name));
}

/// Two threads for all rooms: the rooms are many, and the cores of a machine few.
mod every_random_program_is_explained {
    use super::*;

    #[test]
    fn of_every_other_room() {
        ROOMS.iter().step_by(2).for_each(holds);
    }
    #[test]
    fn of_the_rooms_between() {
        ROOMS.iter().skip(1).step_by(2).for_each(holds);
    }
}

/// What failed once.
mod is_explained_still {
    use super::*;

    fn failed_once(room: &str, chosen: &Chosen) {
        let room = ROOMS.iter().find(|declared| declared.name == room).expect("a room");
        assert_eq!(room.sample(chosen, 20 * EXECUTIONS), None);
    }

    /// A sleeper sees the flag of the end, another does not, and both are out of the shard when the closer counts it.
    #[test]
    fn two_sleepers_between_the_flag_of_the_end_and_the_count() {
        failed_once("timers", &(0, vec![(0, vec![0, 5]), (0, vec![0, 3]), (3, vec![0])]));
    }

    /// Two thieves empty the queues, and one of them has not seen all that the other took: to it they do not seem empty.
    #[test]
    fn two_thieves_beside_a_put() {
        failed_once("local", &(0, vec![(1, vec![0, 11]), (2, vec![45]), (1, vec![22, 20])]));
    }

    /// A deadlock is reported to a thread; the other rings its bell, and asks again.
    #[test]
    fn a_thread_that_gives_up_is_rung_and_does_not_count() {
        failed_once("at_rest", &(0, vec![(0, vec![0]), (1, vec![15, 27, 15])]));
    }
}
