//! Protocols of locks and of reclamation, right, and wrong by one step.

use super::{Memory, proved, refuted};
use loom::hint;
use loom::sync::Arc;
use loom::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use loom::sync::atomic::{AtomicBool, AtomicIsize, AtomicPtr, AtomicUsize, fence};
use loom::thread;
use std::ptr::null_mut;

/// Mellor-Crummey and Scott's lock: each waits at a node of its own. The loops wait while another thread changes memory that they do not
/// look at.
mod a_queue_of_waiters {
    use super::*;

    struct Node {
        next: AtomicPtr<Node>,
        waits: AtomicBool,
    }

    struct Lock {
        tail: AtomicPtr<Node>,
        data: Memory,
    }

    fn add(lock: &Lock, waits_for_link: bool) {
        let node = Box::into_raw(Box::new(Node { next: AtomicPtr::new(null_mut()), waits: AtomicBool::new(true) }));
        // SAFETY: the node is freed at the end of this function, and no other thread looks at it after that. Is that so?
        let (mine, at) = (unsafe { &*node }, |node: *mut Node| unsafe { &*node });
        let before = lock.tail.swap(node, AcqRel);
        if !before.is_null() {
            at(before).next.store(node, Release);
            while mine.waits.load(Acquire) {
                hint::spin_loop();
            }
        }
        lock.data.write(lock.data.read() + 1);
        let is_last =
            mine.next.load(Acquire).is_null() && lock.tail.compare_exchange(node, null_mut(), Release, Relaxed).is_ok();
        if !is_last {
            while waits_for_link && mine.next.load(Acquire).is_null() {
                hint::spin_loop();
            }
            let next = mine.next.load(Acquire);
            if !next.is_null() {
                at(next).waits.store(false, Release);
            }
        }
        // SAFETY: as above.
        drop(unsafe { Box::from_raw(node) });
    }

    fn two_add(waits_for_link: bool) {
        let lock = Arc::new(Lock { tail: AtomicPtr::new(null_mut()), data: Memory::default() });
        let theirs = lock.clone();
        let other = thread::spawn(move || add(&theirs, waits_for_link));
        add(&lock, waits_for_link);
        other.join().unwrap();
        assert_eq!(lock.data.read(), 2);
    }

    #[test]
    fn that_waits_for_its_successors_link() {
        proved(|| two_add(true));
    }

    #[test]
    fn that_does_not() {
        let why = refuted(|| two_add(false));
        assert!(why.starts_with("deadlock") || why.starts_with("use after free"), "{why}");
    }
}

/// Peterson's lock, beside memory that changes while the other waits.
mod a_lock_by_turns {
    use super::*;

    #[derive(Default)]
    struct Lock {
        wants: [AtomicBool; 2],
        turn: AtomicUsize,
        data: Memory,
    }

    fn add(lock: &Lock, me: usize, says_first: bool) {
        if says_first {
            lock.wants[me].store(true, SeqCst);
        }
        lock.turn.store(1 - me, SeqCst);
        if !says_first {
            lock.wants[me].store(true, SeqCst);
        }
        while lock.wants[1 - me].load(SeqCst) && lock.turn.load(SeqCst) == 1 - me {
            hint::spin_loop();
        }
        lock.data.write(lock.data.read() + 1);
        lock.wants[me].store(false, SeqCst);
    }

    fn two_add(says_first: bool) {
        let lock = Arc::new(Lock::default());
        let theirs = lock.clone();
        let other = thread::spawn(move || add(&theirs, 1, says_first));
        add(&lock, 0, says_first);
        other.join().unwrap();
        assert_eq!(lock.data.read(), 2);
    }

    #[test]
    fn that_says_first_what_it_wants() {
        proved(|| two_add(true));
    }

    #[test]
    fn that_gives_the_turn_first() {
        assert!(refuted(|| two_add(false)).starts_with("data race"));
    }
}

/// Chase and Lev's deque, after Lê, Pop, Cohen and Zappa Nardelli: its owner takes at one end, a thief at the other.
mod a_deque_of_two {
    use super::*;

    struct Deque {
        top: AtomicIsize,
        bottom: AtomicIsize,
        slots: [AtomicUsize; 2],
    }

    fn take(deque: &Deque, takes_fence: bool) -> Option<usize> {
        let bottom = deque.bottom.load(Relaxed) - 1;
        deque.bottom.store(bottom, Relaxed);
        if takes_fence {
            fence(SeqCst);
        }
        let top = deque.top.load(Relaxed);
        if top < bottom {
            return Some(deque.slots[bottom as usize].load(Relaxed));
        }
        let is_mine = top == bottom && deque.top.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok();
        deque.bottom.store(bottom + 1, Relaxed);
        is_mine.then(|| deque.slots[bottom as usize].load(Relaxed))
    }

