//! The rows. Each file has workloads; this one says which contenders do them, how often, and what must come out.

pub(crate) mod echo;
pub(crate) mod memory;
mod pingpong;
pub(crate) mod pread;
mod queues;
mod sleepers;
pub(crate) mod sparse;
pub(crate) mod spawns;
pub(crate) mod timers;
mod yields;

use crate::contenders::may;
use crate::contenders::smol::Smol;
use crate::contenders::spinpark::Spinpark;
use crate::contenders::spinpark_go as goroutines;
use crate::contenders::tokio::Tokio;
use crate::row::{CPU, Contender, Figure, Row, Setup, TIME};

const ONE: Setup = Setup { workers: 1, width: 1 };
const TWO: Setup = Setup { workers: 2, width: 1 };

impl Setup {
    const fn wide(self, width: u64) -> Setup {
        Setup { width, ..self }
    }
}

/// What a row is if it does not say otherwise.
const USUAL: Row = Row {
    name: "",
    what: "",
    operation: "",
    full: 0,
    quick: 0,
    at_most_rounds: usize::MAX,
    setup: ONE,
    figures: &[TIME],
    tally: yields::tally,
    contenders: &[],
    counting: false,
    fresh: false,
    countable: true,
};

/// The async contenders with the workload `$open`, and others.
macro_rules! contenders {
    ($($open:ident)::+ $(, $other:expr)* $(,)?) => {
        &[
            Contender::peer("tokio", $($open)::+::<Tokio>),
            Contender::peer("smol", $($open)::+::<Smol>),
            $($other,)*
            Contender::ours("spinpark", $($open)::+::<Spinpark>),
        ]
    };
}

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

