//! Lock-free structures that give memory back. Each is right in one way, and wrong in others, by one line each.

use super::{proved, refuted};
use loom::cell::UnsafeCell;
use loom::model::{Builder, Verdict};
use loom::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, fence};
use loom::sync::{Arc, Mutex};
use loom::{hint, thread};
use std::mem::MaybeUninit;
use std::ptr::null_mut;

struct Sent<T>(*mut T);
// SAFETY: whether it may go to another thread is what the models ask.
unsafe impl<T> Send for Sent<T> {}
// SAFETY: the same.
unsafe impl<T> Sync for Sent<T> {}

impl<T> Clone for Sent<T> {
    fn clone(&self) -> Self {
        Sent(self.0)
    }
}

impl<T> Sent<T> {
    fn get(&self) -> &T {
        // SAFETY: each model says whether it is there.
        unsafe { &*self.0 }
    }
}

fn boxed<T>(value: T) -> *mut T {
    Box::into_raw(Box::new(value))
}

/// Frees it.
fn freed<T>(pointer: *mut T) {
    // SAFETY: each model says whether it may.
    drop(unsafe { Box::from_raw(pointer) });
}

/// What it points to.
fn at<'a, T>(pointer: *mut T) -> &'a T {
    // SAFETY: each model says whether it is there.
    unsafe { &*pointer }
}

mod a_queue_of_michael_and_scott {
    use super::*;

    struct Node {
        value: UnsafeCell<MaybeUninit<u32>>,
        next: AtomicPtr<Node>,
    }

    struct Queue {
        head: AtomicPtr<Node>,
        tail: AtomicPtr<Node>,
        publish: Ordering,
    }

    fn node(value: u32) -> *mut Node {
        boxed(Node { value: UnsafeCell::new(MaybeUninit::new(value)), next: AtomicPtr::new(null_mut()) })
    }

    impl Queue {
        fn new(publish: Ordering) -> Queue {
            let dummy = node(0);
            Queue { head: AtomicPtr::new(dummy), tail: AtomicPtr::new(dummy), publish }
        }

        fn push(&self, value: u32) {
            let new = node(value);
            loop {
                let tail = self.tail.load(Acquire);
                let next = at(tail).next.load(Acquire);
                if !next.is_null() {
                    let _ = self.tail.compare_exchange(tail, next, AcqRel, Relaxed);
                } else if at(tail).next.compare_exchange(null_mut(), new, self.publish, Relaxed).is_ok() {
                    let _ = self.tail.compare_exchange(tail, new, AcqRel, Relaxed);
                    return;
                }
            }
        }

        /// The value, and the node that is not needed any more.
        fn pop(&self) -> Option<(u32, *mut Node)> {
            loop {
                let head = self.head.load(Acquire);
                let tail = self.tail.load(Acquire);
                let next = at(head).next.load(Acquire);
                if next.is_null() {
                    return None;
                }
                if head == tail {
                    let _ = self.tail.compare_exchange(tail, next, AcqRel, Relaxed);
                } else if self.head.compare_exchange(head, next, AcqRel, Relaxed).is_ok() {
                    // SAFETY: a race with the pusher is what the models look for.
                    let value = at(next).value.with(|value| unsafe { (*value).assume_init() });
                    return Some((value, head));
                }
            }
        }
    }

    /// One value is pushed, and two threads pop: a node that one of them has taken the other may still look at.
    fn pushed_and_popped_by_two(publish: Ordering, frees_early: bool) {
        let queue = Arc::new(Queue::new(publish));
        let pop = move |queue: &Queue| {
            let (value, node) = queue.pop()?;
            assert_eq!(value, 7);
            if frees_early {
                freed(node);
            }
            (!frees_early).then_some(node)
        };
        let theirs = queue.clone();
        let other = thread::spawn(move || pop(&theirs));
        let theirs = queue.clone();
        let pushes = thread::spawn(move || theirs.push(7));
        let old = pop(&queue);
        pushes.join().unwrap();
        old.into_iter().chain(other.join().unwrap()).for_each(freed);
        let mut next = queue.head.load(Relaxed);
        while !next.is_null() {
            let node = next;
            next = at(node).next.load(Relaxed);
            freed(node);
        }
    }

    #[test]
    fn frees_what_it_has_popped_in_the_end() {
        proved(|| pushed_and_popped_by_two(AcqRel, false));
    }

