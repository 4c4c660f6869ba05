//! Timers as wakers: registered, cancelled, moved, fired; and served to the last after the runtime's end.
//!
//! **A timer is fired once, by the thread that takes it off its heap, or is cancelled; and a sleeper is woken in time, also if it
//! registers while the runtime is shut down.** The heaps are the kernel's [`Timers`]; that an M looks in time, as long as there
//! are Ms, is the kernel's affair. After [`close`](TimerQueue::close) none may look, and a thread of its own serves what sleeps.
//!
//! | a sleeper, in [`add`](TimerQueue::add)      | the shutdown, in [`close`](TimerQueue::close)   |
//! |---------------------------------------------|-------------------------------------------------|
//! | 1. its timer, under the lock of its shard   | 1. sets `is_closed`                             |
//! | 2. reads `is_closed`: has it served         | 2. counts, under the lock of every shard: has them served |
//!
//! The thread that comes to the shard's lock second sees what the other did before. That is so of each shard, so each is counted: to
//! stop at the first that has a timer would leave the others' adders without an order.
//!
//! | a thread that has it served, in [`serve`](TimerQueue::serve) | the thread that serves, in [`wait_for_due`](TimerQueue::wait_for_due) |
//! |-----------------------------------------------------|------------------------------------------------|
//! | 1. the timer is there                               | 1. under the lock: reads the earliest; due, or none? ends |
//! | 2. under the lock: unparks that thread, or starts one | 2. parks until then; from 1 again            |
//!
//! A task that [cancels](TimerQueue::remove) the last timer after the close unparks that thread as well: so it ends, and does not sleep until then.
//!
//! Checked by: verification/src/models/timer_queue.rs, verification/rooms/src/rooms/timers.rs

use crate::atomic::Atomic;
use crate::host::{Host, Lock, NEVER, Nanos, Parker};
use crate::queues::timers::{Key, Timers};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::iter;
use core::sync::atomic::Ordering::Relaxed;

/// The timers of a runtime. `W` is what wakes one that sleeps.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::{host::NEVER, waits::timer_queue::{Added, TimerQueue}};
/// let timers = TimerQueue::<Os, &str>::new(2);
/// let (first, added) = timers.add(0, 100, "a");
/// assert_eq!(added, Added::First);
/// let (second, _) = timers.add(1, 200, "b");
/// assert_eq!((timers.deadline(), timers.len()), (100, 2));
/// assert_eq!(timers.replace(second, "c"), Ok("b"));
/// assert_eq!(timers.take_due(0, 150), ["a"]);
/// assert_eq!(timers.remove(first), None); // it is over
/// assert_eq!(timers.all_due(0, 200).collect::<Vec<_>>(), ["c"]);
/// assert!(timers.is_empty() && timers.deadline() == NEVER);
///
/// timers.add(0, 0, "d");
/// assert!(timers.close()); // one sleeps still
/// timers.serve(|| true); // starts a thread, which wakes it:
/// assert_eq!(timers.wait_for_due(0, |parker, nanos| parker.park_timeout(nanos)), ["d"]);
/// # }
/// ```
pub struct TimerQueue<H: Host, W: Send + 'static> {
    timers: Timers<H, W>,
    /// The runtime was shut down.
    is_closed: Atomic<H, bool>,
    /// Since then: does a thread serve what sleeps?
    is_served: H::Lock<bool>,
    /// Where that thread waits.
    server: H::Parker,
}

/// What is to be done about a timer that was added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// It is the earliest of its shard: a thread without a P announces it.
    First,
    /// Nothing.
    Later,
    /// It is to be [served](TimerQueue::serve).
    Closed,
}

