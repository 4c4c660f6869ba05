//! What the monitor, and an M that is busy, do for Gs that wait in the poller.

use super::{LATE, NOW, queued, ticks};
use crate::harness::common::any_of;
use crate::harness::transcript::{Outside, S, at, it_is, leave, numbers, one_runs, set};
use crate::hosts::model_host::ModelHost;
use crate::hosts::stepped::{Stepped, for_ever, unless_gone, vanish};
use spinpark_kernel::host::Host;
use spinpark_kernel::host::NEVER;
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::locked::{Wake, Woken};
use spinpark_kernel::protocol::sysmon::SLICE;
use spinpark_kernel::sched::config::Config;
use std::sync::Arc;

/// G1 runs, and has done so for less than a slice of the monitor's. No M has looked into the poller since moment 3.
/// Then what is waited for changes, under G1's P, so that no M is told; and the monitor looks.
pub(super) fn nobody_waits_there<H: ModelHost>() -> String {
    let age = any_of::<H, _>(&[SLICE - 1, SLICE, SLICE + 1]);
    let now = 3 + age;
    let due = any_of::<H, _>(&[NEVER, now - 1, now, now + 1]);
    let is_first = any_of::<H, _>(&[true, false]);
    let is_awaited = any_of::<H, _>(&[false, true]);
    let idle = any_of::<H, _>(&[0, 1]);
    let (first, second): (&[u64], &[u64]) = any_of::<H, _>(&[(&[], &[]), (&[11, 12], &[]), (&[], &[21])]);
    let ready: &[u64] = any_of::<H, _>(&[&[], &[31]]);

    let (sched, outside) = set(numbers(1 + idle), true);
    let m0 = one_runs(&sched);
    it_is(now);
    outside.is_due(usize::from(!is_first), due);
    outside.is_due(usize::from(is_first), due.saturating_add(1));
    outside.awaits(is_awaited);
    [first, second].iter().enumerate().filter(|(_, gs)| !gs.is_empty()).for_each(|(n, gs)| outside.gives(n, gs));
    outside.rings(ready);
    let retook = sched.tick(&mut sched.watch(), now);

    // A timer is late, or a G waits for something and no M has looked for a slice.
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
    let trace = sched.detailed_snapshot();
    assert!(!retook, "no M is in a call");
    assert_eq!(trace.snapshot.global, found.len(), "what was found is there for all");
    assert_eq!(trace.needspinning, !found.is_empty(), "one that is about to idle its P is asked to look for it");
    if is_minded && idle > 0 && [first, second, ready].iter().all(|gs| gs.is_empty()) {
        is_in_vain(&sched, &outside, m0);
    } else {
        leave(m0);
    }
    match (is_minded, idle, found.len()) {
        (false, ..) => "left alone".to_owned(),
        (_, 1, _) => "one is sent".to_owned(),
        (.., 0) => "looked in vain".to_owned(),
        _ => "found something".to_owned(),
    }
}

/// The timers are cancelled, and no G waits in the poller, before the M that was sent begins: it sleeps. G1 waits then, and a
/// deadlock is reported to it.
fn is_in_vain(sched: &S, outside: &Outside, m0: Worker) {
    outside.awaits(false);
    (0..2).for_each(|source| outside.is_due(source, NEVER));
    let m1 = Stepped::begin().expect("it was sent");
    for_ever(|| sched.next(m1));
    let (m0, woken) = sched.park_bound(m0, Wake::Inside);
    assert_eq!(woken, Woken::Deadlock, "nothing is left that could ready G1");
    leave(m0);
}

