//! Time. A module names the property, a function the situation.

use spinpark::time::{Elapsed, MissedTickBehavior, interval, interval_at, sleep, sleep_until, timeout, timeout_at};
use spinpark::{Runtime, spawn, yield_now};
use std::future::{pending, ready};
use std::thread;
use std::time::{Duration, Instant};

const MS: Duration = Duration::from_millis(1);

fn with_procs(n: usize) -> Runtime {
    Runtime::builder().procs(n).build().expect("a runtime")
}

/// The shortest of some tries: the machine may be busy, but not every time.
fn shortest(tries: u32, mut measure: impl FnMut() -> Duration) -> Duration {
    (0..tries).map(|_| measure()).min().expect("one try at least")
}

mod a_sleep {
    use super::*;

    #[test]
    fn is_never_too_short() {
        let runtime = with_procs(2);
        let tasks: Vec<_> = (0..200)
            .map(|n| {
                runtime.spawn(async move {
                    let (start, time) = (Instant::now(), MS * (n % 20));
                    sleep(time).await;
                    assert!(start.elapsed() >= time, "{:?} instead of {time:?}", start.elapsed());
                })
            })
            .collect();
        tasks.into_iter().for_each(|task| task.join().expect("it was long enough"));
    }

    #[test]
    fn is_not_much_too_long_on_an_idle_runtime() {
        let runtime = with_procs(2);
        let late = shortest(20, || {
            let start = Instant::now();
            runtime.block_on(sleep(5 * MS)).expect("no deadlock");
            start.elapsed() - 5 * MS
        });
        assert!(late < 2 * MS, "{late:?} late");
    }

    #[test]
    fn of_no_time_does_not_wait() {
        // Not even for a runtime.
        futures_lite::future::block_on(async {
            sleep(Duration::ZERO).await;
            sleep_until(Instant::now() - MS).await;
        });
    }

    #[test]
    fn knows_when_it_is_over() {
        let moment = Instant::now() + 5 * MS;
        let mut sleep = sleep_until(moment);
        assert_eq!(sleep.deadline(), moment);
        sleep.reset(moment + MS);
        assert_eq!(sleep.deadline(), moment + MS);
    }

    #[test]
    fn of_all_time_there_is_waits() {
        let outcome = with_procs(1).block_on(timeout(5 * MS, sleep(Duration::MAX)));
        assert!(outcome.expect("no deadlock").is_err());
    }

    #[test]
    fn can_be_moved_between_tasks() {
        let runtime = with_procs(2);
        let start = Instant::now();
        let mut moved = Box::pin(sleep(20 * MS));
        runtime
            .block_on(async {
                assert!(futures_lite::future::poll_once(&mut moved).await.is_none());
            })
            .expect("no deadlock");
        runtime.spawn(moved).join().expect("it is woken there");
        assert!(start.elapsed() >= 20 * MS);
    }

    #[test]
    fn that_is_dropped_is_forgotten() {
        let runtime = with_procs(1);
        runtime
            .block_on(async {
                for _ in 0..10_000 {
                    let mut long = sleep(Duration::from_secs(3600));
                    assert!(futures_lite::future::poll_once(&mut long).await.is_none());
                }
                let mut short = sleep(MS);
                short.reset(Instant::now() + 2 * MS);
                short.await;
            })
            .expect("no deadlock");
    }
}

/// A task that waits for a timer is woken at the moment to which that was set last, and is not polled before.
mod a_reset {
    use super::*;
    use std::future::poll_fn;
    use std::pin::Pin;
    use std::sync::{Arc, Mutex, mpsc};
    use std::task::{Context, Poll};

    const HOUR: Duration = Duration::from_secs(3600);

    /// A task polls `timer`, and waits; then a task or this thread resets it. `false`: the task is not woken.
    fn wakes<T: Send + 'static>(
        timer: T,
        poll: fn(&mut T, &mut Context<'_>) -> Poll<()>,
        reset: fn(&mut T),
        by_a_task: bool,
    ) -> bool {
        let runtime = with_procs(2);
        let timer = Arc::new(Mutex::new(timer));
        let (polls, is_polled) = mpsc::channel();
        let waiter = runtime.spawn({
            let timer = Arc::clone(&timer);
            poll_fn(move |cx| {
                let polled = poll(&mut timer.lock().expect("no panic"), cx);
                polls.send(()).expect("it is waited for");
                polled
            })
        });
        is_polled.recv().expect("it is polled");
        let reset = move || reset(&mut timer.lock().expect("no panic"));
        match by_a_task {
            true => runtime.go(reset).join().expect("no panic"),
            false => reset(),
        }
        is_polled.recv_timeout(20 * 1000 * MS).is_ok() && runtime.block_on(waiter).expect("no deadlock").is_ok()
    }

