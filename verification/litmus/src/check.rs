//! Is a program fit to be played? A parsed one is; one that was built by hand or sampled at random may not be.

use crate::program::{Access, Expr, Kind, Loc, Program, Stmt, Thread};
use crate::question::Item;
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release};

impl Thread {
    /// What its registers hold at the start.
    pub fn start(&self) -> Vec<i64> {
        let mut registers = self.initial.clone();
        registers.resize(self.registers.len(), 0);
        registers
    }
}

impl Program {
    /// Is every statement possible?
    ///
    /// # Errors
    /// What is wrong, and in which thread.
    pub fn check(&self) -> Result<(), String> {
        let mut parks = vec![None; self.locations.len()];
        for (n, thread) in self.threads.iter().enumerate() {
            let mut checker = Checker { program: self, thread, locked: Vec::new(), parks: Vec::new() };
            checker.block(&thread.body).map_err(|what| format!("{}: P{n}: {what}", self.name))?;
            for parker in checker.parks {
                if parks[parker].replace(n).is_some_and(|other| other != n) {
                    return Err(format!("{}: P{n}: {} is another thread's", self.name, self.locations[parker].name));
                }
            }
        }
        let exists = |item: &Item| match *item {
            Item::Reg(thread, reg) => self.threads.get(thread).is_some_and(|t| reg < t.registers.len()),
            Item::Loc(loc) => self.locations.get(loc).is_some_and(|l| l.kind.is_word()),
        };
        match self.shown.iter().find(|item| !exists(item)) {
            Some(item) => Err(format!("{}: {item:?} has no value to show", self.name)),
            None => Ok(()),
        }
    }

    /// Has it light or heavy fences?
    pub fn is_asymmetric(&self) -> bool {
        fn any(body: &[Stmt]) -> bool {
            body.iter().any(|stmt| match stmt {
                Stmt::LightFence | Stmt::HeavyFence => true,
                Stmt::If { then, otherwise, .. } => any(then) || any(otherwise),
                Stmt::Locked(_, body) => any(body),
                _ => false,
            })
        }
        self.threads.iter().any(|thread| any(&thread.body))
    }

    /// Do all hosts play it step by step as it stands? Then executions can be counted, not only outcomes told apart.
    pub fn is_native(&self) -> bool {
        fn native(body: &[Stmt]) -> bool {
            body.iter().all(|stmt| match stmt {
                Stmt::Update { op, .. } => op.is_native(),
                Stmt::If { then, otherwise, .. } => native(then) && native(otherwise),
                Stmt::Locked(_, body) => native(body),
                _ => true,
            })
        }
        self.threads.iter().all(|thread| native(&thread.body))
    }
}

struct Checker<'a> {
    program: &'a Program,
    thread: &'a Thread,
    locked: Vec<Loc>,
    parks: Vec<Loc>,
}

/// May a load have this order, or a failed exchange?
pub(super) fn loads(order: Ordering) -> Result<(), String> {
    match order {
        Release | AcqRel => Err(format!("a load cannot be {order:?}")),
        _ => Ok(()),
    }
}

/// May a store?
pub(super) fn stores(order: Ordering) -> Result<(), String> {
    match order {
        Acquire | AcqRel => Err(format!("a store cannot be {order:?}")),
        _ => Ok(()),
    }
}

impl Checker<'_> {
    fn block(&mut self, body: &[Stmt]) -> Result<(), String> {
        body.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<(), String> {
        match stmt {
            Stmt::Set(into, value) => self.reg(*into).and(self.expr(value)),
            Stmt::Load { into, loc, access } => {
                if let Access::Atomic(order) = access {
                    loads(*order)?;
                }
                self.reg(*into).and(self.access(*loc, *access))
            }
            Stmt::Store { loc, value, access } => {
                if let Access::Atomic(order) = access {
                    stores(*order)?;
                }
                self.access(*loc, *access).and(self.expr(value))
            }
            Stmt::Update { into, loc, operand, .. } => {
                into.map_or(Ok(()), |into| self.reg(into))?;
                self.atomic(*loc).and(self.expr(operand))
            }
            Stmt::Exchange { done, loc, expected, new, failure, .. } => {
                loads(*failure)?;
                done.map_or(Ok(()), |done| self.reg(done))?;
                self.reg(*expected).and(self.expr(new)).and(self.atomic(*loc))
            }
            Stmt::Fence(Relaxed) => Err("a fence cannot be Relaxed".to_owned()),
            Stmt::Fence(_) | Stmt::LightFence | Stmt::HeavyFence => Ok(()),
            Stmt::If { condition, then, otherwise } => {
                self.expr(condition)?;
                self.block(then)?;
                self.block(otherwise)
            }
            Stmt::Assume(condition) => self.expr(condition),
            Stmt::Await { loc, order, then, .. } => {
                then.map_or_else(|| loads(*order), |_| Ok(()))?;
                self.atomic(*loc)
            }
            Stmt::Locked(lock, body) => self.locked(*lock, body),
            Stmt::Park(parker) => {
                self.parks.push(*parker);
                self.kind(*parker, Kind::Parker)
            }
            Stmt::Unpark(parker) => self.kind(*parker, Kind::Parker),
        }
    }

    fn locked(&mut self, lock: Loc, body: &[Stmt]) -> Result<(), String> {
        self.kind(lock, Kind::Lock)?;
        if self.locked.contains(&lock) {
            return Err(format!("{} is taken twice", self.program.locations[lock].name));
        }
        self.locked.push(lock);
        self.block(body)?;
        self.locked.pop();
        Ok(())
    }

    fn access(&self, loc: Loc, access: Access) -> Result<(), String> {
        match access {
            Access::Plain if self.is_mixed(loc) => Ok(()),
            Access::Plain => self.kind(loc, Kind::Plain),
            Access::Atomic(_) => self.atomic(loc),
        }
    }

    fn atomic(&self, loc: Loc) -> Result<(), String> {
        if self.is_mixed(loc) { Ok(()) } else { self.kind(loc, Kind::Atomic) }
    }

    fn is_mixed(&self, loc: Loc) -> bool {
        self.program.locations.get(loc).is_some_and(|location| location.kind == Kind::Mixed)
    }

    fn kind(&self, loc: Loc, kind: Kind) -> Result<(), String> {
        match self.program.locations.get(loc) {
            None => Err(format!("there is no location {loc}")),
            Some(location) if location.kind == kind => Ok(()),
            Some(location) => Err(format!("{} is {:?}, but used as {kind:?}", location.name, location.kind)),
        }
    }

    fn reg(&self, reg: usize) -> Result<(), String> {
        if reg < self.thread.registers.len() { Ok(()) } else { Err(format!("there is no register {reg}")) }
    }

    fn expr(&self, expr: &Expr) -> Result<(), String> {
        match expr {
            Expr::Const(_) => Ok(()),
            Expr::Reg(reg) => self.reg(*reg),
            Expr::Unary(_, e) => self.expr(e),
            Expr::Binary(_, a, b) => self.expr(a).and_then(|()| self.expr(b)),
        }
    }
}
