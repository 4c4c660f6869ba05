//! Memory that is given back, moved away or lent to one thread alone, while another may still look at it: found in
//! whatever order the threads are played. Each wrong program stands beside the one that is right.

use super::{proved, refuted};
use loom::cell::UnsafeCell;
use loom::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use loom::sync::atomic::{AtomicPtr, AtomicUsize, fence};
use loom::sync::{Arc, Mutex, RwLock, mpsc};
use loom::thread;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::null_mut;

/// A pointer that goes to another thread.
struct Sent<T>(*mut T);
// SAFETY: whether it may is what the models ask.
unsafe impl<T> Send for Sent<T> {}

impl<T> Sent<T> {
    fn boxed(value: T) -> Sent<T> {
        Sent(Box::into_raw(Box::new(value)))
    }

    fn copy(&self) -> Sent<T> {
        Sent(self.0)
    }

    fn get(&self) -> &T {
        // SAFETY: each model says whether it is there.
        unsafe { &*self.0 }
    }

    fn take(self) -> Box<T> {
        // SAFETY: each model says whether it is this thread's.
        unsafe { Box::from_raw(self.0) }
    }
}

#[track_caller]
fn is_use_after_free(model: impl Fn() + Sync + Send + 'static) {
    let why = refuted(model);
    assert!(why.starts_with("use after free"), "{why}");
}

#[track_caller]
fn is_double_free(model: impl Fn() + Sync + Send + 'static) {
    let why = refuted(model);
    assert!(why.starts_with("double free"), "{why}");
}

/// A reader and a freer of what a word points to, in either order of starting; the freer waits for the reader, or does not.
fn reader_and_freer(reader_first: bool, waits: bool) {
    let shared = Arc::new(AtomicPtr::new(Box::into_raw(Box::new(AtomicUsize::new(1)))));
    let (read, freed) = (shared.clone(), shared);
    let reader = move || {
        let word = read.load(Acquire);
        // SAFETY: it may have been freed. That is what is found.
        (!word.is_null()).then(|| unsafe { &*word }.load(Relaxed));
    };
    // SAFETY: only this thread takes it.
    let freer = move || drop(unsafe { Box::from_raw(freed.swap(null_mut(), AcqRel)) });
    if waits {
        thread::spawn(reader).join().unwrap();
        return freer();
    }
    let threads = if reader_first {
        [thread::spawn(reader), thread::spawn(freer)]
    } else {
        let freer = thread::spawn(freer);
        [thread::spawn(reader), freer]
    };
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn a_reader_and_a_freer() {
    is_use_after_free(|| reader_and_freer(true, false));
    is_use_after_free(|| reader_and_freer(false, false));
    proved(|| reader_and_freer(true, true));
}

/// Read-copy-update, with a count of readers.
fn read_copy_update(order: Ordering) {
    struct Shared {
        value: AtomicPtr<UnsafeCell<usize>>,
        readers: AtomicUsize,
    }
    let value = AtomicPtr::new(Sent::boxed(UnsafeCell::new(1)).0);
    let shared = Arc::new(Shared { value, readers: AtomicUsize::new(0) });
    let read = shared.clone();
    let load = if order == SeqCst { SeqCst } else { Acquire };
    let reader = thread::spawn(move || {
        read.readers.fetch_add(1, order);
        // SAFETY: the writer waits until there are no readers. Does it?
        unsafe { &*read.value.load(load) }.with(|value| assert_ne!(unsafe { *value }, 0));
        read.readers.fetch_sub(1, Release);
    });
    let old = Sent(shared.value.swap(Sent::boxed(UnsafeCell::new(2)).0, order));
    while shared.readers.load(load) != 0 {
        thread::yield_now();
    }
    drop(old.take());
    reader.join().unwrap();
    drop(Sent(shared.value.load(Relaxed)).take());
}

#[test]
fn read_copy_update_needs_one_order_of_count_and_pointer() {
    is_use_after_free(|| read_copy_update(AcqRel));
    proved(|| read_copy_update(SeqCst));
}

/// A hazard pointer: the reader announces what it reads, and looks again.
fn hazard_pointer(is_fenced: bool) {
    let shared = Arc::new((AtomicPtr::new(Sent::boxed(AtomicUsize::new(1)).0), AtomicPtr::new(null_mut())));
    let read = shared.clone();
    let order = move || {
        if is_fenced {
            fence(SeqCst)
        }
    };
    let reader = thread::spawn(move || {
        let seen = read.0.load(Acquire);
        read.1.store(seen, Release);
        order();
        if !seen.is_null() && read.0.load(Acquire) == seen {
            // SAFETY: it was announced before it was freed. Was it?
            unsafe { &*seen }.load(Relaxed);
        }
        read.1.store(null_mut(), Release);
    });
    let old = shared.0.swap(null_mut(), AcqRel);
    order();
    while shared.1.load(Acquire) == old {
        thread::yield_now();
    }
    drop(Sent(old).take());
    reader.join().unwrap();
}

#[test]
fn a_hazard_pointer_needs_a_fence_between_announcing_and_looking_again() {
    is_use_after_free(|| hazard_pointer(false));
    proved(|| hazard_pointer(true));
}

/// Two references and a count of one's own.
fn own_count(down: Ordering, last: Ordering) {
    let shared = Sent::boxed((AtomicUsize::new(2), AtomicUsize::new(0)));
    let theirs = shared.copy();
    let give_back = move |shared: Sent<(AtomicUsize, AtomicUsize)>| {
        shared.get().1.store(1, Relaxed);
        if shared.get().0.fetch_sub(1, down) == 1 {
            if last == Acquire {
                fence(Acquire);
            }
            drop(shared.take());
        }
    };
    let other = thread::spawn(move || give_back(theirs));
    give_back(shared);
    other.join().unwrap();
}

#[test]
fn a_count_of_references_releases_and_acquires() {
    is_use_after_free(|| own_count(Relaxed, Acquire));
    is_use_after_free(|| own_count(Release, Relaxed));
    proved(|| own_count(Release, Acquire));
}

/// One thread is done with `shared`, and says so; the other then takes it.
fn handed_over<T: 'static>(value: fn() -> T, order: Ordering, uses: fn(&T), takes: fn(Box<T>)) {
    let (shared, is_done) = (Sent::boxed(value()), Arc::new(AtomicUsize::new(0)));
    let (theirs, done) = (shared.copy(), is_done.clone());
    let user = thread::spawn(move || {
        uses(theirs.get());
        done.store(1, if order == Acquire { Release } else { Relaxed });
    });
    let taker = thread::spawn(move || {
        let shared = shared;
        if is_done.load(order) == 1 {
            takes(shared.take());
        }
    });
    user.join().unwrap();
    taker.join().unwrap();
}

