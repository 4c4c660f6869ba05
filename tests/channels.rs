//! Channels. A module names the property, a function the situation.

use crate::polled::Woken;
use spinpark::chan::{self, Closed, Receiver, SendError, Sender, TryRecvError, TrySendError};
use spinpark::{Runtime, spawn, time, yield_now};
use std::collections::BTreeMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

fn with_procs(n: usize) -> Runtime {
    Runtime::builder().procs(n).build().expect("a runtime")
}

/// Polls once, without a waker.
fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    crate::polled::poll(Pin::new(future))
}

fn now<F: Future>(future: F) -> Option<F::Output> {
    match crate::polled::poll(pin!(future)) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

fn poll_with<F: Future + Unpin>(future: &mut F, woken: &Arc<Woken>) -> Poll<F::Output> {
    crate::polled::poll_with(Pin::new(future), woken)
}

fn all_kinds() -> [(Sender<u32>, Receiver<u32>); 4] {
    [chan::rendezvous(), chan::bounded(1), chan::bounded(3), chan::unbounded()]
}

mod values_come_in_the_order_in_which_they_were_sent {
    use super::*;

    #[test]
    fn through_every_kind_of_channel() {
        for (sender, receiver) in all_kinds() {
            let got = with_procs(1).block_on(async {
                spawn(async move {
                    for n in 0..100 {
                        sender.send(n).await.expect("it is open");
                    }
                });
                let mut got = Vec::new();
                while let Ok(n) = receiver.recv().await {
                    got.push(n);
                }
                got
            });
            assert_eq!(got.expect("no deadlock"), (0..100).collect::<Vec<_>>());
        }
    }

    #[test]
    fn also_when_senders_had_to_wait() {
        let (sender, receiver) = chan::bounded(1);
        sender.try_send(0).expect("there is room");
        let mut waiting = [1, 2, 3].map(|n| sender.send(n));
        assert!(waiting.iter_mut().all(|send| poll(send).is_pending()));
        assert_eq!(sender.try_send(4), Err(TrySendError::Full(4)), "it overtook those that wait");
        for n in 0..4 {
            assert_eq!(receiver.try_recv(), Ok(n));
        }
        assert!(waiting.iter_mut().all(|send| poll(send) == Poll::Ready(Ok(()))));
    }
}

mod a_channel_has_room {
    use super::*;

    #[test]
    fn for_as_many_as_was_said() {
        let (sender, receiver) = chan::bounded(2);
        assert_eq!(sender.capacity(), Some(2));
        assert_eq!((sender.try_send(1), sender.try_send(2)), (Ok(()), Ok(())));
        assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
        assert_eq!((receiver.len(), receiver.is_empty()), (2, false));
    }

    #[test]
    fn for_none_if_it_is_a_rendezvous() {
        let (sender, receiver) = chan::rendezvous();
        assert_eq!(sender.capacity(), Some(0));
        assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
        let mut recv = receiver.recv();
        assert!(poll(&mut recv).is_pending());
        assert_eq!(sender.try_send(2), Ok(()));
        assert_eq!(poll(&mut recv), Poll::Ready(Ok(2)));
        let mut send = sender.send(3);
        assert!(poll(&mut send).is_pending());
        assert_eq!(receiver.try_recv(), Ok(3));
        assert_eq!(poll(&mut send), Poll::Ready(Ok(())));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    }

    #[test]
    fn for_everything_if_it_is_unbounded() {
        let (sender, receiver) = chan::unbounded();
        assert_eq!(sender.capacity(), None);
        for n in 0..10_000 {
            assert_eq!(now(sender.send(n)), Some(Ok(())));
        }
        assert_eq!(receiver.len(), 10_000);
    }
}

mod who_waits_is_served {
    use super::*;

    #[test]
    fn as_soon_as_there_is_room() {
        let (sender, receiver) = chan::bounded(1);
        sender.try_send(0).expect("there is room");
        let woken = Arc::new(Woken::default());
        let mut waiting = [1, 2].map(|n| sender.send(n));
        assert!(waiting.iter_mut().all(|send| poll_with(send, &woken).is_pending()));
        assert_eq!(receiver.try_recv(), Ok(0));
        assert_eq!((woken.times(), receiver.len()), (1, 1));
        assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)), "it took the place of one that waits");
        assert_eq!(waiting.each_mut().map(poll), [Poll::Ready(Ok(())), Poll::Pending]);
    }

    #[test]
    fn in_the_order_of_coming() {
        let (sender, receiver) = chan::bounded(8);
        let mut waiting = [(); 3].map(|()| receiver.recv());
        assert!(waiting.iter_mut().all(|recv| poll(recv).is_pending()));
        for n in 0..3 {
            sender.try_send(n).expect("a receiver waits");
        }
        assert!(sender.is_empty(), "a value that was handed over lies in the buffer");
        // In whatever order they look.
        for n in [2, 0, 1] {
            assert_eq!(poll(&mut waiting[n]), Poll::Ready(Ok(n)));
        }
    }

    #[test]
    fn and_woken_once() {
        let (sender, receiver) = chan::rendezvous();
        let woken = [(); 2].map(|()| Arc::new(Woken::default()));
        let mut waiting = [(); 2].map(|()| receiver.recv());
        for (recv, woken) in waiting.iter_mut().zip(&woken) {
            assert!(poll_with(recv, woken).is_pending());
        }
        sender.try_send(1).expect("a receiver waits");
        assert_eq!(woken.each_ref().map(|woken| woken.times()), [1, 0]);
    }

    #[test]
    fn by_the_waker_of_the_last_poll() {
        let (sender, receiver) = chan::rendezvous();
        let (before, after) = (Arc::new(Woken::default()), Arc::new(Woken::default()));
        let mut recv = receiver.recv();
        assert!(poll_with(&mut recv, &before).is_pending());
        assert!(poll_with(&mut recv, &after).is_pending());
        sender.try_send(1).expect("a receiver waits");
        assert_eq!((before.times(), after.times()), (0, 1));
        let mut send = sender.send(2);
        assert!(poll_with(&mut send, &before).is_pending());
        assert!(poll_with(&mut send, &after).is_pending());
        assert_eq!(receiver.try_recv(), Ok(2));
        assert_eq!((before.times(), after.times()), (0, 2));
    }

    /// On cores the monitor may retake the P in between, and other seeds do: this one disturbs nothing.
    #[test]
    fn and_runs_next() {
        const UNDISTURBED: u64 = 1;
        let runtime = Runtime::builder().procs(1).deterministic(UNDISTURBED).build().expect("a runtime");
        let order = runtime.block_on(async {
            let order = Arc::new(Mutex::new(Vec::new()));
            let log = |name: &'static str| {
                let order = Arc::clone(&order);
                move || order.lock().expect("no panic").push(name)
            };
            let (received, before, sent) = (log("received"), log("spawned before"), log("sent"));
            let (sender, receiver) = chan::rendezvous();
            let waiting = spawn(async move {
                receiver.recv().await.expect("it is open");
                received();
            });
            let sending = spawn(async move {
                // The other waits by now.
                yield_now().await;
                drop(spawn(async move { before() }));
                sender.send(()).await.expect("it is open");
                sent();
            });
            sending.await.expect("no panic");
            waiting.await.expect("no panic");
            yield_now().await;
            order.lock().expect("no panic").clone()
        });
        assert_eq!(order.expect("no deadlock"), ["sent", "received", "spawned before"]);
    }
}