impl<H: Host, W: Send + 'static> TimerQueue<H, W> {
    /// None, on so many shards.
    #[track_caller]
    pub fn new(shards: usize) -> Self {
        TimerQueue {
            timers: Timers::new(shards),
            is_closed: Atomic::new(false),
            is_served: H::Lock::new(false),
            server: H::Parker::new(),
        }
    }

    /// Wakes `waker` at `when`; at [`NEVER`] it is kept for a [reset](Timer::reset) only.
    pub fn add(&self, shard: usize, when: Nanos, waker: W) -> (Key, Added) {
        let (key, is_first) = self.timers.add(shard, when, waker);
        // Relaxed: it was added after `close` had counted its shard, so the lock of that shows us the flag; or it was counted.
        let added = match self.is_closed.load(Relaxed) {
            true if when != NEVER => Added::Closed,
            _ if is_first => Added::First,
            _ => Added::Later,
        };
        (key, added)
    }

    /// Cancels it. `None`: it is over, and its waker is woken, or was.
    pub fn remove(&self, key: Key) -> Option<W> {
        let waker = self.timers.remove(key);
        // Relaxed: as in `add`.
        if self.is_closed.load(Relaxed) {
            self.end_if_none();
        }
        waker
    }

    /// After [`close`](TimerQueue::close): if nothing sleeps any more, the serving thread ends.
    #[cold]
    fn end_if_none(&self) {
        if self.deadline() == NEVER && self.is_served.with(|is_served| *is_served) {
            self.server.unpark();
        }
    }

    /// Wakes this one instead; returns the other.
    ///
    /// # Errors
    /// The waker, if the timer is over.
    pub fn replace(&self, key: Key, waker: W) -> Result<W, W> {
        self.timers.replace(key, waker)
    }

    /// When the first is due.
    pub fn deadline(&self) -> Nanos {
        self.timers.deadline()
    }

    /// Some that are due, or none, of this shard first: the caller wakes each, and takes again.
    #[must_use = "what is taken here is not woken elsewhere"]
    pub fn take_due(&self, shard: usize, now: Nanos) -> Vec<W> {
        self.timers.take_due(shard, now)
    }

    /// All that are due, as they are taken: none is taken before those before it are woken.
    pub fn all_due(&self, shard: usize, now: Nanos) -> impl Iterator<Item = W> {
        iter::repeat_with(move || self.take_due(shard, now)).take_while(|due| !due.is_empty()).flatten()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.timers.len()
    }

    /// Will none become due? Asked under each shard's lock.
    pub fn is_empty(&self) -> bool {
        !self.timers.is_any()
    }

    /// From now on the runtime's threads may look no more. `true`: a task sleeps, and is to be [served](TimerQueue::serve).
    #[must_use = "what sleeps now is not served yet"]
    pub fn close(&self) -> bool {
        // Relaxed: each shard's lock is taken after it, to count: what is added later sees it.
        self.is_closed.store(true, Relaxed);
        !self.is_empty()
    }

    /// After [`close`](TimerQueue::close): sees to it that a thread serves what sleeps. `start` starts one, or cannot; then the one that
    /// sleeps sleeps until the next comes, which tries again.
    pub fn serve(&self, start: impl FnOnce() -> bool) {
        let was_served = self.is_served.with(|is_served| {
            let was_served = *is_served;
            *is_served = was_served || start();
            was_served
        });
        if was_served {
            self.server.unpark();
        }
    }

    /// The thread that serves waits until the first is due, by `park`, which may be over early. Then it serves no more: what it
    /// gets, of this shard first, is its to wake, after it has seen to it that what is left is served by another. For a waker may drop a task,
    /// whose destructor may sleep in its turn.
    pub fn wait_for_due(&self, shard: usize, park: impl Fn(&H::Parker, Nanos)) -> Vec<W> {
        let look = |is_served: &mut bool| {
            let (now, deadline) = (H::now(), self.deadline());
            let is_over = deadline <= now || deadline == NEVER;
            *is_served = !is_over;
            if is_over { Ok(now) } else { Err(deadline - now) }
        };
        let now = loop {
            match self.is_served.with(look) {
                Ok(now) => break now,
                Err(nanos) => park(&self.server, nanos),
            }
        };
        self.all_due(shard, now).collect()
    }
}

