//! Pointers: a Treiber stack, whose nodes are elsewhere in each play.

use super::{proved, refuted};
use loom::alloc::Track;
use loom::sync::Arc;
use loom::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use loom::sync::atomic::{AtomicPtr, Ordering};
use loom::thread;
use std::ptr;

struct Node {
    value: loom::cell::UnsafeCell<u32>,
    next: *mut Node,
    _tracked: Track<()>,
}

struct Stack {
    head: AtomicPtr<Node>,
    push: Ordering,
}

impl Stack {
    fn push(&self, value: u32) {
        let next = ptr::null_mut();
        let node = Box::new(Node { value: loom::cell::UnsafeCell::new(value), next, _tracked: Track::new(()) });
        let node = Box::into_raw(node);
        let mut head = self.head.load(Relaxed);
        loop {
            // SAFETY: the node is not shared yet.
            unsafe { (*node).next = head };
            match self.head.compare_exchange(head, node, self.push, Relaxed) {
                Ok(_) => return,
                Err(found) => head = found,
            }
        }
    }

    /// One popper at a time: the popper frees.
    fn pop(&self) -> Option<u32> {
        let mut head = self.head.load(Acquire);
        loop {
            if head.is_null() {
                return None;
            }
            // SAFETY: only this thread frees nodes.
            let next = unsafe { (*head).next };
            match self.head.compare_exchange(head, next, AcqRel, Acquire) {
                // SAFETY: the node is this thread's now.
                Ok(_) => return Some(unsafe { Box::from_raw(head) }.value.with(|value| unsafe { *value })),
                Err(found) => head = found,
            }
        }
    }
}

fn pushed_and_popped(push: Ordering, pops: u32) {
    let stack = Arc::new(Stack { head: AtomicPtr::default(), push });
    let pushers: Vec<_> = (1..3)
        .map(|value| {
            let stack = stack.clone();
            thread::spawn(move || stack.push(value))
        })
        .collect();
    let mut sum = stack.pop().unwrap_or(0);
    pushers.into_iter().for_each(|pusher| pusher.join().unwrap());
    for _ in 0..pops {
        sum += stack.pop().unwrap_or(0);
    }
    if pops == 2 {
        assert_eq!(sum, 3);
    }
}

#[test]
fn a_stack() {
    proved(|| pushed_and_popped(Release, 2));
}

#[test]
fn a_stack_that_publishes_nothing() {
    let why = refuted(|| pushed_and_popped(Relaxed, 2));
    assert!(why.starts_with("data race") || why.starts_with("uninitialised"), "{why}");
}

#[test]
fn a_stack_that_is_not_emptied() {
    let why = refuted(|| pushed_and_popped(Release, 0));
    assert!(why.starts_with("Tracked value leaked: made at "), "{why}");
}

#[test]
fn two_threads_bring_the_same_address() {
    let executions = proved(|| {
        let value = Box::into_raw(Box::new(7));
        let shared = Arc::new((AtomicPtr::new(ptr::null_mut()), AtomicPtr::new(value)));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            let seen = theirs.1.load(Relaxed);
            theirs.0.compare_exchange(ptr::null_mut(), seen, Relaxed, Relaxed).is_ok()
        });
        let mine = shared.0.compare_exchange(ptr::null_mut(), value, Relaxed, Relaxed);
        let is_theirs = other.join().unwrap();
        assert!(is_theirs != mine.is_ok());
        assert_eq!(shared.0.load(Relaxed), value);
        if let Err(found) = mine {
            assert_eq!(found, value);
        }
        // SAFETY: no thread has it any more.
        drop(unsafe { Box::from_raw(value) });
    });
    assert_eq!(executions, 2);
}

#[test]
fn a_node_that_is_used_after_it_was_freed() {
    let why = refuted(|| {
        let node = Box::into_raw(Box::new(loom::sync::atomic::AtomicU32::new(1)));
        let shared = Arc::new(AtomicPtr::new(node));
        let theirs = shared.clone();
        let reader = thread::spawn(move || {
            let node = theirs.load(Acquire);
            if !node.is_null() {
                // SAFETY: it is not safe. That is what is found.
                unsafe { (*node).load(Relaxed) };
            }
        });
        let node = shared.swap(ptr::null_mut(), AcqRel);
        // SAFETY: it is this thread's; but the other may be looking at it.
        drop(unsafe { Box::from_raw(node) });
        reader.join().unwrap();
    });
    assert!(why.starts_with("use after free"), "{why}");
}
