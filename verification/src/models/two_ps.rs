//! Two scenes of two Ps that are larger than the programs of the room `sched`.
//!
//! A G readies two others, and keeps its P until the first of them has run: the second kicks that out of `runnext`, into the ring, and from
//! there another M has to steal it. And two Gs are preempted by signals at once: no P is retaken, so what is left to go wrong is the count
//! of those that are detached.

use crate::engines::Engine;
use crate::harness::embedder::{Embedded, Extra, Note, finish, open, rest, small, submit};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, rc11, rc11_cut, sampled};
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::sched::observer::Event;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// What the Gs tell each other, and what was seen.
struct Scene<H: ModelHost> {
    child_ran: Note<H>,
    /// Of `std`: nothing depends on it but the outcome.
    was_stolen: AtomicBool,
}

impl<H: ModelHost> Extra for Scene<H> {
    fn event(&self, event: &Event<'_>) {
        if let Event::Stole { .. } = event {
            self.was_stolen.store(true, Relaxed);
        }
    }
}

fn waits_for_the_thief<H: ModelHost>(sched: &Embedded<H, Scene<H>>, mut worker: Worker, n: u64) -> Option<Worker> {
    let embedder = sched.observer();
    match n {
        1 => {
            (2..=3).for_each(|child| sched.ready(&mut worker, embedder.make(child)));
            embedder.more.child_ran.sleep();
            embedder.uses(&worker);
        }
        2 => embedder.more.child_ran.wakeup(),
        _ => (),
    }
    Some(worker)
}

fn scene<H: ModelHost>() -> Scene<H> {
    Scene { child_ran: Note::new(), was_stolen: AtomicBool::new(false) }
}

fn ends<H: ModelHost>(sched: &Embedded<H, Scene<H>>) -> String {
    finish(sched);
    let was_stolen = sched.observer().more.was_stolen.load(Relaxed);
    if was_stolen { "stole" } else { "did not steal" }.to_owned()
}

fn a_g_waits_for_its_child<H: ModelHost>() -> String {
    let sched = open::<H, _>(small(2, 2), 3, scene(), waits_for_the_thief);
    rest(&sched, 2);
    submit(&sched, 1, 1);
    ends(&sched)
}

/// G1 readies G2; each is interrupted, and goes on without its P until it gets one.
fn is_interrupted<H: ModelHost>(sched: &Embedded<H, Scene<H>>, mut worker: Worker, n: u64) -> Option<Worker> {
    let embedder = sched.observer();
    if n == 1 {
        sched.ready(&mut worker, embedder.make(2));
    }
    embedder.events.leaves(worker.m().0);
    let (worker, _) = sched.exitsyscall_bound(sched.interrupt(worker));
    embedder.uses(&worker);
    Some(worker)
}

fn two_hogs<H: ModelHost>() -> String {
    let sched = open::<H, _>(small(2, 2), 2, scene(), is_interrupted);
    submit(&sched, 1, 1);
    ends(&sched)
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("sched::work_is_conserved::a_g_waits_for_its_child", a_g_waits_for_its_child,
        claim: "while a G blocks its P until another has run, an idle P runs that other: no wake-up is missed",
        size: "2 Ps, 2 Ms, 3 Gs",
        invariants: [30, 36, 37],
        must_reach: ["stole"],
        runs: [rc11_cut(), sampled(Engine::Pct, 5_000), sampled(Engine::TsoPct, 20_000)]),
    crate::model!("sched::each_p_has_one_owner::two_hogs", two_hogs,
        claim: "two Gs are interrupted at once, and come back at once: when all is quiet none is counted as detached",
        size: "2 Ps, 2 Ms, 2 Gs",
        invariants: [1, 2, 4, 20, 30, 31, 32, 33, 34, 36, 52],
        must_reach: ["stole"],
        runs: [rc11()]),
];
