//! `Jitter<H>`: widens windows on real cores. Now and then an access is followed by a pause, so that the few
//! nanoseconds in which a race can happen become microseconds.
//!
//! Go has one such window under `debugExtendGrunningNoP`; here it is every access.

use crate::hosts::model_host::ModelHost;
use spinpark_kernel::host::{self, Host, Nanos, SpawnError};
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

/// One access in this many is followed by a pause.
const ONE_IN: u64 = 128;

thread_local! {
    static SEED: Cell<u64> = Cell::new(NEXT_SEED.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed) | 1);
}

/// A seed for each thread.
static NEXT_SEED: AtomicU64 = AtomicU64::new(0x9E37_79B9_7F4A_7C15);

/// Pauses, rarely; now and then long enough for another thread to get the core.
fn jitter() {
    // xorshift64: enough to be irregular.
    let mut x = SEED.get();
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    SEED.set(x);
    match x % (ONE_IN * 16) {
        0 => std::thread::yield_now(),
        n if n.is_multiple_of(ONE_IN) => (0..n / ONE_IN * 8).for_each(|_| std::hint::spin_loop()),
        _ => (),
    }
}

/// Host `H`, with wider windows.
pub struct Jitter<H>(PhantomData<fn() -> H>);

/// A word of `H`'s.
pub struct Word<H: Host>(H::Word);

impl<H: Host> host::Word for Word<H> {
    fn new(value: u64) -> Self {
        Word(H::Word::new(value))
    }
    fn load(&self, order: Ordering) -> u64 {
        let value = self.0.load(order);
        jitter();
        value
    }
    fn store(&self, value: u64, order: Ordering) {
        self.0.store(value, order);
        jitter();
    }
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        let before = self.0.swap(value, order);
        jitter();
        before
    }
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        let before = self.0.fetch_add(value, order);
        jitter();
        before
    }
    fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64> {
        let result = self.0.compare_exchange(current, new, success, failure);
        jitter();
        result
    }
}

/// A parker of `H`'s that also wakes spuriously now and then.
pub struct Parker<H: Host>(H::Parker);

impl<H: Host> host::Parker for Parker<H> {
    fn new() -> Self {
        Parker(H::Parker::new())
    }
    fn park(&self) {
        jitter();
        if !SEED.get().is_multiple_of(8) {
            self.0.park();
        }
    }
    fn park_timeout(&self, nanos: Nanos) {
        jitter();
        if !SEED.get().is_multiple_of(8) {
            self.0.park_timeout(nanos);
        }
    }
    fn unpark(&self) {
        jitter();
        self.0.unpark();
    }
}

impl<H: Host> Host for Jitter<H> {
    type Word = Word<H>;
    type Lock<T: Send + 'static> = H::Lock<T>;
    type Parker = Parker<H>;
    const UNWINDS_TO_END: bool = H::UNWINDS_TO_END;

    fn fence(order: Ordering) {
        H::fence(order);
        jitter();
    }

    host_and_spawn_as_beneath!();
}

impl<H: ModelHost> ModelHost for Jitter<H> {
    const IS_REAL: bool = H::IS_REAL;
    type Cell<T: Copy + Send + 'static> = H::Cell<T>;

    threads_as_beneath!();
}
