//! What each event of a thread depends on: which of the thread's earlier reads. Syntactic, as in hardware models: `r ^ r`
//! depends on `r`.

use crate::program::{Expr, Reg, Stmt};
use crate::relation::Set;

/// On which events of its own thread an event depends, as a set of their numbers there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Depends {
    /// By the value that it writes, or by what an exchange expects.
    pub(super) data: Set,
    /// By the conditions of the branches that it stands in, and of the loops that were left before.
    pub(super) inside: Set,
    /// By the conditions of all branches before it: hardware does not know where a branch ends.
    pub(super) behind: Set,
}

/// Follows one thread.
#[derive(Debug, Clone)]
pub(super) struct Follower {
    /// What each register's value depends on.
    registers: Vec<Set>,
    /// Of each branch that is open, the outermost first: what the conditions of it and of those around it depend on.
    open: Vec<Set>,
    behind: Set,
    /// What the operands of the statement at hand depend on.
    data: Set,
    /// What an exchange expects: its read depends on that too, because it decides what the read is.
    expected: Set,
    /// Which registers take what the statement at hand reads.
    into: Into,
    /// Is a value waited for?
    waits: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Into {
    Nothing,
    Register(Reg),
    Exchange { done: Option<Reg>, expected: Reg },
}

impl Follower {
    pub(super) fn new(registers: usize) -> Follower {
        Follower {
            registers: vec![0; registers],
            open: vec![0],
            behind: 0,
            data: 0,
            expected: 0,
            into: Into::Nothing,
            waits: false,
        }
    }

    fn of(&self, expr: &Expr) -> Set {
        match expr {
            Expr::Const(_) => 0,
            Expr::Reg(reg) => self.registers[*reg],
            Expr::Unary(_, e) => self.of(e),
            Expr::Binary(_, a, b) => self.of(a) | self.of(b),
        }
    }

    fn inside(&self) -> Set {
        self.open.last().copied().unwrap_or(0)
    }

    /// All that follows depends on this.
    fn everything_depends_on(&mut self, set: Set) {
        self.behind |= set;
        self.open.iter_mut().for_each(|open| *open |= set);
    }

    pub(super) fn begins(&mut self, stmt: &Stmt) {
        (self.data, self.expected, self.into, self.waits) = (0, 0, Into::Nothing, false);
        match stmt {
            Stmt::Set(into, value) => self.registers[*into] = self.of(value) | self.inside(),
            Stmt::Load { into, .. } => self.into = Into::Register(*into),
            Stmt::Store { value, .. } => self.data = self.of(value),
            Stmt::Update { into, operand, .. } => {
                self.data = self.of(operand);
                self.into = into.map_or(Into::Nothing, Into::Register);
            }
            Stmt::Exchange { done, expected, new, .. } => {
                self.expected = self.registers[*expected];
                self.data = self.of(new) | self.expected;
                self.into = Into::Exchange { done: *done, expected: *expected };
            }
            Stmt::If { condition, .. } => {
                let condition = self.of(condition);
                self.behind |= condition;
                self.open.push(self.inside() | condition);
            }
            // A loop was left: what comes is done only because of that.
            Stmt::Assume(condition) => self.everything_depends_on(self.of(condition)),
            Stmt::Await { .. } | Stmt::Locked(..) | Stmt::Park(_) => self.waits = true,
            Stmt::Fence(_) | Stmt::LightFence | Stmt::HeavyFence | Stmt::Unpark(_) => (),
        }
    }

    /// Behind a branch, what either side of it may have set depends on the condition, also if that side was not taken.
    pub(super) fn is_behind(&mut self, branch: &Stmt) {
        let condition = self.open.pop().unwrap_or(0);
        if let Stmt::If { then, otherwise, .. } = branch {
            for body in [then, otherwise] {
                self.may_be_set(body, condition);
            }
        }
    }

    fn may_be_set(&mut self, body: &[Stmt], condition: Set) {
        for stmt in body {
            match stmt {
                Stmt::Set(reg, _) | Stmt::Load { into: reg, .. } => self.registers[*reg] |= condition,
                Stmt::Update { into: Some(reg), .. } => self.registers[*reg] |= condition,
                Stmt::Exchange { done, expected, .. } => {
                    self.registers[*expected] |= condition;
                    if let Some(done) = done {
                        self.registers[*done] |= condition;
                    }
                }
                Stmt::If { then, otherwise, .. } => {
                    self.may_be_set(then, condition);
                    self.may_be_set(otherwise, condition);
                }
                Stmt::Locked(_, body) => self.may_be_set(body, condition),
                _ => (),
            }
        }
    }

    /// What the event that is added next depends on.
    pub(super) fn depends(&self, writes: bool) -> Depends {
        let data = if writes { self.data } else { self.expected };
        Depends { data, inside: self.inside(), behind: self.behind }
    }

    /// Event number `event` was a read; `failed`: of an exchange that does not write.
    pub(super) fn has_read(&mut self, event: usize, failed: bool) {
        let read = 1 << event | self.inside();
        match self.into {
            Into::Nothing => (),
            Into::Register(reg) => self.registers[reg] = read,
            Into::Exchange { done, expected } => {
                if let Some(done) = done {
                    self.registers[done] = read | self.registers[expected];
                }
                if failed {
                    self.registers[expected] = read;
                }
            }
        }
        if self.waits {
            self.everything_depends_on(1 << event);
        }
    }
}
