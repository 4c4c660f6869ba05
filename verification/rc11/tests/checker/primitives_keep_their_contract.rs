//! Chance, time, sleep and threads are the checker's, and it tries what they may do.

use super::{beside, outcomes, proved, refuted};
use rc11::engine::{Config, Parker, Word, advance, choose, fork, leave_waiting, now, refuse_spawns, spawn};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// A thread sleeps until something was written, and looks again if it is wise.
fn sleep(looks_again: bool) -> String {
    let shared = Arc::new((Parker::new(), Word::new(0)));
    let theirs = Arc::clone(&shared);
    let waker = fork("waker", move || {
        theirs.1.store(1, Release);
        theirs.0.unpark();
    });
    if looks_again {
        while shared.1.load(Acquire) == 0 {
            shared.0.park();
        }
    } else {
        shared.0.park();
    }
    assert_eq!(shared.1.load(Relaxed), 1, "woken, but nothing has happened");
    waker.join();
    String::new()
}

#[test]
fn park_wakes_spuriously_if_it_may() {
    let config = |spurious| Config { spurious, ..Config::default() };
    proved(&config(0), || sleep(false));
    assert!(refuted(&config(1), || sleep(false)).contains("woken, but nothing has happened"));
    proved(&config(1), || sleep(true));
    proved(&config(3), || sleep(true));
}

#[test]
fn an_unpark_before_the_park_is_remembered_once() {
    let body = || {
        let parker = Parker::new();
        parker.unpark();
        parker.unpark();
        parker.park();
        parker.park();
        String::new()
    };
    assert!(refuted(&Config::default(), body).starts_with("deadlock: T0 wait"));
}

#[test]
fn every_choice_is_made() {
    assert_eq!(outcomes(|| choose(3).to_string()), ["0", "1", "2"]);
    let two = proved(&Config::default(), || format!("{:?}", beside(|| choose(2), || choose(3))));
    assert_eq!((two.executions, two.outcomes.len()), (6, 6));
}

#[test]
fn one_choice_is_none() {
    assert_eq!(proved(&Config::default(), || (choose(0) + choose(1)).to_string()).executions, 1);
}

#[test]
fn time_does_not_run_backwards() {
    let body = || {
        let seen = beside(|| (advance(5), 0, 0), || ((), now(), now())).1;
        assert!(seen.1 <= seen.2, "time runs backwards");
        assert_eq!(now(), 5, "who was before is known");
        format!("{} {}", seen.1, seen.2)
    };
    assert_eq!(outcomes(body), ["0 0", "0 5", "5 5"]);
}

#[test]
fn all_time_that_passes_counts() {
    let body = || {
        beside(|| advance(5), || Parker::new().park_timeout(3));
        now().to_string()
    };
    assert_eq!(outcomes(body), ["8"]);
}

#[test]
fn as_many_threads_are_refused_as_should_be() {
    let body = || {
        refuse_spawns(1);
        let spawn = || spawn("m", || ()).is_err();
        let (a, b) = beside(spawn, spawn);
        format!("{a} {b} {}", spawn())
    };
    assert_eq!(outcomes(body), ["false true false", "true false false"]);
}

#[test]
fn threads_that_are_spawned_come_to_their_end() {
    let body = || {
        let word = Arc::new(Word::new(0));
        let theirs = Arc::clone(&word);
        spawn("m", move || theirs.store(1, Relaxed)).expect("none is refused");
        word.load(Relaxed).to_string()
    };
    assert_eq!(outcomes(body), ["0", "1"]);
}

/// Two threads sleep, the second of which is woken once; the closure has said that it leaves them so, or has not. Does it
/// wait for the first to be woken?
fn sleepers(leaves: bool, waits: bool) -> String {
    let shared = Arc::new((Parker::new(), Parker::new(), Word::new(0)));
    let (first, second) = (Arc::clone(&shared), Arc::clone(&shared));
    let first = fork("first", move || first.0.park());
    drop(fork("second", move || {
        second.1.park();
        second.2.fetch_add(1, Relaxed);
        second.1.park();
    }));
    shared.1.unpark();
    if leaves {
        leave_waiting();
    }
    if waits {
        first.join();
    }
    shared.2.load(Relaxed).to_string()
}

#[test]
fn threads_that_wait_in_the_end_are_left_if_that_was_said() {
    let config = Config::default();
    assert!(refuted(&config, || sleepers(false, false)).contains("main"), "they are not said to wait");
    proved(&config, || sleepers(true, false));
    assert_eq!(outcomes(|| sleepers(true, false)), ["0", "1"], "the second goes on as far as it can, or later");
}

#[test]
fn a_closure_that_waits_for_ever_is_a_deadlock_also_if_it_leaves_others() {
    assert!(refuted(&Config::default(), || sleepers(true, true)).contains("deadlock"));
}

#[test]
fn what_goes_wrong_after_the_closure_has_returned_is_seen() {
    let late = || {
        let shared = Arc::new(Parker::new());
        let theirs = Arc::clone(&shared);
        drop(fork("late", move || {
            theirs.park();
            panic!("too late");
        }));
        shared.unpark();
        leave_waiting();
        String::new()
    };
    assert!(refuted(&Config::default(), late).contains("too late"));
}
