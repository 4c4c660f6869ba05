use super::figures::goroutines;
use super::lifelines::turns;
use super::scenarios::{Play, SEED, goroutines_that_play};
use super::{executions, is_start};
use crate::scenarios::builder;
use spinpark::Builder;
use spinpark::trace::{From, State, What};

const ROUNDS: usize = 1000;

/// Of the first turns: the G, and what it does.
fn first(many: usize) -> Vec<(usize, &'static str)> {
    let short = |state| match state {
        State::Executing => "executes",
        State::Runnable => "is runnable",
        _ => "waits",
    };
    turns(&goroutines(), ["G1", "G2"]).iter().take(many).map(|turn| (turn.who, short(turn.state))).collect()
}

#[test]
fn figure_16_g2_gets_the_message_on_the_m_of_g1() {
    assert_eq!(first(4), [(0, "executes"), (1, "is runnable"), (0, "waits"), (1, "executes")]);
    assert_all_on_one_m(&goroutines());
}

#[test]
fn figure_17_there_and_back_nobody_leaves_m1() {
    assert_eq!(first(7)[4..], [(0, "is runnable"), (1, "waits"), (0, "executes")]);
    assert_all_on_one_m(&goroutines());
}

/// 1000 times there and back.
fn long_game(builder: Builder) -> Play {
    goroutines_that_play(builder.procs(1), ROUNDS)
}

fn assert_all_on_one_m(play: &Play) {
    let turns = executions(play);
    for turn in &turns {
        assert_eq!((turn.m, turn.p), (Some(0), Some(0)), "{turn}");
    }
    assert_eq!(super::count(play, is_start), 1, "M1, at the start");
}

/// Each that was woken by the other was its P's next, and ran from there.
fn assert_all_by_runnext(play: &Play) {
    let mut woken = 0;
    for (at, record) in play.trace.records().iter().enumerate() {
        if matches!(record.what, What::Runnable { .. }) && record.by.is_some() {
            woken += 1;
            let rest = &play.trace.records()[at + 1..];
            let runs = rest.iter().find(|later| later.g == record.g && later.state() == Some(State::Executing));
            let runs = runs.expect("a woken G runs");
            assert_eq!(runs.what, What::Executing { from: From::Next }, "{runs}");
        }
    }
    assert!(woken >= 2 * ROUNDS - 1, "{woken} were woken by {} messages", 2 * ROUNDS);
}

/// From the first message to the last no thread was woken, started, or put to sleep.
fn assert_no_thread_stirs(play: &Play) {
    let records = play.trace.records();
    let is_message =
        |record: &spinpark::trace::Record| matches!(record.what, What::Runnable { .. }) && record.by.is_some();
    let first = records.iter().position(is_message).expect("there are messages");
    let last = records.iter().rposition(is_message).expect("there are messages");
    for record in &records[first..last] {
        let stirs = matches!(record.what, What::Woken | What::Starting | What::Slept | What::Polling | What::Spinning);
        assert!(!stirs, "{record}");
    }
}

#[test]
fn a_long_game_stays_on_one_m_goes_by_runnext_and_wakes_no_thread() {
    let play = long_game(builder().deterministic(SEED));
    assert_all_on_one_m(&play);
    assert_all_by_runnext(&play);
    assert_no_thread_stirs(&play);
}

/// The players are made by another thread: the second may wait before the first is there, and then its M sleeps; from the
/// first message on all is as above.
#[test]
fn and_so_it_does_on_a_real_core() {
    // If the machine is busy elsewhere for a slice, P is not to be taken for that.
    let play = long_game(builder().preemption(false));
    assert_all_on_one_m(&play);
    assert_all_by_runnext(&play);
    assert_no_thread_stirs(&play);
}
