//! Reads what a thread does. Accesses inside expressions become statements of their own, from left to right.

use super::lex::{Token, Wrong};
use super::parse::Parser;
use super::program::{Access, Binary, Expr, Kind, Loc, Reg, Stmt, Thread, Unary};
use std::sync::atomic::Ordering::SeqCst;

/// A loop is taken this often at most; an execution that would go on does not count.
const UNROLL: usize = 3;

/// Reads a thread's body; `pointers` are its parameters.
pub(super) fn thread(parser: &mut Parser, pointers: Vec<(String, Loc)>) -> Result<Thread, Wrong> {
    let mut code = Code { parser, pointers, registers: Vec::new(), out: Vec::new(), loops: 0 };
    code.parser.sign("{")?;
    code.block()?;
    Ok(Thread { registers: code.registers, initial: Vec::new(), body: code.out })
}

pub(super) struct Code<'a> {
    pub(super) parser: &'a mut Parser,
    pointers: Vec<(String, Loc)>,
    registers: Vec<String>,
    pub(super) out: Vec<Stmt>,
    loops: usize,
}

impl Code<'_> {
    /// What `read` reads, and the statements of it.
    fn aside<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Wrong>) -> Result<(Vec<Stmt>, T), Wrong> {
        let before = std::mem::take(&mut self.out);
        let result = read(self);
        let statements = std::mem::replace(&mut self.out, before);
        Ok((statements, result?))
    }
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Wrong>) -> Result<T, Wrong> {
        self.parser.deeper()?;
        let result = read(self);
        self.parser.higher();
        result
    }
    pub(super) fn temporary(&mut self) -> Reg {
        self.registers.push(format!("${}", self.registers.len()));
        self.registers.len() - 1
    }
    pub(super) fn known_register(&self, name: &str) -> Option<Reg> {
        self.registers.iter().position(|other| other == name)
    }
    pub(super) fn pointer(&self, name: &str) -> Option<Loc> {
        self.pointers.iter().find(|(other, _)| other == name).map(|(_, loc)| *loc)
    }
    pub(super) fn kind(&self, loc: Loc) -> Kind {
        self.parser.program.locations[loc].kind
    }

    /// Up to the closing brace.
    fn block(&mut self) -> Result<(), Wrong> {
        while !self.parser.take_sign("}") {
            self.statement()?;
        }
        Ok(())
    }

    fn statement(&mut self) -> Result<(), Wrong> {
        self.nested(Self::one_statement)
    }

    fn one_statement(&mut self) -> Result<(), Wrong> {
        if self.parser.take_sign(";") {
            return Ok(());
        }
        if self.parser.take_sign("{") {
            return self.block();
        }
        if self.parser.take_name("if") {
            return self.branch();
        }
        if self.parser.take_name("while") {
            return self.repeat(false);
        }
        if self.parser.take_name("do") {
            return self.repeat(true);
        }
        if self.parser.take_type().is_some() {
            self.declarations()?;
        } else if self.parser.take_sign("*") {
            self.assign_location()?;
        } else {
            self.assign_or_call()?;
        }
        self.parser.sign(";")
    }

    fn condition(&mut self) -> Result<Expr, Wrong> {
        self.parser.sign("(")?;
        let condition = self.expression()?;
        self.parser.sign(")")?;
        Ok(condition)
    }

    fn branch(&mut self) -> Result<(), Wrong> {
        let condition = self.condition()?;
        let (then, ()) = self.aside(Self::statement)?;
        let (otherwise, ()) = match self.parser.take_name("else") {
            true => self.aside(Self::statement)?,
            false => (Vec::new(), ()),
        };
        self.out.push(Stmt::If { condition, then, otherwise });
        Ok(())
    }

    /// `while (e) s` and `do s while (e);`
    fn repeat(&mut self, body_first: bool) -> Result<(), Wrong> {
        if self.loops == 2 {
            return self.parser.wrong("loops are nested too deep");
        }
        self.loops += 1;
        let (body, test, condition);
        if body_first {
            (body, ()) = self.aside(Self::statement)?;
            if !self.parser.take_name("while") {
                return Err(self.parser.expected("`while`"));
            }
            (test, condition) = self.aside(Self::condition)?;
            self.parser.sign(";")?;
            self.out.extend(body.iter().cloned());
        } else {
            (test, condition) = self.aside(Self::condition)?;
            (body, ()) = self.aside(Self::statement)?;
        }
        self.loops -= 1;
        let mut rest = test.clone();
        rest.push(Stmt::Assume(condition.clone().negated()));
        for _ in usize::from(body_first)..UNROLL {
            let then = [body.clone(), rest].concat();
            rest = test.clone();
            rest.push(Stmt::If { condition: condition.clone(), then, otherwise: Vec::new() });
        }
        self.out.extend(rest);
        Ok(())
    }

    /// `int r0 = e, r1;`
    fn declarations(&mut self) -> Result<(), Wrong> {
        loop {
            if self.parser.is_sign("*") {
                return self.parser.wrong("pointers as values are not supported");
            }
            let name = self.parser.name("a register's name")?;
            if self.pointer(&name).is_some() {
                return self.parser.wrong(format!("`{name}` is a parameter already"));
            }
            let reg = self.known_register(&name).unwrap_or_else(|| {
                self.registers.push(name);
                self.registers.len() - 1
            });
            if self.parser.take_sign("=") {
                let value = self.expression()?;
                self.out.push(Stmt::Set(reg, value));
            }
            if !self.parser.take_sign(",") {
                return Ok(());
            }
        }
    }

    /// `*x = e`
    fn assign_location(&mut self) -> Result<(), Wrong> {
        let loc = self.pointed()?;
        self.parser.sign("=")?;
        let value = self.expression()?;
        let access = self.natural_access(loc);
        self.out.push(Stmt::Store { loc, value, access });
        Ok(())
    }

    fn natural_access(&self, loc: Loc) -> Access {
        if self.kind(loc) == Kind::Plain { Access::Plain } else { Access::Atomic(SeqCst) }
    }

    fn assign_or_call(&mut self) -> Result<(), Wrong> {
        let register = match self.parser.peek() {
            Some(Token::Name(name)) => self.known_register(name),
            _ => None,
        };
        let Some(register) = register else { return self.expression().map(|_| ()) };
        self.parser.name("a register")?;
        self.parser.sign("=")?;
        let value = self.expression()?;
        self.out.push(Stmt::Set(register, value));
        Ok(())
    }

    /// The location that the pointer of this name points to.
    pub(super) fn pointed(&mut self) -> Result<Loc, Wrong> {
        let name = self.parser.name("a parameter's name")?;
        match self.pointer(&name) {
            Some(loc) => Ok(loc),
            None => {
                self.parser.step_back();
                Err(self.parser.expected("a parameter that points to a location"))
            }
        }
    }

    pub(super) fn atomic(&mut self) -> Result<Loc, Wrong> {
        let loc = self.pointed()?;
        if self.kind(loc) != Kind::Atomic {
            self.parser.step_back();
            return Err(self.parser.expected("an atomic location"));
        }
        Ok(loc)
    }

    pub(super) fn expression(&mut self) -> Result<Expr, Wrong> {
        self.nested(|code| code.climb(0))
    }

    /// Operators that bind at least as tight as `least`.
    fn climb(&mut self, least: usize) -> Result<Expr, Wrong> {
        let mut left = self.unary()?;
        while let Some((sign, op, tightness)) = self.operator().filter(|(_, _, tightness)| *tightness >= least) {
            self.parser.sign(sign)?;
            let (effects, right) = self.aside(|code| code.climb(tightness + 1))?;
            left = match op {
                Binary::Both | Binary::Either if !effects.is_empty() => self.short_cut(op, left, effects, right),
                _ => {
                    self.out.extend(effects);
                    Expr::Binary(op, Box::new(left), Box::new(right))
                }
            };
        }
        Ok(left)
    }

    fn operator(&self) -> Option<(&'static str, Binary, usize)> {
        const OPERATORS: [(&str, Binary, usize); 14] = [
            ("||", Binary::Either, 1),
            ("&&", Binary::Both, 2),
            ("|", Binary::Or, 3),
            ("^", Binary::Xor, 4),
            ("&", Binary::And, 5),
            ("==", Binary::Eq, 6),
            ("!=", Binary::Ne, 6),
            ("<", Binary::Lt, 7),
            ("<=", Binary::Le, 7),
            (">", Binary::Gt, 7),
            (">=", Binary::Ge, 7),
            ("+", Binary::Add, 8),
            ("-", Binary::Sub, 8),
            ("*", Binary::Mul, 9),
        ];
        OPERATORS.into_iter().find(|(sign, _, _)| self.parser.is_sign(sign))
    }

    /// The right side is computed only if the left one leaves it open.
    fn short_cut(&mut self, op: Binary, left: Expr, mut effects: Vec<Stmt>, right: Expr) -> Expr {
        let result = self.temporary();
        // Twice negated: 1 or 0.
        self.out.push(Stmt::Set(result, left.negated().negated()));
        effects.push(Stmt::Set(result, right.negated().negated()));
        let condition = Expr::Reg(result);
        let condition = if op == Binary::Both { condition } else { condition.negated() };
        self.out.push(Stmt::If { condition, then: effects, otherwise: Vec::new() });
        Expr::Reg(result)
    }

    fn unary(&mut self) -> Result<Expr, Wrong> {
        for (sign, op) in [("!", Unary::Not), ("-", Unary::Neg), ("~", Unary::Flip)] {
            if self.parser.take_sign(sign) {
                return Ok(Expr::Unary(op, Box::new(self.nested(Self::unary)?)));
            }
        }
        if self.parser.take_sign("(") {
            if self.parser.take_type().is_some() {
                // A cast between integers changes nothing here.
                self.parser.sign(")")?;
                return self.nested(Self::unary);
            }
            let inner = self.expression()?;
            self.parser.sign(")")?;
            return Ok(inner);
        }
        if self.parser.take_sign("*") {
            let loc = self.pointed()?;
            let access = self.natural_access(loc);
            return Ok(self.load(loc, access));
        }
        if let Some(value) = self.parser.take_number() {
            return Ok(Expr::Const(value));
        }
        let name = self.parser.name("an expression")?;
        match self.known_register(&name) {
            Some(reg) => Ok(Expr::Reg(reg)),
            None => self.call(&name),
        }
    }
}