/// Wrong without an order, right with one.
#[track_caller]
fn needs_an_order<T: 'static>(value: fn() -> T, uses: fn(&T), takes: fn(Box<T>)) -> String {
    proved(move || handed_over(value, Acquire, uses, takes));
    refuted(move || handed_over(value, Relaxed, uses, takes))
}

#[test]
fn a_cell_whose_value_is_taken_out() {
    // SAFETY: the checker says so if another thread may have it.
    let writes = |cell: &UnsafeCell<u8>| cell.with_mut(|value| unsafe { *value = 7 });
    let why = needs_an_order(|| UnsafeCell::new(1), writes, |cell| assert_eq!(cell.into_inner(), 7));
    assert!(why.starts_with("use after free: thread 1 writes memory that thread 2 frees or moves away"), "{why}");
    needs_an_order(|| loom::cell::Cell::new(1), |cell| cell.set(7), |cell| assert_eq!(cell.into_inner(), 7));
}

#[test]
fn a_cell_that_was_read() {
    needs_an_order(|| UnsafeCell::new(1), |cell| cell.with(|_| ()), |cell| _ = cell.into_inner());
    needs_an_order(|| UnsafeCell::new(1), |cell| cell.with(|_| ()), drop);
}

#[test]
fn an_atomic_whose_value_is_taken_out() {
    needs_an_order(|| AtomicUsize::new(1), |word| _ = word.load(Relaxed), |word| _ = word.into_inner());
    needs_an_order(|| AtomicUsize::new(1), |word| _ = word.fetch_add(1, AcqRel), drop);
}

#[test]
fn a_lock_whose_value_is_taken_out_or_lent() {
    let why = needs_an_order(|| Mutex::new(1), |lock| *lock.lock().unwrap() = 2, |lock| _ = lock.into_inner());
    assert!(why.starts_with("use after free"), "{why}");
    let lends = |mut lock: Box<Mutex<u8>>| {
        *lock.get_mut().unwrap() = 3;
        std::mem::forget(lock);
    };
    let why = needs_an_order(|| Mutex::new(1), |lock| *lock.lock().unwrap() = 2, lends);
    assert!(why.starts_with("data race") && why.contains("borrows for itself alone"), "{why}");
    needs_an_order(|| RwLock::new(1), |lock| _ = *lock.read().unwrap(), |lock| _ = lock.into_inner());
    needs_an_order(
        || RwLock::new(1),
        |lock| _ = *lock.read().unwrap(),
        |mut lock| {
            _ = lock.get_mut();
            std::mem::forget(lock);
        },
    );
}

