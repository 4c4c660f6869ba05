//! Models of `poll`, and of what the poller's room does for it: who waits until when, what is done with what comes, and
//! what the monitor, and who is busy, do for those who wait. One thread plays all Ms of a whole scheduler, each in its
//! turn; what is enumerated is what they meet.
//!
//! What must follow is told in each model, and the diary must say that and nothing else, in this order.

use crate::checker::diary::{Outside, S, at, it_is, leave, numbers, one_runs, set, submit};
use crate::harness::common::any_of;
use crate::hosts::model_host::ModelHost;
use crate::hosts::staged::{Staged, for_ever, in_each_sleep, unless_gone, vanish};
use crate::model::{Model, sc};
use crate::mutation::mutant::Mutant;
use spinpark::host::{Host, NEVER, Nanos};
use spinpark::kernel::protocol::netpoll::{Neighbours, Netpoll};
use spinpark::kernel::protocol::sysmon::SLICE;
use spinpark::kernel::sched::config::Config;
use std::cell::Cell;
use std::ops::ControlFlow::{Break, Continue};
use std::sync::{Arc, Mutex};

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
fn nobody_waits_there<H: ModelHost>() -> String {
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
    let trace = sched.detailed_snapshot();
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
fn one_waits_there<H: ModelHost>() -> String {
    // It may wait just until now, and has not got up yet.
    let until = any_of::<H, _>(&[NOW, LATE, NEVER]);
    let due = any_of::<H, _>(&[NEVER, NOW - 1, NOW, NOW + 1]);
    let is_awaited = any_of::<H, _>(&[false, true]);
    let procs = any_of::<H, _>(&[1, 2]);

    let (sched, outside) = set(numbers(procs), true);
    let m0 = one_runs(&sched);
    outside.is_due(1, until);
    outside.awaits(until == NEVER);
    let outcome = if due <= NOW && until > due { "interrupted" } else { "left alone" };
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
        assert_eq!(theirs.told(), expected, "somebody waits until {until}, and something is due at {due}");
        assert_eq!(Staged::suspended(), 0, "one is enough");
        vanish();
    });
    assert!(unless_gone(|| sched.next(m0)).is_none(), "it waits");
    outcome.to_owned()
}

/// M0, busy, looks into the poller without waiting. Meanwhile the monitor looks.
fn one_looks_there<H: ModelHost>() -> String {
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
    assert!(unless_gone(|| sched.next(m0)).is_none(), "nobody goes on");
    outcome.to_owned()
}

/// The monitor has looked for those who wait. It does so again when nobody has for a slice, and not before.
fn two_ticks<H: ModelHost>() -> String {
    let before = any_of::<H, _>(&[0, 1, SLICE]);
    let after = any_of::<H, _>(&[0, 1, SLICE - 1, SLICE, SLICE + 1]);
    let ready: &[u64] = any_of::<H, _>(&[&[], &[31]]);

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

/// What happens to what M0 waits for in the poller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meanwhile {
    /// Nothing: it comes back spuriously.
    Nothing,
    /// Its time is over, and the second source has G21.
    Over,
    /// Something is added that is due earlier.
    Earlier,
    /// It is given up.
    GivenUp,
    /// So many Gs can go on: G31, G32, G33.
    Rings(usize),
}

/// And what happens to the Ps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ps {
    /// There is one, and it is idle.
    Idle,
    /// There are two, and both are.
    BothIdle,
    /// There is one, and another M gets it for G2.
    Taken,
    /// There is one, and the world is stopped, goes on, and has another M look.
    Stopped,
    /// There is one, but for G2 thread creation failed.
    Refused,
    /// The scheduler is closed.
    Closed,
}

const READY: [u64; 3] = [31, 32, 33];
const EARLIER: Nanos = 5;

