//! How late things are: the row's first figure is what 99 of 100 stay below.

use super::*;
use crate::rows::{http, tails};
use std::time::Duration;

const TAIL: Row = Row { figures: LATE, at_most_rounds: 9, countable: false, ..USUAL };

const fn hogs(setup: Setup, micros: u64) -> Setup {
    Setup { beside: Some(Hogs { computes: Duration::from_micros(micros), yields: true }), ..setup }
}

const ECHO: Row = Row {
    operation: "a round trip",
    full: 400,
    quick: 20,
    contenders: contenders!(
        tails::echo,
        Contender::go("echo_late"),
        Contender::ours("spinpark-go", goroutines::tails::echo)
    ),
    ..TAIL
};

/// With tasks that compute ten milliseconds.
const LONG: Row = Row { full: 60, quick: 5, at_most_rounds: 5, ..ECHO };

const TIMERS: Row = Row {
    operation: "a sleep",
    full: 2_000,
    quick: 100,
    tally: crate::rows::timers::tally_of_slept,
    contenders: contenders!(
        tails::timers,
        Contender::go("timers_late"),
        Contender::ours("spinpark-go", goroutines::tails::timers)
    ),
    ..TAIL
};

const FAN: Row = Row {
    operation: "a request",
    full: 1_000,
    quick: 20,
    setup: ONE.wide(16),
    tally: crate::rows::sparse::tally,
    contenders: contenders!(
        tails::fan_out,
        Contender::go("fan_out"),
        Contender::ours("spinpark-go", goroutines::tails::fan_out)
    ),
    ..TAIL
};

const HTTP: Row = Row {
    operation: "a request",
    full: 8_000,
    quick: 2_000,
    at_most_rounds: 5,
    contenders: contenders!(http::open),
    ..TAIL
};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "echo_hogs",
        what: "round trips over TCP beside two tasks that compute 1 ms and yield, again and again",
        setup: hogs(ONE, 1_000),
        ..ECHO
    },
    Row { name: "echo_hogs_2", what: "the same on two workers, beside four", setup: hogs(TWO, 1_000), ..ECHO },
    Row { name: "echo_hogs_short", what: "they compute 0.1 ms", setup: hogs(ONE, 100), ..ECHO },
    Row { name: "echo_hogs_long", what: "they compute 10 ms", setup: hogs(ONE, 10_000), ..LONG },
    Row { name: "echo_hogs_long_2", what: "the same on two workers, beside four", setup: hogs(TWO, 10_000), ..LONG },
    Row {
        name: "echo_hogs_end_2",
        what: "they compute 1 ms and end, each spawned by a task that waits for it; two workers",
        setup: Setup { beside: Some(Hogs { computes: Duration::from_millis(1), yields: false }), ..TWO },
        ..LONG
    },
    Row {
        name: "timer_hogs",
        what: "20 tasks sleep 1 to 10 ms, beside two that compute 1 ms and yield",
        setup: hogs(ONE, 1_000),
        ..TIMERS
    },
    Row { name: "timer_hogs_2", what: "the same on two workers, beside four", setup: hogs(TWO, 1_000), ..TIMERS },
    Row {
        name: "timer_blocked_2",
        what: "20 tasks sleep 1 to 10 ms, beside four that block for 1 ms, again and again; two workers",
        setup: TWO,
        contenders: contenders!(
            tails::blocked,
            Contender::go("blocked_late"),
            Contender::ours("spinpark-go", goroutines::tails::blocked)
        ),
        ..TIMERS
    },
    Row { name: "fan_out", what: "each request asks 16 servers at once, over TCP, by a task each", ..FAN },
    Row { name: "fan_out_2", what: "the same on two workers", setup: TWO.wide(16), ..FAN },
    Row {
        name: "echo_1000_2",
        what: "round trips over 1000 TCP connections at once, two workers",
        full: 20_000,
        quick: 2_000,
        setup: TWO.wide(1000),
        tally: yields::tally,
        ..ECHO
    },
    Row {
        name: "http_2",
        what: "hyper's server; 64 connections ask at fixed times, 4,000 a second in all; two workers",
        setup: TWO.wide(64),
        ..HTTP
    },
    Row { name: "http_1000_2", what: "the same over 1000 connections", setup: TWO.wide(1000), ..HTTP },
    Row {
        name: "last_2",
        what: "100 round trips of two tasks, then one message more, after which its sender computes for 1 ms; two workers",
        operation: "a last message",
        full: 200,
        quick: 10,
        setup: TWO,
        tally: tails::tally_of_last,
        contenders: contenders!(
            tails::last,
            Contender::go("last"),
            Contender::ours("spinpark-go", goroutines::tails::last)
        ),
        ..TAIL
    },
];
