//! Reads herd7's C litmus format: initial values, threads, and the question at the end.
//!
//! The threads' statements are read by `code`, the question by `ask`.

use crate::code::{self, Pointer};
use crate::lex::{Token, Wrong, lex};
use crate::program::{Kind, Loc, Location, Program, Thread};
use crate::uses;

/// Reads a litmus test; `file` is named in errors.
///
/// # Errors
/// `file:line: what was expected`
pub fn parse(file: &str, text: &str) -> Result<Program, String> {
    let program = read(text).map_err(|(line, what)| format!("{file}:{line}: {what}"))?;
    program.check().map_err(|what| format!("{file}: {what}"))?;
    Ok(program)
}

fn read(text: &str) -> Result<Program, Wrong> {
    let words = lex(text)?;
    if words.tokens.len() > 5000 {
        return Err((1, "a test of more than 5000 words is too large".to_owned()));
    }
    if let Some(line) = open_brace(&words.tokens) {
        return Err((line, "expected a `}` for this `{`, found none".to_owned()));
    }
    let program = Program { name: words.name, expected: words.expected, ..Program::default() };
    let mut parser = Parser { tokens: words.tokens, at: 0, depth: 0, program, preset: Vec::new() };
    parser.initial_values()?;
    while matches!(parser.peek(), Some(Token::Name(name)) if thread_number(name).is_some()) {
        parser.thread()?;
    }
    if parser.program.threads.is_empty() {
        return Err(parser.expected("`P0`, the first thread"));
    }
    parser.settle_registers()?;
    uses::settle_kinds(&mut parser.program);
    parser.end()?;
    Ok(parser.program)
}

/// Blocks and expressions are nested no deeper.
const DEEPEST: usize = 60;

/// The line of the first brace that is not closed. Whatever a reader stumbles over then stands somewhere else; but for what
/// is nested too deep, which the parser says itself.
fn open_brace(tokens: &[(Token, usize)]) -> Option<usize> {
    let mut open = Vec::new();
    for (token, line) in tokens {
        match token {
            Token::Sign("{") => open.push(*line),
            Token::Sign("}") => drop(open.pop()),
            _ => (),
        }
        if open.len() > DEEPEST {
            return None;
        }
    }
    open.first().copied()
}

fn thread_number(name: &str) -> Option<usize> {
    name.strip_prefix('P')?.parse().ok()
}

/// Reads word by word.
pub(super) struct Parser {
    tokens: Vec<(Token, usize)>,
    at: usize,
    depth: usize,
    pub(super) program: Program,
    /// Initial values of registers, until the registers are known.
    preset: Vec<(usize, usize, String, i64)>,
}