    fn steal(deque: &Deque) -> Option<usize> {
        let top = deque.top.load(Acquire);
        fence(SeqCst);
        let bottom = deque.bottom.load(Acquire);
        let item = (top < bottom).then(|| deque.slots[top as usize].load(Relaxed))?;
        deque.top.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok().then_some(item)
    }

    fn taken_beside_stolen(takes_fence: bool) {
        let slots = [AtomicUsize::new(1), AtomicUsize::new(2)];
        let deque = Arc::new(Deque { top: AtomicIsize::new(0), bottom: AtomicIsize::new(2), slots });
        let theirs = deque.clone();
        let thief = thread::spawn(move || [steal(&theirs), steal(&theirs)]);
        let mine = take(&deque, takes_fence);
        let stolen = thief.join().unwrap();
        assert!(mine.is_none() || !stolen.contains(&mine), "one item is taken twice");
    }

    #[test]
    fn whose_owner_takes_a_fence() {
        proved(|| taken_beside_stolen(true));
    }

    #[test]
    fn whose_owner_takes_none() {
        assert!(refuted(|| taken_beside_stolen(false)).contains("one item is taken twice"));
    }
}

/// A list of numbers whose head has a tag, which counts its changes.
mod a_tag {
    use super::*;

    struct List {
        /// One more than the first number; above that, the tag.
        head: AtomicUsize,
        next: [AtomicUsize; 3],
        most: usize,
    }

    impl List {
        fn exchanged(&self, head: usize, first: usize, order: Ordering) -> bool {
            let tag = ((head >> 8) + 1) & self.most;
            self.head.compare_exchange(head, first | tag << 8, order, Relaxed).is_ok()
        }

        fn pop(&self) -> Option<usize> {
            loop {
                let head = self.head.load(Acquire);
                let first = (head & 255).checked_sub(1)?;
                let next = self.next[first].load(Relaxed);
                if self.exchanged(head, next, AcqRel) {
                    return Some(first);
                }
            }
        }

        fn push(&self, number: usize) {
            loop {
                let head = self.head.load(Relaxed);
                self.next[number].store(head & 255, Relaxed);
                if self.exchanged(head, number + 1, Release) {
                    return;
                }
            }
        }
    }

    /// All are popped and the first pushed again, beside one that pops.
    fn popped_by_two(most: usize) {
        let next = [2, 3, 0].map(AtomicUsize::new);
        let list = Arc::new(List { head: AtomicUsize::new(1), next, most });
        let theirs = list.clone();
        let other = thread::spawn(move || theirs.pop());
        let mine = [list.pop(), list.pop(), list.pop()];
        if let Some(first) = mine[0] {
            list.push(first);
        }
        let theirs = other.join().unwrap();
        let has_two = theirs.is_some() && theirs != mine[0] && mine.contains(&theirs);
        let left = list.pop();
        assert!(!has_two && (left.is_none() || !mine[1..].contains(&left)), "a number has two owners");
    }

    #[test]
    fn that_does_not_come_again() {
        proved(|| popped_by_two(usize::MAX >> 8));
    }

    #[test]
    fn of_one_bit_that_comes_again() {
        assert!(refuted(|| popped_by_two(1)).contains("two owners"));
    }
}

/// Memory is freed when its reader has said that it is done.
mod a_reader {
    use super::*;

    fn read_beside_freed(says_early: bool) {
        let made = |value| Box::into_raw(Box::new(AtomicUsize::new(value)));
        let shared = Arc::new((AtomicPtr::new(made(1)), AtomicBool::new(false)));
        let theirs = shared.clone();
        let reader = thread::spawn(move || {
            let (data, is_done) = &*theirs;
            let found = data.load(Acquire);
            if says_early {
                is_done.store(true, Release);
            }
            // SAFETY: it is freed after this reader has said that it is done. Is that so?
            assert!(unsafe { &*found }.load(Relaxed) > 0);
            is_done.store(true, Release);
        });
        let (data, is_done) = &*shared;
        let old = data.swap(made(2), AcqRel);
        while !is_done.load(Acquire) {
            hint::spin_loop();
        }
        // SAFETY: no thread looks at it any more. Is that so?
        drop(unsafe { Box::from_raw(old) });
        reader.join().unwrap();
        // SAFETY: the other thread has ended.
        drop(unsafe { Box::from_raw(data.load(Relaxed)) });
    }

    #[test]
    fn that_is_done_when_it_says_so() {
        proved(|| read_beside_freed(false));
    }

    #[test]
    fn that_says_so_before_its_last_look() {
        assert!(refuted(|| read_beside_freed(true)).starts_with("use after free"));
    }
}
