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
// SAFETY: the models ask which thread may touch the cell.
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

/// The whole text below the picture, and above it.
fn notes(text: &str) -> Vec<&str> {
    let picture =
        |line: &&str| line.contains('│') || line.contains('┼') || line.is_empty() || line.starts_with("     ←");
    text.lines().filter(|line| !picture(line)).collect()
}

fn at(line: u32, below: u32) -> String {
    format!("messages.rs:{}", line + below)
}

#[test]
fn a_race_tells_both_accesses_with_type_value_ordering_and_line() {
    let text = told(message(Relaxed, Acquire));
    let [write, read] = [format!("messages.rs:{}", STORE - 1), format!("messages.rs:{}", LOAD + 2)];
    let all = [
        "a model".to_owned(),
        "data race: main and thread 1 touch the same memory, and neither happens before the other".to_owned(),
        "② and ⑤ touch theirs.data, not both are atomic, and no path of happens-before leads from one to the other"
            .to_owned(),
        format!("② thread 1 writes theirs.data (u32 = 1), not atomic, at {write}"),
        format!("⑤ main reads theirs.data (u32 = 1), not atomic, at {read}"),
        "④ reads ③, but that gives no order: the write does not release".to_owned(),
        "no event of thread 1 happens before ⑤".to_owned(),
        "of main, ① is the last event that happens before ②".to_owned(),
        format!("it would be forbidden by `Release` in place of `Relaxed` at messages.rs:{STORE}"),
    ];
    assert_eq!(notes(&text), all.iter().map(String::as_str).collect::<Vec<_>>(), "{text}");
}

mod memory_that_is_freed {
    use super::*;

    type Node = (AtomicUsize, AtomicBool);

    fn node(address: usize) -> &'static Node {
        // SAFETY: it is there, or the model says that it is not.
        unsafe { &*std::ptr::with_exposed_provenance(address) }
    }

    fn free(address: usize) {
        // SAFETY: as above.
        drop(unsafe { Box::from_raw(std::ptr::with_exposed_provenance_mut::<Node>(address)) });
    }

    const FREED: u32 = line!();
    fn freed_when_left(store: Ordering, load: Ordering) {
        let address = Box::into_raw(Box::new((AtomicUsize::new(0), AtomicBool::new(false)))).expose_provenance();
        let other = thread::spawn(move || {
            node(address).0.store(1, Relaxed);
            node(address).1.store(true, store);
        });
        let is_left = node(address).1.load(load);
        if is_left {
            free(address);
        }
        other.join().unwrap();
        if !is_left {
            free(address);
        }
    }

    #[test]
    fn too_early_tells_both_accesses_and_what_must_be_stronger() {
        let text = told(|| freed_when_left(Relaxed, Acquire));
        let said = notes(&text);
        let sentence = "use after free: thread 1 writes memory that main frees or moves away at ";
        assert!(said[1].starts_with(sentence) && said[1].contains(&at(FREED, 0)[..9]), "{text}");
        let access = format!(" thread 1 writes node(address).0 (usize = 1), `Relaxed`, at {}", at(FREED, 4));
        says(&text, &[&access, "no path of happens-before leads from ", "by main"]);
        says(&text, &[&format!("`Release` in place of `Relaxed` at {}", at(FREED, 5))]);
        Builder::new().prove(|| freed_when_left(Release, Acquire));
    }

    #[test]
    fn too_early_by_its_logic_says_that_no_ordering_helps() {
        let text = told(|| {
            let address = Box::into_raw(Box::new((AtomicUsize::new(0), AtomicBool::new(false)))).expose_provenance();
            let other = thread::spawn(move || {
                node(address).1.store(true, Release);
                node(address).0.store(1, Relaxed);
            });
            if node(address).1.load(Acquire) {
                free(address);
            }
            other.join().unwrap();
        });
        says(&text, &["use after free: ", "messages.rs:", "no ordering of what was done is enough"]);
    }

    /// The access is the writing half of an update, which was asked for as one.
    #[test]
    fn after_an_update_names_its_line() {
        const LINE: u32 = line!() + 5;
        let text = told(|| {
            let address = Box::into_raw(Box::new((AtomicUsize::new(0), AtomicBool::new(false)))).expose_provenance();
            let other = thread::spawn(move || {
                node(address).1.store(true, Release);
                node(address).0.fetch_add(1, Relaxed);
            });
            if node(address).1.load(Acquire) {
                free(address);
            }
            other.join().unwrap();
        });
        says(&text, &["use after free: ", &format!("`Relaxed`, at messages.rs:{LINE}"), "std's `Arc`"]);
    }

    const TWICE: u32 = line!() + 7;
    #[test]
    fn twice_tells_both_lines() {
        let text = told(|| {
            // Else the compiler leaves it out.
            let block = std::hint::black_box(Box::into_raw(Box::new(7)));
            // SAFETY: it is not: that is what is found.
            (0..2).for_each(|_| drop(unsafe { Box::from_raw(block) }));
        });
        let line = at(TWICE, 0);
        assert!(text.contains("double free: a block of memory is freed at "), "{text}");
        assert_eq!(text.matches(&line).count(), 2, "{text}");
    }
}

/// The text of an assertion, and of each note, stands once.
#[test]
fn nothing_is_said_twice() {
    const ONCE: &str = "once and no more";
    let texts = [told(message(Relaxed, Relaxed)), told(|| assert_eq!(AtomicUsize::new(1).load(Relaxed), 2, "{ONCE}"))];
    for text in &texts {
        let said = notes(text);
        for (n, note) in said.iter().enumerate() {
            assert!(!said[n + 1..].contains(note), "`{note}` is said twice:\n{text}");
        }
    }
    assert_eq!(texts[1].matches(ONCE).count(), 1, "{}", texts[1]);
}

#[path = "messages"]
mod folders {
    pub(crate) mod one {
        pub(crate) mod same;
    }
    pub(crate) mod two {
        pub(crate) mod same;
    }
}

#[test]
fn files_of_one_name_are_told_apart_by_their_folders() {
    let text = told(|| {
        let word = AtomicUsize::new(0);
        folders::one::same::store(&word);
        folders::two::same::store(&word);
        panic!("on purpose");
    });
    says(&text, &["one/same.rs:", "two/same.rs:"]);
    assert!(!text.contains("│ same.rs"), "{text}");
}
