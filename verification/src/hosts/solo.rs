//! A host for one thread; also the smallest example of a host of one's own.
//!
//! Nothing here waits: what would have to wait for another thread, waits forever, so it panics and says so. The same
//! for a loop that reads and reads and never writes: on one thread, no other will change what it reads.
//!
//! Every memory ordering is ignored and `Relaxed` used instead: one thread sees its own accesses in the order of its
//! text. A host with threads must pass on the orderings it is given.

use spinpark_kernel::host::{self, Host, Nanos, SpawnError};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{self, Relaxed};
use std::sync::{Mutex, TryLockError};

/// One thread, alone.
#[derive(Debug)]
pub struct Solo;

/// A word that only one thread uses. Atomic only because the seam asks for `Sync`.
#[derive(Debug)]
pub struct Word(AtomicU64);

/// A lock that is never contended: to find it taken means that it was entered from inside.
#[derive(Debug)]
pub struct Lock<T>(Mutex<T>);

/// A thread may park for a time only: there is no other thread to unpark it.
#[derive(Debug)]
pub struct Parker(AtomicU64);

thread_local! {
    static CHOICES: RefCell<Choices> = const { RefCell::new(Choices { dictated: VecDeque::new(), state: 0 }) };
    /// How many reads in a row since the last write.
    static READS: Cell<u32> = const { Cell::new(0) };
    static CLOCK: Cell<Nanos> = const { Cell::new(0) };
}

/// More reads than this, and no write between them, are an endless loop.
const TOO_MANY_READS: u32 = 1_000_000;

#[track_caller]
fn has_read() {
    let reads = READS.get() + 1;
    READS.set(reads % TOO_MANY_READS);
    assert!(reads < TOO_MANY_READS, "solo: {reads} reads and no write: waits for another thread, and there is none");
}

fn has_written() {
    READS.set(0);
}

struct Choices {
    dictated: VecDeque<usize>,
    state: u64,
}

impl Solo {
    /// From now on, on this thread, [`choose`](Host::choose) draws the numbers that belong to `seed`.
    pub fn seed(seed: u64) {
        CHOICES.with_borrow_mut(|c| *c = Choices { dictated: VecDeque::new(), state: seed });
    }

    /// The next choices on this thread, each modulo the number there is to choose from; after them, the drawn ones.
    pub fn dictate(choices: &[usize]) {
        CHOICES.with_borrow_mut(|c| c.dictated = choices.iter().copied().collect());
    }

    /// From now on, on this thread, it is moment 0, and what is drawn belongs to seed 0.
    pub fn reset() {
        Solo::seed(0);
        READS.set(0);
        CLOCK.set(0);
    }

    /// So much time passes on this thread. It does not pass by itself.
    pub fn pass(nanos: Nanos) {
        CLOCK.set(CLOCK.get().saturating_add(nanos));
    }
}

impl Host for Solo {
    type Word = Word;
    type Lock<T: Send + 'static> = Lock<T>;
    type Parker = Parker;

    fn fence(_: Ordering) {}

    fn relax() {}

    fn choose(n: usize) -> usize {
        CHOICES.with_borrow_mut(|c| match c.dictated.pop_front() {
            Some(dictated) => dictated % n,
            None => {
                // SplitMix64.
                c.state = c.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let z = (c.state ^ (c.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                ((z ^ (z >> 31)) % n as u64) as usize
            }
        })
    }

    fn now() -> Nanos {
        CLOCK.get()
    }

    fn spawn(_: &str, _: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
        Err(SpawnError { os_error: None })
    }
}

impl host::Word for Word {
    fn new(value: u64) -> Self {
        has_written();
        Word(AtomicU64::new(value))
    }
    #[track_caller]
    fn load(&self, _: Ordering) -> u64 {
        has_read();
        self.0.load(Relaxed)
    }
    fn store(&self, value: u64, _: Ordering) {
        has_written();
        self.0.store(value, Relaxed);
    }
    fn swap(&self, value: u64, _: Ordering) -> u64 {
        has_written();
        self.0.swap(value, Relaxed)
    }
    fn fetch_add(&self, value: u64, _: Ordering) -> u64 {
        has_written();
        self.0.fetch_add(value, Relaxed)
    }
    #[track_caller]
    fn compare_exchange(&self, current: u64, new: u64, _: Ordering, _: Ordering) -> Result<u64, u64> {
        let found = self.0.compare_exchange(current, new, Relaxed, Relaxed);
        if found.is_ok() {
            has_written()
        } else {
            has_read()
        }
        found
    }
}

impl<T: Send + 'static> host::Lock<T> for Lock<T> {
    fn new(value: T) -> Self {
        Lock(Mutex::new(value))
    }
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        match self.0.try_lock() {
            Ok(mut value) => f(&mut value),
            // A test that failed inside the lock still wants to look.
            Err(TryLockError::Poisoned(value)) => f(&mut value.into_inner()),
            Err(TryLockError::WouldBlock) => panic!("solo: the lock was entered again from inside"),
        }
    }
}

impl host::Parker for Parker {
    fn new() -> Self {
        Parker(AtomicU64::new(0))
    }
    fn park(&self) {
        assert!(self.0.swap(0, Relaxed) == 1, "solo: parked, and there is no thread to unpark it");
    }
    /// No thread unparks meanwhile, so the time is over at once.
    fn park_timeout(&self, nanos: Nanos) {
        if self.0.swap(0, Relaxed) == 0 {
            Solo::pass(nanos);
        }
    }
    fn unpark(&self) {
        self.0.store(1, Relaxed);
    }
}
