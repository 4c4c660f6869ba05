//! Bad use is told with its cause, and what to do about it.

use super::refuted;
use loom::sync::Arc;
use loom::sync::atomic::AtomicUsize;
use loom::sync::atomic::Ordering::Relaxed;
use loom::thread;
use std::sync::OnceLock;

#[test]
#[should_panic(expected = "used outside of a model, or by a thread that the model does not know. Make it inside")]
fn a_location_that_is_made_outside_of_a_model() {
    let _ = AtomicUsize::new(0);
}

#[test]
fn a_thread_of_stds() {
    let why = refuted(|| {
        let word = Arc::new(AtomicUsize::new(0));
        let result = std::thread::scope(|scope| scope.spawn(|| word.load(Relaxed)).join());
        let text = result.unwrap_err().downcast::<String>().unwrap();
        panic!("{text}");
    });
    assert!(why.contains("start threads by `thread::spawn` of this crate"), "{why}");
}

#[test]
fn a_location_of_another_execution() {
    static WORD: OnceLock<AtomicUsize> = OnceLock::new();
    let why = refuted(|| {
        let word = WORD.get_or_init(|| AtomicUsize::new(0));
        let theirs = thread::spawn(move || word.store(1, Relaxed));
        word.load(Relaxed);
        theirs.join().unwrap();
    });
    assert!(why.contains("an object of another execution is used") && why.contains("inside of its closure"), "{why}");
}

#[test]
fn an_atomic_of_stds_by_which_a_thread_decides() {
    static PLAYS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let why = refuted(|| {
        let word = Arc::new(AtomicUsize::new(0));
        let theirs = word.clone();
        let other = thread::spawn(move || theirs.store(PLAYS.fetch_add(1, Relaxed), Relaxed));
        word.load(Relaxed);
        other.join().unwrap();
    });
    assert!(why.starts_with("the model is not deterministic") && why.contains("std's atomics"), "{why}");
}

#[test]
fn a_thread_that_never_ends() {
    let why = refuted(|| _ = thread::spawn(thread::park));
    assert!(why.contains("the main thread has ended, but thread 1 wait for ever"), "{why}");
}

#[test]
fn too_many_threads() {
    let why = refuted(|| {
        let threads: Vec<_> = (0..loom::MAX_THREADS).map(|_| thread::spawn(|| ())).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert_eq!(why, "more than 16 threads in one execution");
}
