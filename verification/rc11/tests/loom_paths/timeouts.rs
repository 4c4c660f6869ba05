//! Waits that time out, whenever they like.

use super::{outcome, proved, refuted};
use loom::model::Verdict;
use loom::sync::atomic::AtomicUsize;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::sync::mpsc::{RecvTimeoutError, channel};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use std::time::Duration;

const A_WHILE: Duration = Duration::from_secs(1);

fn flag_and_condvar() -> (Arc<(Mutex<bool>, Condvar)>, thread::JoinHandle<()>) {
    let shared = Arc::new((Mutex::new(false), Condvar::new()));
    let theirs = shared.clone();
    let other = thread::spawn(move || {
        *theirs.0.lock().unwrap() = true;
        theirs.1.notify_one();
    });
    (shared, other)
}

#[test]
fn a_loop_that_times_out_and_looks_again_ends() {
    proved(|| {
        let (shared, other) = flag_and_condvar();
        let mut flag = shared.0.lock().unwrap();
        while !*flag {
            flag = shared.1.wait_timeout(flag, A_WHILE).unwrap().0;
        }
        drop(flag);
        other.join().unwrap();
    });
}

#[test]
fn a_wait_that_has_timed_out_need_not_have_what_it_waits_for() {
    let why = refuted(|| {
        let (shared, other) = flag_and_condvar();
        let flag = shared.0.lock().unwrap();
        let (flag, _) = shared.1.wait_timeout_while(flag, A_WHILE, |flag| !*flag).unwrap();
        assert!(*flag, "it has timed out");
        drop(flag);
        other.join().unwrap();
    });
    assert!(why.contains("it has timed out"), "{why}");
    proved(|| {
        let (shared, other) = flag_and_condvar();
        let flag = shared.0.lock().unwrap();
        let (flag, result) = shared.1.wait_timeout_while(flag, A_WHILE, |flag| !*flag).unwrap();
        assert!(*flag != result.timed_out());
        drop(flag);
        other.join().unwrap();
    });
    proved(|| {
        let (shared, other) = flag_and_condvar();
        assert!(*shared.1.wait_while(shared.0.lock().unwrap(), |flag| !*flag).unwrap());
        other.join().unwrap();
    });
}

/// However many attempts there are, each may time out.
#[test]
fn attempts_that_are_counted_may_all_time_out() {
    for attempts in [1, 2, 3, 6, 100] {
        let found = outcome(move || {
            let (shared, other) = flag_and_condvar();
            let mut flag = shared.0.lock().unwrap();
            for _ in 0..attempts {
                if !*flag {
                    flag = shared.1.wait_timeout(flag, A_WHILE).unwrap().0;
                }
            }
            assert!(*flag, "all have timed out");
            drop(flag);
            other.join().unwrap();
        });
        assert!(found.to_string().contains("all have timed out"), "{attempts}: {found}");
    }
}

/// Of more than two in a row, not each is played with all that others can do between; that is no proof.
#[test]
fn attempts_that_are_counted_are_a_proof_only_if_they_are_few() {
    let attempts = |n: usize| {
        outcome(move || {
            let (shared, other) = flag_and_condvar();
            let mut flag = shared.0.lock().unwrap();
            for _ in 0..n {
                if !*flag {
                    flag = shared.1.wait_timeout(flag, A_WHILE).unwrap().0;
                }
            }
            drop(flag);
            other.join().unwrap();
        })
        .verdict
    };
    assert_eq!(attempts(2), Verdict::Proved);
    for n in [3, 100] {
        assert!(attempts(n).to_string().contains("more than twice in a row"), "{}", attempts(n));
    }
}

#[test]
fn a_loop_that_times_out_for_ever_is_a_deadlock() {
    let why = refuted(|| {
        let (lock, condvar) = (Mutex::new(false), Condvar::new());
        let mut flag = lock.lock().unwrap();
        while !*flag {
            flag = condvar.wait_timeout(flag, A_WHILE).unwrap().0;
        }
    });
    assert!(why.starts_with("deadlock"), "{why}");
}

/// Each looks what the other has done: there is always one that has news.
#[test]
fn two_loops_that_wait_for_each_other_end() {
    proved(|| {
        let shared = Arc::new((Mutex::new([false; 2]), Condvar::new()));
        let meet = |(lock, condvar): &(Mutex<[bool; 2]>, Condvar), me: usize| {
            let mut there = lock.lock().unwrap();
            there[me] = true;
            condvar.notify_all();
            while !there[1 - me] {
                there = condvar.wait_timeout(there, A_WHILE).unwrap().0;
            }
        };
        let theirs = shared.clone();
        let other = thread::spawn(move || meet(&theirs, 1));
        meet(&shared, 0);
        other.join().unwrap();
    });
}

#[test]
fn a_thread_that_is_parked_for_a_while_looks_again() {
    let parked = |order, unparks: bool| {
        let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let (theirs, main) = (shared.clone(), thread::current());
        let other = thread::spawn(move || {
            theirs.1.store(1, Relaxed);
            theirs.0.store(1, order);
            if unparks {
                main.unpark();
            }
        });
        while shared.0.load(Acquire) == 0 {
            thread::park_timeout(A_WHILE);
        }
        assert_eq!(shared.1.load(Relaxed), 1, "a stale value");
        other.join().unwrap();
    };
    proved(move || parked(Release, true));
    proved(move || parked(Release, false));
    assert!(refuted(move || parked(Relaxed, true)).contains("a stale value"));
    // The unpark would have given the order.
    let why = refuted(|| {
        let flag = Arc::new(AtomicUsize::new(0));
        let (theirs, main) = (flag.clone(), thread::current());
        let other = thread::spawn(move || {
            theirs.store(1, Relaxed);
            main.unpark();
        });
        thread::park_timeout(A_WHILE);
        assert_eq!(flag.load(Relaxed), 1, "it has timed out");
        other.join().unwrap();
    });
    assert!(why.contains("it has timed out"), "{why}");
}

#[test]
fn a_loop_that_sleeps_is_one_that_waits() {
    proved(|| {
        let flag = Arc::new(AtomicUsize::new(0));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(1, Relaxed));
        while flag.load(Relaxed) == 0 {
            thread::sleep(A_WHILE);
        }
        other.join().unwrap();
    });
}

#[test]
fn a_receiver_that_times_out_asks_again() {
    proved(|| {
        let (sender, receiver) = channel();
        let other = thread::spawn(move || sender.send(1).unwrap());
        let found = loop {
            match receiver.recv_timeout(A_WHILE) {
                Ok(found) => break found,
                Err(error) => assert_eq!(error, RecvTimeoutError::Timeout),
            }
        };
        assert_eq!(found, 1);
        other.join().unwrap();
    });
    let why = refuted(|| {
        let (sender, receiver) = channel();
        let other = thread::spawn(move || sender.send(1).is_ok());
        let found = (0..3).find_map(|_| receiver.recv_timeout(A_WHILE).ok());
        assert_eq!(found, Some(1), "three have timed out");
        other.join().unwrap();
    });
    assert!(why.contains("three have timed out"), "{why}");
}
