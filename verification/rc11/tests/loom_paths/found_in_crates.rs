//! Structures as crates have them, right, and wrong by one step.

use super::{Memory, proved, refuted};
use loom::hint;
use loom::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, fence};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use std::ptr::null_mut;

/// A lock with tickets.
mod a_lock_with_tickets {
    use super::*;

    #[derive(Default)]
    struct Lock {
        next: AtomicUsize,
        serves: AtomicUsize,
        data: Memory,
    }

    fn add(lock: &Lock, looks: Ordering, opens: Ordering) {
        let ticket = lock.next.fetch_add(1, Relaxed);
        while lock.serves.load(looks) != ticket {
            hint::spin_loop();
        }
        lock.data.write(lock.data.read() + 1);
        lock.serves.store(ticket + 1, opens);
    }

    fn two_add(looks: Ordering, opens: Ordering) {
        let lock = Arc::new(Lock::default());
        let theirs = lock.clone();
        let other = thread::spawn(move || add(&theirs, looks, opens));
        add(&lock, looks, opens);
        other.join().unwrap();
    }

    #[test]
    fn that_acquires_and_releases() {
        proved(|| two_add(Acquire, Release));
    }

    #[test]
    fn that_does_only_one_of_these() {
        for (looks, opens) in [(Relaxed, Release), (Acquire, Relaxed)] {
            assert!(refuted(move || two_add(looks, opens)).starts_with("data race"));
        }
    }
}

/// Vyukov's bounded queue: each slot has the number of the turn that it waits for.
mod a_bounded_queue {
    use super::*;

    #[derive(Default)]
    struct Slot {
        turn: AtomicUsize,
        value: Memory,
    }

    struct Queue {
        slots: [Slot; 2],
        head: AtomicUsize,
        tail: AtomicUsize,
        publishes: Ordering,
        looks: bool,
    }

    impl Queue {
        fn push(&self, value: u32) -> bool {
            loop {
                let tail = self.tail.load(Relaxed);
                let slot = &self.slots[tail % 2];
                let turn = slot.turn.load(Acquire);
                if self.looks && turn < tail {
                    return false;
                }
                if (turn == tail || !self.looks) && self.tail.compare_exchange(tail, tail + 1, Relaxed, Relaxed).is_ok()
                {
                    slot.value.write(value);
                    slot.turn.store(tail + 1, self.publishes);
                    return true;
                }
            }
        }

        fn pop(&self) -> Option<u32> {
            loop {
                let head = self.head.load(Relaxed);
                let slot = &self.slots[head % 2];
                let turn = slot.turn.load(Acquire);
                if turn < head + 1 {
                    return None;
                }
                if turn == head + 1 && self.head.compare_exchange(head, head + 1, Relaxed, Relaxed).is_ok() {
                    let value = slot.value.read();
                    slot.turn.store(head + 2, Release);
                    return Some(value);
                }
            }
        }
    }

    fn filled_beside_emptied(publishes: Ordering, looks: bool) {
        let slots = [0, 1].map(|turn| Slot { turn: AtomicUsize::new(turn), value: Memory::default() });
        let queue = Arc::new(Queue { slots, head: AtomicUsize::new(0), tail: AtomicUsize::new(0), publishes, looks });
        let theirs = queue.clone();
        let other = thread::spawn(move || [1, 2, 3].map(|value| theirs.push(value)));
        let found = [queue.pop(), queue.pop()];
        let pushed = other.join().unwrap();
        let all: Vec<u32> = found.into_iter().flatten().chain(std::iter::from_fn(|| queue.pop())).collect();
        let wanted: Vec<u32> = (1..=3).zip(pushed).filter(|(_, is_in)| *is_in).map(|(value, _)| value).collect();
        assert_eq!(all, wanted);
    }

    #[test]
    fn whose_slots_have_turns() {
        proved(|| filled_beside_emptied(Release, true));
    }

    #[test]
    fn that_publishes_nothing() {
        assert!(refuted(|| filled_beside_emptied(Relaxed, true)).starts_with("data race"));
    }

    #[test]
    fn that_fills_a_slot_before_its_turn() {
        refuted(|| filled_beside_emptied(Release, false));
    }
}