mod a_closed_channel {
    use super::*;

    #[test]
    fn gives_what_is_left_and_then_an_error() {
        let (sender, receiver) = chan::bounded(2);
        sender.try_send(1).expect("there is room");
        assert!(sender.close());
        assert!(receiver.is_closed());
        assert_eq!(now(receiver.recv()), Some(Ok(1)));
        assert_eq!(now(receiver.recv()), Some(Err(Closed)));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
    }

    #[test]
    fn takes_nothing_and_gives_the_value_back() {
        for (sender, receiver) in all_kinds() {
            assert!(receiver.close());
            assert_eq!(now(sender.send(7)), Some(Err(SendError(7))));
            assert_eq!(sender.try_send(8), Err(TrySendError::Closed(8)));
        }
    }

    #[test]
    fn is_not_closed_again() {
        let (sender, receiver) = chan::bounded::<u32>(1);
        assert!(sender.close());
        assert!(!sender.close());
        assert!(!receiver.close());
    }

    #[test]
    fn lets_nobody_wait() {
        let (sender, receiver) = chan::bounded::<u32>(1);
        let woken = Arc::new(Woken::default());
        let mut waiting = [(); 3].map(|()| receiver.recv());
        assert!(waiting.iter_mut().all(|recv| poll_with(recv, &woken).is_pending()));
        sender.close();
        assert_eq!(woken.times(), 3);
        assert!(waiting.iter_mut().all(|recv| poll(recv) == Poll::Ready(Err(Closed))));

        let (sender, receiver) = chan::bounded(1);
        sender.try_send(0).expect("there is room");
        let mut waiting = [1, 2].map(|n| sender.send(n));
        assert!(waiting.iter_mut().all(|send| poll_with(send, &woken).is_pending()));
        receiver.close();
        assert_eq!(woken.times(), 5);
        assert_eq!(waiting.each_mut().map(poll), [Poll::Ready(Err(SendError(1))), Poll::Ready(Err(SendError(2)))]);
        assert_eq!(receiver.try_recv(), Ok(0));
    }

