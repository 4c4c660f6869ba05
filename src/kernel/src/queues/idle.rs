//! Idle Ps and sleeping Ms, under the scheduler's lock; how many and which Ps, readable without it.
//!
//! Go: `pidleput`, `pidleget`, `mput`, `mget`, `idlepMask`, `sched.npidle`.
//!
//! **A P is on the list exactly when its bit is set and it is counted, whenever the lock is free**; its queues were
//! empty when it was put there. A sleeping M has no P and no `nextp`.
//!
//! Both lists are last in, first out: the P whose caches are warm is used again.
//!
//! Checked by: verification/rooms/src/rooms/idle.rs

use crate::atomic::{Atomic, UnderLock};
use crate::host::{Host, Nanos};
use crate::types::m::MId;
use crate::types::p::{OwnedP, PId};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::Relaxed;

/// The idle Ps. Lives inside the scheduler's lock.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::{queues::idle::{IdleMask, IdlePs}, types::p::OwnedP};
/// fn come_and_go(idle: &mut IdlePs, p: OwnedP, mask: &IdleMask<Os>) -> Option<OwnedP> {
///     let id = p.id();
///     idle.put(p, mask);
///     assert!(mask.is_idle(id) && idle.agrees_with(mask));
///     idle.get(mask) // the P listed last
/// }
/// let (mut idle, mask) = (IdlePs::default(), IdleMask::<Os>::new(4));
/// assert!(idle.get(&mask).is_none() && idle.agrees_with(&mask)); // the scheduler alone has a P to list
/// # }
/// ```
#[derive(Debug, Default)]
pub struct IdlePs(Vec<OwnedP>);

/// How many and which Ps are idle, without the lock: a hint, exact only under it.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::{queues::idle::IdleMask, types::p::PId};
/// let mask = IdleMask::<Os>::new(4);
/// assert!(mask.npidle() == 0 && !mask.is_idle(PId(3)));
/// # }
/// ```
pub struct IdleMask<H: Host> {
    npidle: Atomic<H, u32, UnderLock>,
    bits: Box<[Atomic<H, u64, UnderLock>]>,
}

impl IdlePs {
    /// Lists `p`. Go: `pidleput`. The caller has checked that its queues are empty.
    pub fn put<H: Host>(&mut self, p: OwnedP, mask: &IdleMask<H>) {
        mask.set(p.id(), true);
        self.0.push(p);
        mask.count(self.0.len());
    }

    /// Takes the P listed last. Go: `pidleget`.
    pub fn get<H: Host>(&mut self, mask: &IdleMask<H>) -> Option<OwnedP> {
        let p = self.0.pop()?;
        mask.set(p.id(), false);
        mask.count(self.0.len());
        Some(p)
    }

    /// How many are listed.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Is none listed?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Do list, bits and count agree? Always, while the lock is held and no function of this file runs.
    pub fn agrees_with<H: Host>(&self, mask: &IdleMask<H>) -> bool {
        let listed = self.0.iter().all(|p| mask.is_idle(p.id()));
        // Relaxed: asked under the lock.
        let bits: u32 = mask.bits.iter().map(|word| word.load(Relaxed).count_ones()).sum();
        listed && bits as usize == self.0.len() && mask.npidle() == self.0.len()
    }
}

impl<H: Host> IdleMask<H> {
    /// For `procs` Ps, none of them idle.
    #[track_caller]
    pub fn new(procs: usize) -> Self {
        IdleMask { npidle: Atomic::new(0), bits: (0..procs.div_ceil(64)).map(|_| Atomic::new(0)).collect() }
    }

    /// How many Ps are idle; a hint unless the lock is held.
    #[inline]
    pub fn npidle(&self) -> usize {
        // Relaxed: a hint, it decides only whether to try.
        self.npidle.load(Relaxed) as usize
    }

    /// Is this P idle? A hint unless the lock is held. An idle P has nothing to steal.
    #[inline]
    pub fn is_idle(&self, p: PId) -> bool {
        // Relaxed: a hint. A thief that trusts it skips a P that was empty a moment ago.
        self.bits[p.index() / 64].load(Relaxed) >> (p.index() % 64) & 1 != 0
    }

    fn set(&self, p: PId, idle: bool) {
        let word = &self.bits[p.index() / 64];
        let bit = 1 << (p.index() % 64);
        // Relaxed: written under the lock only, so a load and a store do.
        let before = word.load(Relaxed);
        // Relaxed: as above.
        word.store(if idle { before | bit } else { before & !bit }, Relaxed);
    }

    fn count(&self, n: usize) {
        // Relaxed: written under the lock only.
        self.npidle.store(n as u32, Relaxed);
    }
}

/// The sleeping Ms, and since when they sleep. Lives inside the scheduler's lock.
///
/// ```
/// use spinpark_kernel::{queues::idle::SleepingMs, types::m::MId};
/// let mut sleeping = SleepingMs::default();
/// sleeping.put(MId(0), 100);
/// sleeping.put(MId(1), 200);
/// sleeping.put(MId(2), 300);
/// assert_eq!(sleeping.get(), Some(MId(2))); // the last, its caches are warm
/// assert_eq!(sleeping.next_to_end(), Some(100));
/// assert_eq!(sleeping.get_older(150), Some(MId(0)));
/// assert_eq!(sleeping.get_older(900), None); // the last one stays
/// ```
#[derive(Debug, Default)]
pub struct SleepingMs(VecDeque<(MId, Nanos)>);

impl SleepingMs {
    /// Lists `m`, which is about to sleep. Go: `mput`.
    #[inline]
    pub fn put(&mut self, m: MId, now: Nanos) {
        debug_assert!(self.0.iter().all(|(listed, _)| *listed != m), "idle: M{} is listed already", m.0);
        self.0.push_back((m, now));
    }

    /// Takes the M that fell asleep last. The caller wakes it. Go: `mget`.
    #[inline]
    pub fn get(&mut self) -> Option<MId> {
        self.0.pop_back().map(|(m, _)| m)
    }

    /// Takes an M that has slept since `before` or longer, to be ended; but never the last. Go ends none
    /// (golang/go #14592).
    #[inline]
    pub fn get_older(&mut self, before: Nanos) -> Option<MId> {
        self.next_to_end().filter(|since| *since <= before)?;
        self.0.pop_front().map(|(m, _)| m)
    }

    /// Since when the M sleeps that is to be ended next. `None`: one M sleeps, or none.
    pub fn next_to_end(&self) -> Option<Nanos> {
        if self.0.len() > 1 { self.0.front().map(|(_, since)| *since) } else { None }
    }

    /// How many sleep.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Is the list empty?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Drop for IdlePs {
    /// The scheduler ends, and its Ps with it.
    fn drop(&mut self) {
        for p in self.0.drain(..) {
            p.relinquish();
        }
    }
}
