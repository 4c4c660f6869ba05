//! A stop beside an M that releases its P in each of the ways there are, while another M looks for work, and nobody submits
//! anything afterwards: the stop ends, and what waits under that P runs when the world goes on.
//!
//! M1 spins: it has scanned the rings and the global queue, and is counted. Then G1 leaves G2 under P0, which M1 does not see, and
//! P0 is released. The main thread stops the world, starts it, and waits until G2 has run: if it does not, nobody is left to
//! wake anybody, and the engine says so.
//!
//! | P0 is released by                            | as                     | model            |
//! |----------------------------------------------|------------------------|------------------|
//! | M0, whose G waits                            | `park_bound`           | `an_m_parks`     |
//! | M0, whose G ends bound to it                 | `end`                  | `an_m_ends`      |
//! | M0, whose G makes a call that blocks         | `entersyscallblock`    | `an_m_blocks`    |
//! | M0, whose G makes a call; or the stop        | `entersyscall`         | `an_m_enters`    |
//! | the monitor, out of the call of M0's G       | `retake`               | `it_is_retaken`  |

use crate::harness::common::party;
use crate::harness::embedder::submit;
use crate::harness::script::{MAIN, Scripted, begin, for_ever, numbers, saw, script, waits_at, with_sources};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, rc11_cut};
use spinpark::host::Parker;
use spinpark::kernel::protocol::find::Worker;
use spinpark::kernel::protocol::locked::Wake;
use spinpark::kernel::protocol::work_source::{Waker, WorkSource};
use spinpark::kernel::sched::sysmon::SysmonTicks;
use spinpark::kernel::types::g::G;
use spinpark::kernel::types::p::PId;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// M0 waits here, and then releases its P.
const RELEASES: usize = 1;

/// What M0 does with its P, and G1.
type Release<H> = fn(&Scripted<H>, Worker) -> Option<Worker>;

/// A source that never has a G. It is asked when G1 was found, and G3; and then by M1, which stops here.
struct Nothing<H: ModelHost>(Arc<[H::Parker; 2]>, AtomicU32, Waker);

impl<H: ModelHost> WorkSource for Nothing<H> {
    fn waker(&self) -> &Waker {
        &self.2
    }
    fn has_work(&self) -> bool {
        // Everybody else waits then.
        if self.1.fetch_add(1, Relaxed) == 2 {
            self.0[0].unpark();
            self.0[1].park();
        }
        false
    }
    fn take(&self, _: Option<PId>, _: &mut dyn FnMut(G)) {}
    fn is_expecting(&self) -> bool {
        false
    }
}

/// G1 leaves G2 under P0, and M1 is about to idle P1 when G3 has ended. G2 opens the main thread's gate.
fn others<H: ModelHost>(sched: &Scripted<H>, mut worker: Worker, n: u64, release: Release<H>) -> Option<Worker> {
    match n {
        1 => {
            waits_at(sched, RELEASES);
            sched.goyield(&mut worker, sched.observer().make(2));
            waits_at(sched, RELEASES);
            return release(sched, worker);
        }
        3 => (),
        _ => script(sched).open(MAIN),
    }
    Some(worker)
}

/// And M1 waits at the gate that is returned.
fn two_run<H: ModelHost>(play: fn(&Scripted<H>, Worker, u64) -> Option<Worker>) -> (Scripted<H>, Arc<[H::Parker; 2]>) {
    let gates = Arc::new(std::array::from_fn(|_| H::Parker::new()));
    let theirs = Arc::clone(&gates);
    let sched = with_sources::<H>(numbers(2, 3), 3, play, |waker| {
        vec![Box::new(Nothing::<H>(theirs, AtomicU32::new(0), waker.clone()))]
    });
    begin(&sched, 1);
    submit(&sched, 3, 3);
    gates[0].park();
    script(&sched).open(RELEASES);
    script(&sched).wait(MAIN);
    script(&sched).forget();
    (sched, gates)
}

/// Stops the world, starts it, and waits for G2.
fn stops<H: ModelHost>(sched: &Scripted<H>, gates: &[H::Parker; 2]) -> String {
    gates[1].unpark();
    let stopped = sched.stop_the_world(None);
    sched.observer().is_stopped(true);
    sched.observer().is_stopped(false);
    assert!(sched.start_the_world(stopped).is_none(), "it was stopped from outside");
    script(sched).wait(MAIN);
    script(sched).words(&[(saw::STOLE, "stole"), (saw::STARTED, "started"), (saw::SLEPT, "slept")])
}

