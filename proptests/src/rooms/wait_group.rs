//! A `WaitGroup`: threads that wait, or give up, beside others that are done, and count up once more before. A waiter goes
//! on at a moment at which the count is zero.

use crate::linear::{History, Spec, linearize};
use crate::room::{Program, Room, reached_if};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark_verification::engines::Engine;
use spinpark_verification::harness::sleeper::Sleeper;
use spinpark_verification::hosts::model_host::ModelHost;
use spinpark_verification::mutation::variants::wait_group::{self as steps, Group};
use std::cell::Cell;
use std::sync::Arc;

/// What is done: by threads 0 and 1, which wait; and by the others, which work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Waits until the count is zero.
    Wait,
    /// Waits, and gives up if it has to.
    WaitOrGiveUp,
    /// Is done with one that was counted from the beginning.
    Done,
    /// Counts one more, and is done with it.
    AddAndDone,
}

/// So many threads wait.
const WAITERS: usize = 2;

/// What was called, and what came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// One more is counted.
    Added,
    /// One is done.
    Done,
    /// A waiter went on.
    WentOn,
}

/// A count.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Count(pub usize);

impl Spec for Count {
    type Call = Call;

    fn after(&self, call: &Call) -> Option<Self> {
        match call {
            Call::Added => Some(Count(self.0 + 1)),
            Call::Done => self.0.checked_sub(1).map(Count),
            Call::WentOn => (self.0 == 0).then_some(Count(0)),
        }
    }
}

/// The room.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitGroup;

impl Room for WaitGroup {
    const NAME: &'static str = "wait_group";
    const CLAIM: &'static str = "a waiter goes on, at a moment at which the count is zero";
    const THREADS: usize = 4;
    const LONGEST: usize = 12;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random];
    const FALLS: &'static [&'static str] =
        &["wait-group-wakes-at-one", "wait-group-wakes-the-first", "wait-group-enqueues-after-it-looked"];
    const PATHS: &'static [&'static str] =
        &["it had to wait", "it had not to wait", "one that waited gave up", "the count was zero, and more again"];
    type Setup = ();
    type Op = Op;

    fn setup() -> BoxedStrategy<()> {
        Just(()).boxed()
    }
    fn op(thread: usize) -> BoxedStrategy<Op> {
        if thread < WAITERS {
            return prop_oneof![3 => Just(Op::Wait), 1 => Just(Op::WaitOrGiveUp)].boxed();
        }
        prop_oneof![3 => Just(Op::Done), 1 => Just(Op::AddAndDone)].boxed()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        let count = program.ops.iter().filter(|(_, op)| *op == Op::Done).count();
        let shared = Arc::new(Shared::<H> { group: Group::<H>::new(), history: History::default() });
        assert!(shared.group.add(count), "they can be counted");
        let plays = |thread: usize| {
            let (shared, ops) = (Arc::clone(&shared), program.of(thread));
            move || ops.into_iter().for_each(|op| shared.does(thread, op))
        };
        let others: Vec<_> = (1..program.threads()).map(|thread| H::fork("other", plays(thread))).collect();
        plays(0)();
        others.into_iter().for_each(|other| H::join(other));
        let left = shared.group.with(|state| state.count());
        assert!(left == 0, "all are done, and {left} are counted");
        if let Err(wrong) = linearize(&Count(count), &shared.history.records()) {
            panic!("{wrong}");
        }
        format!("of {count}")
    }
}

struct Shared<H: ModelHost> {
    group: Group<H>,
    history: History<H, Call>,
}

impl<H: ModelHost> Shared<H> {
    fn does(&self, thread: usize, op: Op) {
        match op {
            Op::Wait => {
                let waited = Cell::new(false);
                self.history.call(thread, || (steps::wait(&self.group, || waited.set(true)), Call::WentOn));
                reached_if(waited.get(), "it had to wait");
                reached_if(!waited.get(), "it had not to wait");
            }
            Op::WaitOrGiveUp => self.history.calls(thread, || {
                let is_over = self.group.wait().poll(&mut Sleeper::<H>::new().lender()).is_ready();
                reached_if(!is_over, "one that waited gave up");
                ((), is_over.then_some(Call::WentOn).into_iter().collect())
            }),
            Op::Done => self.done(thread),
            Op::AddAndDone => {
                self.history.call(thread, || {
                    reached_if(self.group.with(|state| state.count()) == 0, "the count was zero, and more again");
                    assert!(self.group.add(1), "it can be counted");
                    ((), Call::Added)
                });
                self.done(thread);
            }
        }
    }

    fn done(&self, thread: usize) {
        self.history.call(thread, || {
            assert!(steps::done(&self.group), "it was counted");
            ((), Call::Done)
        });
    }
}
