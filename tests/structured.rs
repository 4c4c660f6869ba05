//! Tasks that belong together: `AbortHandle`, `JoinSet`, `CancellationToken`, `join!`, `run`. A module names the
//! property, a function the situation. Scopes and task-locals: tests/scope.rs, tests/task_locals.rs.

use spinpark::chan::bounded;
use spinpark::sync::CancellationToken;
use spinpark::{JoinError, JoinSet, LocalSet, Runtime, Wait, go, join, select, spawn, time, try_join, yield_now};
use std::future::{Future, pending, poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn with_procs(n: usize) -> Runtime {
    Runtime::builder().procs(n).build().expect("a runtime")
}

fn until(mut what: impl FnMut() -> bool) {
    while !what() {
        thread::sleep(MS);
    }
}

/// Counts when it is dropped.
struct Counts(Arc<AtomicUsize>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

fn poll_once<F: Future>(future: &mut std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

mod an_abort_handle {
    use super::*;

    #[test]
    fn ends_a_task_that_waits() {
        let runtime = with_procs(1);
        let task = runtime.spawn(pending::<()>());
        let (abort, copy) = (task.abort_handle(), task.abort_handle().clone());
        assert!(!abort.is_finished());
        copy.abort();
        assert!(matches!(task.join(), Err(JoinError::Aborted)));
        assert!(abort.is_finished());
        abort.abort();
    }

    #[test]
    fn has_the_number_of_its_task_as_long_as_it_is_there() {
        let runtime = with_procs(1);
        let task = runtime.spawn(async {});
        let abort = task.abort_handle();
        assert_eq!(abort.id(), task.id());
        task.join().expect("no panic");
        let others: Vec<_> = (0..100).map(|_| runtime.spawn(async {}).id()).collect();
        assert!(!others.contains(&abort.id()), "its number is another's");
    }

    #[test]
    fn does_not_end_a_task_when_it_is_dropped() {
        let runtime = with_procs(1);
        let (sender, receiver) = bounded(1);
        let task = runtime.spawn(async move { receiver.recv().await });
        drop(task.abort_handle());
        sender.send(7).wait().expect("it is open");
        assert_eq!(task.join().expect("no panic"), Ok(7));
    }

    #[test]
    fn of_a_local_task_works_from_another_thread() {
        let (runtime, local) = (with_procs(1), LocalSet::new());
        let ended = runtime.run(local.run_until(async {
            let task = local.spawn_local(pending::<()>());
            let abort = task.abort_handle();
            thread::spawn(move || abort.abort());
            task.await
        }));
        assert!(matches!(ended, Err(JoinError::Aborted)));
    }
}

mod a_join_set {
    use super::*;

    #[test]
    fn joins_in_the_order_of_ending() {
        let runtime = with_procs(2);
        let order = runtime.run(async {
            let mut set = JoinSet::new();
            let (opens, doors): (Vec<_>, Vec<_>) = (0..3).map(|_| bounded::<()>(1)).unzip();
            for (n, door) in doors.into_iter().enumerate() {
                set.spawn(async move {
                    let _ = door.recv().await;
                    n
                });
            }
            let mut order = Vec::new();
            for n in [1, 2, 0] {
                opens[n].send(()).await.expect("it is open");
                order.push(set.join_next().await.expect("one is left").expect("no panic"));
            }
            assert!(set.join_next().await.is_none() && set.is_empty());
            order
        });
        assert_eq!(order, [1, 2, 0]);
    }

    #[test]
    fn says_how_each_has_ended() {
        let runtime = with_procs(1);
        let mut set = JoinSet::new();
        let panics = set.spawn_on(async { panic!("oh") }, &runtime.handle()).id();
        let aborted = set.spawn_on(pending::<u32>(), &runtime.handle());
        let value = set.go_on(|| 7, &runtime.handle()).id();
        aborted.abort();
        for _ in 0..3 {
            let (id, result) = runtime.run(set.join_next_with_id()).expect("one is left");
            match result {
                Ok(7) => assert_eq!(id, value),
                Err(JoinError::Panicked(panic)) => assert_eq!((id, panic.message()), (panics, Some("oh"))),
                Err(JoinError::Aborted) => assert_eq!(id, aborted.id()),
                other => panic!("{other:?}"),
            }
        }
        assert!(set.is_empty());
    }

    #[test]
    fn gives_what_is_there_without_waiting() {
        let runtime = with_procs(1);
        let mut set = JoinSet::new();
        assert!(set.try_join_next().is_none());
        let task = set.spawn_on(ready(3), &runtime.handle());
        until(|| task.is_finished());
        // It is finished a moment before it is listed.
        let mut joined = None;
        until(|| {
            joined = set.try_join_next();
            joined.is_some()
        });
        assert!(matches!(joined, Some(Ok(3))) && set.try_join_next().is_none());
    }

    #[test]
    fn that_is_dropped_ends_what_is_left() {
        let (runtime, dropped) = (with_procs(1), Arc::new(AtomicUsize::new(0)));
        // They could be woken still.
        let (_sender, receiver) = bounded::<()>(1);
        let mut set = JoinSet::new();
        for _ in 0..3 {
            let (counts, receiver) = (Counts(Arc::clone(&dropped)), receiver.clone());
            set.spawn_on(
                async move {
                    let _counts = counts;
                    let _ = receiver.recv().await;
                },
                &runtime.handle(),
            );
        }
        thread::sleep(2 * MS);
        drop(set);
        until(|| dropped.load(SeqCst) == 3);
    }

    #[test]
    fn that_lets_all_go_joins_those_that_come_after() {
        let runtime = with_procs(2);
        runtime.run(async {
            let mut set = JoinSet::new();
            let (sender, receiver) = bounded(10);
            for n in 0..3 {
                let sender = sender.clone();
                set.spawn(async move {
                    time::sleep(MS).await;
                    let _ = sender.send(n).await;
                    n
                });
            }
            set.detach_all();
            assert!(set.is_empty() && set.join_next().await.is_none());
            set.spawn(async {
                time::sleep(20 * MS).await;
                9
            });
            let next = set.join_next().await.expect("there is one");
            assert_eq!(next.expect("no panic"), 9);
            let mut got = Vec::new();
            for _ in 0..3 {
                got.push(receiver.recv().await.expect("they went on"));
            }
            got.sort_unstable();
            assert_eq!(got, [0, 1, 2]);
        });
    }

    #[test]
    fn that_is_shut_down_is_empty() {
        let (runtime, dropped) = (with_procs(2), Arc::new(AtomicUsize::new(0)));
        runtime.run(async {
            let mut set = JoinSet::new();
            for _ in 0..10 {
                let counts = Counts(Arc::clone(&dropped));
                set.spawn(async move {
                    let _counts = counts;
                    pending::<()>().await;
                });
            }
            yield_now().await;
            set.shutdown().await;
            assert_eq!((set.len(), dropped.load(SeqCst)), (0, 10));
        });
    }

    #[test]
    fn loses_nothing_if_a_join_is_given_up() {
        let runtime = with_procs(2);
        runtime.run(async {
            let mut set = JoinSet::new();
            set.spawn(async {
                time::sleep(5 * MS).await;
                1
            });
            let (mut rounds, mut joined) = (0, None);
            while joined.is_none() {
                rounds += 1;
                select! {
                    next = set.join_next() => joined = next,
                    timeout(MS) => {}
                }
            }
            assert!(matches!(joined, Some(Ok(1))) && set.is_empty(), "{rounds}");
        });
    }

    #[test]
    fn says_so_if_the_runtime_is_gone() {
        let runtime = with_procs(1);
        let handle = runtime.handle();
        let mut set = JoinSet::new();
        set.spawn_on(pending::<()>(), &handle);
        drop(runtime);
        set.spawn_on(pending::<()>(), &handle);
        for _ in 0..2 {
            let next = set.try_join_next();
            assert!(matches!(next, Some(Err(JoinError::ShutDown))), "{next:?}");
        }
    }

    #[test]
    fn joins_all_and_tells_a_panic_on() {
        let runtime = with_procs(2);
        let squares =
            runtime.run(async { (0..5).map(|n| async move { n * n }).collect::<JoinSet<_>>().join_all().await });
        assert_eq!(squares.iter().sum::<i32>(), 30);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            runtime.run(async {
                let mut set = JoinSet::new();
                set.go(|| panic!("five"));
                set.join_all().await
            })
        }));
        assert_eq!(caught.expect_err("it panics").downcast_ref::<&str>(), Some(&"five"));
    }

    #[test]
    fn takes_many_at_once_and_those_of_a_local_set() {
        let (runtime, local) = (with_procs(1), LocalSet::new());
        let sum = runtime.run(local.run_until(async {
            let mut set = JoinSet::new();
            set.extend((1..=3).map(|n| async move { n }));
            let shared = std::rc::Rc::new(10);
            set.spawn_local_on(async move { *shared }, &local);
            set.join_all().await.into_iter().sum::<i32>()
        }));
        assert_eq!(sum, 16);
    }

    #[test]
    fn of_a_thousand_tasks_joins_each_once() {
        let runtime = with_procs(2);
        for _ in 0..20 {
            let mut seen = runtime.run(async {
                let (mut set, mut seen) = (JoinSet::new(), Vec::new());
                for n in 0..1000 {
                    set.spawn(async move {
                        if n % 3 == 0 {
                            yield_now().await;
                        }
                        n
                    });
                    if n % 7 == 0 {
                        seen.extend(set.try_join_next().map(|next| next.expect("no panic")));
                    }
                }
                while let Some(next) = set.join_next().await {
                    seen.push(next.expect("no panic"));
                }
                seen
            });
            seen.sort_unstable();
            assert!(seen.iter().copied().eq(0..1000), "{} were joined", seen.len());
        }
    }

    #[test]
    fn works_in_a_run_that_a_seed_decides() {
        for seed in 0..20 {
            let runtime = Runtime::builder().procs(2).deterministic(seed).build().expect("a runtime");
            let sum =
                runtime.run(async { (1..=10).map(|n| async move { n }).collect::<JoinSet<u32>>().join_all().await });
            assert_eq!(sum.iter().sum::<u32>(), 55);
        }
    }
}

