//! Reads calls of C's atomic functions.

use crate::check::{loads, stores};
use crate::code::Code;
use crate::lex::{Token, Wrong};
use crate::program::{Access, Expr, Loc, Reg, Stmt, Update};
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};

/// Names of other worlds, so that the error can say so.
const KERNEL: &[&str] =
    &["READ_ONCE", "WRITE_ONCE", "ACCESS_ONCE", "smp_", "rcu_", "xchg", "cmpxchg", "spin_", "atomic_inc"];

impl Code<'_> {
    /// The call of this name, which has been read.
    pub(super) fn call(&mut self, name: &str) -> Result<Expr, Wrong> {
        let kernel = KERNEL.iter().any(|prefix| name.starts_with(prefix));
        if self.parser.is_sign("(") && !kernel {
            return self.known_call(name);
        }
        self.parser.step_back();
        if kernel {
            return self.parser.wrong(format!("`{name}`: the Linux kernel's memory model is not supported"));
        }
        if self.pointer(name).is_some() {
            return self.parser.wrong(format!("`{name}` is a pointer: expected `*{name}`"));
        }
        Err(self.parser.expected("a register, a number or one of C's atomic functions"))
    }

    fn known_call(&mut self, name: &str) -> Result<Expr, Wrong> {
        let (function, explicit) = match name.strip_suffix("_explicit") {
            Some(function) => (function, true),
            None => (name, name == "atomic_thread_fence"),
        };
        let line = self.parser.line();
        self.parser.sign("(")?;
        let result = match function.strip_prefix("atomic_").unwrap_or(function) {
            "load" => self.atomic_load(explicit),
            "store" => self.atomic_store(explicit),
            "exchange" => self.update(Update::Swap, explicit),
            "fetch_add" => self.update(Update::Add, explicit),
            "fetch_sub" => self.update(Update::Sub, explicit),
            "fetch_or" => self.update(Update::Or, explicit),
            "fetch_and" => self.update(Update::And, explicit),
            "fetch_xor" => self.update(Update::Xor, explicit),
            "init" => self.plain_store(),
            "flag_test_and_set" => self.raise(explicit),
            "flag_clear" => self.lower(explicit),
            "compare_exchange_strong" => self.exchange(false, explicit),
            "compare_exchange_weak" => self.exchange(true, explicit),
            "thread_fence" => self.fence(),
            "asymmetric_thread_fence_light" => self.asymmetric_fence(Stmt::LightFence),
            "asymmetric_thread_fence_heavy" => self.asymmetric_fence(Stmt::HeavyFence),
            _ => return Err((line, format!("`{name}` is not one of the functions that are supported"))),
        }?;
        self.parser.sign(")")?;
        Ok(result)
    }

    /// `, memory_order_acquire` if the call is explicit.
    fn order(&mut self, explicit: bool) -> Result<Ordering, Wrong> {
        if !explicit {
            return Ok(SeqCst);
        }
        self.parser.sign(",")?;
        self.order_name()
    }

    fn order_name(&mut self) -> Result<Ordering, Wrong> {
        let what = "a memory order, as `memory_order_relaxed`";
        let name = self.parser.name(what)?;
        match name.strip_prefix("memory_order_") {
            Some("relaxed") => Ok(Relaxed),
            // As every compiler does.
            Some("acquire" | "consume") => Ok(Acquire),
            Some("release") => Ok(Release),
            Some("acq_rel") => Ok(AcqRel),
            Some("seq_cst") => Ok(SeqCst),
            _ => {
                self.parser.step_back();
                Err(self.parser.expected(what))
            }
        }
    }

    fn legal(&self, legal: Result<(), String>) -> Result<(), Wrong> {
        legal.map_err(|what| (self.parser.line(), what))
    }

    fn atomic_load(&mut self, explicit: bool) -> Result<Expr, Wrong> {
        let loc = self.pointed()?;
        let order = self.order(explicit)?;
        self.legal(loads(order))?;
        Ok(self.load(loc, Access::Atomic(order)))
    }

    fn atomic_store(&mut self, explicit: bool) -> Result<Expr, Wrong> {
        let loc = self.pointed()?;
        self.parser.sign(",")?;
        let value = self.expression()?;
        let order = self.order(explicit)?;
        self.legal(stores(order))?;
        self.out.push(Stmt::Store { loc, value, access: Access::Atomic(order) });
        Ok(Expr::Const(0))
    }

    /// `atomic_init(x, e)` is not atomic: it races with whatever it is not ordered with.
    fn plain_store(&mut self) -> Result<Expr, Wrong> {
        let loc = self.pointed()?;
        self.parser.sign(",")?;
        let value = self.expression()?;
        self.out.push(Stmt::Store { loc, value, access: Access::Plain });
        Ok(Expr::Const(0))
    }

    /// `atomic_flag_test_and_set(x)`
    fn raise(&mut self, explicit: bool) -> Result<Expr, Wrong> {
        let loc = self.pointed()?;
        let order = self.order(explicit)?;
        let into = self.temporary();
        self.out.push(Stmt::Update { into: Some(into), loc, op: Update::Swap, operand: Expr::Const(1), order });
        Ok(Expr::Reg(into))
    }

    /// `atomic_flag_clear(x)`
    fn lower(&mut self, explicit: bool) -> Result<Expr, Wrong> {
        let loc = self.pointed()?;
        let order = self.order(explicit)?;
        self.legal(stores(order))?;
        self.out.push(Stmt::Store { loc, value: Expr::Const(0), access: Access::Atomic(order) });
        Ok(Expr::Const(0))
    }

    fn update(&mut self, op: Update, explicit: bool) -> Result<Expr, Wrong> {
        let loc = self.pointed()?;
        self.parser.sign(",")?;
        let operand = self.expression()?;
        let order = self.order(explicit)?;
        let into = self.temporary();
        self.out.push(Stmt::Update { into: Some(into), loc, op, operand, order });
        Ok(Expr::Reg(into))
    }

    /// `(x, &r, e)`, or `(x, y, e)`: what `y` points to is accessed plainly, whatever its type, as in herd7. C asks for
    /// a pointer to plain memory there.
    fn exchange(&mut self, weak: bool, explicit: bool) -> Result<Expr, Wrong> {
        let loc = self.pointed()?;
        self.parser.sign(",")?;
        let (expected, plain) = self.expected_place()?;
        self.parser.sign(",")?;
        let new = self.expression()?;
        let success = self.order(explicit)?;
        let failure = self.order(explicit)?;
        self.legal(loads(failure))?;
        let done = self.temporary();
        if let Some(loc) = plain {
            self.out.push(Stmt::Load { into: expected, loc, access: Access::Plain });
        }
        self.out.push(Stmt::Exchange { done: Some(done), loc, expected, new, success, failure, weak });
        if let Some(loc) = plain {
            let give_back = Stmt::Store { loc, value: Expr::Reg(expected), access: Access::Plain };
            self.out.push(Stmt::If {
                condition: Expr::Reg(done).negated(),
                then: vec![give_back],
                otherwise: Vec::new(),
            });
        }
        Ok(Expr::Reg(done))
    }

    fn expected_place(&mut self) -> Result<(Reg, Option<Loc>), Wrong> {
        if self.parser.take_sign("&") {
            let reg = match self.parser.peek() {
                Some(Token::Name(name)) => self.known_register(name),
                _ => None,
            };
            let reg = reg.ok_or_else(|| self.parser.expected("a register"))?;
            self.parser.name("a register")?;
            return Ok((reg, None));
        }
        let loc = self.pointed()?;
        Ok((self.temporary(), Some(loc)))
    }

    fn fence(&mut self) -> Result<Expr, Wrong> {
        let order = self.order_name()?;
        // A relaxed fence does nothing, and Rust has none.
        if order != Relaxed {
            self.out.push(Stmt::Fence(order));
        }
        Ok(Expr::Const(0))
    }

    /// C++'s, of which the models here know the strongest order alone.
    fn asymmetric_fence(&mut self, fence: Stmt) -> Result<Expr, Wrong> {
        let order = self.order_name()?;
        if order != SeqCst {
            return self.parser.wrong(format!("an asymmetric fence that is {order:?} is not supported, only SeqCst"));
        }
        self.out.push(fence);
        Ok(Expr::Const(0))
    }

    pub(super) fn load(&mut self, loc: Loc, access: Access) -> Expr {
        let into = self.temporary();
        self.out.push(Stmt::Load { into, loc, access });
        Expr::Reg(into)
    }
}
