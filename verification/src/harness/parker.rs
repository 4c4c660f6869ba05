//! A futex as a system gives it, around the protocol of [`spinpark_kernel::waits::parker`], with the ways in which that may be wrong.
//!
//! What may be relied on is one lock: a thread about to sleep compares under it, and a waker takes a sleeper under it.
//! A wait may end spuriously, or because its time is, at any moment; then it has ordered nothing.

use crate::hosts::model_host::ModelHost;
use crate::mutation::mutant::is_variant;
use spinpark_kernel::host::{Lock, Nanos, Parker, Word};
use spinpark_kernel::waits::parker::{EMPTY, FutexParker, FutexWord, NOTIFIED, PARKED};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{self, Acquire, Relaxed, Release, SeqCst};

/// One word, and its waiter. A wait returns spuriously so many times in an execution.
pub struct Futex<H: ModelHost, const SPURIOUS: usize> {
    word: H::Word,
    waiters: H::Lock<Vec<Arc<H::Parker>>>,
    /// How often a wait has returned spuriously: the sleeper's own, and no part of what is checked.
    spurious: AtomicUsize,
}

/// A parker on one.
pub type OnFutex<H, const SPURIOUS: usize> = FutexParker<Futex<H, SPURIOUS>>;

impl<H: ModelHost, const SPURIOUS: usize> Futex<H, SPURIOUS> {
    /// What is in the word.
    pub fn load(&self) -> u32 {
        // Relaxed: asked when all have come to rest.
        self.word.load(Relaxed) as u32
    }

    fn store(&self, value: u32) {
        // SeqCst: as std had it.
        self.word.store(u64::from(value), SeqCst);
    }

    /// Begins to wait, if `expected` is there.
    fn enter(&self, expected: u32) -> Option<Arc<H::Parker>> {
        // Relaxed: a futex orders nothing.
        let is_there = || self.word.load(Relaxed) as u32 == expected;
        if is_variant("parker-futex-compares-too-early") {
            let waits = is_there();
            return waits.then(|| self.waiters.with(Self::list));
        }
        self.waiters.with(|waiters| is_there().then(|| Self::list(waiters)))
    }

    fn list(waiters: &mut Vec<Arc<H::Parker>>) -> Arc<H::Parker> {
        let me = Arc::new(H::Parker::new());
        waiters.push(Arc::clone(&me));
        me
    }

    fn is_over_for_no_reason(&self) -> bool {
        let so_far = self.spurious.load(Relaxed);
        let is_over = so_far < SPURIOUS && H::choose(2) == 1;
        self.spurious.store(so_far + usize::from(is_over), Relaxed);
        is_over
    }
}

impl<H: ModelHost, const SPURIOUS: usize> FutexWord for Futex<H, SPURIOUS> {
    #[track_caller]
    fn new(value: u32) -> Self {
        let word = H::Word::new(u64::from(value));
        Futex { word, waiters: H::Lock::new(Vec::new()), spurious: AtomicUsize::new(0) }
    }
    #[track_caller]
    fn swap(&self, value: u32, order: Ordering) -> u32 {
        self.word.swap(u64::from(value), order) as u32
    }
    #[track_caller]
    fn fetch_sub(&self, value: u32, order: Ordering) -> u32 {
        self.word.fetch_add(u64::from(value).wrapping_neg(), order) as u32
    }
    fn wait(&self, expected: u32) {
        if !self.is_over_for_no_reason()
            && let Some(me) = self.enter(expected)
        {
            me.park();
        }
    }
    /// The time is over when the engine says so, which tries every moment. It may be woken until then.
    fn wait_timeout(&self, expected: u32, _: Nanos) {
        if let Some(me) = self.enter(expected) {
            self.waiters.with(|waiters| waiters.retain(|other| !Arc::ptr_eq(other, &me)));
        }
    }
    fn wake_one(&self) {
        let first = self.waiters.with(|waiters| (!waiters.is_empty()).then(|| waiters.remove(0)));
        if let Some(first) = first {
            first.unpark();
        }
    }
}

/// [`FutexParker::park`], or a wrong one.
pub fn park<H: ModelHost, const SPURIOUS: usize>(parker: &OnFutex<H, SPURIOUS>) {
    if !is_variant("parker-takes-its-token-by-a-store") {
        return parker.park();
    }
    let word = parker.word();
    // Acquire: as it is.
    if word.fetch_sub(1, Acquire) != NOTIFIED {
        word.wait(PARKED);
        word.store(EMPTY);
    }
}

/// [`FutexParker::park_timeout`], or a wrong one.
pub fn park_timeout<H: ModelHost, const SPURIOUS: usize>(parker: &OnFutex<H, SPURIOUS>) {
    if !is_variant("parker-is-parked-after-its-time") {
        return parker.park_timeout(1);
    }
    // Acquire: as it is.
    if parker.word().fetch_sub(1, Acquire) != NOTIFIED {
        parker.word().wait_timeout(PARKED, 1);
    }
}

/// [`FutexParker::unpark`], or a wrong one.
pub fn unpark<H: ModelHost, const SPURIOUS: usize>(parker: &OnFutex<H, SPURIOUS>) {
    let word = parker.word();
    if is_variant("parker-wakes-before-its-token") {
        word.wake_one();
        // Release: as it is.
        word.swap(NOTIFIED, Release);
        return;
    }
    if is_variant("parker-second-unpark-writes-nothing") && word.load() == NOTIFIED {
        return;
    }
    parker.unpark();
}
