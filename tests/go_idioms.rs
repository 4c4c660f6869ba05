//! What authors of Go programs reach for: contexts, one call for many, functions that are called later.

use spinpark::context::{Context, ContextError};
use spinpark::sync::CancellationToken;
use spinpark::sync::singleflight::Group;
use spinpark::time::{after_func, sleep};
use spinpark::{JoinSet, Runtime, chan, deterministic, spawn, yield_now};
use std::future::{Future, pending};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};

const MINUTE: Duration = Duration::from_secs(60);
const MILLI: Duration = Duration::from_millis(1);

fn run<T>(future: impl Future<Output = T>) -> T {
    Runtime::builder().procs(2).build().expect("a runtime").run(future)
}

/// In simulated time, where an hour is over at once.
fn simulated<T>(seed: u64, future: impl Future<Output = T>) -> T {
    Runtime::builder().procs(2).deterministic(seed).build().expect("a runtime").run(future)
}

mod a_context {
    use super::*;

    #[test]
    fn ends_with_the_one_above_it_and_for_the_same_reason() {
        let (above, cancel) = Context::background().with_cancel();
        let (middle, _middle) = above.with_value(1).with_cancel();
        let (below, cancels_below) = middle.with_cancel();
        cancel.cancel_cause("the server ends");
        cancels_below.cancel_cause("too late");
        for ctx in [&above, &middle, &below, &below.with_value("x")] {
            assert_eq!(ctx.err(), Some(ContextError::Canceled));
            assert_eq!(ctx.cause().expect("it has ended").to_string(), "the server ends");
        }
    }

    #[test]
    fn leaves_the_one_above_it_and_its_siblings_as_they_are() {
        let above = Context::background();
        let ((one, cancel), (other, _cancel)) = (above.with_cancel(), above.with_cancel());
        drop(cancel);
        assert!(one.is_done() && !other.is_done() && !above.is_done());
    }

    #[test]
    fn that_is_made_below_an_ended_one_has_ended() {
        let (above, cancel) = Context::background().with_cancel();
        cancel.cancel_cause("gone");
        let (below, _cancel) = above.with_cancel();
        let (timed, _timed) = above.with_timeout(MINUTE); // needs no runtime: it has ended
        for ctx in [below, timed] {
            assert_eq!(ctx.err(), Some(ContextError::Canceled));
            assert!(ctx.token().is_cancelled());
            assert_eq!(ctx.cause().expect("it has ended").to_string(), "gone");
        }
    }

    #[test]
    fn ends_at_the_earliest_deadline_and_says_so() {
        for seed in 0..20 {
            simulated(seed, async {
                let from = deterministic::now();
                let (above, _above) = Context::background().with_timeout(MINUTE);
                let (later, _later) = above.with_timeout(60 * MINUTE);
                let (sooner, cancel_sooner) = above.with_timeout(MINUTE / 2);
                assert_eq!(later.deadline(), above.deadline());
                sooner.done().await;
                cancel_sooner.cancel_cause("too late");
                assert!(deterministic::now() - from >= MINUTE / 2 && above.err().is_none());
                later.done().await;
                assert!(deterministic::now() - from >= MINUTE);
                for ctx in [above, later, sooner] {
                    assert_eq!(ctx.err(), Some(ContextError::DeadlineExceeded));
                    let cause = ctx.cause().expect("it has ended");
                    assert_eq!(cause.to_string(), "context deadline exceeded");
                }
            });
        }
    }

    #[test]
    fn whose_deadline_has_passed_has_ended_at_once() {
        run(async {
            let (ctx, _cancel) = Context::background().with_deadline(Instant::now() - MILLI);
            assert_eq!(ctx.err(), Some(ContextError::DeadlineExceeded));
            ctx.done().await;
            assert!(ctx.run(pending::<()>()).await.is_err());
        });
    }

    #[test]
    fn that_is_cancelled_before_its_deadline_leaves_no_timer() {
        let runtime = Runtime::builder().procs(1).build().expect("a runtime");
        runtime.run(async {
            for _ in 0..100 {
                let (ctx, cancel) = Context::background().with_timeout(MINUTE);
                cancel.cancel();
                assert_eq!(ctx.err(), Some(ContextError::Canceled));
            }
            let (dropped, cancel) = Context::background().with_timeout(MINUTE);
            cancel.disarm();
            drop(dropped);
            let until = Instant::now() + 20 * Duration::from_secs(1);
            while runtime.metrics().timers > 0 && Instant::now() < until {
                sleep(MILLI).await;
            }
            assert_eq!(runtime.metrics().timers, 0);
        });
    }