impl Ps {
    /// It happens, and is told so.
    fn happen(self, sched: &S, outside: &Outside) {
        match self {
            Ps::Idle | Ps::BothIdle => (),
            Ps::Taken => submit(sched, 2),
            Ps::Stopped => assert!(sched.start_the_world(sched.stop_the_world(None)).is_none()),
            Ps::Refused => {
                Staged::refuse(1);
                submit(sched, 2);
            }
            Ps::Closed => for_ever(|| sched.close()),
        }
        let told: &[&str] = match self {
            Ps::Idle | Ps::BothIdle => &[],
            Ps::Taken => &["G2 for all", "M1 starts"],
            Ps::Stopped => &["Held { p: PId(0) }", "Stopped", "Started { procs: 1 }", "P0 is idle", "M1 starts"],
            // Who waits is an M that can be had.
            Ps::Refused => {
                &["G2 for all", "M1 starts", "Refused", "P0 is idle", "M1 ends", "0 of 1 sleep", "interrupt"]
            }
            Ps::Closed => &["interrupt"],
        };
        assert_eq!(outside.told(), told);
    }
}

/// So M0 begins to wait.
fn waits(until: Nanos) -> Vec<String> {
    vec![format!("M0 waits until {}", at(until)), format!("poll until {}", at(until))]
}

fn lines(of: &[&str]) -> Vec<String> {
    of.iter().map(|&line| line.to_owned()).collect()
}

/// M0, which is on its way to sleep, takes the only P for G2, which waits for all, because it was asked to.
fn must_recheck() -> Vec<String> {
    lines(&["M0 gets P0", "M0 is called", "M0 runs G2 under P0: Global", "M0 has sought"])
}

/// M0 comes back from the poller with `ready`, or because something is due. What it does.
fn brings(ready: &[u64], ps: Ps) -> Vec<String> {
    let is_taken = matches!(ps, Ps::Taken | Ps::Stopped);
    let mut told = queued(ready, if is_taken { "all" } else { "P0" });
    if is_taken {
        told.push("M0 sleeps, 1 of 2".to_owned());
        return told;
    }
    told.extend((ps == Ps::BothIdle && ready.len() > 1).then(|| "M1 starts".to_owned()));
    told.push("M0 gets P0".to_owned());
    told.extend(lines(match (ready, ps) {
        ([_, ..], _) => &["M0 runs G31 under P0: Local"],
        ([], Ps::Refused) => &["M0 runs G2 under P0: Global"],
        ([], _) => &["source 1 gives to P0", "M0 runs G21 under P0: Extra"],
    }));
    told
}

/// What M0 does after it has waited.
fn after_the_wait(ready: &[u64], due: Nanos, is_awaited: bool, ps: Ps) -> (Vec<String>, &'static str) {
    let nothing_to_wait_for = due == NEVER && !is_awaited;
    match ps {
        Ps::Closed => ([queued(ready, "all"), lines(&["M0 ends", "0 of 0 sleep"])].concat(), "ends"),
        _ if !ready.is_empty() || Staged::now() >= due => (brings(ready, ps), "brings something"),
        Ps::Refused => (must_recheck(), "turns back"),
        _ if !nothing_to_wait_for => (waits(due), "waits again"),
        Ps::Taken | Ps::Stopped => (lines(&["M0 sleeps, 1 of 2"]), "sleeps"),
        _ => (lines(&["M0 sleeps, 1 of 1"]), "sleeps"),
    }
}

