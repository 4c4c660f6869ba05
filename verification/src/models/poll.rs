//! Models of `poll`, and of what the poller's room does for it: who waits until when, what is done with what comes, and
//! what the monitor, and who is busy, do for those who wait. One thread plays all Ms of a whole scheduler, each in its
//! turn; what is enumerated is what they meet.
//!
//! What must follow is told in each model, and the diary must say that and nothing else, in this order.

use super::diary::{at, it_is, leave, numbers, one_runs, pick, set, submit};
use crate::model::{Model, sc};
use crate::mutant::Mutant;
use crate::stage::Stage;
use crate::staged::{Staged, unless_gone};
use spinpark::host::{Host, Nanos};
use spinpark::kernel::sysmon::SLICE;
use spinpark::kernel::timers::NEVER;

/// Some moment.
const NOW: Nanos = 2 * SLICE;
const LATE: Nanos = NOW + 1_000;

/// So `gs` are queued, for everybody or under a P.
fn queued(gs: &[u64], whose: &str) -> Vec<String> {
    gs.iter().map(|g| format!("G{g} for {whose}")).collect()
}

/// The two sources are told of a tick.
fn ticks(now: Nanos) -> Vec<String> {
    (0..2).map(|n| format!("source {n} ticks at {now}")).collect()
}

/// G1 runs, and has done so for less than a slice of the monitor's. Nobody has looked into the poller since moment 3.
/// Then what is waited for changes, under G1's P, so that nobody is told; and the monitor looks.
fn nobody_waits_there<H: Stage>() -> String {
    let age = pick::<H, _>(&[SLICE - 1, SLICE, SLICE + 1]);
    let now = 3 + age;
    let due = pick::<H, _>(&[NEVER, now - 1, now, now + 1]);
    let is_first = pick::<H, _>(&[true, false]);
    let is_awaited = pick::<H, _>(&[false, true]);
    let idle = pick::<H, _>(&[0, 1]);
    let (first, second): (&[u64], &[u64]) = pick::<H, _>(&[(&[], &[]), (&[11, 12], &[]), (&[], &[21])]);
    let ready: &[u64] = pick::<H, _>(&[&[], &[31]]);

    let (sched, outside) = set(numbers(1 + idle), true);
    let m0 = one_runs(&sched);
    it_is(now);
    outside.is_due(usize::from(!is_first), due);
    outside.is_due(usize::from(is_first), due.saturating_add(1));
    outside.awaits(is_awaited);
    [first, second].iter().enumerate().filter(|(_, gs)| !gs.is_empty()).for_each(|(n, gs)| outside.gives(n, gs));
    outside.rings(ready);
    let retook = sched.tick(&mut sched.watch(), now);

    // Somebody is late, or somebody waits for something and nobody has looked for a slice.
    let is_minded = due <= now || age >= SLICE && (due != NEVER || is_awaited);
    let (mut expected, mut found) = (ticks(now), Vec::new());
    if is_minded && idle > 0 {
        expected.push("M1 starts".to_owned()); // it looks, and waits there if there is nothing
    } else if is_minded {
        let gives = [first, second].into_iter().enumerate().filter(|(_, gs)| !gs.is_empty());
        gives.for_each(|(n, gs)| {
            expected.push(format!("source {n} gives to nobody"));
            found.extend(gs);
        });
        if is_awaited {
            expected.push("peek".to_owned());
            found.extend(ready);
        }
        expected.extend(queued(&found, "all"));
    }
    assert_eq!(outside.told(), expected, "{age} ns after the last look");
    let trace = sched.schedtrace();
    assert!(!retook, "nobody is in a call");
    assert_eq!(trace.snapshot.global, found.len(), "what was found is there for all");
    assert_eq!(trace.needspinning, !found.is_empty(), "one that is about to idle its P is asked to look for it");
    leave(m0);
    match (is_minded, idle, found.len()) {
        (false, ..) => "left alone".to_owned(),
        (_, 1, _) => "one is sent".to_owned(),
        (.., 0) => "looked in vain".to_owned(),
        _ => "found something".to_owned(),
    }
}