    #[test]
    fn with_a_deadline_outside_of_a_runtime_is_a_panic_that_says_so() {
        let panics = catch_unwind(|| drop(Context::background().with_timeout(MINUTE)));
        let text = *panics.expect_err("it panics").downcast::<String>().expect("a text");
        assert!(text.contains("deadline"), "{text}");
    }

    #[test]
    fn with_a_deadline_that_no_clock_shows_has_none() {
        let (ctx, _cancel) = Context::background().with_timeout(Duration::MAX);
        assert_eq!((ctx.deadline(), ctx.err()), (None, None));
    }

    #[test]
    fn shows_the_value_of_a_type_that_was_given_last() {
        let ctx = Context::background().with_value(1_u8).with_value("one").with_value(2_u8);
        let (below, _cancel) = ctx.with_cancel();
        assert_eq!((below.value::<u8>(), below.value::<&str>(), below.value::<u16>()), (Some(&2), Some(&"one"), None));
    }

    #[test]
    fn without_cancel_keeps_the_values_and_nothing_else() {
        let (ctx, cancel) = Context::background().with_value(7).with_cancel();
        let rest = ctx.without_cancel();
        cancel.cancel();
        assert!(ctx.is_done() && !rest.is_done());
        assert_eq!(rest.value(), Some(&7));
    }

    #[test]
    fn of_a_token_ends_with_it_and_does_not_cancel_it() {
        let token = CancellationToken::new();
        let ctx = Context::from_token(&token);
        ctx.token().cancel();
        assert!(!ctx.is_done() && !token.is_cancelled());
        let (below, cancel) = ctx.with_cancel();
        cancel.cancel();
        assert!(below.is_done() && !ctx.is_done());
        token.cancel();
        assert_eq!(ctx.err(), Some(ContextError::Canceled));
    }

    #[test]
    fn may_stand_below_a_hundred_thousand_others() {
        let mut ctx = Context::background();
        let (first, cancel) = ctx.with_cancel();
        ctx = first;
        for n in 0..100_000_u32 {
            let (below, cancel) = ctx.with_value(n).with_cancel();
            cancel.disarm();
            ctx = below;
        }
        assert_eq!((ctx.value::<&str>(), ctx.err()), (None, None));
        cancel.cancel_cause("end");
        assert_eq!(ctx.cause().expect("it has ended").to_string(), "end");
    }

    #[test]
    fn drops_what_it_runs_when_it_ends() {
        run(async {
            let (ctx, cancel) = Context::background().with_cancel();
            let kept = Arc::new(());
            let theirs = Arc::clone(&kept);
            let task = spawn(async move {
                ctx.run(async move {
                    let _theirs = theirs;
                    pending::<()>().await;
                })
                .await
            });
            yield_now().await;
            cancel.cancel();
            assert_eq!(task.await.expect("no panic"), Err(ContextError::Canceled));
            assert_eq!(Arc::strong_count(&kept), 1);
        });
    }

    #[test]
    fn that_is_cancelled_by_many_threads_has_one_cause() {
        for _ in 0..200 {
            let (above, cancel) = Context::background().with_cancel();
            let (below, cancel_below) = above.with_cancel();
            let seen = std::thread::scope(|scope| {
                scope.spawn(|| cancel.cancel_cause("above"));
                scope.spawn(|| cancel_below.cancel_cause("below"));
                let looks = scope.spawn(|| {
                    while !below.is_done() {
                        std::hint::spin_loop();
                    }
                    below.cause().expect("it has ended").to_string()
                });
                looks.join().expect("no panic")
            });
            assert_eq!(below.cause().expect("it has ended").to_string(), seen);
            assert_eq!(above.cause().expect("it has ended").to_string(), "above");
        }
    }
}

mod a_function_after_a_context {
    use super::*;

    #[test]
    fn is_called_once_when_it_has_ended_or_not_if_it_was_stopped() {
        run(async {
            let (ctx, cancel) = Context::background().with_cancel();
            let (calls, called) = chan::unbounded();
            let both = calls.clone();
            let first = ctx.after_func(move || both.try_send(1).expect("open"));
            let stopped = ctx.after_func(|| panic!("it was stopped"));
            assert!(stopped.stop() && !stopped.stop());
            drop(cancel);
            assert_eq!(called.recv().await, Ok(1));
            assert!(!first.stop());
            drop(ctx.after_func(move || calls.try_send(2).expect("open"))); // it has ended already
            assert_eq!(called.recv().await, Ok(2));
            assert!(called.recv().await.is_err(), "both have dropped their senders");
        });
    }

    #[test]
    fn is_called_at_a_deadline_that_no_other_waits_for() {
        for seed in 0..20 {
            simulated(seed, async {
                let (ctx, cancel) = Context::background().with_timeout(MINUTE);
                cancel.disarm();
                let (calls, called) = chan::bounded(1);
                drop(ctx.after_func(move || calls.try_send(deterministic::now()).expect("open")));
                let end = ctx.deadline().expect("it has one");
                drop(ctx);
                assert!(called.recv().await.expect("called") >= end);
            });
        }
    }