/// The last M has nothing to do. Somebody waits for a socket, or something is due, or neither.
fn one_wait<H: ModelHost>() -> String {
    use Meanwhile::{Earlier, GivenUp, Nothing, Over, Rings};
    let (until, is_awaited) = any_of::<H, _>(&[(NOW, false), (NOW, true), (NEVER, true), (NEVER, false)]);
    let happens = any_of::<H, _>(&[Nothing, Over, Earlier, GivenUp, Rings(1), Rings(2), Rings(3)]);
    let ps = any_of::<H, _>(&[Ps::Idle, Ps::BothIdle, Ps::Taken, Ps::Stopped, Ps::Refused, Ps::Closed]);

    let (sched, outside) = set(numbers(if ps == Ps::BothIdle { 2 } else { 1 }), true);
    let m0 = one_runs(&sched);
    outside.is_due(1, until);
    outside.awaits(is_awaited);
    let is_for_nothing = until == NEVER && !is_awaited;
    let theirs = Arc::clone(&outside);
    outside.meanwhile(move |sched| {
        assert!(!is_for_nothing && theirs.told().ends_with(&waits(until)), "it waits until something is due");
        match happens {
            Nothing => (),
            Over if until == NEVER => (),
            Over => {
                it_is(until);
                theirs.gives(1, &[21]);
            }
            Earlier => theirs.is_due(0, EARLIER),
            GivenUp => {
                theirs.is_due(1, NEVER);
                theirs.awaits(false);
            }
            Rings(n) => theirs.rings(&READY[..n]),
        }
        ps.happen(sched, &theirs);
    });
    let found = in_each_sleep(|| sched.next(m0), |_| Break(()));
    let told = outside.told();
    if is_for_nothing {
        assert_eq!(told.last().map(String::as_str), Some("M0 sleeps, 1 of 1"), "there is nothing to wait for");
        return "nothing to wait for".to_owned();
    }
    let (due, is_awaited) = match happens {
        Nothing | Over | Rings(_) => (until, is_awaited),
        Earlier => (EARLIER, is_awaited),
        GivenUp => (NEVER, false),
    };
    let ready: &[u64] = if let Rings(n) = happens { &READY[..n] } else { &[] };
    let (expected, outcome) = after_the_wait(ready, due, is_awaited, ps);
    assert_eq!(told, [lines(&["M0 has waited"]), expected].concat(), "{happens:?}, {ps:?}");
    if ps == Ps::Closed {
        assert!(sched.close().iter().map(|g| g.id()).eq(ready.iter().copied()), "each G comes back");
    }
    // Who brings many wants one more to look; who was asked to, and has found something, one more who waits.
    let asks = match outcome {
        "brings something" => ps == Ps::Refused || ready.len() > 1 && ps == Ps::Idle,
        "turns back" => due != NEVER || is_awaited,
        _ => false,
    };
    assert_eq!(sched.detailed_snapshot().needspinning, asks, "one more is asked for: {happens:?}, {ps:?}");
    leave(found);
    outcome.to_owned()
}

/// The last M is on its way into the poller. Something happens just before it reads, for the nth time, what is due.
fn on_the_way<H: ModelHost>() -> String {
    use Meanwhile::{Earlier, GivenUp, Nothing};
    let nth = any_of::<H, _>(&[1, 2, 3]);
    let (happens, ps) = any_of::<H, _>(&[
        (Earlier, Ps::Idle),
        (GivenUp, Ps::Idle),
        (Nothing, Ps::Taken),
        (Nothing, Ps::Refused),
        (Nothing, Ps::Closed),
        (GivenUp, Ps::Refused),
    ]);
    let (sched, outside) = set(numbers(1), true);
    let m0 = one_runs(&sched);
    outside.is_due(1, NOW);
    let theirs = Arc::clone(&outside);
    outside.when_asked(nth, move |sched| {
        theirs.told();
        match happens {
            Earlier => theirs.is_due(0, EARLIER),
            GivenUp => theirs.is_due(1, NEVER),
            _ => (),
        }
        match ps {
            Ps::Refused => Staged::refuse(1),
            Ps::Closed => return for_ever(|| sched.close()),
            _ => (),
        }
        if matches!(ps, Ps::Taken | Ps::Refused) {
            submit(sched, 2);
        }
        theirs.told();
    });
    let found = in_each_sleep(|| sched.next(m0), |_| Break(()));
    let (expected, outcome) = match (happens, ps) {
        (Earlier, _) => (waits(EARLIER), "waits for shorter"),
        (_, Ps::Refused) => (must_recheck(), "turns back"),
        // Too late to know: it is interrupted by who gives it up.
        (GivenUp, _) if nth == 3 => (waits(NOW), "waits"),
        (GivenUp, _) => (lines(&["M0 sleeps, 1 of 1"]), "sleeps"),
        (_, Ps::Taken) => (waits(NOW), "waits"),
        _ => (lines(&["M0 ends", "0 of 0 sleep"]), "ends"),
    };
    let mut told = outside.told();
    told.retain(|what| what != "interrupt");
    assert_eq!(told, expected, "{happens:?}, {ps:?}, before it asked for the {nth}. time");
    leave(found);
    outcome.to_owned()
}

