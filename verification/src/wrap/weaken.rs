//! `Weaken<H>`: the kernel as it is, but for one line: a fence that is not there, or an ordering that is weaker.
//!
//! The line is chosen at run time, so one build holds every such mutant and the kernel itself carries none.

use crate::stage::Stage;
use spinpark::host::{self, Host, Nanos, SpawnError};
use std::cell::Cell as StdCell;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::atomic::Ordering::{self, Relaxed};

/// One line whose accesses are `Relaxed`, and whose fences are gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site {
    /// The file's path below `src`.
    pub file: &'static str,
    /// Which line.
    pub line: u32,
}

thread_local! {
    static SITE: StdCell<Option<Site>> = const { StdCell::new(None) };
    static HITS: StdCell<u64> = const { StdCell::new(0) };
}

/// From now on, on this thread, weaken `site`, and nothing else.
pub fn weaken(site: Option<Site>) {
    SITE.set(site);
    HITS.set(0);
}

/// How often the weakened line was executed. A mutant that never was is no mutant.
pub fn hits() -> u64 {
    HITS.get()
}

/// A source file's path below its crate's `src`.
pub(crate) fn below_src(path: &str) -> &str {
    path.rsplit_once("src/").map_or(path, |(_, below)| below)
}

#[inline]
fn is_weak(at: &'static Location<'static>) -> bool {
    let weak = is_weakened(at);
    HITS.set(HITS.get() + u64::from(weak));
    weak
}

/// Is this the weakened line? For display.
pub(super) fn is_weakened(at: &'static Location<'static>) -> bool {
    SITE.get().is_some_and(|site| at.line() == site.line && below_src(at.file()) == site.file)
}

#[inline]
#[track_caller]
fn order(asked: Ordering) -> Ordering {
    if is_weak(Location::caller()) { Relaxed } else { asked }
}

/// Host `H`, but for one line.
pub struct Weaken<H>(PhantomData<fn() -> H>);

/// A word of `H`'s.
pub struct Word<H: Host>(H::Word);

impl<H: Stage> host::Word for Word<H> {
    #[track_caller]
    fn new(value: u64) -> Self {
        Word(H::Word::new(value))
    }
    #[track_caller]
    fn load(&self, asked: Ordering) -> u64 {
        self.0.load(order(asked))
    }
    #[track_caller]
    fn store(&self, value: u64, asked: Ordering) {
        self.0.store(value, order(asked));
    }
    #[track_caller]
    fn swap(&self, value: u64, asked: Ordering) -> u64 {
        self.0.swap(value, order(asked))
    }
    #[track_caller]
    fn fetch_add(&self, value: u64, asked: Ordering) -> u64 {
        self.0.fetch_add(value, order(asked))
    }
    #[track_caller]
    fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64> {
        self.0.compare_exchange(current, new, order(success), failure)
    }
}

impl<H: Stage> Host for Weaken<H> {
    type Word = Word<H>;
    type Lock<T: Send + 'static> = H::Lock<T>;
    type Parker = H::Parker;

    #[track_caller]
    fn fence(order: Ordering) {
        if !is_weak(Location::caller()) {
            H::fence(order);
        }
    }

    host_and_spawn_as_beneath!();
}

impl<H: Stage> Stage for Weaken<H> {
    type Cell<T: Copy + Send + 'static> = H::Cell<T>;

    threads_as_beneath!();
}
