//! Which threads can do nothing by themselves: what a deadlock has to be certain of.
//!
//! **A thread is counted only while it waits and its waker has not returned from [`ring`](crate::waits::bell::Bell::ring)**: the
//! waker takes it out of the count, as Go's `ready` makes a G runnable at once. A thread that took itself out when it runs again
//! would be counted while it has been woken and has not run yet, and a program that goes on would be called deadlocked.
//!
//! The threads of a process, the count, and what else is asked cannot be read at one moment. So each change of the count has a
//! number, and the answer holds only if no change came between:
//!
//! | a detector, in [`are_all`](AtRest::are_all) | a waker, which may end after it            | a thread that waits          |
//! |---------------------------------------------|--------------------------------------------|------------------------------|
//! | 1. reads the count, with its number         | 1. takes the thread out of the count       | 1. counts itself             |
//! | 2. asks how many threads exist; then the rest | 2. wakes it; itself waits, or ends       | 2. sleeps                    |
//! | 3. reads again: is it the same number?      |                                            |                              |
//!
//! Pair `at-rest`. If all threads that exist at 2 are counted at 1, and still at 3, none of them acts from 2 to 3. With one read a
//! waker could wake a thread that the detector has counted, and end before the detector counts how many exist. And if the rest were
//! asked first, a thread could wake a task after that, and end.
//!
//! Checked by: verification/rooms/src/rooms/at_rest.rs

use crate::atomic::Atomic;
use crate::host::Host;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// One change of the count.
const CHANGE: u64 = 1 << 32;

/// How many threads are at rest, and how often that has changed.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::at_rest::AtRest;
/// let at_rest = AtRest::<Os>::new();
/// at_rest.enter();
/// assert!(at_rest.are_all(|| Some(1), || true));
/// assert!(!at_rest.are_all(|| Some(2), || true)); // the other thread runs
/// assert!(!at_rest.are_all(|| None, || true)); // no one knows how many there are
/// at_rest.leave();
/// assert!(!at_rest.are_all(|| Some(1), || true));
/// # }
/// ```
pub struct AtRest<H: Host>(Atomic<H, u64>);

impl<H: Host> AtRest<H> {
    /// None.
    #[track_caller]
    pub fn new() -> Self {
        AtRest(Atomic::new(0))
    }

    /// One more.
    pub fn enter(&self) {
        // Release: `at-rest`, what the thread did before it waits, or its waker for it, is seen by a detector that counts it.
        self.0.fetch_add(CHANGE + 1, Release);
    }

    /// One less: a thread that waits calls it for itself, or its waker, before it wakes the thread.
    pub fn leave(&self) {
        // Relaxed: a detector that misses this misses also that the waker, which is not counted itself now, has counted itself
        // since, or has ended.
        self.0.fetch_add(CHANGE - 1, Relaxed);
    }

    /// Are all threads at rest, as many as `threads` says there are, and `rest` holds too? `rest` is asked after `threads`, and acquires:
    /// what it finds at rest may have woken a thread before. `None`: it is not known how many there are.
    pub fn are_all(&self, threads: impl FnOnce() -> Option<usize>, rest: impl FnOnce() -> bool) -> bool {
        // Acquire: `at-rest`, the detector's half: what these threads did before they waited is seen by `rest` and `threads`.
        let before = self.0.load(Acquire);
        let are_all = threads().is_some_and(|threads| threads as u64 == before % CHANGE);
        // Relaxed: a detector that has seen that a thread ended sees what that did before.
        are_all && rest() && self.0.load(Relaxed) == before
    }
}

impl<H: Host> Default for AtRest<H> {
    fn default() -> Self {
        Self::new()
    }
}
