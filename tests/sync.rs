//! Locks, and waiting for others. A module names the property, a function the situation.

use crate::polled::{Woken, poll, poll_with};
use spinpark::sync::{Cond, Mutex, OnceCell, RwLock, Semaphore, TryAcquireError, WaitGroup};
use spinpark::{Runtime, spawn, time, yield_now};
use std::collections::VecDeque;
use std::future::ready;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

fn with_procs(n: usize) -> Runtime {
    Runtime::builder().procs(n).build().expect("a runtime")
}

/// Computes for so long.
fn spin(time: Duration) {
    let since = Instant::now();
    while since.elapsed() < time {
        std::hint::spin_loop();
    }
}

mod a_mutex {
    use super::*;

    #[test]
    fn lets_one_in_at_a_time() {
        let runtime = with_procs(4);
        let shared = Arc::new((Mutex::new(0), AtomicBool::new(false)));
        let tasks: Vec<_> = (0..8)
            .map(|_| {
                let shared = Arc::clone(&shared);
                runtime.spawn(async move {
                    for _ in 0..500 {
                        let mut count = shared.0.lock().await;
                        assert!(!shared.1.swap(true, SeqCst), "another is in");
                        *count += 1;
                        yield_now().await;
                        shared.1.store(false, SeqCst);
                    }
                })
            })
            .collect();
        tasks.into_iter().for_each(|task| task.join().expect("no panic"));
        assert_eq!(shared.0.try_lock().map(|count| *count), Ok(4_000));
    }

    #[test]
    fn is_handed_over_to_who_has_waited_long() {
        // Threads, so that the greedy one is not asked to yield.
        let shared = Arc::new((Mutex::new(()), AtomicBool::new(false), AtomicBool::new(false)));
        let greedy = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                futures_lite::future::block_on(async {
                    let mut since_waiting = 0;
                    let since = Instant::now();
                    while !shared.2.load(SeqCst) && since.elapsed() < Duration::from_secs(20) {
                        let guard = shared.0.lock().await;
                        spin(Duration::from_micros(300));
                        since_waiting += usize::from(shared.1.load(SeqCst));
                        drop(guard); // and locked again at once
                    }
                    since_waiting
                })
            }
        });
        while shared.0.try_lock().is_ok() {
            thread::yield_now();
        }
        shared.1.store(true, SeqCst);
        futures_lite::future::block_on(async {
            let guard = shared.0.lock().await;
            shared.2.store(true, SeqCst);
            drop(guard);
        });
        let rounds = greedy.join().expect("no panic");
        assert!(rounds < 100, "the one that waited was passed over {rounds} times");
    }

    #[test]
    fn that_is_always_free_does_not_keep_its_p() {
        let runtime = with_procs(1);
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_over);
        let busy = runtime.spawn(async move {
            let mutex = Mutex::new(0_u64);
            let since = Instant::now();
            while !seen.load(SeqCst) && since.elapsed() < Duration::from_secs(20) {
                *mutex.lock().await += 1;
            }
            seen.load(SeqCst)
        });
        let other = runtime.spawn(async move { is_over.store(true, SeqCst) });
        assert!(busy.join().expect("no panic"), "the other came to nothing for 20 s");
        other.join().expect("no panic");
    }

    #[test]
    fn is_free_after_a_panic_under_it() {
        let runtime = with_procs(1);
        let mutex = Arc::new(Mutex::new(1));
        let locked = Arc::clone(&mutex);
        let task = runtime.spawn(async move {
            let _guard = locked.lock().await;
            panic!("a task of this test");
        });
        assert!(task.join().is_err());
        assert!(mutex.try_lock().is_ok());
    }
}

mod a_reader_writer_lock {
    use super::*;

    #[test]
    fn lets_many_read_and_one_write() {
        let lock = RwLock::new(1);
        let (one, two) = (lock.try_read(), lock.try_read());
        assert!(one.is_ok() && two.is_ok() && lock.try_write().is_err());
        let mut write = pin!(lock.write());
        assert!(poll(write.as_mut()).is_pending());
        assert!(lock.try_read().is_err(), "a reader overtakes the writer that waits");
        drop((one, two));
        match poll(write) {
            Poll::Ready(mut value) => *value += 1,
            Poll::Pending => panic!("no reader is left"),
        }
        assert_eq!(lock.try_read().as_deref(), Ok(&2));
    }