mod a_cancellation_token {
    use super::*;

    #[test]
    fn ends_the_wait_of_all_who_have_it() {
        let (runtime, token) = (with_procs(2), CancellationToken::new());
        let tasks: Vec<_> = (0..10)
            .map(|n| {
                let token = if n % 2 == 0 { token.clone() } else { token.child_token().child_token() };
                runtime.spawn(async move {
                    token.cancelled().await;
                    token.is_cancelled()
                })
            })
            .collect();
        thread::sleep(5 * MS);
        assert!(tasks.iter().all(|task| !task.is_finished()) && !token.is_cancelled());
        token.cancel();
        assert!(tasks.into_iter().all(|task| task.join().expect("no panic")));
        runtime.run(token.cancelled_owned());
    }

    #[test]
    fn is_not_cancelled_by_its_child() {
        let token = CancellationToken::new();
        let (child, other) = (token.child_token(), token.child_token());
        child.cancel();
        assert!(child.is_cancelled() && !token.is_cancelled() && !other.is_cancelled());
        token.cancel();
        assert!(other.is_cancelled() && token.child_token().is_cancelled());
    }

    #[test]
    fn reaches_below_one_that_was_dropped() {
        let token = CancellationToken::new();
        let leaf = token.child_token().child_token().child_token();
        token.cancel();
        assert!(leaf.is_cancelled());
    }

