//! Of executions that differ only by which of some symmetric threads did what, one is explored; none is missed. Random
//! programs are compared with the reference in `verification/tests/reference/symmetric_threads.rs`.

use super::{proved, refuted};
use rc11::engine::{Config, Lock, PlainCell, Word, fork, fork_symmetric, me};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

fn executions(symmetry: bool, body: impl Fn() -> String + Send + Sync + 'static) -> u64 {
    proved(&Config { symmetry, ..Config::default() }, body).executions
}

/// `n` threads add one, so many times each, beside a store.
fn adders(n: usize, times: usize) -> String {
    let word = Arc::new(Word::new(0));
    let theirs = Arc::clone(&word);
    let adders =
        fork_symmetric("adder", n, move || (0..times).map(|_| theirs.fetch_add(1, Relaxed)).collect::<Vec<_>>());
    word.store(10, Relaxed);
    format!("{:?}", adders.join())
}

/// A graph is told from its renamings: each orbit has n! graphs.
#[test]
fn threads_that_update() {
    for (n, times, all, orbits) in [(2, 1, 6, 3), (2, 2, 30, 15), (3, 1, 24, 4), (3, 2, 630, 105), (4, 1, 120, 5)] {
        let body = move || adders(n, times);
        assert_eq!((executions(false, body), executions(true, body)), (all, orbits), "{n} threads, {times} times");
    }
}

/// Threads that read the same are the same: pairs of three values, in no order.
#[test]
fn threads_that_only_read() {
    let body = || {
        let word = Arc::new(Word::new(0));
        let theirs = Arc::clone(&word);
        let readers = fork_symmetric("reader", 2, move || theirs.load(Relaxed));
        word.store(1, Relaxed);
        word.store(2, Relaxed);
        format!("{:?}", readers.join())
    };
    assert_eq!((executions(false, body), executions(true, body)), (9, 6));
}

/// A read of a later write that was ordered before: `mo` alone would put no thread first.
#[test]
fn a_read_that_depends_on_a_twin_and_is_older_than_what_that_read() {
    let body = || {
        let (x, y) = (Arc::new(Word::new(0)), Arc::new(Word::new(0)));
        let (theirs, answers) = (Arc::clone(&x), Arc::clone(&y));
        let pair = fork_symmetric("twin", 2, move || {
            let read = theirs.load(Relaxed);
            if read == 1 {
                answers.store(1, Relaxed);
            }
            read
        });
        let (back, asked) = (Arc::clone(&x), Arc::clone(&y));
        let third = fork("third", move || {
            if asked.load(Relaxed) == 1 {
                back.store(2, Relaxed);
            }
        });
        x.store(1, Relaxed);
        third.join();
        format!("{:?}", pair.join())
    };
    let found = |symmetry| proved(&Config { symmetry, ..Config::default() }, body);
    let (all, orbits) = (found(false), found(true));
    assert!(all.outcomes.keys().eq(orbits.outcomes.keys()) && orbits.outcomes.contains_key("[1, 2]"));
    // Only where both read the same write, and do not write, an orbit has one graph.
    let alike = |outcome: &&String| matches!(outcome.as_str(), "[0, 0]");
    let fixed: u64 = orbits.outcomes.iter().filter(|(outcome, _)| alike(outcome)).map(|(_, n)| n).sum();
    assert_eq!(all.executions, 2 * orbits.executions - fixed);
}

#[test]
fn threads_that_lock() {
    let body = || {
        let count = Arc::new(Lock::new(0));
        let theirs = Arc::clone(&count);
        let found = fork_symmetric("adder", 3, move || {
            theirs.with(|count| {
                *count += 1;
                *count
            })
        });
        count.with(|count| *count += 10);
        format!("{:?}", found.join())
    };
    assert_eq!((executions(false, body), executions(true, body)), (24, 4));
}

/// Two groups in one execution, each sorted by itself.
#[test]
fn two_groups() {
    let body = || {
        let word = Arc::new(Word::new(0));
        let (ones, tens) = (Arc::clone(&word), Arc::clone(&word));
        let ones = fork_symmetric("one", 2, move || ones.fetch_add(1, Relaxed));
        let tens = fork_symmetric("ten", 2, move || tens.fetch_add(10, Relaxed));
        format!("{:?} {:?}", ones.join(), tens.join())
    };
    assert_eq!((executions(false, body), executions(true, body)), (24, 6));
}

/// What each has made itself tells none apart, until it is shown to others.
#[test]
fn threads_with_words_of_their_own() {
    let body = || {
        let word = Arc::new(Word::new(0));
        let theirs = Arc::clone(&word);
        let found = fork_symmetric("adder", 3, move || {
            let own = Word::new(5);
            own.store(6, Relaxed);
            own.load(Relaxed) + theirs.fetch_add(1, Relaxed)
        });
        format!("{:?}", found.join())
    };
    assert_eq!((executions(false, body), executions(true, body)), (6, 1));
}

/// A spin lock with a wrong ordering, taken by three: the race is found, under every naming.
#[test]
fn what_is_wrong_is_still_found() {
    let count = |unlock| {
        move || {
            let shared = Arc::new((Word::new(0), PlainCell::new(0)));
            let theirs = Arc::clone(&shared);
            let adders = fork_symmetric("adder", 3, move || {
                let won = theirs.0.compare_exchange(0, 1, Acquire, Relaxed).is_ok();
                if won {
                    theirs.1.set(theirs.1.get() + 1);
                    theirs.0.store(0, unlock);
                }
            });
            adders.join();
            shared.1.get().to_string()
        }
    };
    let tally = proved(&Config::default(), count(Release));
    assert!(tally.outcomes.keys().eq(["1", "2", "3"]));
    assert!(refuted(&Config::default(), count(Relaxed)).contains("race"));
}

/// Only the last of three may see what all have done.
#[test]
fn an_assertion_that_only_one_of_them_can_break() {
    let body = || {
        let word = Arc::new(Word::new(0));
        fork_symmetric("adder", 3, move || assert!(word.fetch_add(1, AcqRel) < 2)).join();
        String::new()
    };
    assert!(refuted(&Config::default(), body).contains("assertion failed"));
}

#[test]
fn threads_that_are_not_the_same_are_told() {
    let by_number = || {
        let word = Arc::new(Word::new(0));
        fork_symmetric("one", 2, move || word.fetch_add(me() as u64, Relaxed)).join();
        String::new()
    };
    assert!(refuted(&Config::default(), by_number).contains("asks which one it is"));
    let by_what_is_outside = || {
        let (word, calls) = (Arc::new(Word::new(0)), Arc::new(std::sync::atomic::AtomicU64::new(0)));
        fork_symmetric("one", 2, move || word.store(calls.fetch_add(1, Relaxed), Relaxed)).join();
        String::new()
    };
    assert!(refuted(&Config::default(), by_what_is_outside).contains("symmetric threads are not"));
}
