//! Addresses as values: a block may lie where one lay that was freed, and a tag in an address stays one.

use super::{proved, refuted};
use loom::model::{Builder, Verdict};
use loom::sync::Arc;
use loom::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use loom::sync::atomic::{AtomicPtr, AtomicUsize};
use loom::thread;
use std::hint::black_box;
use std::ptr::{self, null_mut};

struct Node {
    next: AtomicPtr<Node>,
    _more: AtomicUsize,
}

fn node(next: *mut Node) -> *mut Node {
    Box::into_raw(Box::new(Node { next: AtomicPtr::new(next), _more: AtomicUsize::new(0) }))
}

fn next(node: *mut Node) -> *mut Node {
    // SAFETY: the models keep what another thread may look at.
    unsafe { &*node }.next.load(SeqCst)
}

fn pop(head: &AtomicPtr<Node>) -> *mut Node {
    loop {
        let found = head.load(SeqCst);
        if found.is_null() || head.compare_exchange(found, next(found), SeqCst, SeqCst).is_ok() {
            return found;
        }
    }
}

/// Between a popper's look at the head and its exchange, the head is popped, freed, and another node pushed; nothing is
/// freed while the popper may look at it. With `counts`, it looks until its exchange is done.
fn popped_behind_its_back(counts: bool) {
    let b = node(null_mut());
    let a = node(b);
    let shared = Arc::new((AtomicPtr::new(a), AtomicUsize::new(0)));
    let theirs = shared.clone();
    let popper = thread::spawn(move || {
        theirs.1.fetch_add(1, AcqRel);
        let head = theirs.0.load(SeqCst);
        let behind = if head.is_null() { head } else { next(head) };
        let done = || _ = theirs.1.fetch_sub(1, AcqRel);
        let exchange = || _ = theirs.0.compare_exchange(head, behind, SeqCst, SeqCst);
        match (head.is_null(), counts) {
            (true, _) => done(),
            (false, true) => {
                exchange();
                done();
            }
            (false, false) => {
                done();
                exchange();
            }
        }
    });
    let (x, y) = (pop(&shared.0), pop(&shared.0));
    if x == a && y == b && shared.1.fetch_add(0, AcqRel) == 0 {
        // SAFETY: it was popped, and no thread looks at it.
        drop(unsafe { Box::from_raw(x) });
        let c = node(null_mut());
        if shared.0.compare_exchange(null_mut(), c, SeqCst, SeqCst).is_ok() {
            popper.join().unwrap();
            assert_ne!(shared.0.load(SeqCst), b, "b is handed out, and on the stack");
        }
    }
}

#[test]
fn a_stack_whose_node_comes_again() {
    let why = refuted(|| popped_behind_its_back(false));
    assert!(why.contains("b is handed out"), "{why}");
    proved(|| popped_behind_its_back(true));
    let mut without = Builder::new();
    without.reuse = 0;
    assert_eq!(without.outcome_of(|| popped_behind_its_back(false)).verdict, Verdict::Proved);
}

/// The same by another thread: one frees, another allocates, and nothing but the allocator orders the two.
fn freed_here_allocated_there(is_tagged: bool) {
    let first = Box::into_raw(Box::new(0_u64));
    let word = Arc::new(AtomicUsize::new(first.expose_provenance()));
    let seen = word.load(Acquire);
    let (theirs, others) = (word.clone(), word.clone());
    let freer = thread::spawn(move || {
        let old = theirs.swap(0, AcqRel);
        // SAFETY: only this thread takes it.
        drop(unsafe { Box::from_raw(ptr::with_exposed_provenance_mut::<u64>(old)) });
    });
    let allocator = thread::spawn(move || {
        let new = Box::into_raw(Box::new(1_u64)).expose_provenance();
        let tag = usize::from(is_tagged);
        let is_in = others.compare_exchange(0, new | tag, AcqRel, Relaxed).is_ok();
        (new, is_in)
    });
    freer.join().unwrap();
    let (new, is_in) = allocator.join().unwrap();
    assert!(!is_in || word.load(Acquire) != seen, "the word has the same value again");
    // SAFETY: no other thread has it.
    drop(unsafe { Box::from_raw(ptr::with_exposed_provenance_mut::<u64>(new)) });
}

#[test]
fn a_block_that_one_thread_frees_and_another_gets() {
    let why = refuted(|| freed_here_allocated_there(false));
    assert!(why.contains("the same value again"), "{why}");
    proved(|| freed_here_allocated_there(true));
}

/// A flag in the low bit of an address.
#[test]
fn a_tag_in_the_low_bit() {
    proved(|| {
        let value = Box::into_raw(Box::new(AtomicUsize::new(7)));
        let word = Arc::new(AtomicUsize::new(value.expose_provenance()));
        let theirs = word.clone();
        let other = thread::spawn(move || _ = theirs.fetch_or(1, Release));
        let found = word.load(Acquire);
        let untagged = ptr::with_exposed_provenance_mut::<AtomicUsize>(found & !1);
        assert_eq!(untagged, value);
        // SAFETY: it is not freed yet.
        assert_eq!(unsafe { &*untagged }.load(Relaxed), 7);
        other.join().unwrap();
        assert_eq!(word.load(Relaxed), value.addr() | 1);
        // SAFETY: no other thread has it.
        drop(unsafe { Box::from_raw(value) });
    });
}

