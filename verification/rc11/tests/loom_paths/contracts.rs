//! What std's types say of themselves and is easily overlooked: each wrong program stands beside the one that is right.

use super::{outcome, proved, refuted};
use loom::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
use loom::sync::{Arc, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock};
use loom::{hint, thread};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::null_mut;

/// Runs `f`, which panics, and goes on.
fn survives(f: impl FnOnce()) {
    assert!(catch_unwind(AssertUnwindSafe(f)).is_err());
}

fn panics() -> ! {
    // Without the hook, which prints.
    resume_unwind(Box::new(()))
}

mod a_handle_of_a_thread {
    use super::*;

    /// Lies on the stack of the thread that waits.
    struct Waiter {
        is_done: AtomicBool,
        thread: thread::Thread,
    }

    fn waited_for(keeps_handle: bool, by_main: bool) {
        let slot = Arc::new(AtomicPtr::<Waiter>::new(null_mut()));
        let theirs = slot.clone();
        let notify = move || {
            let waiter = theirs.swap(null_mut(), AcqRel);
            if waiter.is_null() {
                return;
            }
            // SAFETY: it waits until it is done, and no longer.
            let waiter = unsafe { &*waiter };
            let kept = keeps_handle.then(|| waiter.thread.clone());
            waiter.is_done.store(true, Release);
            kept.as_ref().unwrap_or(&waiter.thread).unpark();
        };
        let wait = move || {
            let waiter = Waiter { is_done: AtomicBool::new(false), thread: thread::current() };
            slot.store((&raw const waiter).cast_mut(), Release);
            if slot.swap(null_mut(), AcqRel).is_null() {
                while !waiter.is_done.load(Acquire) {
                    thread::park();
                }
            }
        };
        let other = if by_main {
            let other = thread::spawn(wait);
            notify();
            other
        } else {
            let other = thread::spawn(notify);
            wait();
            other
        };
        other.join().unwrap();
    }

    #[test]
    fn is_used_after_its_owner_has_gone_on() {
        for by_main in [false, true] {
            let why = refuted(move || waited_for(false, by_main));
            assert!(why.starts_with("use after free"), "{why}");
        }
    }

    #[test]
    fn is_copied_before_its_owner_may_go_on() {
        for by_main in [false, true] {
            proved(move || waited_for(true, by_main));
        }
    }
}

mod a_panic_that_is_caught {
    use super::*;

    /// A holder panics; what finds another?
    fn poisons<L: 'static>(lock: fn() -> L, panics: fn(&L), finds: fn(&L) -> bool, expected: bool) {
        let shared = Arc::new(lock());
        let theirs = shared.clone();
        thread::spawn(move || survives(|| panics(&theirs))).join().unwrap();
        assert_eq!(finds(&shared), expected, "as expected");
    }

    fn finds<L: 'static>(lock: fn() -> L, panics: fn(&L), finds: fn(&L) -> bool, expected: bool) {
        proved(move || poisons(lock, panics, finds, expected));
        assert!(refuted(move || poisons(lock, panics, finds, !expected)).contains("as expected"));
    }

    fn holds(lock: &Mutex<u32>) {
        *lock.lock().unwrap() += 1;
        let _held = lock.lock().unwrap();
        panics();
    }

    #[test]
    fn poisons_a_mutex() {
        finds(|| Mutex::new(0), holds, |lock| lock.lock().is_err_and(|poisoned| **poisoned.get_ref() == 1), true);
        finds(|| Mutex::new(0), holds, |lock| lock.try_lock().is_err(), true);
        let clears = |lock: &Mutex<u32>| {
            lock.clear_poison();
            lock.lock().is_ok() && !lock.is_poisoned()
        };
        finds(|| Mutex::new(0), holds, clears, true);
    }

    #[test]
    fn poisons_a_lock_for_writers_alone() {
        fn writes(lock: &RwLock<u32>) {
            let _held = lock.write().unwrap();
            panics();
        }
        fn reads(lock: &RwLock<u32>) {
            let _held = lock.read().unwrap();
            panics();
        }
        finds(|| RwLock::new(0), writes, |lock| lock.read().is_err() && lock.write().is_err(), true);
        finds(|| RwLock::new(0), reads, |lock| lock.write().is_err(), false);
    }

    #[test]
    fn poisons_a_once_but_for_who_forces_it() {
        let calls = |once: &Once| once.call_once(|| panics());
        finds(Once::new, calls, |once| catch_unwind(AssertUnwindSafe(|| once.call_once(|| ()))).is_err(), true);
        let forces = |once: &Once| {
            let mut was_poisoned = false;
            once.call_once_force(|state| was_poisoned = state.is_poisoned());
            once.call_once(|| panics());
            was_poisoned
        };
        finds(Once::new, calls, forces, true);
    }

    #[test]
    fn leaves_a_once_lock_empty_and_a_lazy_one_for_good() {
        let inits = |lock: &OnceLock<u32>| _ = lock.get_or_init(|| panics());
        finds(OnceLock::new, inits, |lock| lock.get().is_none() && *lock.get_or_init(|| 7) == 7, true);
        let lazy = || LazyLock::<u32>::new(|| panics());
        finds(lazy, |lazy| _ = **lazy, |lazy| catch_unwind(AssertUnwindSafe(|| **lazy)).is_err(), true);
    }
}