    #[test]
    fn is_dropped_with_its_runtime() {
        let kept = Arc::new(());
        let theirs = Arc::clone(&kept);
        let ctx = Context::background();
        let stop = run({
            let ctx = ctx.clone();
            async move { ctx.after_func(move || drop(theirs)) }
        });
        stop.stop();
        assert_eq!(Arc::strong_count(&kept), 1);
    }
}

mod a_function_that_is_called_later {
    use super::*;

    fn counts() -> (Arc<AtomicU32>, impl Fn() + Send + Sync + 'static) {
        let count = Arc::new(AtomicU32::new(0));
        let counts = Arc::clone(&count);
        (count, move || _ = counts.fetch_add(1, SeqCst))
    }

    #[test]
    fn is_called_once_and_no_sooner() {
        for seed in 0..20 {
            simulated(seed, async {
                let (count, f) = counts();
                let timer = after_func(MINUTE, f);
                sleep(MINUTE - MILLI).await;
                assert_eq!((count.load(SeqCst), timer.is_active()), (0, true));
                sleep(MINUTE).await;
                assert_eq!((count.load(SeqCst), timer.is_active()), (1, false));
                sleep(60 * MINUTE).await;
                assert_eq!(count.load(SeqCst), 1);
            });
        }
    }

    #[test]
    fn is_called_though_its_timer_was_dropped() {
        simulated(1, async {
            let (count, f) = counts();
            drop(after_func(MINUTE, f));
            sleep(2 * MINUTE).await;
            assert_eq!(count.load(SeqCst), 1);
        });
    }

    #[test]
    fn is_not_called_after_it_was_stopped() {
        for seed in 0..20 {
            simulated(seed, async {
                let (count, f) = counts();
                let timer = after_func(MINUTE, f);
                sleep(MINUTE / 2).await;
                assert!(timer.stop() && !timer.stop());
                sleep(2 * MINUTE).await;
                assert_eq!(count.load(SeqCst), 0);
                assert!(!timer.reset(MINUTE), "it was stopped");
                sleep(2 * MINUTE).await;
                assert_eq!(count.load(SeqCst), 1);
            });
        }
    }

    #[test]
    fn is_called_at_the_moment_it_was_reset_to_and_not_at_that_before() {
        for seed in 0..20 {
            simulated(seed, async {
                let (count, f) = counts();
                let timer = after_func(MINUTE, f);
                assert!(timer.reset(3 * MINUTE));
                sleep(2 * MINUTE).await;
                assert_eq!(count.load(SeqCst), 0, "the moment before");
                sleep(2 * MINUTE).await;
                assert_eq!(count.load(SeqCst), 1);
                assert!(!timer.reset(MINUTE), "it was over");
                assert!(timer.reset(Duration::ZERO));
                sleep(2 * MINUTE).await;
                assert_eq!(count.load(SeqCst), 2);
            });
        }
    }

    #[test]
    fn is_called_as_often_as_stop_and_reset_say_while_it_is_due() {
        let runtime = Runtime::builder().procs(2).build().expect("a runtime");
        runtime.run(async {
            let (count, f) = counts();
            let timer = after_func(Duration::ZERO, f);
            let mut expected = 1;
            for n in 0..2_000 {
                // `false`: the one before was called, or will be; and this makes one more.
                expected += u32::from(!timer.reset(Duration::ZERO));
                if n % 3 == 0 && timer.stop() {
                    expected -= 1;
                }
                if n % 7 == 0 {
                    yield_now().await;
                }
            }
            let until = Instant::now() + Duration::from_secs(20);
            while count.load(SeqCst) < expected && Instant::now() < until {
                sleep(MILLI).await;
            }
            sleep(5 * MILLI).await;
            assert_eq!(count.load(SeqCst), expected);
        });
    }

    #[test]
    fn is_dropped_with_its_runtime_and_never_called() {
        let kept = Arc::new(());
        let theirs = Arc::clone(&kept);
        let from = Instant::now();
        let timer = run(async move { after_func(MINUTE, move || panic!("it is called, and has {theirs:?}")) });
        timer.reset(MILLI);
        assert!(from.elapsed() < MINUTE / 2);
        drop(timer);
        assert_eq!(Arc::strong_count(&kept), 1);
    }

    #[test]
    fn outside_of_a_runtime_is_a_panic_that_says_so() {
        let panics = catch_unwind(AssertUnwindSafe(|| drop(after_func(MINUTE, || ()))));
        let text = *panics.expect_err("it panics").downcast::<String>().expect("a text");
        assert!(text.contains("after_func"), "{text}");
    }
}

