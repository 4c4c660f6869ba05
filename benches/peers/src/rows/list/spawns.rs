//! Tasks that end at once.

use super::*;
use crate::rows::spawns;

pub(super) static ROWS: &[Row] = &[
    Row {
        name: "spawn_join",
        what: "a task spawns tasks that add their number to a sum, keeps the handles, then awaits them all",
        operation: "a task",
        full: 10_000,
        quick: 500,
        tally: spawns::tally,
        contenders: contenders!(
            spawns::join,
            Contender::peer("may", may::spawn_join),
            Contender::ours("spinpark-go", goroutines::spawn_join)
        ),
        ..USUAL
    },
    Row {
        name: "spawn_detached",
        what: "the same without handles: the last task wakes the first",
        operation: "a task",
        full: 10_000,
        quick: 500,
        tally: spawns::tally,
        contenders: contenders!(
            spawns::detached,
            Contender::peer("may", may::spawn_detached),
            Contender::ours("spinpark-go", goroutines::spawn_detached),
        ),
        ..USUAL
    },
    Row {
        name: "spawn_chain",
        what: "each task spawns the next and ends",
        operation: "a task",
        full: 20_000,
        quick: 500,
        tally: spawns::tally,
        contenders: contenders!(
            spawns::chain,
            Contender::peer("may", may::spawn_chain),
            Contender::ours("spinpark-go", goroutines::spawn_chain),
        ),
        ..USUAL
    },
    Row {
        name: "tree",
        what: "a binary tree of depth 14: each inner task spawns two and awaits both, each leaf returns 1",
        operation: "a task",
        full: (1 << 15) - 1,
        quick: (1 << 9) - 1,
        tally: spawns::tally_of_tree,
        contenders: contenders!(
            spawns::tree,
            Contender::peer("may", may::tree).at_most((1 << 14) - 1),
            Contender::ours("spinpark-go", goroutines::tree)
        ),
        ..USUAL
    },
];
