//! `Count<H>`: counts what is asked of a host. What an operation costs is a claim that a model can refute: a wake-up for
//! nothing, or a lock that need not be entered, breaks no order, so no other model sees it.
//!
//! All threads of an execution are counted together, since they take turns on one thread of the machine.

use crate::hosts::model_host::ModelHost;
use spinpark_kernel::host::{self, Host, Nanos, SpawnError};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Sub;
use std::sync::atomic::Ordering;

/// How often a host was asked for what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Words read.
    pub loads: u64,
    /// Words written.
    pub stores: u64,
    /// Words exchanged or added to, failures included.
    pub rmws: u64,
    /// Fences.
    pub fences: u64,
    /// Locks entered.
    pub locks: u64,
    /// Parkers woken.
    pub wakes: u64,
    /// Threads asked for.
    pub spawns: u64,
}

thread_local! {
    static COUNTS: Cell<Counts> = const { Cell::new(Counts::NONE) };
    /// How many locks had been entered at the last fence.
    static LOCKS_THEN: Cell<u64> = const { Cell::new(0) };
}

impl Counts {
    /// Nothing.
    pub const NONE: Counts = Counts { loads: 0, stores: 0, rmws: 0, fences: 0, locks: 0, wakes: 0, spawns: 0 };

    /// What `act` asks for.
    pub fn of<T>(act: impl FnOnce() -> T) -> (T, Counts) {
        let before = COUNTS.get();
        let done = act();
        (done, COUNTS.get() - before)
    }

    /// So many locks were entered since the last fence. What is queued under a lock, and has to be seen by an M that
    /// looks behind a fence, needs one after it.
    pub fn locks_since_a_fence() -> u64 {
        COUNTS.get().locks - LOCKS_THEN.get()
    }

    /// Is nothing more than in `most`?
    pub fn is_within(self, most: Counts) -> bool {
        let each = |counts: Counts| {
            let Counts { loads, stores, rmws, fences, locks, wakes, spawns } = counts;
            [loads, stores, rmws, fences, locks, wakes, spawns]
        };
        each(self).into_iter().zip(each(most)).all(|(found, most)| found <= most)
    }
}

impl Sub for Counts {
    type Output = Counts;

    fn sub(self, before: Counts) -> Counts {
        Counts {
            loads: self.loads - before.loads,
            stores: self.stores - before.stores,
            rmws: self.rmws - before.rmws,
            fences: self.fences - before.fences,
            locks: self.locks - before.locks,
            wakes: self.wakes - before.wakes,
            spawns: self.spawns - before.spawns,
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { loads, stores, rmws, fences, locks, wakes, spawns } = self;
        write!(f, "{loads} loads, {stores} stores, {rmws} rmws, {fences} fences, {locks} locks, ")?;
        write!(f, "{wakes} wakes, {spawns} spawns")
    }
}

fn count(of: fn(&mut Counts) -> &mut u64) {
    let mut counts = COUNTS.get();
    *of(&mut counts) += 1;
    COUNTS.set(counts);
}

/// Host `H`, counted.
pub struct Count<H>(PhantomData<fn() -> H>);

/// A word of `H`'s.
pub struct Word<H: Host>(H::Word);

impl<H: Host> host::Word for Word<H> {
    #[track_caller]
    fn new(value: u64) -> Self {
        Word(H::Word::new(value))
    }
    #[track_caller]
    fn with_ordered_writes(self) -> Self {
        Word(self.0.with_ordered_writes())
    }
    #[track_caller]
    fn load(&self, order: Ordering) -> u64 {
        count(|counts| &mut counts.loads);
        self.0.load(order)
    }
    #[track_caller]
    fn store(&self, value: u64, order: Ordering) {
        count(|counts| &mut counts.stores);
        self.0.store(value, order);
    }
    #[track_caller]
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        count(|counts| &mut counts.rmws);
        self.0.swap(value, order)
    }
    #[track_caller]
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        count(|counts| &mut counts.rmws);
        self.0.fetch_add(value, order)
    }
    #[track_caller]
    fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64> {
        count(|counts| &mut counts.rmws);
        self.0.compare_exchange(current, new, success, failure)
    }
}

/// A lock of `H`'s.
pub struct Lock<H: Host, T: Send + 'static>(H::Lock<T>);

impl<H: Host, T: Send + 'static> host::Lock<T> for Lock<H, T> {
    fn new(value: T) -> Self {
        Lock(H::Lock::new(value))
    }
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        count(|counts| &mut counts.locks);
        self.0.with(f)
    }
}

/// A parker of `H`'s.
pub struct Parker<H: Host>(H::Parker);

impl<H: Host> host::Parker for Parker<H> {
    fn new() -> Self {
        Parker(H::Parker::new())
    }
    #[track_caller]
    fn park(&self) {
        self.0.park();
    }
    #[track_caller]
    fn park_timeout(&self, nanos: Nanos) {
        self.0.park_timeout(nanos);
    }
    #[track_caller]
    fn unpark(&self) {
        count(|counts| &mut counts.wakes);
        self.0.unpark();
    }
}

impl<H: Host> Host for Count<H> {
    type Word = Word<H>;
    type Lock<T: Send + 'static> = Lock<H, T>;
    type Parker = Parker<H>;
    const UNWINDS_TO_END: bool = H::UNWINDS_TO_END;

    #[track_caller]
    fn fence(order: Ordering) {
        count(|counts| &mut counts.fences);
        LOCKS_THEN.set(COUNTS.get().locks);
        H::fence(order);
    }

    host_as_beneath!();

    #[track_caller]
    fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
        count(|counts| &mut counts.spawns);
        H::spawn(name, body)
    }
}

impl<H: ModelHost> ModelHost for Count<H> {
    const IS_REAL: bool = H::IS_REAL;
    type Cell<T: Copy + Send + 'static> = H::Cell<T>;

    threads_as_beneath!();
}
