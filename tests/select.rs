//! Waiting for several things. A module names the property, a function the situation.

use crate::polled::{Woken, poll, poll_with};
use spinpark::chan::{self, Closed, Receiver, SendError, Sender, TryRecvError, TrySendError};
use spinpark::{Runtime, select, spawn, time, yield_now};
use std::cell::Cell;
use std::future::{Future, IntoFuture, pending, poll_fn, ready};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::Poll;
use std::time::{Duration, Instant};

fn with_procs(n: usize) -> Runtime {
    Runtime::builder().procs(n).build().expect("a runtime")
}

fn run<F: Future>(future: F) -> F::Output {
    with_procs(1).run(future)
}

/// What it gives without waiting.
fn at_once<F: Future>(future: F) -> F::Output {
    match poll(pin!(future)) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

mod a_select_chooses {
    use super::*;

    #[test]
    fn what_is_ready() {
        at_once(async {
            let (sender, receiver) = chan::bounded(1);
            let (full, _full) = chan::bounded(1);
            full.try_send(0).expect("there is room");
            let mut seen = Vec::new();
            for _ in 0..4 {
                seen.push(select! {
                    value = receiver.recv() => value.expect("it is open"),
                    sent = full.send(7) => { sent.expect("it is open"); 0 },
                    _ = pending::<()>() => 1,
                    default => {
                        sender.try_send(2).expect("there is room");
                        3
                    }
                });
            }
            assert_eq!(seen, [3, 2, 3, 2]);
            let sent = select! { value = receiver.recv() => value.is_err(), sent = sender.send(9) => sent.is_ok() };
            assert!(sent);
            assert_eq!(receiver.try_recv(), Ok(9));
            assert_eq!(select! { n = ready(5) => n, _ = receiver.recv() => 0 }, 5);
        });
    }

    #[test]
    fn a_case_that_is_ready_and_never_the_default_however_much_the_task_has_done() {
        with_procs(1).run(async {
            for _ in 0..1000 {
                let chosen = select! { _ = time::sleep(Duration::ZERO) => true, default => false };
                assert!(chosen, "it is ready");
            }
        });
    }

    #[test]
    fn what_becomes_ready() {
        with_procs(2)
            .block_on(async {
                let (sender, receiver) = chan::rendezvous();
                let (_never, nothing) = chan::rendezvous::<u32>();
                spawn(async move {
                    time::sleep(Duration::from_millis(2)).await;
                    sender.send(4).await
                });
                let got = select! {
                    value = nothing.recv() => value,
                    value = receiver.recv() => value,
                    timeout(Duration::from_secs(20)) => Ok(0),
                };
                assert_eq!(got, Ok(4));

                let (sender, receiver) = chan::bounded(1);
                sender.try_send(0).expect("there is room");
                let task = spawn(async move {
                    time::sleep(Duration::from_millis(2)).await;
                    (receiver.recv().await, receiver.recv().await)
                });
                select! {
                    _ = nothing.recv() => panic!("there is no sender"),
                    sent = sender.send(1) => assert_eq!(sent, Ok(())),
                }
                assert_eq!(task.await.expect("no panic"), (Ok(0), Ok(1)));

                let task = spawn(async { time::sleep(Duration::from_millis(2)).await });
                select! { _ = nothing.recv() => panic!("there is no sender"), done = task => done.expect("no panic") }
            })
            .expect("no deadlock");
    }

    #[test]
    fn a_channel_that_is_closed() {
        let (sender, receiver) = chan::rendezvous::<u32>();
        let (other, others) = chan::rendezvous::<u32>();
        let mut waiting = pin!(async {
            select! { got = receiver.recv() => got.is_err(), _ = others.recv() => false }
        });
        assert!(poll(waiting.as_mut()).is_pending());
        sender.close();
        assert_eq!(poll(waiting), Poll::Ready(true));
        let mut waiting = pin!(async {
            select! { sent = other.send(3) => sent }
        });
        assert!(poll(waiting.as_mut()).is_pending());
        others.close();
        assert_eq!(poll(waiting), Poll::Ready(Err(SendError(3))));
        assert_eq!(
            at_once(async {
                select! { got = others.recv() => got, default => Ok(0) }
            }),
            Err(Closed)
        );
    }

    #[test]
    fn the_timeout_when_nothing_comes() {
        with_procs(1)
            .block_on(async {
                let (_sender, receiver) = chan::rendezvous::<u32>();
                let since = Instant::now();
                select! {
                    _ = receiver.recv() => panic!("there is no sender"),
                    timeout(Duration::from_millis(5)) => assert!(since.elapsed() >= Duration::from_millis(5)),
                }
                let ready = select! { n = ready(1) => n, timeout(Duration::ZERO) => 2 };
                assert_eq!(ready, 1, "what is ready comes before a time that is over");
            })
            .expect("no deadlock");
    }

    #[test]
    fn none_that_is_none() {
        let (sender, receiver) = chan::bounded(1);
        sender.try_send(1).expect("there is room");
        let off: Option<&Receiver<u32>> = None;
        at_once(async {
            select! { _ = off.map(Receiver::recv) => panic!("there is none"), default => () }
            select! { got = Some(receiver.recv()) => assert_eq!(got, Ok(1)), default => panic!("there is one") }
        });
        let mut waiting = pin!(async {
            select! { _ = off.map(Receiver::recv) => () }
        });
        assert!(poll(waiting.as_mut()).is_pending());
    }

    #[test]
    fn each_ready_case_as_often_as_the_others() {
        let channels = [(); 5].map(|()| chan::bounded(1));
        channels.iter().for_each(|(sender, _)| sender.try_send(()).expect("there is room"));
        let mut times = [0_u32; 5];
        for _ in 0..10_000 {
            // The middle one is never ready.
            let _ = channels[2].1.try_recv();
            let n = at_once(async {
                select! {
                    _ = channels[0].1.recv() => 0,
                    _ = channels[1].1.recv() => 1,
                    _ = channels[2].1.recv() => 2,
                    _ = channels[3].1.recv() => 3,
                    _ = channels[4].1.recv() => 4,
                }
            });
            channels[n].0.try_send(()).expect("there is room");
            times[n] += 1;
        }
        assert_eq!(times[2], 0);
        // Ten standard deviations.
        assert!([0, 1, 3, 4].iter().all(|&n| (2_060..2_940).contains(&times[n])), "{times:?}");
    }
}

mod a_body {
    use super::*;

    async fn first(receiver: Receiver<u32>) -> Result<u32, Closed> {
        loop {
            select! {
                value = receiver.recv() => {
                    let value = value?;
                    if value == 0 {
                        continue;
                    }
                    if value > 9 {
                        return Ok(value);
                    }
                    break Ok(ready(value).await);
                }
            }
        }
    }

    #[test]
    fn may_leave_the_loop_and_the_function() {
        for (values, expected) in [(vec![0, 0, 4], Ok(4)), (vec![0, 70], Ok(70)), (vec![0], Err(Closed))] {
            let (sender, receiver) = chan::unbounded();
            values.into_iter().for_each(|value| sender.try_send(value).expect("there is room"));
            drop(sender);
            assert_eq!(at_once(first(receiver)), expected);
        }
    }

    #[test]
    fn may_use_what_was_not_chosen() {
        at_once(async {
            let (sender, mut receiver) = chan::bounded(1);
            let mut future = Box::pin(pending::<u32>());
            select! {
                n = &mut future => panic!("it never is ready: {n}"),
                sent = sender.send(1) => {
                    sent.expect("there is room");
                    future = Box::pin(pending());
                    drop(sender);
                }
            }
            drop(future);
            let other = &mut receiver;
            assert_eq!(other.try_recv(), Ok(1));
        });
    }

    #[test]
    fn stands_in_code_that_waits_without_async() {
        trait Wait: IntoFuture + Sized {
            fn wait(self) -> Self::Output {
                futures_lite::future::block_on(self.into_future())
            }
        }
        impl<F: IntoFuture> Wait for F {}
        let (sender, receiver) = chan::rendezvous();
        let thread = std::thread::spawn(move || select!(wait { sent = sender.send(8) => sent }));
        let got = select!(wait {
            value = receiver.recv() => value,
            _ = pending::<()>() => Ok(0),
        });
        assert_eq!((got, thread.join().expect("no panic")), (Ok(8), Ok(())));
        assert_eq!(at_once(async { select!(await { n = ready(3) => n }) }), 3);
    }
}

mod exactly_one_case_takes_effect {
    use super::*;

    #[test]
    fn if_all_are_ready() {
        let (sender, receiver) = chan::bounded(4);
        let (one, two) = (chan::bounded(1), chan::bounded(1));
        one.0.try_send(1).expect("there is room");
        two.0.try_send(2).expect("there is room");
        at_once(async {
            select! { _ = one.1.recv() => (), _ = two.1.recv() => (), _ = sender.send(3) => () }
        });
        assert_eq!(one.1.len() + two.1.len() + 1 - receiver.len(), 2);
    }

    #[test]
    fn if_two_partners_come_while_it_waits() {
        let (one, two) = (chan::rendezvous(), chan::rendezvous());
        let mut waiting = pin!(async {
            select! { v = one.1.recv() => v, v = two.1.recv() => v }
        });
        assert!(poll(waiting.as_mut()).is_pending());
        assert_eq!(one.0.try_send(1), Ok(()));
        assert_eq!(two.0.try_send(2), Err(TrySendError::Full(2)), "both cases were served");
        assert_eq!(poll(waiting), Poll::Ready(Ok(1)));
    }

    #[test]
    fn if_it_both_sends_and_receives() {
        let (one, two) = (chan::rendezvous(), chan::rendezvous());
        let mut waiting = pin!(async {
            select! { v = one.1.recv() => v.is_err(), sent = two.0.send(2) => sent.is_ok() }
        });
        assert!(poll(waiting.as_mut()).is_pending());
        assert_eq!(two.1.try_recv(), Ok(2));
        assert_eq!(one.0.try_send(1), Err(TrySendError::Full(1)));
        assert_eq!(poll(waiting), Poll::Ready(true));
    }

    #[test]
    fn if_two_selects_meet() {
        let (sender, receiver) = chan::rendezvous();
        let (_open, never) = chan::rendezvous::<u32>();
        let mut sends = pin!(async {
            select! { s = sender.send(5) => s.is_ok(), _ = never.recv() => false }
        });
        let mut receives = pin!(async {
            select! { _ = never.recv() => 0, v = receiver.recv() => v.unwrap_or(0) }
        });
        assert!(poll(sends.as_mut()).is_pending());
        assert_eq!(poll(receives.as_mut()), Poll::Ready(5));
        assert_eq!(poll(sends), Poll::Ready(true));
    }

    #[test]
    fn if_a_partner_comes_between_the_look_and_the_wait() {
        for _ in 0..64 {
            // The future's poll is in between, unless it is first; then the look finds the partner.
            let (sender, receiver) = chan::rendezvous();
            let mut sending = sender.send(5);
            let mut partner = pin!(poll_fn(|_| poll(Pin::new(&mut sending)).map(|_| 0)));
            let got = async {
                select! { _ = partner.as_mut() => 0, v = receiver.recv() => v.unwrap_or(0) }
            };
            assert_eq!(poll(pin!(got)), Poll::Ready(5), "it waits, and so does its partner");

            let mut receiving = receiver.recv();
            let mut partner = pin!(poll_fn(|_| poll(Pin::new(&mut receiving)).map(|_| false)));
            let sent = async {
                select! { _ = partner.as_mut() => false, s = sender.send(6) => s.is_ok() }
            };
            assert_eq!(poll(pin!(sent)), Poll::Ready(true), "it waits, and so does its partner");
            assert_eq!(poll(Pin::new(&mut receiving)), Poll::Ready(Ok(6)));
        }
    }

    #[test]
    fn if_a_channel_is_in_it_twice() {
        let (sender, receiver) = chan::rendezvous();
        let mut waiting = pin!(async {
            select! { v = receiver.recv() => v, v = receiver.recv() => v }
        });
        assert!(poll(waiting.as_mut()).is_pending());
        assert_eq!(sender.try_send(1), Ok(()));
        assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
        assert_eq!(poll(waiting), Poll::Ready(Ok(1)));
    }

    #[test]
    fn and_never_does_it_meet_itself() {
        let (sender, receiver) = chan::rendezvous();
        let mut waiting = pin!(async {
            select! { v = receiver.recv() => v.is_ok(), _ = sender.send(1) => false }
        });
        for _ in 0..20 {
            assert!(poll(waiting.as_mut()).is_pending());
        }
        assert_eq!(sender.try_send(2), Ok(()), "a receiver waits for this");
        assert_eq!(poll(waiting), Poll::Ready(true));
    }

    #[test]
    fn if_a_future_is_ready_too() {
        let (sender, receiver) = chan::rendezvous();
        let mut polls = 0;
        let mut future = pin!(poll_fn(|_| {
            polls += 1;
            if polls == 1 { Poll::Pending } else { Poll::Ready(7) }
        }));
        {
            let mut waiting = pin!(async {
                select! { n = future.as_mut() => n, v = receiver.recv() => v.expect("it is open") }
            });
            assert!(poll(waiting.as_mut()).is_pending());
            assert_eq!(sender.try_send(1), Ok(()));
            assert_eq!(poll(waiting), Poll::Ready(1));
        }
        assert_eq!(polls, 1, "it was polled, and what it gave is lost");
    }
}

mod what_was_not_chosen {
    use super::*;

    #[test]
    fn drops_its_value_with_it() {
        let (sender, _receiver) = chan::rendezvous();
        let witness = Arc::new(());
        let value = Arc::clone(&witness);
        at_once(async {
            select! { _ = sender.send(value) => panic!("there is no receiver"), default => () }
        });
        assert_eq!(Arc::strong_count(&witness), 1);
    }

    #[test]
    fn keeps_its_value_if_it_is_a_reference() {
        let (sender, receiver) = chan::rendezvous();
        let (wake, woken) = chan::rendezvous();
        let mut sending = sender.send(Box::new(6));
        {
            let mut waiting = pin!(async {
                select! { _ = &mut sending => false, _ = woken.recv() => true }
            });
            assert!(poll(waiting.as_mut()).is_pending());
            assert_eq!(wake.try_send(()), Ok(()));
            assert_eq!(poll(waiting), Poll::Ready(true));
        }
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty), "it still waits");
        assert!(poll(Pin::new(&mut sending)).is_pending());
        assert_eq!(receiver.try_recv(), Ok(Box::new(6)));
        assert_eq!(poll(Pin::new(&mut sending)), Poll::Ready(Ok(())));
    }

    #[test]
    fn leaves_its_place_in_the_line() {
        let (one, two) = (chan::rendezvous(), chan::rendezvous());
        let mut waiting = pin!(async {
            select! { v = one.1.recv() => v, v = two.1.recv() => v }
        });
        assert!(poll(waiting.as_mut()).is_pending());
        let woken = Arc::new(Woken::default());
        let mut behind = one.1.recv();
        assert!(poll_with(Pin::new(&mut behind), &woken).is_pending());
        assert_eq!(two.0.try_send(2), Ok(()));
        assert_eq!(one.0.try_send(1), Ok(()), "the one behind waits");
        assert_eq!(woken.times(), 1);
        assert_eq!(poll(waiting), Poll::Ready(Ok(2)));
    }
}

