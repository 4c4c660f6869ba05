//! A broadcast: two threads that receive, beside two that send; and one that receives nothing until all is over. What each
//! received, and what it was told that it has missed, is all that was sent.

use crate::room::{Program, Room, reached_if};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark_kernel::waits::broadcast::Missing;
use spinpark_verification::engines::Engine;
use spinpark_verification::hosts::model_host::ModelHost;
use spinpark_verification::mutation::variants::broadcast::{self as steps, Broadcast as Steps};
use std::sync::Arc;

/// How large it is, and how long it lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    capacity: usize,
    /// A sender outlives the receivers: they wait for values that come, and not for the end.
    outlives: bool,
}

/// What is done: by threads 0 and 1, which receive; and by the others, which send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Waits for a value, and takes it.
    Receive,
    /// Receives, from now on, as one more, what is there; and is dropped.
    Subscribe,
    /// Sends the next value.
    Send,
}

/// So many receive, and so many send.
const RECEIVERS: usize = 2;
const SENDERS: usize = 2;

/// The room.
#[derive(Debug, Clone, PartialEq)]
pub struct Broadcast;

impl Room for Broadcast {
    const NAME: &'static str = "broadcast";
    const CLAIM: &'static str = "each receives each value once, in one order, or is told how many it has missed";
    const THREADS: usize = RECEIVERS + SENDERS;
    const LONGEST: usize = 12;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random];
    const FALLS: &'static [&'static str] = &[
        "broadcast-looks-and-waits-apart",
        "broadcast-wakes-the-first",
        "broadcast-ends-silently",
        "broadcast-passes-over-what-it-missed",
        "broadcast-subscribes-apart",
        "broadcast-leaves-its-share",
    ];
    const PATHS: &'static [&'static str] =
        &["a receiver waited", "one has missed some", "the senders were gone", "a late one received"];
    type Setup = Setup;
    type Op = Op;

    fn setup() -> BoxedStrategy<Setup> {
        (1..=3usize, any::<bool>()).prop_map(|(capacity, outlives)| Setup { capacity, outlives }).boxed()
    }
    fn op(thread: usize) -> BoxedStrategy<Op> {
        if thread < RECEIVERS {
            return prop_oneof![4 => Just(Op::Receive), 1 => Just(Op::Subscribe)].boxed();
        }
        Just(Op::Send).boxed()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        let Setup { capacity, outlives } = program.setup;
        // One more receives, to know that all is there.
        let broadcast = Steps::<H, u64>::new(capacity, RECEIVERS + 1);
        let total = (RECEIVERS..Self::THREADS).map(|thread| program.of(thread).len() as u64).sum();
        let shared = Arc::new(Shared::<H> { broadcast, outlives, total });
        (1..SENDERS + usize::from(outlives)).for_each(|_| shared.broadcast.with(|state| state.add_sender()));
        let plays = |thread: usize| {
            let (shared, ops) = (Arc::clone(&shared), program.of(thread));
            move || match thread < RECEIVERS {
                true => shared.receives(&ops),
                false => {
                    shared.sends(thread as u64, ops.len() as u64);
                    Vec::new()
                }
            }
        };
        let others: Vec<_> = (1..Self::THREADS).map(|thread| H::fork("other", plays(thread))).collect();
        let mut received = vec![plays(0)()];
        received.extend(others.into_iter().map(|other| H::join(other)));
        if outlives {
            steps::drop_sender(&shared.broadcast);
        }
        received.push(shared.receives_all());
        let left = shared.broadcast.with(|state| (state.len(), state.receivers(), state.senders()));
        assert!(left == (0, 0, 0), "all are gone, and so many values, receivers, senders are left: {left:?}");
        in_one_order(&received);
        format!("{total} sent")
    }
}

/// No receiver got two values in another order than another did, or those of one sender out of order.
fn in_one_order(received: &[Vec<(u64, u64)>]) {
    for (number, value) in received.iter().flatten() {
        let others = received.iter().flatten().filter(|(other, _)| other == number);
        others.for_each(|(_, other)| assert!(value == other, "number {number} is {value}, and {other}"));
    }
    for one in received {
        let pairs = one.iter().zip(one.iter().skip(1));
        pairs.for_each(|((before, _), (after, _))| assert!(before < after, "received out of order: {one:?}"));
        for (i, (_, early)) in one.iter().enumerate() {
            let is_out_of_order = |(_, late): &(u64, u64)| late / 100 == early / 100 && late <= early;
            assert!(!one[i + 1..].iter().any(is_out_of_order), "a sender's values come out of order: {one:?}");
        }
    }
}

struct Shared<H: ModelHost> {
    broadcast: Steps<H, u64>,
    outlives: bool,
    total: u64,
}

impl<H: ModelHost> Shared<H> {
    fn sends(&self, thread: u64, values: u64) {
        for value in 0..values {
            let sent = steps::send(&self.broadcast, 100 * thread + value);
            assert!(sent.is_ok(), "one receives to the end, and it is not sent");
        }
        steps::drop_sender(&self.broadcast);
    }

    /// Which number each value had that it received.
    fn receives(&self, ops: &[Op]) -> Vec<(u64, u64)> {
        let (mut next, mut all) = (0, Vec::new());
        for op in ops {
            match op {
                Op::Subscribe => self.subscribes(),
                _ if self.outlives && next == self.total => (),
                _ => {
                    self.receives_one(&mut next, &mut all);
                }
            }
        }
        steps::drop_receiver(&self.broadcast, next);
        all
    }

    /// One after the other, until no sender is left.
    fn receives_all(&self) -> Vec<(u64, u64)> {
        let (mut next, mut all) = (0, Vec::new());
        while self.receives_one(&mut next, &mut all) {}
        steps::drop_receiver(&self.broadcast, next);
        all
    }

    /// Has it not ended yet?
    fn receives_one(&self, next: &mut u64, all: &mut Vec<(u64, u64)>) -> bool {
        let before = *next;
        match steps::receive(&self.broadcast, next, || reached_if(true, "a receiver waited")) {
            Ok(value) => {
                assert!(*next == before + 1, "it was to receive number {before}, and has received up to {next}");
                all.push((before, value));
            }
            Err(Missing::Lagged(missed)) => {
                reached_if(true, "one has missed some");
                assert!(*next == before + missed, "it has missed {missed} after {before}, and goes on with {next}");
            }
            Err(Missing::Closed) => {
                reached_if(true, "the senders were gone");
                assert!(before == self.total, "of {} values it has received or missed {before}", self.total);
                return false;
            }
        }
        true
    }

    fn subscribes(&self) {
        let mut next = steps::subscribe(&self.broadcast);
        while let Some(Ok(_)) = self.broadcast.with(|state| state.take(&mut next)) {
            reached_if(true, "a late one received");
        }
        steps::drop_receiver(&self.broadcast, next);
    }
}