    #[test]
    fn is_kept_by_a_writer_that_only_reads_from_now_on() {
        let lock = Arc::new(RwLock::new(1));
        let mut writer = lock.try_write().expect("it is free");
        *writer = 2;
        let mut waits = pin!(lock.read());
        assert!(poll(waits.as_mut()).is_pending());
        let reader = writer.downgrade();
        assert!(poll(waits.as_mut()).is_ready(), "many look");
        assert!(lock.try_write().is_err());
        drop(reader);
        let reader = Arc::clone(&lock).try_write_owned().expect("it is free").downgrade();
        assert_eq!(*lock.try_read().expect("many look"), 2);
        drop(reader);
        assert!(lock.try_write().is_ok());
        assert_eq!(Arc::strong_count(&lock), 1);
    }

    #[test]
    fn starves_neither_readers_nor_writers() {
        for (procs, writes) in [(1, true), (1, false), (2, true), (2, false)] {
            let runtime = with_procs(procs);
            let (lock, is_over) = (Arc::new(RwLock::new(0)), Arc::new(AtomicBool::new(false)));
            for _ in 0..2 {
                let (lock, is_over) = (Arc::clone(&lock), Arc::clone(&is_over));
                drop(runtime.spawn(async move {
                    while !is_over.load(SeqCst) {
                        let mut guards = (None, None);
                        if writes {
                            guards.0 = Some(lock.write().await);
                        } else {
                            guards.1 = Some(lock.read().await);
                        }
                        time::sleep(Duration::from_micros(100)).await;
                        drop(guards);
                    }
                }));
            }
            let waits = async {
                for _ in 0..20 {
                    let limit = Duration::from_secs(5);
                    if writes {
                        drop(time::timeout(limit, lock.read()).await.expect("in time"));
                    } else {
                        *time::timeout(limit, lock.write()).await.expect("in time") += 1;
                    }
                }
                is_over.store(true, SeqCst);
            };
            runtime.block_on(waits).expect("no deadlock");
        }
    }
}

mod a_semaphore {
    use super::*;

    #[test]
    fn lets_so_many_in() {
        let semaphore = Semaphore::new(2);
        let both = (semaphore.try_acquire(), semaphore.try_acquire());
        assert!(both.0.is_ok() && both.1.is_ok() && semaphore.try_acquire().is_err());
        let mut third = pin!(semaphore.acquire());
        assert!(poll(third.as_mut()).is_pending());
        drop(both);
        assert!(poll(third).is_ready());
        semaphore.add_permits(1);
        let three = [(); 3].map(|()| semaphore.try_acquire());
        assert!(three.iter().all(Result::is_ok) && semaphore.try_acquire().is_err());
    }

    #[test]
    fn serves_in_the_order_of_coming_whatever_they_want() {
        let semaphore = Semaphore::new(1);
        let mut many = pin!(semaphore.acquire_many(3));
        let mut few = pin!(semaphore.acquire());
        assert!(
            poll(many.as_mut()).is_pending() && poll(few.as_mut()).is_pending(),
            "one waits for three, one behind it"
        );
        assert_eq!(semaphore.try_acquire().expect_err("others wait"), TryAcquireError::NoPermits);
        semaphore.add_permits(1);
        assert!(poll(few.as_mut()).is_pending(), "a waiter for few has overtaken one for many");
        semaphore.add_permits(1);
        let Poll::Ready(Ok(three)) = poll(many.as_mut()) else { panic!("there are three") };
        assert!(poll(few.as_mut()).is_pending());
        drop(three);
        assert!(matches!(poll(few.as_mut()), Poll::Ready(Ok(_))));
    }

    #[test]
    fn loses_nothing_when_one_that_waits_is_dropped() {
        let semaphore = Semaphore::new(1);
        let mut many = Box::pin(semaphore.acquire_many(3));
        let mut few = pin!(semaphore.acquire());
        assert!(poll(many.as_mut()).is_pending() && poll(few.as_mut()).is_pending());
        drop(many);
        assert!(matches!(poll(few.as_mut()), Poll::Ready(Ok(_))), "the waiter behind it is served");
        let out = semaphore.try_acquire().expect("one is free");
        let mut served = Box::pin(semaphore.acquire());
        assert!(poll(served.as_mut()).is_pending());
        drop(out);
        drop(served); // it was served, and has not looked
        assert_eq!(semaphore.available_permits(), 1);
    }

