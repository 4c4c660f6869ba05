//! References that do not keep what they refer to.

use super::{Memory, proved, refuted};
use loom::sync::atomic::AtomicUsize;
use loom::sync::atomic::Ordering::Relaxed;
use loom::sync::{Arc, Mutex, Weak};
use loom::thread;

#[test]
fn an_upgrade_finds_the_value_or_nothing() {
    for expected in [true, false] {
        let found = refuted(move || {
            let value = Arc::new(5);
            let weak = Arc::downgrade(&value);
            let other = thread::spawn(move || weak.upgrade().map(|value| *value));
            drop(value);
            let found = other.join().unwrap();
            assert!(found.is_none_or(|found| found == 5));
            assert_ne!(found.is_some(), expected, "as expected");
        });
        assert!(found.contains("as expected"), "{found}");
    }
    proved(|| {
        let value = Arc::new(5);
        let weak = Arc::downgrade(&value);
        let other = thread::spawn(move || weak.upgrade().map(|value| *value));
        assert_eq!(other.join().unwrap(), Some(5));
        drop(value);
    });
}

/// Its destructor says so.
struct Told(Arc<AtomicUsize>);

impl Drop for Told {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

#[test]
fn a_value_is_dropped_once_though_weak_references_are_left() {
    proved(|| {
        let told = Arc::new(AtomicUsize::new(0));
        let value = Arc::new(Told(told.clone()));
        let weak = Arc::downgrade(&value);
        let theirs = weak.clone();
        let other = thread::spawn(move || drop(theirs.upgrade()));
        drop(value);
        other.join().unwrap();
        assert_eq!(told.load(Relaxed), 1);
        assert!(weak.upgrade().is_none());
    });
}

#[test]
fn a_cycle_through_a_weak_reference_is_no_leak() {
    struct Node {
        next: Mutex<Option<Arc<Node>>>,
        back: Weak<Node>,
    }
    let ring = |is_weak: bool| {
        let first = Arc::new_cyclic(|me: &Weak<Node>| {
            assert!(me.upgrade().is_none(), "it is not made yet");
            Node { next: Mutex::new(None), back: me.clone() }
        });
        if is_weak {
            let next = Node { next: Mutex::new(None), back: Arc::downgrade(&first) };
            *first.next.lock().unwrap() = Some(Arc::new(next));
        } else {
            *first.next.lock().unwrap() = first.back.upgrade();
        }
        assert!(first.back.upgrade().is_some_and(|back| Arc::ptr_eq(&back, &first)));
    };
    proved(move || ring(true));
    assert!(refuted(move || ring(false)).starts_with("Arc leaked"));
}

/// The counts of a value are looked at by one thread while another makes and drops references.
#[test]
fn a_value_is_changed_only_by_who_has_it_alone() {
    proved(|| {
        let mut value = Arc::new(1);
        let weak = Arc::downgrade(&value);
        let other = thread::spawn(move || weak.upgrade().map_or(1, |value| *value));
        if let Some(value) = Arc::get_mut(&mut value) {
            *value = 2;
        }
        assert!([1, 2].contains(&other.join().unwrap()));
        assert!(Arc::get_mut(&mut value).is_some());
    });
    let why = refuted(|| {
        let mut value = Arc::new(1);
        let weak = Arc::downgrade(&value);
        let other = thread::spawn(move || drop(weak));
        *Arc::get_mut(&mut value).expect("a weak reference is left") = 2;
        other.join().unwrap();
    });
    assert!(why.contains("a weak reference is left"), "{why}");
}

#[test]
fn a_copy_is_made_if_another_reference_is_left() {
    proved(|| {
        let mut mine = Arc::new(vec![1]);
        let theirs = mine.clone();
        let other = thread::spawn(move || assert_eq!(*theirs, [1]));
        Arc::make_mut(&mut mine).push(2);
        assert_eq!(*mine, [1, 2]);
        other.join().unwrap();
    });
    proved(|| {
        let mut mine = Arc::new(vec![1]);
        let weak = Arc::downgrade(&mine);
        let other = thread::spawn(move || assert!(weak.upgrade().is_none_or(|value| *value == [1])));
        Arc::make_mut(&mut mine).push(2);
        other.join().unwrap();
    });
}

#[test]
fn of_those_that_give_back_their_reference_one_gets_the_value() {
    proved(|| {
        let mine = Arc::new(3);
        let theirs = mine.clone();
        let other = thread::spawn(move || Arc::into_inner(theirs));
        let all = [Arc::into_inner(mine), other.join().unwrap()];
        assert!(all == [Some(3), None] || all == [None, Some(3)], "{all:?}");
    });
    // `try_unwrap` does not promise that.
    let why = refuted(|| {
        let mine = Arc::new(3);
        let theirs = mine.clone();
        let other = thread::spawn(move || Arc::try_unwrap(theirs).ok());
        let all = [Arc::try_unwrap(mine).ok(), other.join().unwrap()];
        assert_ne!(all, [None, None], "neither");
    });
    assert!(why.contains("neither"), "{why}");
}

/// What a reference's thread did before it gave it back is known by the thread that gets the value; what a thread does after
/// it has only looked whether the value is there, is not.
#[test]
fn an_upgrade_that_fails_gives_no_order() {
    let look = |asks_the_count: bool| {
        let cell = Arc::new(Memory::default());
        let guard = Arc::new(());
        let weak = Arc::downgrade(&guard);
        let theirs = cell.clone();
        let other = thread::spawn(move || {
            theirs.write(1);
            drop(guard);
        });
        if asks_the_count {
            if weak.upgrade().is_none() {
                cell.read();
            }
            other.join().unwrap();
        } else {
            other.join().unwrap();
            assert!(weak.upgrade().is_none());
            cell.read();
        }
    };
    proved(move || look(false));
    assert!(refuted(move || look(true)).contains("race"));
}

#[test]
fn a_pointer_may_stand_for_a_weak_reference() {
    proved(|| {
        let value = Arc::new(1);
        let [one, two] = [Arc::downgrade(&value).into_raw(), Arc::downgrade(&value).into_raw()];
        // SAFETY: each is from `into_raw`, and used once.
        let [one, two] = unsafe { [Weak::from_raw(one), Weak::from_raw(two)] };
        assert!(one.ptr_eq(&two) && Arc::weak_count(&value) == 2 && one.strong_count() == 1);
        drop((two, value));
        assert!(one.upgrade().is_none() && Weak::<u32>::new().upgrade().is_none());
    });
}