mod one_call_for_many {
    use super::*;

    #[test]
    fn runs_once_for_all_that_come_meanwhile_and_anew_afterwards() {
        for seed in 0..20 {
            simulated(seed, async {
                let (group, calls) = (Arc::new(Group::new()), Arc::new(AtomicU32::new(0)));
                let fetch = |group: Arc<Group<&'static str, u32>>, calls: Arc<AtomicU32>| async move {
                    let slow = async {
                        sleep(MINUTE).await;
                        calls.fetch_add(1, SeqCst) + 1
                    };
                    group.call("key", || slow).await
                };
                for round in 1..=3 {
                    let tasks: JoinSet<u32> = (0..10).map(|_| fetch(Arc::clone(&group), Arc::clone(&calls))).collect();
                    assert_eq!(tasks.join_all().await, [round; 10]);
                }
            });
        }
    }

    #[test]
    fn of_another_key_runs_beside_it() {
        run(async {
            let group = Group::new();
            let (one, other) = spinpark::join!(
                group.call(1, || async {
                    yield_now().await;
                    "one"
                }),
                group.call(2, || async { "other" }),
            );
            assert_eq!((one, other), ("one", "other"));
        });
    }

    #[test]
    fn that_is_given_up_goes_on_by_one_that_waits() {
        run(async {
            let group = Arc::new(Group::new());
            let theirs = Arc::clone(&group);
            let (begin, begun) = chan::bounded(1);
            let waits = || async move {
                begin.send(()).await.expect("open");
                pending::<u32>().await
            };
            let first = spawn(async move { theirs.call("key", waits).await });
            begun.recv().await.expect("it is called");
            let theirs = Arc::clone(&group);
            let second = spawn(async move { theirs.call("key", || async { 2 }).await });
            sleep(5 * MILLI).await;
            assert!(!second.is_finished(), "it waits for the first");
            first.abort();
            assert_eq!(second.await.expect("no panic"), 2);
            assert_eq!(group.call("key", || async { 3 }).await, 3);
        });
    }

    #[test]
    fn that_panics_ends_its_caller_alone() {
        run(async {
            let group = Arc::new(Group::new());
            let (begin, begun) = chan::bounded(1);
            let theirs = Arc::clone(&group);
            let first = spawn(async move {
                let fails = || async move {
                    begin.send(()).await.expect("open");
                    sleep(5 * MILLI).await;
                    std::panic::resume_unwind(Box::new("lost"))
                };
                theirs.call("key", fails).await
            });
            begun.recv().await.expect("it is called");
            let second = group.call("key", || async { 2 }).await;
            assert!(first.await.is_err());
            assert_eq!(second, 2);
        });
    }

    #[test]
    fn that_is_forgotten_runs_beside_the_next() {
        run(async {
            let group = Arc::new(Group::new());
            let (theirs, (go_on, waits)) = (Arc::clone(&group), chan::bounded(1));
            let slow = spawn(async move {
                theirs
                    .call("key", || async move {
                        waits.recv().await.expect("open");
                        1
                    })
                    .await
            });
            sleep(5 * MILLI).await;
            group.forget(&"key");
            assert_eq!(group.call("key", || async { 2 }).await, 2);
            go_on.send(()).await.expect("open");
            assert_eq!(slow.await.expect("no panic"), 1);
        });
    }

    #[test]
    fn leaves_nothing_behind_however_it_ends() {
        let group: Group<u32, u32> = Group::new();
        let count = || format!("{group:?}");
        for _ in 0..100 {
            let mut first = Box::pin(group.call(1, pending));
            let mut second = Box::pin(group.call(1, pending));
            assert!(futures_lite::future::block_on(futures_lite::future::poll_once(&mut first)).is_none());
            assert!(futures_lite::future::block_on(futures_lite::future::poll_once(&mut second)).is_none());
            assert!(count().contains("calls: 1"), "{}", count());
            drop(first);
            drop(second);
            assert!(count().contains("calls: 0"), "{}", count());
        }
        assert_eq!(futures_lite::future::block_on(group.call(1, || async { 5 })), 5);
        assert!(count().contains("calls: 0"), "{}", count());
    }

    #[test]
    fn is_counted_right_by_many_threads() {
        let (group, running) = (Group::<u32, u32>::new(), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for n in 0..500 {
                        let alone = || async {
                            assert_eq!(running.fetch_add(1, SeqCst), 0, "two run at once");
                            futures_lite::future::yield_now().await;
                            running.fetch_sub(1, SeqCst);
                            n
                        };
                        futures_lite::future::block_on(group.call(7, alone));
                    }
                });
            }
        });
        assert!(format!("{group:?}").contains("calls: 0"), "{group:?}");
    }
}