    #[test]
    fn is_one_without_senders() {
        let (sender, receiver) = chan::bounded::<u32>(1);
        let other = sender.clone();
        let mut recv = receiver.recv();
        assert!(poll(&mut recv).is_pending());
        drop(sender);
        assert!(poll(&mut recv).is_pending());
        drop(other);
        assert_eq!(poll(&mut recv), Poll::Ready(Err(Closed)));
    }

    #[test]
    fn is_one_without_receivers_and_nothing_is_left_in_it() {
        let (sender, receiver) = chan::bounded(1);
        let witness = Arc::new(());
        sender.try_send(Arc::clone(&witness)).expect("there is room");
        let mut send = sender.send(Arc::clone(&witness));
        assert!(poll(&mut send).is_pending());
        drop(receiver.clone());
        assert!(poll(&mut send).is_pending());
        drop(receiver);
        assert!(matches!(poll(&mut send), Poll::Ready(Err(SendError(_)))));
        assert_eq!(Arc::strong_count(&witness), 1, "a value that cannot be received lives on");
    }
}

mod a_future_that_is_dropped {
    use super::*;

    #[test]
    fn while_it_waits_to_receive_leaves_its_place_to_the_next() {
        let (sender, receiver) = chan::rendezvous();
        let mut waiting = [(); 3].map(|()| Some(receiver.recv()));
        assert!(waiting.iter_mut().flatten().all(|recv| poll(recv).is_pending()));
        for gone in [1, 0] {
            waiting[gone] = None;
        }
        assert_eq!(sender.try_send(5), Ok(()));
        assert_eq!(sender.try_send(6), Err(TrySendError::Full(6)));
        assert_eq!(waiting[2].as_mut().map(poll), Some(Poll::Ready(Ok(5))));
    }

    #[test]
    fn while_it_waits_to_send_drops_its_value_or_gives_it_back() {
        let (sender, receiver) = chan::rendezvous();
        let witness = Arc::new(());
        let mut waiting = [(); 3].map(|()| Some(sender.send(Arc::clone(&witness))));
        assert!(waiting.iter_mut().flatten().all(|send| poll(send).is_pending()));
        waiting[0] = None;
        assert_eq!(Arc::strong_count(&witness), 3, "the value was not dropped");
        let back = waiting[1].take().and_then(|send| send.into_inner());
        assert!(back.is_some());
        assert!(receiver.try_recv().is_ok());
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty), "what was given up was received");
        assert_eq!(waiting[2].take().and_then(|send| send.into_inner()), None, "it was sent, and is here too");
    }

    #[test]
    fn with_a_value_that_it_was_handed_puts_that_back_as_the_first() {
        for capacity in [0, 1, 8] {
            let (sender, receiver) = chan::bounded(capacity);
            let mut recv = receiver.recv();
            assert!(poll(&mut recv).is_pending());
            sender.try_send(1).expect("a receiver waits");
            let mut second = sender.send(2);
            let _ = poll(&mut second);
            drop(recv);
            assert_eq!(receiver.try_recv(), Ok(1), "capacity {capacity}");
            assert!(receiver.len() <= capacity, "more came in than there is room for");
            assert_eq!(receiver.try_recv(), Ok(2), "capacity {capacity}");
        }
    }

    #[test]
    fn with_such_a_value_gives_it_to_the_next_who_waits() {
        let (sender, receiver) = chan::rendezvous();
        let woken = Arc::new(Woken::default());
        let (mut first, mut second) = (receiver.recv(), receiver.recv());
        assert!(poll(&mut first).is_pending());
        assert!(poll_with(&mut second, &woken).is_pending());
        sender.try_send(1).expect("a receiver waits");
        drop(first);
        assert_eq!(woken.times(), 1);
        assert_eq!(poll(&mut second), Poll::Ready(Ok(1)));
    }

    #[test]
    fn keeps_the_order_whoever_is_dropped_first() {
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0]] {
            let (sender, receiver) = chan::bounded(1);
            let mut waiting = [(); 3].map(|()| Some(receiver.recv()));
            assert!(waiting.iter_mut().flatten().all(|recv| poll(recv).is_pending()));
            for n in 0..4 {
                sender.try_send(n).expect("a receiver waits, or there is room");
            }
            for gone in order {
                waiting[gone] = None;
            }
            assert_eq!(receiver.len(), 4);
            assert_eq!([(); 4].map(|()| receiver.try_recv()), [Ok(0), Ok(1), Ok(2), Ok(3)], "dropped as {order:?}");
        }
    }

    #[test]
    fn after_the_end_of_the_channel_still_loses_nothing() {
        let (sender, receiver) = chan::rendezvous();
        let mut recv = receiver.recv();
        assert!(poll(&mut recv).is_pending());
        sender.try_send(1).expect("a receiver waits");
        drop(sender);
        drop(recv);
        assert_eq!(receiver.try_recv(), Ok(1));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
    }
}

