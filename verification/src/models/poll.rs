//! Models of `poll`: which M waits until when, what is done with what comes, and what the monitor, and a busy M, do for
//! those that wait. One thread plays all Ms of a whole scheduler, each in its turn; what is enumerated is what they meet.
//!
//! What must follow is told in each model, and the transcript must say that and nothing else, in this order.

mod elsewhere;
mod sysmon;
mod waits;

use crate::model::{Model, sc};
use crate::mutation::mutant::Mutant;
use elsewhere::{a_nap, a_turn, extra};
use spinpark_kernel::host::Nanos;
use spinpark_kernel::protocol::sysmon::SLICE;
use sysmon::{no_m_is_left, nobody_waits_there, one_looks_there, one_waits_there, two_ticks, what_it_has_taken};
use waits::{in_vain, on_the_way, one_wait};

/// Some moment.
const NOW: Nanos = 2 * SLICE;
const LATE: Nanos = NOW + 1_000;

/// So `gs` are queued, for every M or under a P.
fn queued(gs: &[u64], whose: &str) -> Vec<String> {
    gs.iter().map(|g| format!("G{g} for {whose}")).collect()
}

/// The two sources are told of a tick.
fn ticks(now: Nanos) -> Vec<String> {
    (0..2).map(|n| format!("source {n} ticks at {now}")).collect()
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("poll::the_monitor_minds_who_waits::nobody_waits_there", nobody_waits_there,
        claim: "if a timer is late, or no M has looked for a slice, the monitor sends one that does, or looks itself",
        size: "one thread plays all: 1 M, 1 or 2 Ps, two sources, a poller; 1 tick at each of 576 moments",
        invariants: [28, 29, 35],
        must_reach: ["left alone", "one is sent", "looked in vain", "found something"],
        runs: [sc()]),
    crate::model!("poll::the_monitor_minds_who_waits::one_waits_there", one_waits_there,
        claim: "the monitor interrupts an M that waits in the poller, if something is due of which the M does not know, or nothing is left to \
            wait for",
        size: "one thread plays all: 1 M, which waits, 1 or 2 Ps; 1 tick at each of 48 moments",
        invariants: [28, 35],
        must_reach: ["left alone", "interrupted"],
        runs: [sc()]),
    crate::model!("poll::the_monitor_minds_who_waits::one_looks_there", one_looks_there,
        claim: "if something is due while a busy M looks into the poller, the monitor sees to it that one more looks",
        size: "one thread plays all: 1 M, which looks, 1 or 2 Ps; 1 tick at each of 8 moments",
        invariants: [28, 35],
        must_reach: ["left alone", "one more is asked for", "one is sent"],
        runs: [sc()]),
    crate::model!("poll::the_monitor_minds_who_waits::no_m_is_left", no_m_is_left,
        claim: "if there is no M that could look for those that wait, though a P is idle, the monitor looks itself",
        size: "one thread plays all: 1 M, which is busy, 2 Ps, a source, a poller; 2 ticks at each of 12 moments",
        invariants: [28, 29, 35],
        must_reach: ["looked in vain", "found something"],
        runs: [sc()]),
    crate::model!("poll::the_monitor_minds_who_waits::what_it_has_taken", what_it_has_taken,
        claim: "while the monitor takes what sources have nothing is said to be at rest, so no deadlock is reported",
        size: "one thread plays all: 1 M, which waits, 1 P, a source, a poller; 1 tick",
        invariants: [25, 29],
        must_reach: ["took nothing", "took something"],
        runs: [sc()]),
    crate::model!("poll::the_monitor_minds_who_waits::two_ticks", two_ticks,
        claim: "the monitor looks into the poller once a slice while all others are busy",
        size: "one thread plays all: 1 M, 1 P, a poller; 2 ticks, 30 times apart",
        invariants: [28, 29, 35],
        must_reach: ["left alone", "looked again"],
        runs: [sc()]),
    crate::model!("poll::the_last_m_waits_there::one_wait", one_wait,
        claim: "the last M waits in the poller while there is anything to wait for, and an idle P gets what it brings",
        size: "one thread plays all: 1 M, 1 or 2 Ps, 3 Gs, which an idle P or none gets; each of 168 waits",
        invariants: [1, 28, 29, 30, 35, 36],
        must_reach: ["nothing to wait for", "brings something", "turns back", "waits again", "sleeps", "ends"],
        runs: [sc()]),
    crate::model!("poll::the_last_m_waits_there::on_the_way", on_the_way,
        claim: "what changes while an M is on its way into the poller is seen before it waits",
        size: "one thread plays all: 1 M, 1 P; each of 6 changes at each of 3 moments",
        invariants: [28, 30, 35, 36],
        must_reach: ["waits for shorter", "waits", "sleeps", "turns back", "ends"],
        runs: [sc()]),
    crate::model!("poll::the_last_m_waits_there::in_vain", in_vain,
        claim: "an M that waits in the poller for what is given up is brought back, and no other",
        size: "one thread plays all: 1 M, 1 P; each of 3 places where the M is",
        invariants: [28, 35],
        must_reach: ["nobody", "one in its parker", "one in the poller"],
        runs: [sc()]),
    crate::model!("poll::the_last_m_waits_there::a_nap", a_nap,
        claim: "where there is no poller, the last M naps in its parker until the next timer, and not longer",
        size: "one thread plays all: 1 M, 1 P, 1 or 2 timers; each of 10 naps",
        invariants: [35, 44],
        must_reach: ["Whole", "None", "Shorter", "Same", "InVain"],
        runs: [sc()]),
    crate::model!("poll::one_look_serves_all::a_turn", a_turn,
        claim: "when it is the global queue's turn, what sources and the poller have is queued, once, and others are told if one of them has to wait",
        size: "one thread plays all: 1 M, 1 or 2 Ps, two sources, a poller; each of 162 turns",
        invariants: [1, 28, 29, 30],
        must_reach: ["G2 under P0: GlobalTurn", "G11 under P0: Local", "G31 under P0: Local", "M0 spins"],
        runs: [sc()]),
    crate::model!("poll::one_look_serves_all::extra", extra,
        claim: "an M that has nothing to run takes from each source once: one G to run, the rest for others to steal",
        size: "one thread plays all: 1 M, 1 or 2 Ps, two sources; each of 40 looks",
        invariants: [1, 28, 30],
        must_reach: ["G11 under P0: Extra", "G21 under P0: Extra", "M0 spins"],
        runs: [sc()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = &[];
