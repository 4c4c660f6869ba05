//! Host 4: real threads on real cores, as a stage: what a generated program needs beyond `Cores`.
//!
//! Refusals, the clock's jumps and what went wrong are the process's, so one program is played at a time.

use crate::hosts::model_host::{Cell, ModelHost};
use rc11::engine::panic_text;
use spinpark::runtime::Cores;
use spinpark_kernel::host::{Host, Nanos, SpawnError};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::{self, Relaxed};
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// The host.
pub struct Threads;

static REFUSALS: AtomicUsize = AtomicUsize::new(0);
static JUMPED: AtomicU64 = AtomicU64::new(0);
static FAILURE: Mutex<Option<String>> = Mutex::new(None);

/// A new program begins.
pub fn begin() {
    REFUSALS.store(0, Relaxed);
    take_failure();
}

/// The first panic of a thread since this was last asked.
pub fn take_failure() -> Option<String> {
    FAILURE.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn failed(payload: &(dyn Any + Send)) {
    let mut failure = FAILURE.lock().unwrap_or_else(PoisonError::into_inner);
    failure.get_or_insert_with(|| panic_text(payload));
}

impl Host for Threads {
    type Word = <Cores as Host>::Word;
    type Lock<T: Send + 'static> = <Cores as Host>::Lock<T>;
    type Parker = <Cores as Host>::Parker;

    fn fence(order: Ordering) {
        Cores::fence(order);
    }
    fn relax() {
        Cores::relax();
    }
    fn choose(n: usize) -> usize {
        Cores::choose(n)
    }
    fn now() -> Nanos {
        Cores::now().saturating_add(JUMPED.load(Relaxed))
    }
    fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
        if REFUSALS.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok() {
            return Err(SpawnError { os_error: None });
        }
        Cores::spawn(name, move || {
            if let Err(payload) = catch_unwind(AssertUnwindSafe(body)) {
                failed(&*payload);
            }
        })
    }
}

/// Memory behind a lock of its own: a real race would be undefined.
pub struct LockedCell<T>(Mutex<T>);

impl<T: Copy + Send + 'static> Cell<T> for LockedCell<T> {
    fn new(value: T) -> Self {
        LockedCell(Mutex::new(value))
    }
    fn get(&self) -> T {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn set(&self, value: T) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = value;
    }
}

impl ModelHost for Threads {
    const IS_REAL: bool = true;
    type Thread<T: Send + 'static> = JoinHandle<T>;
    type Cell<T: Copy + Send + 'static> = LockedCell<T>;

    fn fork<T: Send + 'static>(name: &str, body: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
        thread::Builder::new().name(name.to_owned()).spawn(body).expect("a thread can be started")
    }
    fn join<T: Send + 'static>(thread: JoinHandle<T>) -> T {
        thread.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload))
    }
    fn me() -> usize {
        thread_local! {
            static ME: usize = NEXT.fetch_add(1, Relaxed);
        }
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        ME.with(|me| *me)
    }
    fn refuse_spawns(n: usize) {
        REFUSALS.store(n, Relaxed);
    }
    /// The clock jumps: no thread waits.
    fn pass(nanos: Nanos) {
        JUMPED.fetch_add(nanos, Relaxed);
    }
}
