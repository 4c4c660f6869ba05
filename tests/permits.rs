//! Slots of a channel that are held before there is a value. A module names the property, a function the situation.

use crate::polled::Woken;
use spinpark::chan::{self, Closed, OwnedPermit, TryRecvError, TrySendError};
use spinpark::{JoinSet, Runtime, select, spawn, time, yield_now};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::Poll;
use std::time::Duration;

fn with_procs(n: usize) -> Runtime {
    Runtime::builder().procs(n).build().expect("a runtime")
}

fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    crate::polled::poll(Pin::new(future))
}

fn poll_with<F: Future + Unpin>(future: &mut F, woken: &Arc<Woken>) -> Poll<F::Output> {
    crate::polled::poll_with(Pin::new(future), woken)
}

fn now<F: Future>(future: F) -> Option<F::Output> {
    match crate::polled::poll(pin!(future)) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

mod a_slot_that_is_held {
    use super::*;

    #[test]
    fn is_taken_by_no_send_and_no_other_reservation() {
        let (sender, receiver) = chan::bounded(2);
        let permit = now(sender.reserve()).expect("there is room").expect("it is open");
        assert_eq!(sender.try_send(1), Ok(()));
        assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
        assert!(now(sender.reserve()).is_none() && sender.try_reserve().is_err());
        permit.send(3);
        assert_eq!(sender.len(), 2);
        assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok(1), Ok(3)));
    }

    #[test]
    fn goes_to_the_first_that_waits_when_it_is_given_back() {
        let (sender, _receiver) = chan::bounded(1);
        let permit = sender.try_reserve().expect("there is room");
        let woken = [Arc::new(Woken::default()), Arc::new(Woken::default())];
        let (mut reserves, mut sends) = (sender.reserve(), sender.send(1));
        assert!(poll_with(&mut reserves, &woken[0]).is_pending() && poll_with(&mut sends, &woken[1]).is_pending());
        drop(permit);
        assert_eq!((woken[0].times(), woken[1].times()), (1, 0));
        let Poll::Ready(Ok(second)) = poll_with(&mut reserves, &woken[0]) else { panic!("it has the slot") };
        drop(second);
        assert_eq!(woken[1].times(), 1);
        assert!(poll_with(&mut sends, &woken[1]).is_ready());
        assert_eq!(sender.len(), 1);
    }

    #[test]
    fn is_free_when_the_receiver_was_waiting_for_the_value() {
        let (sender, receiver) = chan::bounded(1);
        let permit = sender.try_reserve().expect("there is room");
        let (mut receives, mut reserves) = (receiver.recv(), sender.reserve());
        assert!(poll(&mut receives).is_pending() && poll(&mut reserves).is_pending());
        permit.send(1); // handed over: no slot is taken
        assert_eq!(poll(&mut receives), Poll::Ready(Ok(1)));
        assert!(matches!(poll(&mut reserves), Poll::Ready(Ok(_))));
    }

    #[test]
    fn of_a_reservation_that_gives_up_goes_to_the_next() {
        let (sender, _receiver) = chan::bounded::<u8>(1);
        let permit = sender.try_reserve().expect("there is room");
        let (mut first, mut second) = (sender.reserve(), sender.reserve());
        assert!(poll(&mut first).is_pending() && poll(&mut second).is_pending());
        drop(permit); // the slot is the first's, which has not looked
        drop(first);
        assert!(matches!(poll(&mut second), Poll::Ready(Ok(_))));
    }

    #[test]
    fn is_not_needed_for_a_value_that_a_receiver_waits_for() {
        let (sender, receiver) = chan::bounded(1);
        let _permit = sender.try_reserve().expect("there is room");
        let (mut reserves, mut sends) = (sender.reserve(), sender.send(1));
        assert!(poll(&mut reserves).is_pending() && poll(&mut sends).is_pending());
        assert_eq!(receiver.try_recv(), Ok(1), "a sender waits with it");
        assert!(poll(&mut sends).is_ready() && poll(&mut reserves).is_pending());
    }

    #[test]
    fn is_none_of_a_rendezvous_and_always_there_without_a_limit() {
        let (sender, _receiver) = chan::rendezvous::<u8>();
        assert!(matches!(now(sender.reserve()), Some(Err(_))) && sender.try_reserve().unwrap_err().is_full());
        let (sender, receiver) = chan::unbounded();
        let all = sender.try_reserve_many(usize::MAX).expect("there is room");
        assert!(sender.try_send(1).unwrap_err().is_full());
        drop(all);
        assert_eq!((sender.try_send(1), receiver.try_recv()), (Ok(()), Ok(1)));
    }
}

