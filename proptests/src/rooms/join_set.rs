//! A `JoinSet`: a thread that spawns tasks, joins them, gives a join up, or lets all go, while they end.

use crate::room::{Program, Room, reached_if};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark_verification::engines::Engine;
use spinpark_verification::harness::sleeper::Sleeper;
use spinpark_verification::hosts::model_host::ModelHost;
use spinpark_verification::mutation::variants::join_set::{self as steps, Set};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What the joiner does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Begins one more task, which ends at some time.
    Spawn,
    /// Waits for the next that ends.
    Join,
    /// Asks for it as another task would, and gives up.
    AskAndGiveUp,
    /// The tasks go on by themselves.
    LetAllGo,
}

/// The room.
#[derive(Debug, Clone, PartialEq)]
pub struct JoinSet;

impl Room for JoinSet {
    const NAME: &'static str = "join_set";
    const CLAIM: &'static str = "each task that was not let go is joined once, after it has ended";
    const THREADS: usize = 1;
    const LONGEST: usize = 8;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random];
    const FALLS: &'static [&'static str] = &[
        "join-set-looks-then-leaves-its-waker",
        "join-set-wakes-before-it-puts",
        "join-set-keeps-the-first-waker",
        "join-set-lets-go-and-keeps-the-list",
    ];
    const PATHS: &'static [&'static str] =
        &["the joiner waited", "a join was given up", "some were let go", "there was nothing to join"];
    type Setup = ();
    type Op = Op;

    fn setup() -> BoxedStrategy<()> {
        Just(()).boxed()
    }
    fn op(_: usize) -> BoxedStrategy<Op> {
        prop_oneof![4 => Just(Op::Spawn), 3 => Just(Op::Join), 2 => Just(Op::AskAndGiveUp), 1 => Just(Op::LetAllGo)]
            .boxed()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        let mut joiner = Joiner::<H> {
            set: Set::<H>::new(),
            threads: Vec::new(),
            has_ended: Vec::new(),
            is_mine: BTreeSet::new(),
            other: Sleeper::new(),
        };
        program.ops.iter().for_each(|(_, op)| joiner.does(*op));
        while !joiner.is_mine.is_empty() {
            joiner.does(Op::Join);
        }
        joiner.does(Op::Join);
        let tasks = joiner.threads.len();
        joiner.threads.into_iter().for_each(|task| H::join(task));
        format!("{tasks} tasks")
    }
}

struct Joiner<H: ModelHost> {
    set: Set<H>,
    threads: Vec<H::Thread<()>>,
    /// No part of what is played.
    has_ended: Vec<Arc<AtomicBool>>,
    /// Those that were neither joined nor let go.
    is_mine: BTreeSet<usize>,
    /// The waiter as which it gives up.
    other: Sleeper<H>,
}

impl<H: ModelHost> Joiner<H> {
    fn does(&mut self, op: Op) {
        match op {
            Op::Spawn => self.spawn(),
            Op::Join => {
                let joined = steps::next(&mut self.set, || reached_if(true, "the joiner waited"));
                let is_any = !self.is_mine.is_empty();
                reached_if(!is_any, "there was nothing to join");
                assert!(joined.is_some() == is_any, "one is left to be joined: {is_any}, and it came to {joined:?}");
                joined.into_iter().for_each(|task| self.has_joined(task));
            }
            Op::AskAndGiveUp if self.is_mine.is_empty() => (),
            Op::AskAndGiveUp => {
                let asked = steps::poll(&mut self.set, &mut self.other.lender());
                reached_if(asked.is_pending(), "a join was given up");
                if let std::task::Poll::Ready(joined) = asked {
                    self.has_joined(joined.expect("one is left to be joined"));
                }
            }
            Op::LetAllGo => {
                let gone = steps::let_all_go(&mut self.set);
                reached_if(gone > 0, "some were let go");
                assert!(gone == self.is_mine.len(), "{gone} were let go, of {:?}", self.is_mine);
                self.is_mine.clear();
            }
        }
    }

    fn spawn(&mut self) {
        let (n, has_ended) = (self.threads.len(), Arc::new(AtomicBool::new(false)));
        self.has_ended.push(Arc::clone(&has_ended));
        let threads = &mut self.threads;
        self.set.insert(|list, number| {
            let list = Arc::clone(list);
            threads.push(H::fork("task", move || {
                has_ended.store(true, Relaxed);
                steps::put(&list, number);
            }));
            n
        });
        self.is_mine.insert(n);
    }

    fn has_joined(&mut self, task: usize) {
        assert!(self.is_mine.remove(&task), "task {task} was joined, twice or after it was let go");
        assert!(self.has_ended[task].load(Relaxed), "task {task} was joined before it has ended");
    }
}
