//! The local run queue: a ring with one producer, its owner, and many consumers, its thieves.
//!
//! Go: `runqput`, `runqputslow`, `runqputbatch`, `runqget`, `runqgrab`, `runqsteal`, `runqempty`.
//!
//! **Each G that is put is taken exactly once**, and `head <= tail <= head + capacity` for a thread that reads `head` first.
//!
//! | the owner puts, in [`put`](RunQueue::put) | a thief takes, in [`steal_some`](RunQueue::steal_some) |
//! |-------------------------------------------|--------------------------------------------------------|
//! | 1. reads `head`: is there room?           | 1. reads `head`, then `tail`: is there a G?            |
//! | 2. writes the slot                        | 2. reads the slots                                     |
//! | 3. moves `tail`: *publish*                | 3. moves `head`, if no other did: *consume*            |
//!
//! Pair `publish`: a thread that sees the tail sees the slots below it, and all that the submitter did before.
//! Pair `consume`: a thread that sees a head sees also the tail it was taken against, and that the slots were read. So `head`
//! is acquired before a slot is written: by the owner that puts, and by the thief that fills its own ring.
//!
//! Only the owner moves `tail`; owner and thieves move `head`, by compare-and-exchange. Both run freely and wrap around at
//! `2^BITS`; the slot is the cursor modulo the capacity. Models use a few bits to meet the wrap; with too few, a thief
//! that sleeps through a whole round takes a G twice (tokio #5041), which is why production has 32.
//!
//! Checked by: verification/rooms/src/rooms/runq.rs, verification/src/models/runq.rs

use crate::atomic::{Atomic, ByOwner};
use crate::host::Host;
pub use crate::queues::capacity::{BadCapacity, Capacity};
use crate::types::g::G;
use alloc::boxed::Box;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use crossbeam_utils::CachePadded;

/// The ring was full. The G comes back.
#[derive(Debug)]
#[must_use = "the G has to go somewhere else"]
pub struct Full(pub G);

/// The ring of one P, as the scheduler has it: an M that holds the P is the owner. By type, and to be made by an embedder:
/// [`Owner`](crate::queues::owner::Owner). `BITS` is the width of the cursors.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::queues::{local::LocalQueue, runq::{Capacity, Full, RunQueue, Spilled}};
/// fn as_the_owner(ring: &RunQueue<Os>, others: &RunQueue<Os>) -> usize {
///     while ring.put(g(1)).is_ok() {} // fills it
///     let spilled = ring.spill_half().expect("it is full").count();
///     assert_eq!(ring.put_batch(&mut (0..1000).map(|_| g(2))), spilled);
///     while ring.get().is_some() {}
///     assert!(ring.is_empty());
///     others.steal_some(ring).map_or(0, |(_first, stolen)| stolen)
/// }
/// # let _: fn(&RunQueue<Os>, &RunQueue<Os>) -> usize = as_the_owner;
/// # }
/// ```
pub struct RunQueue<H: Host, const BITS: u32 = 32> {
    head: CachePadded<Atomic<H, u32>>,
    tail: CachePadded<Atomic<H, u32, ByOwner>>,
    slots: Box<[Atomic<H, Option<G>, ByOwner>]>,
}

impl<H: Host, const BITS: u32> RunQueue<H, BITS> {
    const MASK: u32 = u32::MAX >> (32 - BITS);

    /// Empty, with both cursors at `at`. Not public: which thread is the owner is then known by its type, an
    /// [`Owner`](crate::queues::owner::Owner), or by its P.
    #[track_caller]
    pub(crate) fn made(capacity: Capacity, at: u32) -> Self {
        let at = at & Self::MASK;
        // Thieves write `head` and the owner `tail`: in one cache line, each would evict the other's.
        const {
            let apart = core::mem::offset_of!(Self, head).abs_diff(core::mem::offset_of!(Self, tail));
            assert!(apart >= align_of::<CachePadded<u8>>());
        }
        assert!(capacity.0 <= Self::MASK, "runq: {BITS} bits cannot tell {} Gs from none", capacity.0);
        RunQueue {
            head: CachePadded::new(Atomic::new(at)),
            tail: CachePadded::new(Atomic::new(at)),
            slots: (0..capacity.get()).map(|_| Atomic::new(None)).collect(),
        }
    }

