//! Tasks that take turns: they yield, or send to one another.

use super::*;
use crate::rows::pingpong;

const YIELDS: Row = Row {
    operation: "a yield",
    full: 50_000,
    quick: 2_000,
    contenders: contenders!(
        yields::open,
        Contender::go("yields"),
        Contender::peer("may", may::yields),
        Contender::ours("spinpark-go", goroutines::yields)
    ),
    ..USUAL
};

/// More of them, because the tasks have to be spawned too.
const THOUSAND: Row = Row { full: 500_000, quick: 4_000, ..YIELDS };

const PAIRS: Row = Row {
    operation: "a round trip",
    full: 19_200,
    quick: 640,
    setup: ONE.wide(64),
    figures: &[TIME, CPU],
    tally: pingpong::tally,
    contenders: contenders!(pingpong::pairs, Contender::go("pairs")),
    ..USUAL
};

const PINGPONG: Row = Row {
    operation: "a round trip",
    full: 10_000,
    quick: 500,
    tally: pingpong::tally,
    contenders: contenders!(
        pingpong::open,
        Contender::go("pingpong"),
        Contender::peer("tokio-mpsc", pingpong::tokio_mpsc),
        Contender::peer("may-mpsc", may::pingpong),
        Contender::ours("spinpark-chan", pingpong::spinpark_chan),
        Contender::ours("spinpark-go-chan", goroutines::pingpong),
    ),
    ..USUAL
};

pub(super) static ROWS: &[Row] = &[
    Row { name: "yield_one", what: "the only task yields", ..YIELDS },
    Row { name: "yield_hundred", what: "100 tasks yield in turn", setup: ONE.wide(100), ..YIELDS },
    Row { name: "yield_thousand", what: "1000 tasks yield in turn", setup: ONE.wide(1000), ..THOUSAND },
    Row {
        name: "yield_thousand_2",
        what: "the same on two workers",
        setup: TWO.wide(1000),
        figures: &[TIME, CPU],
        ..THOUSAND
    },
    Row {
        name: "yield_thousand_8",
        what: "the same on eight workers",
        setup: EIGHT.wide(1000),
        figures: &[TIME, CPU],
        ..THOUSAND
    },
    Row {
        name: "pingpong",
        what: "two tasks send a number to and fro: async-channel, bounded(1), in all; -mpsc are the runtime's own channels",
        ..PINGPONG
    },
    Row { name: "pingpong_2", what: "the same on two workers", setup: TWO, figures: &[TIME, CPU], ..PINGPONG },
    Row { name: "pairs", what: "64 pairs of tasks send a number to and fro: async-channel, bounded(1)", ..PAIRS },
    Row { name: "pairs_2", what: "the same on two workers", setup: TWO.wide(64), ..PAIRS },
    Row { name: "pairs_8", what: "the same on eight workers", setup: EIGHT.wide(64), ..PAIRS },
];
