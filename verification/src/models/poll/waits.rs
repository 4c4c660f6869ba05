//! One M waits in the poller.

use super::{NOW, queued};
use crate::harness::common::any_of;
use crate::harness::transcript::{Outside, S, at, it_is, leave, numbers, one_runs, set, submit};
use crate::hosts::model_host::ModelHost;
use crate::hosts::stepped::{Stepped, for_ever, in_each_sleep};
use spinpark_kernel::host::NEVER;
use spinpark_kernel::host::{Host, Nanos};
use std::ops::ControlFlow::Break;
use std::sync::Arc;

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
pub(super) enum Ps {
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
pub(super) const EARLIER: Nanos = 5;

impl Ps {
    /// It happens, and is told so.
    fn happen(self, sched: &S, outside: &Outside) {
        match self {
            Ps::Idle | Ps::BothIdle => (),
            Ps::Taken => submit(sched, 2),
            Ps::Stopped => assert!(sched.start_the_world(sched.stop_the_world(None)).is_none()),
            Ps::Refused => {
                Stepped::refuse(1);
                submit(sched, 2);
            }
            Ps::Closed => for_ever(|| sched.close()),
        }
        let told: &[&str] = match self {
            Ps::Idle | Ps::BothIdle => &[],
            Ps::Taken => &["G2 for all", "M1 starts"],
            Ps::Stopped => &["Held { p: PId(0) }", "Stopped", "Started { procs: 1 }", "P0 is idle", "M1 starts"],
            // The waiter is an available M.
            Ps::Refused => {
                &["G2 for all", "M1 starts", "Refused", "P0 is idle", "M1 ends", "0 of 1 sleep", "interrupt"]
            }
            Ps::Closed => &["interrupt"],
        };
        assert_eq!(outside.told(), told);
    }
}

/// So M0 begins to wait.
pub(super) fn waits(until: Nanos) -> Vec<String> {
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
pub(super) fn brings(ready: &[u64], ps: Ps) -> Vec<String> {
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
        _ if !ready.is_empty() || Stepped::now() >= due => (brings(ready, ps), "brings something"),
        Ps::Refused => (must_recheck(), "turns back"),
        _ if !nothing_to_wait_for => (waits(due), "waits again"),
        Ps::Taken | Ps::Stopped => (lines(&["M0 sleeps, 1 of 2"]), "sleeps"),
        _ => (lines(&["M0 sleeps, 1 of 1"]), "sleeps"),
    }
}

/// The last M has nothing to do. A G waits for a socket, or something is due, or neither.
pub(super) fn one_wait<H: ModelHost>() -> String {
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
    // An M that brings many wants one more to look; one that was asked to look, and has found something, one more to
    // wait.
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
pub(super) fn on_the_way<H: ModelHost>() -> String {
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
            Ps::Refused => Stepped::refuse(1),
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
        // Too late to know: it is interrupted by the thread that gives it up.
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
pub(super) fn in_vain<H: ModelHost>() -> String {
    let who = any_of::<H, _>(&["nobody", "one in its parker", "one in the poller"]);
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
    if who == "one in its parker" {
        for_ever(|| sched.next(m0));
    } else {
        leave(m0);
    }
    outside.told();
    sched.break_idle_poll();
    assert!(outside.told().is_empty(), "the M that waits there next is not to be brought back");
    who.to_owned()
}
