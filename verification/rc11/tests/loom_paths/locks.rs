//! Locks, and what waits.

use super::{Verdict, outcome, proved, refuted};
use loom::cell::UnsafeCell;
use loom::sync::atomic::AtomicUsize;
use loom::sync::atomic::Ordering::Relaxed;
use loom::sync::{Arc, Barrier, Condvar, Mutex, Notify, RwLock, mpsc};
use loom::thread;
use std::time::Duration;

#[test]
fn a_mutex() {
    assert_eq!(
        proved(|| {
            let sum = Arc::new(Mutex::new(0));
            let threads: Vec<_> = (0..3)
                .map(|_| {
                    let sum = sum.clone();
                    thread::spawn(move || *sum.lock().unwrap() += 1)
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(*sum.lock().unwrap(), 3);
        }),
        6
    );
}

#[test]
fn two_mutexes_taken_crosswise() {
    let crosswise = |first: usize| {
        let locks = Arc::new([Mutex::new(0), Mutex::new(0)]);
        let theirs = locks.clone();
        let other = thread::spawn(move || {
            let _one = theirs[0].lock().unwrap();
            let _two = theirs[1].lock().unwrap();
        });
        let one = locks[first].lock().unwrap();
        let two = locks[1 - first].lock().unwrap();
        drop((one, two));
        other.join().unwrap();
    };
    proved(move || crosswise(0));
    assert!(refuted(move || crosswise(1)).starts_with("deadlock"));
}

#[test]
fn a_mutex_that_is_tried() {
    let tries = |both: bool| {
        let lock = Arc::new(Mutex::new(0));
        let theirs = lock.clone();
        let other = thread::spawn(move || theirs.try_lock().is_ok());
        let mine = lock.lock().map(drop).is_ok();
        assert!(both || (other.join().unwrap() && mine), "it was taken");
    };
    proved(move || tries(true));
    assert!(refuted(move || tries(false)).contains("it was taken"));
}

/// One tries while the holder waits inside, one after it: both are there.
#[test]
fn a_mutex_that_is_tried_while_its_holder_waits() {
    for expected in [true, false] {
        let why = refuted(move || {
            let shared = Arc::new((Mutex::new(()), Notify::new()));
            let theirs = shared.clone();
            let other = thread::spawn(move || {
                let is_open = theirs.0.try_lock().is_ok();
                theirs.1.notify();
                is_open
            });
            let guard = shared.0.lock().unwrap();
            shared.1.wait();
            drop(guard);
            assert_ne!(other.join().unwrap(), expected, "as expected");
        });
        assert!(why.contains("as expected"), "{why}");
    }
}

#[test]
fn a_lock_for_readers_and_a_writer() {
    let read_and_write = |writes: bool| {
        let shared = Arc::new((RwLock::new(0), AtomicUsize::new(0)));
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let value = *shared.0.read().unwrap();
                    assert!(value == 0 || value == 2, "half written");
                })
            })
            .collect();
        if writes {
            let mut value = shared.0.write().unwrap();
            *value += 1;
            *value += 1;
        } else {
            *shared.0.write().unwrap() += 1;
            *shared.0.write().unwrap() += 1;
        }
        readers.into_iter().for_each(|reader| reader.join().unwrap());
        drop(shared.0.try_write().unwrap());
        drop(shared.0.try_read().unwrap());
    };
    proved(move || read_and_write(true));
    assert!(refuted(move || read_and_write(false)).contains("half written"));
}