/// What M0 waited for is given up.
fn in_vain<H: ModelHost>() -> String {
    let who = any_of::<H, _>(&["nobody", "one in its bed", "one in the poller"]);
    let (sched, outside) = set(numbers(1), true);
    let m0 = one_runs(&sched);
    if who == "one in the poller" {
        outside.awaits(true);
        let theirs = Arc::clone(&outside);
        outside.meanwhile(move |sched| {
            theirs.told();
            theirs.awaits(false);
            sched.break_idle_poll();
            assert_eq!(theirs.told(), ["interrupt"]);
        });
        assert!(in_each_sleep(|| sched.next(m0), |_| Break(())).is_none());
        assert_eq!(outside.told(), ["M0 has waited", "M0 sleeps, 1 of 1"]);
        return who.to_owned();
    }
    if who == "one in its bed" {
        for_ever(|| sched.next(m0));
    } else {
        leave(m0);
    }
    outside.told();
    sched.break_idle_poll();
    assert!(outside.told().is_empty(), "who waits there next is not to be brought back");
    who.to_owned()
}

/// What happens to the timer for which M0 naps in its bed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nap {
    /// Nothing.
    Whole,
    /// Before it lies down, it is due.
    None,
    /// One that is earlier is announced.
    Shorter,
    /// One that is later is announced.
    Same,
    /// It is given up, and whoever waits is told.
    InVain,
}

/// There is no poller, but a timer, for G21.
fn a_nap<H: ModelHost>() -> String {
    let until = any_of::<H, _>(&[EARLIER + 1, NOW]);
    let nap = any_of::<H, _>(&[Nap::Whole, Nap::None, Nap::Shorter, Nap::Same, Nap::InVain]);
    let (sched, outside) = set(numbers(1), false);
    let m0 = one_runs(&sched);
    it_is(1);
    outside.is_due(1, until);
    outside.gives_then(1, &[21]);
    if nap == Nap::None {
        outside.when_asked(3, move |_| it_is(until));
    }
    let naps = Arc::new(Mutex::new(Vec::new()));
    let (theirs, slept, their) = (Arc::clone(&outside), Arc::clone(&naps), Arc::clone(&sched));
    let found = in_each_sleep(
        || sched.next(m0),
        move |nanos| {
            let mut naps = slept.lock().expect("one thread");
            naps.push(nanos);
            match (nap, naps.len()) {
                (Nap::Shorter, 1) => {
                    theirs.is_due(0, EARLIER);
                    theirs.gives_then(0, &[11]);
                    theirs.announce(EARLIER);
                }
                (Nap::Same, 1) => theirs.announce(until + 1),
                (Nap::InVain, 1) => {
                    theirs.is_due(1, NEVER);
                    their.break_idle_poll();
                }
                (Nap::InVain, 2) => return Break(()),
                (_, 1) | (Nap::Shorter, 2) => (),
                _ => panic!("it naps again"),
            }
            Continue(())
        },
    );
    // It begins at moment 1, and no time passes when it is woken.
    let (expected, end): (&[Option<Nanos>], _) = match nap {
        Nap::Whole | Nap::Same => (&[Some(until - 1)], until),
        Nap::None => (&[], until),
        Nap::Shorter => (&[Some(until - 1), Some(EARLIER - 1)], EARLIER),
        Nap::InVain => (&[Some(until - 1), None], 1),
    };
    assert_eq!((&naps.lock().expect("one thread")[..], Staged::now()), (expected, end), "{nap:?}");
    let last = outside.told().pop().expect("much has happened");
    let expected = match nap {
        Nap::InVain => "M0 sleeps, 1 of 1".to_owned(),
        Nap::Shorter => "M0 runs G11 under P0: Extra".to_owned(),
        _ => "M0 runs G21 under P0: Extra".to_owned(),
    };
    assert_eq!(last, expected, "{nap:?}");
    leave(found);
    format!("{nap:?}")
}

