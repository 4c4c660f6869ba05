//! Puts every small mistake it can think of into a Rust source, each behind a switch of its own.
//!
//! The text stays where it is, line by line, so a mutated source is quoted and traced like the original. A mistake is
//! text put around, or before, what it spoils: `if !crate::is(17) { self.leave(seeking); }`. One build has them all.

mod steps;
mod visit;

use std::collections::BTreeSet;
use std::fmt;

/// A mistake that can be switched on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Its number in the whole kernel.
    pub id: u32,
    /// The file's path below `src`.
    pub file: String,
    /// The line it spoils, from 1.
    pub line: usize,
    /// The function it stands in.
    pub function: String,
    /// What kind of mistake.
    pub kind: Kind,
    /// What stands there.
    pub before: String,
    /// What would stand there. Empty: nothing.
    pub after: String,
    /// The how manieth of this kind, on this text, in this function.
    pub nth: usize,
}

/// Kinds of mistakes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A statement is left out.
    Dropped,
    /// A statement is done twice.
    Doubled,
    /// A statement, or what a statement asks, comes before the statement above it.
    Swapped,
    /// A condition holds always.
    Always,
    /// A condition, or a pattern, holds never.
    Never,
    /// An operator, a method or a number is another.
    Replaced,
    /// A function returns at once.
    Early,
}

impl Kind {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Dropped => "dropped",
            Kind::Doubled => "doubled",
            Kind::Swapped => "swapped",
            Kind::Always => "always",
            Kind::Never => "never",
            Kind::Replaced => "replaced",
            Kind::Early => "early",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Step {
    /// What it is called in a list of those that do not compile: stays the same while the code around it changes.
    pub fn key(&self) -> String {
        let Step { file, function, kind, before, after, nth, .. } = self;
        format!("{file} | {function} | {kind} | {before} | {after} | {nth}")
    }
}

/// A source with its mistakes.
#[derive(Debug)]
pub struct Mutated {
    /// The source.
    pub text: String,
    /// The mistakes in it.
    pub steps: Vec<Step>,
    /// Which bytes of `text` belong to which mistake, by its number.
    pub inserted: Vec<(std::ops::Range<usize>, u32)>,
}

/// Mutates the source `text` of `file`. The first mistake gets the number `first`; those whose key is in `stillborn` are
/// left out, because they do not compile.
///
/// # Errors
/// If `text` is no Rust.
pub fn mutate(file: &str, text: &str, first: u32, stillborn: &BTreeSet<String>) -> Result<Mutated, String> {
    let syntax = syn::parse_file(text).map_err(|error| format!("{file}: {error}"))?;
    let found = visit::find(file, text, &syntax);
    Ok(steps::splice(text, found, first, stillborn))
}

#[cfg(test)]
mod tests {
    use super::{Kind, mutate};
    use std::collections::BTreeSet;

    fn kinds(body: &str) -> Vec<(Kind, String, String)> {
        let text = format!("fn f(a: u64, b: u64) {{\n{body}\n}}\n");
        let mutated = mutate("f.rs", &text, 1, &BTreeSet::new()).expect("it is Rust");
        syn::parse_file(&mutated.text).unwrap_or_else(|error| panic!("{error}:\n{}", mutated.text));
        assert_eq!(mutated.text.lines().count(), text.lines().count(), "lines stay where they are");
        let early = |step: &super::Step| step.kind != Kind::Early;
        mutated.steps.into_iter().filter(early).map(|step| (step.kind, step.before, step.after)).collect()
    }

    fn has(body: &str, kind: Kind, before: &str, after: &str) {
        let all = kinds(body);
        assert!(all.contains(&(kind, before.into(), after.into())), "{all:?}");
    }

    #[test]
    fn a_statement_is_dropped_and_doubled() {
        has("g(a);", Kind::Dropped, "g(a);", "");
        has("g(a);", Kind::Doubled, "g(a);", "g(a); g(a);");
    }

    #[test]
    fn neighbours_are_swapped() {
        has("g(a);\nh(b);", Kind::Swapped, "h(b);", "before `g(a);`");
        has("g(a);\nif h(b) { g(b); }", Kind::Swapped, "h(b)", "before `g(a);`");
        has("g(a);\nlet c = h(b);\ng(c);", Kind::Swapped, "h(b)", "before `g(a);`");
    }

    #[test]
    fn what_needs_the_line_above_is_not_swapped() {
        let all = kinds("let c = h(b);\ng(c);");
        assert!(all.iter().all(|(kind, ..)| *kind != Kind::Swapped), "{all:?}");
    }

    #[test]
    fn what_only_computes_may_come_at_any_time() {
        let all = kinds("g(a);\nlet c = a.min(b) + 1;\nh(c);");
        assert!(all.iter().all(|(kind, ..)| *kind != Kind::Swapped), "{all:?}");
    }

    #[test]
    fn what_may_be_done_twice_is_not_doubled() {
        let all = kinds("a.store(b, Relaxed);");
        assert!(all.iter().all(|(kind, ..)| *kind != Kind::Doubled), "{all:?}");
    }

    #[test]
    fn conditions_hold_always_or_never() {
        has("if a < b { g(a); }", Kind::Always, "a < b", "true");
        has("if a < b { g(a); }", Kind::Never, "a < b", "false");
        has("if a < b { g(a); }", Kind::Replaced, "a < b", "a <= b");
        has("if let Some(c) = g(a) { h(c); }", Kind::Never, "let Some(c) = g(a)", "false");
    }

    #[test]
    fn patterns_and_constants_are_left_alone() {
        let all = kinds("match a { 0 => g(b), _ => () }");
        assert!(all.iter().all(|(_, before, _)| before != "0"), "{all:?}");
    }
}
