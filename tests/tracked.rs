//! Tasks by their names and keys, and those that are only counted: `TaskBuilder`, `JoinMap`, `TaskTracker`,
//! `ErrGroup`, `AbortOnDropHandle`. A
//! module names the property, a function the situation. Sets and tokens: tests/structured.rs.

use spinpark::{
    AbortOnDropHandle, JoinError, JoinMap, LocalSet, Runtime, TaskBuilder, TaskId, TaskTracker, Wait, spawn, yield_now,
};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::error::Error;
use std::future::{Future, pending, ready};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};

fn with_procs(n: usize) -> Runtime {
    Runtime::builder().procs(n).build().expect("a runtime")
}

fn is_ready(future: &mut std::pin::Pin<&mut impl Future<Output = ()>>) -> bool {
    future.as_mut().poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(())
}

mod a_join_error {
    use super::*;

    /// Of a task whose value may neither be shared nor sent on.
    fn boxed(task: spinpark::JoinHandle<Cell<u8>>) -> Result<u8, Box<dyn Error + Send + Sync>> {
        Ok(task.join()?.get())
    }

    #[test]
    fn is_the_same_type_for_all_tasks() {
        let runtime = with_procs(2);
        assert_eq!(boxed(runtime.spawn(async { Cell::new(3) })).expect("a value"), 3);
        let error = boxed(runtime.spawn(async { panic!("no ink") })).expect_err("it panics");
        assert_eq!(error.to_string(), "task panicked: no ink");
        assert!(matches!(error.downcast_ref(), Some(JoinError::Panicked(panic)) if panic.message() == Some("no ink")));
    }

    #[test]
    fn leaves_the_handle_to_a_join_by_reference() {
        let runtime = with_procs(1);
        let mut task = runtime.go(|| 7);
        assert!(matches!(runtime.stop_the_world(|| task.join_mut()), Ok(Err(JoinError::WorldStopped) | Ok(7))));
        if !task.is_finished() {
            assert_eq!(task.join_mut().expect("the world goes on"), 7);
        }
    }
}

mod a_task_with_a_name {
    use super::*;

    #[test]
    fn has_it_while_it_runs_and_not_after() {
        let runtime = with_procs(2);
        let handle = runtime.handle();
        let name = || TaskId::try_current().and_then(TaskId::name);
        for mut task in [
            TaskBuilder::new().name("of a future").spawn_on(async move { name() }, &handle),
            TaskBuilder::new().name("of a closure").go_on(name, &handle),
        ] {
            let seen = task.join_mut().expect("no panic").expect("it has a name");
            assert!(seen.starts_with("of a "), "{seen}");
            assert_eq!(task.id().name(), None);
        }
        assert_eq!(runtime.spawn(async move { name() }).join().expect("no panic"), None);
    }

    #[test]
    fn loses_it_by_a_panic_and_by_an_abort() {
        let runtime = with_procs(1);
        let panics = TaskBuilder::new().name("one").go_on(|| panic!("oh"), &runtime.handle());
        let waits = TaskBuilder::new().name("two").spawn_on(pending::<()>(), &runtime.handle());
        let (first, second) = (panics.abort_handle(), waits.abort_handle());
        assert!(panics.join().is_err());
        waits.abort();
        assert!(waits.join().is_err());
        assert_eq!((first.id().name(), second.id().name()), (None, None));
    }

    #[test]
    fn is_spawned_from_inside_and_in_a_local_set() {
        let runtime = with_procs(1);
        let local = LocalSet::new();
        let name = || TaskId::try_current().and_then(TaskId::name).map(|name| name.to_string());
        let names = runtime.run(local.run_until(async {
            let one = TaskBuilder::new().name("one").spawn(async move { name() });
            let two = TaskBuilder::new().name("two").go(name);
            let shared = Rc::new(());
            let waits = async move { (pending::<()>().await, shared).0 };
            let three = TaskBuilder::new().name("three").spawn_local_on(waits, &local);
            yield_now().await;
            let third = three.id().name().map(|name| name.to_string());
            [one.await.expect("no panic"), two.await.expect("no panic"), third]
        }));
        assert_eq!(names.map(Option::unwrap_or_default), ["one", "two", "three"]);
    }
}

