//! A barrier that is polled by hand, one step after the other: every few steps. A list says which party must be woken, each time, and
//! what each poll must answer.

use crate::harness::common::any_of;
use crate::harness::told::{Log, Told, waker};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, sc};
use spinpark_kernel::waits::barrier::{self, Barrier};
use std::sync::Arc;

/// Those that wait, the oldest first, and by which waker; and who was woken.
#[derive(Default)]
struct Line {
    queue: Vec<(usize, u64)>,
    woken: Vec<u64>,
}

impl Line {
    /// It waits by this waker now.
    fn waits(&mut self, i: usize, waker: u64) {
        match self.queue.iter_mut().find(|(other, _)| *other == i) {
            Some(place) => place.1 = waker,
            None => self.queue.push((i, waker)),
        }
    }

    fn is_in(&self, i: usize) -> bool {
        self.queue.iter().any(|(other, _)| *other == i)
    }

    fn serve_all(&mut self) {
        self.woken.extend(self.queue.drain(..).map(|(_, waker)| waker));
    }

    fn leaves(&mut self, i: usize) {
        self.queue.retain(|(other, _)| *other != i);
    }
}

#[derive(Debug, Clone, Copy)]
enum OfABarrier {
    Poll(usize, u64),
    Drop(usize),
}

/// What a list knows of one that comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Came {
    Not,
    In(u64),
    Over(bool),
}

fn steps_of_a_barrier<H: ModelHost>() -> String {
    use OfABarrier::{Drop, Poll};
    const OPS: [OfABarrier; 7] = [Poll(0, 0), Poll(0, 1), Poll(1, 0), Poll(2, 0), Drop(0), Drop(1), Drop(2)];
    let parties = H::choose(4);
    let barrier = Barrier::<H, Told>::new(parties);
    let (log, is_trusted) = (Arc::new(Log::default()), H::choose(2) == 1);
    let (mut line, mut arrived, mut round) = (Line::default(), 0, 0);
    let mut came = [Came::Not; 3];
    let mut waits: [Option<barrier::Wait<'_, H, Told>>; 3] = [None, None, None];
    for _ in 0..5 {
        let op = any_of::<H, _>(&OPS);
        match op {
            Poll(i, by) => {
                let wait = waits[i].get_or_insert_with(|| barrier.wait());
                let polled = wait.poll(&mut log.lender(waker(i, by), is_trusted));
                if came[i] == Came::Not {
                    arrived += 1;
                    came[i] = Came::In(round);
                    if arrived >= parties {
                        came[i] = Came::Over(true);
                        (arrived, round) = (0, round + 1);
                        line.serve_all();
                    }
                }
                if let Came::In(of) = came[i]
                    && of != round
                {
                    came[i] = Came::Over(false);
                }
                let expected = match came[i] {
                    Came::Over(leads) => std::task::Poll::Ready(leads),
                    _ => std::task::Poll::Pending,
                };
                assert!(polled == expected, "{op:?}: {polled:?}, and not {expected:?}");
                if expected.is_pending() {
                    line.waits(i, waker(i, by));
                }
            }
            Drop(i) => {
                waits[i] = None;
                line.leaves(i);
                came[i] = Came::Not;
            }
        }
        log.check(&mut line.woken, &op);
        assert!(barrier.with(|state| state.round()) == round, "after {op:?} it is another round than {round}");
    }
    drop(waits);
    log.check(&mut line.woken, &"the end");
    format!("for {parties}, round {round}, a party waits: {}", (0..3).any(|i| line.is_in(i)))
}

/// The models.
pub const MODELS: &[Model] =
    &[crate::model!("barrier::nobody_goes_on_before_the_last::steps_of_a_barrier", steps_of_a_barrier,
        claim: "parties that are polled, polled again and dropped are counted, led and woken as a list would",
        size: "1 thread; 3 parties, a barrier for 0 to 3, 5 steps of 7 kinds",
        invariants: [117],
        must_reach: ["for 0, round 4", "for 2, round 2", "for 3, round 1", "for 3, round 0, a party waits: true"],
        runs: [sc()])];
