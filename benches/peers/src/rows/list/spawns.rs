//! Tasks that end at once.

use super::*;
use crate::rows::spawns;

const MILLION: Row = Row {
    operation: "a task",
    full: 1_000_000,
    quick: 20_000,
    at_most_rounds: 11,
    figures: &[TIME, CPU],
    tally: spawns::tally,
    contenders: contenders!(
        spawns::detached,
        Contender::go("spawn_join"),
        Contender::ours("spinpark-go", goroutines::spawns::detached)
    ),
    countable: false,
    ..USUAL
};

const TREE: Row = Row {
    operation: "a task",
    full: (1 << 15) - 1,
    quick: (1 << 9) - 1,
    tally: spawns::tally_of_tree,
    contenders: contenders!(
        spawns::tree,
        Contender::go("tree"),
        Contender::peer("may", may::spawns::tree).at_most((1 << 14) - 1),
        Contender::ours("spinpark-go", goroutines::spawns::tree)
    ),
    ..USUAL
};

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
            Contender::go("spawn_join"),
            Contender::peer("may", may::spawns::join),
            Contender::ours("spinpark-go", goroutines::spawns::join)
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
            Contender::go("spawn_join"),
            Contender::peer("may", may::spawns::detached),
            Contender::ours("spinpark-go", goroutines::spawns::detached),
        ),
        ..USUAL
    },
    Row { name: "spawn_million", what: "the same, a million of them", ..MILLION },
    Row { name: "spawn_million_2", what: "the same on two workers", setup: TWO, ..MILLION },
    Row {
        name: "spawn_thousands_2",
        what: "1000 tasks spawn 1000 each, without handles; two workers",
        setup: TWO.wide(1000),
        tally: spawns::tally_of_nested,
        contenders: contenders!(spawns::nested, Contender::ours("spinpark-go", goroutines::spawns::nested)),
        ..MILLION
    },
    Row {
        name: "spawn_waves",
        what: "a task spawns 1000 without handles, waits until all have ended, and does it again",
        operation: "a task",
        full: 100_000,
        quick: 4_000,
        tally: spawns::tally_of_waves,
        contenders: contenders!(
            spawns::waves,
            Contender::peer("may", may::spawns::waves),
            Contender::ours("spinpark-go", goroutines::spawns::waves),
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
            Contender::peer("may", may::spawns::chain),
            Contender::ours("spinpark-go", goroutines::spawns::chain),
        ),
        ..USUAL
    },
    Row {
        name: "tree",
        what: "a binary tree of depth 14: each inner task spawns two and awaits both, each leaf returns 1",
        ..TREE
    },
    Row { name: "tree_2", what: "the same on two workers", setup: TWO, figures: &[TIME, CPU], ..TREE },
];
