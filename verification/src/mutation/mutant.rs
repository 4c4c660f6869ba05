//! The wrong variants: the kernel with one line weakened or one step wrong, each of which must be caught.

use crate::catalog;
use crate::engines::Engine;
use crate::mutation::weaken::{self, Change, Fault, Site, Strength};
use std::cell::Cell;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutation {
    /// The first line that contains `needle`, below the one that contains `after`: its fence is gone, its ordering is
    /// `Relaxed`, or that on failure.
    Weaken {
        /// A file of the kernel.
        file: &'static str,
        /// A function's first line.
        after: &'static str,
        /// What stands in the line.
        needle: &'static str,
        /// To what.
        change: Change,
    },
    /// The room's wrong variant of this name is played instead of the room.
    Variant(&'static str),
    /// One access is made in another way.
    Access(Fault),
}

/// A wrong variant, and the models that must catch it.
#[derive(Debug, Clone, Copy)]
pub struct Mutant {
    /// Its name.
    pub name: &'static str,
    /// The room it mutates.
    pub room: &'static str,
    /// What is wrong, for a reader.
    pub what: &'static str,
    /// How.
    pub mutation: Mutation,
    /// The models that kill it, and on which engine.
    pub killed_by: &'static [(&'static str, Engine)],
}

impl Mutation {
    /// The first line with `needle` in `file`, below the one with `after`, is weakened.
    pub const fn weaken(file: &'static str, after: &'static str, needle: &'static str) -> Mutation {
        Mutation::Weaken { file, after, needle, change: Change::To(Strength::Relaxed) }
    }

    /// The same, but for the ordering on failure.
    pub const fn weaken_failure(file: &'static str, after: &'static str, needle: &'static str) -> Mutation {
        Mutation::Weaken { file, after, needle, change: Change::FailureTo(Strength::Relaxed) }
    }

    /// The wrong variant of this name.
    pub const fn variant(name: &'static str) -> Mutation {
        Mutation::Variant(name)
    }
}

/// Declares the mutants of a room: what is wrong, how, and which models kill it on which engines.
#[macro_export]
macro_rules! mutants {
    (room: $room:literal; $(
        $name:literal $(of $other:literal)?: $what:literal, $how:ident($($with:expr),*),
        by $($model:expr => [$($engine:ident),*]),*;
    )*) => {
        &[$($crate::mutation::mutant::Mutant {
            name: $name,
            room: [$($other,)? $room][0],
            what: $what,
            mutation: $crate::mutation::mutant::Mutation::$how($($with),*),
            killed_by: &[$($(($model, $crate::engines::Engine::$engine)),*),*],
        }),*]
    };
}

pub use crate::sources::SOURCES;

/// The text of a line of the kernel, of a model, or of what else was registered.
pub fn source_line(file: &str, line: u32) -> Option<&'static str> {
    let (_, text) = catalog::all().flat_map(|catalog| catalog.sources).find(|(name, _)| *name == file)?;
    text.lines().nth(line as usize - 1).map(str::trim)
}

thread_local! {
    static VARIANT: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Which variant to play, if any.
pub fn variant() -> Option<&'static str> {
    VARIANT.get()
}

/// Is the variant of this name to be played?
pub fn is_variant(name: &str) -> bool {
    variant() == Some(name)
}

/// From now on, on this thread, play this.
pub(crate) fn set(mutation: Option<Mutation>) {
    VARIANT.set(match mutation {
        Some(Mutation::Variant(name)) => Some(name),
        _ => None,
    });
    weaken::mutate(mutation.and_then(fault));
}

/// How often the mutated line was executed; a variant counts as executed.
pub(crate) fn hits() -> u64 {
    weaken::hits() + u64::from(VARIANT.get().is_some())
}

fn fault(mutation: Mutation) -> Option<Fault> {
    match mutation {
        Mutation::Access(fault) => Some(fault),
        Mutation::Weaken { change, .. } => site(mutation).map(|site| Fault { site, change }),
        Mutation::Variant(_) => None,
    }
}

/// Where a weakened line is. `None`: for a variant, or if the kernel has no such line.
pub fn site(mutation: Mutation) -> Option<Site> {
    let Mutation::Weaken { file, after, needle, .. } = mutation else { return None };
    let line = line_of(file, after, needle)?;
    Some(Site { file, line, column: 0 })
}

/// The first line with `needle` that is no comment, below the one with `after`.
pub fn line_of(file: &str, after: &str, needle: &str) -> Option<u32> {
    let (_, text) = SOURCES.iter().find(|(name, _)| *name == file)?;
    let mut lines = text.lines().enumerate().skip_while(|(_, line)| !line.contains(after)).skip(1);
    let (index, _) = lines.find(|(_, line)| line.contains(needle) && !line.trim_start().starts_with("//"))?;
    Some(index as u32 + 1)
}

/// The mutant of this name: the kernel's, or of a [`Catalog`](catalog::Catalog) that was registered.
pub fn find(name: &str) -> Option<&'static Mutant> {
    catalog::all().flat_map(|catalog| catalog.mutants.iter().copied().flatten()).find(|mutant| mutant.name == name)
}

/// All of the kernel's.
pub fn all() -> impl Iterator<Item = &'static Mutant> {
    crate::models::MUTANTS.iter().copied().flatten()
}
