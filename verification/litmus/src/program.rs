//! What a litmus test says: a few threads, a few locations, and a question.

use crate::question::{Expected, Item, Question};
use std::sync::atomic::Ordering;

/// A location's number in [`Program::locations`].
pub type Loc = usize;
/// A register's number in [`Thread::registers`].
pub type Reg = usize;

/// A small concurrent program and what is asked about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// What the threads share.
    pub locations: Vec<Location>,
    /// The threads.
    pub threads: Vec<Thread>,
    /// What an outcome tells, in this order.
    pub shown: Vec<Item>,
    /// The question.
    pub question: Option<Question>,
    /// What its author expects.
    pub expected: Expected,
}

/// What the threads share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// Its name.
    pub name: String,
    /// What it holds before any thread starts.
    pub initial: i64,
    /// What it is.
    pub kind: Kind,
}

/// What a location is, and so what may be done to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An atomic word.
    Atomic,
    /// Plain memory: two unordered accesses, one of them a write, are a data race.
    Plain,
    /// A word that is accessed both ways: a plain access races with any other that it is not ordered with, if one of
    /// the two writes.
    Mixed,
    /// A lock: 0 is open. Only for [`Stmt::Locked`].
    Lock,
    /// A parker: 1 remembers an unpark. Only for [`Stmt::Park`], by one thread, and [`Stmt::Unpark`].
    Parker,
}

impl Kind {
    /// Has it a value that a test may ask for?
    pub const fn is_word(self) -> bool {
        matches!(self, Kind::Atomic | Kind::Plain | Kind::Mixed)
    }
}

/// One thread.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Thread {
    /// The names of its registers.
    pub registers: Vec<String>,
    /// What they hold at the start; 0 where this is shorter.
    pub initial: Vec<i64>,
    /// What it does.
    pub body: Vec<Stmt>,
}

/// How memory is accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Not atomically.
    Plain,
    /// Atomically, in this order.
    Atomic(Ordering),
}

/// One statement.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // of fields that the statement's own line explains
pub enum Stmt {
    /// `into = value`
    Set(Reg, Expr),
    /// `into = *loc`
    Load { into: Reg, loc: Loc, access: Access },
    /// `*loc = value`
    Store { loc: Loc, value: Expr, access: Access },
    /// Reads, computes and writes in one step; `into` takes what was there.
    Update { into: Option<Reg>, loc: Loc, op: Update, operand: Expr, order: Ordering },
    /// Writes `new` if what `expected` holds is there. If not, or if it is weak and feels like it, `expected` takes
    /// what is there. `done` takes 1 or 0.
    Exchange {
        /// Takes whether it was done.
        done: Option<Reg>,
        /// Where.
        loc: Loc,
        /// Holds what must be there, and takes what is there instead.
        expected: Reg,
        /// What to write.
        new: Expr,
        /// The order if it is done.
        success: Ordering,
        /// The order of the read if not.
        failure: Ordering,
        /// May it fail without a reason?
        weak: bool,
    },
    /// A fence; not relaxed.
    Fence(Ordering),
    /// C++'s `asymmetric_thread_fence_light`, `SeqCst` (P1202).
    LightFence,
    /// C++'s `asymmetric_thread_fence_heavy`, `SeqCst`.
    HeavyFence,
    /// Either or.
    If { condition: Expr, then: Vec<Stmt>, otherwise: Vec<Stmt> },
    /// An execution in which this is 0 does not count.
    Assume(Expr),
    /// Waits until `loc` holds `value`, and writes `then` in the same step.
    Await { loc: Loc, value: i64, order: Ordering, then: Option<i64> },
    /// Does this alone.
    Locked(Loc, Vec<Stmt>),
    /// Waits for an unpark.
    Park(Loc),
    /// Lets a park return, now or later.
    Unpark(Loc),
}

/// What an update writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// The operand.
    Swap,
    /// The sum.
    Add,
    /// The difference.
    Sub,
    /// Bitwise or.
    Or,
    /// Bitwise and.
    And,
    /// Bitwise exclusive or.
    Xor,
}

impl Update {
    /// What is written where `old` was.
    pub fn apply(self, old: i64, operand: i64) -> i64 {
        match self {
            Update::Swap => operand,
            Update::Add => old.wrapping_add(operand),
            Update::Sub => old.wrapping_sub(operand),
            Update::Or => old | operand,
            Update::And => old & operand,
            Update::Xor => old ^ operand,
        }
    }
    /// Does a host's word have this operation? If not, it is played as a load and an exchange that must agree.
    pub const fn is_native(self) -> bool {
        matches!(self, Update::Swap | Update::Add | Update::Sub)
    }
}

/// An integer expression without effects. 64 bits, wrapping around.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expr {
    /// A number.
    Const(i64),
    /// What a register holds.
    Reg(Reg),
    /// One operand.
    Unary(Unary, Box<Expr>),
    /// Two.
    Binary(Binary, Box<Expr>, Box<Expr>),
}

/// Operators with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unary {
    /// `!`
    Not,
    /// `-`
    Neg,
    /// `~`
    Flip,
}

/// Operators with two operands; both are always computed, which shows only where one has effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // their names are C's operators
pub enum Binary {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Both,
    Either,
    Left,
    Right,
}

impl Binary {
    /// The result.
    pub fn apply(self, a: i64, b: i64) -> i64 {
        match self {
            Binary::Add => a.wrapping_add(b),
            Binary::Sub => a.wrapping_sub(b),
            Binary::Mul => a.wrapping_mul(b),
            Binary::And => a & b,
            Binary::Or => a | b,
            Binary::Xor => a ^ b,
            Binary::Eq => i64::from(a == b),
            Binary::Ne => i64::from(a != b),
            Binary::Lt => i64::from(a < b),
            Binary::Le => i64::from(a <= b),
            Binary::Gt => i64::from(a > b),
            Binary::Ge => i64::from(a >= b),
            Binary::Both => i64::from(a != 0 && b != 0),
            Binary::Either => i64::from(a != 0 || b != 0),
            Binary::Left => a.wrapping_shl(b as u32),
            Binary::Right => a.wrapping_shr(b as u32),
        }
    }
}

impl Expr {
    /// Its value, with these registers.
    pub fn value(&self, registers: &[i64]) -> i64 {
        match self {
            Expr::Const(value) => *value,
            Expr::Reg(reg) => registers[*reg],
            Expr::Unary(Unary::Not, e) => i64::from(e.value(registers) == 0),
            Expr::Unary(Unary::Neg, e) => e.value(registers).wrapping_neg(),
            Expr::Unary(Unary::Flip, e) => !e.value(registers),
            Expr::Binary(op, a, b) => op.apply(a.value(registers), b.value(registers)),
        }
    }
    /// Its negation.
    pub fn negated(self) -> Expr {
        Expr::Unary(Unary::Not, Box::new(self))
    }
}
