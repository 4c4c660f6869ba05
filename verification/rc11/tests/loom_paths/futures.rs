//! Futures, driven by a thread.

use super::{proved, refuted};
use loom::future::{AtomicWaker, block_on};
use loom::sync::Arc;
use loom::sync::atomic::AtomicBool;
use loom::sync::atomic::Ordering::{Acquire, Release};
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
