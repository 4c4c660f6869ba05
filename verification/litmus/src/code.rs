//! Reads what a thread does. Accesses inside expressions become statements of their own, from left to right.

use crate::lex::{Token, Wrong};
use crate::parse::Parser;
use crate::program::{Access, Binary, Expr, Kind, Loc, Reg, Stmt, Thread, Unary, Update};
use std::sync::atomic::Ordering::SeqCst;

/// A loop is taken this often at most; an execution that would go on does not count.
const UNROLL: usize = 3;

/// `++` and `--`.
const STEPS: [(&str, Binary); 2] = [("++", Binary::Add), ("--", Binary::Sub)];

/// Assignments that read first.
const CHANGES: [(&str, Binary); 8] = [
    ("+=", Binary::Add),
    ("-=", Binary::Sub),
    ("*=", Binary::Mul),
    ("&=", Binary::And),
    ("|=", Binary::Or),
    ("^=", Binary::Xor),
    ("<<=", Binary::Left),
    (">>=", Binary::Right),
];

/// What is assigned to.
#[derive(Debug, Clone, Copy)]
enum Target {
    Reg(Reg),
    Loc(Loc),
}

/// Reads a thread's body; `pointers` are its parameters.
pub(super) fn thread(parser: &mut Parser, pointers: Vec<Pointer>) -> Result<Thread, Wrong> {
    let mut code = Code { parser, pointers, registers: Vec::new(), out: Vec::new(), loops: 0 };
    code.parser.sign("{")?;
    code.block()?;
    Ok(Thread { registers: code.registers, initial: Vec::new(), body: code.out })
}

/// A parameter, as this thread declares it: another may declare the same location otherwise.
pub(super) struct Pointer {
    pub(super) name: String,
    pub(super) loc: Loc,
    pub(super) kind: Kind,
}

