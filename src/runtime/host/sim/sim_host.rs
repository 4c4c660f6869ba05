//! The simulated machine as a host.
//!
//! Words and locks are the real ones: no two threads of a machine run at once, and neither is a place to switch.

use crate::host::{Host, Nanos, Parker, SpawnError};
use crate::runtime::host::cores::CoresLock;
use crate::runtime::host::duration::START;
use crate::runtime::host::sim;
use crate::runtime::host::thread_config;
use crate::runtime::observe::spans;
use core::sync::atomic::Ordering::{AcqRel, Release};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::time::Duration;

/// The machine of the thread that runs.
#[derive(Debug)]
pub(in crate::runtime) struct Sim;

impl Host for Sim {
    type Word = AtomicU64;
    type Lock<T: Send + 'static> = CoresLock<T>;
    type Parker = SimParker;

    #[inline(always)]
    fn fence(order: Ordering) {
        core::sync::atomic::fence(order);
    }

    fn relax() {
        sim::relax();
    }

    fn choose(n: usize) -> usize {
        sim::choose(n)
    }

    fn now() -> Nanos {
        sim::now().unwrap_or(START)
    }

    fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
        sim::spawn(name, thread_config::Wanted::take(name).stack(), body)
    }
}

/// Where a simulated thread sleeps. The machine finds it by the address of its word.
#[derive(Debug)]
pub(in crate::runtime) struct SimParker {
    is_notified: AtomicBool,
}

/// For so long a thread without a machine sleeps at a time.
const SLICE: Duration = Duration::from_millis(1);

impl SimParker {
    fn address(&self) -> usize {
        core::ptr::from_ref(&self.is_notified).addr()
    }

    fn sleep(&self, nanos: Option<Nanos>) {
        spans::say_reported();
        // AcqRel: `token`, both halves; on the way out without sleep.
        if self.is_notified.swap(false, AcqRel) {
            return;
        }
        if !sim::park(self.address(), nanos) {
            // This thread has no machine, and waits for one that has. It wakes spuriously now and then.
            std::thread::sleep(SLICE.min(nanos.map_or(SLICE, Duration::from_nanos)));
        }
        // AcqRel: as above, on the way out after sleep.
        self.is_notified.swap(false, AcqRel);
    }
}

impl Parker for SimParker {
    fn new() -> Self {
        SimParker { is_notified: AtomicBool::new(false) }
    }

    fn park(&self) {
        self.sleep(None);
    }

    fn park_timeout(&self, nanos: Nanos) {
        self.sleep(Some(nanos));
    }

    fn unpark(&self) {
        spans::say_reported();
        // Release: `token`, waker's half.
        if !self.is_notified.swap(true, Release) {
            sim::unpark(self.address());
        }
    }
}
