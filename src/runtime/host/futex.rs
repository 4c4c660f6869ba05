//! Where a thread sleeps: one futex word. Go: `note`, `notesleep`, `notewakeup`.

use crate::host::{Nanos, Parker};
use crate::runtime::observe::spans;
use core::sync::atomic::AtomicU32;
#[cfg(any(test, not(target_os = "linux")))]
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::Ordering::{Acquire, Release};
#[cfg(any(test, not(target_os = "linux")))]
use std::thread;
use std::time::Duration;
#[cfg(any(test, not(target_os = "linux")))]
use std::time::Instant;

/// Nobody sleeps, nothing is remembered.
const EMPTY: u32 = 0;
/// The next `park` returns at once.
const NOTIFIED: u32 = EMPTY + 1;
/// The sleeper sleeps, or is about to.
const PARKED: u32 = EMPTY.wrapping_sub(1);

/// Where a thread sleeps: one futex word. Go: `note`, `notesleep`, `notewakeup`.
///
/// | the waker, in [`unpark`](Parker::unpark) | the sleeper, in [`park`](Parker::park)       |
/// |------------------------------------------|----------------------------------------------|
/// | 1. `token` becomes NOTIFIED              | 1. takes one off `token`: was NOTIFIED? done |
/// | 2. it was PARKED: wakes the sleeper      | 2. waits while `token` is PARKED, or a time  |
/// |                                          | 3. `token` becomes EMPTY                     |
///
/// Pair `token`. All of them are read-modify-writes, so one that reads the second of two `unpark`s acquires both.
#[derive(Debug)]
pub struct FutexParker {
    token: AtomicU32,
}

impl FutexParker {
    /// The sleeper's steps; the second, which may end spuriously, is `wait`.
    #[inline]
    fn sleep(&self, wait: impl FnOnce(&AtomicU32)) {
        spans::say_reported();
        // One step from NOTIFIED to EMPTY, or from EMPTY to PARKED.
        // Acquire: `token`, sleeper's half, on the way out without sleep.
        if self.token.fetch_sub(1, Acquire) == NOTIFIED {
            return;
        }
        wait(&self.token);
        // Acquire: `token`, sleeper's half, on the way out after sleep. Also when the time was over first: an `unpark`
        // that came since then is taken here.
        self.token.swap(EMPTY, Acquire);
    }
}

impl Parker for FutexParker {
    #[inline]
    fn new() -> Self {
        FutexParker { token: AtomicU32::new(EMPTY) }
    }

    #[inline]
    fn park(&self) {
        self.sleep(|token| atomic_wait::wait(token, PARKED));
    }

    #[inline]
    fn park_timeout(&self, nanos: Nanos) {
        self.sleep(|token| wait_timeout(token, Duration::from_nanos(nanos)));
    }

    #[inline]
    fn unpark(&self) {
        spans::say_reported();
        // Release: `token`, waker's half.
        if self.token.swap(NOTIFIED, Release) == PARKED {
            atomic_wait::wake_one(&self.token);
        }
    }
}

/// Waits while `token` is PARKED, for `time` at the most.
#[cfg(target_os = "linux")]
fn wait_timeout(token: &AtomicU32, time: Duration) {
    use rustix::thread::futex::{Flags, Timespec, wait};
    // 64 bits of nanoseconds always fit.
    let time = Timespec::try_from(time).ok();
    // Private, as atomic_wait's are: else its `wake_one` would not find us. Not PARKED any more, time over, a signal:
    // the sleeper goes on in the same way, so which of them it was is not looked at.
    let _ = wait(token, Flags::PRIVATE, PARKED, time.as_ref());
}

#[cfg(not(target_os = "linux"))]
use wait_in_slices as wait_timeout;

/// The same by short sleeps, where there is no futex with a timeout. In tests everywhere.
#[cfg(any(test, not(target_os = "linux")))]
fn wait_in_slices(token: &AtomicU32, time: Duration) {
    const SLICE: Duration = Duration::from_millis(1);
    let start = Instant::now();
    // Relaxed: the sleeper acquires when it takes the token.
    while token.load(Relaxed) == PARKED {
        let left = time.saturating_sub(start.elapsed());
        if left.is_zero() {
            return;
        }
        thread::sleep(left.min(SLICE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Host;
    use crate::runtime::host::cores::Cores;

    mod a_parker {
        use super::*;
        use std::sync::Arc;

        #[test]
        fn remembers_one_unpark() {
            let parker = FutexParker::new();
            parker.unpark();
            parker.unpark();
            parker.park();
            assert_eq!(parker.token.into_inner(), EMPTY, "the second unpark was remembered too");
        }

        #[test]
        fn is_left_when_another_thread_unparks() {
            let parker = Arc::new(FutexParker::new());
            let sleeper = thread::spawn({
                let parker = Arc::clone(&parker);
                move || parker.park()
            });
            parker.unpark();
            sleeper.join().expect("the sleeper panicked");
        }

        const AN_HOUR: Nanos = 3_600_000_000_000;

        /// Both ways to wait for a time.
        const WAYS: [fn(&FutexParker, Nanos); 2] = [FutexParker::park_timeout, |parker, nanos| {
            parker.sleep(|token| wait_in_slices(token, Duration::from_nanos(nanos)))
        }];

        #[test]
        fn is_left_when_the_time_is_over() {
            for park in WAYS {
                let parker = FutexParker::new();
                // It may wake spuriously, but not every time.
                let takes_its_time = |nanos| {
                    let before = Cores::now();
                    park(&parker, nanos);
                    Cores::now() - before >= nanos
                };
                assert!((0..100).any(|_| takes_its_time(2_500_000)), "it never slept");
                assert_eq!(parker.token.into_inner(), EMPTY, "somebody still sleeps");
            }
        }

        #[test]
        fn is_left_before_the_time_is_over_when_another_thread_unparks() {
            for (park, round) in WAYS.into_iter().flat_map(|park| (0..20).map(move |round| (park, round))) {
                let parker = Arc::new(FutexParker::new());
                let sleeper = thread::spawn({
                    let parker = Arc::clone(&parker);
                    move || park(&parker, AN_HOUR)
                });
                while parker.token.load(Relaxed) != PARKED && !sleeper.is_finished() {
                    thread::yield_now();
                }
                // Before it sleeps, or, more likely, after that.
                thread::sleep(Duration::from_micros(100 * (round % 10)));
                parker.unpark();
                sleeper.join().expect("the sleeper panicked");
            }
        }

        #[test]
        fn remembers_one_unpark_for_a_sleep_of_some_time_too() {
            for park in WAYS {
                let parker = FutexParker::new();
                parker.unpark();
                parker.unpark();
                park(&parker, AN_HOUR);
                assert_eq!(parker.token.load(Relaxed), EMPTY, "the second unpark was remembered too");
                // Nothing is left over for the next.
                park(&parker, 1);
                assert_eq!(parker.token.into_inner(), EMPTY, "somebody still sleeps");
            }
        }

        #[test]
        fn is_left_at_once_if_there_is_no_time() {
            for park in WAYS {
                park(&FutexParker::new(), 0);
            }
        }
    }
}
