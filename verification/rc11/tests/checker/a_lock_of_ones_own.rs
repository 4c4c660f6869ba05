//! A spin lock, of which only the words are the checker's: with the orders it needs it is proved, with one of them too weak
//! it is not.

use super::{proved, refuted};
use rc11::engine::{Config, PlainCell, Thread, Word, fork, spin};
use std::sync::Arc;
use std::sync::atomic::Ordering::{self, Acquire, Relaxed, Release};

struct SpinLock {
    is_taken: Word,
    lock: Ordering,
    unlock: Ordering,
}

impl SpinLock {
    fn new(lock: Ordering, unlock: Ordering) -> Self {
        SpinLock { is_taken: Word::new(0), lock, unlock }
    }

    fn with<R>(&self, f: impl FnOnce() -> R) -> R {
        while self.is_taken.compare_exchange(0, 1, self.lock, Relaxed).is_err() {
            spin();
        }
        let result = f();
        self.is_taken.store(0, self.unlock);
        result
    }
}

/// So many threads, each of which adds one to plain memory.
fn count(threads: u64, lock: Ordering, unlock: Ordering) -> String {
    let shared = Arc::new((SpinLock::new(lock, unlock), PlainCell::new(0u64)));
    let adder = |shared: Arc<(SpinLock, PlainCell<u64>)>| {
        fork("adder", move || shared.0.with(|| shared.1.set(shared.1.get() + 1)))
    };
    let adders: Vec<_> = (0..threads).map(|_| adder(Arc::clone(&shared))).collect();
    adders.into_iter().for_each(Thread::join);
    assert_eq!(shared.1.get(), threads, "each has added one");
    String::new()
}

#[test]
fn holds_with_acquire_and_release() {
    assert_eq!(proved(&Config::default(), || count(2, Acquire, Release)).executions, 2);
    assert_eq!(proved(&Config::default(), || count(3, Acquire, Release)).executions, 6);
}

#[test]
fn is_a_race_if_it_is_left_relaxed() {
    let sentence = refuted(&Config::default(), || count(2, Acquire, Relaxed));
    assert!(sentence.starts_with("data race: "), "{sentence}");
}

#[test]
fn is_a_race_if_it_is_taken_relaxed() {
    let sentence = refuted(&Config::default(), || count(2, Relaxed, Release));
    assert!(sentence.starts_with("data race: "), "{sentence}");
}
