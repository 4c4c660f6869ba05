//! What is a static in std.

use super::{proved, refuted};
use loom::sync::atomic::AtomicUsize;
use loom::sync::atomic::Ordering::Relaxed;
use loom::thread;
use std::cell::RefCell;

loom::lazy_static! {
    static ref COUNT: AtomicUsize = AtomicUsize::new(5);
    pub static ref OTHER: AtomicUsize = AtomicUsize::new(COUNT.load(Relaxed));
}

loom::thread_local! {
    static MINE: RefCell<u32> = RefCell::new(1);
    static LAST: Tells = Tells;
}

#[test]
fn a_lazy_static_is_made_once_in_each_execution() {
    proved(|| {
        let other = thread::spawn(|| COUNT.fetch_add(1, Relaxed));
        let mine = OTHER.load(Relaxed) + COUNT.fetch_add(1, Relaxed);
        assert!(mine >= 10);
        other.join().unwrap();
        assert_eq!(COUNT.load(Relaxed), 7);
    });
}

#[test]
fn a_thread_local_is_each_threads_own() {
    proved(|| {
        MINE.with(|mine| *mine.borrow_mut() += 1);
        COUNT.load(Relaxed);
        let other = thread::spawn(|| MINE.with(|mine| *mine.borrow() + COUNT.load(Relaxed) as u32));
        assert_eq!(other.join().unwrap(), 6);
        MINE.with(|mine| assert_eq!(*mine.borrow(), 2));
    });
}

struct Tells;

impl Drop for Tells {
    fn drop(&mut self) {
        COUNT.fetch_add(10, Relaxed);
        assert!(LAST.try_with(|_| ()).is_err());
    }
}

#[test]
fn a_thread_local_is_dropped_before_its_thread_is_joined() {
    proved(|| {
        thread::spawn(|| LAST.with(|_| ())).join().unwrap();
        assert_eq!(COUNT.load(Relaxed), 15);
    });
    let why = refuted(|| {
        let _other = thread::spawn(|| LAST.with(|_| ()));
        assert_eq!(COUNT.load(Relaxed), 5, "it is dropped");
    });
    assert!(why.contains("it is dropped") || why.contains("after the model's first thread has ended"), "{why}");
}
