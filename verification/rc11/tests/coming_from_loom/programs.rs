// The programs of docs/guide/coming-from-loom.md, for loom and for rc11: each is what comes of one line that differs.

use loom::sync::Arc;
use loom::sync::atomic::AtomicUsize;
use loom::sync::atomic::Ordering::{Relaxed, SeqCst};
use loom::thread;

pub fn store_buffering() {
    let [x, y] = [0, 0].map(|n| Arc::new(AtomicUsize::new(n)));
    let (x2, y2) = (x.clone(), y.clone());
    let other = thread::spawn(move || {
        x2.store(1, SeqCst);
        y2.load(SeqCst)
    });
    y.store(1, SeqCst);
    let mine = x.load(SeqCst);
    let theirs = other.join().unwrap();
    assert!(mine == 1 || theirs == 1, "neither has seen the other");
}

pub fn what_a_yield_gives() {
    let state = Arc::new(AtomicUsize::new(0));
    let theirs = state.clone();
    let other = thread::spawn(move || {
        theirs.swap(1, SeqCst);
        theirs.swap(3, SeqCst);
    });
    if state.swap(2, SeqCst) == 1 {
        thread::yield_now();
        assert_eq!(state.load(Relaxed), 3, "the other is not done");
    }
    other.join().unwrap();
}

pub fn a_value_that_is_old() {
    let [data, flag] = [0, 0].map(|n| Arc::new(AtomicUsize::new(n)));
    let (data2, flag2) = (data.clone(), flag.clone());
    let other = thread::spawn(move || {
        (1..9).for_each(|n| data2.store(n, Relaxed));
        flag2.store(1, Relaxed);
    });
    if flag.load(Relaxed) == 1 {
        assert_ne!(data.load(Relaxed), 0, "the flag has come first");
    }
    other.join().unwrap();
}

pub fn a_channel_is_closed() {
    let (sender, receiver) = loom::sync::mpsc::channel::<u32>();
    let other = thread::spawn(move || drop(sender));
    assert!(receiver.recv().is_err());
    other.join().unwrap();
}

pub fn a_barrier() {
    let barrier = Arc::new(loom::sync::Barrier::new(2));
    let theirs = barrier.clone();
    let other = thread::spawn(move || theirs.wait().is_leader());
    let leads = barrier.wait().is_leader();
    assert_ne!(leads, other.join().unwrap());
}
