//! Ms that have slept for long, and how the monitor ends.

use super::naps::{NapChecker, NapEnd, lives};
use crate::harness::common::any_of;
use crate::harness::transcript::{leave, numbers, one_runs, set, submit};
use crate::hosts::model_host::ModelHost;
use crate::hosts::stepped::{Stepped, for_ever, in_each_sleep, unless_gone, until_woken, vanish};
use spinpark_kernel::host::{Host, Nanos};
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::sysmon::{CALM, QUIET, SHORTEST};
use spinpark_kernel::sched::config::Config;
use std::cell::RefCell;
use std::ops::ControlFlow::Continue;
use std::rc::Rc;
use std::sync::Arc;

/// Some Ms have fallen asleep, one after the other, and the monitor ends those that have slept for long.
pub(super) fn sleepers<H: ModelHost>() -> String {
    let keep = any_of::<H, _>(&[
        SHORTEST,
        QUIET + SHORTEST,
        // In its first deep sleep it has to wait for just 1 ns.
        SHORTEST + Nanos::from(CALM) * QUIET + 1,
        100 * QUIET,
        Nanos::MAX,
    ]);
    let gaps = [0; 2].map(|_| any_of::<H, _>(&[0, 1, keep.min(1_000 * QUIET) / 2]));
    let (sched, outside) = set(Config { procs: 3, keep_alive: keep, ..numbers(3) }, true);
    let busy: Vec<Worker> = (1..=3)
        .map(|n| {
            submit(&sched, n);
            crate::harness::transcript::begin(&sched)
        })
        .collect();
    let mut busy = busy.into_iter();
    let (m0, m1, m2) = (busy.next().expect("M0"), busy.next().expect("M1"), busy.next().expect("M2"));
    let mut checker = NapChecker::new(&sched, &outside);
    checker.asleep = vec![(0, 1), (1, 1 + gaps[0]), (2, 1 + gaps[0] + gaps[1])];
    Stepped::pass(1);
    let theirs = Arc::clone(&sched);
    let monitor = move || {
        Stepped::pass(gaps[0]);
        for_ever(|| theirs.next(m1));
        Stepped::pass(gaps[1]);
        for_ever(|| theirs.next(m2));
        assert_eq!(theirs.snapshot().sleeping, 3);
        outside.told();
        lives(checker, |_, nanos| if nanos.is_none() { NapEnd::Left } else { NapEnd::Whole });
        let left = theirs.snapshot().sleeping;
        assert_eq!(left, if keep == Nanos::MAX { 3 } else { 1 }, "one always stays");
        if left == 3 {
            vanish();
        }
    };
    let slept = unless_gone(|| until_woken(|| sched.next(m0), monitor));
    match slept {
        None => "all stay".to_owned(),
        Some((found, ())) => {
            assert!(found.is_none(), "M0 is told to end");
            assert_eq!(sched.snapshot().alive, 2, "M1 has yet to hear of it");
            "one stays".to_owned()
        }
    }
}

/// Two Ms sleep, and the monitor deeply until the first has slept for long; the world may be stopped. A G is submitted.
pub(super) fn two_sleepers<H: ModelHost>() -> String {
    let is_stopped = any_of::<H, _>(&[false, true]);
    let submits = any_of::<H, _>(&[8, 9, 10, 11, 12]);
    let (sched, outside) = set(Config { keep_alive: 10 * QUIET, ..numbers(2) }, true);
    let ms = [1, 2].map(|n| {
        submit(&sched, n);
        crate::harness::transcript::begin(&sched)
    });
    for m in ms {
        Stepped::pass(1);
        for_ever(|| sched.next(m));
    }
    outside.told();
    let mut checker = NapChecker::new(&sched, &outside);
    checker.asleep = vec![(0, 1), (1, 2)];
    let theirs = Arc::clone(&sched);
    lives(checker, move |nth, _| {
        if nth == 4 && is_stopped {
            leave(theirs.stop_the_world(None));
        }
        if nth == submits {
            submit(&theirs, 3);
        }
        // Of the naps only this one is deep: the first that does not go to its end if a P is taken. A P that is held is not.
        let is_deep = nth == 10;
        match nth {
            15 => NapEnd::Left,
            _ if is_deep && nth == submits && !is_stopped => NapEnd::Woken,
            _ => NapEnd::Whole,
        }
    });
    if is_stopped { "it sleeps on" } else { "it is woken" }.to_owned()
}

/// The scheduler is closed when the monitor has yet to begin, or in one of ten naps, of which the last is deep if there is no
/// M. If M0 runs G1, it ends a while after that.
pub(super) fn ten_naps<H: ModelHost>() -> String {
    let runs = any_of::<H, _>(&[false, true]);
    let closes = H::choose(11);
    let ends = if runs { (closes + H::choose(3)).max(1) } else { closes };
    let (sched, outside) = set(numbers(1), true);
    let mut worker = runs.then(|| one_runs(&sched));
    sched.start_sysmon().expect("a thread");
    let naps = Rc::new(RefCell::new(Vec::new()));
    let (slept, theirs) = (Rc::clone(&naps), Arc::clone(&sched));
    let life = move || {
        in_each_sleep(Stepped::begin, move |nanos| {
            slept.borrow_mut().push(nanos);
            let nth = slept.borrow().len();
            assert!(nth <= ends, "all have ended, and it naps");
            if nth == closes {
                for_ever(|| theirs.close());
            }
            if nth == ends
                && let Some(worker) = worker.take()
            {
                assert!(theirs.next(worker).is_none(), "it is closed");
            }
            Continue(())
        })
    };
    let ended = if closes == 0 {
        until_woken(|| assert!(sched.close().is_empty()), life).1
    } else {
        let ended = life();
        assert!(sched.close().is_empty(), "no M is waited for any more");
        ended
    };
    assert!(matches!(ended, Some(None)), "its thread ends");
    assert_eq!(naps.borrow().len(), ends, "it ends with the last M");
    // The closer, and the M that ends last, end a nap.
    let naps = naps.take();
    let whole = naps.iter().zip(1..).filter(|(_, nth)| *nth != closes && *nth != ends);
    assert_eq!(whole.map(|(nap, _)| nap.unwrap_or_default()).sum::<Nanos>(), Stepped::now(), "no other thread does");
    assert!(!outside.told().iter().any(|what| what == "interrupt"), "no M waits in the poller");
    outside.announce(Stepped::now());
    assert_eq!((outside.told().len(), Stepped::suspended()), (0, 0), "no M is sent to look any more");
    format!("after {ends} naps")
}

/// Thread creation fails for the monitor. The closer of the scheduler does not wait for it.
pub(super) fn no_thread<H: ModelHost>() -> String {
    let runs = any_of::<H, _>(&[false, true]);
    let (sched, _outside) = set(numbers(1), true);
    let worker = runs.then(|| one_runs(&sched));
    Stepped::refuse(1);
    assert!(sched.start_sysmon().is_err(), "it is told so");
    assert_eq!(Stepped::suspended(), 0);
    assert!(crate::hosts::stepped::close(&sched, worker.into_iter().collect()).is_empty());
    if runs { "closed when M0 ended" } else { "closed at once" }.to_owned()
}