mod a_select_that_is_dropped {
    use super::*;

    #[test]
    fn leaves_all_lines() {
        let (one, two) = (chan::rendezvous(), chan::rendezvous());
        {
            let mut waiting = pin!(async {
                select! { v = one.1.recv() => v.is_ok(), s = two.0.send(2) => s.is_ok() }
            });
            assert!(poll(waiting.as_mut()).is_pending());
        }
        assert_eq!(one.0.try_send(1), Err(TrySendError::Full(1)));
        assert_eq!(two.1.try_recv(), Err(TryRecvError::Empty));
    }

    #[test]
    fn puts_back_what_it_was_given() {
        let (one, two) = (chan::rendezvous(), chan::rendezvous::<u32>());
        let mut receiving = one.1.recv();
        for by_reference in [false, true] {
            {
                let mut waiting = pin!(async {
                    match by_reference {
                        true => select! { v = &mut receiving => v, v = two.1.recv() => v },
                        false => select! { v = one.1.recv() => v, v = two.1.recv() => v },
                    }
                });
                assert!(poll(waiting.as_mut()).is_pending());
                assert_eq!(one.0.try_send(1), Ok(()));
            }
            assert_eq!(one.1.try_recv(), Ok(1));
        }
        assert!(poll(Pin::new(&mut receiving)).is_pending());
    }