fn released_by<H: ModelHost>(play: fn(&Scripted<H>, Worker, u64) -> Option<Worker>) -> String {
    let (sched, gates) = two_run::<H>(play);
    script(&sched).open(RELEASES);
    stops(&sched, &gates)
}

fn an_m_parks<H: ModelHost>() -> String {
    released_by::<H>(|sched, worker, n| {
        others(sched, worker, n, |sched, worker| Some(sched.park_bound(worker, Wake::Outside).0))
    })
}

fn an_m_ends<H: ModelHost>() -> String {
    released_by::<H>(|sched, worker, n| {
        others(sched, worker, n, |sched, worker| {
            sched.observer().events.leaves(worker.m().0);
            sched.end(worker);
            None
        })
    })
}

fn an_m_blocks<H: ModelHost>() -> String {
    released_by::<H>(|sched, worker, n| {
        others(sched, worker, n, |sched, worker| {
            script(sched).leaves(sched.entersyscallblock(worker));
            for_ever::<H>()
        })
    })
}

/// G1's call ends, for without a monitor its P may stay with it.
fn an_m_enters<H: ModelHost>() -> String {
    released_by::<H>(|sched, worker, n| {
        others(sched, worker, n, |sched, worker| Some(sched.exitsyscall_bound(sched.entersyscall(worker)).0))
    })
}

/// G1 is in a call that does not end, and the monitor has seen it once.
fn it_is_retaken<H: ModelHost>() -> String {
    let (sched, gates) = two_run::<H>(|sched, worker, n| {
        others(sched, worker, n, |sched, worker| {
            script(sched).leaves(sched.entersyscall(worker));
            script(sched).open(MAIN);
            for_ever::<H>()
        })
    });
    script(&sched).open(RELEASES);
    script(&sched).wait(MAIN);
    let mut watch: SysmonTicks = sched.watch();
    assert!(!sched.tick(&mut watch, 1), "it is the first look");
    let monitor = party::<H, _, _>("monitor", &Arc::new(Arc::clone(&sched)), move |sched| {
        sched.tick(&mut watch, 20_001);
    });
    let outcome = stops(&sched, &gates);
    H::join(monitor);
    let retaken = if script(&sched).has_seen(saw::RETAKEN) { ", retaken" } else { "" };
    outcome + retaken
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("stw::what_waits_runs_when_the_world_goes_on::an_m_parks", an_m_parks,
        claim: "the P of a G that begins to wait is held for a stop, or not; the G in its ring runs, though nobody submits",
        size: "2 Ps, 3 Ms, of which one looks, 3 Gs, 1 stop",
        invariants: [16, 30, 36, 41],
        must_reach: ["stole", "started"],
        runs: [rc11_cut()]),
    crate::model!("stw::what_waits_runs_when_the_world_goes_on::an_m_ends", an_m_ends,
        claim: "the same of the P of an M that ends",
        size: "2 Ps, 3 Ms, of which one looks, 3 Gs, 1 stop",
        invariants: [16, 30, 36, 41],
        must_reach: ["stole", "started"],
        runs: [rc11_cut()]),
    crate::model!("stw::what_waits_runs_when_the_world_goes_on::an_m_blocks", an_m_blocks,
        claim: "the same of the P of a G that makes a call that blocks",
        size: "2 Ps, 3 Ms, of which one looks, 3 Gs, 1 stop",
        invariants: [16, 30, 36, 41],
        must_reach: ["stole", "started"],
        runs: [rc11_cut()]),
    crate::model!("stw::what_waits_runs_when_the_world_goes_on::an_m_enters", an_m_enters,
        claim: "the same of the P of a G that makes a short call, out of which the stop takes it, or not",
        size: "2 Ps, 3 Ms, of which one looks, 3 Gs, 1 stop",
        invariants: [16, 20, 30, 36, 41],
        must_reach: ["stole"],
        runs: [rc11_cut()]),
    crate::model!("stw::what_waits_runs_when_the_world_goes_on::it_is_retaken", it_is_retaken,
        claim: "the same of a P that the monitor takes out of a call just then",
        size: "2 Ps, 3 Ms, of which one looks, the monitor, 3 Gs, 1 stop",
        invariants: [16, 20, 30, 36, 41],
        must_reach: ["stole", "retaken"],
        runs: [rc11_cut()]),
];
