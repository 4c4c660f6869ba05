//! The host that is real: the processor's atomics, the system's threads.
//!
//! Every method vanishes into the instruction it stands for; tests/codegen.rs compares the machine code.

use crate::host::{Host, Lock, Nanos, Parker, SpawnError, Word};
use crate::runtime::host::foreign_threads::Known;
use crate::runtime::host::{sim, template, thread_config};
use crate::runtime::observe::spans;
#[cfg(any(test, not(target_os = "linux")))]
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::Ordering::{Acquire, Release};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Real cores.
#[derive(Debug)]
pub struct Cores;

impl Host for Cores {
    type Word = AtomicU64;
    type Lock<T: Send + 'static> = Mutex<T>;
    type Parker = FutexParker;

    #[inline(always)]
    fn fence(order: Ordering) {
        core::sync::atomic::fence(order);
    }

    /// 20 to 140 cycles a hint on x86, so about a microsecond in all.
    #[inline]
    fn relax() {
        if sim::is_here() {
            return sim::relax();
        }
        for _ in 0..32 {
            core::hint::spin_loop();
        }
    }

    #[inline]
    fn choose(n: usize) -> usize {
        if sim::is_here() {
            return sim::choose(n);
        }
        random_below(n)
    }

    /// Since it was first asked. 64 bits last for 584 years.
    #[inline]
    fn now() -> Nanos {
        static START: OnceLock<Instant> = OnceLock::new();
        if let Some(now) = sim::now() {
            return now;
        }
        START.get_or_init(Instant::now).elapsed().as_nanos() as Nanos
    }

    fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
        let wanted = thread_config::Wanted::take(name);
        if wanted.is_simulated() {
            return sim::spawn(name, wanted.stack(), body);
        }
        let known = Known::new();
        let body = move || {
            let _known = known;
            body();
        };
        match template::spawn(wanted.builder(), body) {
            Ok(()) => Ok(()),
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
        spans::tell_later();
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
        self.sleep(|token| {
            if !sim::parks(address(token), None) {
                atomic_wait::wait(token, PARKED);
            }
        });
    }

    #[inline]
    fn park_timeout(&self, nanos: Nanos) {
        self.sleep(|token| {
            if !sim::parks(address(token), Some(nanos)) {
                wait_timeout(token, Duration::from_nanos(nanos));
            }
        });
    }

    #[inline]
    fn unpark(&self) {
        spans::tell_later();
        // Release: `token`, waker's half.
        if self.token.swap(NOTIFIED, Release) == PARKED && !sim::unparks(address(&self.token)) {
            atomic_wait::wake_one(&self.token);
        }
    }
}

/// What a simulated sleeper is found by.
fn address(token: &AtomicU32) -> usize {
    core::ptr::from_ref(token).addr()
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

/// Any number below `n`, which decides nothing that a deterministic runtime has to decide again in the same way.
#[inline]
pub(in crate::runtime) fn random_below(n: usize) -> usize {
    // The high half of the product: below `n`, without a division.
    ((u128::from(draw()) * n as u128) >> u64::BITS) as usize
}

/// A random number, from a generator of this thread's own. Go: `cheaprand`.
#[inline]
fn draw() -> u64 {
    thread_local! {
        static STATE: Cell<u64> = const { Cell::new(0) };
    }
    // 0 is a state like any other, and means "not seeded" once in 2^64 draws more than it should.
    let state = STATE.get();
    let state = if state == 0 { RandomState::new().hash_one(thread::current().id()) } else { state };
    let (state, drawn) = wyrand(state);
    STATE.set(state);
    drawn
}

/// The next state of the generator, and what it gives.
#[inline]
pub(in crate::runtime) fn wyrand(state: u64) -> (u64, u64) {
    let state = state.wrapping_add(0xa076_1d64_78bd_642f);
    let product = u128::from(state) * u128::from(state ^ 0xe703_7ed1_a0b4_28db);
    (state, (product >> u64::BITS) as u64 ^ product as u64)
}

static_assertions::assert_impl_all!(crate::kernel::sched::Sched<Cores>: Send, Sync);

#[cfg(test)]
mod tests {
    use super::*;

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

    mod the_time {
        use super::*;
        use std::sync::Arc;

        #[test]
        fn never_goes_back() {
            let last = Arc::new(AtomicU64::new(0));
            let watch = |last: Arc<AtomicU64>| {
                move || {
                    for _ in 0..10_000 {
                        // Acquire: whoever was here last asked for the time before.
                        let before = last.load(Acquire);
                        let now = Cores::now();
                        assert!(now >= before, "it was {before} and is {now}");
                        last.fetch_max(now, Ordering::AcqRel);
                    }
                }
            };
            let watchers: Vec<_> = (0..4).map(|_| thread::spawn(watch(Arc::clone(&last)))).collect();
            watchers.into_iter().for_each(|watcher| watcher.join().expect("time went back"));
            assert!(last.load(Acquire) > 0, "time stands still");
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