mod a_dump {
    use super::*;

    #[test]
    fn shows_each_task_that_waits_and_for_what() {
        let runtime = with_procs(2);
        let handle = runtime.handle();
        let (keeps, receiver) = spinpark::chan::bounded::<u8>(1);
        let receives =
            TaskBuilder::new().name("receives").spawn_on(async move { receiver.recv().await.is_err() }, &handle);
        let lock = Arc::new(spinpark::sync::Mutex::new(()));
        let guard = runtime.run(Arc::clone(&lock).lock_owned());
        let locks = TaskBuilder::new().name("locks").go_on(move || drop(lock.lock().wait()), &handle);
        let names = |dump: &spinpark::Dump| -> BTreeSet<String> {
            let those = dump.blocked().iter().filter(|task| task.why != "await");
            those.filter_map(|task| Some(format!("{} {}", task.name.as_ref()?, task.why))).collect()
        };
        while names(&handle.dump()).len() < 2 {
            std::thread::yield_now();
        }
        let dump = handle.dump();
        let expected = BTreeSet::from(["receives chan receive", "locks sync.Mutex.Lock"].map(String::from));
        assert_eq!(names(&dump), expected);
        let text = dump.to_string();
        assert!(text.starts_with("SCHED ") && text.matches("tests/tracked.rs").count() >= 2, "{text}");
        drop((guard, keeps));
        assert!(receives.join().expect("no panic"));
        locks.join().expect("no panic");
        assert!(names(&handle.dump()).is_empty());
    }
}

mod a_join_map {
    use super::*;

    #[test]
    fn joins_each_with_its_key() {
        let runtime = with_procs(2);
        let mut map = JoinMap::with_capacity(4);
        assert!(map.capacity() >= 4);
        for n in 0..4_u32 {
            map.spawn_on(n, async move { n * n }, &runtime.handle());
        }
        assert_eq!((map.len(), map.keys().copied().collect::<BTreeSet<_>>().len()), (4, 4));
        let mut joined = BTreeSet::new();
        while let Some((n, square)) = runtime.run(map.join_next()) {
            assert_eq!(square.expect("no panic"), n * n);
            joined.insert(n);
        }
        assert!(map.is_empty() && joined.len() == 4 && map.try_join_next().is_none());
    }

    #[test]
    fn aborts_the_task_whose_key_comes_again_and_never_joins_it() {
        let runtime = with_procs(1);
        let mut map = JoinMap::new();
        let old = runtime.spawn(pending::<u8>());
        let (id, ended) = (old.id(), old.abort_handle());
        map.insert("key".to_owned(), old);
        assert!(map.contains_task(&id));
        map.go_on("key".to_owned(), || 2, &runtime.handle());
        assert!(!map.contains_task(&id) && map.contains_key("key") && map.len() == 1);
        let (key, value) = runtime.run(map.join_next()).expect("the new one");
        assert_eq!((key.as_str(), value.expect("no panic")), ("key", 2));
        assert!(runtime.run(map.join_next()).is_none());
        assert!(ended.is_finished());
    }

    #[test]
    fn aborts_by_key_and_by_predicate() {
        let runtime = with_procs(1);
        let mut map = JoinMap::new();
        for n in 0..6 {
            map.spawn_on(n, pending::<()>(), &runtime.handle());
        }
        assert!(map.abort(&0) && !map.abort(&9));
        map.abort_matching(|n| n % 2 == 1);
        let mut aborted = BTreeSet::new();
        for _ in 0..4 {
            let (n, result) = runtime.run(map.join_next()).expect("four are aborted");
            assert!(matches!(result, Err(JoinError::Aborted)));
            aborted.insert(n);
        }
        assert_eq!(aborted, BTreeSet::from([0, 1, 3, 5]));
        runtime.run(map.shutdown());
        assert!(map.is_empty());
    }

    #[test]
    fn that_is_dropped_ends_its_tasks_and_one_that_detaches_does_not() {
        let runtime = with_procs(1);
        let mut handles = Vec::new();
        for detaches in [false, true] {
            let mut map = JoinMap::new();
            let task = runtime.spawn(pending::<()>());
            handles.push(task.abort_handle());
            map.insert(1, task);
            if detaches {
                map.detach_all();
                assert!(map.is_empty());
            }
        }
        while !handles[0].is_finished() {
            std::thread::yield_now();
        }
        assert!(!handles[1].is_finished());
        handles[1].abort();
    }
}

