//! A stop beside an M that releases its P in each of the ways there are, while another M looks for work, and no thread
//! submits anything afterwards: the stop ends, and what waits under that P runs when the world goes on.
//!
//! There is one P. M1 spins: it has scanned the queues, has idled P0, is counted, and is about to look again. G1 comes back to
//! P0 from a call, and leaves G2 there, which M1 has not seen. Then P0 is released, and the main thread stops the world and starts
//! it: each M may trust that M1 is counted. M1 looks again when the world goes on, and the main thread waits until G2
//! has run: if it does not, no thread is left to wake another, and the engine says so. All that comes before happens
//! one after the other, at gates. Where there may be no third M, the P is not given to one that would have to give it
//! to the stop.
//!
//! | P0 is released by                            | as                     | model            |
//! |----------------------------------------------|------------------------|------------------|
//! | M0, whose G waits                            | `park_bound`           | `an_m_parks`     |
//! | M0, whose G ends bound to it                 | `end`                  | `an_m_ends`      |
//! | M0, whose G makes a call that blocks         | `entersyscallblock`    | `an_m_blocks`    |
//! | M0, whose G makes a call; or the stop        | `entersyscall`         | `an_m_enters`    |
//! | the monitor, out of the call of M0's G       | `retake`               | `it_is_retaken`  |
//! | M1 itself, which spins under it, and is trusted by a submitter | `idle` | `an_m_looks`     |

use crate::harness::common::party;
use crate::harness::embedder::{self, submit};
use crate::harness::script::{
    HALT, MAIN, Scripted, begin, for_ever, numbers, saw, says_and_keeps, script, scripted, waits_at, with_sources,
};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, rc11, rc11_cut};
use spinpark_kernel::host::Parker;
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::locked::Wake;
use spinpark_kernel::protocol::work_source::{Waker, WorkSource};
use spinpark_kernel::sched::sysmon::SysmonTicks;
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::p::PId;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// M0 waits here, and then releases its P.
const RELEASES: usize = 1;

/// What M0 does with its P, and G1.
type Release<H> = fn(&Scripted<H>, Worker) -> Option<Worker>;

/// G1 makes a call that blocks, for which M1 is started, comes back, and leaves G2 under P0. G2 opens the main thread's gate; on M1,
/// which looks only after the stop, it keeps its P.
fn play<H: ModelHost>(sched: &Scripted<H>, worker: Worker, n: u64, release: Release<H>) -> Option<Worker> {
    if n == 2 && worker.m().0 == 1 {
        return says_and_keeps(sched, worker);
    }
    if n == 2 {
        script(sched).open(MAIN);
        return Some(worker);
    }
    waits_at(sched, RELEASES);
    let away = sched.entersyscallblock(worker);
    script(sched).wait(RELEASES);
    let (mut worker, _) = sched.exitsyscall_bound(away);
    sched.goyield(&mut worker, sched.observer().make(2));
    waits_at(sched, RELEASES);
    release(sched, worker)
}

/// M1 is about to look again, and M0 to release P0.
fn two_run<H: ModelHost>(max_ms: usize, play: fn(&Scripted<H>, Worker, u64) -> Option<Worker>) -> Scripted<H> {
    let sched = scripted::<H>(numbers(1, max_ms), 2, play);
    begin(&sched, 1);
    script(&sched).halts_at(saw::SOUGHT);
    for _ in ["M1 halts", "M0 is back"] {
        script(&sched).open(RELEASES);
        script(&sched).wait(MAIN);
    }
    script(&sched).forget();
    sched
}

/// Stops the world, starts it, and waits for G2.
fn stops<H: ModelHost>(sched: &Scripted<H>) -> String {
    embedder::stops(sched, |_| ());
    script(sched).open(HALT);
    script(sched).wait(MAIN);
    script(sched).words(&[
        (saw::WOKE, "woke"),
        (saw::STARTED, "started"),
        (saw::REFUSED, "refused"),
        (saw::SLEPT, "slept"),
    ])
}

fn released_by<H: ModelHost>(max_ms: usize, play: fn(&Scripted<H>, Worker, u64) -> Option<Worker>) -> String {
    let sched = two_run::<H>(max_ms, play);
    script(&sched).open(RELEASES);
    stops(&sched)
}

fn an_m_parks<H: ModelHost>() -> String {
    released_by::<H>(2, |sched, worker, n| {
        play(sched, worker, n, |sched, worker| Some(sched.park_bound(worker, Wake::Outside).0))
    })
}

fn an_m_ends<H: ModelHost>() -> String {
    released_by::<H>(2, |sched, worker, n| {
        play(sched, worker, n, |sched, worker| {
            sched.observer().events.leaves(worker.m().0);
            sched.end(worker);
            None
        })
    })
}

