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
}

/// The environment's variable that says which one is on, where nobody calls [`switch_on`]: in the tests of `proptests`.
pub const VARIABLE: &str = "SPINPARK_MUTANT";
/// Nobody has said yet which one is on.
const UNKNOWN: u32 = u32::MAX;
/// The one that is on; 0: none. A process has one kernel with one mistake.
static ON: AtomicU32 = AtomicU32::new(UNKNOWN);
/// How often it was covered.
static HITS: AtomicU64 = AtomicU64::new(0);
/// Which were covered.
static REACHED: [AtomicU8; STEPS.len() + 1] = [const { AtomicU8::new(0) }; STEPS.len() + 1];

/// Is this mistake made?
#[inline]
pub fn is(id: u32) -> bool {
    REACHED[id as usize].store(1, Relaxed);
    let on = ON.load(Relaxed);
    if on == UNKNOWN {
        return ask_environment() == id;
    }
    if on == id {
        HITS.fetch_add(1, Relaxed);
    }
    on == id
}

#[cold]
fn ask_environment() -> u32 {
    let id = std::env::var(VARIABLE).ok().and_then(|id| id.parse().ok()).unwrap_or(0);
    ON.store(id, Relaxed);
    id
}

/// From now on this mistake is made; 0: none.
pub fn switch_on(id: u32) {
    HITS.store(0, Relaxed);
    ON.store(id, Relaxed);
}

/// How often the mistake that is on was covered.
pub fn hits() -> u64 {
    HITS.load(Relaxed)
}

/// Which mistakes were covered since the last time this was asked.
pub fn take_reached() -> Vec<u32> {
    (1..=STEPS.len() as u32).filter(|&id| REACHED[id as usize].swap(0, Relaxed) != 0).collect()
}
