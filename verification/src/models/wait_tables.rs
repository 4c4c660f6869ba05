//! A `WaitGroup` and a `Cond` whose waiters are polled by hand, one step after the other: every few steps. A list says who must be
//! woken, each time.

use crate::harness::common::any_of;
use crate::harness::told::{Log, Told, waker};
use crate::hosts::model_host::ModelHost;
use crate::model::{Model, sc};
use spinpark_kernel::waits::cond::{Cond, Place};
use std::sync::Arc;

/// More waiters there are not. Each has two wakers.
const WAITERS: usize = 3;

/// What a list knows of a waiter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// It does not wait.
    Nowhere,
    /// It waits by this waker.
    Waits(u64),
    /// It was served; alone?
    Served(bool),
    /// It was served alone, knows that, and has not gone on.
    Owes,
}

/// Those that wait, the oldest first; and who was woken.
struct Line {
    queue: Vec<usize>,
    at: [At; WAITERS],
    woken: Vec<u64>,
}

impl Line {
    fn new() -> Line {
        Line { queue: Vec::new(), at: [At::Nowhere; WAITERS], woken: Vec::new() }
    }

    fn waits(&mut self, i: usize, waker: u64) {
        if !matches!(self.at[i], At::Waits(_)) {
            self.queue.push(i);
        }
        self.at[i] = At::Waits(waker);
    }

    fn serve(&mut self, alone: bool) {
        if !self.queue.is_empty() {
            let i = self.queue.remove(0);
            let At::Waits(waker) = std::mem::replace(&mut self.at[i], At::Served(alone)) else {
                panic!("it is in the queue")
            };
            self.woken.push(waker);
        }
    }

    fn serve_all(&mut self) {
        while !self.queue.is_empty() {
            self.serve(false);
        }
    }

    /// It is dropped. Was it the only one that was notified?
    fn leaves(&mut self, i: usize) -> bool {
        self.queue.retain(|&other| other != i);
        matches!(std::mem::replace(&mut self.at[i], At::Nowhere), At::Served(true) | At::Owes)
    }

    fn check(&mut self, log: &Log, op: &dyn std::fmt::Debug) {
        log.check(&mut self.woken, op);
    }
}

#[derive(Debug, Clone, Copy)]
enum OfACond {
    /// Waits, or if it does already is polled.
    Poll(usize, u64),
    GoesOn(usize),
    Drop(usize),
    One,
    All,
}

fn steps_of_a_cond<H: ModelHost>() -> String {
    use OfACond::{All, Drop, GoesOn, One, Poll};
    const OPS: [OfACond; 10] =
        [Poll(0, 0), Poll(0, 1), Poll(1, 0), Poll(2, 1), GoesOn(0), GoesOn(1), Drop(0), Drop(1), One, All];
    let cond = Cond::<H, Told>::new();
    let (log, is_trusted) = (Arc::new(Log::default()), H::choose(2) == 1);
    let mut line = Line::new();
    let mut places: [Option<Place<'_, H, Told>>; WAITERS] = [None, None, None];
    let mut does = |op: OfACond, line: &mut Line| {
        match op {
            Poll(i, by) => {
                let mut lender = log.lender(waker(i, by), is_trusted);
                match line.at[i] {
                    At::Nowhere => {
                        let place = places[i].insert(cond.place());
                        place.enqueue(lender.copy());
                        line.waits(i, waker(i, by));
                    }
                    at => {
                        let place = places[i].as_mut().expect("it has a place");
                        let is_over = place.poll(&mut lender).is_ready();
                        assert!(is_over != matches!(at, At::Waits(_)), "{op:?} where it is {at:?}: over {is_over}");
                        match at {
                            At::Waits(_) => line.waits(i, waker(i, by)),
                            At::Served(true) => line.at[i] = At::Owes,
                            // Others were woken with it: it owes nobody anything.
                            _ => line.at[i] = if at == At::Owes { At::Owes } else { At::Served(false) },
                        }
                    }
                }
            }
            // Only who knows that it was notified goes on.
            GoesOn(i) => {
                if line.at[i] == At::Owes {
                    places[i].as_mut().expect("it has a place").goes_on();
                    line.at[i] = At::Served(false);
                }
            }
            Drop(i) => {
                places[i] = None;
                if line.leaves(i) {
                    line.serve(true);
                }
            }
            One => {
                cond.notify_one();
                line.serve(true);
            }
            All => {
                cond.notify_all();
                line.serve_all();
            }
        }
        line.check(&log, &op);
    };
    // From the beginning, or where all wait.
    if H::choose(2) == 1 {
        [Poll(0, 0), Poll(1, 0), Poll(2, 0)].into_iter().for_each(|op| does(op, &mut line));
    }
    (0..4).for_each(|_| does(any_of::<H, _>(&OPS), &mut line));
    [Drop(0), Drop(1), Drop(2)].into_iter().for_each(|op| does(op, &mut line));
    format!("{:?}", line.at[0])
}

/// The models.
pub const MODELS: &[Model] = &[crate::model!("cond::no_notification_is_missed::steps_of_a_cond", steps_of_a_cond,
        claim: "waiters that are polled, polled again, dropped or go on are woken in the order of coming; one that was notified alone, \
            and does not go on, notifies the next, and no other does",
        size: "1 thread; 3 waiters, who wait or not, 4 steps of 10 kinds",
        invariants: [98],
        must_reach: ["Nowhere"],
        runs: [sc()])];
