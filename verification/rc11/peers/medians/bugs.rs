// Wrong variants of models that are too large to be explored whole. Included once for each checker, which is called `checker` there.

use checker::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
use checker::sync::{Arc, Condvar, Mutex};
use checker::{hint, thread};

/// A ring of four: its owner puts four and takes two beside three thieves, of whom the last moves the head by a store after a look.
pub fn a_ring_of_which_one_thief_stores() {
    struct Ring {
        head: AtomicUsize,
        tail: AtomicUsize,
        slots: [AtomicUsize; 4],
    }
    let slots = [(); 4].map(|()| AtomicUsize::new(0));
    let ring = Arc::new(Ring { head: AtomicUsize::new(0), tail: AtomicUsize::new(0), slots });
    let thieves: Vec<_> = (0..3)
        .map(|n| {
            let ring = ring.clone();
            thread::spawn(move || {
                let head = ring.head.load(Acquire);
                let there = ring.tail.load(Acquire).wrapping_sub(head);
                if there == 0 || there > 4 {
                    return 0;
                }
                let item = ring.slots[head % 4].load(Relaxed);
                let is_mine = if n < 2 {
                    ring.head.compare_exchange(head, head + 1, AcqRel, Relaxed).is_ok()
                } else if ring.head.load(Acquire) == head {
                    ring.head.store(head + 1, Release);
                    true
                } else {
                    false
                };
                if is_mine { item } else { 0 }
            })
        })
        .collect();
    let mut items = Vec::new();
    for item in 1..5 {
        let tail = ring.tail.load(Relaxed);
        if tail - ring.head.load(Acquire) < 4 {
            ring.slots[tail % 4].store(item, Relaxed);
            ring.tail.store(tail + 1, Release);
        }
    }
    for _ in 0..2 {
        let head = ring.head.load(Acquire);
        if ring.tail.load(Relaxed) != head {
            let item = ring.slots[head % 4].load(Relaxed);
            if ring.head.compare_exchange(head, head + 1, AcqRel, Relaxed).is_ok() {
                items.push(item);
            }
        }
    }
    items.extend(thieves.into_iter().map(|thief| thief.join().unwrap()).filter(|&item| item != 0));
    let all = items.len();
    items.sort_unstable();
    items.dedup();
    assert_eq!(items.len(), all, "an item is taken twice");
}

/// A list of four free indices, whose head has no tag. One thread takes one; two others take two each and give the first back.
pub fn a_list_of_indices_without_a_tag() {
    struct List {
        head: AtomicUsize,
        next: [AtomicUsize; 5],
    }
    impl List {
        fn pop(&self) -> usize {
            loop {
                let head = self.head.load(Acquire);
                if head == 0 {
                    return 0;
                }
                let next = self.next[head].load(Relaxed);
                if self.head.compare_exchange(head, next, AcqRel, Relaxed).is_ok() {
                    return head;
                }
                hint::spin_loop();
            }
        }
        fn push(&self, index: usize) {
            loop {
                let head = self.head.load(Relaxed);
                self.next[index].store(head, Relaxed);
                if self.head.compare_exchange(head, index, AcqRel, Relaxed).is_ok() {
                    return;
                }
                hint::spin_loop();
            }
        }
    }
    let list = Arc::new(List { head: AtomicUsize::new(1), next: [0, 2, 3, 4, 0].map(AtomicUsize::new) });
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let list = list.clone();
            thread::spawn(move || {
                let (first, second) = (list.pop(), list.pop());
                if first != 0 {
                    list.push(first);
                }
                second
            })
        })
        .collect();
    let mut taken = vec![list.pop()];
    taken.extend(threads.into_iter().map(|thread| thread.join().unwrap()));
    taken.retain(|&index| index != 0);
    let mut free = list.head.load(Relaxed);
    while free != 0 && taken.len() < 9 {
        taken.push(free);
        free = list.next[free].load(Relaxed);
    }
    let all = taken.len();
    taken.sort_unstable();
    taken.dedup();
    assert_eq!(taken.len(), all, "an index is there twice");
}

/// Two put into one place and two take out of it, woken one at a time by one condition variable.
pub fn one_condition_variable_for_two_conditions() {
    let shared = Arc::new((Mutex::new(false), Condvar::new()));
    let run = |shared: Arc<(Mutex<bool>, Condvar)>, fills: bool| {
        let mut is_full = shared.0.lock().unwrap();
        while *is_full == fills {
            is_full = shared.1.wait(is_full).unwrap();
        }
        *is_full = fills;
        shared.1.notify_one();
    };
    let threads: Vec<_> = [true, true, false, false]
        .map(|fills| {
            let shared = shared.clone();
            thread::spawn(move || run(shared, fills))
        })
        .into_iter()
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Two senders, and a receiver that looks whether it is closed after it has found nothing.
pub fn a_queue_that_is_closed_behind_a_look() {
    struct Queue {
        items: Mutex<Vec<usize>>,
        open: AtomicUsize,
        is_done: AtomicBool,
    }
    let queue =
        Arc::new(Queue { items: Mutex::new(Vec::new()), open: AtomicUsize::new(2), is_done: AtomicBool::new(false) });
    let senders: Vec<_> = (0..2)
        .map(|n| {
            let queue = queue.clone();
            thread::spawn(move || {
                queue.items.lock().unwrap().push(n);
                queue.items.lock().unwrap().push(n + 2);
                if queue.open.fetch_sub(1, AcqRel) == 1 {
                    queue.is_done.store(true, Release);
                }
            })
        })
        .collect();
    let (mut found, mut has_ended) = (0, false);
    for _ in 0..6 {
        if queue.items.lock().unwrap().pop().is_some() {
            found += 1;
        } else if queue.is_done.load(Acquire) {
            has_ended = true;
            break;
        }
    }
    senders.into_iter().for_each(|sender| sender.join().unwrap());
    assert!(!has_ended || found == 4, "an item is left behind");
}

/// A value goes through the hands of three threads; the last one publishes it without release.
pub fn a_value_that_is_handed_on_relaxed() {
    struct Hands {
        value: AtomicUsize,
        turns: [AtomicUsize; 3],
        noise: AtomicUsize,
    }
    let turns = [(); 3].map(|()| AtomicUsize::new(0));
    let hands = Arc::new(Hands { value: AtomicUsize::new(0), turns, noise: AtomicUsize::new(0) });
    let threads: Vec<_> = (0..3)
        .map(|n| {
            let hands = hands.clone();
            thread::spawn(move || {
                hands.noise.fetch_add(1, Relaxed);
                if n == 0 || hands.turns[n - 1].load(Acquire) == 1 {
                    hands.value.store(n + 1, Relaxed);
                    hands.turns[n].store(1, if n == 2 { Relaxed } else { Release });
                }
                hands.noise.fetch_add(1, Relaxed);
            })
        })
        .collect();
    if hands.turns[2].load(Acquire) == 1 {
        assert_eq!(hands.value.load(Relaxed), 3, "the value is old");
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}
