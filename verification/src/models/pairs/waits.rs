//! Ms that go to sleep, Gs that wait, and what is queued meanwhile.

use super::setup::{S, begun, blocks, ends, parks, readies, set, spawns};
use crate::harness::embedder::{finish, rest, submit};
use crate::hosts::model_host::ModelHost;
use spinpark_kernel::protocol::find::Worker;
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
    let sched = begun::<H>(1, 2, 2, |sched, worker, n| {
        if n == 1 {
            return Some(parks(sched, worker));
        }
        readies(sched);
        Some(worker)
    });
    submit(&sched, 2, 2);
    ends(&sched)
}

/// The M that has run G1 finds nothing, and idles its P.
pub(super) fn sleep_and_submit<H: ModelHost>() -> String {
    let sched = begun::<H>(1, 2, 2, |_, worker, _| Some(worker));
    submit(&sched, 2, 2);
    ends(&sched)
}

/// The same, and there is no second M to start.
pub(super) fn sleep_and_submit_with_one_m<H: ModelHost>() -> String {
    let sched = begun::<H>(1, 1, 2, |_, worker, _| Some(worker));
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
    let sched = begun::<H>(1, 2, 2, |sched, worker, n| Some(if n == 1 { blocks(sched, worker) } else { worker }));
    submit(&sched, 2, 2);
    ends(&sched)
}

/// G1 yields for G2, which comes just then.
pub(super) fn yield_and_submit<H: ModelHost>() -> String {
    let sched = begun::<H>(1, 1, 2, |sched, worker, n| {
        if n > 1 {
            return Some(worker);
        }
        let worker = sched.yield_bound(worker);
        sched.observer().uses(&worker);
        Some(worker)
    });
    submit(&sched, 2, 2);
    ends(&sched)
}

/// G1 spawns G2 while another M, with the other P, may search.
pub(super) fn put_and_steal<H: ModelHost>() -> String {
    let sched = set::<H>(2, 2, 2, spawns);
    submit(&sched, 1, 1);
    ends(&sched)
}

/// G1 spawns the others, and keeps its P until G2 has run. So that has to be stolen.
fn waits_for_the_thief<H: ModelHost>(sched: &S<H>, mut worker: Worker, n: u64) -> Option<Worker> {
    match n {
        1 => {
            for child in 2..=sched.observer().last() {
                let child = sched.observer().make(child);
                sched.ready(&mut worker, child);
            }
            sched.observer().more.happened.sleep();
            sched.observer().uses(&worker);
        }
        2 => sched.observer().more.happened.wakeup(),
        _ => (),
    }
    Some(worker)
}

pub(super) fn put_and_wait_for_the_thief<H: ModelHost>() -> String {
    let sched = set::<H>(2, 2, 2, waits_for_the_thief);
    submit(&sched, 1, 1);
    ends(&sched)
}

/// The same, and G3 kicks G2 out of runnext, into the ring.
pub(super) fn a_g_waits_for_its_child<H: ModelHost>() -> String {
    let sched = set::<H>(2, 2, 3, waits_for_the_thief);
    rest(&sched, 2);
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
fn ends_with_its_thread<H: ModelHost>(sched: &S<H>, worker: Worker, n: u64) -> Option<Worker> {
    if n > 1 {
        sched.observer().more.happened.wakeup();
        return Some(worker);
    }
    sched.observer().events.leaves(worker.m().0);
    sched.end(worker);
    None
}

pub(super) fn end_and_submit<H: ModelHost>() -> String {
    let sched = begun::<H>(1, 1, 2, ends_with_its_thread);
    submit(&sched, 2, 2);
    sched.observer().more.happened.sleep();
    ends(&sched)
}

/// The same, and G2 may come before G1 runs.
pub(super) fn the_only_m_ends_while_a_g_comes<H: ModelHost>() -> String {
    let sched = set::<H>(1, 1, 2, ends_with_its_thread);
    submit(&sched, 1, 2);
    sched.observer().more.happened.sleep();
    finish(&sched);
    format!("refused {}", sched.observer().reported().refused)
}

/// Two system calls end at once, and there is one P.
pub(super) fn two_come_back<H: ModelHost>() -> String {
    let sched = set::<H>(1, 2, 2, |sched, worker, n| spawns(sched, worker, n).map(|worker| blocks(sched, worker)));
    submit(&sched, 1, 1);
    ends(&sched)
}

/// G1 spawns G2, and the thread of each ends with it.
pub(super) fn two_end<H: ModelHost>() -> String {
    let sched = set::<H>(1, 2, 2, |sched, worker, n| {
        let worker = spawns(sched, worker, n)?;
        sched.observer().events.leaves(worker.m().0);
        sched.end(worker);
        None
    });
    submit(&sched, 1, 1);
    ends(&sched)
}

/// G1 leaves G2 under its P, which it hands off for a system call; the thread that is started for it is refused.
pub(super) fn threads_are_refused<H: ModelHost>() -> String {
    let sched = set::<H>(1, 2, 2, |sched, worker, n| {
        let worker = spawns(sched, worker, n)?;
        Some(if n == 1 { blocks(sched, worker) } else { worker })
    });
    // One M there must be.
    sched.start().expect("the first M");
    H::refuse_spawns(1);
    submit(&sched, 1, 1);
    let outcome = ends(&sched);
    H::refuse_spawns(0);
    outcome
}
