//! `Arc`s: leaks, and counts that are read.

use super::{proved, refuted};
use loom::sync::Arc;
use loom::sync::atomic::AtomicUsize;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::thread;

#[test]
fn a_leak() {
    let why = refuted(|| std::mem::forget(Arc::new(1)));
    assert!(why.starts_with("Arc leaked: made at ") && why.contains("counted.rs"), "{why}");
}

#[test]
fn a_cycle_is_a_leak() {
    struct Node(loom::sync::Mutex<Option<Arc<Node>>>);
    let why = refuted(|| {
        let node = Arc::new(Node(loom::sync::Mutex::new(None)));
        *node.0.lock().unwrap() = Some(node.clone());
    });
    assert!(why.starts_with("Arc leaked"), "{why}");
}

#[test]
fn a_leak_of_one_order_alone() {
    // A thread that reads the flag late forgets to drop.
    let why = refuted(|| {
        let shared = Arc::new(AtomicUsize::new(0));
        let theirs = shared.clone();
        let other = thread::spawn(move || theirs.store(1, Relaxed));
        if shared.load(Relaxed) == 1 {
            std::mem::forget(shared);
        }
        other.join().unwrap();
    });
    assert!(why.starts_with("Arc leaked"), "{why}");
}

/// Its destructor tells.
struct Told(Arc<AtomicUsize>);

impl Drop for Told {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

#[test]
fn a_destructor_runs_once_by_whoever_is_last() {
    let executions = proved(|| {
        let told = Arc::new(AtomicUsize::new(0));
        let shared = Arc::new(Told(told.clone()));
        let theirs = shared.clone();
        let other = thread::spawn(move || drop(theirs));
        drop(shared);
        other.join().unwrap();
        assert_eq!(told.load(Relaxed), 1);
    });
    assert_eq!(executions, 2);
}

#[test]
fn a_destructor_may_run_in_either_thread() {
    let why = refuted(|| {
        let told = Arc::new(AtomicUsize::new(0));
        let shared = Arc::new(Told(told.clone()));
        let theirs = shared.clone();
        let other = thread::spawn(move || drop(theirs));
        drop(shared);
        assert_eq!(told.load(Relaxed), 1, "the other one is not done yet");
        other.join().unwrap();
    });
    assert!(why.contains("not done yet"), "{why}");
}

#[test]
fn who_drops_last_knows_what_the_others_did() {
    struct Cell(loom::cell::UnsafeCell<u32>);
    // SAFETY: the cell is written before the reference is given back; that is what is checked.
    unsafe impl Sync for Cell {}
    // SAFETY: as above.
    unsafe impl Send for Cell {}
    impl Drop for Cell {
        fn drop(&mut self) {
            self.0.with_mut(|_| ());
        }
    }
    proved(|| {
        let shared = Arc::new(Cell(loom::cell::UnsafeCell::new(0)));
        let theirs = shared.clone();
        thread::spawn(move || theirs.0.with_mut(|_| ()));
        drop(shared);
    });
}

#[test]
fn the_count_is_looked_at() {
    proved(|| {
        let mut shared = Arc::new(AtomicUsize::new(0));
        let theirs = shared.clone();
        let other = thread::spawn(move || theirs.store(1, Release));
        if let Some(alone) = Arc::get_mut(&mut shared) {
            alone.with_mut(|value| assert_eq!(*value, 1));
        }
        other.join().unwrap();
        assert_eq!(Arc::strong_count(&shared), 1);
        assert_eq!(Arc::try_unwrap(shared).unwrap().load(Acquire), 1);
    });
    let why = refuted(|| {
        let shared = Arc::new(());
        let theirs = shared.clone();
        let other = thread::spawn(move || drop(theirs));
        assert_eq!(Arc::strong_count(&shared), 1, "too early");
        other.join().unwrap();
    });
    assert!(why.contains("too early"), "{why}");
}

#[test]
fn there_and_back_by_a_pointer() {
    proved(|| {
        let raw = Arc::into_raw(Arc::new(5));
        // SAFETY: it is from `into_raw`; one reference is added, and two are given back.
        unsafe {
            Arc::increment_strong_count(raw);
            assert_eq!(*Arc::from_raw(raw), 5);
            Arc::decrement_strong_count(raw);
        }
    });
    assert!(refuted(|| _ = Arc::into_raw(Arc::new(5))).starts_with("Arc leaked"));
}

mod memory {
    use super::super::{proved, refuted};
    use loom::alloc::{Layout, Track, alloc, dealloc};

    fn blocks(times: u32) {
        let layout = Layout::new::<u64>();
        // SAFETY: the layout is not empty. Freeing twice is what is found.
        unsafe {
            let block = alloc(layout);
            (0..times).for_each(|_| dealloc(block, layout));
        }
    }

    #[test]
    fn is_given_back_once() {
        proved(|| blocks(1));
        assert!(refuted(|| blocks(0)).starts_with("Allocation leaked"));
        assert!(refuted(|| blocks(2)).starts_with("double free"));
    }

    #[test]
    fn is_tracked() {
        proved(|| assert_eq!(Track::new(5).into_inner(), 5));
        assert!(refuted(|| std::mem::forget(Track::new(5))).starts_with("Tracked value leaked"));
    }
}