/// It is the turn of the global queue, and of what comes from elsewhere.
fn a_turn<H: ModelHost>() -> String {
    let first: &[&[u64]] = any_of::<H, _>(&[&[], &[&[11, 12]], &[&[11], &[12]]]);
    let second: &[&[u64]] = any_of::<H, _>(&[&[], &[&[21]], &[&[]]]);
    let ready: &[u64] = any_of::<H, _>(&[&[], &[31], &[31, 32]]);
    let is_awaited = any_of::<H, _>(&[true, false]);
    let (idle, is_global) = any_of::<H, _>(&[(0, false), (0, true), (1, false)]);

    let (sched, outside) = set(Config { global_every: 1, ring: 8, ..numbers(1 + idle) }, true);
    let m0 = one_runs(&sched);
    if is_global {
        submit(&sched, 2);
    }
    first.iter().for_each(|gs| outside.gives(0, gs));
    second.iter().for_each(|gs| outside.gives(1, gs));
    outside.rings(ready);
    outside.awaits(is_awaited);
    outside.told();
    let found = in_each_sleep(|| sched.next(m0), |_| Break(()));

    let (mut expected, mut gs) = (Vec::new(), Vec::<u64>::new());
    for (n, takes) in [first, second].into_iter().enumerate() {
        if let Some(&take) = takes.first() {
            expected.push(format!("source {n} gives to P0"));
            expected.extend(queued(take, "P0"));
            gs.extend(take);
        }
    }
    if is_awaited {
        expected.push("peek".to_owned());
        expected.extend(queued(ready, "P0"));
        gs.extend(ready);
    }
    expected.extend((!gs.is_empty() && idle > 0).then(|| "M1 starts".to_owned()));
    let outcome = match (is_global, gs.first()) {
        (true, _) => "M0 runs G2 under P0: GlobalTurn".to_owned(),
        (_, Some(g)) => format!("M0 runs G{g} under P0: Local"),
        _ => "M0 spins".to_owned(),
    };
    expected.push(outcome.clone());
    let mut told = outside.told();
    if outcome == "M0 spins" {
        told.truncate(expected.len()); // and more
    }
    assert_eq!(told, expected);
    if let Some(Some((m0, _))) = found {
        let trace = sched.detailed_snapshot();
        assert_eq!(trace.needspinning, idle == 0, "one more is asked for, if none can be sent");
        assert_eq!(trace.snapshot.local[0], gs.len() - usize::from(!is_global));
        leave(m0);
    }
    outcome
}

/// M0 has nothing of its own to run. What sources have is taken, once.
fn extra<H: ModelHost>() -> String {
    let first: &[&[u64]] = any_of::<H, _>(&[&[], &[&[11]], &[&[11, 12]], &[&[]], &[&[11], &[12]]]);
    let second: &[&[u64]] = any_of::<H, _>(&[&[], &[&[21]], &[&[21, 22]], &[&[]]]);
    let idle = any_of::<H, _>(&[0, 1]);

    let (sched, outside) = set(Config { ring: 8, ..numbers(1 + idle) }, true);
    let m0 = one_runs(&sched);
    first.iter().for_each(|gs| outside.gives(0, gs));
    second.iter().for_each(|gs| outside.gives(1, gs));
    let found = in_each_sleep(|| sched.next(m0), |_| Break(()));

    let (mut expected, mut gs) = (Vec::new(), Vec::<u64>::new());
    for (n, takes) in [first, second].into_iter().enumerate() {
        if let Some(&take) = takes.first() {
            expected.push(format!("source {n} gives to P0"));
            expected.extend(queued(&take[usize::from(gs.is_empty()).min(take.len())..], "P0"));
            gs.extend(take);
        }
    }
    expected.extend((gs.len() > 1 && idle > 0).then(|| "M1 starts".to_owned()));
    let outcome = gs.first().map_or("M0 spins".to_owned(), |g| format!("M0 runs G{g} under P0: Extra"));
    expected.push(outcome.clone());
    let mut told = outside.told();
    if gs.is_empty() {
        told.truncate(expected.len()); // and more
    }
    assert_eq!(told, expected);
    let trace = sched.detailed_snapshot();
    assert_eq!(trace.schedticks[0], 1 + u32::from(!gs.is_empty()), "a look in vain is no dispatch");
    if let Some(Some((m0, _))) = found {
        assert_eq!(trace.needspinning, gs.len() > 1 && idle == 0, "one more is asked for, if there is more");
        leave(m0);
    }
    outcome
}

