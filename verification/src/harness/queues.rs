//! Queues that only count.

use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::Host;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// Where Gs wait.
pub trait Queues: Send + Sync + 'static {
    /// How many wait in all.
    fn queued(&self) -> u64;
    /// Under the lock: so many Ps are idle now.
    fn idle_ps_are(&self, n: u32);
    /// How many Ps are idle; a hint.
    fn npidle(&self) -> u32;
}

/// All queues in one word.
pub struct OneWord<H: Host> {
    queued: Atomic<H, u64>,
    /// Written under the lock.
    npidle: Atomic<H, u32>,
}

impl<H: Host> OneWord<H> {
    /// Empty.
    pub fn new() -> Self {
        OneWord { queued: Atomic::new(0), npidle: Atomic::new(0) }
    }

    /// Puts one more.
    pub fn put(&self) {
        // Release: as the ring's `publish`.
        self.queued.fetch_add(1, Release);
    }

    /// Puts the only one there ever is by a plain store, as a ring does.
    pub fn put_the_only(&self) {
        // Release: as the ring's `publish`.
        self.queued.store(1, Release);
    }

    /// Takes one, if there is one.
    pub fn take(&self) -> bool {
        let mut n = self.queued.load(Relaxed);
        while n > 0 {
            match self.queued.compare_exchange(n, n - 1, AcqRel, Relaxed) {
                Ok(_) => return true,
                Err(found) => n = found,
            }
        }
        false
    }
}

impl<H: Host> Default for OneWord<H> {
    fn default() -> Self {
        Self::new()
    }
}

impl<H: Host> Queues for OneWord<H> {
    fn queued(&self) -> u64 {
        // Relaxed: the room's fence has to do.
        self.queued.load(Relaxed)
    }
    fn idle_ps_are(&self, n: u32) {
        // Relaxed: as the kernel's.
        self.npidle.store(n, Relaxed);
    }
    fn npidle(&self) -> u32 {
        // Relaxed: as the kernel's.
        self.npidle.load(Relaxed)
    }
}

/// A ring a party, and the global queue.
pub struct Rings<H: Host> {
    rings: Box<[Ring<H>]>,
    /// Written under the lock.
    global: Atomic<H, u64>,
    /// Written under the lock.
    npidle: Atomic<H, u32>,
}

struct Ring<H: Host> {
    /// How many were put: by its owner alone, and by a plain store.
    put: Atomic<H, u64>,
    /// How many were taken, by any thread.
    taken: Atomic<H, u64>,
}

impl<H: Host> Rings<H> {
    /// For so many parties, empty.
    pub fn new(parties: usize) -> Self {
        let ring = |_| Ring { put: Atomic::new(0), taken: Atomic::new(0) };
        Rings { rings: (0..parties).map(ring).collect(), global: Atomic::new(0), npidle: Atomic::new(0) }
    }

    /// Puts `n` more into the owner's ring.
    pub fn put(&self, owner: usize, n: u64) {
        let Ring { put, .. } = &self.rings[owner];
        // Relaxed: only the owner writes it.
        let before = put.load(Relaxed);
        // Release: as the ring's `publish`.
        put.store(before + n, Release);
    }

    /// Takes half of what waits in the ring of `victim`, rounded up; how many that is.
    pub fn take_half(&self, victim: usize) -> u64 {
        self.take(victim, |waiting| waiting.div_ceil(2))
    }

    /// Takes the oldest in the ring of `owner`, if there is one.
    pub fn take_one(&self, owner: usize) -> bool {
        self.take(owner, |waiting| waiting.min(1)) > 0
    }

    fn take(&self, victim: usize, of: fn(u64) -> u64) -> u64 {
        let Ring { put, taken } = &self.rings[victim];
        loop {
            // Relaxed: the exchange has to find it unchanged.
            let head = taken.load(Relaxed);
            // Relaxed: what is taken has no data.
            let n = of(put.load(Relaxed).saturating_sub(head));
            // AcqRel: as the ring's `consume`.
            if n == 0 || taken.compare_exchange(head, head + n, AcqRel, Relaxed).is_ok() {
                return n;
            }
        }
    }

    /// How many wait in the ring of `owner`.
    pub fn len(&self, owner: usize) -> u64 {
        let Ring { put, taken } = &self.rings[owner];
        // Relaxed: the room's fence has to do. In this order, so that no more seem taken than were put.
        let head = taken.load(Relaxed);
        // Relaxed: as above.
        put.load(Relaxed).saturating_sub(head)
    }

    /// How many wait in the global queue; a hint unless the lock is held.
    pub fn globals(&self) -> u64 {
        // Acquire: as the kernel's `share`.
        self.global.load(Acquire)
    }

    /// Under the lock: puts one into the global queue.
    pub fn put_global(&self) {
        let before = self.globals();
        // Relaxed: written under the lock only.
        self.global.store(before + 1, Relaxed);
    }

    /// Under the lock: takes one out of the global queue, if there is one.
    pub fn take_global(&self) -> bool {
        let left = self.globals().checked_sub(1);
        // Relaxed: written under the lock only.
        left.into_iter().for_each(|left| self.global.store(left, Relaxed));
        left.is_some()
    }

    /// Under the lock: takes all of the global queue, one to run and the rest into the owner's ring. Was there any?
    pub fn take_batch(&self, owner: usize) -> bool {
        let Some(rest) = self.globals().checked_sub(1) else { return false };
        if rest > 0 {
            self.put(owner, rest);
        }
        // Release: as the kernel's `share`.
        self.global.store(0, Release);
        true
    }
}

impl<H: Host> Queues for Rings<H> {
    fn queued(&self) -> u64 {
        // In this order, as the kernel: Gs go from the global queue into a ring.
        let globals = self.globals();
        globals + (0..self.rings.len()).map(|owner| self.len(owner)).sum::<u64>()
    }
    fn idle_ps_are(&self, n: u32) {
        // Relaxed: as the kernel's.
        self.npidle.store(n, Relaxed);
    }
    fn npidle(&self) -> u32 {
        // Relaxed: as the kernel's.
        self.npidle.load(Relaxed)
    }
}
