//! Ms that go to sleep, Gs that wait, and what is queued meanwhile.

use super::setup::{blocks, ends, parks, readies, set, spawns};
use crate::harness::embedder::{first_runs, submit};
use crate::hosts::model_host::ModelHost;
use std::sync::Arc;

/// Its P is handed off, idled, and taken again.
pub(super) fn park_and_ready<H: ModelHost>() -> String {
    let sched = set::<H>(1, 1, 1, |sched, worker, _| Some(parks(sched, worker)));
    submit(&sched, 1, 1);
    readies(&sched);
    ends(&sched)
}

/// The P that G1 hands off as it parks is wanted for G2, which readies G1.
pub(super) fn park_and_submit<H: ModelHost>() -> String {
    let sched = set::<H>(1, 2, 2, |sched, worker, n| {
        if n == 1 {
            return Some(parks(sched, worker));
        }
        readies(sched);
        Some(worker)
    });
    submit(&sched, 1, 1);
    first_runs(&sched);
    submit(&sched, 2, 2);
    ends(&sched)
}

/// The M that has run G1 finds nothing, and idles its P.
pub(super) fn sleep_and_submit<H: ModelHost>() -> String {
    let sched = set::<H>(1, 2, 2, |_, worker, _| Some(worker));
    submit(&sched, 1, 1);
    first_runs(&sched);
    submit(&sched, 2, 2);
    ends(&sched)
}

/// The same, and there is no second M to start.
pub(super) fn sleep_and_submit_with_one_m<H: ModelHost>() -> String {
    let sched = set::<H>(1, 1, 2, |_, worker, _| Some(worker));
    submit(&sched, 1, 1);
    first_runs(&sched);
    submit(&sched, 2, 2);
    ends(&sched)
}

pub(super) fn two_submit<H: ModelHost>() -> String {
    let sched = set::<H>(1, 1, 2, |_, worker, _| Some(worker));
    let other = H::fork("submitter", {
        let sched = Arc::clone(&sched);
        move || submit(&sched, 2, 2)
    });
    submit(&sched, 1, 1);
    H::join(other);
    ends(&sched)
}

/// G1's P is handed off when its system call begins.
pub(super) fn handoff_and_submit<H: ModelHost>() -> String {
    let sched = set::<H>(1, 2, 2, |sched, worker, n| Some(if n == 1 { blocks(sched, worker) } else { worker }));
    submit(&sched, 1, 1);
    first_runs(&sched);
    submit(&sched, 2, 2);
    ends(&sched)
}

/// G1 yields for G2, which comes just then.
pub(super) fn yield_and_submit<H: ModelHost>() -> String {
    let sched = set::<H>(1, 1, 2, |sched, worker, n| {
        if n > 1 {
            return Some(worker);
        }
        let worker = sched.yield_bound(worker);
        sched.observer().uses(&worker);
        Some(worker)
    });
    submit(&sched, 1, 1);
    first_runs(&sched);
    submit(&sched, 2, 2);
    ends(&sched)
}

/// G1 spawns G2 while another M, with the other P, may search.
pub(super) fn put_and_steal<H: ModelHost>() -> String {
    let sched = set::<H>(2, 2, 2, spawns);
    submit(&sched, 1, 1);
    ends(&sched)
}

/// The same: G1 then waits for G2, and keeps its P meanwhile. So G2 has to be stolen.
pub(super) fn put_and_wait_for_the_thief<H: ModelHost>() -> String {
    let sched = set::<H>(2, 2, 2, |sched, mut worker, n| {
        if n == 2 {
            sched.observer().more.happened.wakeup();
            return Some(worker);
        }
        let child = sched.observer().make(2);
        sched.ready(&mut worker, child);
        sched.observer().more.happened.sleep();
        sched.observer().uses(&worker);
        Some(worker)
    });
    submit(&sched, 1, 1);
    ends(&sched)
}

/// Ticket: G1 is readied while G2 has the only P.
pub(super) fn ready_and_run<H: ModelHost>() -> String {
    let sched = set::<H>(1, 2, 2, |sched, mut worker, n| {
        if n == 2 {
            return Some(worker);
        }
        let child = sched.observer().make(2);
        sched.ready(&mut worker, child);
        Some(parks(sched, worker))
    });
    submit(&sched, 1, 1);
    readies(&sched);
    ends(&sched)
}

/// G1's thread ends with it.
pub(super) fn end_and_submit<H: ModelHost>() -> String {
    let sched = set::<H>(1, 1, 2, |sched, worker, n| {
        if n > 1 {
            sched.observer().more.happened.wakeup();
            return Some(worker);
        }
        sched.observer().events.leaves(worker.m().0);
        sched.end(worker);
        None
    });
    submit(&sched, 1, 1);
    first_runs(&sched);
    submit(&sched, 2, 2);
    sched.observer().more.happened.sleep();
    ends(&sched)
}

/// Two system calls end at once, and there is one P.
pub(super) fn two_come_back<H: ModelHost>() -> String {
    let sched = set::<H>(1, 2, 2, |sched, worker, _| Some(blocks(sched, worker)));
    submit(&sched, 1, 2);
    ends(&sched)
}
