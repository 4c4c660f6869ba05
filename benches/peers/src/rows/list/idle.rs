//! Tasks that wait, and runtimes with little to do.

use super::*;
use crate::rows::{memory, sparse};

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
        figures: &[
            CPU,
            Figure { name: "switches", unit: "" },
            Figure { name: "late, half", unit: "us" },
            Figure { name: "late, 99 of 100", unit: "us" },
        ],
        tally: sparse::tally,
        contenders: contenders!(
            sparse::open,
            Contender::peer("may-mpsc", may::sparse),
            Contender::ours("spinpark-go-chan", goroutines::sparse)
        ),
        ..USUAL
    },
];