/// The rest of a scheduler, as the poller's room sees it.
struct Rest {
    deadline: Nanos,
    is_awaited: bool,
    interrupts: Cell<usize>,
    wakes: Cell<usize>,
}

impl Neighbours for Rest {
    fn deadline(&self) -> Nanos {
        self.deadline
    }
    fn is_awaited(&self) -> bool {
        self.is_awaited
    }
    fn interrupt(&self) {
        self.interrupts.set(self.interrupts.get() + 1);
    }
    fn wakep(&self) {
        self.wakes.set(self.wakes.get() + 1);
    }
}

/// Who is in the poller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    /// Nobody, ever.
    Nobody,
    /// Nobody, since this moment.
    Since(Nanos),
    /// One who waits until this moment.
    Waits(Nanos),
    /// One who looks.
    Looks,
    /// One who looks, and another has gone to sleep instead of waiting.
    LooksAndWasMissed,
}

/// What is asked of the room.
#[derive(Debug, Clone, Copy)]
enum Asked {
    IsMissing,
    Announce(Nanos),
    Claim,
    Peek,
    NeglectedSince,
    IsBlocked,
}

/// The poller's room by itself, asked one thing.
fn one_question<H: ModelHost>() -> String {
    let who = any_of::<H, _>(&[
        Who::Nobody,
        Who::Since(7),
        Who::Waits(10),
        Who::Waits(NEVER),
        Who::Looks,
        Who::LooksAndWasMissed,
    ]);
    let asked = any_of::<H, _>(&[
        Asked::IsMissing,
        Asked::Announce(9),
        Asked::Announce(10),
        Asked::Announce(11),
        Asked::Announce(NEVER),
        Asked::Claim,
        Asked::Peek,
        Asked::NeglectedSince,
        Asked::IsBlocked,
    ]);
    let deadline = any_of::<H, _>(&[9, 10, 11, NEVER]);
    let is_awaited = any_of::<H, _>(&[false, true]);

    let before = |deadline| Rest { deadline, is_awaited: true, interrupts: Cell::new(0), wakes: Cell::new(0) };
    let rest = Rest { is_awaited, ..before(deadline) };
    let room = Netpoll::<Staged>::new();
    let claim = |until| {
        let poll = room.claim(&before(until)).expect("nobody is there");
        assert_eq!(room.prepare(&poll, &before(until)), until);
        poll
    };
    let said = Cell::new(None);
    let ask = || said.set(Some(answer(&room, asked, &rest)));
    match who {
        Who::Nobody => ask(),
        Who::Since(now) => {
            room.leave(claim(NEVER), now);
            ask();
        }
        Who::Waits(until) => {
            let _poll = claim(until);
            ask();
        }
        Who::Looks | Who::LooksAndWasMissed => {
            let around = before(NEVER);
            let has_looked = room.peek(
                &around,
                || 20,
                || {
                    if who == Who::LooksAndWasMissed {
                        assert!(room.claim(&before(NEVER)).is_none(), "one is there already");
                    }
                    ask();
                },
            );
            // An M that would have waited is asleep, and trusts who looks.
            let is_missed =
                who == Who::LooksAndWasMissed || matches!(asked, Asked::Claim) && (deadline != NEVER || is_awaited);
            assert_eq!((has_looked, around.wakes.get()), (true, usize::from(is_missed)), "{who:?}, {asked:?}");
            assert_eq!(room.neglected_since(), Some(20));
        }
    }
    let said = said.take().expect("it was asked");

    let is_for_something = deadline != NEVER || is_awaited;
    let is_free = matches!(who, Who::Nobody | Who::Since(_));
    let waits_beyond = |when: Nanos| matches!(who, Who::Waits(until) if until > when);
    let expected = match asked {
        Asked::IsMissing => {
            let is_served = matches!(who, Who::Waits(until) if until <= deadline);
            (u64::from(is_for_something && !is_served), 0, 0)
        }
        Asked::Announce(when) => match who {
            Who::Waits(_) => (0, usize::from(waits_beyond(when)), 0),
            _ => (0, 0, 1),
        },
        Asked::Claim => {
            (u64::from(is_for_something && is_free), usize::from(is_for_something && waits_beyond(deadline)), 0)
        }
        Asked::Peek => (u64::from(is_free), 0, 0),
        Asked::NeglectedSince => match who {
            Who::Nobody => (3, 0, 0), // long ago
            Who::Since(now) => (now, 0, 0),
            _ => (0, 0, 0),
        },
        Asked::IsBlocked => (u64::from(matches!(who, Who::Waits(_))), 0, 0),
    };
    let found = (said, rest.interrupts.get(), rest.wakes.get());
    assert_eq!(found, expected, "{who:?}, {asked:?}, due at {deadline}, awaited: {is_awaited}");
    match expected {
        (_, 1, _) => "interrupts",
        (.., 1) => "wakes",
        (0, ..) => "no",
        _ => "yes",
    }
    .to_owned()
}

