//! Task-local values. A module names the property, a function the situation.

use spinpark::chan::bounded;
use spinpark::{Runtime, Wait, go, spawn, task_local, time, yield_now};
use std::cell::{Cell, RefCell};
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

task_local! {
    /// A number.
    static NUMBER: u32;
    pub(crate) static NAME: String;
    static COUNT: Cell<u32>
}

fn with_procs(n: usize) -> Runtime {
    Runtime::builder().procs(n).build().expect("a runtime")
}

fn stackful(n: usize) -> Runtime {
    // SAFETY: nothing of a thread is held across a wait here.
    unsafe { Runtime::builder().procs(n).stackful_goroutines() }.build().expect("a runtime")
}

mod a_value {
    use super::*;

    #[test]
    fn is_there_on_whichever_thread_its_task_is() {
        let runtime = with_procs(2);
        let tasks: Vec<_> = (0..50)
            .map(|n| {
                runtime.spawn(NUMBER.scope(n, async move {
                    for round in 0..20 {
                        assert_eq!(NUMBER.get(), n);
                        if round % 5 == 0 { time::sleep(MS / 10).await } else { yield_now().await }
                    }
                    NUMBER.get()
                }))
            })
            .collect();
        let sum: u32 = tasks.into_iter().map(|task| task.join().expect("no panic")).sum();
        assert_eq!(sum, (0..50).sum());
    }

    #[test]
    fn is_not_there_for_others() {
        let runtime = with_procs(1);
        let (inside, spawned, after) = runtime.run(async {
            let inside =
                NUMBER.scope(1, async { (NUMBER.get(), spawn(async { NUMBER.try_with(|n| *n).ok() }).await) }).await;
            (inside.0, inside.1.expect("no panic"), NUMBER.try_with(|n| *n).is_err())
        });
        assert_eq!((inside, spawned, after), (1, None, true));
    }

    #[test]
    fn is_hidden_by_an_inner_one_and_comes_back() {
        let seen = NUMBER.sync_scope(1, || {
            let inner = NUMBER.sync_scope(2, || NAME.sync_scope("b".into(), || (NUMBER.get(), NAME.get())));
            (NUMBER.get(), inner, NAME.try_with(|_| ()).is_err())
        });
        assert_eq!(seen, (1, (2, "b".to_owned()), true));
    }

    #[test]
    fn is_used_while_it_is_used() {
        let seen = NUMBER.sync_scope(1, || NUMBER.with(|one| NUMBER.sync_scope(2, || NUMBER.with(|two| one + two))));
        assert_eq!(seen, 3);
    }

    #[test]
    fn need_not_be_shared_between_threads() {
        let count = with_procs(2).run(spawn_counting());
        assert_eq!(count, 10);
    }

    async fn spawn_counting() -> u32 {
        let task = COUNT.scope(Cell::new(0), async {
            for _ in 0..10 {
                COUNT.with(|count| count.set(count.get() + 1));
                yield_now().await;
            }
            COUNT.with(Cell::get)
        });
        spawn(task).await.expect("no panic")
    }

    #[test]
    fn is_there_while_its_future_is_dropped() {
        struct Looks(Arc<Mutex<Option<u32>>>);
        impl Drop for Looks {
            fn drop(&mut self) {
                *self.0.lock().expect("no panic") = NUMBER.try_with(|n| *n).ok();
            }
        }
        let (runtime, seen) = (with_procs(1), Arc::new(Mutex::new(None)));
        let looks = Looks(Arc::clone(&seen));
        let task = runtime.spawn(NUMBER.scope(5, async move {
            let _looks = looks;
            pending::<()>().await;
        }));
        thread::sleep(2 * MS);
        task.abort();
        assert!(task.join().is_err());
        assert_eq!(*seen.lock().expect("no panic"), Some(5));
    }

