//! Puts every small mistake it can think of into a Rust source, each behind a switch of its own.
//!
//! The text stays where it is, line by line, so a mutated source is quoted and traced like the original. A mistake is
//! text put around, or before, what it changes: `if !crate::is(17) { self.leave(token); }`. One build has them all.
//!
//! A switch at the site cannot express every mutant: where a statement moves a value, the two branches would move it twice. Such a
//! mutant is an edited copy of its whole function, behind one switch at the top: `if crate::is(17) { return { … }; }`.
//! So rustc sees the edit as if it were made by hand, and what it refuses is what it would refuse then.

mod pairs;
mod steps;
mod visit;

use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

/// A mistake that can be switched on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Its number in the whole kernel.
    pub id: u32,
    /// The file's path below `src`.
    pub file: String,
    /// The line it mutates, from 1.
    pub line: usize,
    /// The function it stands in.
    pub function: String,
    /// What kind of mistake.
    pub kind: Kind,
    /// What stands there; of an edit by hand, what is mistaken.
    pub before: String,
    /// What would stand there. Empty: nothing.
    pub after: String,
    /// Its index among those of this kind, on this text, in this function.
    pub nth: usize,
    /// It is these two others at once, and has no switch of its own.
    pub both: Option<(u32, u32)>,
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
    /// A text written instead, by hand: see [`ByHand`].
    Edited,
    /// Two statements of a block are left out. This kind and those below are mistakes of two lines.
    Both,
    /// A statement, or what a statement asks, comes before one that stands two or more above it, or before its loop.
    Earlier,
    /// A lock is released between two statements, and taken again.
    Split,
    /// What is looked at under a lock is looked at before that is taken, or under another hold of it.
    Outside,
    /// What is done under a lock is done once it is free: a token or a count is given back too late.
    After,
    /// An arm of a `match`, or of an `if`, begins with a return.
    Arm,
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
            Kind::Edited => "edited",
            Kind::Both => "both",
            Kind::Earlier => "earlier",
            Kind::Split => "split",
            Kind::Outside => "outside",
            Kind::After => "after",
            Kind::Arm => "arm",
        }
    }
}

impl Kind {
    /// Made of two lines of the source, of the scope of a lock, or of an arm. They are tried by themselves: `--sort pair`.
    pub fn is_of_two_lines(self) -> bool {
        Kind::TWO_LINES.contains(&self)
    }

    /// All that are.
    pub const TWO_LINES: [Kind; 6] = [Kind::Both, Kind::Earlier, Kind::Split, Kind::Outside, Kind::After, Kind::Arm];
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

    /// What is wrong, for a reader.
    pub fn what(&self) -> String {
        let Step { function, before, after, .. } = self;
        match self.kind {
            Kind::Dropped => format!("`{before}` is left out"),
            Kind::Doubled => format!("`{before}` is done twice"),
            Kind::Swapped | Kind::Earlier => format!("`{before}` comes {after}"),
            Kind::Both => format!("`{before}` and `{after}` are left out"),
            Kind::Split => format!("the lock is released before `{before}`"),
            Kind::Outside => format!("`{before}` is looked at {after}"),
            Kind::After => format!("`{before}` is done after the lock"),
            Kind::Arm => format!("`{before}` begins with `{after}`"),
            Kind::Early => format!("{function} begins with `{after}`"),
            Kind::Edited => before.clone(),
            Kind::Always | Kind::Never | Kind::Replaced => format!("`{before}` is `{after}`"),
        }
    }

    /// What it is called in `survivors.toml` and in records: its file, its function, what is wrong, and its index
    /// such; if it is of two lines that stands behind the function.
    pub fn name(&self) -> String {
        let Step { file, function, nth, .. } = self;
        let nth = if *nth == 0 { String::new() } else { format!(" #{}", nth + 1) };
        let lines = if self.kind.is_of_two_lines() { " (two lines)" } else { "" };
        format!("{file} {function}{lines}: {}{nth}", self.what())
    }
}

/// A mistake made by hand: another text for a function. It is an edited copy of the function.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByHand {
    /// The file's path below `src`.
    pub file: String,
    /// What is mistaken, in a sentence.
    pub what: String,
    /// What stands there, once in the file.
    pub from: String,
    /// What would stand there.
    pub to: String,
}

/// What `by_hand.toml` says.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct AllByHand {
    #[serde(default)]
    edit: Vec<ByHand>,
}

/// How the mutants go into the text, by their keys. Those in no list get a switch at their site.
#[derive(Debug, Clone, Default)]
pub struct Placing {
    /// An edited copy of their function, behind a switch at its top.
    pub copied: BTreeSet<String>,
    /// They compile, but as real edits only: each needs a build of its own.
    pub alone: BTreeSet<String>,
    /// rustc refuses them, as real edits too.
    pub stillborn: BTreeSet<String>,
    /// Those that were made by hand, besides the others.
    pub by_hand: Vec<ByHand>,
}