    #[test]
    fn that_is_closed_tells_everybody() {
        let semaphore = Semaphore::new(1);
        let out = semaphore.try_acquire().expect("it is free");
        let mut waits = pin!(semaphore.acquire());
        assert!(poll(waits.as_mut()).is_pending());
        semaphore.close();
        assert!(semaphore.is_closed());
        let Poll::Ready(Err(error)) = poll(waits.as_mut()) else { panic!("it is closed") };
        assert!(error.to_string().contains("closed"), "{error}");
        drop(out);
        assert_eq!(semaphore.available_permits(), 1);
        assert_eq!(semaphore.try_acquire().expect_err("it is closed"), TryAcquireError::Closed);
    }

    #[test]
    fn takes_no_more_permits_than_it_can_count() {
        let full = Semaphore::new(Semaphore::MAX_PERMITS);
        catch_unwind(AssertUnwindSafe(|| full.add_permits(1))).expect_err("there are too many");
        catch_unwind(AssertUnwindSafe(|| full.add_permits(usize::MAX))).expect_err("there are too many");
        assert_eq!(full.available_permits(), Semaphore::MAX_PERMITS, "nothing has changed");
        assert_eq!(full.forget_permits(usize::MAX), Semaphore::MAX_PERMITS);
        catch_unwind(|| drop(Semaphore::new(usize::MAX))).expect_err("there are too many");
    }

    #[test]
    fn has_permits_that_are_split_and_merged() {
        let (semaphore, other) = (Semaphore::new(5), Semaphore::new(1));
        let mut four = semaphore.try_acquire_many(4).expect("there are five");
        let one = four.split(1).expect("it has four");
        assert!(four.split(4).is_none(), "it has three");
        assert_eq!((four.num_permits(), one.num_permits(), semaphore.available_permits()), (3, 1, 1));
        four.merge(one);
        let theirs = other.try_acquire().expect("it is free");
        catch_unwind(AssertUnwindSafe(|| four.merge(theirs))).expect_err("it is another's");
        assert_eq!(other.available_permits(), 1, "it was given back");
        drop(four);
        assert_eq!(semaphore.available_permits(), 5);
    }

    /// The one comes again at once, whenever it leaves.
    #[test]
    fn starves_nobody_beside_one_that_always_comes_again() {
        for procs in [1, 2] {
            let runtime = with_procs(procs);
            let semaphore = Arc::new(Semaphore::new(1));
            let greedy = Arc::clone(&semaphore);
            drop(runtime.spawn(async move {
                while let Ok(_permit) = greedy.acquire().await {
                    time::sleep(Duration::from_micros(100)).await;
                }
            }));
            let waits = async {
                for _ in 0..20 {
                    let permit = time::timeout(Duration::from_secs(5), semaphore.acquire()).await;
                    drop(permit.expect("in time").expect("it is open"));
                }
                semaphore.close();
            };
            runtime.block_on(waits).expect("no deadlock");
        }
    }
}

mod a_once_cell {
    use super::*;

    #[test]
    fn is_set_by_one_of_many_threads_that_race() {
        for _ in 0..50 {
            let cell = OnceCell::new();
            let set: usize = thread::scope(|scope| {
                let all: Vec<_> = (0..4)
                    .map(|n| {
                        scope.spawn({
                            let cell = &cell;
                            move || cell.set(n)
                        })
                    })
                    .collect();
                all.into_iter().map(|thread| usize::from(thread.join().expect("no panic").is_ok())).sum()
            });
            assert!(set == 1 && cell.initialized());
        }
    }

    #[test]
    fn is_not_set_while_a_task_makes_its_value_and_is_if_that_gave_up() {
        with_procs(1).run(async {
            let cell = OnceCell::new();
            let mut makes = Box::pin(cell.get_or_init(std::future::pending));
            assert!(time::timeout(Duration::from_millis(1), &mut makes).await.is_err());
            assert_eq!(cell.set(1), Err(1));
            assert!(!cell.initialized());
            let mut waits = Box::pin(cell.wait());
            assert!(time::timeout(Duration::from_millis(1), &mut waits).await.is_err());
            drop(makes);
            assert_eq!(cell.set(2), Ok(()));
            assert_eq!(*waits.await, 2);
        });
    }

