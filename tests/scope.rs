//! Tasks that borrow. A module names the property, a function the situation.

use spinpark::chan::bounded;
use spinpark::{JoinError, Runtime, Wait, scope, spawn, time, yield_now};
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn with_procs(n: usize) -> Runtime {
    Runtime::builder().procs(n).build().expect("a runtime")
}

fn stackful(n: usize) -> Runtime {
    // SAFETY: nothing of a thread is held across a wait here.
    unsafe { Runtime::builder().procs(n).stackful_goroutines() }.build().expect("a runtime")
}

fn deterministic(seed: u64) -> Runtime {
    Runtime::builder().procs(2).deterministic(seed).build().expect("a runtime")
}

/// Adds up in halves, each a task that borrows.
fn sum(numbers: &[u64]) -> u64 {
    if numbers.len() < 4 {
        return numbers.iter().sum();
    }
    let (left, right) = numbers.split_at(numbers.len() / 2);
    let mut left_sum = 0;
    let right_sum = scope(|scope| {
        let right = scope.go(|| sum(right));
        scope.spawn(async {
            yield_now().await;
            left_sum = left.iter().sum();
        });
        right.join().expect("no panic")
    });
    left_sum + right_sum
}

mod what_is_lent {
    use super::*;

    #[test]
    fn is_the_callers_again_after() {
        let runtime = with_procs(2);
        let mut counts = vec![0; 50];
        for round in 1..=20 {
            runtime.scope(|scope| {
                for (n, count) in counts.iter_mut().enumerate() {
                    match n % 2 {
                        0 => drop(scope.go(move || *count += 1)),
                        _ => drop(scope.spawn(async move {
                            yield_now().await;
                            *count += 1;
                        })),
                    }
                }
            });
            assert!(counts.iter().all(|&count| count == round), "{counts:?}");
        }
    }

    #[test]
    fn is_lent_on_by_tasks_on_every_kind_of_stack_and_one_p() {
        let numbers: Vec<u64> = (1..=64).collect();
        for runtime in [with_procs(1), with_procs(2), stackful(1), stackful(2)] {
            assert_eq!(runtime.scope(|scope| scope.go(|| sum(&numbers)).join().expect("no panic")), 2080);
        }
        for seed in 0..5 {
            assert_eq!(deterministic(seed).scope(|scope| scope.go(|| sum(&numbers)).join().expect("no panic")), 2080);
        }
    }

    #[test]
    fn comes_back_in_values() {
        let (runtime, words) = (with_procs(1), vec!["a".to_owned(), "bc".to_owned()]);
        let longest: &str = runtime.scope(|scope| {
            let task =
                scope.spawn(async { words.iter().max_by_key(|word| word.len()).expect("there are some").as_str() });
            task.join().expect("no panic")
        });
        assert_eq!(longest, "bc");
    }

    #[test]
    fn is_awaited_by_another_task_of_the_scope() {
        let runtime = with_procs(1);
        let (owner, kept) = ("text".to_owned(), "kept".to_owned());
        let (text, kept) = (&owner, &kept);
        let length = runtime.scope(|scope| {
            let inner = scope.spawn(async { text.len() + kept.len() - 4 });
            scope.spawn(async move { inner.await.expect("no panic") + text.len() }).join().expect("no panic")
        });
        assert_eq!(length, 8);
    }

    #[test]
    fn is_waited_for_if_a_task_spawns_another() {
        let (runtime, done) = (with_procs(2), AtomicUsize::new(0));
        runtime.scope(|scope| {
            scope.go(|| {
                for _ in 0..10 {
                    scope.spawn(async {
                        time::sleep(MS).await;
                        done.fetch_add(1, SeqCst);
                    });
                }
            });
        });
        assert_eq!(done.load(SeqCst), 10);
    }

    #[test]
    fn may_be_lent_inside_of_a_future() {
        let runtime = with_procs(1);
        let sum = runtime.run(async { spawn(async { sum(&[1, 2, 3, 4, 5, 6, 7, 8]) }).await.expect("no panic") });
        assert_eq!(sum, 36);
    }
}