    fn of_a_sleep_wakes(time: Duration, reset: fn(&mut spinpark::time::Sleep)) {
        for by_a_task in [true, false] {
            let woken = wakes(sleep(time), |sleep, cx| Pin::new(sleep).poll(cx), reset, by_a_task);
            assert!(woken, "of {time:?}, by a task: {by_a_task}");
        }
    }

    #[test]
    fn to_an_earlier_moment() {
        of_a_sleep_wakes(HOUR, |sleep| sleep.reset(Instant::now() + 5 * MS));
        of_a_sleep_wakes(Duration::MAX, |sleep| sleep.reset(Instant::now() + 5 * MS));
    }

    #[test]
    fn to_a_moment_that_has_passed() {
        of_a_sleep_wakes(HOUR, |sleep| sleep.reset(Instant::now() - MS));
        of_a_sleep_wakes(Duration::MAX, |sleep| sleep.reset(Instant::now()));
    }

    #[test]
    fn again_and_again() {
        of_a_sleep_wakes(HOUR, |sleep| {
            for time in [2 * HOUR, HOUR, Duration::from_secs(1 << 40), 5 * MS] {
                sleep.reset(Instant::now() + time);
            }
        });
    }

    #[test]
    fn of_an_interval() {
        let resets: [fn(&mut spinpark::time::Interval); 3] = [
            |ticks| ticks.reset_immediately(),
            |ticks| ticks.reset_after(5 * MS),
            |ticks| ticks.reset_at(Instant::now()),
        ];
        for reset in resets {
            let ticks = interval_at(Instant::now() + HOUR, HOUR);
            assert!(wakes(ticks, |ticks, cx| ticks.poll_tick(cx).map(drop), reset, true));
        }
        let ticks = interval_at(Instant::now() + HOUR, 5 * MS);
        assert!(wakes(ticks, |ticks, cx| ticks.poll_tick(cx).map(drop), |ticks| ticks.reset(), true));
    }

    #[test]
    fn in_the_poll_that_has_polled_it() {
        let mut timer = sleep(HOUR);
        let mut is_first = true;
        let waits = poll_fn(move |cx| {
            let polled = Pin::new(&mut timer).poll(cx);
            if std::mem::take(&mut is_first) {
                timer.reset(Instant::now() + 5 * MS);
            }
            polled
        });
        with_procs(1).run(async { timeout(20 * 1000 * MS, waits).await.expect("it is woken") });
    }

    #[test]
    fn on_a_thread_of_another_runtime() {
        let (runtime, other) = (with_procs(1), with_procs(1));
        let timer = Arc::new(Mutex::new(sleep(HOUR)));
        let theirs = Arc::clone(&timer);
        let waiter = runtime.spawn(poll_fn(move |cx| Pin::new(&mut *theirs.lock().expect("no panic")).poll(cx)));
        thread::sleep(5 * MS);
        other.go(move || timer.lock().expect("no panic").reset(Instant::now())).join().expect("no panic");
        assert!(runtime.block_on(timeout(20 * 1000 * MS, waiter)).expect("no deadlock").is_ok(), "it is not woken");
    }
}

mod a_timer_is_kept {
    use super::*;

    #[test]
    fn though_the_task_that_added_it_keeps_its_p() {
        // The other P runs it, or the monitor sees that it is due.
        let runtime = with_procs(2);
        let late = shortest(5, || {
            let start = Instant::now();
            let hog = runtime.spawn(async move {
                let sleeper = spawn(async move {
                    sleep(3 * MS).await;
                    start.elapsed() - 3 * MS
                });
                yield_now().await;
                while start.elapsed() < 60 * MS {
                    std::hint::spin_loop();
                }
                sleeper.await.expect("a value")
            });
            hog.join().expect("a value")
        });
        assert!(late < 40 * MS, "{late:?} late");
    }

