//! The museum: bugs that real schedulers and queues had, each made again here, and caught.
//!
//! An exhibit is a wrong variant: one line of our kernel changed, or one line of a small faithful variant of the code
//! that had the bug. The variant's models hold without the change, on the same engine that kills it.

pub mod go;
pub mod peers;

use crate::model::Model;
use crate::mutation::mutant::Mutant;

/// How well what is told of a bug is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The issue, the fix or the code was read.
    Read,
    /// It is told as others tell it: the issue's title, a change log, a comment in a source.
    Told,
    /// What happened is known; the mechanism shown here is our own reading of it.
    OurReading,
}

/// A bug of a real project.
#[derive(Debug, Clone, Copy)]
pub struct Exhibit {
    /// Its name here.
    pub name: &'static str,
    /// Whose it was.
    pub project: &'static str,
    /// Where it was reported or fixed.
    pub issue: &'static str,
    /// When.
    pub year: u16,
    /// What happened to people.
    pub people: &'static str,
    /// Why.
    pub cause: &'static str,
    /// What mended it.
    pub fix: &'static str,
    /// How well that is known.
    pub source: Source,
    /// The wrong variant that has it: `mutant::find` knows it.
    pub mutant: &'static str,
}

/// All of them.
pub fn all() -> impl Iterator<Item = &'static Exhibit> {
    EXHIBITS.iter().copied().flatten()
}

/// The bugs, a table a family.
pub const EXHIBITS: &[&[Exhibit]] = &[
    go::EXHIBITS,
    peers::kernel::EXHIBITS,
    peers::dekker::EXHIBITS,
    peers::futexes::EXHIBITS,
    peers::locks::EXHIBITS,
    peers::tokens::EXHIBITS,
    peers::lifetimes::EXHIBITS,
    peers::counts::EXHIBITS,
    peers::rings::EXHIBITS,
    peers::deques::EXHIBITS,
    peers::handoff::EXHIBITS,
    peers::wakers::EXHIBITS,
    peers::ends::EXHIBITS,
    peers::notifies::EXHIBITS,
    peers::channels::EXHIBITS,
    peers::blocks::EXHIBITS,
    peers::pollers::EXHIBITS,
    peers::guards::EXHIBITS,
];

/// The variants' models, which are not the kernel's.
pub static MODELS: &[&[Model]] = &[
    go::MODELS,
    peers::dekker::MODELS,
    peers::futexes::MODELS,
    peers::locks::MODELS,
    peers::tokens::MODELS,
    peers::lifetimes::MODELS,
    peers::counts::MODELS,
    peers::rings::MODELS,
    peers::deques::MODELS,
    peers::handoff::MODELS,
    peers::wakers::MODELS,
    peers::ends::MODELS,
    peers::notifies::MODELS,
    peers::channels::MODELS,
    peers::blocks::MODELS,
    peers::pollers::MODELS,
    peers::guards::MODELS,
];

/// The variants that are not the kernel's.
pub static MUTANTS: &[&[Mutant]] = &[
    go::MUTANTS,
    peers::dekker::MUTANTS,
    peers::futexes::MUTANTS,
    peers::locks::MUTANTS,
    peers::tokens::MUTANTS,
    peers::lifetimes::MUTANTS,
    peers::counts::MUTANTS,
    peers::rings::MUTANTS,
    peers::deques::MUTANTS,
    peers::handoff::MUTANTS,
    peers::wakers::MUTANTS,
    peers::ends::MUTANTS,
    peers::notifies::MUTANTS,
    peers::channels::MUTANTS,
    peers::blocks::MUTANTS,
    peers::pollers::MUTANTS,
    peers::guards::MUTANTS,
];
