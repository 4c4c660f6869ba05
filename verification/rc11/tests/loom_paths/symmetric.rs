//! Threads that do the same, which loom does not have: explored up to their names.

use super::{outcome, proved, refuted};
use loom::model::Builder;
use loom::sync::atomic::AtomicUsize;
use loom::sync::atomic::Ordering::Relaxed;
use loom::sync::{Arc, Mutex};
use loom::thread;

/// Three lock and add, each with an `Arc` of its own.
fn three_lock() {
    let count = Arc::new(Mutex::new(0));
    let theirs = count.clone();
    let found = thread::spawn_symmetric(3, move || {
        let mut count = theirs.lock().unwrap();
        *count += 1;
        *count
    });
    assert_eq!((found.join().unwrap(), *count.lock().unwrap()), (vec![1, 2, 3], 3));
}

#[test]
fn fewer_executions_and_the_same_verdict() {
    let mut told_apart = Builder::new();
    told_apart.symmetry = false;
    let all = told_apart.outcome_of(three_lock);
    let reduced = outcome(three_lock);
    assert_eq!(all.verdict, reduced.verdict);
    assert!(6 * reduced.executions <= all.executions + 5 && reduced.executions < all.executions);
}

#[test]
fn a_lost_update_is_still_found() {
    let why = refuted(|| {
        let count = Arc::new(AtomicUsize::new(0));
        let theirs = count.clone();
        thread::spawn_symmetric(2, move || theirs.store(theirs.load(Relaxed) + 1, Relaxed)).join().unwrap();
        assert_eq!(count.load(Relaxed), 2, "lost");
    });
    assert!(why.contains("lost"), "{why}");
}

#[test]
fn a_leak_of_one_of_them_is_still_found() {
    let why = refuted(|| {
        let count = Arc::new(AtomicUsize::new(0));
        let late = move || {
            let is_last = count.fetch_add(1, Relaxed) == 2;
            if is_last {
                std::mem::forget(count)
            }
        };
        thread::spawn_symmetric(3, late).join().unwrap();
    });
    assert!(why.starts_with("Arc leaked"), "{why}");
}

/// One that sleeps has a parker of its own, and tells others of it.
#[test]
fn those_that_park() {
    proved(|| {
        let sleeper = Arc::new(Mutex::new(None));
        let theirs = sleeper.clone();
        let pair = thread::spawn_symmetric(2, move || {
            let first = theirs.lock().unwrap().replace(thread::current());
            match first {
                Some(other) => other.unpark(),
                None => thread::park(),
            }
        });
        pair.join().unwrap();
        drop(sleeper);
    });
}

#[test]
fn which_one_it_is_may_not_be_hashed() {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let why = refuted(|| {
        let count = Arc::new(AtomicUsize::new(0));
        let by_id = move || {
            let mut hasher = DefaultHasher::new();
            thread::current().id().hash(&mut hasher);
            count.store(hasher.finish() as usize, Relaxed);
        };
        thread::spawn_symmetric(2, by_id).join().unwrap();
    });
    assert!(why.contains("the id of a symmetric thread is hashed"), "{why}");
}