    #[test]
    fn is_filled_by_one_and_the_others_wait_for_it() {
        let runtime = with_procs(4);
        let shared = Arc::new((OnceCell::new(), AtomicUsize::new(0)));
        let tasks: Vec<_> = (0..8)
            .map(|n| {
                let shared = Arc::clone(&shared);
                runtime.spawn(async move {
                    let make = || async {
                        shared.1.fetch_add(1, SeqCst);
                        time::sleep(Duration::from_millis(1)).await;
                        n
                    };
                    *shared.0.get_or_init(make).await
                })
            })
            .collect();
        let seen: Vec<_> = tasks.into_iter().map(|task| task.join().expect("no panic")).collect();
        assert!(seen.iter().all(|n| Some(n) == shared.0.get()), "{seen:?}");
        assert_eq!(shared.1.load(SeqCst), 1);
    }

    #[test]
    fn that_could_not_be_filled_is_tried_again() {
        let runtime = with_procs(1);
        let value = runtime.block_on(async {
            let cell = OnceCell::new();
            assert_eq!(cell.get_or_try_init(|| ready(Err("no"))).await, Err("no"));
            cell.get_or_try_init(|| ready(Ok::<_, &str>(3))).await.copied()
        });
        assert_eq!(value.expect("no deadlock"), Ok(3));
    }
}

mod a_wait_group {
    use super::*;

    #[test]
    fn is_waited_for_until_all_have_done() {
        let group = WaitGroup::new();
        group.add(2);
        let woken = Arc::new(Woken::default());
        let (mut one, mut two) = (pin!(group.wait()), pin!(group.wait()));
        assert!(poll_with(one.as_mut(), &woken).is_pending());
        assert!(poll_with(two.as_mut(), &woken).is_pending());
        group.done();
        assert!(poll_with(one.as_mut(), &woken).is_pending());
        assert_eq!((woken.times(), group.count()), (0, 1));
        group.done();
        assert_eq!(woken.times(), 2);
        assert!(poll(one).is_ready() && poll(two).is_ready());
    }

    #[test]
    fn is_used_again_and_who_waited_before_goes_on() {
        let group = WaitGroup::new();
        assert!(poll(pin!(group.wait())).is_ready(), "the count is zero");
        group.add(1);
        let mut wait = pin!(group.wait());
        assert!(poll(wait.as_mut()).is_pending());
        group.done();
        group.add(1);
        assert!(poll(wait).is_ready(), "it was zero meanwhile");
        assert!(poll(pin!(group.wait())).is_pending());
    }

    #[test]
    fn that_would_be_negative_panics_and_goes_on() {
        let group = WaitGroup::new();
        group.add(1);
        group.done();
        let panic = catch_unwind(AssertUnwindSafe(|| group.done())).expect_err("none was added");
        let message = panic.downcast_ref::<&str>().expect("a text");
        assert!(message.contains("negative"), "{message}");
        assert!(
            catch_unwind(AssertUnwindSafe(|| {
                group.add(usize::MAX);
                group.add(1)
            }))
            .is_err()
        );
        assert_eq!(group.count(), usize::MAX);
    }

    #[test]
    fn forgets_who_gives_up() {
        let group = WaitGroup::new();
        group.add(1);
        let woken = Arc::new(Woken::default());
        {
            let mut wait = pin!(group.wait());
            assert!(poll_with(wait.as_mut(), &woken).is_pending());
        }
        group.done();
        assert_eq!((woken.times(), Arc::strong_count(&woken)), (0, 1));
    }

    #[test]
    fn counts_tasks_on_all_cores() {
        let done = with_procs(4).block_on(async {
            let shared = Arc::new((WaitGroup::new(), AtomicUsize::new(0)));
            for round in 1..=200 {
                shared.0.add(20);
                for _ in 0..20 {
                    let shared = Arc::clone(&shared);
                    spawn(async move {
                        shared.1.fetch_add(1, SeqCst);
                        shared.0.done();
                    });
                }
                shared.0.wait().await;
                assert_eq!(shared.1.load(SeqCst), round * 20);
            }
        });
        done.expect("no deadlock");
    }
}

mod a_condition {
    use super::*;

    #[test]
    fn unlocks_while_it_waits_and_locks_again() {
        let (mutex, cond) = (Mutex::new(0), Cond::new());
        let mut wait = pin!(cond.wait(mutex.try_lock().expect("it is free")));
        assert!(mutex.try_lock().is_err(), "it is unlocked when it begins to wait, not before");
        assert!(poll(wait.as_mut()).is_pending());
        *mutex.try_lock().expect("a waiter does not lock") = 7;
        assert!(poll(wait.as_mut()).is_pending(), "it was not notified");
        let held = mutex.try_lock();
        cond.notify_one();
        assert!(poll(wait.as_mut()).is_pending(), "it is locked");
        drop(held);
        match poll(wait) {
            Poll::Ready(guard) => assert_eq!((*guard, mutex.try_lock().is_err()), (7, true)),
            Poll::Pending => panic!("it was notified, and the mutex is free"),
        }
        assert!(mutex.try_lock().is_ok());
    }