/// A ring with one writer and one reader.
mod a_ring_for_two {
    use super::*;

    #[derive(Default)]
    struct Ring {
        slot: [Memory; 2],
        head: AtomicUsize,
        tail: AtomicUsize,
    }

    fn handed_over(counts_first: bool, looks: Ordering) {
        let ring = Arc::new(Ring::default());
        let theirs = ring.clone();
        let writer = thread::spawn(move || {
            for n in 0..3 {
                if n - theirs.head.load(looks) == 2 {
                    return;
                }
                if counts_first {
                    theirs.tail.store(n + 1, Release);
                }
                theirs.slot[n % 2].write(n as u32 + 1);
                theirs.tail.store(n + 1, Release);
            }
        });
        for n in 0..2 {
            if ring.tail.load(Acquire) > n {
                assert_eq!(ring.slot[n % 2].read(), n as u32 + 1);
                ring.head.store(n + 1, Release);
            } else {
                break;
            }
        }
        writer.join().unwrap();
    }

    #[test]
    fn that_writes_and_then_counts() {
        proved(|| handed_over(false, Acquire));
    }

    #[test]
    fn that_counts_and_then_writes() {
        let why = refuted(|| handed_over(true, Acquire));
        assert!(why.starts_with("data race") || why.contains("left == right"), "{why}");
    }

    #[test]
    fn that_writes_where_the_other_still_reads() {
        assert!(refuted(|| handed_over(false, Relaxed)).starts_with("data race"));
    }
}

/// Two copies: readers look at one while the writer changes the other.
mod left_and_right {
    use super::*;

    #[derive(Default)]
    struct Both {
        copies: [Memory; 2],
        shows: AtomicUsize,
        readers: [AtomicUsize; 2],
    }

    fn written_beside_read(announces: Ordering, looks_again: bool) {
        let both = Arc::new(Both::default());
        let theirs = both.clone();
        let reader = thread::spawn(move || {
            let mut shown = theirs.shows.load(SeqCst);
            theirs.readers[shown].fetch_add(1, announces);
            while looks_again && theirs.shows.load(SeqCst) != shown {
                theirs.readers[shown].fetch_sub(1, Release);
                shown = theirs.shows.load(SeqCst);
                theirs.readers[shown].fetch_add(1, announces);
            }
            let found = theirs.copies[shown].read();
            theirs.readers[shown].fetch_sub(1, Release);
            found
        });
        both.copies[1].write(1);
        both.shows.store(1, SeqCst);
        while both.readers[0].load(SeqCst) > 0 {
            hint::spin_loop();
        }
        both.copies[0].write(1);
        assert!(reader.join().unwrap() <= 1);
    }

    #[test]
    fn whose_reader_looks_again() {
        proved(|| written_beside_read(SeqCst, true));
    }

    #[test]
    fn whose_reader_does_not() {
        assert!(refuted(|| written_beside_read(SeqCst, false)).starts_with("data race"));
    }

    #[test]
    fn whose_reader_is_overlooked() {
        assert!(refuted(|| written_beside_read(Relaxed, true)).starts_with("data race"));
    }
}

/// A pointer that is exchanged, beside a reader that counts itself in.
mod a_pointer_that_is_swapped {
    use super::*;

    fn swapped_beside_read(counts_first: bool, waits: bool) {
        let made = |value| Box::into_raw(Box::new(AtomicUsize::new(value)));
        let shared = Arc::new((AtomicPtr::new(made(1)), AtomicUsize::new(0)));
        let theirs = shared.clone();
        let reader = thread::spawn(move || {
            let (data, readers) = &*theirs;
            let mut found = null_mut();
            if !counts_first {
                found = data.load(SeqCst);
            }
            readers.fetch_add(1, SeqCst);
            if counts_first {
                found = data.load(SeqCst);
            }
            // SAFETY: it is freed when no reader is counted. Is that so?
            assert!(unsafe { &*found }.load(Relaxed) > 0);
            readers.fetch_sub(1, Release);
        });
        let old = shared.0.swap(made(2), SeqCst);
        while waits && shared.1.load(SeqCst) > 0 {
            hint::spin_loop();
        }
        // SAFETY: as above.
        drop(unsafe { Box::from_raw(old) });
        reader.join().unwrap();
        // SAFETY: the other thread has ended.
        drop(unsafe { Box::from_raw(shared.0.load(Relaxed)) });
    }