/// M0 waits in the poller. A busy M changes what is waited for, and the monitor looks.
pub(super) fn one_waits_there<H: ModelHost>() -> String {
    // It may wait just until now, and has not got up yet.
    let until = any_of::<H, _>(&[NOW, LATE, NEVER]);
    let due = any_of::<H, _>(&[NEVER, NOW - 1, NOW, NOW + 1]);
    let is_awaited = any_of::<H, _>(&[false, true]);
    let procs = any_of::<H, _>(&[1, 2]);

    let (sched, outside) = set(numbers(procs), true);
    let m0 = one_runs(&sched);
    outside.is_due(1, until);
    outside.awaits(until == NEVER);
    let is_in_vain = due == NEVER && !is_awaited;
    let outcome = if due <= NOW && until > due || is_in_vain { "interrupted" } else { "left alone" };
    let theirs = Arc::clone(&outside);
    outside.meanwhile(move |sched| {
        assert!(
            theirs.told().ends_with(&[format!("M0 waits until {}", at(until)), format!("poll until {}", at(until))])
        );
        it_is(NOW);
        theirs.is_due(1, due);
        theirs.awaits(is_awaited);
        sched.tick(&mut sched.watch(), NOW);
        let mut expected = ticks(NOW);
        expected.extend((outcome == "interrupted").then(|| "interrupt".to_owned()));
        assert_eq!(theirs.told(), expected, "an M waits until {until}, and something is due at {due}");
        assert_eq!(Stepped::suspended(), 0, "one is enough");
        vanish();
    });
    assert!(unless_gone(|| sched.next(m0)).is_none(), "it waits");
    outcome.to_owned()
}

/// M0, busy, looks into the poller without waiting. Meanwhile the monitor looks.
pub(super) fn one_looks_there<H: ModelHost>() -> String {
    let due = any_of::<H, _>(&[NEVER, NOW - 1, NOW, NOW + 1]);
    let idle = any_of::<H, _>(&[0, 1]);

    let (sched, outside) = set(Config { global_every: 1, ..numbers(1 + idle) }, true);
    let m0 = one_runs(&sched);
    outside.awaits(true);
    let outcome = match (due <= NOW, idle) {
        (false, _) => "left alone",
        (true, 0) => "one more is asked for",
        (true, _) => "one is sent",
    };
    let theirs = Arc::clone(&outside);
    outside.meanwhile(move |sched| {
        assert_eq!(theirs.told(), ["peek"]);
        it_is(NOW);
        theirs.is_due(0, due);
        sched.tick(&mut sched.watch(), NOW);
        let mut expected = ticks(NOW);
        expected.extend((outcome == "one is sent").then(|| "M1 starts".to_owned()));
        assert_eq!(theirs.told(), expected, "something is due at {due}");
        assert_eq!(sched.detailed_snapshot().needspinning, outcome == "one more is asked for");
        vanish();
    });
    assert!(unless_gone(|| sched.next(m0)).is_none(), "no M goes on");
    outcome.to_owned()
}

/// G1 runs, a P is idle, and there may be no other M: all there may be wait with their Gs, say. Something is due, and the monitor ticks
/// twice.
pub(super) fn no_m_is_left<H: ModelHost>() -> String {
    let after = any_of::<H, _>(&[1, 1_000, SLICE - 1]);
    let given: &[u64] = any_of::<H, _>(&[&[], &[11, 12]]);
    let ready: &[u64] = any_of::<H, _>(&[&[], &[31]]);

    let (sched, outside) = set(Config { max_ms: 1, ..numbers(2) }, true);
    let m0 = one_runs(&sched);
    outside.awaits(true);
    it_is(NOW);
    outside.is_due(0, NOW - 1);
    let mut watch = sched.watch();
    sched.tick(&mut watch, NOW);
    // A timer is late; and it tries once more at the end of the tick.
    let refused = || ["Refused", "P1 is idle"].map(str::to_owned);
    let twice = [refused(), refused()].concat();
    assert_eq!(outside.told(), [ticks(NOW), twice.clone()].concat(), "it asks for an M, and there is none");
    it_is(NOW + after);
    if !given.is_empty() {
        outside.gives(0, given);
    }
    outside.rings(ready);
    sched.tick(&mut watch, Stepped::now());
    let mut expected = ticks(Stepped::now());
    expected.extend((!given.is_empty()).then(|| "source 0 gives to nobody".to_owned()));
    expected.push("peek".to_owned());
    let found = [given, ready].concat();
    expected.extend(queued(&found, "all"));
    // For what it has found it asks again.
    expected.extend(if found.is_empty() { refused().to_vec() } else { twice });
    assert_eq!(outside.told(), expected, "{after} ns after there was none");
    leave(m0);
    if given.is_empty() && ready.is_empty() { "looked in vain" } else { "found something" }.to_owned()
}

