//! The host that is real: the processor's atomics, the system's threads.
//!
//! Every method vanishes into the instruction it stands for; tests/codegen.rs compares the machine code.

use crate::host::{Host, Lock, Parker, SpawnError, Word};
use core::sync::atomic::Ordering::{Acquire, Release};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Real cores.
#[derive(Debug)]
pub struct Cores;

impl Host for Cores {
    type Word = AtomicU64;
    type Lock<T: Send + 'static> = Mutex<T>;
    type Parker = Bed;

    #[inline(always)]
    fn fence(order: Ordering) {
        core::sync::atomic::fence(order);
    }

    /// 20 to 140 cycles a hint on x86, so about a microsecond in all.
    #[inline]
    fn relax() {
        for _ in 0..32 {
            core::hint::spin_loop();
        }
    }

    #[inline]
    fn choose(n: usize) -> usize {
        // The high half of the product: below `n`, without a division.
        ((u128::from(draw()) * n as u128) >> u64::BITS) as usize
    }

    fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
        match thread::Builder::new().name(name.into()).spawn(body) {
            Ok(_detached) => Ok(()),
            Err(error) => Err(SpawnError { os_error: error.raw_os_error() }),
        }
    }
}

impl Word for AtomicU64 {
    #[inline(always)]
    fn new(value: u64) -> Self {
        AtomicU64::new(value)
    }
    #[inline(always)]
    fn load(&self, order: Ordering) -> u64 {
        AtomicU64::load(self, order)
    }
    #[inline(always)]
    fn store(&self, value: u64, order: Ordering) {
        AtomicU64::store(self, value, order);
    }
    #[inline(always)]
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        AtomicU64::swap(self, value, order)
    }
    #[inline(always)]
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        AtomicU64::fetch_add(self, value, order)
    }
    #[inline(always)]
    fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64> {
        AtomicU64::compare_exchange(self, current, new, success, failure)
    }
}

impl<T: Send + 'static> Lock<T> for Mutex<T> {
    #[inline]
    fn new(value: T) -> Self {
        Mutex::new(value)
    }
    /// A panic of whoever held it is not passed on: it has been reported where it happened.
    #[inline]
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Nobody sleeps, nothing is remembered.
const EMPTY: u32 = 0;
/// The next `park` returns at once.
const NOTIFIED: u32 = EMPTY + 1;
/// The sleeper sleeps, or is about to.
const PARKED: u32 = EMPTY.wrapping_sub(1);

/// Where a thread sleeps: one futex word. Go: `note`, `notesleep`, `notewakeup`.
///
/// | who wakes, in [`unpark`](Parker::unpark) | who sleeps, in [`park`](Parker::park)        |
/// |------------------------------------------|----------------------------------------------|
/// | 1. `token` becomes NOTIFIED              | 1. takes one off `token`: was NOTIFIED? done |
/// | 2. it was PARKED: wakes the sleeper      | 2. waits while `token` is PARKED             |
/// |                                          | 3. `token` becomes EMPTY                     |
///
/// Pair `token`. All of them are read-modify-writes, so one that reads the second of two `unpark`s acquires both.
#[derive(Debug)]
pub struct Bed {
    token: AtomicU32,
}

impl Parker for Bed {
    #[inline]
    fn new() -> Self {
        Bed { token: AtomicU32::new(EMPTY) }
    }

    #[inline]
    fn park(&self) {
        // One step from NOTIFIED to EMPTY, or from EMPTY to PARKED.
        // Acquire: `token`, sleeper's half, on the way out without sleep.
        if self.token.fetch_sub(1, Acquire) == NOTIFIED {
            return;
        }
        // May return for no reason, and so may we.
        atomic_wait::wait(&self.token, PARKED);
        // Acquire: `token`, sleeper's half, on the way out after sleep.
        self.token.swap(EMPTY, Acquire);
    }

    #[inline]
    fn unpark(&self) {
        // Release: `token`, waker's half.
        if self.token.swap(NOTIFIED, Release) == PARKED {
            atomic_wait::wake_one(&self.token);
        }
    }
}

/// A random number, from a generator of this thread's own (wyrand). Go: `cheaprand`.
#[inline]
fn draw() -> u64 {
    thread_local! {
        static STATE: Cell<u64> = const { Cell::new(0) };
    }
    // 0 is a state like any other, and means "not seeded" once in 2^64 draws more than it should.
    let state = STATE.get();
    let state = if state == 0 { RandomState::new().hash_one(thread::current().id()) } else { state };
    let state = state.wrapping_add(0xa076_1d64_78bd_642f);
    STATE.set(state);
    let product = u128::from(state) * u128::from(state ^ 0xe703_7ed1_a0b4_28db);
    (product >> u64::BITS) as u64 ^ product as u64
}

static_assertions::assert_impl_all!(crate::kernel::sched::Sched<Cores>: Send, Sync);

#[cfg(test)]
mod tests {
    use super::*;

    mod a_bed {
        use super::*;
        use std::sync::Arc;

        #[test]
        fn remembers_one_unpark() {
            let bed = Bed::new();
            bed.unpark();
            bed.unpark();
            bed.park();
            assert_eq!(bed.token.into_inner(), EMPTY, "the second unpark was remembered too");
        }

        #[test]
        fn is_left_when_another_thread_unparks() {
            let bed = Arc::new(Bed::new());
            let sleeper = thread::spawn({
                let bed = Arc::clone(&bed);
                move || bed.park()
            });
            bed.unpark();
            sleeper.join().expect("the sleeper panicked");
        }
    }

    mod a_choice {
        use super::*;

        #[test]
        fn is_below_n_and_reaches_every_number() {
            for n in 1..20 {
                let mut seen = vec![false; n];
                for _ in 0..n * 1000 {
                    seen[Cores::choose(n)] = true;
                }
                assert!(seen.into_iter().all(|seen| seen), "some number below {n} never came");
            }
        }
    }
}
