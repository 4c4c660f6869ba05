//! Timers.

use super::*;
use crate::rows::timers;

const SLEEP: Row = Row {
    operation: "a sleep",
    full: 1_000,
    quick: 200,
    figures: &[CPU, LATE_99, LATE_HALF, LATE_999, LATE_MOST],
    tally: timers::tally_of_slept,
    contenders: contenders!(
        timers::sleep,
        Contender::go("sleeps"),
        Contender::peer("may", may::timers),
        Contender::ours("spinpark-go", goroutines::timers)
    ),
    countable: false,
    ..USUAL
};

const SLEEPS: Row = Row {
    full: 100_000,
    quick: 2_000,
    at_most_rounds: 11,
    contenders: contenders!(
        timers::sleep,
        Contender::go("sleeps"),
        Contender::peer("may", may::sleeps).at_most(30_000),
        Contender::ours("spinpark-go", goroutines::timers)
    ),
    ..SLEEP
};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "timer_cancel",
        what: "a sleep of a second is made, polled once and dropped",
        operation: "a sleep",
        full: 10_000,
        quick: 500,
        tally: timers::tally_of_cancelled,
        contenders: contenders!(timers::cancel),
        ..USUAL
    },
    Row { name: "timer_sleep", what: "1000 tasks sleep at once, each 1 to 10 ms, by microseconds", ..SLEEP },
    Row { name: "sleeps", what: "the same, 100,000 tasks; may: 30,000", ..SLEEPS },
    Row { name: "sleeps_2", what: "the same on two workers", setup: TWO, ..SLEEPS },
];