    #[test]
    fn frees_what_another_still_looks_at() {
        let why = refuted(|| pushed_and_popped_by_two(AcqRel, true));
        assert!(why.starts_with("use after free"), "{why}");
    }

    #[test]
    fn publishes_what_is_not_written_yet() {
        let why = refuted(|| pushed_and_popped_by_two(Relaxed, false));
        assert!(why.contains("uninitialised") || why.contains("data race"), "{why}");
    }
}

/// Nodes that are never freed, but used again: their numbers come again.
mod a_stack_of_nodes_from_a_pool {
    use super::*;

    const NONE: usize = 0xff;
    const VERSION: usize = 0x100;

    struct Stack {
        head: AtomicUsize,
        next: [AtomicUsize; 2],
        step: usize,
    }

    impl Stack {
        fn push(&self, n: usize) {
            loop {
                let head = self.head.load(Acquire);
                self.next[n].store(head % VERSION, Relaxed);
                let new = (head - head % VERSION + self.step) | n;
                if self.head.compare_exchange(head, new, AcqRel, Relaxed).is_ok() {
                    return;
                }
            }
        }

        fn pop(&self) -> Option<usize> {
            loop {
                let head = self.head.load(Acquire);
                let n = head % VERSION;
                if n == NONE {
                    return None;
                }
                let next = self.next[n].load(Relaxed);
                let new = (head - n + self.step) | next;
                if self.head.compare_exchange(head, new, AcqRel, Relaxed).is_ok() {
                    return Some(n);
                }
            }
        }
    }

    fn popped_twice_and_pushed(step: usize) {
        let stack = Arc::new(Stack {
            head: AtomicUsize::new(NONE),
            next: [AtomicUsize::new(NONE), AtomicUsize::new(NONE)],
            step,
        });
        stack.push(1);
        stack.push(0);
        let theirs = stack.clone();
        let other = thread::spawn(move || theirs.pop());
        let (first, second) = (stack.pop(), stack.pop());
        if let Some(n) = first {
            stack.push(n);
        }
        let got = other.join().unwrap();
        let mut mine: Vec<usize> = second.into_iter().chain(got).collect();
        mine.extend(std::iter::from_fn(|| stack.pop()).take(3));
        mine.sort_unstable();
        assert_eq!(mine, [0, 1], "each node is in one place");
    }

    #[test]
    fn counts_its_changes() {
        proved(|| popped_twice_and_pushed(VERSION));
    }

    #[test]
    fn does_not_count_them() {
        let why = refuted(|| popped_twice_and_pushed(0));
        assert!(why.contains("each node is in one place"), "{why}");
    }
}

mod a_seqlock {
    use super::*;

    struct Seqlock {
        version: AtomicUsize,
        data: [AtomicUsize; 2],
    }

    fn written_beside_read(writer_fence: bool, reader_fence: bool, end: Ordering) {
        let zero = || AtomicUsize::new(0);
        let lock = Arc::new(Seqlock { version: zero(), data: [zero(), zero()] });
        let theirs = lock.clone();
        let writer = thread::spawn(move || {
            theirs.version.store(1, Relaxed);
            if writer_fence {
                fence(Release);
            }
            theirs.data[0].store(5, Relaxed);
            theirs.data[1].store(5, Relaxed);
            theirs.version.store(2, end);
        });
        let before = lock.version.load(Acquire);
        let seen = [lock.data[0].load(Relaxed), lock.data[1].load(Relaxed)];
        if reader_fence {
            fence(Acquire);
        }
        let after = lock.version.load(Relaxed);
        if before == after && before.is_multiple_of(2) {
            assert_eq!(seen, [5 * before / 2; 2], "torn");
        }
        writer.join().unwrap();
    }

    #[test]
    fn has_all_its_fences() {
        proved(|| written_beside_read(true, true, Release));
    }

    #[test]
    fn lacks_one_of_them() {
        for (writer, reader, end) in [(false, true, Release), (true, false, Release), (true, true, Relaxed)] {
            let why = refuted(move || written_beside_read(writer, reader, end));
            assert!(why.contains("torn"), "{why}");
        }
    }

