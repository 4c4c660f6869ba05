//! Tasks that are CPU-bound and ignore preemption: after a slice their thread goes on without a P.
//!
//! Go: `preemptone`, `preemptM`, `asyncPreempt`; there the goroutine itself is stopped, wherever it is, which takes a
//! compiler that knows each instruction's registers. Here the P is taken from under it: the others run on, and the task
//! too, as one more thread, until it next wants something of the runtime. Then it waits for its turn. One that spawns or
//! wakes others does not wait: it takes a P that is idle, or goes on without.
//!
//! | the monitor                             | the task's thread                                                   |
//! |-----------------------------------------|---------------------------------------------------------------------|
//! | 1. the same slice for 10 ms: requests   | runs, and looks at no request                                       |
//! | 2. signals the thread that has the P    | …                                                                   |
//! |                                         | 3. the handler leaves the P as for a system call (`interrupt`)      |
//! | 4. retakes it there, and hands it on    | runs on: it is detached                                             |
//! |                                         | 5. waits, ends, or yields: is reattached when its turn has come     |
//! |                                         | 6. or readies another: goes on under a P, if one is idle            |
//!
//! The task cannot be switched out where it is interrupted, for it may hold the allocator's lock: it needs a thread of its
//! own until it gets to step 5 or 6. Those threads do not count against `max_threads`, and have a bound of their own
//! ([`Builder::max_preempted_threads`](crate::Builder::max_preempted_threads)).
//!
//! A stopper of the world waits for detached tasks too: no task's code runs meanwhile.

use crate::kernel::types::p::PId;
use crate::runtime::host::signal;
use crate::runtime::observe::spans;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize};
use std::sync::{Condvar, Mutex, PoisonError};

/// The tasks of one runtime that run without a P.
pub(in crate::runtime) struct DetachedTasks {
    /// How many run without a P.
    count: AtomicUsize,
    /// How many there have been.
    total: AtomicU64,
    /// By P: the thread that has it, as the system calls it; or had it last.
    threads: Box<[AtomicI32]>,
    /// Is any thread signalled at all?
    is_on: bool,
    /// The signal's handler was replaced: signals do nothing.
    is_lost: AtomicBool,
    /// How often the monitor found a task that kept its P because as many as may be were detached.
    undetachable: AtomicU64,
    gate: Mutex<()>,
    come: Condvar,
}

impl DetachedTasks {
    /// Of a runtime that has room for so many Ps.
    pub(in crate::runtime) fn new(capacity: usize, is_on: bool) -> DetachedTasks {
        DetachedTasks {
            count: AtomicUsize::new(0),
            total: AtomicU64::new(0),
            threads: (0..capacity).map(|_| AtomicI32::new(0)).collect(),
            is_on: is_on && signal::CAN_INTERRUPT,
            is_lost: AtomicBool::new(false),
            undetachable: AtomicU64::new(0),
            gate: Mutex::new(()),
            come: Condvar::new(),
        }
    }

    /// From now on this thread has `p`.
    #[inline]
    pub(in crate::runtime) fn has(&self, p: PId, thread: i32) {
        let place = &self.threads[p.index()];
        // Relaxed: a hint. A thread that is signalled for a P that it no longer has does nothing.
        if place.load(Relaxed) != thread {
            // Relaxed: as above.
            place.store(thread, Relaxed);
        }
    }

    /// The task that runs under `p` ignores preemption: its thread is signalled.
    pub(in crate::runtime) fn signal(&self, p: PId) {
        if self.is_on {
            // Relaxed: as in `has`.
            signal::interrupt(self.threads[p.index()].load(Relaxed));
            // Relaxed: warned of once; the monitor's alone.
            if !self.is_lost.load(Relaxed) && !signal::is_heard() {
                // Relaxed: as above.
                self.is_lost.store(true, Relaxed);
                spans::preemption_is_lost();
            }
        }
    }

    /// Was the signal's handler replaced?
    pub(in crate::runtime) fn is_lost(&self) -> bool {
        // Relaxed: for display.
        self.is_lost.load(Relaxed)
    }

    /// A task ignores preemption, and keeps its P: as many as may be are detached.
    pub(in crate::runtime) fn reached_limit(&self) {
        // Relaxed: counted for display.
        if self.undetachable.fetch_add(1, Relaxed) == 0 {
            spans::no_thread_for_preempted();
        }
    }

    /// How often that was so.
    pub(in crate::runtime) fn undetachable(&self) -> u64 {
        // Relaxed: for display.
        self.undetachable.load(Relaxed)
    }

    /// This thread's task is about to lose its P. In a signal handler.
    pub(in crate::runtime) fn detached(&self) {
        // AcqRel: `detached_tasks`, counted before the P can be taken: an M that took it to stop the world sees the count.
        self.count.fetch_add(1, AcqRel);
        // Relaxed: counted for display.
        self.total.fetch_add(1, Relaxed);
    }

    /// How often a task went on without its P.
    pub(in crate::runtime) fn total(&self) -> u64 {
        // Relaxed: for display.
        self.total.load(Relaxed)
    }

    /// This thread's task waits for a P from now on, or is in a system call.
    pub(in crate::runtime) fn reattached(&self) {
        // AcqRel: `detached_tasks`, what the task did is seen by the stopper that waited for it.
        self.count.fetch_sub(1, AcqRel);
        let _gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        self.come.notify_all();
    }

    /// Waits until there are none. Only for a thread that has stopped the world, so that there are no new ones.
    pub(in crate::runtime) fn wait(&self) {
        let gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        // Acquire: `detached_tasks`, the other half.
        let are_some = |_: &mut ()| self.count.load(Acquire) > 0;
        drop(self.come.wait_while(gate, are_some).unwrap_or_else(PoisonError::into_inner));
    }
}