    /// How many Gs fit.
    #[inline(always)]
    pub fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// Appends `g`. Only for the owner.
    ///
    /// # Errors
    /// [`Full`], with the G: make room by [`spill_half`](RunQueue::spill_half).
    #[inline]
    pub fn put(&self, g: G) -> Result<(), Full> {
        // Acquire: `consume`, owner's half. The thieves' reads of the slot come before our write to it.
        let head = self.head.load(Acquire);
        // Relaxed: only the owner, which is us, writes `tail`.
        let tail = self.tail.load(Relaxed);
        if Self::distance(head, tail) as usize >= self.slots.len() {
            return Err(Full(g));
        }
        // Relaxed: `publish` below carries it.
        self.slot(tail).store(Some(g), Relaxed);
        // Release: `publish`, owner's half.
        self.tail.store(Self::ahead(tail, 1), Release);
        Ok(())
    }

    /// Appends as many of `gs` as fit, and publishes them at once. Only for the owner.
    pub fn put_batch(&self, gs: &mut impl Iterator<Item = G>) -> usize {
        // Acquire: `consume`, owner's half.
        let head = self.head.load(Acquire);
        // Relaxed: only the owner, which is us, writes `tail`.
        let tail = self.tail.load(Relaxed);
        let room = self.slots.len() - Self::distance(head, tail) as usize;
        let mut n = 0;
        for g in gs.take(room) {
            // Relaxed: `publish` below carries it.
            self.slot(Self::ahead(tail, n)).store(Some(g), Relaxed);
            n += 1;
        }
        // Release: `publish`, owner's half.
        self.tail.store(Self::ahead(tail, n), Release);
        n as usize
    }

    /// Takes the oldest. Only for the owner.
    #[inline]
    pub fn get(&self) -> Option<G> {
        // Relaxed: only the owner, which is us, writes `tail`.
        let tail = self.tail.load(Relaxed);
        // Relaxed: the owner wrote the slots itself; a stale head fails the exchange.
        let mut head = self.head.load(Relaxed);
        while head != tail {
            // Relaxed: written by the owner, which is us.
            let g = self.slot(head).load(Relaxed);
            // Release: `consume`, owner's half as a consumer. A thief that sees this head sees our tail.
            match self.head.compare_exchange(head, Self::ahead(head, 1), Release, Relaxed) {
                Ok(_) => return g,
                Err(found) => head = found,
            }
        }
        None
    }

