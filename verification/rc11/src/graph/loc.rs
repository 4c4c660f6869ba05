//! Places in memory.

use super::MAX_THREADS;
use serde::{Deserialize, Serialize};

/// A place in memory: the thread that made it, and how many it had made before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Loc(u32);

impl Loc {
    pub(crate) const NONE: Loc = Loc(u32::MAX);
    /// The virtual clock.
    pub const CLOCK: Loc = Loc(u32::MAX - 1);
    /// How many starts of threads are still refused.
    pub const REFUSALS: Loc = Loc(u32::MAX - 2);
    /// The first of the places of objects that a `const fn` makes: `OnceLock`s, `lazy_static!`s.
    pub(super) const STATICS: u32 = u32::MAX - 3;
    /// How many classes of blocks of memory there may be.
    pub(crate) const MAX_HEAPS: u32 = 1 << 8;
    /// How many such places there are.
    pub(crate) const MAX_STATICS: u32 = 1 << 10;

    pub(crate) fn new(thread: u8, ordinal: u32) -> Loc {
        Loc(u32::from(thread) << 24 | ordinal)
    }

    /// The place of what all threads know without having been told: the nth one.
    pub(crate) fn of_static(n: u32) -> Loc {
        assert!(
            n < Loc::MAX_STATICS,
            "rc11: more than {} `Once`s, `OnceLock`s and `LazyLock`s in one execution",
            Loc::MAX_STATICS
        );
        Loc(Loc::STATICS - n)
    }

    /// The place of the blocks of memory of a class.
    pub(crate) fn of_heap(class: usize) -> Loc {
        let class = u32::try_from(class).unwrap_or(u32::MAX);
        assert!(class < Loc::MAX_HEAPS, "rc11: pointers to more than {} layouts in one model", Loc::MAX_HEAPS);
        Loc(Loc::STATICS - Loc::MAX_STATICS - class)
    }

    /// Which of those of objects it is.
    pub(crate) fn nth_static(self) -> Option<u32> {
        self.nth_reserved().filter(|nth| *nth < Loc::MAX_STATICS)
    }

    /// Which of those of objects it is, or, from [`Loc::MAX_STATICS`] on, of which class.
    fn nth_reserved(self) -> Option<u32> {
        let Loc(loc) = self;
        let all = Loc::MAX_STATICS + Loc::MAX_HEAPS;
        (loc <= Loc::STATICS && loc > Loc::STATICS - all).then(|| Loc::STATICS - loc)
    }

    /// Is it a place, among so many threads' that have made so many?
    pub(crate) fn is_one(self, threads: usize, each: usize) -> bool {
        let (thread, ordinal) = self.slot();
        let is_made = self != Loc::NONE && thread < threads && ordinal < each;
        matches!(self, Loc::CLOCK | Loc::REFUSALS) || self.nth_reserved().is_some() || is_made
    }

    /// The thread that made it.
    pub(crate) fn maker(self) -> Option<u8> {
        let (thread, _) = self.slot();
        (thread < MAX_THREADS).then_some(thread as u8)
    }

    /// Where the index has it.
    pub(super) fn slot(self) -> (usize, usize) {
        match (self, self.nth_reserved()) {
            (Loc::CLOCK, _) => (MAX_THREADS, 0),
            (Loc::REFUSALS, _) => (MAX_THREADS, 1),
            // Side by side: there are few of either.
            (_, Some(n)) if n < Loc::MAX_STATICS => (MAX_THREADS, 2 + 2 * n as usize),
            (_, Some(n)) => (MAX_THREADS, 3 + 2 * (n - Loc::MAX_STATICS) as usize),
            (Loc(loc), None) => ((loc >> 24) as usize, (loc & 0xff_ffff) as usize),
        }
    }
}