    #[test]
    fn though_every_task_yields_all_the_time() {
        let runtime = with_procs(1);
        let start = Instant::now();
        runtime
            .block_on(async {
                let hogs: Vec<_> = (0..3)
                    .map(|_| {
                        spawn(async move {
                            while start.elapsed() < 100 * MS {
                                yield_now().await;
                            }
                        })
                    })
                    .collect();
                let late = spawn(async move {
                    sleep(5 * MS).await;
                    start.elapsed() - 5 * MS
                });
                let late = late.await.expect("a value");
                assert!(late < 50 * MS, "{late:?} late");
                for hog in hogs {
                    hog.await.expect("a value");
                }
            })
            .expect("no deadlock");
    }

    #[test]
    fn when_the_number_of_ps_shrinks() {
        let runtime = with_procs(4);
        let tasks: Vec<_> = (0..40).map(|n| runtime.spawn(sleep(MS * (10 + n % 7)))).collect();
        thread::sleep(2 * MS);
        runtime.set_procs(1).expect("a number that is allowed");
        tasks.into_iter().for_each(|task| task.join().expect("a value"));
    }

    #[test]
    fn while_the_last_thread_goes_to_sleep() {
        // golang/go #44868, on real cores: an outsider adds a timer while the runtime becomes idle.
        let runtime = with_procs(2);
        for round in 0..500 {
            let touch = runtime.spawn(async move {
                if round % 3 == 0 {
                    yield_now().await;
                }
            });
            runtime.block_on(sleep(Duration::from_micros(200 + round % 50))).expect("no deadlock");
            touch.join().expect("a value");
        }
    }

    #[test]
    fn that_is_earlier_than_the_one_that_is_waited_for() {
        let runtime = with_procs(1);
        let late = shortest(5, || {
            let long = runtime.spawn(timeout(300 * MS, pending::<()>()));
            thread::sleep(10 * MS);
            let start = Instant::now();
            runtime.block_on(sleep(5 * MS)).expect("no deadlock");
            let late = start.elapsed() - 5 * MS;
            long.abort();
            late
        });
        assert!(late < 20 * MS, "{late:?} late");
    }
}

mod a_timeout {
    use super::*;

    #[test]
    fn gives_the_value_that_comes_in_time() {
        let runtime = with_procs(1);
        assert_eq!(runtime.block_on(timeout(MS, ready(3))).expect("no deadlock"), Ok(3));
    }

    #[test]
    fn ends_what_takes_too_long() {
        let runtime = with_procs(1);
        let outcome = runtime.block_on(timeout_at(Instant::now() + 2 * MS, pending::<()>())).expect("no deadlock");
        let elapsed: Elapsed = outcome.expect_err("it never ends");
        assert_eq!(std::io::Error::from(elapsed).kind(), std::io::ErrorKind::TimedOut);
    }
}

mod an_interval {
    use super::*;

    #[test]
    fn keeps_its_beat() {
        let runtime = with_procs(1);
        let start = Instant::now();
        runtime
            .block_on(async {
                let mut ticks = interval_at(start + MS, MS);
                for n in 1..=20 {
                    ticks.tick().await;
                    assert!(start.elapsed() >= MS * n);
                }
            })
            .expect("no deadlock");
    }

    #[test]
    fn says_when_each_tick_was_due() {
        let start = Instant::now();
        with_procs(1).run(async {
            let mut ticks = interval_at(start + MS, 2 * MS);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
            assert_eq!((ticks.tick().await, ticks.tick().await), (start + MS, start + 3 * MS));
        });
    }

    #[test]
    fn from_before_the_clock_was_first_asked() {
        let first = Instant::now() - 10 * MS;
        thread::sleep(MS);
        with_procs(1).run(async {
            let mut ticks = interval_at(first, 3 * MS);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
            assert_eq!([ticks.tick().await, ticks.tick().await], [first, first + 3 * MS]);
            assert_eq!(sleep_until(first).deadline(), first);
        });
    }

    #[test]
    fn can_be_begun_again() {
        with_procs(1).run(async {
            let mut ticks = interval(60_000 * MS);
            ticks.tick().await;
            let begun = Instant::now();
            ticks.reset_immediately();
            assert!(ticks.tick().await >= begun);
            ticks.reset_after(2 * MS);
            assert!(ticks.tick().await >= begun + 2 * MS);
            ticks.reset_at(begun + MS);
            assert_eq!(ticks.tick().await, begun + MS);
            ticks.reset();
            assert!(timeout(2 * MS, ticks.tick()).await.is_err(), "a minute is not over");
        });
    }