mod nobody_is_harmed {
    use super::*;

    struct Angry;

    impl Wake for Angry {
        fn wake(self: Arc<Self>) {
            panic!("a waker of this test");
        }
    }

    #[test]
    fn by_a_waker_that_panics() {
        let (sender, receiver) = chan::rendezvous();
        let woken = Arc::new(Woken::default());
        let mut recv = [(); 2].map(|()| receiver.recv());
        let angry = Waker::from(Arc::new(Angry));
        assert!(Pin::new(&mut recv[0]).poll(&mut Context::from_waker(&angry)).is_pending());
        assert!(poll_with(&mut recv[1], &woken).is_pending());
        assert_eq!(sender.try_send(1), Ok(()));
        assert_eq!(poll(&mut recv[0]), Poll::Ready(Ok(1)));
        let mut other = receiver.recv();
        assert!(Pin::new(&mut other).poll(&mut Context::from_waker(&angry)).is_pending());
        sender.close();
        assert_eq!(woken.times(), 1, "the close stopped at the waker that panicked");
    }

    #[test]
    fn by_a_waker_that_uses_the_channel() {
        struct Sends(Sender<u32>);
        impl Wake for Sends {
            fn wake(self: Arc<Self>) {
                let _ = self.0.try_send(9);
            }
        }
        let (sender, receiver) = chan::bounded(4);
        let mut recv = receiver.recv();
        let waker = Waker::from(Arc::new(Sends(sender.clone())));
        assert!(Pin::new(&mut recv).poll(&mut Context::from_waker(&waker)).is_pending());
        drop(waker);
        sender.try_send(1).expect("a receiver waits");
        assert_eq!(poll(&mut recv), Poll::Ready(Ok(1)));
        assert_eq!(receiver.try_recv(), Ok(9));
    }

    #[test]
    fn by_a_value_that_panics_when_it_is_dropped() {
        struct Bomb(bool);
        impl Drop for Bomb {
            fn drop(&mut self) {
                assert!(!self.0, "a value of this test");
            }
        }
        let (sender, receiver) = chan::bounded(2);
        sender.try_send(Bomb(true)).expect("there is room");
        assert!(catch_unwind(AssertUnwindSafe(|| drop(receiver.try_recv()))).is_err());
        sender.try_send(Bomb(true)).expect("there is room");
        let other = sender.clone();
        let mut send = [Bomb(false), Bomb(true)].map(|bomb| sender.send(bomb));
        assert!(poll(&mut send[0]).is_ready());
        assert!(poll(&mut send[1]).is_pending());
        assert!(catch_unwind(AssertUnwindSafe(|| drop(send))).is_err());
        // What the channel has is the channel's to drop: guarded.
        drop(receiver);
        assert!(other.is_closed());
    }
}

mod two_that_always_find_something {
    use super::*;