fn answer(room: &Netpoll<Staged>, asked: Asked, rest: &Rest) -> u64 {
    match asked {
        Asked::IsMissing => room.is_missing(rest).into(),
        Asked::Announce(when) => {
            room.announce(when, rest);
            0
        }
        Asked::Claim => room.claim(rest).is_some().into(),
        Asked::Peek => {
            let looks = Cell::new(0);
            let has_looked = room.peek(rest, || 20, || looks.set(looks.get() + 1));
            assert_eq!(looks.get(), usize::from(has_looked), "it says whether it has looked");
            has_looked.into()
        }
        Asked::NeglectedSince => room.neglected_since().unwrap_or(0),
        Asked::IsBlocked => room.is_blocked().into(),
    }
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
    crate::model!("poll::the_last_m_waits_there::one_wait", one_wait,
        claim: "the last M waits in the poller while there is anything to wait for, and an idle P gets what it brings",
        size: "one thread plays all: 1 M, 1 or 2 Ps, 3 Gs, which an idle P or nobody gets; each of 168 waits",
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
        claim: "who waits in the poller for what is given up is brought back, and nobody else",
        size: "one thread plays all: 1 M, 1 P; each of 3 places where the M is",
        invariants: [28, 35],
        must_reach: ["nobody", "one in its bed", "one in the poller"],
        runs: [sc()]),
    crate::model!("poll::the_last_m_waits_there::a_nap", a_nap,
        claim: "where there is no poller, the last M naps in its bed until the next timer, and not longer",
        size: "one thread plays all: 1 M, 1 P, 1 or 2 timers; each of 10 naps",
        invariants: [35, 44],
        must_reach: ["Whole", "None", "Shorter", "Same", "InVain"],
        runs: [sc()]),
    crate::model!("poll::one_look_serves_all::a_turn", a_turn,
        claim: "when it is the global queue's turn, what sources and the poller have is queued, once, and others are told",
        size: "one thread plays all: 1 M, 1 or 2 Ps, two sources, a poller; each of 162 turns",
        invariants: [1, 28, 29, 30],
        must_reach: ["G2 under P0: GlobalTurn", "G11 under P0: Local", "G31 under P0: Local", "M0 spins"],
        runs: [sc()]),
    crate::model!("poll::one_look_serves_all::extra", extra,
        claim: "who has nothing to run takes from each source once: one G to run, the rest for others to steal",
        size: "one thread plays all: 1 M, 1 or 2 Ps, two sources; each of 40 looks",
        invariants: [1, 28, 30],
        must_reach: ["G11 under P0: Extra", "G21 under P0: Extra", "M0 spins"],
        runs: [sc()]),
    crate::model!("netpoll::it_knows_who_is_there::one_question", one_question,
        claim: "whatever the poller's room is asked, it answers by who is there, until when, and what there is to wait for",
        size: "one thread plays all: the room by itself; each of 432 questions",
        invariants: [28, 35],
        must_reach: ["interrupts", "wakes", "yes", "no"],
        runs: [sc()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = &[];