    #[test]
    fn copies_what_is_not_atomic() {
        let why = refuted(|| {
            let lock = Arc::new((AtomicUsize::new(0), Sent(boxed(UnsafeCell::new(0)))));
            let theirs = lock.clone();
            let writer = thread::spawn(move || {
                theirs.0.store(1, Relaxed);
                fence(Release);
                // SAFETY: that it races is what is found.
                theirs.1.get().with_mut(|value| unsafe { *value = 5 });
                theirs.0.store(2, Release);
            });
            let before = lock.0.load(Acquire);
            // SAFETY: as above.
            let _value = lock.1.get().with(|value| unsafe { *value });
            fence(Acquire);
            let _is_torn = before != lock.0.load(Relaxed);
            writer.join().unwrap();
            freed(lock.1.0);
        });
        assert!(why.contains("data race"), "{why}");
    }
}

/// A thread that reads is pinned to the epoch; memory is freed two epochs later.
mod epochs {
    use super::*;

    struct Shared {
        epoch: AtomicUsize,
        /// The epoch that the reader is pinned to, and one more; 0: to none.
        pinned: AtomicUsize,
        pointer: AtomicPtr<AtomicUsize>,
    }

    fn read_beside_retired(is_fenced: bool, epochs: usize) {
        let shared = Arc::new(Shared {
            epoch: AtomicUsize::new(0),
            pinned: AtomicUsize::new(0),
            pointer: AtomicPtr::new(boxed(AtomicUsize::new(1))),
        });
        let theirs = shared.clone();
        let reader = thread::spawn(move || {
            theirs.pinned.store(theirs.epoch.load(Relaxed) + 1, Relaxed);
            if is_fenced {
                fence(SeqCst);
            }
            let value = theirs.pointer.load(Acquire);
            if !value.is_null() {
                assert_eq!(at(value).load(Relaxed), 1);
            }
            theirs.pinned.store(0, Release);
        });
        let old = shared.pointer.swap(null_mut(), AcqRel);
        let mut passed = 0;
        for epoch in 0..epochs {
            fence(SeqCst);
            let pinned = shared.pinned.load(Relaxed);
            fence(Acquire);
            if pinned != 0 && pinned != epoch + 1 {
                break;
            }
            shared.epoch.store(epoch + 1, Release);
            passed += 1;
        }
        let is_over = passed == epochs;
        if is_over {
            freed(old);
        }
        reader.join().unwrap();
        if !is_over {
            freed(old);
        }
    }

    #[test]
    fn pass_by_two_after_a_fence() {
        proved(|| read_beside_retired(true, 2));
    }

    #[test]
    fn pass_by_one_alone() {
        let why = refuted(|| read_beside_retired(true, 1));
        assert!(why.starts_with("use after free"), "{why}");
    }

    #[test]
    fn are_announced_without_a_fence() {
        let why = refuted(|| read_beside_retired(false, 2));
        assert!(why.starts_with("use after free"), "{why}");
    }
}

/// The holder of the only reference may change the value, if it sees all that earlier holders did.
mod a_count_that_is_looked_at {
    use super::*;

    fn changed_alone(look: Ordering, down: Ordering) {
        let shared = Sent(boxed((AtomicUsize::new(2), UnsafeCell::new(0))));
        let theirs = shared.clone();
        let other = thread::spawn(move || {
            // SAFETY: that it may race is what is found.
            let seen = theirs.get().1.with(|value| unsafe { *value });
            theirs.get().0.fetch_sub(1, down);
            seen
        });
        if shared.get().0.load(look) == 1 {
            // SAFETY: as above.
            shared.get().1.with_mut(|value| unsafe { *value = 1 });
        }
        assert_eq!(other.join().unwrap(), 0);
        freed(shared.0);
    }

    #[test]
    fn with_acquire() {
        proved(|| changed_alone(Acquire, Release));
    }

    #[test]
    fn without() {
        for (look, down) in [(Relaxed, Release), (Acquire, Relaxed)] {
            let why = refuted(move || changed_alone(look, down));
            assert!(why.contains("data race"), "{why}");
        }
    }
}

/// The notified thread frees; the notifier must not come back.
mod a_channel_for_one_value {
    use super::*;

    struct Channel {
        value: UnsafeCell<MaybeUninit<Box<u32>>>,
        is_there: AtomicBool,
        looks_again: AtomicUsize,
    }