/// All rows, in the order in which they are measured.
pub static ROWS: &[Row] = &[
    Row {
        name: "queue_owner",
        what: "a local run queue that holds 64: its owner pushes one and takes one",
        operation: "a push and a pop",
        full: 500_000,
        quick: 10_000,
        tally: queues::tally_of_owner,
        contenders: &[
            Contender::peer("crossbeam-deque", queues::owner::<queues::Crossbeam>),
            Contender::peer("st3", queues::owner::<queues::St3>),
            Contender::peer("concurrent-queue", queues::owner::<queues::Concurrent>),
            Contender::ours("spinpark-runq", queues::owner::<queues::Runq>),
            Contender::ours("spinpark-local", queues::owner::<queues::Local>),
        ],
        ..USUAL
    },
    Row {
        name: "queue_steal",
        what: "64 are pushed; a thief on the same thread takes half of what is there, and runs it, until nothing is left",
        operation: "a G pushed, stolen and taken",
        full: 320_000,
        quick: 6_400,
        tally: queues::tally,
        contenders: &[
            Contender::peer("crossbeam-deque", queues::steal::<queues::Crossbeam>),
            Contender::peer("st3", queues::steal::<queues::St3>),
            Contender::peer("concurrent-queue", queues::steal::<queues::Concurrent>),
            Contender::ours("spinpark-runq", queues::steal::<queues::Runq>),
            Contender::ours("spinpark-local", queues::steal::<queues::Local>),
        ],
        ..USUAL
    },
    Row {
        name: "queue_steal_2",
        what: "the owner pushes on one thread as long as there are fewer than 256; a thief on another takes all, by halves",
        operation: "a G pushed, stolen and taken",
        full: 500_000,
        quick: 10_000,
        setup: TWO,
        tally: queues::tally,
        contenders: &[
            Contender::peer("crossbeam-deque", queues::steal_2::<queues::Crossbeam>),
            Contender::peer("st3", queues::steal_2::<queues::St3>),
            Contender::peer("concurrent-queue", queues::steal_2::<queues::Concurrent>),
            Contender::ours("spinpark-runq", queues::steal_2::<queues::Runq>),
            Contender::ours("spinpark-local", queues::steal_2::<queues::Local>),
        ],
        countable: false,
        ..USUAL
    },
    Row {
        name: "yield_one",
        what: "the only task yields",
        operation: "a yield",
        full: 50_000,
        quick: 2_000,
        contenders: contenders!(
            yields::open,
            Contender::peer("may", may::yields),
            Contender::ours("spinpark-go", goroutines::yields)
        ),
        ..USUAL
    },
    Row {
        name: "yield_hundred",
        what: "100 tasks yield in turn",
        operation: "a yield",
        full: 50_000,
        quick: 2_000,
        setup: ONE.wide(100),
        contenders: contenders!(
            yields::open,
            Contender::peer("may", may::yields),
            Contender::ours("spinpark-go", goroutines::yields)
        ),
        ..USUAL
    },
    Row {
        name: "pingpong",
        what: "two tasks send a number to and fro: async-channel, bounded(1), in all; -mpsc are the runtime's own channels",
        operation: "a round trip",
        full: 10_000,
        quick: 500,
        tally: pingpong::tally,
        contenders: contenders!(
            pingpong::open,
            Contender::peer("tokio-mpsc", pingpong::tokio_mpsc),
            Contender::peer("may-mpsc", may::pingpong),
            Contender::ours("spinpark-chan", pingpong::spinpark_chan),
            Contender::ours("spinpark-go-chan", goroutines::pingpong),
        ),
        ..USUAL
    },
    Row {
        name: "pairs",
        what: "64 pairs of tasks send a number to and fro: async-channel, bounded(1)",
        operation: "a round trip",
        full: 19_200,
        quick: 640,
        setup: ONE.wide(64),
        figures: &[TIME, CPU],
        tally: pingpong::tally,
        contenders: contenders!(pingpong::pairs),
        ..USUAL
    },
    Row {
        name: "pairs_2",
        what: "the same on two workers",
        operation: "a round trip",
        full: 19_200,
        quick: 640,
        setup: TWO.wide(64),
        figures: &[TIME, CPU],
        tally: pingpong::tally,
        contenders: contenders!(pingpong::pairs),
        ..USUAL
    },
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
    Row {
        name: "echo_one",
        what: "64 bytes to and fro over a TCP connection; client and server are tasks of the same runtime",
        operation: "a round trip",
        full: 1_000,
        quick: 100,
        figures: &[TIME, CPU],
        tally: yields::tally,
        contenders: contenders!(
            echo::open,
            Contender::peer("may", may::echo),
            Contender::ours("spinpark-go", goroutines::echo),
            Contender::ours("spinpark-uring", echo::uring),
        ),
        ..USUAL
    },
    Row {
        name: "echo_fifty",
        what: "the same over 50 connections at once",
        operation: "a round trip",
        full: 2_500,
        quick: 500,
        setup: ONE.wide(50),
        figures: &[TIME, CPU],
        tally: yields::tally,
        contenders: contenders!(
            echo::open,
            Contender::peer("may", may::echo),
            Contender::ours("spinpark-go", goroutines::echo),
            Contender::ours("spinpark-uring", echo::uring),
        ),
        ..USUAL
    },
    Row {
        name: "echo_one_2",
        what: "one connection, two workers",
        operation: "a round trip",
        full: 1_000,
        quick: 100,
        setup: TWO,
        figures: &[TIME, CPU],
        tally: yields::tally,
        contenders: contenders!(
            echo::open,
            Contender::peer("may", may::echo),
            Contender::ours("spinpark-go", goroutines::echo),
            Contender::ours("spinpark-uring", echo::uring),
        ),
        ..USUAL
    },
    Row {
        name: "echo_fifty_2",
        what: "50 connections, two workers",
        operation: "a round trip",
        full: 2_500,
        quick: 500,
        setup: TWO.wide(50),
        figures: &[TIME, CPU],
        tally: yields::tally,
        contenders: contenders!(
            echo::open,
            Contender::peer("may", may::echo),
            Contender::ours("spinpark-go", goroutines::echo),
            Contender::ours("spinpark-uring", echo::uring),
        ),
        ..USUAL
    },
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
