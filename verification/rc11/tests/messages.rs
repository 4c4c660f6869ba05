//! A message says what is wrong, where, and which line mends it.

use rc11::cell::UnsafeCell;
use rc11::model::Builder;
use rc11::sync::atomic::Ordering::{self, Acquire, Relaxed, Release, SeqCst};
use rc11::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
use rc11::sync::{Arc, Mutex};
use rc11::thread;

/// The picture of what is wrong, as text.
#[track_caller]
fn told(f: impl Fn() + Send + Sync + 'static) -> String {
    Builder::new().refute("a model", f).expect("it is wrong").columns()
}

#[track_caller]
fn says(text: &str, all: &[&str]) {
    for what in all {
        assert!(text.contains(what), "`{what}` is not in:\n{text}");
    }
}

struct Message {
    data: UnsafeCell<u32>,
    ready: AtomicBool,
}
// SAFETY: the models ask who may touch the cell.
unsafe impl Sync for Message {}
// SAFETY: as above.
unsafe impl Send for Message {}

const STORE: u32 = line!() + 8;
fn message(store: Ordering, load: Ordering) -> impl Fn() + Send + Sync + 'static {
    move || {
        let shared = Arc::new(Message { data: UnsafeCell::new(0), ready: AtomicBool::new(false) });
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            // SAFETY: of that, the model asks.
            theirs.data.with_mut(|data| unsafe { *data = 1 });
            theirs.ready.store(true, store);
        });
        if shared.ready.load(load) {
            // SAFETY: as above.
            shared.data.with(|data| assert_eq!(unsafe { *data }, 1));
        }
        other.join().unwrap();
    }
}
const LOAD: u32 = STORE + 2;

mod a_data_race {
    use super::*;

    #[test]
    fn names_the_store_that_must_release() {
        let text = told(message(Relaxed, Acquire));
        let cure = format!("it would be forbidden by `Release` in place of `Relaxed` at messages.rs:{STORE}");
        says(&text, &[&cure, "writes theirs.data plain", "the write does not release"]);
    }

    #[test]
    fn names_the_load_that_must_acquire() {
        let text = told(message(Release, Relaxed));
        says(&text, &[&format!("it would be forbidden by `Acquire` in place of `Relaxed` at messages.rs:{LOAD}")]);
    }

    #[test]
    fn names_both_if_it_takes_both() {
        let text = told(message(Relaxed, Relaxed));
        let (store, load) = (format!("`Relaxed` at messages.rs:{STORE}"), format!("`Relaxed` at messages.rs:{LOAD}"));
        says(&text, &["by these together: `Release` in place of ", &store, "`Acquire` in place of ", &load]);
    }

    #[test]
    fn says_what_is_known_of_the_other_thread() {
        says(
            &told(message(Relaxed, Acquire)),
            &["of main, ① is the last event that happens before", "no event of thread 1 happens before"],
        );
    }

    #[test]
    fn that_no_ordering_mends_says_so() {
        let text = told(|| {
            let shared = Arc::new(Message { data: UnsafeCell::new(0), ready: AtomicBool::new(false) });
            let theirs = shared.clone();
            // SAFETY: of that, the model asks.
            let other = thread::spawn(move || theirs.data.with_mut(|data| unsafe { *data = 1 }));
            // SAFETY: as above.
            shared.data.with_mut(|data| unsafe { *data = 2 });
            other.join().unwrap();
        });
        says(&text, &["no ordering of these accesses is enough"]);
    }
}

mod a_pointer_that_is_published {
    use super::*;