mod a_task_tracker {
    use super::*;

    #[test]
    fn is_over_when_it_is_closed_and_empty() {
        let tracker = TaskTracker::new();
        let token = tracker.token();
        let mut wait = pin!(tracker.wait());
        assert!(!is_ready(&mut wait) && tracker.len() == 1);
        assert!(tracker.close() && !tracker.close());
        assert!(!is_ready(&mut wait));
        drop(token);
        assert!(is_ready(&mut wait) && tracker.is_empty() && tracker.is_closed());
    }

    #[test]
    fn was_over_if_it_was_so_for_a_moment_since_the_call() {
        let tracker = TaskTracker::new();
        let mut before = pin!(tracker.wait());
        tracker.close();
        let mut between = pin!(tracker.wait());
        tracker.reopen();
        let mut after = pin!(tracker.wait());
        assert!(is_ready(&mut before) && is_ready(&mut between) && !is_ready(&mut after));
    }

    #[test]
    fn counts_a_clone_of_a_token_and_of_the_tracker() {
        let tracker = TaskTracker::new();
        let copy = tracker.clone();
        let tokens = [tracker.token(), copy.token()];
        let more = tokens.clone();
        assert!(TaskTracker::ptr_eq(&tracker, tokens[1].task_tracker()));
        assert!(!TaskTracker::ptr_eq(&tracker, &TaskTracker::new()));
        assert_eq!(tracker.len(), 4);
        drop((tokens, more));
        assert_eq!(copy.len(), 0);
    }

    #[test]
    fn waits_for_tasks_goroutines_and_those_that_are_aborted_or_panic() {
        let runtime = with_procs(2);
        let tracker = TaskTracker::new();
        let handle = runtime.handle();
        for n in 0..20_u32 {
            drop(tracker.spawn_on(async move { (n, yield_now().await).0 }, &handle));
            drop(tracker.go_on(move || assert!(n % 4 > 0, "each fourth"), &handle));
            tracker.spawn_on(pending::<()>(), &handle).abort();
        }
        runtime.run(async {
            drop(tracker.spawn(ready(())));
            drop(tracker.go(|| yield_now().wait()));
            tracker.close();
            tracker.wait().await;
        });
        assert_eq!(tracker.len(), 0);
    }

    #[test]
    fn counts_a_goroutine_that_never_starts_until_what_it_owns_is_dropped() {
        struct Sees(TaskTracker, Arc<AtomicUsize>);
        impl Drop for Sees {
            fn drop(&mut self) {
                self.1.store(self.0.len(), Relaxed);
            }
        }
        let (runtime, tracker, len) = (with_procs(1), TaskTracker::new(), Arc::new(AtomicUsize::new(usize::MAX)));
        let sees = Sees(tracker.clone(), Arc::clone(&len));
        let aborted = runtime.stop_the_world(|| {
            let goroutine = tracker.go_on(move || drop(sees), &runtime.handle());
            goroutine.abort();
            goroutine
        });
        let _ = aborted.expect("it stops").join();
        drop(runtime);
        assert_eq!((len.load(Relaxed), tracker.len()), (1, 0));
    }

    #[test]
    fn sees_a_task_of_a_local_set_that_is_dropped() {
        let (local, tracker) = (LocalSet::new(), TaskTracker::new());
        let shared = Rc::new(());
        drop(tracker.spawn_local_on(async move { (pending::<()>().await, shared).0 }, &local));
        assert_eq!(tracker.len(), 1);
        drop(local);
        assert_eq!(tracker.len(), 0);
    }
}

