//! Futures, driven by a thread.

use super::{proved, refuted};
use loom::future::{AtomicWaker, block_on};
use loom::sync::Arc;
use loom::sync::atomic::AtomicBool;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::thread;
use std::future::poll_fn;
use std::task::Poll;

fn waits_for_a_flag(registers_first: bool) {
    let shared = Arc::new((AtomicWaker::new(), AtomicBool::new(false)));
    let theirs = shared.clone();
    let other = thread::spawn(move || {
        theirs.1.store(true, Release);
        theirs.0.wake();
    });
    block_on(poll_fn(|context| {
        if registers_first {
            shared.0.register_by_ref(context.waker());
        }
        if shared.1.load(Acquire) {
            return Poll::Ready(());
        }
        if !registers_first {
            shared.0.register_by_ref(context.waker());
        }
        Poll::Pending
    }));
    other.join().unwrap();
}

#[test]
fn who_registers_first_is_woken() {
    proved(|| waits_for_a_flag(true));
}

#[test]
fn who_looks_first_may_sleep_for_ever() {
    let why = refuted(|| waits_for_a_flag(false));
    assert!(why.starts_with("deadlock"), "{why}");
}

/// Its memory is freed by the other thread, which nothing tells that this one has stopped waiting, but std's count.
#[test]
fn a_waker_may_be_dropped_after_all_is_over() {
    proved(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let mut other = None;
        block_on(poll_fn(|cx| {
            if flag.load(Relaxed) {
                return Poll::Ready(());
            }
            other.get_or_insert_with(|| {
                let (theirs, waker) = (flag.clone(), cx.waker().clone());
                thread::spawn(move || {
                    waker.wake_by_ref();
                    theirs.store(true, Relaxed);
                    waker.wake();
                })
            });
            Poll::Pending
        }));
        other.unwrap().join().unwrap();
    });
}
