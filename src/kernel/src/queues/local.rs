//! What is local to one P: its `runnext` and its ring, as one queue.
//!
//! Go: `runqput`, `runqget`, `runqgrab`, `runqempty`.
//!
//! **Never empty while a G was there all the time** (golang/go #10573): a G that is kicked out of `runnext` into the
//! ring, while a spinning M reads first the one and then the other, is seen all the same.
//!
//! | the owner kicks, then takes     | a spinning M scans, in [`is_empty`](LocalQueue::is_empty) |
//! |---------------------------------|-------------------------------------------------------|
//! | 1. new G into `runnext`         | 1. reads `head`, `tail`: empty?                       |
//! | 2. old G into the ring: `tail`  | 2. reads `runnext`: empty?                            |
//! | 3. takes the new one: `slot`    | 3. reads `tail`: unchanged?                           |
//!
//! **Bounded overtaking.** At most K dispatches in a row come from `runnext` while the ring holds a G. So a G at
//! position d of the ring is dispatched, here or by a thief, after at most (d+1)(K+1) local dispatches.
//!
//! Checked by: verification/rooms/src/rooms/local.rs, verification/src/models/local.rs, proptests/tests/local.rs, proptests/tests/turn.rs

use crate::host::Host;
use crate::queues::runnext::RunNext;
use crate::queues::runq::{Capacity, Full, RunQueue, Spilled};
use crate::types::g::G;
use crate::types::p::Turn;

/// The queues of one P.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::{queues::{local::LocalQueue, runq::Capacity}, types::p::Turn};
/// let (queue, mut turn) = (LocalQueue::<Os>::new(Capacity::new(4).unwrap()), Turn::default());
/// let number = |g: Option<G>| g.map(|g| g.id());
/// queue.put(g(1), |_, _| panic!("there is room"));
/// queue.put_next(g(2), |_, _| panic!("there is room"));
/// assert_eq!(queue.put_batch(&mut [g(3), g(4)].into_iter()), 2);
/// assert_eq!(number(queue.get(&mut turn, 8)), Some(2)); // the next comes first
///
/// let thief = LocalQueue::<Os>::new(Capacity::new(4).unwrap());
/// let (first, stolen) = queue.steal_some(&thief, true, || ()).expect("there is something");
/// assert_eq!((first.id(), stolen), (1, 2)); // half, rounded up
/// assert_eq!(thief.drain().map(|g| g.id()).collect::<Vec<_>>(), [3]);
/// assert!(thief.is_empty() && queue.len() == 1);
/// # }
/// ```
pub struct LocalQueue<H: Host, const BITS: u32 = 32> {
    runnext: RunNext<H>,
    ring: RunQueue<H, BITS>,
}

impl<H: Host, const BITS: u32> LocalQueue<H, BITS> {
    /// Empty.
    #[track_caller]
    pub fn new(capacity: Capacity) -> Self {
        LocalQueue { runnext: RunNext::new(), ring: RunQueue::made(capacity, 0) }
    }

    /// Appends `g` to the ring; if that is full, `spill` gets the older half and then `g`, all at once, in order. Only
    /// for the owner.
    #[inline]
    pub fn put(&self, g: G, spill: impl FnOnce(Spilled<'_, H, BITS>, G)) {
        let mut left = g;
        loop {
            match self.ring.put(left) {
                Ok(()) => return,
                Err(Full(g)) => match self.ring.spill_half() {
                    Some(half) => return spill(half, g),
                    None => left = g, // a thief made room
                },
            }
        }
    }

    /// Makes `g` the next to run; the G it displaces goes to the ring's tail. Only for the owner.
    #[inline]
    pub fn put_next(&self, g: G, spill: impl FnOnce(Spilled<'_, H, BITS>, G)) {
        if let Some(displaced) = self.runnext.put(g) {
            self.put(displaced, spill);
        }
    }

    /// Appends as many of `gs` as fit into the ring. Only for the owner.
    pub fn put_batch(&self, gs: &mut impl Iterator<Item = G>) -> usize {
        self.ring.put_batch(gs)
    }

    /// Takes the next: `runnext`'s, unless it had `at_most` turns in a row and the ring holds a G. Only for the owner.
    #[inline]
    pub fn get(&self, turn: &mut Turn, at_most: u32) -> Option<G> {
        if turn.may_inherit(at_most)
            && let Some(g) = self.take_next(turn)
        {
            return Some(g);
        }
        match self.ring.get() {
            Some(g) => {
                turn.from_ring();
                Some(g)
            }
            None => self.take_next(turn),
        }
    }

    /// Takes every G, in the order in which it would have run. Only for the owner.
    pub fn drain(&self) -> impl Iterator<Item = G> + '_ {
        core::iter::from_fn(|| self.runnext.take().or_else(|| self.ring.get()))
    }

    /// Takes half of the ring into `mine`, the thief's own and half empty at least; returns the oldest, to be run, and how many it took,
    /// that one included. With `and_next`, `runnext` too is taken when the ring is empty, after `back_off` gave its owner time to run
    /// it.
    pub fn steal_some(&self, mine: &Self, and_next: bool, back_off: impl FnOnce()) -> Option<(G, usize)> {
        if let Some(stolen) = self.ring.steal_some(&mine.ring) {
            return Some(stolen);
        }
        if and_next && self.runnext.is_set() {
            back_off();
            return self.runnext.steal().map(|g| (g, 1));
        }
        None
    }

    /// Was there a moment during the call at which it held nothing? Callable from anywhere.
    #[inline]
    pub fn is_empty(&self) -> bool {
        loop {
            let Some(tail) = self.ring.looks_empty() else { return false };
            if self.runnext.is_set_acquire() {
                return false;
            }
            if self.ring.is_still_at(tail) {
                return true;
            }
        }
    }

    /// How many Gs it holds; a guess, unless the owner asks.
    pub fn len(&self) -> usize {
        self.ring.len() + usize::from(self.runnext.is_set())
    }

    fn take_next(&self, turn: &mut Turn) -> Option<G> {
        let g = self.runnext.take()?;
        turn.from_runnext();
        Some(g)
    }
}
