//! Loops that wait, and say so by yielding.

use super::{outcome, proved, refuted};
use loom::model::Verdict;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::sync::atomic::{AtomicUsize, fence};
use loom::sync::{Arc, Mutex};
use loom::thread;

/// A thread that stores 1, 2 and so on, beside `f`.
fn beside(stores: usize, f: impl Fn(&AtomicUsize)) {
    let word = Arc::new(AtomicUsize::new(0));
    let theirs = word.clone();
    let other = thread::spawn(move || (1..=stores).for_each(|n| theirs.store(n, Release)));
    f(&word);
    other.join().unwrap();
}

#[test]
fn a_loop_that_waits_for_a_flag() {
    proved(|| {
        beside(1, |flag| {
            while flag.load(Acquire) == 0 {
                thread::yield_now();
            }
        });
    });
}

#[test]
fn a_loop_that_waits_for_ever() {
    let waits = |flag: &AtomicUsize| {
        while flag.load(Acquire) != 7 {
            thread::yield_now();
        }
    };
    assert!(refuted(move || beside(2, waits)).starts_with("deadlock"));
}

/// What it has read before shows: each of its rounds is played.
#[test]
fn a_loop_that_counts_what_it_sees() {
    let why = refuted(|| {
        beside(2, |word| {
            let (mut seen, mut changes) = (0, 0);
            while seen < 2 {
                let now = word.load(Acquire);
                changes += usize::from(now != seen);
                seen = now;
                thread::yield_now();
            }
            assert!(changes < 2, "it has seen both");
        });
    });
    assert!(why.contains("it has seen both"), "{why}");
}

#[test]
fn a_yield_that_is_in_no_loop() {
    let why = refuted(|| {
        beside(1, |word| {
            let before = word.load(Relaxed);
            thread::yield_now();
            thread::yield_now();
            assert!(before == 1 || word.load(Relaxed) == 1, "nothing has happened");
        });
    });
    assert!(why.contains("nothing has happened"), "{why}");
}

#[test]
fn a_loop_that_gives_up() {
    let why = refuted(|| {
        beside(1, |word| {
            for _ in 0..10 {
                if word.load(Acquire) == 1 {
                    return;
                }
                fence(Acquire);
                thread::yield_now();
            }
            panic!("given up");
        });
    });
    assert!(why.contains("given up"), "{why}");
}

/// As crossbeam's backoff: more and more yields in a row.
#[test]
fn a_loop_that_backs_off() {
    proved(|| {
        beside(1, |word| {
            let mut step = 0;
            while word.load(Acquire) == 0 {
                (0..1 << step).for_each(|_| loom::hint::spin_loop());
                step = 6.min(step + 1);
            }
        });
    });
}

#[test]
fn a_loop_that_takes_a_lock_in_its_rounds() {
    let outcome = outcome(|| {
        let flag = Arc::new(Mutex::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || *theirs.lock().unwrap() = true);
        while !*flag.lock().unwrap() {
            thread::yield_now();
        }
        other.join().unwrap();
    });
    let Verdict::Bounded(why) = &outcome.verdict else { panic!("{outcome}") };
    assert!(why.contains("writes in each round"), "{why}");
    assert!(outcome.executions > 0);
}

#[test]
fn a_loop_that_takes_a_lock_and_waits_for_ever() {
    let why = refuted(|| {
        let flag = Mutex::new(false);
        while !*flag.lock().unwrap() {
            thread::yield_now();
        }
    });
    assert!(why.starts_with("deadlock"), "{why}");
}

#[test]
fn a_loop_that_asks_for_nothing() {
    let why = refuted(|| {
        beside(1, |_| {
            let flag = std::sync::atomic::AtomicBool::new(false);
            while !flag.load(Relaxed) {
                thread::yield_now();
            }
        });
    });
    assert!(why.contains("without looking at anything of the model's"), "{why}");
}

#[test]
fn a_loop_that_does_not_say_so() {
    let why = refuted(|| beside(1, |word| while word.load(Acquire) == 0 {}));
    assert!(why.starts_with("more than 3000 events in one execution"), "{why}");
}

/// What it asks for is of the model's, though it is no atomic: what another thread does to it is news.
mod a_loop_that_asks {
    use super::*;
    use loom::sync::mpsc::channel;
    use loom::sync::{OnceLock, RwLock};

    #[test]
    fn whether_a_thread_has_finished() {
        proved(|| {
            let word = Arc::new(AtomicUsize::new(0));
            let theirs = word.clone();
            let other = thread::spawn(move || theirs.store(1, Relaxed));
            while !other.is_finished() {
                thread::yield_now();
            }
            other.join().unwrap();
        });
    }

    #[test]
    fn how_many_references_there_are() {
        proved(|| {
            let word = Arc::new(AtomicUsize::new(0));
            let theirs = word.clone();
            let other = thread::spawn(move || drop(theirs));
            while Arc::strong_count(&word) > 1 {
                thread::yield_now();
            }
            other.join().unwrap();
        });
    }

    #[test]
    fn for_a_reference_until_there_is_none() {
        let outcome = outcome(|| {
            let word = Arc::new(AtomicUsize::new(0));
            let weak = Arc::downgrade(&word);
            let other = thread::spawn(move || drop(word));
            while weak.upgrade().is_some() {
                thread::yield_now();
            }
            other.join().unwrap();
        });
        // It counts up and down in each round.
        assert!(is_left_because_it_writes(&outcome.verdict), "{outcome}");
    }

    #[test]
    fn for_a_value_that_is_set_once() {
        proved(|| {
            let cell = Arc::new(OnceLock::new());
            let theirs = cell.clone();
            let other = thread::spawn(move || theirs.set(7).unwrap());
            while cell.get().is_none() {
                thread::yield_now();
            }
            other.join().unwrap();
        });
    }

    #[test]
    fn for_a_message() {
        let verdict = |sends: bool| {
            outcome(move || {
                let (sender, receiver) = channel();
                let other = thread::spawn(move || {
                    if sends {
                        sender.send(7).unwrap();
                    }
                    sender
                });
                let mut found = Err(loom::sync::mpsc::TryRecvError::Empty);
                while found.is_err() {
                    thread::yield_now();
                    found = receiver.try_recv();
                }
                assert_eq!(found, Ok(7));
                drop(other.join().unwrap());
            })
            .verdict
        };
        // It takes the channel's lock in each round.
        assert!(is_left_because_it_writes(&verdict(true)), "{}", verdict(true));
        assert!(matches!(verdict(false), Verdict::Failed(why) if why.starts_with("deadlock")), "{}", verdict(false));
    }

    #[test]
    fn whether_a_lock_is_free() {
        let verdict = outcome(|| {
            let lock = Arc::new(RwLock::new(0));
            let theirs = lock.clone();
            let other = thread::spawn(move || *theirs.write().unwrap() = 1);
            loop {
                if lock.try_read().is_ok_and(|value| *value == 1) {
                    break;
                }
                thread::yield_now();
            }
            other.join().unwrap();
        })
        .verdict;
        assert!(is_left_because_it_writes(&verdict), "{verdict}");
    }

    /// Its rounds come back to the same state and leave the same values, but to leave one out is not shown to leave nothing out: other
    /// threads may read what it writes in between, and learn by that what it knew then.
    fn is_left_because_it_writes(verdict: &Verdict) -> bool {
        matches!(verdict, Verdict::Bounded(why) if why.contains("writes in each round"))
    }
}