    #[test]
    fn do_not_keep_their_p() {
        let runtime = with_procs(1);
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_over);
        let busy = runtime.spawn(async move {
            let (sender, receiver) = chan::bounded(1);
            let since = Instant::now();
            while !seen.load(SeqCst) && since.elapsed() < Duration::from_secs(20) {
                sender.send(1).await.expect("it is open");
                receiver.recv().await.expect("it is open");
            }
            seen.load(SeqCst)
        });
        let other = runtime.spawn(async move { is_over.store(true, SeqCst) });
        assert!(busy.join().expect("no panic"), "the other came to nothing for 20 s");
        other.join().expect("no panic");
    }

    /// Long before their slice is over.
    #[test]
    fn let_others_run_after_some_hundred_operations() {
        let runtime = Runtime::builder().procs(1).time_slice(Duration::from_secs(60)).build().expect("a runtime");
        let (count, is_over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (counts, seen) = (Arc::clone(&count), Arc::clone(&is_over));
        let busy = runtime.spawn(async move {
            let (sender, receiver) = chan::bounded(1);
            while !seen.load(SeqCst) && counts.fetch_add(2, SeqCst) < 1_000_000 {
                sender.send(1).await.expect("it is open");
                receiver.recv().await.expect("it is open");
            }
        });
        let others: Vec<_> = (0..10)
            .map(|_| {
                let count = Arc::clone(&count);
                runtime.spawn(async move {
                    let before = count.load(SeqCst);
                    yield_now().await;
                    count.load(SeqCst) - before
                })
            })
            .collect();
        for other in others {
            let meanwhile = other.join().expect("no panic");
            assert!(meanwhile < 1000, "{meanwhile} operations before the next had its turn");
        }
        is_over.store(true, SeqCst);
        busy.join().expect("no panic");
    }

    /// It does not go back to our scheduler, which asks for that.
    #[test]
    fn go_on_in_an_executor_of_others_that_blocks_the_task() {
        for preempts in [true, false] {
            let runtime = Runtime::builder().procs(2).preemption(preempts).build().expect("a runtime");
            let (ended, ends) = mpsc::channel();
            drop(runtime.spawn(async move {
                let (sender, receiver) = chan::bounded(1);
                let since = Instant::now();
                futures_lite::future::block_on(async {
                    while since.elapsed() < Duration::from_millis(100) {
                        sender.send(1).await.expect("it is open");
                        receiver.recv().await.expect("it is open");
                    }
                });
                ended.send(()).expect("it is awaited");
            }));
            // Others wait, so it is asked to yield.
            let stops = Arc::new(AtomicBool::new(false));
            for _ in 0..4 {
                let stops = Arc::clone(&stops);
                drop(runtime.spawn(async move {
                    while !stops.load(SeqCst) {
                        yield_now().await;
                    }
                }));
            }
            ends.recv_timeout(Duration::from_secs(20)).expect("it ends");
            stops.store(true, SeqCst);
        }
    }
}

mod nothing_is_lost_or_doubled {
    use super::*;