    /// Takes the older half out of a full ring, to be put elsewhere. Only for the owner. `None`: it is not full.
    ///
    /// The claim comes first and the slots are read after it: only the owner would write them.
    #[inline(never)]
    pub fn spill_half(&self) -> Option<Spilled<'_, H, BITS>> {
        // Relaxed: as in `get`.
        let tail = self.tail.load(Relaxed);
        // Relaxed: as in `get`.
        let head = self.head.load(Relaxed);
        let half = self.slots.len() as u32 / 2;
        if Self::distance(head, tail) as usize != self.slots.len() {
            return None;
        }
        // Release: `consume`, as in `get`. A failure means that a thief made room.
        let claim = self.head.compare_exchange(head, Self::ahead(head, half), Release, Relaxed);
        claim.ok().map(|from| Spilled { ring: self, from, left: half })
    }

    /// Takes the older half, rounded up. The oldest is for the thief to run; the rest goes into `mine`, which must be
    /// the caller's own, and half empty at least. Returns the oldest, and how many it took, that one included. `None`: there was nothing.
    ///
    /// # Panics
    /// If `mine` overflows, in a debug build.
    pub fn steal_some(&self, mine: &Self) -> Option<(G, usize)> {
        // Relaxed: `mine` is ours to fill.
        let my_tail = mine.tail.load(Relaxed);
        loop {
            // Acquire: `consume`, thief's half. The tail read next is not older than this head.
            let head = self.head.load(Acquire);
            // Acquire: `publish`, thief's half.
            let tail = self.tail.load(Acquire);
            debug_assert!(!Self::is_behind(tail, head), "runq: head {head} has passed tail {tail}");
            let n = Self::distance(head, tail);
            if n == 0 {
                return None;
            }
            if n as usize > self.slots.len() {
                continue; // the two reads are of different times
            }
            let n = n - n / 2;
            // Acquire: `consume`, owner's half, in the thief's own ring. Earlier thieves' reads of its slots come before
            // our writes to them. `get` reads the head with a Relaxed load, which orders nothing.
            let my_head = mine.head.load(Acquire);
            // Relaxed: `publish` brought it; if a later put wrote here, the exchange fails.
            let first = self.slot(head).load(Relaxed);
            for i in 1..n {
                // Relaxed: as the first.
                let g = self.slot(Self::ahead(head, i)).load(Relaxed);
                // Relaxed: `publish` below carries it, if we win.
                mine.slot(Self::ahead(my_tail, i - 1)).store(g, Relaxed);
            }
            // Release: `consume`, thief's half. Nothing more to acquire: the load of this very head acquired it.
            if self.head.compare_exchange(head, Self::ahead(head, n), Release, Relaxed).is_err() {
                continue;
            }
            if n > 1 {
                debug_assert!(
                    Self::distance(my_head, my_tail) as usize + n as usize - 1 <= mine.slots.len(),
                    "runq: the thief's ring overflows"
                );
                // Release: `publish`, owner's half, in the thief's own ring.
                mine.tail.store(Self::ahead(my_tail, n - 1), Release);
            }
            return first.map(|first| (first, n as usize));
        }
    }

    /// How many Gs it holds; a guess, unless the owner asks.
    #[inline]
    pub fn len(&self) -> usize {
        // Relaxed: a number for display.
        let head = self.head.load(Relaxed);
        // Relaxed: an old tail beside a new head makes the number too large, so it is capped.
        let tail = self.tail.load(Relaxed);
        (Self::distance(head, tail) as usize).min(self.slots.len())
    }

    /// Does it hold none? A guess, unless the owner asks: see [`LocalQueue`](crate::queues::local::LocalQueue) for a test that may be
    /// asked from anywhere.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first half of an emptiness test. `Some(tail)`: head and tail were the same.
    #[inline]
    pub(crate) fn looks_empty(&self) -> Option<u32> {
        // Acquire: `consume`, the emptiness test's half. A thread that sees that a G has left the ring sees what its owner had put into
        // `runnext` before it took that.
        let head = self.head.load(Acquire);
        // Relaxed: a new head with an old tail differ, and "not empty" is the safe answer.
        let tail = self.tail.load(Relaxed);
        (head == tail).then_some(tail)
    }

    /// The second half: has no G been put since?
    #[inline]
    pub(crate) fn is_still_at(&self, tail: u32) -> bool {
        // Relaxed: `slot` orders it after the read of `runnext`.
        self.tail.load(Relaxed) == tail
    }

    #[inline(always)]
    fn slot(&self, cursor: u32) -> &Atomic<H, Option<G>, ByOwner> {
        &self.slots[cursor as usize & (self.slots.len() - 1)]
    }

    #[inline(always)]
    fn ahead(cursor: u32, n: u32) -> u32 {
        cursor.wrapping_add(n) & Self::MASK
    }

    #[inline(always)]
    fn distance(head: u32, tail: u32) -> u32 {
        tail.wrapping_sub(head) & Self::MASK
    }

    /// Is `tail` behind `head`, going the shorter way round?
    fn is_behind(tail: u32, head: u32) -> bool {
        Self::distance(head, tail) > Self::MASK - (Self::MASK >> 1)
    }
}

/// Gs that were claimed out of a full ring and are in no queue yet. Must be drained.
#[must_use = "the Gs in it are in no queue"]
pub struct Spilled<'a, H: Host, const BITS: u32> {
    ring: &'a RunQueue<H, BITS>,
    from: u32,
    left: u32,
}

impl<H: Host, const BITS: u32> Iterator for Spilled<'_, H, BITS> {
    type Item = G;

    fn next(&mut self) -> Option<G> {
        self.left = self.left.checked_sub(1)?;
        // Relaxed: written by the owner, which is us, and claimed.
        let g = self.ring.slot(self.from).load(Relaxed);
        self.from = RunQueue::<H, BITS>::ahead(self.from, 1);
        g
    }
}
