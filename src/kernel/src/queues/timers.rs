//! Timers: what becomes due, and when the next does.
//!
//! Go: `type timers`, `p.timers`, `timers.wakeTime`, `timers.run`, `maybeAdd`.
//!
//! **A shard's `when` is the moment of its earliest timer whenever its lock is free; `NEVER`, if it is empty.** Timers that are
//! due are taken off under the lock, each once, many under one hold of it, and fired after it is released: what fires may add timers.
//!
//! There are as many shards as there were Ps at first. A P's tasks use the shard of its number, modulo; but no P owns
//! one, and an M that takes due timers scans all shards. So a P that ends leaves no timer behind (golang/go #45716), and the
//! timers of a busy P are run by other Ms (#38860).
//!
//! | a thread adds a timer, in [`add`](Timers::add) | an M is about to wait, in `netpoll::prepare` |
//! |------------------------------------------------|----------------------------------------------|
//! | 1. sets `when`, under the lock                 | 1. sets `until`                              |
//! | 2. StoreLoad, in `netpoll::announce`           | 2. StoreLoad                                 |
//! | 3. reads `who` and `until`                     | 3. reads every `when`                        |
//!
//! Pair `timer/poll`, of which this room has two stores and a load; the rest is in [`netpoll`](crate::protocol::netpoll).
//!
//! Checked by: verification/src/models/timers.rs, verification/rooms/src/rooms/timers.rs

use crate::atomic::{Atomic, UnderLock};
use crate::host::{Host, Lock, NEVER, Nanos};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::Relaxed;
use crossbeam_utils::CachePadded;

/// So many that are due are taken off under one hold of a lock, at most: a thread that adds one waits for as long.
pub const BATCH: usize = 64;

/// Shards of timers. `T` is what is to be done when one is due.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::{host::NEVER, queues::timers::Timers};
/// let timers = Timers::<Os, &str>::new(1);
/// let (first, _) = timers.add(0, 200, "a");
/// let (second, is_earliest) = timers.add(0, 100, "b");
/// assert!(is_earliest && second.when() == 100);
/// assert_eq!(timers.replace(second, "c"), Ok("b"));
/// assert_eq!((timers.deadline(), timers.is_any()), (100, true));
/// assert_eq!(timers.take_due(0, 150), ["c"]);
/// assert_eq!((timers.remove(second), timers.remove(first)), (None, Some("a"))); // the other was due
/// timers.add(0, NEVER, "d");
/// assert_eq!(timers.drain().collect::<Vec<_>>(), ["d"]);
/// # }
/// ```
pub struct Timers<H: Host, T: Send + 'static> {
    shards: Box<[CachePadded<Shard<H, T>>]>,
}

struct Shard<H: Host, T: Send + 'static> {
    /// When the earliest is due.
    when: Atomic<H, u64, UnderLock>,
    lock: H::Lock<Queue<T>>,
}

struct Queue<T> {
    /// By time; of the same time, those first that were added first.
    timers: BTreeMap<(Nanos, u64), T>,
    /// How many were added so far.
    added: u64,
}

impl<T> Queue<T> {
    /// When the earliest is due.
    fn first(&self) -> Nanos {
        self.timers.first_key_value().map_or(NEVER, |(&(when, _), _)| when)
    }
}

/// Which timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    shard: u32,
    when: Nanos,
    number: u64,
}

impl Key {
    /// When it is due.
    pub fn when(self) -> Nanos {
        self.when
    }
}