    #[test]
    fn does_what_it_is_told_about_ticks_that_were_missed() {
        let runtime = with_procs(1);
        let ticks_in_time = |missed| {
            let run = async move {
                let mut ticks = interval(20 * MS);
                ticks.set_missed_tick_behavior(missed);
                ticks.tick().await;
                thread::sleep(90 * MS);
                let mut at_once = 0;
                while timeout(2 * MS, ticks.tick()).await.is_ok() {
                    at_once += 1;
                }
                at_once
            };
            runtime.block_on(run).expect("no deadlock")
        };
        assert!(ticks_in_time(MissedTickBehavior::Burst) >= 4);
        // The machine may stand still for longer than a tick, but not every time.
        assert!((0..5).any(|_| ticks_in_time(MissedTickBehavior::Delay) == 1));
        assert!((0..5).any(|_| ticks_in_time(MissedTickBehavior::Skip) <= 2));
    }

    #[test]
    #[should_panic(expected = "an interval of no time")]
    fn of_no_time_is_refused() {
        interval(Duration::ZERO);
    }
}

mod timers_of_the_same_moment {
    use super::*;

    /// The order in which sixty of them are over, no more than one look takes of those that are due (the monitor may take the rest,
    /// into the global queue); `None` if the moment came before the last began to wait.
    fn order(wait: Duration) -> Option<Vec<usize>> {
        // A task that is preempted goes to the global queue, and so out of its order.
        let runtime = Runtime::builder().procs(1).preemption(false).build().expect("a runtime");
        runtime.run(async {
            let (sends, order) = spinpark::chan::unbounded();
            let (begins, begun) = spinpark::chan::unbounded();
            let moment = Instant::now() + wait;
            for n in 0..60 {
                let (sends, begins) = (sends.clone(), begins.clone());
                spinpark::spawn(async move {
                    begins.try_send(n).expect("open");
                    spinpark::time::sleep_until(moment).await;
                    sends.try_send(n).expect("open");
                });
                // This future is run by a thread of its own: the next is spawned when this one runs on the only P.
                assert_eq!(begun.recv().await, Ok(n));
            }
            drop(sends);
            let in_time = Instant::now() < moment;
            let mut all = Vec::new();
            while let Ok(n) = order.recv().await {
                all.push(n);
            }
            in_time.then_some(all)
        })
    }

    #[test]
    fn are_over_in_the_order_in_which_they_were_first_polled() {
        let order = (0..8).find_map(|doubled| order(Duration::from_millis(20 << doubled))).expect("a second is enough");
        assert_eq!(order, (0..60).collect::<Vec<_>>());
    }
}

mod a_delay_queue {
    use super::*;
    use spinpark::deterministic;
    use spinpark::time::DelayQueue;
    use std::future::Future;

    const SECOND: Duration = Duration::from_secs(1);

    fn simulated<T>(seed: u64, future: impl Future<Output = T>) -> T {
        Runtime::builder().procs(2).deterministic(seed).build().expect("a runtime").run(future)
    }

    async fn all<T>(queue: &mut DelayQueue<T>) -> Vec<T> {
        let mut all = Vec::new();
        while let Some(expired) = queue.next().await {
            assert!(expired.deadline() <= deterministic::now(), "it is too early");
            all.push(expired.into_inner());
        }
        all
    }

    #[test]
    fn gives_values_by_deadline_and_equal_ones_first_in_first_out() {
        for seed in 0..20 {
            simulated(seed, async {
                let (mut queue, moment) = (DelayQueue::new(), deterministic::now() + 9 * SECOND);
                for n in 0..20 {
                    queue.insert_at(100 + n, moment);
                    queue.insert(n, (20 - n) * SECOND / 4);
                }
                assert_eq!(queue.len(), 40);
                let expected: Vec<_> = (0..20).rev().chain(100..120).collect();
                assert_eq!(all(&mut queue).await, expected);
                assert!(queue.is_empty() && queue.peek().is_none());
            });
        }
    }

    #[test]
    fn moves_a_value_that_is_reset_behind_its_equals() {
        simulated(3, async {
            let (mut queue, moment) = (DelayQueue::new(), deterministic::now() + SECOND);
            let keys: Vec<_> = (0..4).map(|n| queue.insert_at(n, moment)).collect();
            queue.reset_at(&keys[1], moment);
            queue.reset(&keys[3], Duration::ZERO);
            assert_eq!(queue.peek(), Some(keys[3]));
            assert_eq!(queue.remove(&keys[0]).key(), keys[0]);
            assert_eq!(all(&mut queue).await, [3, 2, 1]);
        });
    }

