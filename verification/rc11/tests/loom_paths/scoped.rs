//! Threads that borrow, and handles that are asked.

use super::{Memory, proved, refuted};
use loom::sync::Mutex;
use loom::sync::atomic::AtomicUsize;
use loom::sync::atomic::Ordering::Relaxed;
use loom::thread;

#[test]
fn threads_borrow_and_have_ended_after_their_scope() {
    proved(|| {
        let (sum, mut count, list) = (AtomicUsize::new(0), 0, vec![1, 2]);
        let found = thread::scope(|scope| {
            let one = scope.spawn(|| list.iter().sum::<usize>());
            scope.spawn(|| sum.fetch_add(list.len(), Relaxed));
            count += 1;
            one.join().unwrap()
        });
        assert_eq!((found, sum.load(Relaxed), count), (3, 2, 1));
    });
    let why = refuted(|| {
        let sum = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| sum.fetch_add(1, Relaxed));
            assert_eq!(sum.load(Relaxed), 1, "the scope has not ended yet");
        });
    });
    assert!(why.contains("the scope has not ended yet"), "{why}");
}

#[test]
fn two_threads_of_a_scope_are_not_ordered() {
    let add = |shared: &Memory| shared.write(shared.read() + 1);
    let twice = move |joins: bool| {
        let shared = Memory::default();
        thread::scope(|scope| {
            let one = scope.spawn(|| add(&shared));
            if joins {
                one.join().unwrap();
            }
            scope.spawn(|| add(&shared));
        });
        assert_eq!(shared.read(), 2);
    };
    proved(move || twice(true));
    assert!(refuted(move || twice(false)).contains("race"));
}

#[test]
fn threads_of_a_scope_start_others_in_it() {
    let executions = proved(|| {
        let count = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    scope.spawn(|| count.fetch_add(1, Relaxed));
                });
            }
        });
        assert_eq!(count.load(Relaxed), 2);
    });
    assert_eq!(executions, 2);
}

#[test]
fn a_thread_may_be_joined_by_another_of_its_scope() {
    proved(|| {
        let count = AtomicUsize::new(0);
        thread::scope(|scope| {
            let one = thread::Builder::new().name("one".to_owned());
            let one = one.spawn_scoped(scope, || count.fetch_add(1, Relaxed)).unwrap();
            assert_eq!(one.thread().name(), Some("one"));
            scope.spawn(|| {
                one.join().unwrap();
                assert_eq!(count.load(Relaxed), 1);
            });
        });
    });
}

#[test]
fn a_panic_in_a_scope_is_that_of_the_model() {
    let why = refuted(|| {
        let lock = Mutex::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *lock.lock().unwrap() += 1);
            assert_eq!(*lock.lock().unwrap(), 1, "not yet");
        });
    });
    assert!(why.contains("not yet"), "{why}");
}

#[test]
fn threads_of_a_scope_that_wait_for_each_other_are_a_deadlock() {
    let why = refuted(|| {
        let locks = [Mutex::new(()), Mutex::new(())];
        thread::scope(|scope| {
            for n in 0..2 {
                let locks = &locks;
                scope.spawn(move || {
                    let _one = locks[n].lock().unwrap();
                    let _two = locks[1 - n].lock().unwrap();
                });
            }
        });
    });
    assert!(why.starts_with("deadlock"), "{why}");
}

#[test]
fn a_thread_has_finished_or_not_until_it_is_joined() {
    for expected in [true, false] {
        let why = refuted(move || {
            let other = thread::spawn(|| 5);
            assert_ne!(other.is_finished(), expected, "as expected");
            assert_eq!(other.join().unwrap(), 5);
        });
        assert!(why.contains("as expected"), "{why}");
    }
    // That it has finished gives no order: `join` does.
    let after = |joins: bool| {
        let count = loom::sync::Arc::new(AtomicUsize::new(0));
        let theirs = count.clone();
        let other = thread::spawn(move || theirs.store(1, Relaxed));
        if other.is_finished() && !joins {
            assert_eq!(count.load(Relaxed), 1, "no order");
        }
        other.join().unwrap();
        assert_eq!(count.load(Relaxed), 1);
    };
    proved(move || after(true));
    assert!(refuted(move || after(false)).contains("no order"));
}