impl<H: Host, T: Send + 'static> Timers<H, T> {
    /// None, on so many shards (one at least).
    #[track_caller]
    pub fn new(shards: usize) -> Self {
        let shard = |_| {
            CachePadded::new(Shard {
                when: Atomic::new(NEVER),
                lock: H::Lock::new(Queue { timers: BTreeMap::new(), added: 0 }),
            })
        };
        Timers { shards: (0..shards.max(1)).map(shard).collect() }
    }

    /// `what` is to be done at `when` or soon after; at [`NEVER`], not at all. `true`: no timer of this shard is due as early. Then a caller without a
    /// P has to announce it, see `netpoll`. Go: `maybeAdd`.
    pub fn add(&self, shard: usize, when: Nanos, what: T) -> (Key, bool) {
        let index = shard % self.shards.len();
        let shard = &self.shards[index];
        shard.lock.with(|queue| {
            let key = Key { shard: index as u32, when, number: queue.added };
            queue.added += 1;
            queue.timers.insert((when, key.number), what);
            let is_first = shard.update(queue, when);
            (key, is_first)
        })
    }

    /// Removes it. `None`: it was taken already, because it was due.
    pub fn remove(&self, key: Key) -> Option<T> {
        let shard = &self.shards[key.shard as usize];
        shard.lock.with(|queue| {
            let what = queue.timers.remove(&(key.when, key.number))?;
            shard.update(queue, key.when);
            Some(what)
        })
    }

    /// What is to be done is `what` now; returns what it was.
    ///
    /// # Errors
    /// `what`, if the timer was taken already.
    pub fn replace(&self, key: Key, what: T) -> Result<T, T> {
        self.shards[key.shard as usize].lock.with(|queue| match queue.timers.get_mut(&(key.when, key.number)) {
            Some(place) => Ok(core::mem::replace(place, what)),
            None => Err(what),
        })
    }

    /// When the next is due; [`NEVER`]. Go: `timers.wakeTime`.
    #[inline]
    pub fn deadline(&self) -> Nanos {
        // Relaxed: `timer/poll`, or a hint.
        self.shards.iter().map(|shard| shard.when.load(Relaxed)).min().unwrap_or(NEVER)
    }

    /// Takes some that are due, the earliest first, [`BATCH`] at most: of `shard`; if there are none, of another. None: none is
    /// due. Go: `timers.run`.
    pub fn take_due(&self, shard: usize, now: Nanos) -> Vec<T> {
        let count = self.shards.len();
        let mut due = (0..count).map(|step| self.shards[(shard + step) % count].take_due(now));
        due.find(|due| !due.is_empty()).unwrap_or_default()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock.with(|queue| queue.timers.len())).sum()
    }

    /// Will any become due? Unlike [`is_empty`](Timers::is_empty) this asks under each shard's lock, those after one that has a timer
    /// too: what a thread does before it asks is seen by each thread that adds one later.
    pub fn is_any(&self) -> bool {
        let mut any = false;
        for shard in &self.shards {
            any |= shard.lock.with(|queue| queue.first() != NEVER);
        }
        any
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.deadline() == NEVER
    }

    /// Takes all of them, due or not, in no order.
    pub fn drain(&self) -> impl Iterator<Item = T> + '_ {
        self.shards.iter().flat_map(|shard| {
            shard.lock.with(|queue| {
                let timers = core::mem::take(&mut queue.timers);
                shard.update(queue, NEVER);
                timers.into_values()
            })
        })
    }
}

impl<H: Host, T: Send + 'static> Shard<H, T> {
    fn take_due(&self, now: Nanos) -> Vec<T> {
        // Relaxed: a hint; an M that misses a timer added just now scans again, or another waits in the poller until then.
        if self.when.load(Relaxed) > now {
            return Vec::new();
        }
        self.lock.with(|queue| {
            let next = || queue.timers.first_entry().filter(|first| first.key().0 <= now).map(|first| first.remove());
            let due = core::iter::from_fn(next).take(BATCH).collect();
            self.update(queue, NEVER);
            due
        })
    }

    /// A timer at `changed` was added or removed: sets `when`. Is the earliest moment `changed` now?
    fn update(&self, queue: &Queue<T>, changed: Nanos) -> bool {
        let first = queue.first();
        // Relaxed: written under this lock only.
        if self.when.load(Relaxed) != first {
            // Relaxed: `timer/poll`. Its StoreLoad comes after: in `announce`, or when the M that adds it goes to sleep.
            self.when.store(first, Relaxed);
            return first == changed;
        }
        false
    }
}