    #[test]
    fn wakes_the_first_or_all() {
        let (mutex, cond) = (Mutex::new(()), Cond::new());
        let woken = [(); 4].map(|()| Arc::new(Woken::default()));
        let mut waiting: Vec<_> = woken
            .iter()
            .map(|woken| {
                let mut wait = Box::pin(cond.wait(mutex.try_lock().expect("it is free")));
                assert!(poll_with(wait.as_mut(), woken).is_pending());
                wait
            })
            .collect();
        let times = || woken.each_ref().map(|woken| woken.times());
        cond.notify_one();
        assert_eq!(times(), [1, 0, 0, 0]);
        let first = waiting.remove(0);
        drop(futures_lite::future::block_on(first));
        assert_eq!(times(), [1, 0, 0, 0], "one that was notified, and came, passed it on");
        cond.notify_all();
        assert_eq!(times(), [1, 1, 1, 1]);
        assert!(waiting.iter_mut().all(|wait| poll(wait.as_mut()).is_ready()));
        cond.notify_all(); // there is no waiter
    }

    #[test]
    fn passes_on_what_was_meant_for_one_that_is_gone() {
        for has_looked in [false, true] {
            let (mutex, cond) = (Mutex::new(()), Cond::new());
            let woken = Arc::new(Woken::default());
            let mut first = Box::pin(cond.wait(mutex.try_lock().expect("it is free")));
            assert!(poll(first.as_mut()).is_pending());
            let mut second = Box::pin(cond.wait(mutex.try_lock().expect("it is free")));
            assert!(poll_with(second.as_mut(), &woken).is_pending());
            cond.notify_one();
            let held = mutex.try_lock();
            if has_looked {
                assert!(poll(first.as_mut()).is_pending(), "it is locked");
            }
            drop(first);
            assert_eq!(woken.times(), 1, "the notification is lost");
            drop(held);
            assert!(poll(second.as_mut()).is_ready());
        }
    }

    #[test]
    fn that_was_notified_to_all_is_not_passed_on() {
        let (mutex, cond) = (Mutex::new(()), Cond::new());
        let woken = Arc::new(Woken::default());
        let mut first = Box::pin(cond.wait(mutex.try_lock().expect("it is free")));
        assert!(poll(first.as_mut()).is_pending());
        cond.notify_all();
        let mut late = Box::pin(cond.wait(mutex.try_lock().expect("it is free")));
        assert!(poll_with(late.as_mut(), &woken).is_pending());
        drop(first);
        assert_eq!(woken.times(), 0);
        drop(late);
    }

    #[test]
    fn carries_a_queue_between_many() {
        const EACH: usize = 1_000;
        let shared = Arc::new((Mutex::new(VecDeque::new()), Cond::new(), Cond::new()));
        let sum = with_procs(4).block_on(async {
            for p in 0..3 {
                let shared = Arc::clone(&shared);
                spawn(async move {
                    for n in 0..EACH {
                        let mut queue = shared.0.lock().await;
                        while queue.len() == 4 {
                            queue = shared.2.wait(queue).await;
                        }
                        queue.push_back(p * EACH + n);
                        shared.1.notify_one();
                    }
                });
            }
            let takers: Vec<_> = (0..3)
                .map(|t| {
                    let shared = Arc::clone(&shared);
                    spawn(async move {
                        let mut sum = 0;
                        for n in 0..EACH {
                            let mut queue = shared.0.lock().await;
                            while queue.is_empty() {
                                // Some give up, and try again: no waiter is forgotten for that.
                                let wait = shared.1.wait(queue);
                                queue = match (n + t) % 3 {
                                    0 => match time::timeout(Duration::from_micros(30), wait).await {
                                        Ok(queue) => queue,
                                        Err(_) => shared.0.lock().await,
                                    },
                                    _ => wait.await,
                                };
                            }
                            sum += queue.pop_front().expect("it is not empty");
                            shared.2.notify_one();
                        }
                        sum
                    })
                })
                .collect();
            let mut sum = 0;
            for taker in takers {
                sum += taker.await.expect("no panic");
            }
            sum
        });
        assert_eq!(sum.expect("no deadlock"), (0..3 * EACH).sum());
    }
}
