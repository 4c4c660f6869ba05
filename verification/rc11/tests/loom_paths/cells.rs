//! Cells of any type, and accesses that last.

use super::{proved, refuted};
use loom::cell::{Cell, UnsafeCell};
use loom::sync::Arc;
use loom::sync::atomic::AtomicBool;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::thread;

struct Slot {
    words: UnsafeCell<Vec<String>>,
    is_full: AtomicBool,
}

// SAFETY: the cell is handed over by the flag; that is what is checked.
unsafe impl Sync for Slot {}
// SAFETY: as above.
unsafe impl Send for Slot {}

fn slot() -> Arc<Slot> {
    Arc::new(Slot { words: UnsafeCell::new(Vec::new()), is_full: AtomicBool::new(false) })
}

/// What the writer does to the words, and when it says so.
fn handed_over(write: fn(&Slot)) {
    let slot = slot();
    let theirs = slot.clone();
    let writer = thread::spawn(move || write(&theirs));
    if slot.is_full.load(Acquire) {
        // SAFETY: the writer has said that it is done; that is what is checked.
        slot.words.with(|words| assert_eq!(unsafe { (*words).concat() }, "one two"));
    }
    writer.join().unwrap();
    // SAFETY: the writer has ended.
    assert_eq!(slot.words.with(|words| unsafe { (*words).len() }), 2);
}

fn push(slot: &Slot, word: &str) {
    // SAFETY: only the writer has it until it says so; that is what is checked.
    slot.words.with_mut(|words| unsafe { (*words).push(word.to_owned()) });
}

#[test]
fn a_vector_of_strings_is_handed_over() {
    proved(|| {
        handed_over(|slot| {
            push(slot, "one ");
            push(slot, "two");
            slot.is_full.store(true, Release);
        });
    });
}

#[test]
fn it_is_said_too_soon() {
    let why = refuted(|| {
        handed_over(|slot| {
            push(slot, "one ");
            slot.is_full.store(true, Release);
            push(slot, "two");
        });
    });
    assert!(why.starts_with("data race") || why.contains("left: \"one \""), "{why}");
}

#[test]
fn it_is_said_while_it_is_written() {
    let why = refuted(|| {
        handed_over(|slot| {
            // SAFETY: only the writer has it until it says so; that is what is checked.
            slot.words.with_mut(|words| unsafe {
                (*words).push("one ".to_owned());
                slot.is_full.store(true, Release);
                (*words).push("two".to_owned());
            });
        });
    });
    assert!(why.starts_with("data race") || why.contains("while another access writes it"), "{why}");
}

#[test]
fn a_pointer_is_kept_while_others_write() {
    let why = refuted(|| {
        let cell = UnsafeCell::new(1);
        let reading = cell.get();
        cell.with_mut(|_| ());
        drop(reading);
    });
    assert_eq!(why, "a cell is written while other accesses read it");
}

/// As a guard does whose fields are dropped after it: the pointer is kept a little longer, but not used.
#[test]
fn a_pointer_is_dropped_after_the_slot_is_given_back() {
    let given_back = |is_used_after: bool| {
        let slot = slot();
        let theirs = slot.clone();
        let writer = thread::spawn(move || {
            let words = theirs.words.get_mut();
            // SAFETY: only the writer has it until it says so; that is what is checked.
            unsafe { words.deref() }.push("one".to_owned());
            theirs.is_full.store(true, Release);
            if is_used_after {
                // SAFETY: it is not safe. That is what is found.
                unsafe { words.deref() }.push("two".to_owned());
            }
        });
        if slot.is_full.load(Acquire) {
            slot.words.with(|_| ());
        }
        writer.join().unwrap();
    };
    proved(move || given_back(false));
    let why = refuted(move || given_back(true));
    assert!(why.starts_with("data race") || why.contains("while another access writes it"), "{why}");
}

#[test]
fn two_pointers_for_reading() {
    proved(|| {
        let cell = UnsafeCell::new(1);
        let (one, two) = (cell.get(), cell.get());
        // SAFETY: the cell is there.
        assert_eq!(unsafe { *one.deref() + *two.deref() }, 2);
        drop((one, two));
        // SAFETY: the cell is there, and no other thread has it.
        unsafe { *cell.get_mut().deref() = 5 };
        assert_eq!(cell.into_inner(), 5);
    });
}

#[test]
fn a_cell_of_what_cannot_be_copied() {
    proved(|| {
        let (one, two) = (Cell::new("one".to_owned()), Cell::new("two".to_owned()));
        one.swap(&two);
        assert_eq!(one.replace("three".to_owned()), "two");
        assert_eq!((one.take(), two.into_inner()), ("three".to_owned(), "one".to_owned()));
    });
}

/// Memory is rebuilt in each play: writers in any order, each sees what the one before it has left.
#[test]
fn who_comes_second_finds_what_the_first_has_left() {
    proved(|| {
        let shared = Arc::new((loom::sync::Mutex::new(()), slot()));
        let threads: Vec<_> = ["a", "b", "c"]
            .map(|name| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let _guard = shared.0.lock().unwrap();
                    push(&shared.1, name);
                    // SAFETY: under the lock.
                    shared.1.words.with(|words| unsafe { (*words).len() })
                })
            })
            .into_iter()
            .collect();
        let mut places: Vec<usize> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        // SAFETY: all others have ended.
        shared.1.words.with(|words| unsafe {
            for (name, place) in ["a", "b", "c"].iter().zip(&places) {
                assert_eq!((&*words)[place - 1], *name);
            }
        });
        places.sort_unstable();
        assert_eq!(places, [1, 2, 3]);
    });
    assert!(!slot_is_full_relaxed());
}

fn slot_is_full_relaxed() -> bool {
    refuted(|| {
        handed_over(|slot| {
            push(slot, "one ");
            push(slot, "two");
            slot.is_full.store(true, Relaxed);
        });
    })
    .is_empty()
}
