//! The ring of the sketch of tokio's rules: 256 slots, one owner, and thieves that claim in two steps.
//!
//! Its `head` is two cursors in a word: what is taken, and what thieves are done with. A thief moves the first, copies, and then
//! moves the second; while they differ, no other thief begins.

use crate::host::Word;
use crossbeam_utils::CachePadded;
use spinpark_kernel::host::Word as _;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

pub(super) const CAPACITY: u64 = 256;

/// The two cursors, each of 32 bits, that only grow.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Head {
    /// What thieves are done with.
    done: u32,
    /// What is taken.
    taken: u32,
}

impl Head {
    fn of(word: u64) -> Head {
        Head { done: (word >> 32) as u32, taken: word as u32 }
    }
    fn word(self) -> u64 {
        u64::from(self.done) << 32 | u64::from(self.taken)
    }
    /// It is not stolen from.
    fn both(at: u32) -> Head {
        Head { done: at, taken: at }
    }
}

pub(super) struct Ring {
    head: CachePadded<Word>,
    tail: CachePadded<Word>,
    slots: Box<[Word]>,
}

impl Ring {
    pub(super) fn new() -> Ring {
        Ring {
            head: CachePadded::new(Word::new(0)),
            tail: CachePadded::new(Word::new(0)),
            slots: (0..CAPACITY).map(|_| Word::new(0)).collect(),
        }
    }

    fn slot(&self, at: u32) -> &Word {
        &self.slots[at as usize % CAPACITY as usize]
    }

    /// Appends; what did not fit comes back: half of the ring, and `g`; or `g` alone, beside a thief.
    pub(super) fn push(&self, g: u64) -> Result<(), Vec<u64>> {
        let tail = self.tail.load(Relaxed) as u32;
        loop {
            let head = Head::of(self.head.load(Acquire));
            if u64::from(tail.wrapping_sub(head.done)) < CAPACITY {
                self.slot(tail).store(g, Relaxed);
                self.tail.store(u64::from(tail.wrapping_add(1)), Release);
                return Ok(());
            }
            if head.done != head.taken {
                return Err(vec![g]);
            }
            let half = CAPACITY as u32 / 2;
            let after = Head::both(head.taken.wrapping_add(half)).word();
            if self.head.compare_exchange(head.word(), after, Release, Relaxed).is_ok() {
                let spilled = (0..half).map(|i| self.slot(head.taken.wrapping_add(i)).load(Relaxed));
                return Err(spilled.chain([g]).collect());
            }
        }
    }

    /// Appends what is known to fit.
    pub(super) fn push_all(&self, gs: impl Iterator<Item = u64>) {
        let mut tail = self.tail.load(Relaxed) as u32;
        for g in gs {
            self.slot(tail).store(g, Relaxed);
            tail = tail.wrapping_add(1);
        }
        self.tail.store(u64::from(tail), Release);
    }

    /// Takes the oldest; only for the owner.
    pub(super) fn pop(&self) -> Option<u64> {
        let tail = self.tail.load(Relaxed) as u32;
        let mut head = Head::of(self.head.load(Acquire));
        while head.taken != tail {
            let next = head.taken.wrapping_add(1);
            let after = if head.done == head.taken { Head::both(next) } else { Head { taken: next, ..head } };
            match self.head.compare_exchange(head.word(), after.word(), AcqRel, Acquire) {
                Ok(_) => return Some(self.slot(head.taken).load(Relaxed)),
                Err(found) => head = Head::of(found),
            }
        }
        None
    }

    /// Is there nothing?
    pub(super) fn is_empty(&self) -> bool {
        let head = Head::of(self.head.load(Acquire));
        let tail = self.tail.load(Acquire) as u32;
        head.taken == tail
    }

    /// Room for so many more; only for the owner.
    pub(super) fn room(&self) -> u64 {
        let head = Head::of(self.head.load(Acquire));
        let tail = self.tail.load(Relaxed) as u32;
        CAPACITY - u64::from(tail.wrapping_sub(head.done))
    }

    /// Takes half of it into `mine`, the thief's own; returns the last of them, and how many there were.
    pub(super) fn steal_into(&self, mine: &Ring) -> Option<(u64, usize)> {
        let my_tail = mine.tail.load(Relaxed) as u32;
        let my_head = Head::of(mine.head.load(Acquire));
        if u64::from(my_tail.wrapping_sub(my_head.done)) > CAPACITY / 2 {
            return None;
        }
        let mut head = Head::of(self.head.load(Acquire));
        let (claimed, n) = loop {
            let tail = self.tail.load(Acquire) as u32;
            if head.done != head.taken {
                return None; // another thief
            }
            let there = tail.wrapping_sub(head.taken);
            let n = there - there / 2;
            if n == 0 {
                return None;
            }
            let claimed = Head { done: head.done, taken: head.taken.wrapping_add(n) };
            match self.head.compare_exchange(head.word(), claimed.word(), AcqRel, Acquire) {
                Ok(_) => break (claimed, n),
                Err(found) => head = Head::of(found),
            }
        };
        let mut last = 0;
        for i in 0..n {
            last = self.slot(claimed.done.wrapping_add(i)).load(Acquire);
            // Also the one that is run: it is written before it is known which is last.
            mine.slot(my_tail.wrapping_add(i)).store(last, Relaxed);
        }
        let mut now = claimed;
        while let Err(found) = self.head.compare_exchange(now.word(), Head::both(now.taken).word(), AcqRel, Acquire) {
            now = Head::of(found);
        }
        if n > 1 {
            mine.tail.store(u64::from(my_tail.wrapping_add(n - 1)), Release);
        }
        Some((last, n as usize))
    }
}
