//! Models of `monitor`: when it looks, what it does then with each P, and how it ends. One thread plays the monitor and all
//! Ms of a whole scheduler, each in its turn; what is enumerated is what the monitor meets.
//!
//! How long it should nap is told from the list of its looks, and what it should do with a P from the list of what it
//! has seen of that; both as Go's monitor is described.

mod looks;
mod naps;
mod sleepers;

use crate::model::{Model, sc};
use crate::mutation::mutant::Mutant;
use looks::{one_interrupted, one_signal, refusals, three_looks, three_looks_at_the_wrap};
use naps::{eighty_naps, eleven_naps};
use sleepers::{no_thread, sleepers, ten_naps, two_sleepers};

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("monitor::comes_when_go_would::eleven_naps", eleven_naps,
        claim: "the monitor naps shortly, longer while there is nothing to see, and then until it is woken, which it is",
        size: "one thread plays all: the monitor, 1 P; each of 9 pairs of events in each two of 11 naps",
        invariants: [32, 43],
        must_reach: ["Nothing, Submit", "Refused(2)", "Stop, Start", "Rest, Submit", "Next, Call"],
        runs: [sc()]),
    crate::model!("monitor::comes_when_go_would::eighty_naps", eighty_naps,
        claim: "the monitor comes ever later, sooner if a G should yield, and soon again if anything happens",
        size: "one thread plays all: the monitor, 1 M, 1 or 2 Ps; each of 4 events in each of 6 of 80 naps",
        invariants: [43],
        must_reach: ["Nothing", "Call", "Next", "Rest"],
        runs: [sc()]),
    crate::model!("monitor::ends_ms_that_sleep_for_long::three_sleepers", sleepers,
        claim: "an M that has slept for as long as it may is ended, not earlier, the first to fall asleep first, never the last",
        size: "one thread plays all: the monitor, 3 Ms; each of 5 times they may sleep, 9 orders of falling asleep",
        invariants: [32],
        must_reach: ["one stays", "all stay"],
        runs: [sc()]),
    crate::model!("monitor::ends_ms_that_sleep_for_long::two_sleepers", two_sleepers,
        claim: "an M that takes an idle P ends the monitor's deep sleep, and no nap; one that finds none, since the \
                world is stopped, does not",
        size: "one thread plays all: the monitor, 2 Ms, a stopper; a G is submitted in each of 5 of 15 naps",
        invariants: [32],
        must_reach: ["it is woken", "it sleeps on"],
        runs: [sc()]),
    crate::model!("monitor::ends_with_the_last_m::ten_naps", ten_naps,
        claim: "when the scheduler is closed the monitor ends with the last M, however long it would nap",
        size: "one thread plays all: the monitor, no M or 1; closed in each of 10 naps, and before; 44 ends",
        invariants: [36],
        must_reach: ["after 0 naps", "after 1 naps", "after 10 naps", "after 12 naps"],
        runs: [sc()]),
    crate::model!("monitor::ends_with_the_last_m::no_thread", no_thread,
        claim: "if there is no thread for the monitor, the closer of the scheduler does not wait for it",
        size: "one thread plays all: no M or 1",
        invariants: [36],
        must_reach: ["closed when M0 ended", "closed at once"],
        runs: [sc()]),
    crate::model!("monitor::does_with_each_p_what_go_would::three_looks", three_looks,
        claim: "a P is taken out of a call, or its G asked to yield, when Go would; what is taken is run, or idle",
        size: "one thread plays all: 2 Ps, each in one of 4 states; 3 looks, each of 9 times apart; 288 plays",
        invariants: [20, 21, 43],
        must_reach: ["P0 is asked, P1 is asked, P0 is asked again, P1 is asked again", "P0 is retaken, P1 is retaken"],
        runs: [sc()]),
    crate::model!("monitor::does_with_each_p_what_go_would::three_looks_at_the_wrap", three_looks_at_the_wrap,
        claim: "the same as the numbers of takings and of dispatches wrap around",
        size: "one thread plays all: 2 Ps, each in one of 4 states; 3 looks, each of 9 times apart; 288 plays",
        invariants: [20, 21, 43],
        must_reach: ["P0 is asked, P1 is asked, P0 is asked again, P1 is asked again", "P0 is retaken, P1 is retaken"],
        runs: [sc()]),
    crate::model!("monitor::does_with_each_p_what_go_would::one_signal", one_signal,
        claim: "when it is said that a G is asked to yield, it can see so",
        size: "one thread plays all: 1 P, 1 M; 3 looks, the last of which is late, or not",
        invariants: [43],
        must_reach: ["asked"],
        runs: [sc()]),
    crate::model!("monitor::does_with_each_p_what_go_would::one_interrupted", one_interrupted,
        claim: "a P whose G was interrupted is taken at the monitor's first look if a stop or a safepoint wants it",
        size: "one thread plays all: 2 Ms, 2 Ps, a stopper; each of 3 wishes",
        invariants: [41],
        must_reach: ["No", "ToStop", "ForASafepoint"],
        runs: [sc()]),
    crate::model!("monitor::tries_again::refusals", refusals,
        claim: "a thread that was refused is asked for at each look of the monitor, until there is one, and then no more",
        size: "one thread plays all: 1 P; 1, 2 or 3 refusals, 4 looks",
        invariants: [30],
        must_reach: ["1 refused", "3 refused"],
        runs: [sc()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = &[];