    /// A number that need not be good.
    fn random(state: &mut u64) -> u64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    }

    /// Receives, gives up now and then, and writes down what came.
    async fn receive(receiver: Receiver<(usize, usize)>, mut seed: u64, gives_up: bool) -> Vec<(usize, usize)> {
        let mut got = Vec::new();
        loop {
            let received = match random(&mut seed) % 8 {
                0 if gives_up => match time::timeout(Duration::from_micros(seed % 50), receiver.recv()).await {
                    Ok(received) => received,
                    Err(_) => continue,
                },
                1 if gives_up => {
                    // Polled, left in the line for a moment, and dropped.
                    let mut recv = receiver.recv();
                    let polled = poll(&mut recv);
                    yield_now().await;
                    drop(recv);
                    match polled {
                        Poll::Ready(received) => received,
                        Poll::Pending => continue,
                    }
                }
                2 => match receiver.try_recv() {
                    Ok(value) => Ok(value),
                    Err(TryRecvError::Closed) => Err(Closed),
                    Err(TryRecvError::Empty) => {
                        yield_now().await;
                        continue;
                    }
                },
                _ => receiver.recv().await,
            };
            match received {
                Ok(value) => got.push(value),
                Err(Closed) => return got,
            }
        }
    }

    /// Sends so many, in order; what it gave up and got back is sent again.
    async fn send(sender: Sender<(usize, usize)>, me: usize, count: usize, mut seed: u64) {
        for n in 0..count {
            if random(&mut seed).is_multiple_of(4) {
                let mut sending = sender.send((me, n));
                let polled = poll(&mut sending);
                yield_now().await;
                match (polled, sending.into_inner()) {
                    (Poll::Ready(sent), _) => sent.expect("it is open"),
                    (Poll::Pending, None) => (),
                    (Poll::Pending, Some(value)) => sender.send(value).await.expect("it is open"),
                }
            } else {
                sender.send((me, n)).await.expect("it is open");
            }
        }
    }

    fn stress(capacity: usize, senders: usize, receivers: usize, seed: u64) {
        const COUNT: usize = 2_000;
        let got = with_procs(4).block_on(async move {
            let (sender, receiver) = chan::bounded(capacity);
            let receiving: Vec<_> =
                (0..receivers).map(|r| spawn(receive(receiver.clone(), seed + r as u64, true))).collect();
            for s in 0..senders {
                spawn(send(sender.clone(), s, COUNT, seed * 31 + s as u64));
            }
            drop(sender);
            let mut got = Vec::new();
            for task in receiving {
                got.push(task.await.expect("no panic"));
            }
            // A value that came back after a receiver had seen the end.
            let mut late = Vec::new();
            while let Ok(value) = receiver.try_recv() {
                late.push(value);
            }
            got.push(late);
            got
        });
        let got = got.expect("no deadlock");
        if receivers == 1 {
            for s in 0..senders {
                let from: Vec<_> = got.iter().flatten().filter(|(me, _)| *me == s).map(|(_, n)| *n).collect();
                assert!(from.is_sorted(), "one receiver saw the values of one sender out of order");
            }
        }
        let mut times = BTreeMap::new();
        got.into_iter().flatten().for_each(|value| *times.entry(value).or_insert(0) += 1);
        assert!(times.values().all(|&times| times == 1), "a value was received twice");
        assert_eq!(times.len(), senders * COUNT, "a value was lost");
    }

    #[test]
    fn with_futures_dropped_at_any_moment() {
        for (round, capacity) in [0, 1, 2, 16, usize::MAX].into_iter().enumerate() {
            for (senders, receivers) in [(1, 1), (4, 1), (1, 4), (3, 3)] {
                stress(capacity, senders, receivers, 0x9e37_79b9 + round as u64);
            }
        }
    }

    #[test]
    fn when_the_channel_is_closed_in_the_midst_of_it() {
        for round in 0..200 {
            let capacity = round % 3;
            let (sent, got) = with_procs(4)
                .block_on(async move {
                    let (sender, receiver) = chan::bounded(capacity);
                    let sending: Vec<_> = (0..2)
                        .map(|me| {
                            let sender = sender.clone();
                            spawn(async move {
                                let mut n = 0;
                                while let Ok(()) = sender.send((me, n)).await {
                                    n += 1;
                                }
                                n
                            })
                        })
                        .collect();
                    let receiving = [1, 2].map(|r| spawn(receive(receiver.clone(), r + round as u64, true)));
                    time::sleep(Duration::from_micros(50 * (round as u64 % 20))).await;
                    if round % 2 == 0 {
                        sender.close()
                    } else {
                        receiver.close()
                    };
                    let mut sent = 0;
                    for task in sending {
                        sent += task.await.expect("no panic");
                    }
                    let mut got = 0;
                    for task in receiving {
                        got += task.await.expect("no panic").len();
                    }
                    while receiver.try_recv().is_ok() {
                        got += 1;
                    }
                    (sent, got)
                })
                .expect("no deadlock");
            assert_eq!(sent, got, "as many were received as the senders were told");
        }
    }

    #[test]
    fn between_threads_that_know_no_runtime() {
        let (sender, receiver) = chan::bounded(2);
        let sum = std::thread::scope(|scope| {
            for s in 0..3 {
                let sender = sender.clone();
                scope.spawn(move || {
                    futures_lite::future::block_on(async {
                        for n in 0..1_000 {
                            sender.send(s * 1_000 + n).await.expect("it is open");
                        }
                    });
                });
            }
            drop(sender);
            let receive = || {
                futures_lite::future::block_on(async {
                    let mut sum = 0_u64;
                    while let Ok(n) = receiver.recv().await {
                        sum += n;
                    }
                    sum
                })
            };
            let both = [scope.spawn(receive), scope.spawn(receive)];
            both.map(|thread| thread.join().expect("no panic")).into_iter().sum::<u64>()
        });
        assert_eq!(sum, (0..3_000).sum());
    }
}

mod a_weak_sender {
    use super::*;

    #[test]
    fn does_not_keep_the_channel_open() {
        for (sender, receiver) in all_kinds() {
            let weak = sender.downgrade();
            let second = weak.clone().upgrade().expect("one sender lives");
            assert!(second.same_channel(&sender));
            drop(sender);
            assert!(!receiver.is_closed(), "the second counts");
            drop(second);
            assert!(receiver.is_closed() && weak.upgrade().is_none());
        }
    }

