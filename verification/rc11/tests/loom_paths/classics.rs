//! loom's own README, and what every user tries first.

use super::{proved, refuted};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use loom::thread;

fn incremented(add: fn(&AtomicUsize)) {
    let num = Arc::new(AtomicUsize::new(0));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let num = num.clone();
            thread::spawn(move || add(&num))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(2, num.load(Relaxed));
}

#[test]
fn the_counter_of_the_readme() {
    let why = refuted(|| {
        incremented(|num| {
            let curr = num.load(Acquire);
            num.store(curr + 1, Release);
        });
    });
    assert!(why.contains("left: 2\n right: 1"), "{why}");
    assert_eq!(proved(|| incremented(|num| _ = num.fetch_add(1, AcqRel))), 2);
}

#[test]
#[should_panic(expected = "assertion `left == right` failed")]
fn a_model_panics_with_what_is_wrong() {
    loom::model(|| {
        let v1 = Arc::new(AtomicUsize::new(0));
        let v2 = v1.clone();
        thread::spawn(move || v1.store(1, SeqCst));
        assert_eq!(0, v2.load(SeqCst));
    });
}

struct SpinLock {
    is_taken: AtomicBool,
    value: UnsafeCell<u32>,
}

// SAFETY: only the thread that has taken the lock touches the value; that is what is checked.
unsafe impl Sync for SpinLock {}
// SAFETY: as above.
unsafe impl Send for SpinLock {}

impl SpinLock {
    fn add(&self, lock: Ordering, unlock: Ordering) {
        while self.is_taken.compare_exchange(false, true, lock, Relaxed).is_err() {
            loom::hint::spin_loop();
        }
        // SAFETY: it is checked that no other thread touches the value meanwhile.
        self.value.with_mut(|value| unsafe { *value += 1 });
        self.is_taken.store(false, unlock);
    }
}

fn counted(threads: u32, lock: Ordering, unlock: Ordering) {
    let shared = Arc::new(SpinLock { is_taken: AtomicBool::new(false), value: UnsafeCell::new(0) });
    let threads: Vec<_> = (1..threads)
        .map(|_| {
            let shared = shared.clone();
            thread::spawn(move || shared.add(lock, unlock))
        })
        .collect();
    shared.add(lock, unlock);
    let n = 1 + threads.len() as u32;
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    // SAFETY: all others have ended.
    assert_eq!(shared.value.with(|value| unsafe { *value }), n);
}

#[test]
fn a_spin_lock() {
    proved(|| counted(2, Acquire, Release));
    proved(|| counted(3, Acquire, Release));
    assert!(refuted(|| counted(2, Acquire, Relaxed)).starts_with("data race"));
    assert!(refuted(|| counted(2, Relaxed, Release)).starts_with("data race"));
}

fn dekker(order: Ordering, with_fences: bool) {
    let flags = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
    let enter = move |flags: &[AtomicBool; 2], me: usize| {
        flags[me].store(true, order);
        if with_fences {
            fence(SeqCst);
        }
        !flags[1 - me].load(order)
    };
    let theirs = flags.clone();
    let other = thread::spawn(move || enter(&theirs, 1));
    let mine = enter(&flags, 0);
    assert!(!(mine && other.join().unwrap()), "both are inside");
}

#[test]
fn dekkers_entry() {
    proved(|| dekker(Relaxed, true));
    proved(|| dekker(SeqCst, false));
    assert!(refuted(|| dekker(Relaxed, false)).contains("both are inside"));
}

#[test]
fn two_stores_stand_in_either_order() {
    let why = refuted(|| {
        let words = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let theirs = words.clone();
        let other = thread::spawn(move || {
            theirs[0].store(1, Relaxed);
            theirs[1].store(2, Relaxed);
        });
        words[1].store(1, Relaxed);
        words[0].store(2, Relaxed);
        other.join().unwrap();
        // 2+2W: each store stands before the other thread's first.
        assert!(words[0].load(Relaxed) != 1 || words[1].load(Relaxed) != 1, "both are the first ones");
    });
    assert!(why.contains("both are the first ones"), "{why}");
}

#[test]
fn a_message_and_its_flag() {
    let passed = |order| {
        let words = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let theirs = words.clone();
        let other = thread::spawn(move || {
            theirs[0].store(1, Relaxed);
            theirs[1].store(1, order);
        });
        if words[1].load(Acquire) == 1 {
            assert_eq!(words[0].load(Relaxed), 1, "the flag came first");
        }
        other.join().unwrap();
    };
    proved(move || passed(Release));
    assert!(refuted(move || passed(Relaxed)).contains("the flag came first"));
}
