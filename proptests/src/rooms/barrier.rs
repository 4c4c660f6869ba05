//! A barrier: two threads or three that wait for each other, again and again.

use crate::room::{Program, Room, reached_if};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark_verification::engines::Engine;
use spinpark_verification::harness::sleeper::Sleeper;
use spinpark_verification::hosts::model_host::ModelHost;
use spinpark_verification::mutation::variants::barrier::{self as steps, Barrier as Steps};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What all of them do, one such step after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// They wait for each other.
    Round,
    /// The same, and each asks twice before it sleeps.
    RoundThatAsksTwice,
}

/// The room.
#[derive(Debug, Clone, PartialEq)]
pub struct Barrier;

/// At most so many wait for each other.
const MOST: usize = 3;

impl Room for Barrier {
    const NAME: &'static str = "barrier";
    const CLAIM: &'static str = "no task leaves before the last has come, then all do, and one of them leads";
    /// All threads do the same.
    const THREADS: usize = 1;
    const LONGEST: usize = 4;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random];
    const FALLS: &'static [&'static str] =
        &["barrier-reads-the-round-later", "barrier-enqueues-after-it-looked", "barrier-wakes-the-first"];
    const PATHS: &'static [&'static str] = &["one waited"];
    type Setup = usize;
    type Op = Op;

    fn setup() -> BoxedStrategy<usize> {
        (2..=MOST).boxed()
    }
    fn op(_: usize) -> BoxedStrategy<Op> {
        prop_oneof![3 => Just(Op::Round), 1 => Just(Op::RoundThatAsksTwice)].boxed()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        let (parties, ops) = (program.setup, program.of(0));
        let counts = || (0..ops.len()).map(|_| AtomicUsize::new(0)).collect();
        let shared = Shared::<H> { barrier: Steps::<H>::new(parties), came: counts(), leaders: counts() };
        let shared = Arc::new(shared);
        let plays = || {
            let (shared, ops) = (Arc::clone(&shared), ops.clone());
            move || shared.does(&ops, parties)
        };
        let others: Vec<_> = (1..parties).map(|_| H::fork("other", plays())).collect();
        plays()();
        others.into_iter().for_each(|other| H::join(other));
        let leaders: Vec<usize> = shared.leaders.iter().map(|leaders| leaders.load(Relaxed)).collect();
        assert!(leaders.iter().all(|&leaders| leaders == 1), "so many have led in each round: {leaders:?}");
        format!("{parties} parties, {} rounds", ops.len())
    }
}

/// What came of each round. No part of what is played.
struct Shared<H: ModelHost> {
    barrier: Steps<H>,
    came: Vec<AtomicUsize>,
    leaders: Vec<AtomicUsize>,
}

impl<H: ModelHost> Shared<H> {
    fn does(&self, ops: &[Op], parties: usize) {
        for (round, op) in ops.iter().enumerate() {
            self.came[round].fetch_add(1, Relaxed);
            let waits = || reached_if(true, "one waited");
            let leads = match op {
                Op::Round => steps::wait(&self.barrier, waits),
                Op::RoundThatAsksTwice => self.asks_twice(),
            };
            let came = self.came[round].load(Relaxed);
            assert!(came == parties, "of {parties} {came} have come to round {round}, and one goes on");
            self.leaders[round].fetch_add(usize::from(leads), Relaxed);
        }
    }

    /// As if it had been woken spuriously.
    fn asks_twice(&self) -> bool {
        let (sleeper, other) = (Sleeper::<H>::new(), Sleeper::<H>::new());
        let mut wait = self.barrier.wait();
        let _ = wait.poll(&mut other.lender());
        sleeper.wait_for(|lender| wait.poll(lender))
    }
}