    #[test]
    fn gives_none_of_a_channel_that_was_closed() {
        let (sender, _receiver) = chan::bounded::<u8>(1);
        let weak = sender.downgrade();
        sender.close();
        assert!(weak.upgrade().is_none());
    }

    #[test]
    fn either_keeps_it_open_or_finds_it_closed_while_the_last_is_dropped() {
        for _ in 0..2_000 {
            let (sender, receiver) = chan::unbounded();
            let weak = sender.downgrade();
            let upgrades = std::thread::spawn(move || weak.upgrade().is_some_and(|sender| sender.try_send(1).is_ok()));
            drop(sender);
            let is_sent = upgrades.join().expect("no panic");
            assert!(receiver.is_closed());
            assert_eq!(receiver.try_recv().is_ok(), is_sent);
        }
    }
}

mod a_thread_that_runs_no_task {
    use super::*;

    #[test]
    fn sends_and_receives_as_it_waits() {
        let (sender, receiver) = chan::rendezvous();
        let thread = std::thread::spawn(move || {
            let mut sum = 0;
            while let Ok(n) = receiver.blocking_recv() {
                sum += n;
            }
            sum
        });
        for n in 1..=100 {
            sender.blocking_send(n).expect("it receives");
        }
        drop(sender);
        assert_eq!(thread.join().expect("no panic"), 5050);
    }

    #[test]
    fn gets_its_value_back_from_a_channel_that_is_closed() {
        let (sender, receiver) = chan::bounded(1);
        drop(receiver);
        assert_eq!(sender.blocking_send(4), Err(SendError(4)));
    }
}

mod a_sender_that_waits_until_the_channel_is_closed {
    use super::*;

    #[test]
    fn goes_on_when_either_side_closes_it_or_no_receiver_is_left() {
        type Closes = fn(&Sender<u32>, Receiver<u32>);
        let ways: [Closes; 3] = [
            |sender, _receiver| assert!(sender.close()),
            |_sender, receiver| assert!(receiver.close()),
            |_sender, receiver| drop(receiver),
        ];
        for closes in ways {
            for (sender, receiver) in all_kinds() {
                let woken = Arc::new(Woken::default());
                let mut closed = sender.closed();
                assert!(poll_with(&mut closed, &woken).is_pending());
                closes(&sender, receiver);
                assert_eq!(woken.times(), 1);
                assert!(poll_with(&mut closed, &woken).is_ready() && now(sender.closed()).is_some());
            }
        }
    }

    #[test]
    fn is_not_woken_by_values_nor_by_other_ends() {
        let (sender, receiver) = chan::bounded(1);
        let woken = Arc::new(Woken::default());
        let mut closed = sender.closed();
        assert!(poll_with(&mut closed, &woken).is_pending());
        sender.try_send(1).expect("there is room");
        assert_eq!(receiver.clone().try_recv(), Ok(1));
        drop((sender.clone(), receiver.clone()));
        assert_eq!(woken.times(), 0);
        assert!(poll_with(&mut closed, &woken).is_pending());
    }

    #[test]
    fn can_give_up_before_and_after_it_is_served() {
        let (sender, receiver) = chan::bounded::<u8>(1);
        let (woken, gone) = (Arc::new(Woken::default()), Arc::new(Woken::default()));
        let (mut stays, mut given_up) = (sender.closed(), sender.closed());
        assert!(poll_with(&mut stays, &woken).is_pending() && poll_with(&mut given_up, &gone).is_pending());
        drop(given_up);
        drop(receiver);
        assert_eq!((woken.times(), gone.times(), Arc::strong_count(&gone)), (1, 0, 1));
        drop(stays); // served, and not polled again
        assert!(sender.is_closed());
    }

    #[test]
    fn hears_of_an_end_that_comes_meanwhile() {
        for _ in 0..2_000 {
            let (sender, receiver) = chan::bounded::<u8>(1);
            let drops = std::thread::spawn(move || drop(receiver));
            futures_lite::future::block_on(sender.closed());
            drops.join().expect("no panic");
        }
    }

    #[test]
    fn is_no_case_that_takes_a_value_from_a_select() {
        let runtime = with_procs(1);
        let (sender, receiver) = chan::bounded(1);
        let is_sent = runtime.block_on(async move {
            spinpark::select! {
                sent = sender.send(1) => sent.is_ok(),
                _ = sender.closed() => false,
            }
        });
        assert!(is_sent.expect("no deadlock"));
        assert_eq!(receiver.try_recv(), Ok(1));
    }
}