/// G1 waits on its M, and a thread for another M is refused; or it waits when the monitor looks, and the M that gets its P sleeps. Something
/// is due, so the monitor takes it. Meanwhile a thread asks whether all is at rest: if that is so, and nothing else is expected, it reports a
/// deadlock. So does an M that goes to sleep meanwhile. If the monitor finds nothing, and nothing is expected any more, G1 is told.
pub(super) fn what_it_has_taken<H: ModelHost>() -> String {
    let given: &[u64] = any_of::<H, _>(&[&[], &[11, 12]]);
    let is_refused = any_of::<H, _>(&[true, false]);

    let (sched, outside) = set(Config { max_ms: 2, ..numbers(1) }, true);
    let mut m0 = Some(one_runs(&sched));
    outside.awaits(true);
    let is_at_rest = |sched: &S| sched.is_at_rest(|| 0, || true);
    if is_refused {
        Stepped::refuse(100);
        for_ever(|| sched.park_bound(m0.take().expect("it runs G1"), Wake::Inside));
        assert!(is_at_rest(&sched), "the only G waits");
    }
    it_is(NOW);
    outside.is_due(0, NOW - 1);
    if !given.is_empty() {
        outside.gives(0, given);
    }
    let theirs = Arc::clone(&outside);
    outside.meanwhile(move |sched| {
        assert_eq!(theirs.told().last().map(String::as_str), Some("peek"), "the monitor looks itself");
        let is_held = |sched: &S| {
            assert!(!is_at_rest(sched), "what the monitor has taken is in no queue yet, and all is said to be at rest");
        };
        is_held(sched);
        theirs.awaits(false);
        theirs.is_due(0, NEVER);
        if let Some(m0) = m0 {
            for_ever(|| sched.park_bound(m0, Wake::Inside));
            let m1 = Stepped::begin().expect("it gets the P");
            for_ever(|| sched.next(m1));
            is_held(sched);
            assert!(!is_told(&theirs), "an M goes to sleep, and a deadlock is reported to G1");
        }
        sched.look_for_deadlock();
        assert_eq!(
            theirs.told(),
            Vec::<String>::new(),
            "what the monitor has taken is in no queue yet, and a deadlock is reported to G1"
        );
    });
    sched.tick(&mut sched.watch(), NOW);
    assert_eq!(is_told(&outside), given.is_empty(), "G1 is told if nothing is left that could ready it");
    assert!(!is_at_rest(&sched), "G1 goes on, or what the monitor has taken is queued");
    if given.is_empty() { "took nothing" } else { "took something" }.to_owned()
}

/// Was a deadlock reported since events were read last?
fn is_told(outside: &Outside) -> bool {
    outside.told().iter().any(|event| event.starts_with("Deadlock"))
}

/// The monitor has looked for those that wait. It does so again when no M has for a slice, and not before.
pub(super) fn two_ticks<H: ModelHost>() -> String {
    let before = any_of::<H, _>(&[0, 1, SLICE]);
    let after = any_of::<H, _>(&[0, 1, SLICE - 1, SLICE, SLICE + 1]);
    let ready: &[u64] = any_of::<H, _>(&[&[], &[31]]);

    let (sched, outside) = set(numbers(1), true);
    let m0 = one_runs(&sched);
    outside.awaits(true);
    let mut watch = sched.watch();
    it_is(3 + SLICE + before);
    sched.tick(&mut watch, Stepped::now());
    assert_eq!(outside.told(), [ticks(Stepped::now()), vec!["peek".to_owned()]].concat(), "no M has looked for long");
    it_is(Stepped::now() + after);
    outside.rings(ready);
    sched.tick(&mut watch, Stepped::now());
    let mut expected = ticks(Stepped::now());
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
