//! The timers of a runtime: wakers that become due.

use crate::host::NEVER;
use crate::host::{Host, Nanos};
use crate::kernel::protocol::work_source;
use crate::kernel::queues::timers::{Key, Timers};
use crate::kernel::types::p::PId;
use crate::runtime::guarded::guarded;
use crate::runtime::host::cores::Cores;
use crate::runtime::host::foreign_threads::Known;
use core::iter;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::{Acquire, Release};
use core::task::Waker;
use core::time::Duration;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread;

/// What sleeps, by time.
pub(in crate::runtime) struct TimerQueue {
    timers: Timers<Cores, Waker>,
    scheduler: OnceLock<work_source::Waker>,
    /// The runtime was shut down.
    is_closed: AtomicBool,
    /// Since then: does a thread serve what sleeps?
    is_served: Mutex<bool>,
    /// Something earlier sleeps than before.
    earlier: Condvar,
}

impl TimerQueue {
    pub(in crate::runtime) fn new(shards: usize) -> Self {
        TimerQueue {
            timers: Timers::new(shards),
            scheduler: OnceLock::new(),
            is_closed: AtomicBool::new(false),
            is_served: Mutex::new(false),
            earlier: Condvar::new(),
        }
    }

    pub(in crate::runtime) fn open(&self, scheduler: &work_source::Waker) {
        let _ = self.scheduler.set(scheduler.clone());
    }

    /// Wakes `waker` at `when`. `p`: the P that this thread holds.
    pub(in crate::runtime) fn add(self: &Arc<Self>, when: Nanos, waker: Waker, p: Option<PId>) -> Key {
        let (key, is_first) = self.timers.add(p.map_or(0, |p| p.index()), when, waker);
        // Acquire: `closed`: it was added after `close` had counted its shard, so the lock of that shows us the flag; or it
        // was counted.
        if self.is_closed.load(Acquire) {
            self.serve();
        } else if is_first && p.is_none() {
            self.announce(when);
        }
        key
    }

    /// A thread without a P waits from now on until `when`; or for a socket, with [`NEVER`].
    pub(in crate::runtime) fn announce(&self, when: Nanos) {
        if let Some(scheduler) = self.scheduler.get() {
            scheduler.announce(when);
        }
    }

    /// Somebody looks for work, and then whether there is nothing more to wait for.
    pub(in crate::runtime) fn look_again(&self) {
        if let Some(scheduler) = self.scheduler.get() {
            scheduler.wake();
        }
    }

    pub(in crate::runtime) fn remove(&self, key: Key) {
        drop(self.timers.remove(key));
    }

    /// Wakes this one instead. `false`: the timer is over.
    pub(in crate::runtime) fn replace(&self, key: Key, waker: Waker) -> bool {
        self.timers.replace(key, waker).is_ok()
    }

    /// When the first is due.
    pub(in crate::runtime) fn deadline(&self) -> Nanos {
        self.timers.deadline()
    }

    /// One that is due, of this shard first.
    pub(in crate::runtime) fn take_due(&self, shard: usize, now: Nanos) -> Option<Waker> {
        self.timers.take_due(shard, now)
    }

    pub(in crate::runtime) fn is_expecting(&self) -> bool {
        self.deadline() != NEVER
    }

    /// How many there are.
    pub(in crate::runtime) fn len(&self) -> usize {
        self.timers.len()
    }

    /// From now on the runtime's threads may look no more, because it is shut down: what sleeps is served by a thread of its
    /// own. Tasks are dropped, and their timers with them; but a future that somebody else runs sleeps on, and so may a
    /// destructor.
    pub(in crate::runtime) fn close(self: &Arc<Self>) {
        // Release: `closed`. And each shard's lock is taken after it, to count: what is added later sees it.
        self.is_closed.store(true, Release);
        self.serve_if_any();
    }

    /// Sees to it that what sleeps is served, after [`close`](TimerQueue::close).
    pub(in crate::runtime) fn serve_if_any(self: &Arc<Self>) {
        if self.timers.is_any() {
            self.serve();
        }
    }

    /// After the runtime was shut down: somebody sleeps.
    #[cold]
    fn serve(self: &Arc<Self>) {
        let mut is_served = self.is_served.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_served {
            return self.earlier.notify_all();
        }
        let (queue, known) = (Arc::clone(self), Known::new());
        let body = move || {
            let _known = known;
            queue.serve_the_first();
        };
        // Without a thread it sleeps until the next comes, which tries again.
        *is_served = thread::Builder::new().name("spinpark-timers".into()).spawn(body).is_ok();
    }

    /// Until the first is due. A waker may drop a task, whose destructor may sleep in its turn: so the others are another
    /// thread's before it is called.
    fn serve_the_first(self: &Arc<Self>) {
        let mut is_served = self.is_served.lock().unwrap_or_else(PoisonError::into_inner);
        let now = loop {
            let (now, deadline) = (Cores::now(), self.timers.deadline());
            if deadline <= now || deadline == NEVER {
                break now;
            }
            let time = Duration::from_nanos(deadline - now);
            is_served = self.earlier.wait_timeout(is_served, time).unwrap_or_else(PoisonError::into_inner).0;
        };
        *is_served = false;
        drop(is_served);
        let due: Vec<Waker> = iter::from_fn(|| self.timers.take_due(0, now)).collect();
        self.serve_if_any();
        due.into_iter().for_each(|waker| guarded(|| waker.wake()));
    }
}
