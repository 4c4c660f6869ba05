//! Bugs of other schedulers, queues and locks, a file a family.
//!
//! Each is made again as one wrong line. Where a mutant of the kernel has that line already, the exhibit names it.
//! Where not, there is a variant: a small copy of the code that had the bug, as true to its protocol as it is short,
//! which holds until the line is switched on. What each step is in the original stands beside it.
//!
//! Which engine kills a variant tells what kind of bug it was. If SC kills it, two steps were in the wrong order, or
//! one was missing: patience and a single core could have shown it. If TSO is the first to, a store waited in its
//! buffer: any PC can show it. If only RC11 does, it takes a machine that is weaker than a PC, or a compiler that makes
//! use of what it may do; most of those were found when people moved to ARM.

pub mod blocks;
pub mod channels;
pub mod counts;
pub mod dekker;
pub mod deques;
pub mod ends;
pub mod futexes;
pub mod guards;
pub mod handoff;
pub mod kernel;
pub mod lifetimes;
pub mod locks;
pub mod notifies;
pub mod pollers;
pub mod rings;
pub mod tokens;
pub mod wakers;

use crate::common::ModelHost;
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::{Lock, Parker};
use std::sync::atomic::Ordering::{AcqRel, Relaxed};

/// What the system gives a lock to sleep on, for one sleeper: a bucket with a lock. A thread about to sleep looks once
/// more under that lock. It is a lock and no more: nothing here is a fence.
struct Futex<H: ModelHost> {
    is_waited: H::Lock<bool>,
    parker: H::Parker,
}

impl<H: ModelHost> Futex<H> {
    fn new() -> Self {
        Futex { is_waited: H::Lock::new(false), parker: H::Parker::new() }
    }

    /// Sleeps until it is woken, unless there is no reason to: `is_still` is asked under the lock. Did it sleep?
    fn wait(&self, is_still: impl FnOnce() -> bool) -> bool {
        let sleeps = self.is_waited.with(|is_waited| {
            *is_waited = is_still();
            *is_waited
        });
        if sleeps {
            self.parker.park();
        }
        sleeps
    }

    /// Wakes the sleeper, if there is one.
    fn wake(&self) {
        if self.is_waited.with(std::mem::take) {
            self.parker.unpark();
        }
    }
}

/// Sets bits of a word, as `fetch_or` does; what was there.
fn set_bits<H: ModelHost>(word: &Atomic<H, u64>, bits: u64) -> u64 {
    // Relaxed: only what to try first.
    let mut found = word.load(Relaxed);
    loop {
        // AcqRel: publishes what its caller did, and sees what was done before the word was written. Relaxed: tried
        // again.
        match word.compare_exchange(found, found | bits, AcqRel, Relaxed) {
            Ok(was) => return was,
            Err(now) => found = now,
        }
    }
}