impl Parser {
    pub(super) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }
    /// The line of the next word, or of the last.
    pub(super) fn line(&self) -> usize {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |(_, line)| *line)
    }
    pub(super) fn wrong<T>(&self, what: impl Into<String>) -> Result<T, Wrong> {
        Err((self.line(), what.into()))
    }
    pub(super) fn expected(&self, what: &str) -> Wrong {
        let found = match self.peek() {
            None => "the end of the file".to_owned(),
            Some(Token::Name(name)) => format!("`{name}`"),
            Some(Token::Number(value)) => format!("`{value}`"),
            Some(Token::Sign(sign)) => format!("`{sign}`"),
        };
        (self.line(), format!("expected {what}, found {found}"))
    }
    pub(super) fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(next)) if *next == sign)
    }
    fn is_sign_after(&self, sign: &str) -> bool {
        self.is_sign_at(1, sign)
    }
    /// Is the word that comes so many behind the next one this sign?
    pub(super) fn is_sign_at(&self, behind: usize, sign: &str) -> bool {
        matches!(self.tokens.get(self.at + behind), Some((Token::Sign(next), _)) if *next == sign)
    }
    pub(super) fn take_sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        self.at += usize::from(found);
        found
    }
    pub(super) fn sign(&mut self, sign: &str) -> Result<(), Wrong> {
        if self.take_sign(sign) { Ok(()) } else { Err(self.expected(&format!("`{sign}`"))) }
    }
    pub(super) fn is_name(&self, name: &str) -> bool {
        matches!(self.peek(), Some(Token::Name(next)) if next == name)
    }
    pub(super) fn take_name(&mut self, name: &str) -> bool {
        let found = self.is_name(name);
        self.at += usize::from(found);
        found
    }
    pub(super) fn name(&mut self, what: &str) -> Result<String, Wrong> {
        match self.peek() {
            Some(Token::Name(name)) => {
                let name = name.clone();
                self.at += 1;
                Ok(name)
            }
            _ => Err(self.expected(what)),
        }
    }
    pub(super) fn take_number(&mut self) -> Option<i64> {
        match self.peek() {
            Some(Token::Number(value)) => {
                let value = *value;
                self.at += 1;
                Some(value)
            }
            _ => None,
        }
    }
    pub(super) fn integer(&mut self) -> Result<i64, Wrong> {
        let minus = self.take_sign("-");
        let value = self.take_number().ok_or_else(|| self.expected("a number"))?;
        Ok(if minus { value.wrapping_neg() } else { value })
    }

    /// One level deeper in what may contain itself. Few enough of them never overflow the stack.
    pub(super) fn deeper(&mut self) -> Result<(), Wrong> {
        self.depth += 1;
        if self.depth > DEEPEST { self.wrong("this is nested too deep") } else { Ok(()) }
    }
    pub(super) fn higher(&mut self) {
        self.depth -= 1;
    }
    pub(super) fn step_back(&mut self) {
        self.at -= 1;
    }

    /// `volatile const atomic_int`, if a type stands here: is it atomic? `volatile` orders nothing between threads.
    pub(super) fn take_type(&mut self) -> Option<Kind> {
        const PLAIN: &[&str] = &["int", "long", "short", "char", "unsigned", "signed", "bool", "_Bool"];
        const FIXED: &[&str] = &["int32_t", "uint32_t", "int64_t", "uint64_t", "intptr_t", "uintptr_t", "size_t"];
        let mut kind = None;
        while let Some(Token::Name(name)) = self.peek() {
            match name.as_str() {
                "volatile" | "const" | "static" | "register" => (),
                // `_Atomic(int)`
                "_Atomic" if self.is_sign_after("(") => {
                    self.at += 2;
                    while !self.take_sign(")") && self.peek().is_some() {
                        self.at += 1;
                    }
                    kind = Some(Kind::Atomic);
                    continue;
                }
                name if PLAIN.contains(&name) || FIXED.contains(&name) => kind = kind.or(Some(Kind::Plain)),
                name if name == "_Atomic" || name.starts_with("atomic_") && is_atomic_type(name) => {
                    kind = Some(Kind::Atomic);
                }
                _ => break,
            }
            self.at += 1;
        }
        kind
    }

    /// The location of this name; it exists from now on. What it is shows in how the threads access it.
    pub(super) fn location(&mut self, name: &str) -> Loc {
        if let Some(loc) = self.program.locations.iter().position(|l| l.name == name) {
            return loc;
        }
        self.program.locations.push(Location { name: name.to_owned(), initial: 0, kind: Kind::Atomic });
        self.program.locations.len() - 1
    }

    /// `{ x = 0; atomic_int y = 1; [z] = 2; 0:r0 = 3; }`
    fn initial_values(&mut self) -> Result<(), Wrong> {
        self.sign("{")?;
        while !self.take_sign("}") {
            if self.take_sign(";") {
                continue;
            }
            self.initial_value()?;
            if !self.is_sign("}") {
                self.sign(";")?;
            }
        }
        Ok(())
    }

    fn initial_value(&mut self) -> Result<(), Wrong> {
        let line = self.line();
        self.take_type();
        if self.is_sign("*") {
            return self.wrong("pointers as values are not supported");
        }
        if let Some(thread) = self.take_number() {
            self.sign(":")?;
            let (thread, reg) = (usize::try_from(thread).unwrap_or(usize::MAX), self.name("a register")?);
            self.sign("=")?;
            let value = self.integer()?;
            self.preset.push((line, thread, reg, value));
            return Ok(());
        }
        let loc = self.location_name()?;
        if self.is_sign("[") {
            return self.wrong("arrays are not supported");
        }
        if self.take_sign("=") {
            if self.is_sign("&") || matches!(self.peek(), Some(Token::Name(_))) {
                return self.wrong("expected a number: pointers as values are not supported");
            }
            self.program.locations[loc].initial = self.integer()?;
        }
        Ok(())
    }

    /// `x`, `[x]` or `*x`
    pub(super) fn location_name(&mut self) -> Result<Loc, Wrong> {
        self.take_sign("*");
        let bracket = self.take_sign("[");
        let name = self.name("a location")?;
        if bracket {
            self.sign("]")?;
        }
        Ok(self.location(&name))
    }

    /// `P0 (atomic_int* x, int* y) { ... }`
    fn thread(&mut self) -> Result<(), Wrong> {
        let number = thread_number(&self.name("a thread")?);
        if number != Some(self.program.threads.len()) {
            self.at -= 1;
            return Err(self.expected(&format!("`P{}`", self.program.threads.len())));
        }
        self.sign("(")?;
        let mut pointers = Vec::new();
        while !self.take_sign(")") {
            let kind = self.take_type().ok_or_else(|| self.expected("a type, as `atomic_int*` or `int*`"))?;
            self.sign("*")?;
            while self.take_name("restrict") || self.take_name("const") {}
            let name = self.name("a pointer's name")?;
            let loc = self.location(&name);
            pointers.push(Pointer { name, loc, kind });
            if !self.is_sign(")") {
                self.sign(",")?;
            }
        }
        let thread = code::thread(self, pointers)?;
        self.program.threads.push(thread);
        Ok(())
    }

    fn settle_registers(&mut self) -> Result<(), Wrong> {
        for (line, thread, name, value) in std::mem::take(&mut self.preset) {
            let Some(Thread { registers, initial, .. }) = self.program.threads.get_mut(thread) else {
                return Err((line, format!("expected a thread of the test, found {thread}")));
            };
            let reg = registers.iter().position(|other| *other == name).unwrap_or_else(|| {
                registers.push(name);
                registers.len() - 1
            });
            initial.resize(initial.len().max(reg + 1), 0);
            initial[reg] = value;
        }
        Ok(())
    }
}

fn is_atomic_type(name: &str) -> bool {
    let rest = name.trim_start_matches("atomic_");
    matches!(rest, "int" | "uint" | "long" | "ulong" | "llong" | "ullong" | "char" | "short" | "bool" | "flag")
        || rest.ends_with("_t")
}