mod a_send_with_a_deadline {
    use super::*;
    use chan::SendTimeoutError::{Closed, Timeout};

    #[test]
    fn gives_the_value_back_when_it_has_elapsed_and_leaves_the_queue() {
        let left = with_procs(1).block_on(async {
            let (sender, receiver) = chan::bounded(1);
            sender.send(1).await.expect("there is room");
            assert_eq!(sender.send_timeout(2, Duration::from_millis(2)).await, Err(Timeout(2)));
            assert_eq!(sender.send_timeout(3, Duration::ZERO).await, Err(Timeout(3)));
            (receiver.try_recv(), receiver.try_recv())
        });
        assert_eq!(left.expect("no deadlock"), (Ok(1), Err(TryRecvError::Empty)));
    }

    #[test]
    fn gives_the_value_back_of_a_channel_that_is_closed_meanwhile() {
        let back = with_procs(1).block_on(async {
            let (sender, receiver) = chan::rendezvous();
            spawn(async move { drop(receiver) });
            sender.send_timeout(7, Duration::from_secs(60)).await
        });
        assert_eq!(back.expect("no deadlock"), Err(Closed(7)));
    }

    #[test]
    fn needs_no_time_where_there_is_room_or_a_receiver() {
        for (sender, receiver) in all_kinds() {
            let mut receives = receiver.recv();
            assert!(poll(&mut receives).is_pending());
            assert_eq!(now(sender.send_timeout(8, Duration::ZERO)), Some(Ok(())));
            assert_eq!(poll(&mut receives), Poll::Ready(Ok(8)));
        }
        let (sender, receiver) = chan::bounded(1);
        assert_eq!(now(sender.send_timeout(9, Duration::ZERO)), Some(Ok(())));
        assert_eq!(receiver.try_recv(), Ok(9));
    }
}

mod a_receive_of_many {
    use super::*;

    #[test]
    fn takes_what_is_there_in_order_and_no_more_than_the_limit() {
        let (sender, receiver) = chan::unbounded();
        (0..10).for_each(|n| sender.try_send(n).expect("there is room"));
        let mut some = vec![99];
        assert_eq!(now(receiver.recv_many(&mut some, 4)), Some(4));
        assert_eq!(now(receiver.recv_many(&mut some, usize::MAX)), Some(6));
        assert_eq!(some[0], 99);
        assert_eq!(some[1..], (0..10).collect::<Vec<_>>());
        assert_eq!(now(receiver.recv_many(&mut some, 0)), Some(0));
        assert_eq!(now(receiver.recv_many(&mut some, 1)), None, "there is none, and the channel is open");
        drop(sender);
        assert_eq!(now(receiver.recv_many(&mut some, 1)), Some(0));
    }

    #[test]
    fn lets_senders_in_that_wait() {
        let (sender, receiver) = chan::bounded(2);
        (0..2).for_each(|n| sender.try_send(n).expect("there is room"));
        let mut waiting = [2, 3].map(|n| sender.send(n));
        assert!(waiting.iter_mut().all(|send| poll(send).is_pending()));
        let mut some = Vec::new();
        assert!(now(receiver.recv_many(&mut some, 10)) >= Some(2));
        assert!(waiting.iter_mut().all(|send| poll(send) == Poll::Ready(Ok(()))));
        while let Ok(n) = receiver.try_recv() {
            some.push(n);
        }
        assert_eq!(some, [0, 1, 2, 3]);
    }

    #[test]
    fn that_is_dropped_loses_nothing() {
        let (sender, receiver) = chan::bounded(4);
        let mut some = Vec::new();
        {
            let mut receives = pin!(receiver.recv_many(&mut some, 4));
            assert!(crate::polled::poll(receives.as_mut()).is_pending());
            sender.try_send(1).expect("there is room"); // handed to it
            sender.try_send(2).expect("there is room");
        }
        assert_eq!((some.len(), receiver.try_recv(), receiver.try_recv()), (0, Ok(1), Ok(2)));
    }

    #[test]
    fn waits_with_a_thread_too() {
        let (sender, receiver) = chan::bounded(4);
        let thread = std::thread::spawn(move || {
            let mut all = Vec::new();
            while receiver.blocking_recv_many(&mut all, 3) > 0 {}
            all
        });
        (0..100).for_each(|n| sender.blocking_send(n).expect("it receives"));
        drop(sender);
        assert_eq!(thread.join().expect("no panic"), (0..100).collect::<Vec<_>>());
    }
}
