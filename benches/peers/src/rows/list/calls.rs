//! Calls that may block, and such as do.

use super::*;
use crate::rows::{pread, sleepers};

/// Calls that do block.
const SLEEPERS: Row = Row {
    operation: "a round of 64 sleeps",
    full: 64,
    quick: 64,
    at_most_rounds: 7,
    figures: &[Figure { name: "time", unit: "ms" }, Figure { name: "longest away", unit: "ms" }],
    tally: sleepers::tally,
    contenders: contenders!(sleepers::may_block),
    countable: false,
    ..USUAL
};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "pread",
        what: "a task reads 4 KiB of a cached file, as its runtime says that blocking calls be made; -bare: in the task itself; -fs: by `fs::File`, -uring: the same in a ring",
        operation: "a read",
        full: 2_000,
        quick: 500,
        figures: &[TIME, CPU],
        tally: pread::tally,
        contenders: contenders!(
            pread::open,
            Contender::floor("may-bare", may::pread),
            Contender::floor("tokio-bare", pread::bare::<Tokio>),
            Contender::ours("spinpark-go", pread::go),
            Contender::ours("spinpark-fs", pread::files),
            Contender::ours("spinpark-uring", pread::uring),
        ),
        ..USUAL
    },
    Row {
        name: "pread_long_2",
        what: "the same read, made as a call is that is known to block; two workers",
        operation: "a read",
        full: 1_000,
        quick: 100,
        setup: TWO,
        figures: &[TIME, CPU],
        tally: pread::tally,
        contenders: contenders!(pread::long),
        ..USUAL
    },
    Row {
        name: "pread_busy_2",
        what: "the same, beside four tasks that compute 30 us and yield, again and again",
        operation: "a read",
        full: 1_000,
        quick: 100,
        setup: TWO,
        figures: &[TIME],
        tally: pread::tally,
        contenders: contenders!(pread::beside),
        ..USUAL
    },
    Row {
        name: "sleepers",
        what: "64 tasks sleep 20 ms in the system, at once, beside one that computes 30 us and yields, again and again",
        ..SLEEPERS
    },
    Row { name: "sleepers_2", what: "the same on two workers", setup: TWO, ..SLEEPERS },
    Row {
        name: "sleepers_long_2",
        what: "the same, made as a call is that is known to block",
        setup: TWO,
        contenders: contenders!(sleepers::blocks),
        ..SLEEPERS
    },
];