    fn sent(looks_again: bool, publish: Ordering) {
        let channel = Sent(boxed(Channel {
            value: UnsafeCell::new(MaybeUninit::uninit()),
            is_there: AtomicBool::new(false),
            looks_again: AtomicUsize::new(0),
        }));
        let theirs = channel.clone();
        let sender = thread::spawn(move || {
            // SAFETY: the receiver looks only when it is told.
            theirs.get().value.with_mut(|value| unsafe { (*value).write(Box::new(7)) });
            theirs.get().is_there.store(true, publish);
            if looks_again {
                theirs.get().looks_again.load(Relaxed);
            }
        });
        while !channel.get().is_there.load(Acquire) {
            hint::spin_loop();
        }
        // SAFETY: it was told.
        let value = channel.get().value.with(|value| unsafe { (*value).assume_init_read() });
        freed(channel.0);
        assert_eq!(*value, 7);
        sender.join().unwrap();
    }

    #[test]
    fn is_freed_by_its_receiver() {
        proved(|| sent(false, Release));
    }

    #[test]
    fn is_freed_while_the_sender_looks_again() {
        let why = refuted(|| sent(true, Release));
        assert!(why.starts_with("use after free"), "{why}");
    }

    #[test]
    fn is_freed_without_an_order() {
        refuted(|| sent(false, Relaxed));
    }
}

/// A ring whose values are moved in and out.
mod a_ring {
    use super::*;

    struct Ring {
        slot: UnsafeCell<MaybeUninit<Box<u32>>>,
        head: AtomicUsize,
        tail: AtomicUsize,
    }
    // SAFETY: whether it is is what the models ask.
    unsafe impl Sync for Ring {}
    // SAFETY: the same.
    unsafe impl Send for Ring {}

    impl Ring {
        fn take(&self, claims: bool) -> Option<Box<u32>> {
            let head = self.head.load(Acquire);
            if head == self.tail.load(Acquire) {
                return None;
            }
            if claims {
                self.head.compare_exchange(head, head + 1, AcqRel, Relaxed).ok()?;
            }
            // SAFETY: it may be taken twice. That is what is found.
            let value = self.slot.with(|value| unsafe { (*value).assume_init_read() });
            if !claims {
                self.head.store(head + 1, Release);
            }
            Some(value)
        }
    }

    fn taken_by_two(claims: bool) {
        let ring = Ring {
            slot: UnsafeCell::new(MaybeUninit::new(Box::new(7))),
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(1),
        };
        let ring = Arc::new(ring);
        let theirs = ring.clone();
        let other = thread::spawn(move || drop(theirs.take(claims)));
        drop(ring.take(claims));
        other.join().unwrap();
    }

    #[test]
    fn of_which_each_value_is_claimed() {
        proved(|| taken_by_two(true));
    }

    #[test]
    fn of_which_a_value_is_moved_out_twice() {
        let why = refuted(|| taken_by_two(false));
        assert!(why.starts_with("double free"), "{why}");
    }
}

mod an_object_that_is_made_on_demand {
    use super::*;

    fn made_by_both(look: Ordering, publish: Ordering, frees_the_loser: bool) {
        let place = Arc::new(AtomicPtr::new(null_mut::<UnsafeCell<u32>>()));
        let get = move |place: &AtomicPtr<UnsafeCell<u32>>| {
            let found = place.load(look);
            if !found.is_null() {
                return found;
            }
            let made = boxed(UnsafeCell::new(7));
            match place.compare_exchange(null_mut(), made, publish, look) {
                Ok(_) => made,
                Err(found) => {
                    if frees_the_loser {
                        freed(made);
                    }
                    found
                }
            }
        };
        let read = move |place: &AtomicPtr<UnsafeCell<u32>>| {
            // SAFETY: whether it is known is what is found.
            at(get(place)).with(|value| assert_eq!(unsafe { *value }, 7));
        };
        let theirs = place.clone();
        let other = thread::spawn(move || read(&theirs));
        read(&place);
        other.join().unwrap();
        freed(place.load(Relaxed));
    }

    fn verdict(model: impl Fn() + Send + Sync + 'static) -> Verdict {
        let mut builder = Builder::new();
        builder.leaks = true;
        builder.outcome_of(model).verdict
    }

    #[test]
    fn once() {
        assert_eq!(verdict(|| made_by_both(Acquire, Release, true)), Verdict::Proved);
    }

    #[test]
    fn and_is_leaked_by_the_loser() {
        let verdict = verdict(|| made_by_both(Acquire, Release, false));
        assert!(matches!(&verdict, Verdict::Failed(why) if why.contains("leaked")), "{verdict}");
    }

