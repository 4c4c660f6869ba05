//! What `sync` has by tokio's names. A module names the property, a function the situation.

use crate::polled::{Woken, poll, poll_with};
use spinpark::sync::{Barrier, Mutex as TaskMutex, Notify, RwLock, Semaphore, broadcast, oneshot, watch};
use spinpark::{Runtime, select, spawn, time, yield_now};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::task::Poll;
use std::thread;
use std::time::Duration;

fn with_procs(n: usize) -> Runtime {
    Runtime::builder().procs(n).build().expect("a runtime")
}

/// Counts how often it is dropped.
#[derive(Debug)]
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

mod a_notify {
    use super::*;

    #[test]
    fn keeps_one_permit_of_many() {
        let notify = Notify::new();
        (0..3).for_each(|_| notify.notify_one());
        assert!(poll(pin!(notify.notified())).is_ready());
        assert!(poll(pin!(notify.notified())).is_pending(), "two permits were kept");
    }

    #[test]
    fn wakes_those_that_wait_in_the_order_of_coming() {
        let notify = Notify::new();
        let woken = [(); 3].map(|()| Arc::new(Woken::default()));
        let mut waits: Vec<_> = woken.iter().map(|_| Box::pin(notify.notified())).collect();
        // In another order than that in which they were created.
        [2, 0, 1].iter().for_each(|&n| assert!(poll_with(waits[n].as_mut(), &woken[n]).is_pending()));
        let times = || woken.each_ref().map(|woken| woken.times());
        notify.notify_one();
        assert_eq!(times(), [0, 0, 1]);
        notify.notify_one();
        assert_eq!(times(), [1, 0, 1]);
        notify.notify_waiters();
        assert_eq!(times(), [1, 1, 1]);
        assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_ready()));
        assert!(poll(pin!(notify.notified())).is_pending(), "a permit is left");
    }

    #[test]
    fn of_all_ends_waits_that_were_created_and_no_others() {
        let notify = Notify::new();
        let mut before = pin!(notify.notified());
        notify.notify_waiters();
        assert!(poll(before.as_mut()).is_ready(), "it was created, and not polled");
        assert!(poll(before).is_ready(), "what is over stays so");
        assert!(poll(pin!(notify.notified())).is_pending());
    }

    #[test]
    fn of_all_leaves_the_permit() {
        let notify = Notify::new();
        notify.notify_one();
        let mut before = pin!(notify.notified());
        notify.notify_waiters();
        assert!(poll(before.as_mut()).is_ready());
        assert!(poll(pin!(notify.notified())).is_ready(), "a wait that needs none has taken the permit");
    }

    #[test]
    fn chooses_one_that_is_enabled() {
        let notify = Notify::new();
        let mut first = pin!(notify.notified());
        assert!(!first.as_mut().enable() && !first.as_mut().enable());
        let mut second = pin!(notify.notified());
        assert!(poll(second.as_mut()).is_pending());
        notify.notify_one();
        assert!(poll(second.as_mut()).is_pending(), "the first waits since it was enabled");
        assert!(first.as_mut().enable(), "it is notified");
        assert!(poll(first).is_ready());
        notify.notify_one();
        assert!(poll(second).is_ready());
        notify.notify_one();
        assert!(pin!(notify.notified()).enable(), "a permit is there");
    }

    #[test]
    fn passes_on_what_was_meant_for_one_that_is_gone() {
        let notify = Notify::new();
        let woken = Arc::new(Woken::default());
        let mut first = Box::pin(notify.notified());
        let mut second = Box::pin(notify.notified());
        assert!(poll(first.as_mut()).is_pending() && poll_with(second.as_mut(), &woken).is_pending());
        notify.notify_one();
        drop(first);
        assert_eq!(woken.times(), 1, "the notification is lost");
        drop(second);
        assert!(poll(pin!(notify.notified())).is_ready(), "the permit is lost");
    }

    #[test]
    fn of_all_is_not_passed_on_and_takes_no_permit_along() {
        let notify = Notify::new();
        let mut wait = Box::pin(notify.notified());
        assert!(poll(wait.as_mut()).is_pending());
        notify.notify_waiters();
        drop(wait);
        assert!(poll(pin!(notify.notified())).is_pending(), "it was passed on");
        let mut wait = Box::pin(notify.notified());
        assert!(poll(wait.as_mut()).is_pending());
        notify.notify_waiters();
        notify.notify_one();
        drop(wait);
        assert!(poll(pin!(notify.notified())).is_ready(), "the permit is gone");
    }

    #[test]
    fn forgets_the_wakers_of_who_gives_up() {
        let notify = Notify::new();
        let woken = Arc::new(Woken::default());
        {
            let mut wait = pin!(notify.notified());
            assert!(poll_with(wait.as_mut(), &woken).is_pending());
        }
        notify.notify_waiters();
        assert_eq!((woken.times(), Arc::strong_count(&woken)), (0, 1));
    }

    #[test]
    fn carries_a_queue_between_many() {
        const EACH: usize = 2_000;
        let shared = Arc::new((Mutex::new(VecDeque::new()), Notify::new()));
        let sum = with_procs(4).block_on(async {
            for p in 0..3 {
                let shared = Arc::clone(&shared);
                spawn(async move {
                    for n in 0..EACH {
                        shared.0.lock().expect("no panic").push_back(p * EACH + n);
                        shared.1.notify_one();
                        if n % 16 == 0 {
                            yield_now().await;
                        }
                    }
                });
            }
            let takers: Vec<_> = (0..3)
                .map(|t| {
                    let shared = Arc::clone(&shared);
                    spawn(async move {
                        let mut sum = 0;
                        for n in 0..EACH {
                            sum += loop {
                                let mut wait = pin!(shared.1.notified());
                                wait.as_mut().enable();
                                if let Some(n) = shared.0.lock().expect("no panic").pop_front() {
                                    break n;
                                }
                                // Some give up, and try again: no waiter is forgotten for that.
                                match (n + t) % 3 {
                                    0 => drop(time::timeout(Duration::from_micros(30), wait).await),
                                    _ => wait.await,
                                }
                            };
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

mod a_oneshot {
    use super::*;
    use oneshot::{Closed, TryRecvError};

    #[test]
    fn gives_what_was_sent_before_or_after() {
        let (sender, receiver) = oneshot::channel();
        assert_eq!(sender.send(7), Ok(()));
        assert_eq!(poll(pin!(receiver)), Poll::Ready(Ok(7)));
        let (sender, receiver) = oneshot::channel();
        let woken = Arc::new(Woken::default());
        let mut receiver = pin!(receiver);
        assert!(poll_with(receiver.as_mut(), &woken).is_pending());
        assert_eq!((sender.send(8), woken.times()), (Ok(()), 1));
        assert_eq!(poll(receiver.as_mut()), Poll::Ready(Ok(8)));
        assert_eq!(poll(receiver), Poll::Ready(Err(Closed)), "one value comes, and no second");
    }

    #[test]
    fn tells_the_receiver_that_the_sender_is_gone() {
        let (sender, receiver) = oneshot::channel::<u8>();
        let woken = Arc::new(Woken::default());
        let mut receiver = pin!(receiver);
        assert!(poll_with(receiver.as_mut(), &woken).is_pending());
        drop(sender);
        assert_eq!((woken.times(), poll(receiver)), (1, Poll::Ready(Err(Closed))));
    }

    #[test]
    fn tells_the_sender_that_the_receiver_is_gone() {
        for closes in [false, true] {
            let (mut sender, mut receiver) = oneshot::channel();
            let woken = Arc::new(Woken::default());
            assert!(!sender.is_closed());
            {
                let mut closed = pin!(sender.closed());
                assert!(poll_with(closed.as_mut(), &woken).is_pending());
                if closes {
                    receiver.close()
                } else {
                    drop(receiver)
                }
                assert_eq!((woken.times(), poll(closed)), (1, Poll::Ready(())));
            }
            assert!(sender.is_closed());
            assert_eq!(sender.send("late"), Err("late"));
        }
    }

    #[test]
    fn can_be_looked_at() {
        let (sender, mut receiver) = oneshot::channel();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        assert!(receiver.is_empty() && !receiver.is_terminated());
        sender.send(1).expect("it is there");
        assert!(!receiver.is_empty());
        receiver.close(); // what was sent can still be received
        receiver.close();
        assert_eq!(receiver.try_recv(), Ok(1));
        assert!(receiver.is_terminated());
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
        let (_sender, mut receiver) = oneshot::channel::<u8>();
        receiver.close();
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed), "it is closed, and nothing can come");
    }

    #[test]
    fn drops_what_nobody_takes_once_and_with_the_receiver() {
        let dropped = Arc::new(AtomicUsize::new(0));
        let (sender, receiver) = oneshot::channel();
        sender.send(Counted(Arc::clone(&dropped))).expect("it is there");
        assert_eq!(dropped.load(SeqCst), 0);
        drop(receiver);
        assert_eq!(dropped.load(SeqCst), 1);
        let (sender, receiver) = oneshot::channel();
        drop(receiver);
        drop(sender.send(Counted(Arc::clone(&dropped))));
        assert_eq!(dropped.load(SeqCst), 2);
    }

    #[test]
    fn keeps_no_waker_of_an_end_that_is_gone() {
        let woken = Arc::new(Woken::default());
        let (mut sender, receiver) = oneshot::channel::<u8>();
        let mut receiver = Box::pin(receiver);
        assert!(poll_with(receiver.as_mut(), &woken).is_pending());
        {
            let mut closed = pin!(sender.closed());
            assert!(poll_with(closed.as_mut(), &woken).is_pending());
        }
        assert_eq!(Arc::strong_count(&woken), 2, "a wait that was given up keeps a waker");
        drop(receiver);
        assert_eq!((Arc::strong_count(&woken), woken.times()), (1, 0));
    }

    #[test]
    fn is_a_case_of_a_select() {
        let answer = with_procs(2).block_on(async {
            let (sender, mut receiver) = oneshot::channel();
            select! {
                _ = &mut receiver => unreachable!("nothing was sent"),
                timeout(Duration::from_millis(1)) => (),
            }
            spawn(async move { sender.send(5) });
            select! {
                answer = &mut receiver => answer,
                timeout(Duration::from_secs(10)) => panic!("it was sent"),
            }
        });
        assert_eq!(answer.expect("no deadlock"), Ok(5));
    }

    #[test]
    fn has_one_owner_of_its_value_on_all_cores() {
        let counts = with_procs(4).block_on(async {
            let (mut got, mut back) = (0, 0);
            for n in 0..5_000 {
                let (sender, mut receiver) = oneshot::channel();
                let task = spawn(async move { sender.send(n).is_err() });
                if n % 3 == 0 {
                    yield_now().await;
                }
                if n % 2 == 0 {
                    receiver.close();
                }
                let received = receiver.await.is_ok();
                let came_back = task.await.expect("no panic");
                assert!(received != came_back, "received: {received}, came back: {came_back}");
                got += usize::from(received);
                back += usize::from(came_back);
            }
            (got, back)
        });
        assert_eq!(counts.map(|(got, back)| got + back), Ok(5_000));
    }
}

mod a_watched_value {
    use super::*;
    use watch::Closed;

    #[test]
    fn is_seen_once() {
        let (sender, mut receiver) = watch::channel(0);
        assert_eq!(receiver.has_changed(), Ok(false));
        assert!(poll(pin!(receiver.changed())).is_pending());
        sender.send(1).expect("there is a receiver");
        sender.send(2).expect("there is a receiver");
        assert_eq!((receiver.has_changed(), *receiver.borrow()), (Ok(true), 2));
        assert!(receiver.borrow().has_changed(), "to borrow is not to see");
        assert_eq!(poll(pin!(receiver.changed())), Poll::Ready(Ok(())));
        assert!(!receiver.borrow_and_update().has_changed());
        sender.send(3).expect("there is a receiver");
        {
            let value = receiver.borrow_and_update();
            assert_eq!((*value, value.has_changed()), (3, true));
        }
        assert!(poll(pin!(receiver.changed())).is_pending(), "it was seen");
        receiver.mark_changed();
        assert_eq!(poll(pin!(receiver.changed())), Poll::Ready(Ok(())));
        sender.send(4).expect("there is a receiver");
        receiver.mark_unchanged();
        assert_eq!(receiver.has_changed(), Ok(false));
    }

    #[test]
    fn wakes_all_that_wait() {
        let (sender, mut one) = watch::channel("");
        let mut other = one.clone();
        let woken = Arc::new(Woken::default());
        let (mut one, mut other) = (pin!(one.changed()), pin!(other.changed()));
        assert!(poll_with(one.as_mut(), &woken).is_pending() && poll_with(other.as_mut(), &woken).is_pending());
        assert_eq!(sender.send_replace("news"), "");
        assert_eq!(woken.times(), 2);
        assert!(poll(one).is_ready() && poll(other).is_ready());
    }

    #[test]
    fn is_changed_in_its_place_if_it_is() {
        let (sender, mut receiver) = watch::channel(vec![1]);
        assert!(!sender.send_if_modified(|_| false));
        assert_eq!(receiver.has_changed(), Ok(false));
        assert!(sender.send_if_modified(|value| {
            value.push(2);
            true
        }));
        sender.send_modify(|value| value.push(3));
        assert_eq!(*receiver.borrow_and_update(), [1, 2, 3]);
    }

    #[test]
    fn is_not_told_of_if_changing_it_panics_and_can_be_used_again() {
        let (sender, receiver) = watch::channel(0);
        let panic = catch_unwind(AssertUnwindSafe(|| {
            sender.send_modify(|value| {
                *value = 1;
                panic!("halfway");
            });
        }));
        assert!(panic.is_err());
        assert_eq!((receiver.has_changed(), *receiver.borrow()), (Ok(false), 1));
        assert_eq!((sender.send_replace(2), receiver.has_changed()), (1, Ok(true)));
    }

    #[test]
    fn ends_with_the_last_sender_after_the_last_value() {
        let (sender, mut receiver) = watch::channel(0);
        let other = sender.clone();
        assert_eq!((sender.sender_count(), receiver.is_closed()), (2, false));
        drop(sender);
        let woken = Arc::new(Woken::default());
        {
            let mut changed = pin!(receiver.changed());
            assert!(poll_with(changed.as_mut(), &woken).is_pending());
            other.send(1).expect("there is a receiver");
            drop(other);
            assert_eq!((woken.times(), poll(changed)), (1, Poll::Ready(Ok(()))), "the last value is told first");
        }
        assert_eq!(poll(pin!(receiver.changed())), Poll::Ready(Err(Closed)));
        assert_eq!((receiver.has_changed(), receiver.is_closed(), *receiver.borrow()), (Err(Closed), true, 1));
    }

    #[test]
    fn has_receivers_that_come_and_go() {
        let (sender, receiver) = watch::channel(0);
        let woken = Arc::new(Woken::default());
        let mut closed = pin!(sender.closed());
        assert!(poll_with(closed.as_mut(), &woken).is_pending());
        let clone = receiver.clone();
        drop(receiver);
        assert_eq!((woken.times(), sender.receiver_count()), (0, 1));
        drop(clone);
        assert_eq!((woken.times(), sender.is_closed()), (1, true));
        assert_eq!(sender.send(1).map_err(|error| error.into_inner()), Err(1));
        let late = sender.subscribe();
        assert!(poll(closed).is_ready(), "there was none for a moment");
        assert_eq!((*late.borrow(), late.has_changed()), (0, Ok(false)));
        assert_eq!(sender.send(2).map(|()| *late.borrow()).ok(), Some(2));
    }

    #[test]
    fn is_waited_for_by_a_task_on_any_thread() {
        fn is_send(future: impl Send) {
            drop(future);
        }
        let mut receiver = watch::channel(0).1;
        is_send(receiver.wait_for(|_| true));
        is_send(receiver.changed());
    }

    #[test]
    fn is_waited_for_until_it_is_as_wanted() {
        let seen = with_procs(2).block_on(async {
            let (sender, mut receiver) = watch::channel(0);
            spawn(async move {
                for n in 1..=100 {
                    sender.send_replace(n);
                    yield_now().await;
                }
            });
            let seen = *receiver.wait_for(|&n| n >= 50).await.expect("100 comes");
            let never = receiver.wait_for(|&n| n > 100).await.map(|value| *value);
            (seen >= 50, never)
        });
        assert_eq!(seen.expect("no deadlock"), (true, Err(Closed)));
    }

    #[test]
    fn that_is_always_as_wanted_lets_its_task_be_polled_anew() {
        let (runtime, over) = (with_procs(1), mpsc::channel());
        runtime.spawn(async move {
            let (_sender, mut receiver) = watch::channel(0);
            let for_ever = async { while receiver.wait_for(|_| true).await.is_ok() {} };
            over.0.send(time::timeout(Duration::from_millis(1), for_ever).await.is_err()).expect("it is awaited");
        });
        if over.1.recv_timeout(Duration::from_secs(20)) != Ok(true) {
            std::mem::forget(runtime); // its task never ends
            panic!("it is never polled anew, and so its time never over");
        }
    }

    #[test]
    fn is_seen_to_the_last_on_all_cores() {
        with_procs(4)
            .block_on(async {
                for _ in 0..200 {
                    let (sender, receiver) = watch::channel(0);
                    let receivers: Vec<_> = (0..3)
                        .map(|_| {
                            let mut receiver = receiver.clone();
                            spawn(async move {
                                let mut last = 0;
                                while receiver.changed().await.is_ok() {
                                    let value = *receiver.borrow_and_update();
                                    assert!(value >= last, "{value} after {last}");
                                    last = value;
                                }
                                last
                            })
                        })
                        .collect();
                    let senders: Vec<_> = (0..2)
                        .map(|_| {
                            let sender = sender.clone();
                            spawn(async move { (0..50).for_each(|_| sender.send_modify(|value| *value += 1)) })
                        })
                        .collect();
                    drop(sender);
                    for sender in senders {
                        sender.await.expect("no panic");
                    }
                    for receiver in receivers {
                        assert_eq!(receiver.await.expect("no panic"), 100);
                    }
                }
            })
            .expect("no deadlock");
    }
}

mod a_barrier {
    use super::*;

    #[test]
    fn lets_all_go_when_the_last_comes_who_leads() {
        let barrier = Barrier::new(3);
        let woken = Arc::new(Woken::default());
        let (mut one, mut two) = (pin!(barrier.wait()), pin!(barrier.wait()));
        assert!(poll_with(one.as_mut(), &woken).is_pending() && poll_with(two.as_mut(), &woken).is_pending());
        assert!(poll_with(one.as_mut(), &woken).is_pending(), "polled again it has come once");
        let leads = |polled: Poll<spinpark::sync::BarrierWaitResult>| match polled {
            Poll::Ready(result) => result.is_leader(),
            Poll::Pending => panic!("all have come"),
        };
        assert!(leads(poll(pin!(barrier.wait()))));
        assert_eq!(woken.times(), 2);
        assert!(!leads(poll(one)) && !leads(poll(two)));
        assert!(poll(pin!(barrier.wait())).is_pending(), "another round has begun");
    }

    #[test]
    fn for_none_is_as_for_one() {
        for n in [0, 1] {
            let barrier = Barrier::new(n);
            assert!(matches!(poll(pin!(barrier.wait())), Poll::Ready(result) if result.is_leader()));
            assert!(matches!(poll(pin!(barrier.wait())), Poll::Ready(result) if result.is_leader()));
        }
    }

    #[test]
    fn counts_one_that_came_and_is_gone() {
        let barrier = Barrier::new(2);
        let woken = Arc::new(Woken::default());
        {
            let mut gone = pin!(barrier.wait());
            assert!(poll_with(gone.as_mut(), &woken).is_pending());
        }
        drop(barrier.wait()); // never polled, so it has not come
        assert!(poll(pin!(barrier.wait())).is_ready());
        assert_eq!((woken.times(), Arc::strong_count(&woken)), (0, 1));
    }

    #[test]
    fn keeps_tasks_in_step_on_all_cores() {
        const PARTIES: usize = 5;
        const ROUNDS: usize = 500;
        let leaders = with_procs(4).block_on(async {
            let shared = Arc::new((Barrier::new(PARTIES), [const { AtomicUsize::new(0) }; PARTIES]));
            let parties: Vec<_> = (0..PARTIES)
                .map(|me| {
                    let shared = Arc::clone(&shared);
                    spawn(async move {
                        let mut leads = 0;
                        for round in 1..=ROUNDS {
                            shared.1[me].store(round, SeqCst);
                            leads += usize::from(shared.0.wait().await.is_leader());
                            for other in &shared.1 {
                                let at = other.load(SeqCst);
                                assert!(at == round || at == round + 1, "one is at {at} in round {round}");
                            }
                        }
                        leads
                    })
                })
                .collect();
            let mut leaders = 0;
            for party in parties {
                leaders += party.await.expect("no panic");
            }
            leaders
        });
        assert_eq!(leaders, Ok(ROUNDS));
    }

    #[test]
    fn is_waited_at_from_any_thread() {
        let barrier = Arc::new(Barrier::new(2));
        let other = Arc::clone(&barrier);
        let thread = thread::spawn(move || futures_lite::future::block_on(other.wait()).is_leader());
        let leads = futures_lite::future::block_on(barrier.wait()).is_leader();
        assert!(leads != thread.join().expect("no panic"), "one of two leads");
    }
}

mod a_broadcast {
    use super::*;
    use broadcast::{RecvError, TryRecvError};

    #[test]
    fn goes_to_each_that_is_there() {
        let (sender, mut one) = broadcast::channel(4);
        assert_eq!(sender.send('a').ok(), Some(1));
        let mut other = sender.subscribe();
        assert_eq!(sender.send('b').ok(), Some(2));
        assert_eq!((one.len(), other.len(), sender.len()), (2, 1, 2));
        assert_eq!((one.try_recv(), one.try_recv(), one.try_recv()), (Ok('a'), Ok('b'), Err(TryRecvError::Empty)));
        let mut late = one.resubscribe();
        assert_eq!(late.try_recv(), Err(TryRecvError::Empty));
        assert_eq!((other.try_recv(), other.is_empty(), sender.is_empty()), (Ok('b'), true, true));
        drop(sender);
        assert_eq!((late.try_recv(), late.is_closed()), (Err(TryRecvError::Closed), true));
    }

    #[test]
    fn wakes_all_that_wait() {
        let (sender, mut one) = broadcast::channel(1);
        let mut other = sender.subscribe();
        let woken = Arc::new(Woken::default());
        let (mut one, mut other) = (pin!(one.recv()), pin!(other.recv()));
        assert!(poll_with(one.as_mut(), &woken).is_pending() && poll_with(other.as_mut(), &woken).is_pending());
        assert_eq!((sender.send(7).ok(), woken.times()), (Some(2), 2));
        assert_eq!((poll(one), poll(other)), (Poll::Ready(Ok(7)), Poll::Ready(Ok(7))));
    }

    #[test]
    fn tells_who_is_slow_what_it_has_missed() {
        let (sender, mut receiver) = broadcast::channel(2);
        for n in 1..=5 {
            sender.send(n).expect("one receives");
        }
        assert_eq!(receiver.len(), 5);
        assert_eq!(poll(pin!(receiver.recv())), Poll::Ready(Err(RecvError::Lagged(3))));
        assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok(4), Ok(5)));
        sender.send(6).expect("one receives");
        drop(sender);
        assert_eq!(receiver.try_recv(), Ok(6), "what was sent comes before the end");
        assert_eq!(poll(pin!(receiver.recv())), Poll::Ready(Err(RecvError::Closed)));
    }

    #[test]
    fn drops_each_value_with_the_last_that_is_to_have_it() {
        let dropped = Arc::new(AtomicUsize::new(0));
        let value = || Arc::new(Counted(Arc::clone(&dropped)));
        let (sender, mut one) = broadcast::channel(2);
        let mut other = sender.subscribe();
        sender.send(value()).expect("two receive");
        drop(one.try_recv());
        assert_eq!(dropped.load(SeqCst), 0);
        drop(other.try_recv());
        assert_eq!(dropped.load(SeqCst), 1, "all have received it");
        for _ in 0..3 {
            sender.send(value()).expect("two receive");
        }
        assert_eq!(dropped.load(SeqCst), 2, "there was no room for the first");
        assert!(one.try_recv().is_err() && one.try_recv().is_ok());
        drop(other);
        assert_eq!(dropped.load(SeqCst), 3, "no other is to have it");
        drop(one);
        assert_eq!((dropped.load(SeqCst), sender.len()), (4, 0));
        let back = sender.send(value()).map_err(|error| error.into_inner());
        assert!(back.is_err(), "there is no receiver");
        drop(back);
        assert_eq!(dropped.load(SeqCst), 5);
    }

    #[test]
    fn ends_with_its_receivers() {
        let (sender, receiver) = broadcast::channel::<u8>(1);
        let woken = Arc::new(Woken::default());
        let mut closed = pin!(sender.closed());
        assert!(poll_with(closed.as_mut(), &woken).is_pending());
        drop(receiver);
        assert_eq!(woken.times(), 1);
        let _late = sender.subscribe();
        assert!(poll(closed).is_ready(), "there was none for a moment");
    }

    #[test]
    fn is_kept_open_by_its_senders_and_not_by_weak_ones() {
        let (sender, mut receiver) = broadcast::channel(1);
        let weak = sender.downgrade();
        let (copy, other) = (weak.clone(), weak.upgrade().expect("one is there"));
        assert_eq!((sender.strong_count(), sender.weak_count()), (2, 2));
        assert_eq!((receiver.sender_strong_count(), receiver.sender_weak_count()), (2, 2));
        drop((sender, copy));
        assert_eq!((weak.strong_count(), weak.weak_count()), (1, 1));
        assert_eq!(weak.upgrade().expect("the other is there").send(7).ok(), Some(1));
        drop(other);
        assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok(7), Err(TryRecvError::Closed)));
        assert!(weak.upgrade().is_none(), "what is closed stays so");
        assert!(receiver.resubscribe().is_closed());
    }

    #[test]
    fn reaches_all_or_is_accounted_for_on_all_cores() {
        const EACH: u64 = 2_000;
        with_procs(4)
            .block_on(async {
                for capacity in [1, 16, 10_000] {
                    let (sender, receiver) = broadcast::channel(capacity);
                    let receivers: Vec<_> = (0..3)
                        .map(|n| {
                            let mut receiver = receiver.resubscribe();
                            spawn(async move {
                                let (mut got, mut missed) = (0, 0);
                                loop {
                                    // Some give up, and try again: nothing is lost for that.
                                    let received = match (got + n) % 7 {
                                        0 => match time::timeout(Duration::from_micros(20), receiver.recv()).await {
                                            Ok(received) => received,
                                            Err(_) => continue,
                                        },
                                        _ => receiver.recv().await,
                                    };
                                    match received {
                                        Ok(_) => got += 1,
                                        Err(RecvError::Lagged(n)) => missed += n,
                                        Err(RecvError::Closed) => return (got, missed),
                                    }
                                }
                            })
                        })
                        .collect();
                    drop(receiver);
                    let senders: Vec<_> = (0..2)
                        .map(|_| {
                            let sender = sender.clone();
                            spawn(async move {
                                for n in 0..EACH {
                                    sender.send(n).expect("three receive");
                                    if n % 8 == 0 {
                                        yield_now().await;
                                    }
                                }
                            })
                        })
                        .collect();
                    drop(sender);
                    for sender in senders {
                        sender.await.expect("no panic");
                    }
                    for receiver in receivers {
                        let (got, missed) = receiver.await.expect("no panic");
                        assert_eq!(got + missed, 2 * EACH);
                        assert!(capacity < 10_000 || missed == 0, "there was room, and {missed} were missed");
                    }
                }
            })
            .expect("no deadlock");
    }
}

mod an_owned_guard {
    use super::*;

    #[test]
    fn of_a_mutex_outlives_every_other_reference() {
        let dropped = Arc::new(AtomicUsize::new(0));
        let mutex = Arc::new(TaskMutex::new(Counted(Arc::clone(&dropped))));
        let guard = Arc::clone(&mutex).try_lock_owned().expect("it is free");
        assert!(mutex.try_lock().is_err() && Arc::clone(&mutex).try_lock_owned().is_err());
        let weak = Arc::downgrade(&mutex);
        drop(mutex);
        assert_eq!((weak.strong_count(), dropped.load(SeqCst)), (1, 0));
        let mutex = weak.upgrade().expect("the guard keeps it");
        drop(guard);
        assert!(mutex.try_lock().is_ok(), "it was unlocked");
        drop(mutex);
        assert_eq!((weak.strong_count(), dropped.load(SeqCst)), (0, 1));
    }

    #[test]
    fn of_a_lock_lets_many_read_or_one_write() {
        let lock = Arc::new(RwLock::new(1));
        let one = futures_lite::future::block_on(Arc::clone(&lock).read_owned());
        let other = Arc::clone(&lock).try_read_owned().expect("many read");
        assert!(Arc::clone(&lock).try_write_owned().is_err());
        assert_eq!(*one + *other, 2);
        drop((one, other));
        let mut writer = futures_lite::future::block_on(Arc::clone(&lock).write_owned());
        assert!(Arc::clone(&lock).try_read_owned().is_err());
        *writer = 2;
        drop(writer);
        assert_eq!(*lock.try_read().expect("there is no writer"), 2);
    }

    #[test]
    fn of_a_semaphore_goes_along_with_a_task() {
        let most = with_procs(4).block_on(async {
            let (at_once, now) = (Arc::new(Semaphore::new(3)), Arc::new((AtomicUsize::new(0), AtomicUsize::new(0))));
            let mut tasks = vec![];
            for _ in 0..200 {
                let (permit, now) = (Arc::clone(&at_once).acquire_owned().await.expect("it is open"), Arc::clone(&now));
                tasks.push(spawn(async move {
                    let inside = now.0.fetch_add(1, SeqCst) + 1;
                    now.1.fetch_max(inside, SeqCst);
                    yield_now().await;
                    now.0.fetch_sub(1, SeqCst);
                    drop(permit);
                }));
            }
            for task in tasks {
                task.await.expect("no panic");
            }
            now.1.load(SeqCst)
        });
        assert!(matches!(most, Ok(1..=3)), "{most:?} were in at once");
    }

    #[test]
    fn of_a_semaphore_that_is_forgotten_is_gone_for_good() {
        let semaphore = Arc::new(Semaphore::new(2));
        Arc::clone(&semaphore).try_acquire_owned().expect("two may come in").forget();
        let permit = Arc::clone(&semaphore).try_acquire_owned().expect("one may");
        assert!(Arc::clone(&semaphore).try_acquire_owned().is_err());
        drop(permit);
        assert!(Arc::clone(&semaphore).try_acquire_owned().is_ok());
        assert_eq!(Arc::strong_count(&semaphore), 1, "a permit that was forgotten keeps the semaphore");
    }
}

mod a_value_that_is_set_once {
    use super::*;
    use spinpark::sync::SetOnce;

    #[test]
    fn reaches_each_that_waits_on_whichever_thread() {
        for _ in 0..200 {
            let value = Arc::new(SetOnce::new());
            let runtime = Runtime::builder().procs(4).build().expect("a runtime");
            let set = runtime.block_on(async {
                let waits: spinpark::JoinSet<usize> = (0..8)
                    .map(|_| {
                        let value = Arc::clone(&value);
                        async move { *value.wait().await }
                    })
                    .collect();
                let mut sets = spinpark::JoinSet::new();
                for n in 0..4 {
                    let value = Arc::clone(&value);
                    sets.spawn(async move { value.set(n).is_ok().then_some(n) });
                }
                let first: Vec<usize> = sets.join_all().await.into_iter().flatten().collect();
                (first, waits.join_all().await)
            });
            let (first, seen) = set.expect("no deadlock");
            assert_eq!(first.len(), 1, "one of the four is the first");
            assert!(seen.iter().all(|n| *n == first[0]) && seen.len() == 8);
        }
    }

    #[test]
    fn is_seen_by_a_wait_that_was_created_before_and_given_up_by_another() {
        let value = SetOnce::new();
        let (mut stays, mut gone) = (Box::pin(value.wait()), Box::pin(value.wait()));
        assert!(crate::polled::poll(stays.as_mut()).is_pending() && crate::polled::poll(gone.as_mut()).is_pending());
        drop(gone);
        assert_eq!((value.set(1), value.set(2).map_err(|error| error.0)), (Ok(()), Err(2)));
        assert_eq!(crate::polled::poll(stays.as_mut()), std::task::Poll::Ready(&1));
        assert_eq!((value.clone() == SetOnce::from(1), value.get()), (true, Some(&1)));
    }
}

mod a_part_of_what_is_locked {
    use super::*;
    use spinpark::sync::{MapMutexGuard as _, MutexGuard, OwnedMutexGuard, RwLockReadGuard, RwLockWriteGuard};

    #[test]
    fn is_changed_under_the_lock_by_many_tasks() {
        let pair = Arc::new((TaskMutex::new((0, [0; 2])), RwLock::new((0, [0; 2]))));
        let ended = with_procs(4).block_on(async {
            let mut tasks = spinpark::JoinSet::new();
            for n in 0..8 {
                let pair = Arc::clone(&pair);
                tasks.spawn(async move {
                    for _ in 0..100 {
                        let mut part = MutexGuard::map(pair.0.lock().await, |pair| &mut pair.1[n % 2]);
                        let seen = *part;
                        yield_now().await; // the guard goes to another thread, perhaps
                        *part = seen + 1;
                        drop(part);
                        let mut part = RwLockWriteGuard::map(pair.1.write().await, |pair| &mut pair.1[n % 2]);
                        let seen = *part;
                        yield_now().await;
                        *part = seen + 1;
                    }
                });
            }
            tasks.join_all().await;
            assert_eq!(*pair.0.lock().await, (0, [400; 2]));
            assert_eq!(*RwLockReadGuard::map(pair.1.read().await, |pair| &pair.1[..]), [400; 2]);
        });
        ended.expect("no deadlock");
    }

    #[test]
    fn unlocks_when_it_is_dropped_or_was_not_found_or_looking_for_it_panics() {
        let mutex = Arc::new(TaskMutex::new(vec![1]));
        let part = OwnedMutexGuard::map(Arc::clone(&mutex).try_lock_owned().expect("it is free"), |list| &mut list[0]);
        assert!(mutex.try_lock().is_err() && format!("{part} {part:?}") == "1 1");
        drop(part);
        let guard = MutexGuard::try_map(mutex.try_lock().expect("it is free"), |list| list.get_mut(1));
        assert!(mutex.try_lock().is_err());
        drop(guard.unwrap_err());
        let panics = || MutexGuard::map(mutex.try_lock().expect("it is free"), |list| &mut list[1]);
        assert!(catch_unwind(AssertUnwindSafe(|| drop(panics()))).is_err());
        assert!(mutex.try_lock().is_ok());
    }

    #[test]
    fn of_a_reader_lets_readers_in_and_no_writer() {
        let lock = RwLock::new((1, 2));
        let part = RwLockReadGuard::map(lock.try_read().expect("it is free"), |pair| &pair.1);
        assert!(*part == 2 && lock.try_read().is_ok() && lock.try_write().is_err());
        let whole = RwLockReadGuard::try_map(lock.try_read().expect("it is free"), |_| None::<&u8>);
        drop((part, whole.unwrap_err()));
        assert!(lock.try_write().is_ok());
    }
}

mod a_notify_that_is_waited_for_by_a_future_of_its_own {
    use super::*;

    #[test]
    fn ends_what_was_created_before_and_passes_on_what_gives_up() {
        let notify = Arc::new(Notify::new());
        let mut created = Box::pin(notify.clone().notified_owned());
        notify.notify_waiters();
        assert!(poll(created.as_mut()).is_ready() && poll(created.as_mut()).is_ready());
        let [mut first, mut second] = [(); 2].map(|()| Box::pin(notify.clone().notified_owned()));
        assert!(poll(first.as_mut()).is_pending() && !second.as_mut().enable());
        notify.notify_one();
        drop(first); // it was chosen
        assert!(poll(second.as_mut()).is_ready());
        drop((created, second));
        assert_eq!(Arc::strong_count(&notify), 1);
    }

    #[test]
    fn wakes_tasks_on_all_threads() {
        let runtime = with_procs(4);
        let ended = runtime.block_on(async {
            let notify = Arc::new(Notify::new());
            for _ in 0..200 {
                let waits: spinpark::JoinSet<()> = (0..8).map(|_| notify.clone().notified_owned()).collect();
                (0..4).for_each(|_| notify.notify_one());
                notify.notify_waiters();
                waits.join_all().await;
                let _ = poll(pin!(notify.notified())); // a permit that is left
            }
        });
        ended.expect("no deadlock");
    }
}
