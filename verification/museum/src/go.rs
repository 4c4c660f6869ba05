//! Bugs of Go's scheduler, each made again: in our kernel where the kernel has the line that was wrong, else in a small
//! faithful variant of Go's code.
//!
//! A variant says at each step which function of `runtime/proc.go` it is, or of `time.go`, `netpoll.go`, `chan.go`, or of
//! package `sync`. What has nothing to do with the bug is left out: a queue is a number if only its length matters, a G is a
//! number, an M that sleeps for good is a thread that ends, and what all have ended with is judged.

mod channels;
mod collection;
mod conserved;
mod deadlock;
mod descriptors;
mod fair;
mod kernels;
mod line;
mod locks;
mod poller;
mod queues;
mod stop;
mod timers;
mod too_late;

use crate::common::{Engine, Exhibit, Model, Mutant, Mutation};

/// A bug, the variant that has it, and the model that finds it there.
struct Case {
    exhibit: Exhibit,
    mutant: Mutant,
    model: Model,
}

/// What is told of a bug of Go's. The order: what happened to people, why, what mended it.
const fn told(
    name: &'static str,
    issue: &'static str,
    year: u16,
    mutant: &'static str,
    story: [&'static str; 3],
) -> Exhibit {
    let [people, cause, fix] = story;
    Exhibit { name, project: "Go", issue, year, people, cause, fix, source: crate::Source::Read, mutant }
}

/// A variant, killed by `model` on `engines`.
const fn variant(name: &'static str, what: &'static str, killed_by: &'static [(&'static str, Engine)]) -> Mutant {
    Mutant { name, room: "museum", what, mutation: Mutation::Variant(name), killed_by }
}

macro_rules! cases {
    ($($case:expr),* $(,)?) => {
        /// The variants' models.
        pub const MODELS: &[Model] = &[$($case.model),*];
        /// The variants.
        pub const MUTANTS: &[Mutant] = &[$($case.mutant),*];
        /// What is told of them.
        const OF_TWINS: &[Exhibit] = &[$($case.exhibit),*];
    };
}

cases![
    conserved::SPINS_IN_VAIN,
    conserved::STALE_IDLE_COUNT,
    conserved::SEARCH_IGNORES_A_SOURCE,
    timers::NOBODY_LOOKS_AGAIN,
    timers::FILLED_RING,
    timers::WAITS_FOR_ITSELF,
    poller::HALF_MADE,
    poller::SWALLOWED_BREAK,
    poller::NOT_BROKEN,
    poller::READ_BY_ANOTHER,
    deadlock::LOWERED_TOO_EARLY,
    deadlock::NOBODYS_P,
    deadlock::UNBORN_M,
    collection::PUT_ASIDE_WITH_IT,
    queues::BETWEEN_TWO_READS,
    queues::UNLOCKED_BATCH,
    queues::LINKED_BEFORE_IT_IS_OURS,
    fair::ENDLESS_SLICE,
    fair::NEVER_THE_SAME_TICK,
    fair::SLOT_WITHOUT_A_MONITOR,
    stop::STALE_AFTER_THE_NOTE,
    stop::UNBORN_TEMPLATE,
    stop::P_IN_HAND,
    stop::WOKEN_ON_THE_WRONG_NOTE,
    line::LEFT_BEHIND,
    line::LET_IN_EARLY,
    line::OVERTAKEN,
    locks::BIT_AND_LOCK,
    locks::DEADLINE_AND_TIMERS,
    locks::LOCK_OF_THE_SUSPENDED,
    too_late::NO_LONGER_OURS,
    too_late::FREED_SNAPSHOT,
    channels::SHRUNK_WHILE_IT_PARKS,
    channels::A_LATER_WAITER,
    descriptors::COUNTED_AGAIN,
    descriptors::EVENT_OF_ANOTHER,
];

/// The bugs.
pub const EXHIBITS: &[Exhibit] = &{
    let mut all = [kernels::EXHIBITS[0]; kernels::EXHIBITS.len() + OF_TWINS.len()];
    let mut i = 0;
    while i < all.len() {
        let ours = kernels::EXHIBITS.len();
        all[i] = if i < ours { kernels::EXHIBITS[i] } else { OF_TWINS[i - ours] };
        i += 1;
    }
    all
};