    #[test]
    fn drops_what_it_ends() {
        let (runtime, token, dropped) = (with_procs(1), CancellationToken::new(), Arc::new(AtomicUsize::new(0)));
        let (counts, of_task) = (Counts(Arc::clone(&dropped)), token.clone());
        let task = runtime.spawn(async move {
            let work = async move {
                let _counts = counts;
                pending::<()>().await;
            };
            of_task.run_until_cancelled(work).await
        });
        thread::sleep(2 * MS);
        token.cancel();
        assert_eq!((task.join().expect("no panic"), dropped.load(SeqCst)), (None, 1));
        assert_eq!(runtime.run(token.run_until_cancelled(ready(1))), None);
        assert_eq!(runtime.run(CancellationToken::new().run_until_cancelled_owned(ready(1))), Some(1));
    }

    #[test]
    fn is_cancelled_by_a_guard_that_is_not_disarmed() {
        let (token, kept) = (CancellationToken::new(), CancellationToken::new());
        let guards = (token.clone().drop_guard(), kept.clone().drop_guard());
        drop(guards.1.disarm());
        drop(guards.0);
        assert!(token.is_cancelled() && !kept.is_cancelled());
    }

    #[test]
    fn forgets_those_that_wait_no_more() {
        let token = CancellationToken::new();
        {
            let (mut one, mut other) = (pin!(token.cancelled()), pin!(token.clone().cancelled_owned()));
            assert!(poll_once(&mut one).is_pending() && poll_once(&mut other).is_pending());
        }
        token.cancel();
        assert!(poll_once(&mut pin!(token.cancelled())).is_ready());
    }