mod a_group {
    use super::*;
    use spinpark::ErrGroup;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    #[test]
    fn without_an_error_ends_when_all_have_and_cancels_then() {
        let runtime = with_procs(2);
        let ended = Arc::new(AtomicUsize::new(0));
        let theirs = Arc::clone(&ended);
        let token = runtime.run(async move {
            let mut group = ErrGroup::<()>::new();
            for n in 0..10 {
                let ended = Arc::clone(&theirs);
                let ends = move || {
                    ended.fetch_add(1, SeqCst);
                    Ok(())
                };
                match n % 2 {
                    0 => group.go(ends),
                    _ => group.spawn(async move { (yield_now().await, ends()).1 }),
                }
            }
            let token = group.token();
            assert_eq!((group.wait().await, token.is_cancelled()), (Ok(()), true));
            token
        });
        assert_eq!((ended.load(SeqCst), token.is_cancelled()), (10, true));
    }

    #[test]
    fn gives_the_first_error_and_waits_for_those_that_heed_it() {
        let runtime = with_procs(2);
        let parent = spinpark::sync::CancellationToken::new();
        let ended = Arc::new(AtomicUsize::new(0));
        let (child, theirs) = (parent.child_token(), Arc::clone(&ended));
        let error = runtime.run(async move {
            let mut group = ErrGroup::with_token(child);
            for n in 0..4 {
                let (token, ended) = (group.token(), Arc::clone(&theirs));
                group.spawn(async move {
                    token.cancelled().await;
                    ended.fetch_add(1, SeqCst);
                    Err(n)
                });
            }
            group.spawn(async { Err(9) });
            group.wait().await
        });
        assert_eq!((error, ended.load(SeqCst), parent.is_cancelled()), (Err(9), 4, false));
    }

    #[test]
    fn with_a_limit_runs_no_more_than_that_at_once() {
        let runtime = with_procs(4);
        let now = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let seen = Arc::clone(&now);
        let ended = runtime.run(async move {
            let mut group = ErrGroup::<()>::with_limit(2);
            for _ in 0..40 {
                let now = Arc::clone(&seen);
                group.spawn(async move {
                    now.1.fetch_max(now.0.fetch_add(1, SeqCst) + 1, SeqCst);
                    yield_now().await;
                    now.0.fetch_sub(1, SeqCst);
                    Ok(())
                });
            }
            group.wait().await
        });
        assert_eq!(ended, Ok(()));
        assert!((1..=2).contains(&now.1.load(SeqCst)), "{}", now.1.load(SeqCst));
    }

    #[test]
    fn carries_a_panic_on_and_cancels_by_it() {
        let runtime = with_procs(2);
        let task = runtime.spawn(async {
            let mut group = ErrGroup::<()>::new();
            let token = group.token();
            group.spawn(async move {
                token.cancelled().await;
                Ok(())
            });
            group.go(|| panic!("out of luck"));
            group.wait().await
        });
        let error = task.join().expect_err("it panics");
        assert_eq!(error.to_string(), "task panicked: out of luck");
    }

    #[test]
    #[should_panic(expected = "give 1 or more")]
    fn with_the_limit_zero_is_refused() {
        let _ = ErrGroup::<()>::with_limit(0);
    }

    #[test]
    fn that_is_dropped_ends_its_tasks() {
        let runtime = with_procs(1);
        let held = Arc::new(());
        let theirs = Arc::clone(&held);
        runtime.run(async move {
            let mut group = ErrGroup::<()>::new();
            group.spawn(async move {
                let _held = theirs;
                pending().await
            });
        });
        while Arc::strong_count(&held) > 1 {
            std::thread::yield_now();
        }
    }
}

mod a_handle_that_aborts {
    use super::*;

    #[test]
    fn ends_its_task_unless_it_is_detached() {
        let runtime = with_procs(1);
        let held = Arc::new(());
        let waits = |held: &Arc<()>| {
            let held = Arc::clone(held);
            runtime.spawn(async move { (pending::<()>().await, held).0 })
        };
        drop(AbortOnDropHandle::new(waits(&held)));
        while Arc::strong_count(&held) > 1 {
            std::thread::yield_now();
        }
        let goes_on = AbortOnDropHandle::new(waits(&held)).detach();
        assert!(!goes_on.is_finished());
        let aborts = AbortOnDropHandle::new(goes_on);
        aborts.abort();
        assert!(matches!(runtime.run(aborts), Err(JoinError::Aborted)));
        assert_eq!(runtime.run(async { AbortOnDropHandle::new(spawn(ready(4))).await.expect("no panic") }), 4);
    }
}