    #[test]
    fn has_sent_what_was_taken() {
        let (sender, receiver) = chan::rendezvous();
        let mut sending = sender.send(1);
        {
            let mut waiting = pin!(async {
                select! { s = &mut sending => s, _ = pending::<()>() => Ok(()) }
            });
            assert!(poll(waiting.as_mut()).is_pending());
            assert_eq!(receiver.try_recv(), Ok(1));
        }
        assert_eq!(poll(Pin::new(&mut sending)), Poll::Ready(Ok(())));
    }

    #[test]
    fn or_forgotten_and_served_elsewhere_does_not_keep_its_references() {
        let (one, two) = (chan::rendezvous(), chan::rendezvous());
        let mut sending = one.0.send(1);
        let mut receiving = one.1.recv();
        let mut waiting = Box::pin(async {
            select! { _ = &mut sending => (), _ = two.1.recv() => () }
        });
        assert!(poll(waiting.as_mut()).is_pending());
        std::mem::forget(waiting);
        assert_eq!(two.0.try_send(2), Ok(()), "the forgotten one still waits");
        assert!(poll(Pin::new(&mut sending)).is_pending());
        assert_eq!(poll(Pin::new(&mut receiving)), Poll::Ready(Ok(1)));
        assert_eq!(poll(Pin::new(&mut sending)), Poll::Ready(Ok(())));
    }