mod a_count_of_stds {
    use super::*;
    use std::sync::Arc as StdArc;

    /// A pair, as of a `Parker` and its `Unparker`, which share it by std's `Arc`; does one look at it without a reference?
    fn shared(looks_without: bool) {
        let shared = StdArc::new((AtomicUsize::new(0), Mutex::new(0)));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            *theirs.1.lock().unwrap() += 1;
            let counter = looks_without.then(|| &raw const theirs.0);
            theirs.0.fetch_add(1, Relaxed);
            drop(theirs);
            // SAFETY: there may be no reference any more.
            counter.map(|counter| unsafe { &*counter }.load(Relaxed));
        });
        shared.0.fetch_add(1, Relaxed);
        drop(shared);
        other.join().unwrap();
    }

    #[test]
    fn orders_its_last_owner_after_the_others() {
        let outcome = outcome(|| shared(false));
        assert_eq!(outcome.verdict, loom::model::Verdict::Proved);
        assert!(outcome.assumes.contains("std's Arc"), "{}", outcome.assumes);
        proved(|| {
            // One inside of the other, of which the model sees the outer.
            let outer = Arc::new(StdArc::new(AtomicUsize::new(0)));
            let inner = StdArc::clone(&outer);
            let other = thread::spawn(move || inner.fetch_add(1, Relaxed));
            outer.fetch_add(1, Relaxed);
            drop(outer);
            other.join().unwrap();
        });
    }

    #[test]
    fn does_not_cover_a_pointer_without_one() {
        assert!(refuted(|| shared(true)).starts_with("use after free"));
    }

    /// What is no `Arc` of std's is not taken for one, though one drops it.
    #[test]
    fn is_no_excuse_for_ours() {
        let pointer_into = |keeps: bool| {
            let shared = StdArc::new(Arc::new(AtomicUsize::new(0)));
            let inner = Arc::clone(&shared);
            let other = thread::spawn(move || {
                let counter = Arc::as_ptr(&inner);
                let kept = keeps.then(|| inner.clone());
                drop(inner);
                // SAFETY: it may be gone.
                unsafe { &*counter }.load(Relaxed);
                drop(kept);
            });
            drop(shared);
            other.join().unwrap();
        };
        assert!(refuted(move || pointer_into(false)).starts_with("use after free"));
        proved(move || pointer_into(true));
    }
}

mod bits {
    use super::*;

    fn copied(clones: bool) {
        let shared = Arc::new(AtomicUsize::new(0));
        // SAFETY: the copy is a reference that is not counted.
        let theirs = if clones { shared.clone() } else { unsafe { std::ptr::read(&shared) } };
        thread::spawn(move || theirs.fetch_add(1, Relaxed)).join().unwrap();
        drop(shared);
    }

    #[test]
    fn of_an_arc_are_no_reference() {
        assert!(refuted(|| copied(false)).starts_with("double free"));
        proved(|| copied(true));
    }

    fn freed(as_it_is: bool) {
        let word = Arc::new(AtomicUsize::new(0));
        let theirs = word.clone();
        let block = Box::new([0_u8; 24]);
        let other = thread::spawn(move || {
            theirs.fetch_add(1, Relaxed);
            let block = Box::into_raw(block);
            // SAFETY: the block is this thread's; it may be larger.
            unsafe { if as_it_is { drop(Box::from_raw(block)) } else { drop(Box::from_raw(block.cast::<[u8; 16]>())) } }
        });
        word.fetch_add(1, Relaxed);
        other.join().unwrap();
    }