    #[test]
    fn is_waited_for_by_goroutines_and_threads() {
        let (runtime, token) = (with_procs(1), CancellationToken::new());
        let of_task = token.child_token();
        let task = runtime.go(move || of_task.cancelled().wait());
        let of_thread = token.clone();
        let other = thread::spawn(move || of_thread.cancelled().wait());
        thread::sleep(2 * MS);
        token.cancel();
        task.join().expect("no panic");
        other.join().expect("no panic");
    }

    #[test]
    fn reaches_children_that_are_made_meanwhile() {
        for _ in 0..200 {
            let token = CancellationToken::new();
            let makers: Vec<_> = (0..2)
                .map(|_| {
                    let token = token.clone();
                    thread::spawn(move || {
                        let children: Vec<_> = (0..20).map(|_| token.child_token()).collect();
                        children.iter().for_each(|child| child.cancelled().wait());
                    })
                })
                .collect();
            token.cancel();
            makers.into_iter().for_each(|maker| maker.join().expect("no panic"));
        }
    }
}

/// What a task waits for by a shared set or queue changes when another takes all out of it: the task that waits is woken.
mod none_is_left {
    use super::*;
    use spinpark::JoinMap;
    use spinpark::time::DelayQueue;
    use std::pin::Pin;
    use std::sync::Mutex;

    /// Until the next one comes, or none is left.
    type Waits = Pin<Box<dyn Future<Output = bool> + Send>>;
    /// Takes all out.
    type Empties = Box<dyn FnOnce()>;

    fn shared<S: Send + 'static>(
        set: S,
        poll_is_none: fn(&mut S, &mut Context<'_>) -> Poll<bool>,
        empties: impl FnOnce(&mut S) + 'static,
    ) -> (Waits, Empties) {
        let set = Arc::new(Mutex::new(set));
        let theirs = Arc::clone(&set);
        let waits = poll_fn(move |cx| poll_is_none(&mut theirs.lock().expect("no panic"), cx));
        (Box::pin(waits), Box::new(move || empties(&mut set.lock().expect("no panic"))))
    }

    fn of_a_queue(
        empties: impl FnOnce(&mut DelayQueue<u8>, &spinpark::time::delay_queue::Key) + 'static,
    ) -> (Waits, Empties) {
        let mut queue = DelayQueue::new();
        let key = queue.insert(1, 1000 * MS);
        shared(queue, |queue, cx| queue.poll_expired(cx).map(|next| next.is_none()), move |queue| empties(queue, &key))
    }