    #[test]
    fn and_is_not_published() {
        for (look, publish) in [(Relaxed, Release), (Acquire, Relaxed)] {
            refuted(move || made_by_both(look, publish, true));
        }
    }
}

/// A list whose deleted nodes are marked in the low bit of their own pointer, before they are unlinked.
mod a_marked_list {
    use super::*;

    struct Node {
        next: AtomicPtr<Node>,
        value: AtomicUsize,
    }

    fn is_marked(pointer: *mut Node) -> bool {
        pointer.addr() & 1 == 1
    }

    fn marked(pointer: *mut Node) -> *mut Node {
        pointer.map_addr(|address| address | 1)
    }

    /// One thread deletes the first node, another inserts behind it.
    fn deleted_beside_inserted(marks: bool) {
        let second = boxed(Node { next: AtomicPtr::new(null_mut()), value: AtomicUsize::new(2) });
        let first = boxed(Node { next: AtomicPtr::new(second), value: AtomicUsize::new(1) });
        let head = Arc::new(AtomicPtr::new(first));
        let theirs = head.clone();
        let inserts = thread::spawn(move || {
            let first = theirs.load(Acquire);
            let next = at(first).next.load(Acquire);
            if is_marked(next) || at(first).value.load(Relaxed) != 1 {
                return (false, null_mut());
            }
            let new = boxed(Node { next: AtomicPtr::new(next), value: AtomicUsize::new(3) });
            let is_in = at(first).next.compare_exchange(next, new, AcqRel, Acquire).is_ok();
            (is_in, new)
        });
        let next = at(first).next.load(Acquire);
        let is_marked = !marks || at(first).next.compare_exchange(next, marked(next), AcqRel, Acquire).is_ok();
        if is_marked {
            head.store(next, Release);
        }
        let (is_in, new) = inserts.join().unwrap();
        let mut values = Vec::new();
        let mut node = head.load(Acquire);
        while !node.is_null() {
            values.push(at(node).value.load(Relaxed));
            node = at(node).next.load(Acquire);
        }
        assert_eq!(values.contains(&3), is_in, "what was inserted is there");
        if is_marked {
            freed(first);
        }
        if !new.is_null() && !is_in {
            freed(new);
        }
    }

    #[test]
    fn keeps_what_is_inserted() {
        proved(|| deleted_beside_inserted(true));
    }

    #[test]
    fn loses_what_is_inserted_behind_a_deleted_node() {
        let why = refuted(|| deleted_beside_inserted(false));
        assert!(why.contains("what was inserted is there"), "{why}");
    }
}

/// An atomic that is accessed as if it was not.
mod mixed_accesses {
    use super::*;

    fn written_plainly(publish: Ordering, acquire: Ordering) {
        let word = Sent(boxed(AtomicUsize::new(0)));
        let flag = Arc::new(AtomicBool::new(false));
        let (theirs, raised) = (word.clone(), flag.clone());
        let writer = thread::spawn(move || {
            // SAFETY: no other thread may look at it yet.
            let word = unsafe { &mut *{ theirs }.0 };
            *word.get_mut() = 7;
            raised.store(true, publish);
        });
        if flag.load(acquire) {
            assert_eq!(word.get().load(Relaxed), 7);
        }
        writer.join().unwrap();
        freed(word.0);
    }

    #[test]
    fn before_it_is_published() {
        proved(|| written_plainly(Release, Acquire));
    }

    #[test]
    fn that_are_not_ordered() {
        for (publish, acquire) in [(Relaxed, Acquire), (Release, Relaxed)] {
            refuted(move || written_plainly(publish, acquire));
        }
    }

    #[test]
    fn a_plain_read_beside_an_atomic_write() {
        let read = |joins: bool| {
            move || {
                let word = Arc::new(AtomicUsize::new(0));
                let theirs = word.clone();
                let other = thread::spawn(move || theirs.store(1, Relaxed));
                let mut other = Some(other);
                if joins {
                    other.take().unwrap().join().unwrap();
                }
                // SAFETY: whether it may is what is found.
                let _value = unsafe { word.unsync_load() };
                if let Some(other) = other {
                    other.join().unwrap();
                }
            }
        };
        proved(read(true));
        assert!(refuted(read(false)).contains("data race"));
    }
}

