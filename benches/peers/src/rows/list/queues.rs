//! Run queues, without a runtime.

use super::*;
use crate::rows::queues;

pub(super) static ROWS: &[Row] = &[
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
];
