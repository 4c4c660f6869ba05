//! How a thread sleeps on one word of the system's: a futex. Go: `note`, `notesleep`, `notewakeup`.
//!
//! **What was written before an unpark is seen after the park that uses it up; one unpark is remembered, and not two.** A
//! park that is over, for whatever reason, leaves no thread asleep.
//!
//! | the waker, in [`unpark`](FutexParker::unpark) | the sleeper, in [`park`](FutexParker::park)  |
//! |-----------------------------------------------|----------------------------------------------|
//! | 1. `token` becomes NOTIFIED                   | 1. takes one off `token`: was NOTIFIED? done |
//! | 2. it was PARKED: wakes the sleeper           | 2. waits while `token` is PARKED, or a time  |
//! |                                               | 3. `token` becomes EMPTY                     |
//!
//! Pair `token`. All of them are read-modify-writes, so one that reads the second of two `unpark`s acquires both. (std removed
//! the token by a store, which acquires neither: rust-lang/rust #53366.)
//!
//! Checked by: verification/rooms/src/rooms/parker.rs

use crate::host::Nanos;
use core::sync::atomic::Ordering::{self, Acquire, Release};

/// A word that a thread can wait on, of 32 bits. The waits order nothing: they may return for a wake, for another reason, or
/// for none, and which of them it was is not known.
pub trait FutexWord: Send + Sync + 'static {
    /// A word that holds `value`.
    #[track_caller]
    fn new(value: u32) -> Self;
    /// Writes, and returns what was there.
    #[track_caller]
    fn swap(&self, value: u32, order: Ordering) -> u32;
    /// Subtracts, wrapping around, and returns what was there.
    #[track_caller]
    fn fetch_sub(&self, value: u32, order: Ordering) -> u32;
    /// Waits, if `expected` is there, until a [`wake_one`](FutexWord::wake_one); may return spuriously. The comparison and the
    /// beginning of the wait are one step, for a waker.
    fn wait(&self, expected: u32);
    /// The same, for `nanos` at most.
    fn wait_timeout(&self, expected: u32, nanos: Nanos);
    /// Wakes one that waits, if any does.
    fn wake_one(&self);
}

/// No thread sleeps, nothing is remembered.
pub const EMPTY: u32 = 0;
/// The next `park` returns at once.
pub const NOTIFIED: u32 = EMPTY + 1;
/// The sleeper sleeps, or is about to.
pub const PARKED: u32 = EMPTY.wrapping_sub(1);

/// Where one thread sleeps.
///
/// ```
/// use spinpark_kernel::{host::Nanos, waits::parker::{FutexParker, FutexWord, NOTIFIED}};
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// struct Spinning(AtomicU32); // a word whose waits return at once, which they may
/// impl FutexWord for Spinning {
///     fn new(value: u32) -> Self { Spinning(AtomicU32::new(value)) }
///     fn swap(&self, value: u32, order: Ordering) -> u32 { self.0.swap(value, order) }
///     fn fetch_sub(&self, value: u32, order: Ordering) -> u32 { self.0.fetch_sub(value, order) }
///     fn wait(&self, _: u32) {}
///     fn wait_timeout(&self, _: u32, _: Nanos) {}
///     fn wake_one(&self) {}
/// }
/// let parker = FutexParker::<Spinning>::new();
/// parker.unpark();
/// assert_eq!(parker.word().0.load(Ordering::Relaxed), NOTIFIED);
/// parker.park_by(|_| panic!("it was notified"));
/// parker.park(); // spuriously
/// parker.park_timeout(1_000_000);
/// ```
#[derive(Debug)]
pub struct FutexParker<F> {
    token: F,
}

impl<F: FutexWord> FutexParker<F> {
    /// It remembers nothing.
    #[inline]
    #[track_caller]
    pub fn new() -> Self {
        FutexParker { token: F::new(EMPTY) }
    }

    /// The word.
    pub fn word(&self) -> &F {
        &self.token
    }

    /// Sleeps until an `unpark`, or spuriously.
    #[inline]
    pub fn park(&self) {
        self.park_by(|token| token.wait(PARKED));
    }

    /// The same, for `nanos` at most.
    #[inline]
    pub fn park_timeout(&self, nanos: Nanos) {
        self.park_by(|token| token.wait_timeout(PARKED, nanos));
    }

    /// The sleeper's steps; the second, which may end for any reason or none, is `wait`.
    #[inline]
    pub fn park_by(&self, wait: impl FnOnce(&F)) {
        // One step from NOTIFIED to EMPTY, or from EMPTY to PARKED.
        // Acquire: `token`, sleeper's half, on the way out without sleep.
        if self.token.fetch_sub(1, Acquire) == NOTIFIED {
            return;
        }
        wait(&self.token);
        // Acquire: `token`, sleeper's half, on the way out after sleep. Also when the time was over first: an `unpark`
        // that came since then is taken here.
        self.token.swap(EMPTY, Acquire);
    }

    /// Ends the park of now, or the next.
    #[inline]
    pub fn unpark(&self) {
        // Release: `token`, waker's half.
        if self.token.swap(NOTIFIED, Release) == PARKED {
            self.token.wake_one();
        }
    }
}

impl<F: FutexWord> Default for FutexParker<F> {
    fn default() -> Self {
        Self::new()
    }
}
