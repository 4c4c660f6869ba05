//! Tasks that run on and on, and do not make way when they are asked: after a slice their thread goes on without a P.
//!
//! Go: `preemptone`, `preemptM`, `asyncPreempt`; there the goroutine itself is stopped, wherever it is, which takes a
//! compiler that knows each instruction's registers. Here the P is taken from under it: the others run on, and the task
//! too, as one more thread, until it next wants something of the runtime. Then it waits for its turn.
//!
//! | the monitor                             | the hog's thread                                                    |
//! |-----------------------------------------|---------------------------------------------------------------------|
//! | 1. the same slice for 10 ms: asks       | runs, and looks at no request                                       |
//! | 2. signals the thread that has the P    | …                                                                   |
//! |                                         | 3. the handler leaves the P as for a system call (`interrupt`)      |
//! | 4. takes it out there, and hands it on  | runs on                                                             |
//! |                                         | 5. waits, ends, or makes way: first waits for a P, as after a call  |
//!
//! Who stops the world waits for hogs too: no task's code runs meanwhile.

use super::signal;
use crate::kernel::p::PId;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use core::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize};
use std::sync::{Condvar, Mutex, PoisonError};

/// The hogs of one runtime.
pub(super) struct Hogs {
    /// How many run without a P.
    count: AtomicUsize,
    /// How many there have been.
    total: AtomicU64,
    /// By P: the thread that has it, as the system calls it; or had it last.
    threads: Box<[AtomicI32]>,
    /// Is anybody signalled at all?
    is_on: bool,
    gate: Mutex<()>,
    come: Condvar,
}

impl Hogs {
    /// Of a runtime that has room for so many Ps.
    pub(super) fn new(capacity: usize, is_on: bool) -> Hogs {
        Hogs {
            count: AtomicUsize::new(0),
            total: AtomicU64::new(0),
            threads: (0..capacity).map(|_| AtomicI32::new(0)).collect(),
            is_on: is_on && signal::CAN_INTERRUPT,
            gate: Mutex::new(()),
            come: Condvar::new(),
        }
    }

    /// From now on this thread has `p`.
    #[inline]
    pub(super) fn has(&self, p: PId, thread: i32) {
        let place = &self.threads[p.index()];
        // Relaxed: a hint. A thread that is signalled for a P that it no longer has does nothing.
        if place.load(Relaxed) != thread {
            // Relaxed: as above.
            place.store(thread, Relaxed);
        }
    }

    /// The task that runs under `p` does not make way: its thread is signalled.
    pub(super) fn signal(&self, p: PId) {
        if self.is_on {
            // Relaxed: as in `has`.
            signal::interrupt(self.threads[p.index()].load(Relaxed));
        }
    }

    /// This thread's task is about to lose its P. In a signal handler.
    pub(super) fn goes(&self) {
        // AcqRel: `hogs`, counted before the P can be taken: who took it to stop the world sees the count.
        self.count.fetch_add(1, AcqRel);
        // Relaxed: counted for display.
        self.total.fetch_add(1, Relaxed);
    }

    /// How often a task went on without its P.
    pub(super) fn total(&self) -> u64 {
        // Relaxed: for display.
        self.total.load(Relaxed)
    }

    /// This thread's task waits for a P from now on.
    pub(super) fn has_come(&self) {
        // AcqRel: `hogs`, what the task did is seen by who waited for it.
        self.count.fetch_sub(1, AcqRel);
        let _gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        self.come.notify_all();
    }

    /// Waits until there are none. Only for who has stopped the world, so that there are no new ones.
    pub(super) fn wait(&self) {
        let gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        // Acquire: `hogs`, the other half.
        let are_some = |_: &mut ()| self.count.load(Acquire) > 0;
        drop(self.come.wait_while(gate, are_some).unwrap_or_else(PoisonError::into_inner));
    }
}
