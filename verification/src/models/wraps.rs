//! Counters that start near their wrap, in the whole scheduler: a P's dispatches, which say whose turn it is.
//!
//! The P's number of takings and what the monitor remembers of both have their models in `syscall`, `sysmon` and `monitor`, the
//! ring's cursors in `runq`; random programs of the whole scheduler start all of them there.

use crate::harness::common::g;
use crate::harness::transcript::{S, begin, leave, numbers, set, submit};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, sc};
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::sched::config::Config;

/// The G in the ring, and the one that is submitted again and again.
const LOCAL: u64 = 1;
const SUBMITTED: u64 = 9;

/// `n`, which has run, goes back to where it came from; what runs next.
fn next(sched: &S, mut worker: Worker, n: u64) -> (Worker, u64) {
    match n {
        LOCAL => sched.goyield(&mut worker, g(LOCAL)),
        _ => submit(sched, SUBMITTED),
    }
    let (worker, g) = sched.next(worker).expect("it is open");
    (worker, g.into_raw().get())
}

/// One P, of whose dispatches every second to fourth is the global queue's; a G is in its ring, another in the global queue.
fn one_in_so_many<H: ModelHost>() -> String {
    let every = 2 + H::choose(3);
    let start = u32::MAX - H::choose(9) as u32;
    let (sched, _) = set(Config { global_every: every as u32, ..numbers(1) }, false);
    sched.counters_start_at(0, start);
    submit(&sched, LOCAL);
    let mut worker = begin(&sched);
    submit(&sched, SUBMITTED);
    let (mut n, mut waits, mut turns, mut early) = (LOCAL, 0, 0, 0);
    // So many dispatches that each of the starts is left far behind.
    for _ in 0..20 {
        let before = n;
        (worker, n) = next(&sched, worker, n);
        waits = if n == SUBMITTED { 0 } else { waits + 1 };
        turns += u32::from(n == SUBMITTED);
        assert!(waits < every, "one in {every} is the global queue's turn, and {waits} were not, from {start} on");
        // Where 2^32 is no multiple, the first turn after the wrap comes too early.
        early += u32::from(before == SUBMITTED && n == SUBMITTED);
        assert!(early <= 1, "the G in the ring is passed over again and again, from {start} on");
    }
    leave(Some(worker));
    format!("one in {every}, {turns} of 20")
}

/// The models.
pub const MODELS: &[Model] = &[crate::model!("sched::the_global_queue_has_its_turn::one_in_so_many", one_in_so_many,
    claim: "one dispatch in so many is the global queue's, also as the number of dispatches wraps around; one comes early then",
    size: "one thread plays all: 1 P, 1 M, 2 Gs, 20 dispatches from each of 9 beginnings; one in 2, 3 or 4",
    invariants: [40],
    must_reach: ["one in 2", "one in 3", "one in 4"],
    runs: [sc()])];