    #[test]
    fn or_forgotten_does_not_keep_its_references() {
        let (sender, receiver) = chan::rendezvous();
        let mut sending = sender.send(1);
        let mut waiting = Box::pin(async {
            select! { s = &mut sending => s, _ = pending::<()>() => Ok(()) }
        });
        assert!(poll(waiting.as_mut()).is_pending());
        std::mem::forget(waiting);
        assert!(poll(Pin::new(&mut sending)).is_pending());
        assert_eq!(receiver.try_recv(), Ok(1));
        assert_eq!(poll(Pin::new(&mut sending)), Poll::Ready(Ok(())));
    }
}

mod nothing_is_lost_or_doubled {
    use super::*;

    /// What went over the channels: how many, and their sum; as the senders were told, and as was received.
    #[derive(Default)]
    struct Sums {
        sent: [AtomicUsize; 2],
        received: [AtomicUsize; 2],
    }

    fn count(sums: &[AtomicUsize; 2], value: usize) {
        sums[0].fetch_add(1, SeqCst);
        sums[1].fetch_add(value, SeqCst);
    }

    type Pair = (Sender<usize>, Receiver<usize>);

    /// Sends and receives, whatever is ready, on three channels.
    async fn play(pairs: [Pair; 3], me: usize, rounds: usize, sums: Arc<Sums>) {
        let [(send_a, recv_a), (send_b, recv_b), (send_c, recv_c)] = pairs;
        for round in 0..rounds {
            let value = me * rounds + round;
            let sent = |result: Result<(), SendError<usize>>| {
                if result.is_ok() {
                    count(&sums.sent, value);
                }
            };
            let got = |result: Result<usize, Closed>| {
                if let Ok(value) = result {
                    count(&sums.received, value);
                }
            };
            match (round + me) % 4 {
                // Meets others that do the same, from all sides.
                0 => select! {
                    r = send_a.send(value) => sent(r),
                    v = recv_a.recv() => got(v),
                    r = send_b.send(value) => sent(r),
                    v = recv_c.recv() => got(v),
                    timeout(Duration::from_millis(1)) => (),
                },
                1 => select! {
                    v = recv_a.recv() => got(v),
                    v = recv_b.recv() => got(v),
                    r = send_c.send(value) => sent(r),
                    _ = yield_now() => (),
                },
                2 => select! {
                    r = send_b.send(value) => sent(r),
                    r = send_c.send(value) => sent(r),
                    default => yield_now().await,
                },
                _ => {
                    // Left alone for a while, and perhaps dropped.
                    let (mut sending, mut receiving) = (send_a.send(value), recv_b.recv());
                    let selected = {
                        let mut waiting = pin!(async {
                            select! {
                                r = &mut sending => Some(r),
                                v = &mut receiving => {
                                    got(v);
                                    None
                                }
                            }
                        });
                        let before = poll(waiting.as_mut());
                        yield_now().await;
                        if before.is_pending() && round % 3 == 0 { poll(waiting) } else { before }
                    };
                    match selected {
                        Poll::Ready(Some(r)) => sent(r),
                        // Taken before it was dropped, it was sent.
                        _ if sending.into_inner().is_none() => sent(Ok(())),
                        _ => (),
                    }
                }
            }
        }
    }

