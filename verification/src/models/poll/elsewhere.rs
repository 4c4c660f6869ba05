//! Where there is no poller, and what comes from other sources.

use super::waits::EARLIER;
use super::{NOW, queued};
use crate::harness::common::any_of;
use crate::harness::transcript::{it_is, leave, numbers, one_runs, set, submit};
use crate::hosts::model_host::ModelHost;
use crate::hosts::stepped::{Stepped, in_each_sleep};
use spinpark_kernel::host::NEVER;
use spinpark_kernel::host::{Host, Nanos};
use spinpark_kernel::sched::config::Config;
use std::ops::ControlFlow::{Break, Continue};
use std::sync::{Arc, Mutex};

/// What happens to the timer for which M0 naps in its parker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TimerFate {
    /// Nothing.
    Whole,
    /// Before it lies down, it is due.
    None,
    /// One that is earlier is announced.
    Shorter,
    /// One that is later is announced.
    Same,
    /// It is given up, and the waiter is told.
    InVain,
}

/// There is no poller, but a timer, for G21.
pub(super) fn a_nap<H: ModelHost>() -> String {
    let until = any_of::<H, _>(&[EARLIER + 1, NOW]);
    let nap =
        any_of::<H, _>(&[TimerFate::Whole, TimerFate::None, TimerFate::Shorter, TimerFate::Same, TimerFate::InVain]);
    let (sched, outside) = set(numbers(1), false);
    let m0 = one_runs(&sched);
    it_is(1);
    outside.is_due(1, until);
    outside.gives_then(1, &[21]);
    if nap == TimerFate::None {
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
                (TimerFate::Shorter, 1) => {
                    theirs.is_due(0, EARLIER);
                    theirs.gives_then(0, &[11]);
                    theirs.announce(EARLIER);
                }
                (TimerFate::Same, 1) => theirs.announce(until + 1),
                (TimerFate::InVain, 1) => {
                    theirs.is_due(1, NEVER);
                    their.break_idle_poll();
                }
                (TimerFate::InVain, 2) => return Break(()),
                (_, 1) | (TimerFate::Shorter, 2) => (),
                _ => panic!("it naps again"),
            }
            Continue(())
        },
    );
    // It begins at moment 1, and no time passes when it is woken.
    let (expected, end): (&[Option<Nanos>], _) = match nap {
        TimerFate::Whole | TimerFate::Same => (&[Some(until - 1)], until),
        TimerFate::None => (&[], until),
        TimerFate::Shorter => (&[Some(until - 1), Some(EARLIER - 1)], EARLIER),
        TimerFate::InVain => (&[Some(until - 1), None], 1),
    };
    assert_eq!((&naps.lock().expect("one thread")[..], Stepped::now()), (expected, end), "{nap:?}");
    let last = outside.told().pop().expect("much has happened");
    let expected = match nap {
        TimerFate::InVain => "M0 sleeps, 1 of 1".to_owned(),
        TimerFate::Shorter => "M0 runs G11 under P0: Extra".to_owned(),
        _ => "M0 runs G21 under P0: Extra".to_owned(),
    };
    assert_eq!(last, expected, "{nap:?}");
    leave(found);
    format!("{nap:?}")
}

/// It is the turn of the global queue, and of what comes from elsewhere.
pub(super) fn a_turn<H: ModelHost>() -> String {
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
    // The only one is run next, unless another comes before it.
    let has_to_wait = gs.len() > usize::from(!is_global);
    expected.extend((has_to_wait && idle > 0).then(|| "M1 starts".to_owned()));
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
        // What was submitted has asked for one.
        let asks = has_to_wait || is_global;
        assert_eq!(trace.needspinning, asks && idle == 0, "one more is asked for, if none can be sent");
        assert_eq!(trace.snapshot.local[0], gs.len() - usize::from(!is_global));
        leave(m0);
    }
    outcome
}

/// M0 has nothing of its own to run. What sources have is taken, once.
pub(super) fn extra<H: ModelHost>() -> String {
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
    assert_eq!(trace.schedticks[0], 1 + u32::from(!gs.is_empty()), "a look that finds nothing is no dispatch");
    if let Some(Some((m0, _))) = found {
        assert_eq!(trace.needspinning, gs.len() > 1 && idle == 0, "one more is asked for, if there is more");
        leave(m0);
    }
    outcome
}
