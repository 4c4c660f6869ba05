//! A ring of work as in the literature, literally, and how many executions GenMC 0.10.3 finds of the same program under
//! RC11. GenMC counts as TruSt does, so that every number must be the same.

use super::proved;
use rc11::engine::{Config, Thread, Word, fork, fork_symmetric, spin};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// One owner pushes at the tail; he and thieves take at the head.
struct Ring {
    head: Word,
    tail: Word,
    slots: Vec<Word>,
}

/// What a thief does.
#[derive(Clone, Copy)]
struct Thief {
    /// Does he take half, or one?
    takes_half: bool,
    /// Does he wait and try again if another was faster?
    waits: bool,
}

impl Ring {
    fn new(size: u64) -> Arc<Ring> {
        let slots = (0..size).map(|_| Word::new(0)).collect();
        Arc::new(Ring { head: Word::new(0), tail: Word::new(0), slots })
    }

    fn slot(&self, at: u64) -> &Word {
        &self.slots[(at % self.slots.len() as u64) as usize]
    }

    fn push(&self, item: u64) -> bool {
        let head = self.head.load(Acquire);
        let tail = self.tail.load(Relaxed);
        if tail - head >= self.slots.len() as u64 {
            return false;
        }
        self.slot(tail).store(item, Relaxed);
        self.tail.store(tail + 1, Release);
        true
    }

    fn pop(&self) -> Option<u64> {
        let head = self.head.load(Acquire);
        if self.tail.load(Relaxed) == head {
            return None;
        }
        let item = self.slot(head).load(Relaxed);
        self.head.compare_exchange(head, head + 1, AcqRel, Relaxed).is_ok().then_some(item)
    }

    fn steal(&self, thief: Thief) -> Vec<u64> {
        loop {
            let head = self.head.load(Acquire);
            // An old head and a new tail may lie more than a ring apart.
            let there = self.tail.load(Acquire).wrapping_sub(head);
            let takes = if thief.takes_half { there - there / 2 } else { there.min(1) };
            if takes == 0 || takes > self.slots.len() as u64 {
                return Vec::new();
            }
            let items = (head..head + takes).map(|at| self.slot(at).load(Relaxed)).collect();
            if self.head.compare_exchange(head, head + takes, AcqRel, Relaxed).is_ok() {
                return items;
            }
            if !thief.waits {
                return Vec::new();
            }
            spin();
        }
    }
}

/// The owner pushes so many and pops so many, beside so many thieves.
fn scenario(size: u64, pushes: u64, pops: u64, thieves: usize, thief: Thief) -> String {
    let ring = Ring::new(size);
    let steal = |ring: Arc<Ring>| fork("thief", move || ring.steal(thief));
    let thieves: Vec<_> = (0..thieves).map(|_| steal(Arc::clone(&ring))).collect();
    let pushed = (1..=pushes).filter(|&item| ring.push(item)).count();
    let popped: Vec<_> = (0..pops).filter_map(|_| ring.pop()).collect();
    let stolen: Vec<_> = thieves.into_iter().map(Thread::join).collect();
    format!("{pushed} pushed, {popped:?} popped, {stolen:?} stolen")
}

/// The same; the thieves are symmetric threads.
fn symmetric_scenario(size: u64, pushes: u64, pops: u64, thieves: usize, thief: Thief) -> String {
    let ring = Ring::new(size);
    let theirs = Arc::clone(&ring);
    let thieves = fork_symmetric("thief", thieves, move || theirs.steal(thief));
    let pushed = (1..=pushes).filter(|&item| ring.push(item)).count();
    let popped: Vec<_> = (0..pops).filter_map(|_| ring.pop()).collect();
    let stolen = thieves.join();
    format!("{pushed} pushed, {popped:?} popped, {stolen:?} stolen")
}

const TAKES_ONE: Thief = Thief { takes_half: false, waits: false };
const TAKES_HALF: Thief = Thief { takes_half: true, waits: false };

/// Four are pushed and two popped beside three thieves who take half, and try again.
pub(super) fn large_with_waiting() -> String {
    scenario(4, 4, 2, 3, Thief { waits: true, ..TAKES_HALF })
}

/// The same, up to the thieves' names.
pub(super) fn large_with_symmetric_thieves() -> String {
    symmetric_scenario(4, 4, 2, 3, Thief { waits: true, ..TAKES_HALF })
}

#[test]
fn of_two_pushes_and_a_pop_beside_a_thief_who_waits() {
    let thief = Thief { waits: true, ..TAKES_ONE };
    let tally = proved(&Config::default(), move || scenario(2, 2, 1, 1, thief));
    assert_eq!((tally.executions, tally.blocked), (7, 2));
}

#[test]
fn of_two_pushes_and_a_pop_beside_a_thief_who_tries_once() {
    let tally = proved(&Config::default(), || scenario(2, 2, 1, 1, TAKES_ONE));
    assert_eq!((tally.executions, tally.blocked), (9, 0));
}

#[test]
fn of_four_pushes_and_two_pops_beside_three_thieves_who_take_half() {
    let tally = proved(&Config::default(), || scenario(4, 4, 2, 3, TAKES_HALF));
    assert_eq!((tally.executions, tally.blocked), (37_450, 0));
}

/// About a sixth: six names for three thieves, but for those that did the same.
#[test]
fn of_the_same_beside_three_symmetric_thieves() {
    let tally = proved(&Config::default(), || symmetric_scenario(4, 4, 2, 3, TAKES_HALF));
    assert_eq!((tally.executions, tally.blocked), (6_439, 0));
    let told_apart = Config { symmetry: false, ..Config::default() };
    let all = proved(&told_apart, || symmetric_scenario(4, 4, 2, 3, TAKES_HALF));
    assert_eq!((all.executions, all.blocked), (37_450, 0));
    assert!(tally.outcomes.keys().eq(all.outcomes.keys()));
}