    #[test]
    fn and_freed_when_no_reader_is_counted() {
        proved(|| swapped_beside_read(true, true));
    }

    #[test]
    fn and_freed_beside_one() {
        for (counts_first, waits) in [(false, true), (true, false)] {
            let why = refuted(move || swapped_beside_read(counts_first, waits));
            assert!(why.starts_with("use after free"), "{why}");
        }
    }
}

/// A token, and a thread that sleeps until there is one.
mod a_parker {
    use super::*;

    fn unparked(takes_lock: bool) {
        let shared = Arc::new((AtomicBool::new(false), Mutex::new(()), Condvar::new()));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            theirs.0.store(true, SeqCst);
            if takes_lock {
                drop(theirs.1.lock().unwrap());
            }
            theirs.2.notify_one();
        });
        let (token, lock, condvar) = &*shared;
        let mut guard = lock.lock().unwrap();
        while !token.swap(false, SeqCst) {
            guard = condvar.wait(guard).unwrap();
        }
        drop(guard);
        other.join().unwrap();
    }

    #[test]
    fn that_is_woken_under_the_lock() {
        proved(|| unparked(true));
    }

    #[test]
    fn whose_notification_comes_between_the_look_and_the_sleep() {
        assert!(refuted(|| unparked(false)).starts_with("deadlock"));
    }
}

/// A lock for readers that one of them wants to make its own.
mod a_readers_lock {
    use super::*;

    fn upgraded_by_two(gives_way: bool) {
        let lock = Arc::new((AtomicUsize::new(0), Memory::default()));
        let upgrade = move |(readers, data): &(AtomicUsize, Memory)| {
            readers.fetch_add(1, Acquire);
            // The last reader may write.
            loop {
                match readers.compare_exchange(1, 100, Acquire, Relaxed) {
                    Ok(_) => break,
                    Err(_) if gives_way => {
                        readers.fetch_sub(1, Release);
                        return;
                    }
                    Err(_) => hint::spin_loop(),
                }
            }
            data.write(data.read() + 1);
            readers.fetch_sub(100, Release);
        };
        let theirs = lock.clone();
        let other = thread::spawn(move || upgrade(&theirs));
        upgrade(&lock);
        other.join().unwrap();
    }

    /// A reader that comes while the other writes gives way, too.
    #[test]
    fn of_which_one_gives_way() {
        proved(|| upgraded_by_two(true));
    }

    #[test]
    fn of_which_each_waits_for_the_other() {
        assert!(refuted(|| upgraded_by_two(false)).starts_with("deadlock"));
    }
}

/// `Weak::upgrade`, by hand: a count that must not come back from 0.
mod a_weak_reference {
    use super::*;

    fn upgraded_beside_dropped(looks: bool) {
        let data = Box::into_raw(Box::new(Memory::default()));
        let shared = Arc::new((AtomicUsize::new(1), AtomicPtr::new(data)));
        let drops = |(count, data): &(AtomicUsize, AtomicPtr<Memory>)| {
            if count.fetch_sub(1, Release) == 1 {
                fence(Acquire);
                // SAFETY: there is no other reference. Is that so?
                drop(unsafe { Box::from_raw(data.load(Relaxed)) });
            }
        };
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            let counted = match looks {
                true => theirs.0.fetch_update(Relaxed, Relaxed, |count| (count > 0).then_some(count + 1)).is_ok(),
                false => theirs.0.load(Relaxed) > 0 && theirs.0.fetch_add(1, AcqRel) < 9,
            };
            if counted {
                // SAFETY: it is counted.
                unsafe { &*theirs.1.load(Relaxed) }.read();
                drops(&theirs);
            }
        });
        drops(&shared);
        other.join().unwrap();
    }

    #[test]
    fn that_is_counted_if_there_is_one() {
        proved(|| upgraded_beside_dropped(true));
    }

    #[test]
    fn that_is_counted_after_a_look() {
        let why = refuted(|| upgraded_beside_dropped(false));
        assert!(why.starts_with("use after free") || why.starts_with("double free"), "{why}");
    }
}
