//! Cancellation: threads that wait for a token, or for one below it, or make one there, beside others that cancel and drop some.
//!
//! ```text
//!   0 ──┬── 1 ──── 2
//!       └── 3
//! ```

use crate::room::{Program, Room, reached_if};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark_verification::engines::Engine;
use spinpark_verification::harness::sleeper::Sleeper;
use spinpark_verification::hosts::model_host::ModelHost;
use spinpark_verification::mutation::variants::cancellation::{self as steps, ThreadToken};
use std::sync::{Arc, Mutex};

/// What is done, to one of the tokens: by threads 0 and 1, which wait; and by the others. In the end the highest is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Waits for it.
    Wait(usize),
    /// Waits for it, and gives up.
    GiveUp(usize),
    /// Makes a token below it, and waits for that.
    MakeAndWait(usize),
    /// Asks whether it is cancelled, and then whether those below are.
    Ask(usize),
    /// Cancels it.
    Cancel(usize),
    /// Drops token 1, which is between two others.
    DropTheOneBetween,
}

/// The token that may be dropped; no task waits for it.
const BETWEEN: usize = 1;
/// So many threads wait.
const WAITERS: usize = 2;

/// The room.
#[derive(Debug, Clone, PartialEq)]
pub struct Cancellation;

impl Room for Cancellation {
    const NAME: &'static str = "cancellation";
    const CLAIM: &'static str = "a waiter of a token goes on once it, or one above it, is cancelled";
    const THREADS: usize = 4;
    const LONGEST: usize = 12;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random];
    const FALLS: &'static [&'static str] = &[
        "cancellation-looks-then-enqueues",
        "cancellation-child-is-listed-later",
        "cancellation-marks-from-above",
        "cancellation-wakes-one",
        "cancellation-cancels-the-next-only",
    ];
    const PATHS: &'static [&'static str] =
        &["one waited", "one waited for a token that it had made", "one gave up", "it was cancelled, and asked for"];
    type Setup = ();
    type Op = Op;

    fn setup() -> BoxedStrategy<()> {
        Just(()).boxed()
    }
    fn op(thread: usize) -> BoxedStrategy<Op> {
        let waited = prop_oneof![Just(0), Just(2), Just(3)];
        if thread < WAITERS {
            let make: [fn(usize) -> Op; 4] = [Op::Wait, Op::MakeAndWait, Op::GiveUp, Op::Ask];
            return (prop_oneof![3 => Just(0usize), 2 => Just(1), 1 => Just(2), 2 => Just(3)], waited)
                .prop_map(move |(what, token)| make[what](token))
                .boxed();
        }
        prop_oneof![4 => (0..4usize).prop_map(Op::Cancel), 1 => Just(Op::DropTheOneBetween)].boxed()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        let root = ThreadToken::<H>::new();
        let between = root.child();
        let (leaf, other) = (between.child(), root.child());
        let shared = Shared::<H> { root, leaf, other, between: Mutex::new(Some(between)) };
        let shared = Arc::new(shared);
        let plays = |thread: usize| {
            let (shared, ops) = (Arc::clone(&shared), program.of(thread));
            move || ops.into_iter().for_each(|op| shared.does(op))
        };
        let mut others: Vec<_> = (1..program.threads()).map(|thread| H::fork("other", plays(thread))).collect();
        let last = Arc::clone(&shared);
        others.push(H::fork("the canceller", move || steps::cancel(&last.root)));
        plays(0)();
        others.into_iter().for_each(|other| H::join(other));
        let cancelled = [&shared.root, &shared.leaf, &shared.other].map(|token| token.is_cancelled());
        assert!(cancelled == [true; 3], "all are cancelled, and that is said of them: {cancelled:?}");
        drop(shared.take_between());
        let nodes = shared.root.with(|state, _| state.nodes());
        assert!(nodes == 3, "{nodes} nodes for three tokens");
        String::new()
    }
}

struct Shared<H: ModelHost> {
    root: ThreadToken<H>,
    leaf: ThreadToken<H>,
    other: ThreadToken<H>,
    /// Locked while no other thread may come between.
    between: Mutex<Option<ThreadToken<H>>>,
}

impl<H: ModelHost> Shared<H> {
    fn take_between(&self) -> Option<ThreadToken<H>> {
        self.between.lock().expect("no panic under it").take()
    }

    fn token(&self, n: usize) -> &ThreadToken<H> {
        match n {
            0 => &self.root,
            2 => &self.leaf,
            _ => &self.other,
        }
    }

    fn does(&self, op: Op) {
        match op {
            Op::Wait(n) => steps::wait(self.token(n), || reached_if(true, "one waited")),
            Op::MakeAndWait(n) => {
                let child = steps::child(self.token(n));
                steps::wait(&child, || reached_if(true, "one waited for a token that it had made"));
            }
            Op::GiveUp(n) => {
                let (sleeper, mut waiter) = (Sleeper::<H>::new(), None);
                let at_once = self.token(n).poll(&mut waiter, &mut sleeper.lender()).is_ready();
                reached_if(!at_once, "one gave up");
                self.token(n).give_up(&mut waiter);
            }
            Op::Ask(n) => {
                let is_cancelled = self.token(n).is_cancelled();
                reached_if(is_cancelled, "it was cancelled, and asked for");
                let below = [0, 2, 3].into_iter().filter(|&below| n == 0 || below == n);
                let is_all = is_cancelled.then(|| below.into_iter().all(|below| self.token(below).is_cancelled()));
                assert!(is_all != Some(false), "token {n} is cancelled, and one below it is not");
            }
            // It is taken out meanwhile: dropped by its holder then.
            Op::Cancel(BETWEEN) => {
                let between = self.take_between();
                between.iter().for_each(steps::cancel);
            }
            Op::Cancel(n) => steps::cancel(self.token(n)),
            Op::DropTheOneBetween => drop(self.take_between()),
        }
    }
}
