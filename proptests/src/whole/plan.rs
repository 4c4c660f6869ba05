//! The plan that is made of a program: which G does what, and which of the others.

use super::program::{Act, Op, Setup};

/// What each G does. G `n` is the `n`th, from 1.
#[derive(Debug, Clone, Default)]
pub(super) struct Plan {
    /// Its steps.
    pub(super) gs: Vec<Vec<Step>>,
    /// What each outsider does, in order.
    pub(super) outsiders: Vec<Vec<Does>>,
    /// How many threads are refused in all.
    pub(super) refusals: usize,
    /// How many Gs may yet keep their Ps: one P has to be left.
    hogs: usize,
}

/// A step of a G.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// What does not need other Gs.
    Act(Act),
    /// Readies Gs `first` to `last`.
    Spawn { first: u64, last: u64 },
    /// Readies G `child` and waits for it.
    Await { child: u64 },
    /// Readies G `child`, then `other`, and waits for the first without letting go of its P.
    Hog { child: u64, other: u64 },
}

/// A step of an outsider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    /// Submits this G.
    Submit(u64),
    /// This G becomes runnable at the source.
    Ring(u64),
    /// Anything else.
    Op(Op),
}

/// More Gs than this, and what comes after is left out: programs stay small.
const MOST: usize = 60;

impl Plan {
    pub(super) fn of(setup: &Setup, ops: &[(usize, Op)]) -> Plan {
        let mut plan = Plan { hogs: setup.procs - 1, ..Plan::default() };
        let threads = ops.iter().map(|(thread, _)| thread + 1).max().unwrap_or(0);
        for thread in 0..threads {
            let does = plan.outsider(ops.iter().filter(|(of, _)| *of == thread).map(|(_, op)| *op));
            plan.outsiders.push(does);
        }
        plan
    }

    fn outsider(&mut self, ops: impl Iterator<Item = Op>) -> Vec<Does> {
        let mut does = Vec::new();
        let mut last = None;
        for op in ops {
            match op {
                Op::Go(act) => {
                    let n = self.g();
                    self.then(n, act);
                    last = Some(n);
                    does.push(Does::Submit(n));
                }
                // Before any, it adds to nothing.
                Op::Then(act) => last.into_iter().for_each(|n| self.then(n, act)),
                Op::Ring => {
                    let n = self.g();
                    does.push(Does::Ring(n));
                }
                Op::Refuse(n) => {
                    self.refusals += n;
                    does.push(Does::Op(op));
                }
                op => does.push(Does::Op(op)),
            }
        }
        does
    }

    fn g(&mut self) -> u64 {
        self.gs.push(Vec::new());
        self.gs.len() as u64
    }

    fn then(&mut self, g: u64, act: Act) {
        let has_ended = self.gs[g as usize - 1].contains(&Step::Act(Act::EndLocked));
        if has_ended || self.gs.len() >= MOST {
            return;
        }
        let step = match act {
            Act::Spawn(n) => self.spawn(n.max(1)),
            Act::Tree(depth) => self.tree(depth.min(3)),
            Act::Await => Step::Await { child: self.g() },
            Act::Hog if self.hogs == 0 => self.spawn(1),
            Act::Hog => {
                self.hogs -= 1;
                Step::Hog { child: self.g(), other: self.g() }
            }
            act => Step::Act(act),
        };
        self.gs[g as usize - 1].push(step);
    }

    fn spawn(&mut self, n: usize) -> Step {
        let first = self.gs.len() as u64 + 1;
        for _ in 0..n {
            self.g();
        }
        Step::Spawn { first, last: self.gs.len() as u64 }
    }

    fn tree(&mut self, depth: usize) -> Step {
        let step = self.spawn(2);
        if let (Step::Spawn { first, last }, true) = (step, depth > 1) {
            for g in first..=last {
                let below = self.tree(depth - 1);
                self.gs[g as usize - 1].push(below);
            }
        }
        step
    }
}