/// M0 waits in the poller. Somebody who is busy changes what is waited for, and the monitor looks.
fn one_waits_there<H: Stage>() -> String {
    // It may wait just until now, and has not got up yet.
    let until = pick::<H, _>(&[NOW, LATE, NEVER]);
    let due = pick::<H, _>(&[NEVER, NOW - 1, NOW, NOW + 1]);
    let is_awaited = pick::<H, _>(&[false, true]);
    let procs = pick::<H, _>(&[1, 2]);

    let (sched, outside) = set(numbers(procs), true);
    let m0 = one_runs(&sched);
    outside.is_due(1, until);
    outside.awaits(until == NEVER);
    let outcome = if due <= NOW && until > due { "interrupted" } else { "left alone" };
    let theirs = std::sync::Arc::clone(&outside);
    outside.meanwhile(move |sched| {
        assert!(theirs.told().ends_with(&[format!("M0 waits until {}", at(until)), format!("poll until {}", at(until))]));
        it_is(NOW);
        theirs.is_due(1, due);
        theirs.awaits(is_awaited);
        sched.tick(&mut sched.watch(), NOW);
        let mut expected = ticks(NOW);
        expected.extend((outcome == "interrupted").then(|| "interrupt".to_owned()));
        assert_eq!(theirs.told(), expected, "somebody waits until {until}, and something is due at {due}");
        assert_eq!(Staged::in_the_wings(), 0, "one is enough");
        crate::staged::vanish();
    });
    assert!(unless_gone(|| sched.next(m0)).is_none(), "it waits");
    outcome.to_owned()
}

/// M0, busy, looks into the poller without waiting. Meanwhile the monitor looks.
fn one_looks_there<H: Stage>() -> String {
    let due = pick::<H, _>(&[NEVER, NOW - 1, NOW, NOW + 1]);
    let idle = pick::<H, _>(&[0, 1]);

    let (sched, outside) = set(spinpark::kernel::config::Config { global_every: 1, ..numbers(1 + idle) }, true);
    let m0 = one_runs(&sched);
    outside.awaits(true);
    let outcome = match (due <= NOW, idle) {
        (false, _) => "left alone",
        (true, 0) => "one more is asked for",
        (true, _) => "one is sent",
    };
    let theirs = std::sync::Arc::clone(&outside);
    outside.meanwhile(move |sched| {
        assert_eq!(theirs.told(), ["peek"]);
        it_is(NOW);
        theirs.is_due(0, due);
        sched.tick(&mut sched.watch(), NOW);
        let mut expected = ticks(NOW);
        expected.extend((outcome == "one is sent").then(|| "M1 starts".to_owned()));
        assert_eq!(theirs.told(), expected, "something is due at {due}");
        assert_eq!(sched.schedtrace().needspinning, outcome == "one more is asked for");
        crate::staged::vanish();
    });
    assert!(unless_gone(|| sched.next(m0)).is_none(), "nobody goes on");
    outcome.to_owned()
}

/// The monitor has looked for those who wait. It does so again when nobody has for a slice, and not before.
fn two_ticks<H: Stage>() -> String {
    let before = pick::<H, _>(&[0, 1, SLICE]);
    let after = pick::<H, _>(&[0, 1, SLICE - 1, SLICE, SLICE + 1]);
    let ready: &[u64] = pick::<H, _>(&[&[], &[31]]);

    let (sched, outside) = set(numbers(1), true);
    let m0 = one_runs(&sched);
    outside.awaits(true);
    let mut watch = sched.watch();
    it_is(3 + SLICE + before);
    sched.tick(&mut watch, Staged::now());
    assert_eq!(outside.told(), [ticks(Staged::now()), vec!["peek".to_owned()]].concat(), "nobody has looked for long");
    it_is(Staged::now() + after);
    outside.rings(ready);
    sched.tick(&mut watch, Staged::now());
    let mut expected = ticks(Staged::now());
    if after >= SLICE {
        expected.push("peek".to_owned());
        expected.extend(queued(ready, "all"));
        // And G1 has run for a slice since the monitor first saw it.
        expected.push("P0 is asked".to_owned());
    }
    assert_eq!(outside.told(), expected, "{after} ns after it has looked");
    leave(m0);
    if after >= SLICE { "looked again" } else { "left alone" }.to_owned()
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("poll::the_monitor_minds_who_waits::nobody_waits_there", nobody_waits_there,
        claim: "if somebody is late, or nobody has looked for a slice, the monitor sends one who does, or looks itself",
        size: "one thread plays all: 1 M, 1 or 2 Ps, two sources, a poller; 1 tick at each of 576 moments",
        invariants: [28, 29, 35],
        must_reach: ["left alone", "one is sent", "looked in vain", "found something"],
        runs: [sc()]),
    crate::model!("poll::the_monitor_minds_who_waits::one_waits_there", one_waits_there,
        claim: "the monitor interrupts who waits in the poller, if something is due of which it does not know",
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
    crate::model!("poll::the_monitor_minds_who_waits::two_ticks", two_ticks,
        claim: "the monitor looks into the poller once a slice while all others are busy",
        size: "one thread plays all: 1 M, 1 P, a poller; 2 ticks, 30 times apart",
        invariants: [28, 29, 35],
        must_reach: ["left alone", "looked again"],
        runs: [sc()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = &[];