mod a_channel_that_is_closed {
    use super::*;

    #[test]
    fn has_its_end_when_the_last_permit_was_used() {
        let (sender, receiver) = chan::bounded(2);
        let (one, two) = (sender.try_reserve().expect("room"), sender.try_reserve().expect("room"));
        let woken = Arc::new(Woken::default());
        let other = receiver.clone();
        let (mut receives, mut waits) = (receiver.recv(), other.recv());
        assert!(poll_with(&mut receives, &woken).is_pending() && poll_with(&mut waits, &woken).is_pending());
        assert!(receiver.close());
        assert_eq!((woken.times(), receiver.try_recv()), (0, Err(TryRecvError::Empty)));
        one.send(1);
        assert_eq!(poll_with(&mut receives, &woken), Poll::Ready(Ok(1)));
        assert!(poll_with(&mut waits, &woken).is_pending());
        drop(two);
        assert_eq!(poll_with(&mut waits, &woken), Poll::Ready(Err(Closed)));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
    }

    #[test]
    fn refuses_those_that_wait_and_not_one_that_has_its_slot() {
        let (sender, receiver) = chan::bounded(1);
        let permit = sender.try_reserve().expect("there is room");
        let (mut first, mut second) = (sender.reserve(), sender.reserve());
        assert!(poll(&mut first).is_pending() && poll(&mut second).is_pending());
        drop(permit);
        sender.close();
        assert!(matches!(poll(&mut second), Poll::Ready(Err(_))) && matches!(now(sender.reserve()), Some(Err(_))));
        let Poll::Ready(Ok(permit)) = poll(&mut first) else { panic!("it had the slot before the close") };
        permit.send(1);
        assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok(1), Err(TryRecvError::Closed)));
    }

    #[test]
    fn without_a_receiver_drops_what_comes_by_a_slot() {
        let (sender, receiver) = chan::bounded(2);
        let permits = [sender.clone().try_reserve_owned(), sender.try_reserve_owned()];
        let [one, two] = permits.map(|permit| permit.expect("there is room"));
        let value = Arc::new(());
        one.send(Arc::clone(&value));
        drop(receiver);
        assert_eq!(Arc::strong_count(&value), 1);
        let sender = two.send(Arc::clone(&value));
        assert_eq!((Arc::strong_count(&value), sender.len()), (1, 0));
    }

    #[test]
    fn tells_the_receiver_of_a_select_when_the_last_permit_is_gone() {
        let (sender, receiver) = chan::bounded::<u8>(1);
        let got = with_procs(1).block_on(async move {
            let permit = sender.try_reserve_owned().expect("there is room");
            receiver.close();
            spawn(async move {
                time::sleep(Duration::from_millis(2)).await;
                drop(permit);
            });
            select! { got = receiver.recv() => got }
        });
        assert_eq!(got.expect("no deadlock"), Err(Closed));
    }
}

mod a_select {
    use super::*;

    #[test]
    fn that_receives_sleeps_while_others_wait_for_a_slot() {
        let (sender, receiver) = chan::bounded(1);
        let permit = sender.try_reserve().expect("there is room");
        let mut reserves = sender.reserve();
        assert!(poll(&mut reserves).is_pending());
        let runtime = with_procs(1);
        let got = runtime.block_on(async {
            select! {
                got = receiver.recv() => got.ok(),
                timeout(Duration::from_millis(5)) => None,
            }
        });
        assert_eq!(got.expect("no deadlock"), None);
        permit.send(1);
        assert_eq!(receiver.try_recv(), Ok(1));
    }

    #[test]
    fn that_takes_another_case_gives_its_place_up() {
        let (sender, receiver) = chan::bounded(1);
        sender.try_send(1).expect("there is room");
        let runtime = with_procs(1);
        let has_slot = runtime.block_on(async {
            select! {
                permit = sender.reserve() => permit.is_ok(),
                _ = yield_now() => false,
            }
        });
        assert!(!has_slot.expect("no deadlock"));
        assert_eq!(receiver.try_recv(), Ok(1));
        assert!(sender.try_reserve().is_ok(), "no slot stayed with the select");
    }
}

mod many_slots {
    use super::*;

    #[test]
    fn are_gathered_by_one_after_the_other() {
        let (sender, receiver) = chan::bounded(2);
        let sum = with_procs(2).block_on(async {
            let mut tasks = JoinSet::new();
            for n in 0..20 {
                let sender = sender.clone();
                tasks.spawn(async move {
                    let permits = sender.reserve_many(2).await.expect("it is open");
                    assert_eq!(permits.len(), 2);
                    permits.for_each(|permit| permit.send(n));
                });
            }
            drop(sender);
            let mut sum = 0;
            while let Ok(n) = receiver.recv().await {
                sum += n;
            }
            sum
        });
        assert_eq!(sum.expect("no deadlock"), 2 * 190);
    }

