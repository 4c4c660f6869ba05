//! What happens once, also in a `static`.

use super::{Memory, proved, refuted};
use loom::sync::atomic::AtomicUsize;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::sync::{Arc, LazyLock, Mutex, Once, OnceLock};
use loom::thread;

#[test]
fn of_two_calls_one_runs_and_both_know_what_it_did() {
    let executions = proved(|| {
        let shared = Arc::new((Once::new(), Memory::default(), AtomicUsize::new(0)));
        let call = |(once, value, runs): &(Once, Memory, AtomicUsize)| {
            once.call_once(|| {
                runs.fetch_add(1, Relaxed);
                value.write(7);
            });
            assert_eq!(value.read(), 7);
        };
        let theirs = shared.clone();
        let other = thread::spawn(move || call(&theirs));
        call(&shared);
        other.join().unwrap();
        assert_eq!(shared.2.load(Relaxed), 1);
    });
    assert_eq!(executions, 2);
}

#[test]
fn two_threads_that_only_wait_for_a_call_are_not_ordered() {
    let twice = |hands_over: bool| {
        let shared = Arc::new((Once::new(), Memory::default(), AtomicUsize::new(0)));
        let [first, second] = [shared.clone(), shared.clone()];
        shared.0.call_once(|| ());
        let first = thread::spawn(move || {
            let (once, value, flag) = &*first;
            value.write(1);
            once.call_once(|| ());
            flag.store(1, if hands_over { Release } else { Relaxed });
        });
        let second = thread::spawn(move || {
            let (once, value, flag) = &*second;
            if flag.load(Acquire) == 1 {
                once.call_once(|| ());
                value.read();
            }
        });
        first.join().unwrap();
        second.join().unwrap();
    };
    proved(move || twice(true));
    assert!(refuted(move || twice(false)).contains("race"));
}

#[test]
fn a_flag_is_no_once() {
    let why = refuted(|| {
        let shared = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let call = |(is_done, runs): &(AtomicUsize, AtomicUsize)| {
            if is_done.load(Acquire) == 0 {
                runs.fetch_add(1, Relaxed);
                is_done.store(1, Release);
            }
        };
        let theirs = shared.clone();
        let other = thread::spawn(move || call(&theirs));
        call(&shared);
        other.join().unwrap();
        assert_eq!(shared.1.load(Relaxed), 1, "it ran twice");
    });
    assert!(why.contains("it ran twice"), "{why}");
}

#[test]
fn a_call_from_inside_of_the_call_never_ends() {
    let why = refuted(|| {
        let once = Once::new();
        once.call_once(|| once.call_once(|| ()));
    });
    assert!(why.starts_with("deadlock"), "{why}");
}

#[test]
fn a_lock_that_is_set_once_has_one_of_the_values() {
    proved(|| {
        let lock = Arc::new(OnceLock::new());
        let theirs = lock.clone();
        let other = thread::spawn(move || theirs.set("theirs".to_owned()).is_ok());
        let mine = lock.set("mine".to_owned()).is_ok();
        assert_ne!(mine, other.join().unwrap());
        assert_eq!(lock.get().map(String::as_str), Some(if mine { "mine" } else { "theirs" }));
    });
    let why = refuted(|| {
        let lock = Arc::new(OnceLock::new());
        let theirs = lock.clone();
        let other = thread::spawn(move || theirs.set(1));
        assert_eq!(lock.get(), Some(&1), "it is not there yet");
        other.join().unwrap().unwrap();
    });
    assert!(why.contains("it is not there yet"), "{why}");
}

#[test]
fn what_was_done_before_a_value_is_set_is_known_with_it() {
    let publish = |sets_first: bool| {
        let shared = Arc::new((OnceLock::new(), Memory::default()));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            let (lock, value) = &*theirs;
            if sets_first {
                lock.set(()).unwrap();
            }
            value.write(1);
            let _ = lock.set(());
        });
        if shared.0.get().is_some() {
            shared.1.read();
        }
        other.join().unwrap();
    };
    proved(move || publish(false));
    assert!(refuted(move || publish(true)).contains("race"));
}

#[test]
fn a_wait_ends_when_the_value_is_there() {
    proved(|| {
        let lock = Arc::new(OnceLock::new());
        let theirs = lock.clone();
        let other = thread::spawn(move || theirs.set(3).unwrap());
        assert_eq!(*lock.wait(), 3);
        other.join().unwrap();
    });
    assert!(refuted(|| drop(OnceLock::<u32>::new().wait().to_string())).starts_with("deadlock"));
}

