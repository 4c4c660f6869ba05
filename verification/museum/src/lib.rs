//! The museum: bugs that real schedulers and queues had, each made again here, and caught.
//!
//! An exhibit is a wrong variant: one line of our kernel changed, or one line of a small faithful variant of the code
//! that had the bug. The variant's models hold without the change, on the same engine that kills it.

mod common;
pub mod go;
pub mod peers;

use spinpark_verification::catalog::Catalog;
use spinpark_verification::model::Model;
use spinpark_verification::mutation::mutant::Mutant;
use spinpark_verification::{model, mutants};

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

macro_rules! families {
    ($($($family:ident)::+),* $(,)?) => {
        /// The bugs, a table a family.
        pub static EXHIBITS: &[&[Exhibit]] = &[$($($family)::+::EXHIBITS),*];
        /// The variants' models, which are not the kernel's.
        pub static MODELS: &[&[Model]] = &[$($($family)::+::MODELS),*];
        /// The variants that are not the kernel's.
        pub static MUTANTS: &[&[Mutant]] = &[$($($family)::+::MUTANTS),*];
    };
}

families![
    go,
    peers::kernel,
    peers::dekker,
    peers::futexes,
    peers::locks,
    peers::tokens,
    peers::lifetimes,
    peers::counts,
    peers::rings,
    peers::deques,
    peers::handoff,
    peers::wakers,
    peers::ends,
    peers::notifies,
    peers::channels,
    peers::blocks,
    peers::pollers,
    peers::guards,
];

macro_rules! sources {
    ($($file:literal)*) => { &[$(($file, include_str!($file))),*] };
}

/// What a program registers to play them.
pub static CATALOG: Catalog = Catalog {
    models: MODELS,
    mutants: MUTANTS,
    sources: sources! {
        "common.rs"
        "go.rs"
        "go/channels.rs"
        "go/collection.rs"
        "go/conserved.rs"
        "go/deadlock.rs"
        "go/descriptors.rs"
        "go/fair.rs"
        "go/kernels.rs"
        "go/line.rs"
        "go/locks.rs"
        "go/poller.rs"
        "go/queues.rs"
        "go/stop.rs"
        "go/timers.rs"
        "go/too_late.rs"
        "peers/blocks.rs"
        "peers/channels.rs"
        "peers/counts.rs"
        "peers/dekker.rs"
        "peers/deques.rs"
        "peers/ends.rs"
        "peers/futexes.rs"
        "peers/guards.rs"
        "peers/handoff.rs"
        "peers/kernel.rs"
        "peers/lifetimes.rs"
        "peers/locks.rs"
        "peers/mod.rs"
        "peers/notifies.rs"
        "peers/pollers.rs"
        "peers/rings.rs"
        "peers/tokens.rs"
        "peers/wakers.rs"
    },
};
