//! Tasks that wait, and runtimes with little to do.

use super::*;
use crate::rows::{busy, idle, memory, sparse, spawns};

/// What is asked of messages that are rare.
const MESSAGES: &[Figure] = &[CPU, Figure { name: "switches", unit: "" }, LATE_99, LATE_HALF, LATE_999, LATE_MOST];

const WAKE: Row = Row {
    operation: "a task from outside",
    full: 100,
    quick: 10,
    at_most_rounds: 9,
    figures: LATE,
    tally: spawns::tally,
    contenders: contenders!(
        idle::wake,
        Contender::peer("may", may::wake),
        Contender::ours("spinpark-go", goroutines::wake)
    ),
    ..USUAL
};

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "memory",
        what: "100,000 tasks wait, then all are released and end; may: 10,000; the allocator does not see stacks",
        operation: "a waiting task",
        full: 100_000,
        quick: 2_000,
        at_most_rounds: 5,
        figures: &[
            Figure { name: "allocated", unit: "bytes" },
            Figure { name: "resident", unit: "bytes" },
            Figure { name: "kept", unit: "bytes" },
        ],
        tally: memory::tally,
        contenders: contenders!(
            memory::open,
            Contender::peer("may", may::memory).at_most(10_000),
            Contender::ours("spinpark-go", goroutines::memory)
        ),
        counting: true,
        fresh: true,
        countable: false,
        ..USUAL
    },
    Row {
        name: "sparse_2",
        what: "two idle workers; a thread outside sends to a waiting task, every 2 ms",
        operation: "a message",
        full: 500,
        quick: 20,
        at_most_rounds: 5,
        setup: TWO,
        figures: MESSAGES,
        tally: sparse::tally,
        contenders: contenders!(
            sparse::open,
            Contender::peer("may-mpsc", may::sparse),
            Contender::ours("spinpark-go-chan", goroutines::sparse)
        ),
        ..USUAL
    },
    Row {
        name: "sparse_busy_2",
        what: "a task computes 5 us and sends to a waiting task, again and again, on two workers; the 5 us are left out",
        operation: "a message",
        full: 4_000,
        quick: 100,
        setup: TWO,
        figures: MESSAGES,
        tally: sparse::tally,
        contenders: contenders!(
            busy::open,
            Contender::peer("may-mpsc", may::busy),
            Contender::ours("spinpark-go-chan", goroutines::busy)
        ),
        countable: false,
        ..USUAL
    },
    Row {
        name: "wake_idle",
        what: "a thread outside spawns a task into a runtime that was idle for 5 ms: how soon it starts",
        ..WAKE
    },
    Row { name: "wake_idle_2", what: "the same with two workers", setup: TWO, ..WAKE },
    Row {
        name: "idle_2",
        what: "two workers that have had 1000 tasks to run have none for a second",
        operation: "a task, and a millisecond without any",
        full: 1_000,
        quick: 100,
        at_most_rounds: 5,
        setup: TWO,
        figures: &[Figure { name: "cpu a second", unit: "us" }],
        tally: spawns::tally,
        contenders: contenders!(
            idle::rest,
            Contender::peer("may", may::rest),
            Contender::ours("spinpark-go", goroutines::rest)
        ),
        countable: false,
        ..USUAL
    },
];