    const MADE: u32 = line!() + 7;
    fn pointer(store: Ordering, load: Ordering) -> impl Fn() + Send + Sync + 'static {
        move || {
            let head = Arc::new(AtomicPtr::new(std::ptr::null_mut()));
            let theirs = head.clone();
            let other = thread::spawn(move || {
                // Something before it, so that the start of the thread is not all that there is.
                let node = AtomicUsize::new(7);
                theirs.store(Box::into_raw(Box::new(node)), store);
            });
            let found = head.load(load);
            // SAFETY: the box is there until the end.
            let node = unsafe { found.as_ref() };
            assert!(node.is_none_or(|node| node.load(Relaxed) == 7));
            other.join().unwrap();
            // SAFETY: it was made of a box, and is used no more.
            drop(unsafe { Box::from_raw(head.load(Relaxed)) });
        }
    }

    #[test]
    fn without_release() {
        let text = told(pointer(Relaxed, Acquire));
        let made = format!("was made at messages.rs:{MADE} by thread 1");
        let cure = format!("`Release` in place of `Relaxed` at messages.rs:{}", MADE + 1);
        says(&text, &["a pointer is published without release", &made, &cure, "uninitialised: main uses an object"]);
    }

    #[test]
    fn and_read_without_acquire() {
        let text = told(pointer(Release, Relaxed));
        let cure = format!("`Acquire` in place of `Relaxed` at messages.rs:{}", MADE + 3);
        says(&text, &["a pointer is read without acquire", &cure]);
    }
}

mod a_failed_assertion {
    use super::*;

    fn store_buffering(order: Ordering) {
        let [x, y] = [0, 0].map(|n| Arc::new(AtomicUsize::new(n)));
        let (x2, y2) = (x.clone(), y.clone());
        let other = thread::spawn(move || {
            x2.store(1, order);
            y2.load(order)
        });
        y.store(1, order);
        let mine = x.load(order);
        assert!(other.join().unwrap() + mine > 0, "neither has seen the other");
    }

    #[test]
    fn says_which_reads_are_old_and_what_all_must_be() {
        let text = told(|| store_buffering(Relaxed));
        says(&text, &["reads the old value of y", "by these together: `SeqCst` in place of `Relaxed`"]);
        assert_eq!(text.matches("`SeqCst` in place of `Relaxed`").count(), 4, "{text}");
        Builder::new().prove(|| store_buffering(SeqCst));
    }

    #[test]
    fn of_the_logic_is_no_matter_of_orderings() {
        let text = told(|| store_buffering_is_seen(SeqCst));
        says(&text, &["No fence helps"]);
        assert!(!text.contains("in place of"), "{text}");
    }

    fn store_buffering_is_seen(order: Ordering) {
        let x = Arc::new(AtomicUsize::new(0));
        let theirs = x.clone();
        let other = thread::spawn(move || theirs.store(1, order));
        assert_eq!(x.load(order), 0, "it was seen");
        other.join().unwrap();
    }

    #[test]
    fn stands_in_its_line() {
        let line = line!() - 6;
        says(&told(|| store_buffering_is_seen(SeqCst)), &["panics", &format!("messages.rs:{line}")]);
    }
}

#[test]
fn a_guard_is_dropped_where_it_was_taken_not_in_std() {
    let text = told(|| {
        let lock = Arc::new(Mutex::new(0));
        let theirs = lock.clone();
        let other = thread::spawn(move || *theirs.lock().unwrap() += 1);
        *lock.lock().unwrap() += 1;
        other.join().unwrap();
        assert_eq!(*lock.lock().unwrap(), 3);
    });
    says(&text, &[", dropped"]);
    assert!(!text.contains("ptr/mod.rs"), "{text}");
}

#[test]
fn a_loop_without_an_end_is_named_and_its_trace_is_short() {
    let text = told(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, Release));
        while !flag.load(Acquire) {}
        other.join().unwrap();
    });
    let line = line!() - 3;
    says(
        &text,
        &[&format!("a loop never ended (messages.rs:{line})"), "call `hint::spin_loop()`", "events are left out"],
    );
    assert!(text.lines().count() < 120, "{} lines", text.lines().count());
}

#[test]
#[rustfmt::skip]
fn a_location_has_its_name_though_the_call_stands_below() {
    let text = told(|| {
        let counter = Arc::new(AtomicUsize::new(0));
        counter
            .clone()
            .store(1, Release);
        panic!("on purpose");
    });
    says(&text, &["counter"]);
}
