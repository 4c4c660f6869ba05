//! Channels: what they order, and what not; with and without room.

use super::{Memory, proved, refuted};
use loom::sync::Arc;
use loom::sync::atomic::AtomicUsize;
use loom::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use loom::sync::mpsc::{TryRecvError, TrySendError, channel, sync_channel};
use loom::thread;

#[derive(Default)]
struct Shared {
    memory: Memory,
    flag: AtomicUsize,
}

#[test]
fn what_comes_before_a_message_is_known_with_it() {
    let send = |writes_first: bool| {
        let (sender, receiver) = channel();
        let shared = Arc::new(Shared::default());
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            if writes_first {
                theirs.memory.write(1);
            }
            sender.send(()).unwrap();
            if !writes_first {
                theirs.memory.write(1);
            }
        });
        receiver.recv().unwrap();
        shared.memory.write(1);
        other.join().unwrap();
    };
    proved(move || send(true));
    assert!(refuted(move || send(false)).contains("race"));
}

/// That one has sent before the other does not mean that the other knows what the one did.
#[test]
fn two_senders_are_not_ordered() {
    let send = |tells: bool| {
        let (sender, receiver) = channel();
        let shared = Arc::new(Shared::default());
        let (one, two, sender2) = (shared.clone(), shared.clone(), sender.clone());
        let one = thread::spawn(move || {
            one.memory.write(1);
            sender.send(1).unwrap();
            one.flag.store(1, if tells { Release } else { Relaxed });
        });
        let two = thread::spawn(move || {
            if two.flag.load(Acquire) == 1 {
                sender2.send(2).unwrap();
                two.memory.write(1);
            }
        });
        assert_eq!(receiver.recv(), Ok(1));
        one.join().unwrap();
        two.join().unwrap();
    };
    proved(move || send(true));
    assert!(refuted(move || send(false)).contains("race"));
}

#[test]
fn what_comes_before_the_last_sender_is_dropped_is_known_with_that() {
    proved(|| {
        let (sender, receiver) = channel::<()>();
        let shared = Arc::new(Shared::default());
        let (theirs, kept) = (shared.clone(), sender.clone());
        let other = thread::spawn(move || {
            theirs.memory.write(1);
            drop(sender);
        });
        drop(kept);
        assert!(receiver.recv().is_err());
        shared.memory.write(1);
        other.join().unwrap();
    });
}

#[test]
fn a_sender_waits_for_room() {
    for bound in 1..3 {
        proved(move || {
            let (sender, receiver) = sync_channel(bound);
            let sent = Arc::new(AtomicUsize::new(0));
            let theirs = sent.clone();
            let other = thread::spawn(move || {
                for n in 0..3 {
                    sender.send(n).unwrap();
                    theirs.store(n + 1, Relaxed);
                }
            });
            assert!(sent.load(Relaxed) <= bound);
            assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1, 2]);
            other.join().unwrap();
        });
    }
    let why = refuted(|| {
        let (sender, receiver) = sync_channel(1);
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        drop(receiver);
    });
    assert!(why.starts_with("deadlock"), "{why}");
}

#[test]
fn a_channel_without_room_hands_over() {
    let hand_over = |bound: usize| {
        let (sender, receiver) = sync_channel(bound);
        let shared = Arc::new(Shared::default());
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            theirs.memory.write(1);
            receiver.recv().unwrap();
        });
        sender.send(()).unwrap();
        shared.memory.write(1);
        other.join().unwrap();
    };
    proved(move || hand_over(0));
    assert!(refuted(move || hand_over(1)).contains("race"));
}

#[test]
fn a_sender_that_waits_gets_its_message_back_if_the_receiver_goes() {
    for bound in [0, 1] {
        proved(move || {
            let (sender, receiver) = sync_channel(bound);
            let other = thread::spawn(move || drop(receiver));
            let all = (0..2).map(|n| sender.send(n).map_err(|error| error.0)).collect::<Vec<_>>();
            assert!(all[1] == Err(1) && (all[0] == Err(0) || bound == 1), "{all:?}");
            other.join().unwrap();
        });
    }
}

#[test]
fn a_try_finds_room_or_none() {
    proved(|| {
        let (sender, receiver) = sync_channel(1);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(sender.try_send(1), Ok(()));
        assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1]);
        drop(receiver);
        assert_eq!(sender.try_send(3), Err(TrySendError::Disconnected(3)));
    });
    // Without room a try succeeds if the receiver waits, and only then.
    for expected in [true, false] {
        let why = refuted(move || {
            let (sender, receiver) = sync_channel(0);
            let other = thread::spawn(move || receiver.recv().is_ok());
            let is_sent = sender.try_send(()).is_ok();
            drop(sender);
            assert_eq!(other.join().unwrap(), is_sent);
            assert_ne!(is_sent, expected, "as expected");
        });
        assert!(why.contains("as expected"), "{why}");
    }
}

#[test]
fn any_of_two_senders_that_wait_may_be_next() {
    for expected in [1, 2] {
        let why = refuted(move || {
            let (sender, receiver) = sync_channel(1);
            sender.send(0).unwrap();
            let senders = [1, 2].map(|n| {
                let sender = sender.clone();
                thread::spawn(move || sender.send(n).unwrap())
            });
            drop(sender);
            let all: Vec<u32> = receiver.into_iter().collect();
            assert_ne!(all[1], expected, "as expected");
            senders.into_iter().for_each(|sender| sender.join().unwrap());
        });
        assert!(why.contains("as expected"), "{why}");
    }
}
