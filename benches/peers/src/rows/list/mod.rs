//! Which contenders do a row's workload, how often, and what must come out.

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

mod calls;
mod idle;
mod queues;
mod sockets;
mod spawns;
mod tails;
mod timers;
mod turns;

use crate::contenders::may;
use crate::contenders::smol::Smol;
use crate::contenders::spinpark::Spinpark;
use crate::contenders::spinpark_go as goroutines;
use crate::contenders::tokio::Tokio;
use crate::row::{CPU, Contender, Figure, Hogs, LATE, LATE_99, LATE_999, LATE_HALF, LATE_MOST, Row, Setup, TIME};
use crate::rows::yields;

/// All rows, in the order in which they are measured.
pub fn all() -> impl Iterator<Item = &'static Row> {
    let groups =
        [queues::ROWS, turns::ROWS, spawns::ROWS, calls::ROWS, timers::ROWS, sockets::ROWS, tails::ROWS, idle::ROWS];
    groups.into_iter().flatten()
}

const ONE: Setup = Setup { workers: 1, width: 1, beside: None };
const TWO: Setup = Setup { workers: 2, ..ONE };
/// More than there are processors: what a container sees that may use a part of a machine.
const EIGHT: Setup = Setup { workers: 8, ..ONE };

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
