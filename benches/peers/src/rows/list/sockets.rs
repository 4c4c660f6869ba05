//! Sockets.

use super::*;
use crate::rows::{echo, pipes};

/// Connections over which bytes go to and fro.
const ECHO: Row = Row {
    operation: "a round trip",
    full: 1_000,
    quick: 100,
    figures: &[TIME, CPU],
    tally: yields::tally,
    contenders: contenders!(
        echo::open,
        Contender::go("echo"),
        Contender::peer("may", may::echo),
        Contender::ours("spinpark-go", goroutines::echo),
        Contender::ours("spinpark-uring", echo::uring),
    ),
    ..USUAL
};

/// Many at once.
const MANY: Row = Row { full: 2_500, quick: 500, ..ECHO };

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "echo_one",
        what: "64 bytes to and fro over a TCP connection; client and server are tasks of the same runtime",
        ..ECHO
    },
    Row { name: "echo_fifty", what: "the same over 50 connections at once", setup: ONE.wide(50), ..MANY },
    Row { name: "echo_one_2", what: "one connection, two workers", setup: TWO, ..ECHO },
    Row { name: "echo_fifty_2", what: "50 connections, two workers", setup: TWO.wide(50), ..MANY },
    Row { name: "echo_fifty_8", what: "the same, eight workers", setup: EIGHT.wide(50), ..MANY },
    Row {
        name: "pipe",
        what: "64 bytes to and fro over two pipes, by `AsyncFd`, or `Async` of async-io",
        contenders: &[
            Contender::peer("tokio", pipes::tokio),
            Contender::peer("smol", pipes::smol),
            Contender::ours("spinpark", pipes::spinpark),
        ],
        ..ECHO
    },
];
