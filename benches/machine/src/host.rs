//! The seam of the kernel, on the simulated machine.
//!
//! Every memory ordering is ignored: accesses are made one after the other. A word is eight bytes, as on real cores, so that
//! those that share a line there share one here.

use crate::costs::NANO;
use crate::engine::{self, line_of};
use crate::lines::Access;
use spinpark_kernel::host::{self, Host, Nanos, SpawnError};
use std::cell::Cell;
use std::panic::Location;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{self, Relaxed};

/// The machine of the thread that runs.
#[derive(Debug)]
pub struct Sim;

/// A word; its line is that of its address.
#[derive(Debug)]
pub struct Word(AtomicU64);

/// Entered in FIFO order.
#[derive(Debug)]
pub struct Lock<T> {
    number: usize,
    value: Mutex<T>,
}

/// A futex.
#[derive(Debug)]
pub struct Parker(usize);

thread_local! {
    /// The line of the kernel in which a thief reads a victim's `tail`; found by [`find_tries`].
    static TRIES: Cell<Option<&'static Location<'static>>> = const { Cell::new(None) };
    /// The last load that acquired.
    static LAST: Cell<Option<&'static Location<'static>>> = const { Cell::new(None) };
}

/// From now on, loads in the line at which `looks` acquires last are counted as tries: for a kernel that does not report them.
pub fn find_tries(looks: impl FnOnce()) {
    LAST.set(None);
    looks();
    TRIES.set(LAST.get());
}

impl Host for Sim {
    type Word = Word;
    type Lock<T: Send + 'static> = Lock<T>;
    type Parker = Parker;

    fn fence(order: Ordering) {
        // The others are no instruction.
        if order == Ordering::SeqCst {
            engine::fence();
        }
    }
    fn relax() {
        engine::relax();
    }
    fn choose(n: usize) -> usize {
        engine::choose(n)
    }
    fn now() -> Nanos {
        engine::now() / NANO
    }
    fn spawn(_: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
        engine::spawn(body);
        Ok(())
    }
}

impl host::Word for Word {
    fn new(value: u64) -> Self {
        Word(AtomicU64::new(value))
    }
    #[track_caller]
    fn load(&self, order: Ordering) -> u64 {
        if order == Ordering::Acquire {
            let here = Location::caller();
            LAST.set(Some(here));
            if TRIES.get() == Some(here) && engine::is_searching() {
                engine::tries();
            }
        }
        engine::access(line_of(self), Access::Load, Some(Location::caller()));
        self.0.load(Relaxed)
    }
    #[track_caller]
    fn store(&self, value: u64, _: Ordering) {
        engine::access(line_of(self), Access::Store, Some(Location::caller()));
        self.0.store(value, Relaxed);
    }
    #[track_caller]
    fn swap(&self, value: u64, _: Ordering) -> u64 {
        engine::access(line_of(self), Access::Locked, Some(Location::caller()));
        self.0.swap(value, Relaxed)
    }
    #[track_caller]
    fn fetch_add(&self, value: u64, _: Ordering) -> u64 {
        engine::access(line_of(self), Access::Locked, Some(Location::caller()));
        self.0.fetch_add(value, Relaxed)
    }
    #[track_caller]
    fn compare_exchange(&self, current: u64, new: u64, _: Ordering, _: Ordering) -> Result<u64, u64> {
        engine::access(line_of(self), Access::Locked, Some(Location::caller()));
        self.0.compare_exchange(current, new, Relaxed, Relaxed)
    }
}

impl<T: Send + 'static> host::Lock<T> for Lock<T> {
    fn new(value: T) -> Self {
        Lock { number: engine::new_lock(), value: Mutex::new(value) }
    }
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        engine::enter(self.number);
        let result = f(&mut self.value.try_lock().expect("host: the machine lets one in at a time"));
        engine::leave(self.number);
        result
    }
}

impl host::Parker for Parker {
    fn new() -> Self {
        Parker(engine::new_parker())
    }
    fn park(&self) {
        engine::park(self.0, None);
    }
    fn park_timeout(&self, nanos: Nanos) {
        engine::park(self.0, Some(engine::now().saturating_add(nanos.saturating_mul(NANO))));
    }
    fn unpark(&self) {
        engine::unpark(self.0);
    }
}
