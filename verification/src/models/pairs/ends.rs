//! The scheduler is closed, or the world stopped, while something begins or ends.

use super::setup::{S, begun, blocks, calls, ends, set, spawns};
use crate::harness::embedder::{stops, submit};
use crate::hosts::model_host::ModelHost;
use std::sync::Arc;

/// One thread submits while another closes: a G is refused, given back, or has run.
pub(super) fn close_and_submit<H: ModelHost>() -> String {
    let sched = set::<H>(1, 1, 1, |_, worker, _| Some(worker));
    let submitter = H::fork("submitter", {
        let sched = Arc::clone(&sched);
        move || sched.submit(sched.observer().make(1)).map_err(|closed| sched.observer().runs(closed.0)).is_ok()
    });
    closed(&sched, || H::join(submitter))
}

/// A G ends as the scheduler is closed.
pub(super) fn close_and_sleep<H: ModelHost>() -> String {
    let sched = begun::<H>(1, 1, 1, |_, worker, _| Some(worker));
    closed(&sched, || true)
}

/// A G is in a system call as the scheduler is closed.
pub(super) fn close_and_call<H: ModelHost>() -> String {
    let sched = begun::<H>(1, 1, 1, |sched, worker, _| Some(calls(sched, worker)));
    closed(&sched, || true)
}

/// A G enters one that is known to block, and so hands its P off.
pub(super) fn close_and_block<H: ModelHost>() -> String {
    let sched = begun::<H>(1, 1, 1, |sched, worker, _| Some(blocks(sched, worker)));
    closed(&sched, || true)
}

fn closed<H: ModelHost>(sched: &S<H>, accepted: impl FnOnce() -> bool) -> String {
    sched.observer().events.closes();
    let left: Vec<u64> = sched.close().into_iter().map(|g| sched.observer().runs(g)).collect();
    let accepted = accepted();
    sched.observer().each_ran_once();
    let snapshot = sched.snapshot();
    assert!(snapshot.alive == 0 && snapshot.global == 0 && snapshot.idle_ps == 1, "closed, but {snapshot:?}");
    format!("accepted {accepted}, gave back {}", left.len())
}

pub(super) fn stop_and_sleep<H: ModelHost>() -> String {
    let sched = begun::<H>(1, 1, 1, |_, worker, _| Some(worker));
    stops(&sched, |_| ());
    ends(&sched)
}

pub(super) fn stop_and_submit<H: ModelHost>() -> String {
    let sched = set::<H>(1, 1, 1, |_, worker, _| Some(worker));
    let stopper = H::fork("stopper", {
        let sched = Arc::clone(&sched);
        move || stops(&sched, |_| ())
    });
    submit(&sched, 1, 1);
    H::join(stopper);
    ends(&sched)
}

pub(super) fn stop_and_spawn<H: ModelHost>() -> String {
    let sched = begun::<H>(1, 1, 2, spawns);
    stops(&sched, |_| ());
    ends(&sched)
}

pub(super) fn two_stoppers<H: ModelHost>() -> String {
    let sched = set::<H>(1, 1, 0, |_, worker, _| Some(worker));
    let stopper = H::fork("stopper", {
        let sched = Arc::clone(&sched);
        move || stops(&sched, |_| ())
    });
    stops(&sched, |_| ());
    H::join(stopper);
    ends(&sched)
}
