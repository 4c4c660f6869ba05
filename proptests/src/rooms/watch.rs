//! A watched value: two threads that read it, and wait for changes, beside two that change it; and waiters for the ends.

use crate::room::{Program, Room, reached_if};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark_kernel::host::Lock;
use spinpark_verification::engines::Engine;
use spinpark_verification::harness::sleeper::Sleeper;
use spinpark_verification::hosts::model_host::ModelHost;
use spinpark_verification::mutation::variants::watch::{self as steps, Value, Watch as Steps};
use std::sync::Arc;

/// The waiters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Waits {
    /// The receivers for changes, of which the last may have been; a sender more outlives them.
    ForChanges,
    /// The receivers for changes, and for the end of the senders.
    ForTheSenders,
    /// The senders for the end of the receivers.
    ForTheReceivers,
}

/// What is done: by threads 0 and 1, which receive; and by the others, which send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Reads the value.
    Read,
    /// Waits for a change, and reads it; where it waits for the receivers, reads.
    Changed,
    /// Adds one to the value.
    Add,
}

/// So many receive, and so many send.
const RECEIVERS: usize = 2;
const SENDERS: usize = 2;

/// The room.
#[derive(Debug, Clone, PartialEq)]
pub struct Watch;

impl Room for Watch {
    const NAME: &'static str = "watch";
    const CLAIM: &'static str = "no change and no end is missed, and a version is read with its value";
    const THREADS: usize = RECEIVERS + SENDERS;
    const LONGEST: usize = 12;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random];
    const FALLS: &'static [&'static str] = &[
        "watch-counts-before-it-writes",
        "watch-reads-the-version-after",
        "watch-enqueues-after-it-looked",
        "watch-wakes-the-first",
        "watch-ends-silently",
        "watch-counts-receivers-apart",
    ];
    const PATHS: &'static [&'static str] =
        &["a receiver waited", "one has passed over a change", "the senders were gone", "a sender waited"];
    type Setup = Waits;
    type Op = Op;

    fn setup() -> BoxedStrategy<Waits> {
        prop_oneof![Just(Waits::ForChanges), Just(Waits::ForTheSenders), Just(Waits::ForTheReceivers)].boxed()
    }
    fn op(thread: usize) -> BoxedStrategy<Op> {
        if thread < RECEIVERS {
            return prop_oneof![1 => Just(Op::Read), 3 => Just(Op::Changed)].boxed();
        }
        Just(Op::Add).boxed()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        let watch = Steps::<H>::new(Value(H::Lock::new(0)), RECEIVERS);
        let total = (RECEIVERS..Self::THREADS).map(|thread| program.of(thread).len() as u64).sum();
        let shared = Arc::new(Shared::<H> { watch, waits: program.setup, total });
        // One there is.
        (1..SENDERS).for_each(|_| shared.watch.add_sender());
        let outlives = program.setup == Waits::ForChanges;
        if outlives {
            shared.watch.add_sender();
        }
        let plays = |thread: usize| {
            let (shared, ops) = (Arc::clone(&shared), program.of(thread));
            move || if thread < RECEIVERS { shared.receives(&ops) } else { shared.sends(ops.len()) }
        };
        let others: Vec<_> = (1..Self::THREADS).map(|thread| H::fork("other", plays(thread))).collect();
        plays(0)();
        others.into_iter().for_each(|other| H::join(other));
        if outlives {
            steps::drop_sender(&shared.watch);
        }
        let (ends, read) =
            (shared.watch.with(|state| (state.senders(), state.receivers())), steps::read(&shared.watch));
        assert!(ends == (0, 0), "all are gone, and so many are counted: {ends:?}");
        assert!(read == (total, total), "it was changed {total} times, and is {read:?}");
        format!("{total} changes")
    }
}

struct Shared<H: ModelHost> {
    watch: Steps<H>,
    waits: Waits,
    /// How often it is changed.
    total: u64,
}

impl<H: ModelHost> Shared<H> {
    fn receives(&self, ops: &[Op]) {
        let mut seen = 0;
        for op in ops {
            // A change that is yet to come, or the end.
            let is_to_come = match self.waits {
                Waits::ForChanges => seen < self.total,
                Waits::ForTheSenders => true,
                Waits::ForTheReceivers => false,
            };
            if *op == Op::Changed && is_to_come {
                match steps::changed(&self.watch, seen, || reached_if(true, "a receiver waited")) {
                    Ok(version) => assert!(version > seen, "version {version} is no change after {seen}"),
                    Err(_) => {
                        reached_if(true, "the senders were gone");
                        assert!(seen == self.total, "it has ended, and of {} changes {seen} were seen", self.total);
                    }
                }
            }
            let (value, version) = steps::read(&self.watch);
            assert!(value == version, "version {version} is read with value {value}");
            assert!(version >= seen, "version {version} is read after {seen}");
            reached_if(version > seen + 1, "one has passed over a change");
            seen = version;
        }
        steps::drop_receiver(&self.watch);
    }

    fn sends(&self, changes: usize) {
        (0..changes).for_each(|_| steps::modify(&self.watch, |value| *value += 1));
        if self.waits == Waits::ForTheReceivers {
            let mut closed = self.watch.closed();
            Sleeper::<H>::new().wait_for(|lender| {
                let polled = closed.poll(lender);
                reached_if(polled.is_pending(), "a sender waited");
                polled
            });
        }
        steps::drop_sender(&self.watch);
    }
}