#[test]
fn a_lock_that_is_used_after_it_was_lent() {
    let model = |is_late: bool| {
        let mut lock = ManuallyDrop::new(Box::new(Mutex::new(1)));
        let (theirs, flag) = (Sent(&raw mut **lock), Arc::new(AtomicUsize::new(0)));
        let seen = flag.clone();
        let user = thread::spawn(move || {
            if seen.load(if is_late { Acquire } else { Relaxed }) == 1 {
                drop(theirs.get().lock());
            }
        });
        *lock.get_mut().unwrap() = 2;
        flag.store(1, if is_late { Release } else { Relaxed });
        user.join().unwrap();
    };
    proved(move || model(true));
    refuted(move || model(false));
}

/// A value moves out of a box into an `Arc`.
fn moved(waits: bool) {
    let shared = Sent::boxed(AtomicUsize::new(1));
    let theirs = shared.copy();
    let reader = thread::spawn(move || theirs.get().load(Relaxed));
    let take = move || drop(Arc::new(*shared.take()));
    if waits {
        reader.join().unwrap();
        return take();
    }
    take();
    reader.join().unwrap();
}

#[test]
fn a_value_that_moves_while_it_is_read() {
    is_use_after_free(|| moved(false));
    proved(|| moved(true));
}

/// Two threads take the only one.
fn taken_twice(is_swapped: bool) {
    let shared = Arc::new(AtomicPtr::new(Sent::boxed(AtomicUsize::new(1)).0));
    let theirs = shared.clone();
    let take = move |shared: &AtomicPtr<AtomicUsize>| {
        let found = if is_swapped { shared.swap(null_mut(), AcqRel) } else { shared.load(Acquire) };
        if !found.is_null() {
            drop(Sent(found).take());
        }
    };
    let other = thread::spawn(move || take(&theirs));
    take(&shared);
    other.join().unwrap();
}

#[test]
fn a_box_that_is_freed_twice() {
    is_double_free(|| taken_twice(false));
    proved(|| taken_twice(true));
    is_double_free(|| {
        let shared = Sent::boxed(Mutex::new(1));
        drop(shared.copy().take());
        drop(shared.take());
    });
}

/// A slot whose value is dropped in place, and then another one is put there.
fn slot(order: Ordering) {
    let slot = Arc::new((UnsafeCell::new(MaybeUninit::new(AtomicUsize::new(1))), AtomicUsize::new(0)));
    let theirs = slot.clone();
    let reader = thread::spawn(move || {
        // SAFETY: the slot has a value until this thread is done with it. Has it?
        theirs.0.with(|slot| unsafe { (*slot).assume_init_ref() }.load(Relaxed));
        theirs.1.store(1, if order == Acquire { Release } else { Relaxed });
    });
    if slot.1.load(order) == 1 {
        // SAFETY: as above.
        slot.0.with_mut(|slot| unsafe {
            (*slot).assume_init_drop();
            (*slot).write(AtomicUsize::new(2));
        });
    }
    reader.join().unwrap();
}

#[test]
fn a_slot_that_is_emptied_while_it_is_read() {
    refuted(|| slot(Relaxed));
    proved(|| slot(Acquire));
}

/// A pointer into an `Arc`, used without a reference of one's own.
fn pointer_into_arc(keeps: bool) {
    let shared = Arc::new(AtomicUsize::new(1));
    let theirs = shared.clone();
    let other = thread::spawn(move || {
        let pointer = Sent(Arc::as_ptr(&theirs).cast_mut());
        let kept = keeps.then(|| theirs.clone());
        drop(theirs);
        pointer.get().load(Relaxed);
        drop(kept);
    });
    drop(shared);
    other.join().unwrap();
}

#[test]
fn a_pointer_into_an_arc_that_is_not_kept() {
    is_use_after_free(|| pointer_into_arc(false));
    proved(|| pointer_into_arc(true));
}

#[test]
fn what_std_counts_is_not_said_to_be_wrong() {
    proved(|| {
        // The handle is dropped, and with it what the thread returns.
        drop(thread::spawn(|| {
            let word = AtomicUsize::new(1);
            word.store(2, Relaxed);
            word
        }));
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || sender.send(AtomicUsize::new(1)));
        drop(receiver);
    });
}

#[test]
fn the_last_of_an_arc_knows_what_the_others_did() {
    let executions = proved(|| {
        let shared = Arc::new((AtomicUsize::new(0), Mutex::new(0), UnsafeCell::new(0)));
        for _ in 0..2 {
            let theirs = shared.clone();
            thread::spawn(move || {
                theirs.0.load(Relaxed);
                drop(theirs);
            });
        }
        drop(shared);
    });
    assert_eq!(executions, 1, "which one comes last is not looked at");
}
