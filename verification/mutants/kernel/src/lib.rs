//! spinpark's kernel with every small mistake in it, each behind a switch. No more than one is on.
#![allow(missing_docs, unused, unused_comparisons, clippy::all, unused_must_use, rustdoc::all, unreachable_code)]

extern crate alloc;

include!(concat!(env!("OUT_DIR"), "/src/modules.rs"));
include!(concat!(env!("OUT_DIR"), "/src/steps.rs"));

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

/// A mistake.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// Its number.
    pub id: u32,
    /// The file's path below `src`.
    pub file: &'static str,
    /// The line it mutates, from 1.
    pub line: u32,
    /// What kind of mutant.
    pub kind: &'static str,
    /// What it is called.
    pub name: &'static str,
    /// What is wrong, for a reader.
    pub what: &'static str,
    /// It is these two others at once, and has no switch of its own.
    pub both: Option<(u32, u32)>,
}

/// The environment's variable that says which one is on, without a call of [`switch_on`]: in the tests of `proptests`.
pub const VARIABLE: &str = "SPINPARK_MUTANT";
/// It is not known yet which one is on.
const UNKNOWN: u32 = u32::MAX;
/// The one that is on; 0: none. A process has one kernel with one mistake.
static ON: AtomicU32 = AtomicU32::new(UNKNOWN);
/// The second that is on, if a mistake is two at once; 0: none.
static OTHER: AtomicU32 = AtomicU32::new(0);
/// How often it was covered.
static HITS: AtomicU64 = AtomicU64::new(0);
/// Which were covered.
static REACHED: [AtomicU8; STEPS.len() + 1] = [const { AtomicU8::new(0) }; STEPS.len() + 1];

/// Is this mistake made?
#[inline]
pub fn is(id: u32) -> bool {
    REACHED[id as usize].store(1, Relaxed);
    if ON.load(Relaxed) == UNKNOWN {
        ask_environment();
    }
    let is_on = ON.load(Relaxed) == id || OTHER.load(Relaxed) == id;
    if is_on {
        HITS.fetch_add(1, Relaxed);
    }
    is_on
}

#[cold]
fn ask_environment() {
    switch_on(std::env::var(VARIABLE).ok().and_then(|id| id.parse().ok()).unwrap_or(0));
}

/// From now on this mistake is made; 0: none.
pub fn switch_on(id: u32) {
    let both = STEPS.iter().find(|step| step.id == id).and_then(|step| step.both);
    let (one, other) = both.unwrap_or((id, 0));
    HITS.store(0, Relaxed);
    OTHER.store(other, Relaxed);
    ON.store(one, Relaxed);
}

/// How often the mistake that is on was covered.
pub fn hits() -> u64 {
    HITS.load(Relaxed)
}

/// Which mistakes were covered since the last time this was asked: of two at once, both.
pub fn take_reached() -> Vec<u32> {
    let mut was_reached = vec![false; STEPS.len() + 1];
    for (id, was_reached) in was_reached.iter_mut().enumerate() {
        *was_reached = REACHED[id].swap(0, Relaxed) != 0;
    }
    let is_covered = |step: &&Step| match step.both {
        Some((one, other)) => was_reached[one as usize] && was_reached[other as usize],
        None => was_reached[step.id as usize],
    };
    STEPS.iter().filter(is_covered).map(|step| step.id).collect()
}