/// A count in the high bits of one.
#[test]
fn a_count_above_the_address() {
    let counted = |address: *mut u64, count: u64| address.expose_provenance() as u64 | count << 48;
    let shifted = |address: *mut u64, count: u64| (address.expose_provenance() as u64) << 16 | count;
    for pack in [counted as fn(*mut u64, u64) -> u64, shifted] {
        let executions = proved(move || {
            let [a, b] = [1, 2].map(|value| Box::into_raw(Box::new(value)));
            let word = Arc::new(loom::sync::atomic::AtomicU64::new(pack(a, 1)));
            let theirs = word.clone();
            let (a, b) = (a.expose_provenance(), b.expose_provenance());
            let at = ptr::with_exposed_provenance_mut::<u64>;
            let other = thread::spawn(move || theirs.compare_exchange(pack(at(a), 1), pack(at(b), 2), AcqRel, Relaxed));
            let found = word.load(Acquire);
            assert!(found == pack(at(a), 1) || found == pack(at(b), 2));
            other.join().unwrap().unwrap();
            // SAFETY: no other thread has them.
            [a, b].into_iter().for_each(|value| drop(unsafe { Box::from_raw(at(value)) }));
        });
        assert_eq!(executions, 2);
    }
}

#[test]
fn a_tag_in_an_atomic_pointer() {
    proved(|| {
        let value = Box::into_raw(Box::new(AtomicUsize::new(7)));
        let word = Arc::new(AtomicPtr::new(value.map_addr(|address| address | 1)));
        let theirs = word.clone();
        let other = thread::spawn(move || {
            let found = theirs.load(Acquire);
            theirs.compare_exchange(found, found.map_addr(|address| address & !1), AcqRel, Relaxed).unwrap();
        });
        let found = word.load(Acquire).map_addr(|address| address & !1);
        // SAFETY: it is not freed yet.
        assert_eq!(unsafe { &*found }.load(Relaxed), 7);
        other.join().unwrap();
        assert_eq!(word.load(Relaxed), value);
        // SAFETY: no other thread has it.
        drop(unsafe { Box::from_raw(value) });
    });
}

#[test]
fn a_block_that_comes_again_as_often_as_the_model_says() {
    let executions = |reuse: u16| {
        let mut builder = Builder::new();
        builder.reuse = reuse;
        let outcome = builder.outcome_of(|| {
            let word = AtomicUsize::new(0);
            for _ in 0..3 {
                let block = Box::new(0_u64);
                word.store(ptr::from_ref(&*block).expose_provenance(), Relaxed);
            }
        });
        assert_eq!(outcome.verdict, Verdict::Proved);
        outcome.executions
    };
    // The second may lie where the first did; the third where either did, if the second does not lie where the first did.
    assert_eq!([0, 1, 2].map(executions), [1, 4, 5]);
}

#[test]
fn the_counts_do_not_depend_on_how_many_explore() {
    let outcomes = [1, 3].map(|jobs| {
        let mut builder = Builder::new();
        builder.jobs = jobs;
        let outcome = builder.outcome_of(|| popped_behind_its_back(true));
        (outcome.verdict, outcome.executions)
    });
    assert_eq!(outcomes[0], outcomes[1]);
}

/// A block that is freed as bytes, with an atomic in it.
fn freed_as_bytes(waits: bool) {
    let layout = loom::alloc::Layout::new::<AtomicUsize>();
    // SAFETY: the layout is the atomic's.
    let block = unsafe { loom::alloc::alloc(layout) };
    let word = block.cast::<AtomicUsize>();
    // SAFETY: as above.
    unsafe { word.write(AtomicUsize::new(1)) };
    let address = word.expose_provenance();
    // SAFETY: it may be freed. That is what is found.
    let reader = thread::spawn(move || unsafe { &*ptr::with_exposed_provenance::<AtomicUsize>(address) }.load(Relaxed));
    let mut reader = Some(reader);
    if waits {
        reader.take().map(thread::JoinHandle::join);
    }
    // SAFETY: the layout is that with which it was allocated.
    unsafe { loom::alloc::dealloc(block, layout) };
    reader.map(thread::JoinHandle::join);
}

#[test]
fn a_block_whose_object_is_not_dropped() {
    let why = refuted(|| freed_as_bytes(false));
    assert!(why.starts_with("use after free"), "{why}");
    proved(|| freed_as_bytes(true));
}

#[test]
fn a_block_that_is_freed_twice() {
    let why = refuted(|| {
        let block = black_box(Box::into_raw(Box::new([7_u64; 5])));
        // SAFETY: it is not safe. That is what is found.
        unsafe { [drop(Box::from_raw(block)), drop(Box::from_raw(block))] };
    });
    assert!(why.starts_with("double free"), "{why}");
}

#[test]
fn a_value_that_was_moved_lives_on() {
    proved(|| {
        let boxed = Box::new(AtomicUsize::new(1));
        boxed.store(2, Relaxed);
        let moved = *boxed;
        assert_eq!(moved.load(Relaxed), 2);
        let mut words = vec![moved];
        for n in 0..5 {
            words.push(AtomicUsize::new(n));
            words[0].fetch_add(1, Relaxed);
        }
        assert_eq!(words[0].load(Relaxed), 7);
    });
}

#[test]
fn a_leak_by_choice() {
    fn shares(f: fn(Box<u32>)) {
        let word = Arc::new(AtomicUsize::new(0));
        let theirs = word.clone();
        let other = thread::spawn(move || theirs.store(1, Relaxed));
        word.load(Relaxed);
        other.join().unwrap();
        f(black_box(Box::new(7)));
    }
    let leaks = || shares(std::mem::forget);
    proved(leaks);
    let mut builder = Builder::new();
    builder.leaks = true;
    let why = builder.outcome_of(leaks).verdict.to_string();
    assert!(why.contains("Allocation leaked: 1 blocks are not freed, one of 4 bytes"), "{why}");
    assert_eq!(builder.outcome_of(|| shares(drop)).verdict, Verdict::Proved);
}
