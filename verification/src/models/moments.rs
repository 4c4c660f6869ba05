//! Models of a step that is right, and would be wrong a moment earlier or later: each was found missing by a mistake that lived.
//!
//! | what                                            | when                                | model                           |
//! |-------------------------------------------------|-------------------------------------|---------------------------------|
//! | the room in a ring is read                      | after the sources have filled it    | `a_source_fills_the_ring`       |
//! | an M that releases its P looks for a deadlock   | when the P is idle, not before      | `the_world_is_stopped_meanwhile` |
//! | an M is counted as spinning                     | in the step that finds none counted | `two_at_once`                   |

use crate::harness::common::party;
use crate::harness::embedder::{Embedded, Extra, finish, first_runs, open, open_with, small, stops, submit};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, rc11, rc11_cut, sc, sc_cut};
use spinpark_kernel::protocol::find::Worker;
use spinpark_kernel::protocol::locked::{Wake, Woken};
use spinpark_kernel::protocol::spinning::Spinning;
use spinpark_kernel::protocol::work_source::{Waker, WorkSource};
use spinpark_kernel::sched::config::Config;
use spinpark_kernel::sched::observer::Event;
use spinpark_kernel::types::g::G;
use spinpark_kernel::types::m::SpinningToken;
use spinpark_kernel::types::p::PId;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

/// Gs that a source gives all at once, when G1 has made them; and in which order Gs ran. No part of what is checked: one M does
/// all of it.
#[derive(Default)]
struct Filling {
    made: Mutex<Vec<G>>,
    order: Mutex<Vec<u64>>,
}

impl Extra for Arc<Filling> {}

struct FillsTheRing(Arc<Filling>, Waker);

impl WorkSource for FillsTheRing {
    fn waker(&self) -> &Waker {
        &self.1
    }
    fn has_work(&self) -> bool {
        !self.0.made.lock().unwrap().is_empty()
    }
    fn take(&self, _: Option<PId>, put: &mut dyn FnMut(G)) {
        let made = std::mem::take(&mut *self.0.made.lock().unwrap());
        made.into_iter().for_each(put);
    }
    fn is_expecting(&self) -> bool {
        false
    }
}

/// G1 leaves two Gs in the global queue, whose turn it is next, and as many in a source as the model has chosen.
fn a_source_fills_the_ring<H: ModelHost>() -> String {
    fn play<H: ModelHost>(sched: &Embedded<H, Arc<Filling>>, worker: Worker, n: u64) -> Option<Worker> {
        let embedder = sched.observer();
        embedder.more.order.lock().unwrap().push(n);
        if n == 1 {
            submit(sched, 2, 3);
            *embedder.more.made.lock().unwrap() = (4..=embedder.last()).map(|n| embedder.make(n)).collect();
        }
        Some(worker)
    }
    // As many as the ring holds.
    let given = H::choose(5) as u64;
    let filling = Arc::new(Filling::default());
    let config = Config { ring: 4, global_every: 1, ..small(1, 1) };
    let sched = open_with::<H, _>(config, 3 + given, Arc::clone(&filling), play, |waker| {
        vec![Box::new(FillsTheRing(Arc::clone(&filling), waker.clone()))]
    });
    submit(&sched, 1, 1);
    finish(&sched);
    let order = filling.order.lock().unwrap().clone();
    assert!(order.iter().copied().eq(1..=3 + given), "it is the global queue's turn, and they ran so: {order:?}");
    format!("{given} in the ring")
}

/// Was the P held for the stop?
#[derive(Default)]
struct Held(AtomicBool);

impl Extra for Held {
    fn event(&self, event: &Event<'_>) {
        if let Event::Held { .. } = event {
            self.0.store(true, Relaxed);
        }
    }
}

/// The only G waits for another G, which there is not, beside a stop.
fn the_world_is_stopped_meanwhile<H: ModelHost>() -> String {
    let sched = open::<H, Held>(small(1, 1), 1, Held::default(), |sched, worker, _| {
        let (worker, woken) = sched.park_bound(worker, Wake::Inside);
        assert!(woken == Woken::Deadlock, "its wait ended: {woken:?}");
        Some(worker)
    });
    submit(&sched, 1, 1);
    first_runs(&sched);
    stops(&sched, |_| ());
    finish(&sched);
    let deadlocks = sched.observer().reported().deadlocks;
    assert!(deadlocks == [Woken::Deadlock], "one waits for ever, and it was reported: {deadlocks:?}");
    format!("held: {}", sched.observer().more.0.load(Relaxed))
}

/// Two find none counted, and would be the first spinning M.
fn two_at_once<H: ModelHost>() -> String {
    fn is_elected<H: ModelHost>(room: &Spinning<H>) -> bool {
        room.elect().map(SpinningToken::discard).is_some()
    }
    let room = Arc::new(Spinning::<H>::new());
    let other = party::<H, _, _>("submitter", &room, is_elected);
    let mine = is_elected(&room);
    let other = H::join(other);
    assert!(mine != other && room.count() == 1, "elected: {mine}, the other: {other}; counted: {}", room.count());
    format!("the other: {other}")
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("sched::the_global_queue_has_its_turn::a_source_fills_the_ring", a_source_fills_the_ring,
        claim: "at the global queue's turn a source gives its Gs first; no more of a share is taken than fits behind them",
        size: "1 P, 1 M, a ring of 4, 3 Gs, and up to 4 of a source",
        invariants: [1, 2, 30, 36, 40],
        must_reach: ["0 in the ring", "1 in the ring", "2 in the ring", "3 in the ring", "4 in the ring"],
        runs: [rc11(), sc()]),
    crate::model!("deadlock::told_always::the_world_is_stopped_meanwhile", the_world_is_stopped_meanwhile,
        claim: "the only G waits for another as the world is stopped, and its P is held: it hears of the deadlock when the world \
            is started",
        size: "1 P, 1 M, 1 G, 1 stop",
        invariants: [16, 19, 36, 41],
        must_reach: ["held: true"],
        runs: [rc11_cut(), sc_cut()]),
    crate::model!("spinning::one_is_elected::two_at_once", two_at_once,
        claim: "of two that find none counted one is the spinning M",
        size: "2 threads",
        invariants: [14],
        must_reach: ["the other: true", "the other: false"],
        runs: [rc11(), sc()]),
];
