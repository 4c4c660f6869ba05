//! Where a thread sleeps on real cores: the system's futex under [`waits::parker`](crate::waits::parker). A sleep that ends by time
//! is each platform's own, in a file of its own.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(test, not(target_os = "linux")))]
mod slices;

use crate::host::{Nanos, Parker};
use crate::runtime::observe::spans;
use crate::waits::parker::{self, FutexWord};
use core::sync::atomic::{AtomicU32, Ordering};
#[cfg(target_os = "linux")]
use linux::wait_timeout;
#[cfg(not(target_os = "linux"))]
use slices::wait_timeout;
use std::time::Duration;

/// Where a thread sleeps: one futex word. Go: `note`, `notesleep`, `notewakeup`.
#[derive(Debug)]
pub struct FutexParker(parker::FutexParker<Futex>);

/// A word that the system knows.
#[derive(Debug)]
struct Futex(AtomicU32);

impl FutexWord for Futex {
    #[inline(always)]
    fn new(value: u32) -> Self {
        Futex(AtomicU32::new(value))
    }
    #[inline(always)]
    fn swap(&self, value: u32, order: Ordering) -> u32 {
        self.0.swap(value, order)
    }
    #[inline(always)]
    fn fetch_sub(&self, value: u32, order: Ordering) -> u32 {
        self.0.fetch_sub(value, order)
    }
    #[inline(always)]
    fn wait(&self, expected: u32) {
        atomic_wait::wait(&self.0, expected);
    }
    #[inline(always)]
    fn wait_timeout(&self, expected: u32, nanos: Nanos) {
        wait_timeout(&self.0, expected, Duration::from_nanos(nanos));
    }
    #[inline(always)]
    fn wake_one(&self) {
        atomic_wait::wake_one(&self.0);
    }
}

impl Parker for FutexParker {
    #[inline]
    fn new() -> Self {
        FutexParker(parker::FutexParker::new())
    }

    #[inline]
    fn park(&self) {
        spans::say_reported();
        self.0.park();
    }

    #[inline]
    fn park_timeout(&self, nanos: Nanos) {
        spans::say_reported();
        self.0.park_timeout(nanos);
    }

    #[inline]
    fn unpark(&self) {
        spans::say_reported();
        self.0.unpark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Host;
    use crate::runtime::host::cores::Cores;
    use crate::waits::parker::{EMPTY, PARKED};
    use core::sync::atomic::Ordering::Relaxed;
    use std::thread;

    /// What is in its word.
    fn token(parker: &FutexParker) -> u32 {
        parker.0.word().0.load(Relaxed)
    }

    mod a_parker {
        use super::*;
        use std::sync::Arc;

        #[test]
        fn remembers_one_unpark() {
            let parker = FutexParker::new();
            parker.unpark();
            parker.unpark();
            parker.park();
            assert_eq!(token(&parker), EMPTY, "the second unpark was remembered too");
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
            parker.0.park_by(|word| slices::wait_timeout(&word.0, PARKED, Duration::from_nanos(nanos)));
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
                assert_eq!(token(&parker), EMPTY, "a thread still sleeps");
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
                while token(&parker) != PARKED && !sleeper.is_finished() {
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
                assert_eq!(token(&parker), EMPTY, "the second unpark was remembered too");
                // Nothing is left over for the next.
                park(&parker, 1);
                assert_eq!(token(&parker), EMPTY, "a thread still sleeps");
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
