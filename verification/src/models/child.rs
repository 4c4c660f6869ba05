//! A G that readies two others, and keeps its P until the first of them has run. The second kicks that out of `runnext`, into the ring:
//! from there another M has to steal it. Larger than the programs of the room `sched`, and sampled with store buffers too.

use crate::engines::Engine;
use crate::harness::embedder::{Embedded, Extra, Note, finish, open, rest, small, submit};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, rc11_cut, sampled};
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::sched::observer::Event;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// G2 has run.
struct Child<H: ModelHost> {
    ran: Note<H>,
    /// Of `std`: nothing depends on it but the outcome.
    was_stolen: AtomicBool,
}

impl<H: ModelHost> Extra for Child<H> {
    fn event(&self, event: &Event<'_>) {
        if let Event::Stole { .. } = event {
            self.was_stolen.store(true, Relaxed);
        }
    }
}

fn waits_for_the_thief<H: ModelHost>(sched: &Embedded<H, Child<H>>, mut worker: Worker, n: u64) -> Option<Worker> {
    let embedder = sched.observer();
    match n {
        1 => {
            (2..=3).for_each(|child| sched.ready(&mut worker, embedder.make(child)));
            embedder.more.ran.sleep();
            embedder.uses(&worker);
        }
        2 => embedder.more.ran.wakeup(),
        _ => (),
    }
    Some(worker)
}

fn a_g_waits_for_its_child<H: ModelHost>() -> String {
    let child = Child { ran: Note::new(), was_stolen: AtomicBool::new(false) };
    let sched = open::<H, _>(small(2, 2), 3, child, waits_for_the_thief);
    rest(&sched, 2);
    submit(&sched, 1, 1);
    finish(&sched);
    let was_stolen = sched.observer().more.was_stolen.load(Relaxed);
    if was_stolen { "stole" } else { "did not steal" }.to_owned()
}

/// The model.
pub const MODELS: &[Model] =
    &[crate::model!("sched::work_is_conserved::a_g_waits_for_its_child", a_g_waits_for_its_child,
    claim: "while a G blocks its P until another has run, an idle P runs that other: no wake-up is missed",
    size: "2 Ps, 2 Ms, 3 Gs",
    invariants: [30, 36, 37],
    must_reach: ["stole"],
    runs: [rc11_cut(), sampled(Engine::Pct, 5_000), sampled(Engine::TsoPct, 20_000)])];