    #[test]
    fn are_freed_as_they_were_allocated() {
        assert!(refuted(|| freed(false)).starts_with("wrong layout: a block of 24 bytes"));
        proved(|| freed(true));
    }
}

mod a_lock_that_is_read_twice_at_once {
    use super::*;

    /// Is the first read over before the second? Does the writer wait until the second is there?
    fn read_beside_written(is_over: bool, waits: bool) {
        let shared = Arc::new((RwLock::new(0), AtomicBool::new(false)));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            while waits && !theirs.1.load(Acquire) {
                hint::spin_loop();
            }
            *theirs.0.write().unwrap() += 1;
        });
        let first = shared.0.read().unwrap();
        if is_over {
            drop(first);
        } else {
            let second = shared.0.read().unwrap();
            shared.1.store(true, Release);
            drop((first, second));
        }
        shared.1.store(true, Release);
        other.join().unwrap();
    }

    #[test]
    fn may_wait_for_a_writer_that_waits_for_it() {
        assert!(refuted(|| read_beside_written(false, false)).starts_with("deadlock"));
    }

    #[test]
    fn does_not_if_the_first_is_over_or_the_writer_comes_later() {
        proved(|| read_beside_written(true, false));
        proved(|| read_beside_written(false, true));
    }
}

mod one_condition_variable_for_two_conditions {
    use super::*;

    /// Two fill a place and two empty it.
    fn filled_and_emptied(wakes_all: bool) {
        let shared = Arc::new((Mutex::new(false), Condvar::new()));
        let threads: Vec<_> = [true, true, false, false]
            .map(|fills| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let mut is_full = shared.0.lock().unwrap();
                    while *is_full == fills {
                        is_full = shared.1.wait(is_full).unwrap();
                    }
                    *is_full = fills;
                    if wakes_all { shared.1.notify_all() } else { shared.1.notify_one() }
                })
            })
            .into();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }

    #[test]
    fn wakes_one_that_has_to_wait_on() {
        assert!(refuted(|| filled_and_emptied(false)).starts_with("deadlock"));
    }

    #[test]
    fn wakes_all() {
        proved(|| filled_and_emptied(true));
    }
}

mod a_queue_of_many_senders {
    use super::*;

    struct Node {
        next: AtomicPtr<Node>,
        value: usize,
    }

    fn node(value: usize) -> *mut Node {
        Box::into_raw(Box::new(Node { next: AtomicPtr::new(null_mut()), value }))
    }

    /// A sender exchanges the last node and then links it (Vyukov). May the receiver free a node that has no link yet?
    fn sent_beside_received(waits_for_link: bool) {
        let first = node(0);
        let last = Arc::new(AtomicPtr::new(first));
        let theirs = last.clone();
        let sender = thread::spawn(move || {
            let new = node(7);
            let before = theirs.swap(new, AcqRel);
            // SAFETY: the receiver may have freed it.
            unsafe { &*before }.next.store(new, Release);
        });
        // SAFETY: until the receiver frees it, which is this thread.
        let next = || unsafe { &*first }.next.load(Acquire);
        if last.load(Acquire) != first {
            while waits_for_link && next().is_null() {
                hint::spin_loop();
            }
        } else {
            sender.join().unwrap();
            return free(&[first, last.load(Relaxed)]);
        }
        free(&[first]);
        sender.join().unwrap();
        let last = last.load(Relaxed);
        // SAFETY: it is freed below.
        assert_eq!(unsafe { &*last }.value, 7);
        free(&[last]);
    }

    fn free(nodes: &[*mut Node]) {
        // SAFETY: each is freed here alone, if the model is right.
        nodes.iter().for_each(|&node| drop(unsafe { Box::from_raw(node) }));
    }

    #[test]
    fn keeps_a_node_until_it_is_linked() {
        proved(|| sent_beside_received(true));
    }

    #[test]
    fn frees_a_node_that_a_sender_links() {
        assert!(refuted(|| sent_beside_received(false)).starts_with("use after free"));
    }
}