    #[test]
    fn are_given_back_when_the_gathering_is_given_up() {
        let (sender, _receiver) = chan::bounded::<u8>(3);
        let permit = sender.try_reserve().expect("there is room");
        {
            let mut gathers = Box::pin(sender.reserve_many(3));
            assert!(crate::polled::poll(gathers.as_mut()).is_pending());
            assert!(sender.try_reserve().is_err(), "it has two");
        }
        assert_eq!(sender.try_reserve_many(2).expect("they are free").len(), 2);
        drop(permit);
        assert!(now(sender.reserve_many(3)).expect("they are free").is_ok());
    }

    #[test]
    fn are_all_there_or_none() {
        let (sender, receiver) = chan::bounded::<u8>(2);
        assert!(matches!(now(sender.reserve_many(3)), Some(Err(_))), "there are never so many");
        drop(sender.try_reserve().expect("there is room"));
        assert_eq!(now(sender.reserve_many(0)).expect("at once").expect("it is open").len(), 0);
        sender.try_send(1).expect("there is room");
        assert!(sender.try_reserve_many(2).unwrap_err().is_full());
        receiver.close();
        assert!(matches!(now(sender.reserve_many(0)), Some(Err(_))));
        assert!(sender.try_reserve_many(1).unwrap_err().is_closed());
    }
}

/// What each of the tasks below does with its permit, in turn.
async fn uses(permit: OwnedPermit<usize>, n: usize, sent: &AtomicUsize) {
    match n % 4 {
        0 => drop(permit),
        1 => drop(permit.release()),
        _ => {
            if n % 8 > 3 {
                yield_now().await;
            }
            sent.fetch_add(1, SeqCst);
            permit.send(n);
        }
    }
}

/// Four Ps, thirty tasks that reserve, send, use, give back and give up, and three receivers, some of which give up too.
#[test]
fn of_many_tasks_no_value_and_no_slot_is_lost() {
    const CAPACITY: usize = 3;
    let (sender, receiver) = chan::bounded(CAPACITY);
    let (sent, received) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let runtime = with_procs(4);
    let ended = runtime.block_on(async {
        let (mut senders, mut receivers) = (JoinSet::new(), JoinSet::new());
        for task in 0..30 {
            let (sender, sent) = (sender.clone(), Arc::clone(&sent));
            senders.spawn(async move {
                for n in task..task + 200 {
                    match n % 3 {
                        0 => {
                            sender.send(n).await.expect("it is open");
                            sent.fetch_add(1, SeqCst);
                        }
                        // Given up after one poll, or with the slot.
                        1 => drop(now(sender.reserve())),
                        _ => uses(sender.clone().reserve_owned().await.expect("it is open"), n, &sent).await,
                    }
                }
            });
        }
        for _ in 0..3 {
            let (receiver, received) = (receiver.clone(), Arc::clone(&received));
            receivers.spawn(async move {
                loop {
                    let _ = now(async { receiver.recv().await.map(|_| received.fetch_add(1, SeqCst)) });
                    assert!(receiver.len() <= CAPACITY + 3, "more than there is room for, and those that came back");
                    if receiver.recv().await.is_err() {
                        break;
                    }
                    received.fetch_add(1, SeqCst);
                }
            });
        }
        senders.join_all().await;
        assert_eq!(sender.try_reserve_many(CAPACITY).is_ok(), sender.is_empty(), "all slots are back");
        drop(sender);
        receivers.join_all().await;
    });
    ended.expect("no deadlock");
    assert_eq!(sent.load(SeqCst), received.load(SeqCst));
}

/// The last receiver goes, the channel is closed, and a value is sent by a slot, on three threads: the value is received or dropped.
#[test]
fn a_value_by_a_slot_beside_the_end_is_received_or_dropped() {
    let value = Arc::new(());
    for _ in 0..1_000 {
        let (sender, receiver) = chan::bounded(1);
        let permit = sender.clone().try_reserve_owned().expect("there is room");
        let ours = Arc::clone(&value);
        let sends = std::thread::spawn(move || drop(permit.send(ours)));
        let closes = std::thread::spawn(move || sender.close());
        drop(receiver.try_recv());
        drop(receiver);
        sends.join().expect("no panic");
        closes.join().expect("no panic");
        assert_eq!(Arc::strong_count(&value), 1);
    }
}