    type Member = (&'static str, fn() -> (Waits, Empties));

    const MEMBERS: [Member; 5] = [
        ("DelayQueue::remove", || of_a_queue(|queue, key| assert_eq!(queue.remove(key).into_inner(), 1))),
        ("DelayQueue::try_remove", || of_a_queue(|queue, key| assert!(queue.try_remove(key).is_some()))),
        ("DelayQueue::clear", || of_a_queue(|queue, _| queue.clear())),
        ("JoinSet::detach_all", || {
            let set: JoinSet<()> = [pending()].into_iter().collect();
            shared(set, |set, cx| set.poll_join_next(cx).map(|next| next.is_none()), JoinSet::detach_all)
        }),
        ("JoinMap::detach_all", || {
            let mut map = JoinMap::new();
            map.spawn("key", pending::<()>());
            shared(map, |map, cx| map.poll_join_next(cx).map(|next| next.is_none()), JoinMap::detach_all)
        }),
    ];

    #[test]
    fn wakes_who_waits() {
        for (name, member) in MEMBERS {
            let runtime = Runtime::builder().procs(1).deterministic(1).build().expect("a runtime");
            let ended = runtime.block_on(async {
                let (waits, empties) = member();
                let waits = spawn(waits);
                time::sleep(MS).await; // it waits by then
                empties();
                waits.await.expect("no panic")
            });
            assert_eq!(ended, Ok(true), "{name}");
        }
    }
}

mod joining_futures {
    use super::*;

    #[test]
    fn gives_all_values_in_their_order() {
        let runtime = with_procs(1);
        let task = runtime.spawn(async {
            let text = "lent".to_owned();
            join!(async { 1 }, async { text.len() }, time::sleep(MS), async {
                yield_now().await;
                'c'
            },)
        });
        assert_eq!(task.join().expect("no panic"), (1, 4, (), 'c'));
        assert_eq!(runtime.run(async { join!(ready(1)) }), (1,));
    }

    #[test]
    fn begins_each_round_with_another() {
        let order = std::cell::RefCell::new(Vec::new());
        let side = |n: usize| {
            let (order, mut polls) = (&order, 0);
            poll_fn(move |cx| {
                order.borrow_mut().push(n);
                polls += 1;
                cx.waker().wake_by_ref();
                if polls == 3 { Poll::Ready(n) } else { Poll::Pending }
            })
        };
        let all = with_procs(1).run(async { join!(side(0), side(1), side(2)) });
        assert_eq!(all, (0, 1, 2));
        assert_eq!(*order.borrow(), [0, 1, 2, 1, 2, 0, 2, 0, 1]);
    }

    #[test]
    fn ends_with_the_first_error_and_drops_the_others() {
        let (runtime, dropped) = (with_procs(1), Arc::new(AtomicUsize::new(0)));
        let result: Result<((), u8), &str> = runtime.run(async {
            let counts = Counts(Arc::clone(&dropped));
            let waits = async move {
                let _counts = counts;
                pending::<Result<(), &str>>().await
            };
            try_join!(waits, async {
                yield_now().await;
                Err::<u8, _>("no")
            })
        });
        assert_eq!((result, dropped.load(SeqCst)), (Err("no"), 1));
        assert_eq!(runtime.run(async { try_join!(ready(Ok::<_, ()>(1)), ready(Ok("b"))) }), Ok((1, "b")));
    }
}

mod running_to_the_end {
    use super::*;

    #[test]
    fn gives_the_value_itself() {
        assert_eq!(
            spinpark::run(async { spawn(async { 1 }).await.expect("no panic") + go(|| 2).await.expect("no panic") }),
            3
        );
        assert_eq!(with_procs(1).handle().run(ready(4)), 4);
    }

    #[test]
    fn panics_with_who_waits_in_a_deadlock() {
        let runtime = Runtime::builder().procs(1).deterministic(1).build().expect("a runtime");
        let line = line!() + 1;
        let caught = catch_unwind(AssertUnwindSafe(|| runtime.run(async { spawn(pending::<()>()).await })));
        let message = caught.expect_err("a deadlock").downcast::<String>().expect("a text");
        assert!(message.starts_with("deadlock: nothing can happen any more"), "{message}");
        for place in ["the future given to block_on at tests/structured.rs", "the task spawned at tests/structured.rs"]
        {
            assert!(message.contains(&format!("{place}:{line}:")), "{message}");
        }
    }
}
