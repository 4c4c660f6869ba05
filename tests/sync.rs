//! Locks, and waiting for others. A module names the property, a function the situation.

mod polled;

use polled::{Woken, poll, poll_with};
use spinpark::sync::{Cond, Mutex, OnceCell, RwLock, Semaphore, WaitGroup};
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
        assert_eq!(shared.0.try_lock().map(|count| *count), Some(4_000));
    }

    #[test]
    fn is_handed_over_to_who_has_waited_long() {
        // Threads, so that nobody asks the greedy one to yield.
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
        while shared.0.try_lock().is_some() {
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
        assert!(mutex.try_lock().is_some());
    }
}

mod a_reader_writer_lock {
    use super::*;

    #[test]
    fn lets_many_read_and_one_write() {
        let lock = RwLock::new(1);
        let (one, two) = (lock.try_read(), lock.try_read());
        assert!(one.is_some() && two.is_some() && lock.try_write().is_none());
        let mut write = pin!(lock.write());
        assert!(poll(write.as_mut()).is_pending());
        assert!(lock.try_read().is_none(), "a reader overtakes the writer that waits");
        drop((one, two));
        match poll(write) {
            Poll::Ready(mut value) => *value += 1,
            Poll::Pending => panic!("nobody reads any more"),
        }
        assert_eq!(lock.try_read().as_deref(), Some(&2));
    }
}

mod a_semaphore {
    use super::*;

    #[test]
    fn lets_so_many_in() {
        let semaphore = Semaphore::new(2);
        let both = (semaphore.try_acquire(), semaphore.try_acquire());
        assert!(both.0.is_some() && both.1.is_some() && semaphore.try_acquire().is_none());
        let mut third = pin!(semaphore.acquire());
        assert!(poll(third.as_mut()).is_pending());
        drop(both);
        assert!(poll(third).is_ready());
        semaphore.add_permits(1);
        let three = [(); 3].map(|()| semaphore.try_acquire());
        assert!(three.iter().all(Option::is_some) && semaphore.try_acquire().is_none());
    }
}

mod a_once_cell {
    use super::*;

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
        assert!(poll(pin!(group.wait())).is_ready(), "there is nobody to wait for");
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
        let panic = catch_unwind(AssertUnwindSafe(|| group.done())).expect_err("nobody was added");
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
        assert!(mutex.try_lock().is_none(), "it is unlocked when it begins to wait, not before");
        assert!(poll(wait.as_mut()).is_pending());
        *mutex.try_lock().expect("who waits does not lock") = 7;
        assert!(poll(wait.as_mut()).is_pending(), "it was not notified");
        let held = mutex.try_lock();
        cond.notify_one();
        assert!(poll(wait.as_mut()).is_pending(), "it is locked");
        drop(held);
        match poll(wait) {
            Poll::Ready(guard) => assert_eq!((*guard, mutex.try_lock().is_none()), (7, true)),
            Poll::Pending => panic!("it was notified, and the mutex is free"),
        }
        assert!(mutex.try_lock().is_some());
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
        cond.notify_all(); // nobody is there
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
                                // Some give up, and try again: nobody is forgotten for that.
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
