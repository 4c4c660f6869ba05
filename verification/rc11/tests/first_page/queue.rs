use rc11::cell::UnsafeCell;
use rc11::sync::Arc;
use rc11::sync::atomic::{AtomicUsize, Ordering::{self, Acquire, Relaxed, Release}};
use rc11::thread;

struct Queue {
    slots: [UnsafeCell<u32>; 2],
    head: AtomicUsize,
    tail: AtomicUsize,
}
// SAFETY: one thread pushes, another pops, and never in the same slot at once. Is that so?
unsafe impl Sync for Queue {}

impl Queue {
    fn push(&self, value: u32, publish: Ordering) -> bool {
        let tail = self.tail.load(Relaxed);
        if tail - self.head.load(Acquire) == 2 {
            return false; // full
        }
        self.slots[tail % 2].with_mut(|slot| unsafe { *slot = value });
        self.tail.store(tail + 1, publish);
        true
    }
    fn pop(&self) -> Option<u32> {
        let head = self.head.load(Relaxed);
        if head == self.tail.load(Acquire) {
            return None; // empty
        }
        let value = self.slots[head % 2].with(|slot| unsafe { *slot });
        self.head.store(head + 1, Release);
        Some(value)
    }
}

fn push_and_pop(publish: Ordering) {
    let slots = [UnsafeCell::new(0), UnsafeCell::new(0)];
    let queue = Arc::new(Queue { slots, head: AtomicUsize::new(0), tail: AtomicUsize::new(0) });
    let theirs = queue.clone();
    let sender = thread::spawn(move || theirs.push(7, publish));
    assert!(matches!(queue.pop(), None | Some(7)));
    sender.join().unwrap();
}