mod a_panic {
    use super::*;

    #[test]
    fn of_the_closure_waits_for_the_tasks() {
        let (runtime, done) = (with_procs(1), AtomicBool::new(false));
        let caught = catch_unwind(AssertUnwindSafe(|| {
            runtime.scope(|scope| {
                scope.spawn(async {
                    time::sleep(5 * MS).await;
                    done.store(true, SeqCst);
                });
                panic!("out")
            })
        }));
        let payload: Box<dyn std::any::Any + Send> = caught.map(|(): ()| ()).expect_err("it panics");
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"out"));
        assert!(done.load(SeqCst), "the task was left");
    }

    #[test]
    fn of_a_task_is_its_handles() {
        let runtime = with_procs(1);
        let said = runtime.scope(|scope| {
            let tasks = (scope.go(|| -> u8 { panic!("one") }), scope.spawn(async { panic!("two") }));
            let of = |error: JoinError| error.to_string();
            (tasks.0.join().map_err(of), tasks.1.join().map_err(of))
        });
        assert_eq!(said, (Err("task panicked: one".into()), Err::<(), _>("task panicked: two".into())));
    }

    #[test]
    #[should_panic(expected = "a task of a scope panicked")]
    fn of_a_task_that_nobody_asks_is_the_scopes() {
        with_procs(1).scope(|scope| drop(scope.go(|| panic!("unheard"))));
    }

    #[test]
    #[should_panic(expected = "spinpark::scope was called outside of a task")]
    fn is_what_comes_of_no_runtime() {
        scope(|_| ());
    }
}

/// Borrows, and says so if what it borrows is gone.
struct Borrows<'a>(&'a Lender);

struct Lender {
    borrowed: AtomicUsize,
    begun: mpsc::Sender<()>,
}

impl Lender {
    fn new() -> (Lender, mpsc::Receiver<()>) {
        let (begun, told) = mpsc::channel();
        (Lender { borrowed: AtomicUsize::new(0), begun }, told)
    }

    fn lend(&self) -> Borrows<'_> {
        self.borrowed.fetch_add(1, SeqCst);
        Borrows(self)
    }
}

impl Borrows<'_> {
    fn begins(&self) {
        let _ = self.0.begun.send(());
    }
}

impl Drop for Borrows<'_> {
    fn drop(&mut self) {
        self.0.borrowed.fetch_sub(1, SeqCst);
    }
}

/// Counts, after its scope has ended, what is still borrowed.
struct Watches<'a>(&'a Lender, &'a AtomicUsize);

impl Drop for Watches<'_> {
    fn drop(&mut self) {
        self.1.store(1 + self.0.borrowed.load(SeqCst), SeqCst);
    }
}

/// A task with a scope, of which some tasks wait for ever.
fn lends_for_ever(lender: &Lender, after: &AtomicUsize) {
    let _watches = Watches(lender, after);
    scope(|scope| {
        for n in 0..6 {
            let borrows = lender.lend();
            match n % 3 {
                0 => drop(scope.spawn(async move {
                    borrows.begins();
                    pending::<()>().await;
                    drop(borrows);
                })),
                1 => drop(scope.go(move || {
                    borrows.begins();
                    pending::<()>().wait();
                })),
                _ => drop(scope.go(|| {
                    let inner = borrows;
                    spinpark::scope(|nested| {
                        nested.spawn(async { pending::<()>().await });
                        inner.begins();
                    });
                })),
            }
        }
    });
}

/// Tasks of scopes wait for ever, and their runtime ends. What is borrowed when the scope has returned; 1 is nothing.
fn ended_by<R>(runtime: Runtime, end: impl FnOnce(Runtime, &spinpark::JoinHandle<()>) -> R) -> (usize, R) {
    let (lender, begun) = Lender::new();
    let shared = Arc::new((lender, AtomicUsize::new(0)));
    let of_task = Arc::clone(&shared);
    let task = runtime.go(move || lends_for_ever(&of_task.0, &of_task.1));
    for _ in 0..6 {
        begun.recv().expect("they begin");
    }
    thread::sleep(2 * MS);
    let ended = end(runtime, &task);
    for _ in 0..2000 {
        if shared.1.load(SeqCst) != 0 {
            break;
        }
        thread::sleep(MS);
    }
    (shared.1.load(SeqCst), ended)
}

