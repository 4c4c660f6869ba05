//! Timers.

use super::*;
use crate::rows::timers;

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
    Row {
        name: "timer_sleep",
        what: "1000 tasks sleep at once, each 1 to 10 ms, by microseconds",
        operation: "a sleep",
        full: 1_000,
        quick: 200,
        figures: &[CPU, Figure { name: "late, half", unit: "us" }, Figure { name: "late, 99 of 100", unit: "us" }],
        tally: timers::tally_of_slept,
        contenders: contenders!(
            timers::sleep,
            Contender::peer("may", may::timers),
            Contender::ours("spinpark-go", goroutines::timers)
        ),
        countable: false,
        ..USUAL
    },
];