    #[test]
    fn is_gone_after_a_panic() {
        let runtime = with_procs(1);
        assert!(runtime.spawn(NUMBER.scope(1, async { panic!("oh") })).join().is_err());
        assert!(runtime.go(|| NUMBER.sync_scope(1, || panic!("oh"))).join().is_err());
        assert!(runtime.go(|| NUMBER.try_with(|_| ()).is_err()).join().expect("no panic"));
    }

    #[test]
    fn can_be_taken_out_of_its_future() {
        let mut future = Box::pin(NUMBER.scope(6, async { NUMBER.try_get().ok() }));
        assert_eq!(future.as_mut().take_value(), Some(6));
        assert_eq!(future.as_mut().take_value(), None);
        assert_eq!(with_procs(1).run(future.as_mut()), None, "it is set no more");
        let mut over = Box::pin(NUMBER.scope(7, async { NUMBER.try_get() }));
        assert_eq!(with_procs(1).run(over.as_mut()), Ok(7));
        assert_eq!(over.as_mut().take_value(), Some(7), "it is there after the end");
    }

    #[test]
    #[should_panic(expected = "task-local value not set")]
    fn that_is_not_set_is_a_panic() {
        NUMBER.get();
    }
}

/// Goroutines that wait inside of a call with a value, and others that look meanwhile.
fn goroutines_wait_with_values(runtime: &Runtime) {
    let (sender, receiver) = bounded::<()>(100);
    let tasks: Vec<_> = (0..20)
        .map(|n| {
            let receiver = receiver.clone();
            runtime.go(move || {
                NUMBER.sync_scope(n, || {
                    for _ in 0..5 {
                        NUMBER.with(|seen| {
                            receiver.recv().wait().expect("it is open");
                            assert_eq!(*seen, n);
                        });
                        assert_eq!(NUMBER.get(), n);
                    }
                });
                assert!(NUMBER.try_with(|_| ()).is_err(), "it is there after the call");
            })
        })
        .collect();
    let looks = runtime.go(move || {
        for _ in 0..100 {
            assert!(NUMBER.try_with(|_| ()).is_err(), "another's value is seen");
            sender.send(()).wait().expect("it is open");
            yield_now().wait();
        }
    });
    looks.join().expect("no panic");
    tasks.into_iter().for_each(|task| task.join().expect("no panic"));
}

mod a_goroutine_that_waits {
    use super::*;

    #[test]
    fn keeps_its_values_on_its_threads_stack() {
        goroutines_wait_with_values(&with_procs(2));
    }

    #[test]
    fn takes_its_values_along_with_its_stack() {
        goroutines_wait_with_values(&stackful(1));
        goroutines_wait_with_values(&stackful(2));
    }

    #[test]
    fn keeps_them_in_a_run_that_a_seed_decides() {
        for seed in 0..10 {
            goroutines_wait_with_values(&Runtime::builder().procs(2).deterministic(seed).build().expect("a runtime"));
        }
    }

    #[test]
    fn drops_them_if_it_is_unwound() {
        let runtime = stackful(1);
        let value = Arc::new(());
        thread_local!(static KEPT: RefCell<u32> = const { RefCell::new(0) });
        task_local!(static HELD: Arc<()>);
        let held = Arc::clone(&value);
        let task = runtime.go(move || HELD.sync_scope(held, || pending::<()>().wait()));
        while Arc::strong_count(&value) < 2 || !task.is_finished() && task_waits(&runtime) == 0 {
            thread::sleep(MS);
        }
        task.abort();
        assert!(task.join().is_err());
        assert_eq!(Arc::strong_count(&value), 1);
        assert!(go_and_look(&runtime), "a value was left on the thread");
    }

    fn task_waits(runtime: &Runtime) -> usize {
        usize::from(runtime.schedtrace().contains("idleprocs=1"))
    }

    fn go_and_look(runtime: &Runtime) -> bool {
        runtime.go(|| go(|| NUMBER.try_with(|_| ()).is_err()).wait().expect("no panic")).join().expect("no panic")
    }
}