    fn stress(capacities: [usize; 3], procs: usize, tasks: usize) {
        let sums = Arc::new(Sums::default());
        let rounds = 20_000;
        let left = with_procs(procs).block_on(async {
            let pairs = capacities.map(chan::bounded);
            let playing: Vec<_> =
                (0..tasks).map(|me| spawn(play(pairs.clone(), me, rounds, Arc::clone(&sums)))).collect();
            for task in playing {
                task.await.expect("no panic");
            }
            pairs.each_ref().map(|(sender, receiver)| {
                sender.close();
                while let Ok(value) = receiver.try_recv() {
                    count(&sums.received, value);
                }
                receiver.len()
            })
        });
        assert_eq!(left.expect("no deadlock"), [0; 3]);
        let [sent, received] = [&sums.sent, &sums.received].map(|sums| sums.each_ref().map(|n| n.load(SeqCst)));
        assert_eq!(sent, received, "how many, and their sum: sent, received");
        assert!(sent[0] > rounds, "nothing happened: {sent:?}");
    }

    #[test]
    fn where_selects_meet_on_channels_without_room() {
        stress([0, 0, 0], 4, 8);
    }

    #[test]
    fn where_channels_have_some_room() {
        stress([1, 0, 3], 4, 8);
    }

    #[test]
    fn on_one_p() {
        stress([0, 1, 0], 1, 5);
    }

