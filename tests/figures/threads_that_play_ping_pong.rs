//! T1 and T2 are goroutines that are bound to their threads. Which core a thread runs on is the system's affair; the right
//! to one is a P, and that stands for the figures' cores.

use super::figures::threads;
use super::lifelines::turns;
use super::scenarios::{SEED, threads_that_play};
use super::{count, executions};
use spinpark::trace::{State, What};

/// Of the first turns: the G, what it does, and on which M.
fn first(many: usize) -> Vec<(usize, &'static str, u32)> {
    let turns = turns(&threads(), ["T1", "T2"]);
    let short = |state| if state == State::Executing { "executes" } else { "waits" };
    turns.iter().take(many).map(|turn| (turn.who, short(turn.state), turn.m.expect("it has one") + 1)).collect()
}

#[test]
fn figure_14_t2_gets_the_message_on_a_thread_of_its_own() {
    assert_eq!(first(3), [(0, "executes", 3), (0, "waits", 3), (1, "executes", 1)]);
}

#[test]
fn figure_15_there_and_back_takes_four_switches_and_t1_goes_on_under_another_p() {
    assert_eq!(first(5)[2..], [(1, "executes", 1), (1, "waits", 1), (0, "executes", 3)]);
    let turns = turns(&threads(), ["T1", "T2"]);
    // Off T1, on T2, off T2, on T1.
    assert_eq!(turns[1..5].len(), 4);
    assert_ne!(turns[0].p, turns[4].p);
}

#[test]
fn every_message_of_a_long_game_changes_the_thread() {
    const ROUNDS: usize = 100;
    let play = threads_that_play(SEED, ROUNDS);
    let turns = executions(&play);
    let switches = turns.windows(2).filter(|two| two[0].m != two[1].m).count();
    assert!(switches >= 2 * ROUNDS, "{switches} switches for {} messages", 2 * ROUNDS);
    for two in turns.windows(2) {
        assert_eq!(two[0].g == two[1].g, two[0].m == two[1].m, "{} {}", two[0], two[1]);
    }
    let waits = count(&play, |record| matches!(record.what, What::Waiting { .. }));
    assert!(waits >= 2 * ROUNDS, "for each message received a thread has waited: {waits}");
}
