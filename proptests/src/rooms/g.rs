//! The status of one G: those that would run it, and those that would ready it. Each edge is taken by exactly one, and
//! who comes too late is caught.

use crate::linear::{History, Spec, linearize};
use crate::room::{Program, Room, reached_if, together};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use spinpark::kernel::types::g::{Status, StatusWord};
use spinpark_verification::engines::Engine;
use spinpark_verification::hosts::model_host::{Cell, ModelHost};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Runs the G, if it seems to be runnable.
    Execute,
    /// Readies it, if it seems to wait.
    Ready,
    /// Who runs it: it stays runnable.
    Preempt,
    /// Who runs it: it waits.
    Park,
    /// Who runs it: it is over.
    Exit,
}

impl Op {
    fn edge(self) -> (Status, Status) {
        match self {
            Op::Execute => (Status::Runnable, Status::Running),
            Op::Ready => (Status::Waiting, Status::Runnable),
            Op::Preempt => (Status::Running, Status::Runnable),
            Op::Park => (Status::Running, Status::Waiting),
            Op::Exit => (Status::Running, Status::Dead),
        }
    }
}

/// What was called, and what was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// An edge was asked for: it was taken, or refused in these words.
    Edge(Op, Result<(), String>),
    /// It was looked at.
    Peek(Status),
}

/// One word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word(Status);

impl std::hash::Hash for Word {
    fn hash<S: std::hash::Hasher>(&self, state: &mut S) {
        (self.0 as u64).hash(state);
    }
}

impl Spec for Word {
    type Call = Call;

    fn after(&self, call: &Call) -> Option<Self> {
        match call {
            Call::Peek(status) => (*status == self.0).then_some(*self),
            Call::Edge(op, answer) => {
                let (from, to) = op.edge();
                match answer {
                    Ok(()) => (self.0 == from).then_some(Word(to)),
                    Err(why) => {
                        let is_right =
                            self.0 != from && *why == format!("g: {from:?} to {to:?}, but it is {:?}", self.0);
                        is_right.then_some(*self)
                    }
                }
            }
        }
    }
}

/// The room.
#[derive(Debug, Clone, PartialEq)]
pub struct Statuses;

impl Room for Statuses {
    const NAME: &'static str = "g";
    const CLAIM: &'static str = "each edge is taken by one, who is alone with the G; who comes too late is caught";
    const THREADS: usize = 3;
    const ENGINES: &'static [Engine] = &[Engine::Pct, Engine::Random];
    // Its one mutant is a weaker ordering, which these engines cannot see.
    const FALLS: &'static [&'static str] = &[];
    const PATHS: &'static [&'static str] = &[
        "two readied it, and the second was caught",
        "two would run it, and the second was caught",
        "one ran it after the other",
    ];
    type Setup = ();
    type Op = Op;

    fn setup() -> BoxedStrategy<()> {
        Just(()).boxed()
    }
    fn op(_: usize) -> BoxedStrategy<Op> {
        prop_oneof![
            4 => Just(Op::Execute),
            4 => Just(Op::Ready),
            1 => Just(Op::Preempt),
            3 => Just(Op::Park),
            1 => Just(Op::Exit),
        ]
        .boxed()
    }
    fn play<H: ModelHost>(program: &Program<Self>) -> String {
        let task = Task::<H> { status: StatusWord::new(), data: Cell::new(usize::MAX), history: History::default() };
        let (task, ()) = together::<H, _, _, _>(program, task, Task::plays, |task, ops| task.plays(0, ops));
        match linearize(&Word(Status::Runnable), &task.history.records()) {
            Ok(_) => format!("{:?}", task.status.peek()),
            Err(wrong) => panic!("{wrong}"),
        }
    }
}

struct Task<H: ModelHost> {
    status: StatusWord<H>,
    /// Who ran it last. Only who runs it touches this.
    data: H::Cell<usize>,
    history: History<H, Call>,
}

impl<H: ModelHost> Task<H> {
    fn plays(&self, me: usize, ops: Vec<Op>) {
        let mut runs = false;
        for op in ops {
            match op {
                Op::Execute if !runs && self.peek(me) == Status::Runnable => {
                    runs = self.goes(me, op);
                    if runs {
                        let before = self.data.get();
                        reached_if(before != usize::MAX && before != me, "one ran it after the other");
                        self.data.set(me);
                    }
                    reached_if(!runs, "two would run it, and the second was caught");
                }
                Op::Ready if self.peek(me) == Status::Waiting => {
                    let was_first = self.goes(me, op);
                    reached_if(!was_first, "two readied it, and the second was caught");
                }
                Op::Preempt | Op::Park | Op::Exit if runs => {
                    assert!(self.data.get() == me, "two run the G");
                    assert!(self.goes(me, op), "{op:?} was refused to who runs the G");
                    runs = false;
                }
                _ => (),
            }
        }
    }

    fn peek(&self, me: usize) -> Status {
        self.history.call(me, || {
            let status = self.status.peek();
            (status, Call::Peek(status))
        })
    }

    /// Takes an edge. Was it to be had?
    fn goes(&self, me: usize, op: Op) -> bool {
        let edge = || match op {
            Op::Execute => self.status.execute(),
            Op::Ready => self.status.ready(),
            Op::Preempt => self.status.preempt(),
            Op::Park => self.status.park(),
            Op::Exit => self.status.exit(),
        };
        self.history.call(me, || {
            let answer = catch_unwind(AssertUnwindSafe(edge));
            let answer = answer.map_err(|why| why.downcast_ref::<String>().cloned().unwrap_or_default());
            (answer.is_ok(), Call::Edge(op, answer))
        })
    }
}