/// Where one registers that sleeps.
pub trait Registers {
    /// What wakes it.
    type Waker;
    /// As [`TimerQueue::remove`].
    fn remove(&self, key: Key);
    /// The same; its waker is the caller's.
    fn take(&self, key: Key) -> Option<Self::Waker>;
    /// As [`TimerQueue::replace`].
    ///
    /// # Errors
    /// The waker, if the timer is over.
    fn replace(&self, key: Key, waker: Self::Waker) -> Result<(), Self::Waker>;
}

impl<Q: Registers> Registers for Arc<Q> {
    type Waker = Q::Waker;

    fn remove(&self, key: Key) {
        Q::remove(self, key);
    }

    fn take(&self, key: Key) -> Option<Q::Waker> {
        Q::take(self, key)
    }

    fn replace(&self, key: Key, waker: Q::Waker) -> Result<(), Q::Waker> {
        Q::replace(self, key, waker)
    }
}

/// The timer of one that sleeps, while it runs. `I` is what is known of a waker: two that have the same wake the same.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::{queues::timers::Key, waits::timer_queue::{Registers, Timer, TimerQueue}};
/// struct Queue(TimerQueue<Os, &'static str>);
/// impl Registers for Queue {
///     type Waker = &'static str;
///     fn remove(&self, key: Key) { self.0.remove(key); }
///     fn take(&self, key: Key) -> Option<&'static str> { self.0.remove(key) }
///     fn replace(&self, key: Key, waker: &'static str) -> Result<(), &'static str> { self.0.replace(key, waker).map(drop) }
/// }
/// let (queue, mut place) = (Arc::new(Queue(TimerQueue::new(1))), None);
/// let mut poll = |when, name| Timer::poll(&mut place, name, || name, |waker| {
///     (Arc::clone(&queue), queue.0.add(0, when, waker).0)
/// });
/// poll(100, "a");
/// poll(100, "b"); // another task polls: it is woken instead
/// Timer::reset(&mut place, |queue, waker| queue.0.add(0, 200, waker).0);
/// assert_eq!((queue.0.deadline(), queue.0.len()), (200, 1));
/// Timer::forget(&mut place);
/// assert!(queue.0.is_empty());
/// # }
/// ```
pub struct Timer<Q: Registers, I> {
    queue: Q,
    key: Key,
    wakes: I,
}

impl<Q: Registers, I: PartialEq> Timer<Q, I> {
    /// The sleeper was polled before its time: it has a timer now, that wakes `waker`. One that is over has woken, or will wake,
    /// what it had: if that is another, there has to be a new one.
    pub fn poll(
        place: &mut Option<Self>,
        wakes: I,
        waker: impl FnOnce() -> Q::Waker,
        add: impl FnOnce(Q::Waker) -> (Q, Key),
    ) {
        let waker = match place {
            Some(timer) if timer.wakes == wakes => return,
            Some(timer) => match timer.queue.replace(timer.key, waker()) {
                Ok(()) => return timer.wakes = wakes,
                Err(waker) => waker,
            },
            None => waker(),
        };
        let (queue, key) = add(waker);
        *place = Some(Timer { queue, key, wakes });
    }

    /// The sleeper sleeps until another moment, and need not be polled for that: its timer, if it still runs, is exchanged for one
    /// that `add` adds with the same waker. If it is over, it has woken the sleeper, or will: the next poll adds another.
    pub fn reset(place: &mut Option<Self>, add: impl FnOnce(&Q, Q::Waker) -> Key) {
        if let Some(timer) = place {
            match timer.queue.take(timer.key) {
                Some(waker) => timer.key = add(&timer.queue, waker),
                None => *place = None,
            }
        }
    }

    /// It sleeps no more: the timer is cancelled, if it still runs.
    pub fn forget(place: &mut Option<Self>) {
        if let Some(timer) = place.take() {
            timer.queue.remove(timer.key);
        }
    }
}