#[test]
fn a_value_may_be_changed_and_taken_out_by_its_owner() {
    proved(|| {
        let mut lock = OnceLock::from(vec![1]);
        lock.get_mut().unwrap().push(2);
        assert_eq!(lock.take(), Some(vec![1, 2]));
        assert_eq!((lock.get(), lock.get_or_init(Vec::new).len()), (None, 0));
        assert_eq!(lock.clone().into_inner(), Some(vec![]));
    });
}

/// Its destructor tells.
struct Told(Arc<AtomicUsize>);

impl Drop for Told {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

#[test]
fn a_value_is_dropped_with_its_lock_wherever_that_has_moved() {
    proved(|| {
        let told = Arc::new(AtomicUsize::new(0));
        let lock = OnceLock::from(Told(told.clone()));
        let moved = Box::new([lock]);
        let theirs = thread::spawn(move || moved[0].get().is_some());
        assert!(theirs.join().unwrap());
        assert_eq!(told.load(Relaxed), 1);
    });
}

static COUNT: LazyLock<AtomicUsize> = LazyLock::new(|| AtomicUsize::new(5));
static NAMES: LazyLock<Mutex<Vec<u32>>> = LazyLock::new(|| Mutex::new(vec![COUNT.load(Relaxed) as u32]));
static FIRST: OnceLock<Arc<usize>> = OnceLock::new();
static ONCE: Once = Once::new();

#[test]
fn a_lazy_value_in_a_static_is_new_in_each_execution() {
    proved(|| {
        let other = thread::spawn(|| NAMES.lock().unwrap().push(1));
        NAMES.lock().unwrap().push(2);
        COUNT.fetch_add(1, Relaxed);
        other.join().unwrap();
        let mut names = NAMES.lock().unwrap().clone();
        names[1..].sort_unstable();
        assert!(matches!(names[..], [5 | 6, 1, 2]), "{names:?}");
        assert_eq!(COUNT.load(Relaxed), 6);
    });
}

#[test]
fn a_static_is_told_apart_by_two_models_at_once() {
    let model = || {
        proved(|| {
            let other = thread::spawn(|| COUNT.fetch_add(1, Relaxed));
            COUNT.fetch_add(1, Relaxed);
            ONCE.call_once(|| assert!(COUNT.fetch_add(1, Relaxed) >= 5));
            other.join().unwrap();
            assert_eq!(COUNT.load(Relaxed), 8);
        })
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (0..3).map(|_| scope.spawn(model)).collect();
        let mine = model();
        assert!(others.into_iter().all(|other| other.join().unwrap() == mine));
    });
}

#[test]
fn what_is_in_a_static_is_no_leak() {
    proved(|| {
        let other = thread::spawn(|| FIRST.set(Arc::new(1)).is_ok());
        let mine = FIRST.set(Arc::new(2)).is_ok();
        assert_ne!(mine, other.join().unwrap());
        assert_eq!(**FIRST.get().unwrap(), if mine { 2 } else { 1 });
    });
}

/// Its destructor uses a static.
struct Counts;

impl Drop for Counts {
    fn drop(&mut self) {
        COUNT.fetch_add(1, Relaxed);
    }
}

loom::thread_local! {
    static LAST: Counts = Counts;
}

#[test]
fn a_static_outlives_the_thread_locals_of_the_main_thread() {
    proved(|| {
        assert_eq!(COUNT.load(Relaxed), 5);
        LAST.with(|_| ());
    });
}

#[test]
fn locks_that_threads_make_for_themselves_are_not_mixed_up() {
    proved(|| {
        let [a, b] = [1, 2].map(|n| {
            thread::spawn(move || {
                let locks = [OnceLock::new(), OnceLock::new()];
                assert_eq!(COUNT.load(Relaxed), 5);
                locks[1].set(n).unwrap();
                locks[0].set(n + 10).unwrap();
                locks.map(|lock| lock.into_inner().unwrap())
            })
        });
        let [a, b] = [a, b].map(|thread| thread.join().unwrap());
        assert_eq!((a, b), ([11, 1], [12, 2]));
    });
}

#[test]
fn each_of_two_statics_keeps_its_place_in_each_order_of_first_uses() {
    static A: OnceLock<usize> = OnceLock::new();
    static B: OnceLock<usize> = OnceLock::new();
    proved(|| {
        let flag = Arc::new(AtomicUsize::new(0));
        let theirs = flag.clone();
        let other = thread::spawn(move || {
            if theirs.load(Acquire) == 1 {
                assert!(A.get().is_none() || A.get() == Some(&1));
                B.set(2).unwrap();
            } else {
                B.set(3).unwrap();
                A.get_or_init(|| 4);
            }
        });
        let a = *A.get_or_init(|| 1);
        flag.store(1, Release);
        let b = B.get().copied();
        assert!([1, 4].contains(&a) && [None, Some(2), Some(3)].contains(&b));
        other.join().unwrap();
    });
}