mod an_early_end {
    use super::*;

    #[test]
    fn by_shutdown_leaves_nothing_borrowed() {
        for runtime in [with_procs(1), with_procs(2), stackful(1), stackful(2)] {
            let (left, unstarted) = ended_by(runtime, |runtime, _| runtime.shutdown().expect("not from inside").len());
            assert_eq!((left, unstarted), (1, 0));
        }
    }

    #[test]
    fn by_an_abort_leaves_nothing_borrowed() {
        for procs in [1, 2] {
            let (left, _runtime) = ended_by(stackful(procs), |runtime, task| {
                task.abort();
                runtime
            });
            assert_eq!(left, 1);
        }
    }

    #[test]
    fn by_shutdown_beside_a_task_that_was_not_started_waits_for_it() {
        let runtime = Runtime::builder().procs(1).preemption(false).build().expect("a runtime");
        let (occupy, occupied) = mpsc::channel::<()>();
        let (handle, probe, done) = (runtime.handle(), runtime.handle(), Arc::new(AtomicBool::new(false)));
        let (begin, begun) = mpsc::channel();
        let busy = runtime.go(move || {
            begin.send(()).expect("it is waited for");
            occupied.recv().is_ok()
        });
        begun.recv().expect("it begins");
        let of_thread = Arc::clone(&done);
        let lender = thread::spawn(move || {
            let mut value = 0;
            handle.scope(|scope| drop(scope.spawn(async { value += 1 })));
            of_thread.store(true, SeqCst);
            value
        });
        while !runtime.schedtrace().contains("runqueue=1 ") {
            thread::sleep(MS);
        }
        let closer = thread::spawn(move || runtime.shutdown().expect("not from inside"));
        // One that is dropped at once says that it is closed.
        while !probe.go(|| ()).is_finished() {
            thread::sleep(MS);
        }
        drop(occupy);
        let unstarted = closer.join().expect("no panic");
        assert!(!unstarted.is_empty() && !done.load(SeqCst), "the lender went on");
        unstarted.into_iter().for_each(spinpark::Unstarted::run);
        assert_eq!(lender.join().expect("no panic"), 1);
        assert!(!busy.join().expect("no panic"));
    }

    #[test]
    fn by_its_handle_is_one_tasks() {
        let (runtime, value) = (with_procs(1), 5);
        let ended = runtime.scope(|scope| {
            let waits = scope.spawn(async { pending::<()>().await });
            let works = scope.spawn(async { value });
            waits.abort();
            (matches!(waits.join(), Err(JoinError::Aborted)), works.join().expect("no panic"))
        });
        assert_eq!(ended, (true, 5));
    }

    #[test]
    fn of_the_runtime_before_is_told_by_the_handles() {
        let runtime = with_procs(1);
        let handle = runtime.handle();
        drop(runtime);
        let ended = handle.scope(|scope| scope.go(|| 1).join());
        assert!(matches!(ended, Err(JoinError::ShutDown)), "{ended:?}");
    }
}

#[test]
fn many_scopes_beside_each_other_lose_nothing() {
    for runtime in [with_procs(2), stackful(2)] {
        let (sender, receiver) = bounded::<usize>(8);
        let total = runtime.scope(|outer| {
            for n in 0..8 {
                let sender = sender.clone();
                outer.go(move || {
                    let part = AtomicUsize::new(0);
                    for _ in 0..20 {
                        scope(|inner| {
                            for _ in 0..4 {
                                inner.spawn(async {
                                    yield_now().await;
                                    part.fetch_add(n, SeqCst);
                                });
                            }
                        });
                    }
                    sender.send(part.into_inner()).wait().expect("it is open");
                });
            }
            (0..8).map(|_| receiver.recv().wait().expect("it is open")).sum::<usize>()
        });
        assert_eq!(total, 28 * 80);
    }
}
