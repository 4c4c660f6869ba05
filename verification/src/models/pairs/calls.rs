//! System calls, and the parties that want the P meanwhile.

use super::setup::{S, begun, blocks, calls, ends, set, spawns, ticks};
use crate::harness::embedder::{stops, submit};
use crate::hosts::model_host::ModelHost;
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::stw::safepoint::SafepointFn;
use spinpark_kernel::types::p::PId;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// A G is preempted by the monitor's signal, and goes on without its P until it gets one again.
fn is_interrupted<H: ModelHost>(sched: &S<H>, worker: Worker) -> Worker {
    sched.observer().events.leaves(worker.m().0);
    let away = sched.interrupt(worker);
    let (worker, _) = sched.exitsyscall_bound(away);
    sched.observer().uses(&worker);
    worker
}

pub(super) fn call_and_retake<H: ModelHost>() -> String {
    let sched = begun::<H>(1, 1, 1, |sched, worker, _| Some(calls(sched, worker)));
    ticks(&sched);
    ends(&sched)
}

/// G2 waits in the ring while G1 makes its system call.
pub(super) fn call_and_retake_for_another<H: ModelHost>() -> String {
    let sched = begun::<H>(1, 2, 2, |sched, worker, n| {
        let worker = spawns(sched, worker, n)?;
        Some(if n == 1 { calls(sched, worker) } else { worker })
    });
    ticks(&sched);
    ends(&sched)
}

pub(super) fn interrupt_and_retake<H: ModelHost>() -> String {
    let sched = begun::<H>(1, 1, 1, |sched, worker, _| Some(is_interrupted(sched, worker)));
    ticks(&sched);
    ends(&sched)
}

/// The same while a second G waits in the ring.
pub(super) fn one_hog<H: ModelHost>() -> String {
    let sched = begun::<H>(1, 2, 2, |sched, worker, n| {
        let worker = spawns(sched, worker, n)?;
        Some(if n == 1 { is_interrupted(sched, worker) } else { worker })
    });
    ticks(&sched);
    ends(&sched)
}

pub(super) fn one_p_two_syscalls<H: ModelHost>() -> String {
    let sched = begun::<H>(1, 2, 2, |sched, worker, n| spawns(sched, worker, n).map(|worker| calls(sched, worker)));
    ticks(&sched);
    ends(&sched)
}

/// No P is retaken: what is left to go wrong is the count of those that are detached.
pub(super) fn two_hogs<H: ModelHost>() -> String {
    let sched = set::<H>(2, 2, 2, |sched, worker, n| spawns(sched, worker, n).map(|w| is_interrupted(sched, w)));
    submit(&sched, 1, 1);
    ends(&sched)
}

pub(super) fn interrupt_and_stop<H: ModelHost>() -> String {
    let sched = begun::<H>(1, 1, 1, |sched, worker, _| Some(is_interrupted(sched, worker)));
    stops(&sched, |_| ());
    ends(&sched)
}

pub(super) fn call_and_stop<H: ModelHost>() -> String {
    let sched = begun::<H>(1, 1, 1, |sched, worker, _| Some(calls(sched, worker)));
    stops(&sched, |_| ());
    ends(&sched)
}

/// The system call lasts until the stop is over: a stopper that left the P there would wait for ever.
pub(super) fn long_call_and_stop<H: ModelHost>() -> String {
    let sched = begun::<H>(1, 1, 1, |sched, worker, _| {
        let away = sched.entersyscall(worker);
        sched.observer().more.happened.sleep();
        let (worker, _) = sched.exitsyscall_bound(away);
        sched.observer().uses(&worker);
        Some(worker)
    });
    stops(&sched, |_| ());
    sched.observer().more.happened.wakeup();
    ends(&sched)
}

pub(super) fn block_and_stop<H: ModelHost>() -> String {
    let sched = begun::<H>(1, 1, 1, |sched, worker, _| Some(blocks(sched, worker)));
    stops(&sched, |_| ());
    ends(&sched)
}

/// A function runs once under the only P.
fn passes<H: ModelHost>(sched: &S<H>) -> Arc<AtomicU32> {
    let count = Arc::new(AtomicU32::new(0));
    let (theirs, embedder) = (Arc::clone(&count), Arc::clone(sched));
    let function: Arc<SafepointFn> = Arc::new(move |p: PId| {
        embedder.observer().uses_p(p);
        theirs.fetch_add(1, Relaxed);
    });
    assert!(sched.for_each_p(None, &function).is_none(), "the caller was no M");
    count
}

fn passed<H: ModelHost>(sched: &S<H>) -> String {
    let count = passes(sched);
    let at_once = count.load(Relaxed);
    assert!(at_once == 1, "it ran {at_once} times under the only P");
    let outcome = ends(sched);
    let count = count.load(Relaxed);
    assert!(count == 1, "it ran {count} times under the only P");
    outcome
}

pub(super) fn call_and_safepoint<H: ModelHost>() -> String {
    let sched = begun::<H>(1, 1, 1, |sched, worker, _| Some(calls(sched, worker)));
    passed(&sched)
}

pub(super) fn block_and_safepoint<H: ModelHost>() -> String {
    let sched = begun::<H>(1, 1, 1, |sched, worker, _| Some(blocks(sched, worker)));
    passed(&sched)
}

/// The world is stopped while another thread passes a safepoint.
pub(super) fn stop_and_safepoint<H: ModelHost>() -> String {
    let sched = set::<H>(1, 1, 0, |_, worker, _| Some(worker));
    let stopper = H::fork("stopper", {
        let sched = Arc::clone(&sched);
        move || stops(&sched, |_| ())
    });
    let count = passes(&sched);
    H::join(stopper);
    let outcome = ends(&sched);
    assert!(count.load(Relaxed) == 1, "it ran {} times under the only P", count.load(Relaxed));
    outcome
}

fn resizes<H: ModelHost>(sched: &S<H>, to: usize) {
    stops(sched, |stopped| sched.procresize(stopped, to)).expect("there is a place for so many");
}

/// One of two Ps ends while the M goes to sleep.
pub(super) fn sleep_and_resize<H: ModelHost>() -> String {
    let sched = begun::<H>(2, 1, 1, |_, worker, _| Some(worker));
    resizes(&sched, 1);
    ends(&sched)
}

pub(super) fn submit_and_resize<H: ModelHost>() -> String {
    let sched = set::<H>(2, 1, 1, |_, worker, _| Some(worker));
    let submitter = H::fork("submitter", {
        let sched = Arc::clone(&sched);
        move || submit(&sched, 1, 1)
    });
    resizes(&sched, 1);
    H::join(submitter);
    ends(&sched)
}

pub(super) fn call_and_resize<H: ModelHost>() -> String {
    let sched = begun::<H>(2, 1, 1, |sched, worker, _| Some(calls(sched, worker)));
    resizes(&sched, 1);
    ends(&sched)
}
