//! Models of `g`: the status word decides who holds a G.

use crate::engines::Engine;
use crate::harness::common::party;
use crate::hosts::model_host::{Cell, ModelHost};
use crate::model::{Model, loom, loom_apart, rc11, sc};
use crate::mutation::mutant::{Mutant, Mutation};
use spinpark::kernel::types::g::{Status, StatusWord};
use std::sync::Arc;

struct Task<H: ModelHost> {
    status: StatusWord<H>,
    data: H::Cell<u64>,
}

fn parked_and_readied<H: ModelHost>() -> String {
    let task = Arc::new(Task::<H> { status: StatusWord::new(), data: Cell::new(0) });
    let waker = party::<H, _, _>("waker", &task, |task| {
        if task.status.peek() != Status::Waiting {
            return false;
        }
        task.status.ready();
        task.status.execute();
        task.data.set(task.data.get() + 1);
        task.status.exit();
        true
    });
    task.status.execute();
    task.data.set(1);
    task.status.park();
    let woken = H::join(waker);
    let (status, data) = (task.status.peek(), task.data.get());
    assert!(woken == (status == Status::Dead), "woken {woken}, but the task is {status:?}");
    format!("woken {woken} data {data}")
}

/// The models.
pub const MODELS: &[Model] =
    &[crate::model!("g::a_status_hands_the_task_over::parked_and_readied", parked_and_readied,
        claim: "who readies and runs a G sees what was done before it parked",
        size: "2 threads, 1 G",
        invariants: [1, 3],
        must_reach: ["woken true data 2", "woken false data 1"],
        runs: [rc11(), loom(), loom_apart(), sc()])];

/// The mutants.
pub const MUTANTS: &[Mutant] = &[Mutant {
    name: "g-status-relaxed",
    room: "g",
    what: "a status edge taken with a Relaxed exchange",
    mutation: Mutation::Weaken { file: "kernel/types/g.rs", after: "fn go(", needle: "compare_exchange" },
    killed_by: &[
        ("g::a_status_hands_the_task_over::parked_and_readied", Engine::Loom),
        ("g::a_status_hands_the_task_over::parked_and_readied", Engine::Rc11),
    ],
}];