    #[test]
    fn where_two_selects_meet_from_two_sides() {
        // Each sends on one and receives on the other: they meet on either.
        const ROUNDS: usize = 20_000;
        let (one, two) = (chan::rendezvous(), chan::rendezvous());
        let play = |sender: Sender<usize>, receiver: Receiver<usize>| async move {
            let (mut sent, mut received) = (0, 0);
            for _ in 0..ROUNDS {
                select! {
                    result = sender.send(1) => { result.expect("it is open"); sent += 1; }
                    value = receiver.recv() => received += value.expect("it is open"),
                }
            }
            (sent, received)
        };
        let both = with_procs(2).block_on(async move {
            let a = spawn(play(one.0, two.1));
            let b = spawn(play(two.0, one.1));
            (a.await.expect("no panic"), b.await.expect("no panic"))
        });
        let ((a_sent, a_received), (b_sent, b_received)) = both.expect("no deadlock");
        assert_eq!((a_sent, b_sent), (b_received, a_received));
        assert_eq!(a_sent + a_received, ROUNDS);
    }
}

mod a_pattern_that_need_not_fit {
    use super::*;

    #[test]
    fn takes_its_case_out_of_the_select_and_the_others_go_on() {
        run(async {
            let (gives, takes) = chan::bounded(1);
            gives.try_send(5).expect("there is room");
            let closed = chan::bounded::<u32>(1).1;
            for _ in 0..20 {
                let n = select! {
                    Ok(n) = closed.recv() => n,
                    Ok(n) = takes.recv() => n,
                };
                gives.try_send(n).expect("there is room");
            }
        });
    }

    #[test]
    fn is_told_by_a_partner_that_comes_while_it_waits() {
        run(async {
            let ((odd, odds), (stop, stopped)) = (chan::rendezvous::<u32>(), chan::rendezvous::<()>());
            let waits = spawn(async move {
                select! {
                    Ok(3) = odds.recv() => "three",
                    Err(_) = stopped.recv() => "stopped",
                }
            });
            odd.send(4).await.expect("it is received, and does not fit");
            assert!(odd.try_send(3).is_err(), "the case is gone");
            drop(stop);
            assert_eq!(waits.await.expect("no panic"), "stopped");
        });
    }

    #[test]
    fn binds_as_a_match_does() {
        run(async {
            let text = || async { Some(String::from("a")) };
            let moved = select! { Some(mut text) = text() => { text.push('b'); text } };
            let lent = select! { Some(ref text) = text() => text.len() };
            let changed = select! { Some(ref mut text) = text() => { text.push('c'); text.clone() } };
            let bound = select! { (n @ 1..=3 | n @ 7, _) = async { (2, ()) } => n };
            assert_eq!((moved.as_str(), lent, changed.as_str(), bound), ("ab", 1, "ac", 2));
        });
    }