pub(super) struct Code<'a> {
    pub(super) parser: &'a mut Parser,
    pointers: Vec<Pointer>,
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
        self.pointers.iter().find(|pointer| pointer.name == name).map(|pointer| pointer.loc)
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
        if self.parser.take_name("for") {
            return self.counted();
        }
        self.simple_statement()?;
        self.parser.sign(";")
    }

    /// A statement that ends with a semicolon, or stands in the head of a `for`.
    fn simple_statement(&mut self) -> Result<(), Wrong> {
        for word in ["switch", "goto", "return", "break", "continue", "struct"] {
            if self.parser.is_name(word) {
                return self.parser.wrong(format!("`{word}` is not supported"));
            }
        }
        if self.parser.take_type().is_some() {
            return self.declarations();
        }
        for (sign, op) in STEPS {
            if self.parser.take_sign(sign) {
                let target = self.target()?.ok_or_else(|| self.parser.expected("a register or `*` and a parameter"))?;
                return self.change(target, op, Expr::Const(1));
            }
        }
        match self.target()? {
            Some(target) => self.assign(target),
            None => self.expression().map(|_| ()),
        }
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
        self.enter_loop()?;
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
        self.unroll(&body, &test, &condition, usize::from(body_first));
        Ok(())
    }

    /// `for (s; e; s) s`
    fn counted(&mut self) -> Result<(), Wrong> {
        self.enter_loop()?;
        self.parser.sign("(")?;
        if !self.parser.is_sign(";") {
            self.simple_statement()?;
        }
        self.parser.sign(";")?;
        let (test, condition) = match self.parser.is_sign(";") {
            true => (Vec::new(), Expr::Const(1)),
            false => self.aside(Self::expression)?,
        };
        self.parser.sign(";")?;
        let (step, ()) = match self.parser.is_sign(")") {
            true => (Vec::new(), ()),
            false => self.aside(Self::simple_statement)?,
        };
        self.parser.sign(")")?;
        let (body, ()) = self.aside(Self::statement)?;
        self.loops -= 1;
        self.unroll(&[body, step].concat(), &test, &condition, 0);
        Ok(())
    }

    fn enter_loop(&mut self) -> Result<(), Wrong> {
        if self.loops == 2 {
            return self.parser.wrong("loops are nested too deep");
        }
        self.loops += 1;
        Ok(())
    }

    /// The rounds that are left, of which `done` were made.
    fn unroll(&mut self, body: &[Stmt], test: &[Stmt], condition: &Expr, done: usize) {
        let mut rest = test.to_vec();
        rest.push(Stmt::Assume(condition.clone().negated()));
        for _ in done..UNROLL {
            let then = [body, &rest].concat();
            rest = test.to_vec();
            rest.push(Stmt::If { condition: condition.clone(), then, otherwise: Vec::new() });
        }
        self.out.extend(rest);
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

    /// `r`, `*x` or `(*x)`, if something is assigned to it here.
    fn target(&mut self) -> Result<Option<Target>, Wrong> {
        if self.parser.is_sign("(") && self.parser.is_sign_at(1, "*") && self.parser.is_sign_at(3, ")") {
            self.parser.sign("(")?;
            self.parser.sign("*")?;
            let loc = self.pointed()?;
            self.parser.sign(")")?;
            return Ok(Some(Target::Loc(loc)));
        }
        if self.parser.take_sign("*") {
            return Ok(Some(Target::Loc(self.pointed()?)));
        }
        let register = match self.parser.peek() {
            Some(Token::Name(name)) => self.known_register(name),
            _ => None,
        };
        if register.is_some() {
            self.parser.name("a register")?;
        }
        Ok(register.map(Target::Reg))
    }

    /// `= e`, `+= e` and the like, `++`, `--`
    fn assign(&mut self, target: Target) -> Result<(), Wrong> {
        for (sign, op) in STEPS {
            if self.parser.take_sign(sign) {
                return self.change(target, op, Expr::Const(1));
            }
        }
        for (sign, op) in CHANGES {
            if self.parser.take_sign(sign) {
                let operand = self.expression()?;
                return self.change(target, op, operand);
            }
        }
        self.parser.sign("=")?;
        let value = self.expression()?;
        self.set(target, value);
        Ok(())
    }

    fn set(&mut self, target: Target, value: Expr) {
        self.out.push(match target {
            Target::Reg(reg) => Stmt::Set(reg, value),
            Target::Loc(loc) => Stmt::Store { loc, value, access: self.natural_access(loc) },
        });
    }

    /// `target = target op operand`. Of an atomic object it is one step, as C11 has it.
    fn change(&mut self, target: Target, op: Binary, operand: Expr) -> Result<(), Wrong> {
        let old = match target {
            Target::Reg(reg) => Expr::Reg(reg),
            Target::Loc(loc) => match self.natural_access(loc) {
                Access::Plain => self.load(loc, Access::Plain),
                Access::Atomic(order) => {
                    let op = match op {
                        Binary::Add => Update::Add,
                        Binary::Sub => Update::Sub,
                        Binary::Or => Update::Or,
                        Binary::And => Update::And,
                        Binary::Xor => Update::Xor,
                        _ => return self.parser.wrong("this assignment to an atomic object is not supported"),
                    };
                    self.out.push(Stmt::Update { into: None, loc, op, operand, order });
                    return Ok(());
                }
            },
        };
        self.set(target, Expr::Binary(op, Box::new(old), Box::new(operand)));
        Ok(())
    }

    /// How C's operators access it, by the type that this thread knows it by.
    fn natural_access(&self, loc: Loc) -> Access {
        let plain = |pointer: &Pointer| pointer.loc == loc && pointer.kind == Kind::Plain;
        if self.pointers.iter().any(plain) { Access::Plain } else { Access::Atomic(SeqCst) }
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

    pub(super) fn expression(&mut self) -> Result<Expr, Wrong> {
        self.nested(Self::choice)
    }

    /// `e`, or `e ? e : e`, of which one side is computed.
    fn choice(&mut self) -> Result<Expr, Wrong> {
        let condition = self.climb(0)?;
        if !self.parser.take_sign("?") {
            return Ok(condition);
        }
        let result = self.temporary();
        let side = |code: &mut Self, ends: bool| -> Result<Vec<Stmt>, Wrong> {
            let (mut effects, value) = code.aside(Self::expression)?;
            effects.push(Stmt::Set(result, value));
            if ends {
                code.parser.sign(":")?;
            }
            Ok(effects)
        };
        let then = side(self, true)?;
        let otherwise = side(self, false)?;
        self.out.push(Stmt::If { condition, then, otherwise });
        Ok(Expr::Reg(result))
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
        const OPERATORS: [(&str, Binary, usize); 16] = [
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
            ("<<", Binary::Left, 8),
            (">>", Binary::Right, 8),
            ("+", Binary::Add, 9),
            ("-", Binary::Sub, 9),
            ("*", Binary::Mul, 10),
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
            if self.parser.take_name("void") || self.parser.take_type().is_some() {
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
