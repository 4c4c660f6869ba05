//! When some of the tasks became runnable that have not run since.
//!
//! Go: `gTrackingPeriod`, which keeps the moment in the G. Here a task has no place for it, as hardly anybody asks; so
//! there is a table for all runtimes, by the task's address. A task whose place in it is taken is not measured.
//!
//! The thread that queues or runs a task has it alone, and what was written for it travels with it through the queues. So of two
//! that meet at a place, each finds its own address there or another's, and never believes the other's.

use crate::host::Nanos;
use crate::runtime::host::cheaprand::random_below;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU64, AtomicUsize};

/// How many there can be.
const PLACES: usize = 1024;
/// After so long, a task is taken for one that was dropped before it ran.
const LONG: Nanos = 60_000_000_000;

struct Place {
    /// Of the task; 0: free.
    address: AtomicU64,
    since: AtomicU64,
}

static TABLE: [Place; PLACES] = [const { Place { address: AtomicU64::new(0), since: AtomicU64::new(0) } }; PLACES];

/// How many runtimes of this process measure times.
static TIMED: AtomicUsize = AtomicUsize::new(0);

/// Tasks are measured, as long as this lives.
pub(in crate::runtime) struct Timed(());

impl Timed {
    pub(in crate::runtime) fn new() -> Timed {
        // Relaxed: a runtime that has just been built may miss a task or two.
        TIMED.fetch_add(1, Relaxed);
        Timed(())
    }
}

impl Drop for Timed {
    fn drop(&mut self) {
        // Relaxed: as in `new`.
        TIMED.fetch_sub(1, Relaxed);
    }
}

/// The task at this address becomes runnable now, by `clock`; at random, one in eight is measured. (In turn, the same task might come
/// every time.)
#[inline(always)]
pub(in crate::runtime) fn readied(address: u64, clock: fn() -> Nanos) {
    // Relaxed: as in `Timed::new`.
    if TIMED.load(Relaxed) > 0 {
        place_of(address).put(address, (random_below(8) == 0).then(clock));
    }
}

/// When the task at this address became runnable, if it is measured. It runs now.
#[inline(always)]
pub(in crate::runtime) fn begins(address: u64) -> Option<Nanos> {
    place_of(address).take(address)
}

/// Neighbours in memory are far from each other here.
#[inline(always)]
fn place_of(address: u64) -> &'static Place {
    let mixed = address.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    &TABLE[(mixed >> (u64::BITS - PLACES.ilog2())) as usize]
}

impl Place {
    #[cold]
    fn put(&self, address: u64, now: Option<Nanos>) {
        // One that was here before, at the same address, and never ran.
        self.take(address);
        let Some(now) = now else { return };
        // Relaxed: the exchange decides.
        let before = self.address.load(Relaxed);
        // Relaxed: a guess of how long a thread has been there.
        if before != 0 && now.saturating_sub(self.since.load(Relaxed)) < LONG {
            return;
        }
        // Relaxed: what is written for a task travels with the task.
        if self.address.compare_exchange(before, address, Relaxed, Relaxed).is_ok() {
            // Relaxed: as above.
            self.since.store(now, Relaxed);
        }
    }

    #[inline(always)]
    fn take(&self, address: u64) -> Option<Nanos> {
        // Relaxed: what was written for this task came with it.
        if self.address.load(Relaxed) != address {
            return None;
        }
        // Relaxed: as above.
        let since = self.since.load(Relaxed);
        // Relaxed: as above. It fails if the place was given to another.
        self.address.compare_exchange(address, 0, Relaxed, Relaxed).ok().map(|_| since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Host;
    use crate::runtime::host::cores::Cores;

    fn place() -> Place {
        Place { address: AtomicU64::new(0), since: AtomicU64::new(0) }
    }

    mod a_place {
        use super::*;

        #[test]
        fn keeps_one_moment_until_it_is_taken() {
            let place = place();
            let before = Cores::now();
            place.put(8, Some(Cores::now()));
            place.put(16, Some(Cores::now())); // there is no room
            assert_eq!(place.take(16), None);
            assert!(place.take(8).is_some_and(|since| since >= before));
            assert_eq!(place.take(8), None);
            place.put(16, Some(Cores::now()));
            assert!(place.take(16).is_some());
        }

        #[test]
        fn forgets_who_was_dropped_and_whose_address_is_used_again() {
            let place = place();
            place.put(8, Some(Cores::now()));
            place.put(8, None);
            assert_eq!(place.take(8), None, "an old moment was kept");
        }

        #[test]
        fn is_given_to_another_after_a_minute() {
            let place = place();
            place.address.store(8, Relaxed);
            place.since.store(Cores::now() - LONG, Relaxed);
            place.put(16, Some(Cores::now()));
            assert_eq!(place.address.load(Relaxed), 16);
        }
    }
}