    #[test]
    fn is_not_polled_again_once_it_has_not_fitted() {
        run(async {
            let polls = Cell::new(0);
            let none = std::future::poll_fn(|_| {
                polls.set(polls.get() + 1);
                Poll::Ready(None::<()>)
            });
            select! {
                Some(()) = none => unreachable!(),
                () = async { for _ in 0..3 { yield_now().await } } => {}
            }
            assert!(polls.get() <= 1);
        });
    }

    #[test]
    fn drops_what_did_not_fit() {
        run(async {
            let held = Arc::new(());
            let theirs = Arc::clone(&held);
            select! {
                None = async { Some(theirs) } => unreachable!(),
                else => assert_eq!(Arc::strong_count(&held), 1),
            }
        });
    }
}

mod a_case_with_a_condition {
    use super::*;

    #[test]
    fn is_made_but_not_polled_if_that_is_false() {
        run(async {
            let made = Cell::new(0);
            let make = || {
                made.set(made.get() + 1);
                std::future::poll_fn(|_| -> Poll<()> { panic!("polled") })
            };
            let n = select! {
                () = make(), if made.get() > 0 => 1,
                n = async { 2 }, if made.get() == 0 => n,
            };
            assert_eq!((n, made.get()), (2, 1));
        });
    }

    #[test]
    fn borrows_what_another_changes() {
        run(async {
            let mut list = vec![1, 2, 3];
            let mut sum = 0;
            while !list.is_empty() {
                select! {
                    n = std::future::ready(list.pop()), if !list.is_empty() => sum += n.unwrap_or(0),
                    default => {}
                }
            }
            assert_eq!(sum, 6);
        });
    }
}

mod an_else {
    use super::*;
    use spinpark::Wait;

    #[test]
    fn is_chosen_if_no_case_is_left() {
        run(async {
            assert_eq!(select! { else => 1 }, 1);
            assert_eq!(select! { biased; else => 2 }, 2);
            assert_eq!(select! { _ = async {}, if false => 0, else => 3 }, 3);
            assert_eq!(select! { Some(n) = async { None } => n, else => 4, timeout(Duration::MAX) => 0 }, 4);
            assert_eq!(select!(wait { Some(n) = async { None } => n, else => 5 }), 5);
        });
    }

    #[test]
    fn that_is_missing_is_a_panic_unless_something_comes_besides() {
        run(async {
            let panics = spawn(async {
                select! { Some(()) = async { None } => {} }
            })
            .await;
            let error = panics.expect_err("no case is left").to_string();
            assert!(error.contains("no case is left") && error.contains("`else`"), "{error}");
            select! { _ = async {}, if false => unreachable!(), timeout(Duration::from_millis(1)) => {} }
            select! { _ = async {}, if false => unreachable!(), default => {} }
        });
    }
}

mod a_biased_one {
    use super::*;

    #[test]
    fn takes_the_first_that_is_ready() {
        run(async {
            let all: Vec<_> = (0..3).map(|_| chan::bounded(1)).collect();
            for (gives, _) in &all {
                gives.try_send(()).expect("there is room");
            }
            let mut order = Vec::new();
            for _ in 0..3 {
                order.push(select! {
                    biased;
                    _ = all[2].1.recv() => 2,
                    _ = all[0].1.recv() => 0,
                    _ = all[1].1.recv() => 1,
                });
            }
            assert_eq!(order, [2, 0, 1]);
            assert_eq!(select!(await { biased; n = async { 1 } => n, n = async { 2 } => n }), 1);
        });
    }
}

mod sixty_four_cases {
    use super::*;

    macro_rules! of_many {
        ($given:expr; $($n:literal)*) => {
            select! { $(Some($n) = async { ($given == $n).then_some($n) } => ($n * 10),)* else => 0 }
        };
    }

    #[test]
    fn are_each_chosen() {
        fn chosen(given: u32) -> u32 {
            run(async move {
                of_many!(given; 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
                    33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64)
            })
        }
        assert!((0..=64).all(|n| chosen(n) == n * 10));
    }
}
