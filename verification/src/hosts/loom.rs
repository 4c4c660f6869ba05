//! Host 2: loom 0.7.2. A C11 explorer that is known to miss executions (tokio-rs/loom #166, #392): an opinion, no proof.
//!
//! It does not explore load buffering; SeqCst *accesses* are AcqRel; a failed exchange reads only the newest value.
//! `choose` always answers 0 here: loom has no choices of that kind. Nor does it see the clock: where two threads'
//! order shows in nothing but the time that one of them asks for, it tries one order.

use crate::hosts::model_host::{self, Cell, Mixes, ModelHost, PlainAccess, take_refusal};
use loom::sync::atomic::{AtomicU64, fence};
use loom::thread::{self, JoinHandle};
use spinpark_kernel::host::{self, Host, Nanos, SpawnError};
use std::sync::Mutex;
use std::sync::atomic::Ordering;

/// The host.
pub struct Loom;

/// One of loom's atomics.
pub struct Word(AtomicU64);

impl host::Word for Word {
    #[track_caller]
    fn new(value: u64) -> Self {
        Word(AtomicU64::new(value))
    }
    #[track_caller]
    fn load(&self, order: Ordering) -> u64 {
        self.0.load(order)
    }
    #[track_caller]
    fn store(&self, value: u64, order: Ordering) {
        self.0.store(value, order);
    }
    #[track_caller]
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        self.0.swap(value, order)
    }
    #[track_caller]
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.0.fetch_add(value, order)
    }
    #[track_caller]
    fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64> {
        self.0.compare_exchange(current, new, success, failure)
    }
}

/// One of loom's mutexes.
pub struct Lock<T>(loom::sync::Mutex<T>);

impl<T: Send + 'static> host::Lock<T> for Lock<T> {
    fn new(value: T) -> Self {
        Lock(loom::sync::Mutex::new(value))
    }
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }
}

/// A word that remembers an unpark, and the thread to wake. The word is what loom sees.
pub struct Parker {
    token: AtomicU64,
    /// Known only to the model's own thread, and written before the word is touched: no part of what is checked.
    sleeper: Mutex<Option<thread::Thread>>,
}

impl host::Parker for Parker {
    fn new() -> Self {
        Parker { token: AtomicU64::new(0), sleeper: Mutex::new(None) }
    }
    #[track_caller]
    fn park(&self) {
        *self.sleeper.lock().unwrap() = Some(thread::current());
        // Acquire: `token`, the sleeper's half, on both ways out.
        if self.token.swap(0, Ordering::Acquire) == 0 {
            thread::park();
            // Acquire: as above. Loom's park does not return spuriously, but a stale wake of an earlier park may.
            self.token.swap(0, Ordering::Acquire);
        }
    }
    #[track_caller]
    fn park_timeout(&self, nanos: Nanos) {
        // Acquire: `token`, the sleeper's half, on the only way out. No thread waits: without an unpark, time passes.
        if self.token.swap(0, Ordering::Acquire) == 0 {
            model_host::advance(nanos);
        }
    }
    #[track_caller]
    fn unpark(&self) {
        // Release: `token`, the waker's half.
        self.token.swap(1, Ordering::Release);
        let sleeper = self.sleeper.lock().unwrap().clone();
        if let Some(sleeper) = sleeper {
            sleeper.unpark();
        }
    }
}

impl Host for Loom {
    type Word = Word;
    type Lock<T: Send + 'static> = Lock<T>;
    type Parker = Parker;
    const UNWINDS_TO_END: bool = true;

    #[track_caller]
    fn fence(order: Ordering) {
        fence(order);
    }
    fn relax() {}
    fn choose(_n: usize) -> usize {
        0
    }
    fn now() -> Nanos {
        model_host::clock()
    }
    fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
        if take_refusal() {
            return Err(SpawnError { os_error: None });
        }
        drop(Self::fork(name.trim_start_matches("spinpark-"), body));
        Ok(())
    }
}

loom::thread_local! {
    static ME: std::cell::Cell<usize> = std::cell::Cell::new(0);
}

/// Memory whose unordered accesses loom reports.
pub struct RaceCell<T>(loom::cell::UnsafeCell<T>);

// SAFETY: loom runs one thread at a time and panics at any access that is not ordered with the others.
unsafe impl<T: Send> Sync for RaceCell<T> {}

impl<T: Copy + Send + 'static> Cell<T> for RaceCell<T> {
    fn new(value: T) -> Self {
        RaceCell(loom::cell::UnsafeCell::new(value))
    }
    fn get(&self) -> T {
        // SAFETY: loom has checked, on entry to `with`, that every write is ordered before this read.
        self.0.with(|value| unsafe { *value })
    }
    fn set(&self, value: T) {
        // SAFETY: loom has checked, on entry to `with_mut`, that every access is ordered before this write.
        self.0.with_mut(|place| unsafe { *place = value });
    }
}

/// An atomic of loom's with its accesses that are not atomic: loom checks that each is ordered with all others.
pub struct MixedWord(std::cell::UnsafeCell<AtomicU64>);

// SAFETY: loom runs one thread at a time, and none is interrupted while it holds one of the references below.
unsafe impl Sync for MixedWord {}

impl MixedWord {
    fn atomic(&self) -> &AtomicU64 {
        // SAFETY: the only exclusive reference, in `plain_store`, is not held while anything else of this word runs.
        unsafe { &*self.0.get() }
    }
}

impl host::Word for MixedWord {
    #[track_caller]
    fn new(value: u64) -> Self {
        MixedWord(std::cell::UnsafeCell::new(AtomicU64::new(value)))
    }
    #[track_caller]
    fn load(&self, order: Ordering) -> u64 {
        self.atomic().load(order)
    }
    #[track_caller]
    fn store(&self, value: u64, order: Ordering) {
        self.atomic().store(value, order);
    }
    #[track_caller]
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        self.atomic().swap(value, order)
    }
    #[track_caller]
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.atomic().fetch_add(value, order)
    }
    #[track_caller]
    fn compare_exchange(&self, current: u64, new: u64, success: Ordering, failure: Ordering) -> Result<u64, u64> {
        self.atomic().compare_exchange(current, new, success, failure)
    }
}

impl PlainAccess for MixedWord {
    #[track_caller]
    fn plain_load(&self) -> u64 {
        // SAFETY: loom panics if a write is not ordered before it.
        unsafe { self.atomic().unsync_load() }
    }
    #[track_caller]
    fn plain_store(&self, value: u64) {
        // SAFETY: `with_mut` never switches threads, and panics if an access is not ordered before it.
        unsafe { &mut *self.0.get() }.with_mut(|place| *place = value);
    }
}

impl Mixes for Loom {
    type Mixed = MixedWord;
}

impl ModelHost for Loom {
    type Thread<T: Send + 'static> = JoinHandle<T>;
    type Cell<T: Copy + Send + 'static> = RaceCell<T>;

    fn fork<T: Send + 'static>(name: &str, body: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
        let number = crate::hosts::wrap::trace::name_thread(name);
        thread::spawn(move || {
            ME.with(|me| me.set(number));
            body()
        })
    }
    fn join<T: Send + 'static>(thread: JoinHandle<T>) -> T {
        thread.join().unwrap()
    }
    fn me() -> usize {
        ME.with(std::cell::Cell::get)
    }
}