fn an_m_blocks<H: ModelHost>() -> String {
    released_by::<H>(3, |sched, worker, n| {
        play(sched, worker, n, |sched, worker| {
            script(sched).leaves(sched.entersyscallblock(worker));
            for_ever::<H>()
        })
    })
}

/// G1's call ends, for without a monitor its P may stay with it.
fn an_m_enters<H: ModelHost>() -> String {
    released_by::<H>(2, |sched, worker, n| {
        play(sched, worker, n, |sched, worker| Some(sched.exitsyscall_bound(sched.entersyscall(worker)).0))
    })
}

/// G1 is in a call that does not end, and the monitor has seen it once.
fn it_is_retaken<H: ModelHost>() -> String {
    let sched = two_run::<H>(2, |sched, worker, n| {
        play(sched, worker, n, |sched, worker| {
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
    let outcome = stops(&sched);
    H::join(monitor);
    let retaken = if script(&sched).has_seen(saw::RETAKEN) { ", retaken" } else { "" };
    outcome + retaken
}

/// A source that never has a G. M0 asks it when it has looked into the global queue, and halts.
struct Nothing<H: ModelHost>(Arc<[H::Parker; 2]>, AtomicU32, Waker);

impl<H: ModelHost> WorkSource for Nothing<H> {
    fn waker(&self) -> &Waker {
        &self.2
    }
    fn has_work(&self) -> bool {
        // The first time that an M searches and finds nothing before it: all others wait then.
        if self.1.fetch_add(1, Relaxed) == 0 {
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

/// M0 was started for nothing, spins under P0, and has looked into the global queue. A submitter that trusts it stops the world.
fn an_m_looks<H: ModelHost>() -> String {
    let gates: Arc<[H::Parker; 2]> = Arc::new(std::array::from_fn(|_| H::Parker::new()));
    let theirs = Arc::clone(&gates);
    let sched = with_sources::<H>(
        numbers(1, 2),
        2,
        |sched, worker, _| {
            script(sched).open(MAIN);
            Some(worker)
        },
        |waker| vec![Box::new(Nothing::<H>(theirs, AtomicU32::new(0), waker.clone()))],
    );
    assert!(sched.start().is_ok(), "there is a thread");
    gates[0].park();
    submit(&sched, 2, 2);
    gates[1].unpark();
    stops(&sched)
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("stw::what_waits_runs_when_the_world_goes_on::an_m_parks", an_m_parks,
        claim: "the P of a G that begins to wait is held for a stop, or not; the G in its ring runs, though none is \
                submitted",
        size: "1 P, 2 Ms, of which one looks, 2 Gs, 1 stop",
        invariants: [16, 30, 36, 41],
        must_reach: ["refused"],
        runs: [rc11()]),
    crate::model!("stw::what_waits_runs_when_the_world_goes_on::an_m_ends", an_m_ends,
        claim: "the same of the P of an M that ends",
        size: "1 P, 2 Ms, of which one looks, 2 Gs, 1 stop",
        invariants: [16, 30, 36, 41],
        must_reach: ["refused", "started"],
        runs: [rc11_cut()]),
    crate::model!("stw::what_waits_runs_when_the_world_goes_on::an_m_blocks", an_m_blocks,
        claim: "the same of the P of a G that makes a call that blocks",
        size: "1 P, 3 Ms, of which one looks, 2 Gs, 1 stop",
        invariants: [16, 30, 36, 41],
        must_reach: ["started"],
        runs: [rc11()]),
    crate::model!("stw::what_waits_runs_when_the_world_goes_on::an_m_enters", an_m_enters,
        claim: "the same of the P of a G that makes a short call, out of which the stop takes it, or not",
        size: "1 P, 2 Ms, of which one looks, 2 Gs, 1 stop",
        invariants: [16, 20, 30, 36, 41],
        must_reach: [],
        runs: [rc11_cut()]),
    crate::model!("stw::what_waits_runs_when_the_world_goes_on::it_is_retaken", it_is_retaken,
        claim: "the same of a P that the monitor takes out of a call just then",
        size: "1 P, 2 Ms, of which one looks, the monitor, 2 Gs, 1 stop",
        invariants: [16, 20, 30, 36, 41],
        must_reach: ["retaken"],
        runs: [rc11_cut()]),
    crate::model!("stw::what_waits_runs_when_the_world_goes_on::an_m_looks", an_m_looks,
        claim: "what was submitted in trust of an M that looks runs, though that M gives its P to a stop instead",
        size: "1 P, 2 Ms, of which one looks, 1 G, 1 stop",
        invariants: [16, 30, 36, 41],
        must_reach: ["woke", "slept"],
        runs: [rc11()]),
];