    #[test]
    fn wakes_its_task_for_a_value_that_comes_later_and_is_due_sooner() {
        use std::sync::{Arc, Mutex};
        use std::task::Poll;

        simulated(5, async {
            let queue = Arc::new(Mutex::new(DelayQueue::new()));
            queue.lock().expect("no panic").insert("late", 3600 * SECOND);
            let theirs = Arc::clone(&queue);
            let from = deterministic::now();
            let waits = spinpark::spawn(std::future::poll_fn(move |cx| {
                match theirs.lock().expect("no panic").poll_expired(cx) {
                    Poll::Ready(expired) => Poll::Ready(expired.map(|expired| expired.into_inner())),
                    Poll::Pending => Poll::Pending,
                }
            }));
            sleep(SECOND).await;
            queue.lock().expect("no panic").insert("soon", SECOND);
            assert_eq!(waits.await.expect("no panic"), Some("soon"));
            assert!(deterministic::now() - from < 60 * SECOND);
        });
    }

    #[test]
    fn loses_nothing_when_its_wait_is_given_up() {
        simulated(7, async {
            let mut queue = DelayQueue::new();
            let key = queue.insert(1, 10 * SECOND);
            for _ in 0..5 {
                assert!(timeout(SECOND, queue.next()).await.is_err());
            }
            assert!(queue.deadline(&key).is_some());
            assert_eq!(queue.next().await.map(|expired| expired.into_inner()), Some(1));
            assert!(queue.next().await.is_none());
            queue.insert(2, SECOND);
            assert_eq!(all(&mut queue).await, [2]);
        });
    }

    #[test]
    fn knows_no_key_of_what_is_gone() {
        let mut queue = DelayQueue::new();
        let key = queue.insert(1, SECOND);
        queue.clear();
        let other = queue.insert(2, SECOND);
        assert!(queue.try_remove(&key).is_none() && key != other);
        let panics = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| queue.reset(&key, SECOND)));
        assert!(panics.is_err());
        assert_eq!(queue.remove(&other).into_inner(), 2);
    }

    #[test]
    fn that_is_dropped_leaves_no_timer() {
        let runtime = Runtime::builder().procs(1).build().expect("a runtime");
        runtime.run(async {
            let mut queue = DelayQueue::new();
            queue.insert(1, 3600 * SECOND);
            assert!(timeout(Duration::from_millis(1), queue.next()).await.is_err());
            assert_eq!(runtime.metrics().timers, 1);
            drop(queue);
            assert_eq!(runtime.metrics().timers, 0);
        });
    }
}

/// One dispatch in 61 is a turn of timers and of what comes from outside. Beside tasks that run for half a millisecond it comes sooner.
mod beside_tasks_that_compute_and_yield {
    use super::*;
    use spinpark::Handle;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    /// How long `f` takes five times in a row, the shortest of three tries, beside two such tasks on one P.
    fn five_times(f: impl Fn(&Handle)) -> Duration {
        let runtime = with_procs(1);
        let is_over = Arc::new(AtomicBool::new(false));
        let hogs = [Arc::clone(&is_over), Arc::clone(&is_over)].map(|is_over| {
            runtime.spawn(async move {
                // Relaxed: the last turn.
                while !is_over.load(Relaxed) {
                    let since = Instant::now();
                    while since.elapsed() < MS / 2 {}
                    yield_now().await;
                }
            })
        });
        let handle = runtime.handle();
        let took = shortest(3, || {
            let start = Instant::now();
            (0..5).for_each(|_| f(&handle));
            start.elapsed()
        });
        // Relaxed: as above.
        is_over.store(true, Relaxed);
        hogs.into_iter().for_each(|hog| hog.join().expect("it ends"));
        took
    }

    #[test]
    fn what_is_spawned_from_outside_runs_soon() {
        let took = five_times(|runtime| runtime.spawn(async {}).join().expect("it ends"));
        assert!(took < 60 * MS, "{took:?}: five times 61 dispatches are 150 ms");
    }

    #[test]
    fn a_timer_is_not_late() {
        let task = |runtime: &Handle| runtime.spawn(async { sleep(MS).await }).join().expect("it ends");
        let took = five_times(task);
        assert!(took < 75 * MS, "{took:?}: five times 61 dispatches are 150 ms");
    }
}