impl Placing {
    /// The three lists, as they stand in a folder, and their names.
    pub const LISTS: [&'static str; 3] = ["copied.txt", "alone.txt", "stillborn.txt"];

    /// The lists of mutants that were made by hand: over the kernel, and mistakes of two lines over tasks and waits.
    pub const BY_HAND: [&'static str; 6] = [
        "by_hand.toml",
        "by_hand_waits.toml",
        "by_hand_4.toml",
        "by_hand_5.toml",
        "by_hand_6.toml",
        "by_hand_7.toml",
    ];

    /// The wrong variants of rooms that are declared in `verification/rooms`, a file for each, seen from the kernel's folder.
    pub const VARIANTS: &'static str = "../../rooms/variants";

    /// Reads the lists in `folder`; one that is not there is empty.
    ///
    /// # Errors
    /// If one cannot be read, or is broken.
    pub fn read(folder: &std::path::Path) -> Result<Placing, std::io::Error> {
        let list = |name: &str| {
            let path = folder.join(name);
            let text = if path.exists() { std::fs::read_to_string(path)? } else { String::new() };
            let keys = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
            Ok::<_, std::io::Error>(keys.map(str::to_owned).collect())
        };
        let [copied, alone, stillborn] = Placing::LISTS.map(list);
        let mut by_hand = Vec::new();
        let mut lists: Vec<PathBuf> = Placing::BY_HAND.map(|name| folder.join(name)).into();
        let variants = folder.join(Placing::VARIANTS);
        if variants.exists() {
            let files = std::fs::read_dir(variants)?.map(|entry| entry.map(|entry| entry.path()));
            lists.extend(files.collect::<Result<BTreeSet<_>, _>>()?);
        }
        for path in lists.into_iter().filter(|path| path.exists()) {
            let text = std::fs::read_to_string(path)?;
            by_hand.extend(toml::from_str::<AllByHand>(&text).map_err(std::io::Error::other)?.edit);
        }
        Ok(Placing { copied: copied?, alone: alone?, stillborn: stillborn?, by_hand })
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

/// Mutates the source `text` of `file`. The first mutant gets the number `first`.
///
/// # Errors
/// If `text` is no Rust, or a mutant made by hand does not fit.
pub fn mutate(file: &str, text: &str, first: u32, placing: &Placing) -> Result<Mutated, String> {
    let syntax = parse(file, text)?;
    let mut found = visit::find(file, text, &syntax);
    found.extend(visit::by_hand(file, text, &syntax, &placing.by_hand)?);
    steps::splice(text, found, first, placing)
}

/// The source `text` of `file` with the one mutant `key`, as a real edit. `None`: it has none of that key.
///
/// # Errors
/// If `text` is no Rust.
pub fn edited(file: &str, text: &str, key: &str) -> Result<Option<String>, String> {
    Ok(steps::edited(text, visit::find(file, text, &parse(file, text)?), key))
}

fn parse(file: &str, text: &str) -> Result<syn::File, String> {
    syn::parse_file(text).map_err(|error| format!("{file}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::{ByHand, Kind, Placing, edited, mutate};

    fn kinds(body: &str) -> Vec<(Kind, String, String)> {
        let text = format!("fn f(a: u64, b: u64) {{\n{body}\n}}\n");
        let mutated = mutate("f.rs", &text, 1, &Placing::default()).expect("it is Rust");
        syn::parse_file(&mutated.text).unwrap_or_else(|error| panic!("{error}:\n{}", mutated.text));
        assert_eq!(mutated.text.lines().count(), text.lines().count(), "lines stay where they are");
        let early = |step: &super::Step| ![Kind::Early, Kind::Arm].contains(&step.kind);
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
    fn each_arm_begins_with_a_return() {
        let text = "fn f(a: u64) -> Option<u64> {\nif a > 1 { g(a); } else { h(a); }\nlet b = move || match a { 0 => g(1), _ => g(2) };\nloop {\nmatch g(a) {\nOk(n) => return n,\nErr(1) => None,\nErr(found) => h(found),\n}\n}\n}\n";
        let mutated = mutate("f.rs", text, 1, &Placing::default()).expect("it is Rust");
        syn::parse_file(&mutated.text).unwrap_or_else(|error| panic!("{error}:\n{}", mutated.text));
        let arms: Vec<_> = mutated.steps.iter().filter(|step| step.kind == Kind::Arm).map(super::Step::what).collect();
        let begins = |arm: &str| format!("`{arm}` begins with `return None;`");
        assert_eq!(arms, ["if a > 1", "else of a > 1", "Err(found) =>"].map(begins), "{}", mutated.text);
        assert!(mutated.text.contains("Err(found) => { if crate::is("), "{}", mutated.text);
        let key = mutated.steps.iter().find(|step| step.before == "Err(found) =>").expect("it is listed").key();
        let real = edited("f.rs", text, &key).expect("it is Rust").expect("it has it");
        assert!(real.contains("Err(found) => { return None; h(found) }"), "{real}");
    }

    #[test]
    fn patterns_and_constants_are_left_alone() {
        let all = kinds("match a { 0 => g(b), _ => () }");
        assert!(all.iter().all(|(_, before, _)| before != "0"), "{all:?}");
    }

    const MOVES: &str = "fn f(p: P) {\n    g();\n    // Why.\n    h(p, \"a \\\n    b\");\n}\n";
    const KEY: &str = "f.rs | f | swapped | h(p, \"a \\ b\"); | before `g();` | 0";

    #[test]
    fn what_moves_a_value_is_a_copy_of_its_function() {
        let placing = Placing { copied: [KEY.to_owned()].into(), ..Placing::default() };
        let mutated = mutate("f.rs", MOVES, 1, &placing).expect("it is Rust");
        syn::parse_file(&mutated.text).unwrap_or_else(|error| panic!("{error}:\n{}", mutated.text));
        assert_eq!(mutated.text.lines().count(), MOVES.lines().count(), "lines stay where they are");
        let id = mutated.steps.iter().find(|step| step.key() == KEY).expect("it is listed").id;
        let top = mutated.text.lines().next().expect("it has a line");
        assert!(top.contains(&format!("if crate::is({id}) {{ return {{ h (p , \"a b\") ;")), "{top}");
    }

    #[test]
    fn what_needs_a_build_of_its_own_is_an_edit_of_the_source() {
        let real = edited("f.rs", MOVES, KEY).expect("it is Rust").expect("it has it");
        assert!(real.find("h(p").expect("it is there") < real.find("g()").expect("it is there"), "{real}");
        assert_eq!(real.matches("h(p").count(), 1, "{real}");
    }

    #[test]
    fn what_was_made_by_hand_is_a_copy_of_its_function() {
        let by_hand = |from: &str| {
            let [file, what, from, to] = ["f.rs", "it forgets h", from, "g();"].map(str::to_owned);
            mutate("f.rs", MOVES, 1, &Placing { by_hand: vec![ByHand { file, what, from, to }], ..Placing::default() })
        };
        let mutated = by_hand("h(p, \"a \\\n    b\");").expect("it fits");
        let step = mutated.steps.iter().find(|step| step.kind == Kind::Edited).expect("it is listed");
        assert_eq!((step.name(), step.line), ("f.rs f: it forgets h".to_owned(), 4));
        let top = mutated.text.lines().next().expect("it has a line");
        assert!(top.contains(&format!("if crate::is({}) {{ return {{ g () ; g () ; }}", step.id)), "{top}");
        assert!(by_hand("i();").expect_err("it is not there").contains("stands 0 times"));
        assert!(by_hand("fn f").expect_err("no body").contains("in no function"));
    }

    #[test]
    fn what_only_checkers_build_is_not_mutated() {
        let count = |text: &str| mutate("f.rs", text, 1, &Placing::default()).expect("it is Rust").steps.len();
        assert!(count(MOVES) > 0);
        assert_eq!(count(&format!("#![cfg(feature = \"model\")]\n{MOVES}")), 0);
    }

    #[test]
    fn what_is_refused_or_built_alone_is_not_there() {
        let key = || [KEY.to_owned()].into();
        let refused = Placing { stillborn: key(), ..Placing::default() };
        let alone = Placing { alone: key(), ..Placing::default() };
        for placing in [refused, alone] {
            let mutated = mutate("f.rs", MOVES, 1, &placing).expect("it is Rust");
            assert!(mutated.steps.iter().all(|step| step.key() != KEY), "{:?}", mutated.steps);
        }
    }
}

/// The folders of the kernel whose sources are mutated.
pub const FOLDERS: [&str; 6] = ["protocol", "queues", "sched", "task", "types", "waits"];

/// The sources that are mutated, below the folder `src`, in order.
///
/// # Errors
/// If a folder cannot be read.
pub fn mutated_sources(src: &Path) -> io::Result<Vec<PathBuf>> {
    FOLDERS.iter().try_fold(Vec::new(), |found, folder| Ok([found, sources(&src.join(folder))?].concat()))
}

/// The sources in a folder and below it, in order.
///
/// # Errors
/// If the folder cannot be read.
pub fn sources(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut inside: Vec<PathBuf> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    inside.sort();
    let mut found = Vec::new();
    for path in inside {
        if path.is_dir() { found.extend(sources(&path)?) } else { found.push(path) }
    }
    Ok(found)
}
