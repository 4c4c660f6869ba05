//! What std may do without a reason: `park` and `Condvar::wait` return, a weak exchange fails. Code that counts on the contrary is
//! refuted without being asked to be.

use super::{proved, refuted};
use loom::model::{Builder, Verdict};
use loom::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use std::ptr;

const ONCE: &str = "it was believed at once";

fn parks(looks_again: bool) {
    let flag = Arc::new(AtomicBool::new(false));
    let (theirs, sleeper) = (flag.clone(), thread::current());
    let other = thread::spawn(move || {
        theirs.store(true, Release);
        sleeper.unpark();
    });
    thread::park();
    while looks_again && !flag.load(Acquire) {
        thread::park();
    }
    assert!(flag.load(Acquire), "{ONCE}");
    other.join().unwrap();
}

fn waits(looks_again: bool) {
    let shared = Arc::new((Mutex::new(false), Condvar::new()));
    let theirs = shared.clone();
    let other = thread::spawn(move || {
        *theirs.0.lock().unwrap() = true;
        theirs.1.notify_one();
    });
    let mut flag = shared.0.lock().unwrap();
    if !*flag {
        flag = shared.1.wait(flag).unwrap();
    }
    while looks_again && !*flag {
        flag = shared.1.wait(flag).unwrap();
    }
    assert!(*flag, "{ONCE}");
    drop(flag);
    other.join().unwrap();
}

fn exchanges(tries_again: bool) {
    let shared = Arc::new((AtomicUsize::new(0), AtomicBool::new(false), AtomicPtr::<u8>::new(ptr::null_mut())));
    let theirs = shared.clone();
    let other = thread::spawn(move || theirs.0.load(Relaxed));
    let number = || shared.0.compare_exchange_weak(0, 1, AcqRel, Relaxed).is_ok();
    let flag = || shared.1.compare_exchange_weak(false, true, AcqRel, Relaxed).is_ok();
    let pointer = || shared.2.compare_exchange_weak(ptr::null_mut(), ptr::dangling_mut(), AcqRel, Relaxed).is_ok();
    for exchange in [&number as &dyn Fn() -> bool, &flag, &pointer] {
        assert!(exchange() || tries_again && exchange(), "{ONCE}");
    }
    other.join().unwrap();
}

/// Each, once as it must be written, and once as it must not.
const ALL: [fn(bool); 3] = [parks, waits, exchanges];

#[test]
fn is_borne_by_what_looks_again() {
    for each in ALL {
        proved(move || each(true));
    }
}

#[test]
fn is_found_in_what_does_not() {
    for each in ALL {
        assert_eq!(refuted(move || each(false)), ONCE);
    }
}

#[test]
fn is_left_out_where_that_is_said() {
    let mut builder = Builder::new();
    builder.spurious = 0;
    for each in ALL {
        let outcome = builder.outcome_of(move || each(false));
        assert_eq!(outcome.verdict, Verdict::Proved);
        assert!(outcome.assumes.contains("0 spurious wake-ups"), "{outcome}");
    }
}