/// A buffer that grows is moved, and freed where it was.
mod a_vector_that_grows {
    use super::*;

    fn pushed_beside_read(reserves: bool) {
        let mut vector: Vec<AtomicUsize> = Vec::with_capacity(if reserves { 4 } else { 1 });
        vector.push(AtomicUsize::new(7));
        let first = Sent(vector.as_mut_ptr());
        let reads = thread::spawn(move || assert_eq!({ first }.get().load(Relaxed), 7));
        vector.push(AtomicUsize::new(8));
        reads.join().unwrap();
    }

    #[test]
    fn within_its_capacity() {
        proved(|| pushed_beside_read(true));
    }

    #[test]
    fn while_another_has_a_pointer_into_it() {
        let why = refuted(|| pushed_beside_read(false));
        assert!(why.starts_with("use after free"), "{why}");
    }
}

/// A lock that is freed by its next owner.
mod a_lock_that_is_freed {
    use super::*;

    /// With `looks_again` the thread that unlocks looks whether another waits, after it has unlocked.
    fn locked_and_freed(looks_again: bool) {
        struct Lock {
            is_taken: AtomicBool,
            waiting: AtomicUsize,
        }
        let lock = Sent(boxed(Lock { is_taken: AtomicBool::new(true), waiting: AtomicUsize::new(0) }));
        let theirs = lock.clone();
        let unlocks = thread::spawn(move || {
            theirs.get().is_taken.store(false, Release);
            if looks_again {
                theirs.get().waiting.load(Relaxed);
            }
        });
        while lock.get().is_taken.load(Relaxed)
            || lock.get().is_taken.compare_exchange(false, true, Acquire, Relaxed).is_err()
        {
            hint::spin_loop();
        }
        freed(lock.0);
        unlocks.join().unwrap();
    }

    #[test]
    fn after_the_last_one_has_left() {
        proved(|| locked_and_freed(false));
    }

    #[test]
    fn before_the_last_one_has_left() {
        let why = refuted(|| locked_and_freed(true));
        assert!(why.starts_with("use after free"), "{why}");
    }

    #[test]
    fn though_it_is_a_mutex() {
        let freed_by = |waits: bool| {
            move || {
                let lock = Sent(boxed(Mutex::new(0)));
                let theirs = lock.clone();
                let other = thread::spawn(move || *theirs.get().lock().unwrap() += 1);
                *lock.get().lock().unwrap() += 1;
                let mut other = Some(other);
                if waits {
                    other.take().unwrap().join().unwrap();
                }
                freed(lock.0);
                if let Some(other) = other {
                    other.join().unwrap();
                }
            }
        };
        proved(freed_by(true));
        assert!(refuted(freed_by(false)).starts_with("use after free"));
    }
}

/// A reader announces what it looks at, and the freeing thread looks at the announcements.
mod a_hazard {
    use super::*;

    fn announced(looks_again: bool, frees_announced: bool) {
        struct Shared {
            pointer: AtomicPtr<AtomicUsize>,
            hazard: AtomicPtr<AtomicUsize>,
        }
        let shared = Arc::new(Shared {
            pointer: AtomicPtr::new(boxed(AtomicUsize::new(1))),
            hazard: AtomicPtr::new(null_mut()),
        });
        let theirs = shared.clone();
        let reader = thread::spawn(move || {
            let found = theirs.pointer.load(SeqCst);
            theirs.hazard.store(found, SeqCst);
            if !looks_again || theirs.pointer.load(SeqCst) == found {
                assert_ne!(at(found).load(Relaxed), 0);
            }
            theirs.hazard.store(null_mut(), Release);
        });
        let old = shared.pointer.swap(boxed(AtomicUsize::new(2)), SeqCst);
        let is_announced = shared.hazard.load(SeqCst) == old;
        if !is_announced || frees_announced {
            freed(old);
        }
        reader.join().unwrap();
        if is_announced && !frees_announced {
            freed(old);
        }
        freed(shared.pointer.load(Relaxed));
    }

    #[test]
    fn is_looked_at_from_both_sides() {
        proved(|| announced(true, false));
    }

    #[test]
    fn is_overlooked() {
        for (looks_again, frees) in [(false, false), (true, true)] {
            let why = refuted(move || announced(looks_again, frees));
            assert!(why.starts_with("use after free"), "{why}");
        }
    }
}