/// Each order of taking and giving back is an execution: those of two readers, with a writer where none is inside.
#[test]
fn each_order_of_readers_and_a_writer_is_one_execution() {
    let executions = proved(|| {
        let lock = Arc::new(RwLock::new(0));
        let readers = [lock.clone(), lock.clone()].map(|lock| thread::spawn(move || drop(lock.read())));
        drop(lock.write());
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
    assert_eq!(executions, 4 * 2 + 2 * 3);
}

/// As many as of a mutex that is never tried, and none in which a thread waits for a holder that has gone.
#[test]
fn each_order_of_a_mutex_that_is_tried_is_one_execution() {
    let taken = |threads: usize, rounds: usize, is_tried: bool| {
        let lock = std::sync::Arc::new(Mutex::new(0));
        let takers: Vec<_> = (0..threads)
            .map(|_| {
                let lock = lock.clone();
                thread::spawn(move || (0..rounds).for_each(|_| *lock.lock().unwrap() += 1))
            })
            .collect();
        takers.into_iter().for_each(|taker| taker.join().unwrap());
        let lock = std::sync::Arc::into_inner(lock).expect("all others have ended");
        if is_tried {
            drop(lock.try_lock().unwrap());
        }
        assert_eq!(lock.into_inner().unwrap(), threads * rounds);
    };
    for (threads, rounds, orders) in [(2, 1, 2), (3, 1, 6), (2, 2, 6), (4, 1, 24), (2, 3, 20), (3, 2, 90)] {
        assert_eq!(proved(move || taken(threads, rounds, false)), orders);
        let tried = outcome(move || taken(threads, rounds, true));
        assert_eq!((tried.verdict, tried.executions, tried.blocked), (Verdict::Proved, orders, 0));
    }
}

#[test]
fn two_readers_at_once() {
    proved(|| {
        let lock = RwLock::new(0);
        let (one, two) = (lock.read().unwrap(), lock.read().unwrap());
        assert!(lock.try_write().is_err());
        drop((one, two));
        let _writer = lock.write().unwrap();
        assert!(lock.try_read().is_err());
    });
    let alone = || {
        let lock = RwLock::new(0);
        let _reader = lock.read().unwrap();
        drop(lock.write());
    };
    assert!(refuted(alone).starts_with("deadlock"));
}

fn waits_for_a_flag(wait_in_a_loop: bool, notify: fn(&Condvar)) {
    let shared = Arc::new((Mutex::new(false), Condvar::new()));
    let theirs = shared.clone();
    let other = thread::spawn(move || {
        *theirs.0.lock().unwrap() = true;
        notify(&theirs.1);
    });
    let mut flag = shared.0.lock().unwrap();
    if wait_in_a_loop {
        while !*flag {
            flag = shared.1.wait(flag).unwrap();
        }
    } else {
        flag = shared.1.wait(flag).unwrap();
    }
    assert!(*flag);
    drop(flag);
    other.join().unwrap();
}

#[test]
fn a_condition_variable() {
    proved(|| waits_for_a_flag(true, Condvar::notify_one));
    proved(|| waits_for_a_flag(true, Condvar::notify_all));
    assert!(refuted(|| waits_for_a_flag(false, Condvar::notify_one)).starts_with("deadlock"));
    assert!(refuted(|| waits_for_a_flag(true, |_| ())).starts_with("deadlock"));
}

#[test]
fn whichever_is_notified() {
    // Of two waiters for different things, the wrong one may be woken.
    let why = refuted(|| {
        let shared = Arc::new((Mutex::new([0, 0]), Condvar::new()));
        let waiters: Vec<_> = (0..2)
            .map(|n| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let mut turns = shared.0.lock().unwrap();
                    while turns[n] == 0 {
                        turns = shared.1.wait(turns).unwrap();
                    }
                })
            })
            .collect();
        for n in 0..2 {
            shared.0.lock().unwrap()[n] = 1;
            shared.1.notify_one();
        }
        waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
    });
    assert!(why.starts_with("deadlock"), "{why}");
}

#[test]
fn a_wait_that_times_out() {
    proved(|| {
        let lock = Mutex::new(());
        let guard = lock.lock().unwrap();
        // The notification may come before the wait.
        let condvar = Arc::new(Condvar::new());
        let theirs = condvar.clone();
        let other = thread::spawn(move || theirs.notify_one());
        let (guard, result) = condvar.wait_timeout(guard, Duration::from_secs(1)).unwrap();
        let _ = result.timed_out();
        drop(guard);
        other.join().unwrap();
    });
}

#[test]
fn a_barrier() {
    proved(|| {
        let shared = Arc::new((Barrier::new(2), UnsafeCell::new(0)));
        struct Sent(Arc<(Barrier, UnsafeCell<u32>)>);
        // SAFETY: the cell is handed over by the barrier; that is what is checked.
        unsafe impl Send for Sent {}
        let theirs = Sent(shared.clone());
        let other = thread::spawn(move || {
            let Sent(theirs) = theirs;
            // SAFETY: before the barrier it is this thread's.
            theirs.1.with_mut(|value| unsafe { *value = 1 });
            theirs.0.wait().is_leader()
        });
        let leads = shared.0.wait().is_leader();
        // SAFETY: after the barrier it is this thread's.
        assert_eq!(shared.1.with(|value| unsafe { *value }), 1);
        assert_ne!(leads, other.join().unwrap());
    });
}

#[test]
fn a_notification() {
    proved(|| {
        let shared = Arc::new((Notify::new(), AtomicUsize::new(0)));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            theirs.1.store(1, Relaxed);
            theirs.0.notify();
        });
        while shared.1.load(Relaxed) == 0 {
            shared.0.wait();
        }
        other.join().unwrap();
    });
    let why = refuted(|| {
        let shared = Arc::new((Notify::new(), AtomicUsize::new(0)));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            theirs.1.store(1, Relaxed);
            theirs.0.notify();
        });
        shared.0.wait();
        assert_eq!(shared.1.load(Relaxed), 1, "spurious");
        other.join().unwrap();
    });
    assert!(why.contains("spurious"), "{why}");
}

#[test]
fn a_channel() {
    proved(|| {
        let (sender, receiver) = mpsc::channel();
        let theirs = sender.clone();
        let other = thread::spawn(move || theirs.send("theirs".to_owned()).unwrap());
        sender.send("mine".to_owned()).unwrap();
        drop(sender);
        let mut all: Vec<String> = std::iter::from_fn(|| receiver.recv().ok()).collect();
        all.sort();
        assert_eq!(all, ["mine", "theirs"]);
        other.join().unwrap();
    });
    let why = refuted(|| {
        let (sender, receiver) = mpsc::channel::<u32>();
        let _kept = sender;
        receiver.recv().unwrap();
    });
    assert!(why.starts_with("deadlock"), "{why}");
}

#[test]
fn a_thread_that_is_parked() {
    proved(|| {
        let flag = Arc::new(AtomicUsize::new(0));
        let (theirs, main) = (flag.clone(), thread::current());
        let other = thread::Builder::new().name("waker".to_owned()).spawn(move || {
            assert_eq!(thread::current().name(), Some("waker"));
            theirs.store(1, Relaxed);
            main.unpark();
        });
        while flag.load(Relaxed) == 0 {
            thread::park();
        }
        other.unwrap().join().unwrap();
    });
    assert!(refuted(thread::park).starts_with("deadlock"));
}
