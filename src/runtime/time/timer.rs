//! The timers of a runtime: wakers that become due.

use crate::host::{NEVER, Nanos, Parker};
use crate::kernel::protocol::work_source;
use crate::kernel::queues::timers::Key;
use crate::kernel::types::p::PId;
use crate::runtime::guarded::guarded;
use crate::runtime::host::cores::Cores;
use crate::runtime::host::foreign_threads::Known;
use crate::waits::timer_queue::{self, Added, Registers};
use core::ops::Deref;
use core::task::Waker;
use std::sync::{Arc, OnceLock};
use std::thread;

/// What sleeps, by time.
pub(in crate::runtime) struct TimerQueue {
    timers: timer_queue::TimerQueue<Cores, Waker>,
    scheduler: OnceLock<work_source::Waker>,
}

impl TimerQueue {
    pub(in crate::runtime) fn new(shards: usize) -> Self {
        TimerQueue { timers: timer_queue::TimerQueue::new(shards), scheduler: OnceLock::new() }
    }

    pub(in crate::runtime) fn open(&self, scheduler: &work_source::Waker) {
        let _ = self.scheduler.set(scheduler.clone());
    }

    /// Wakes `waker` at `when`. `p`: the P that this thread holds.
    pub(in crate::runtime) fn add(self: &Arc<Self>, when: Nanos, waker: Waker, p: Option<PId>) -> Key {
        let (key, added) = self.timers.add(p.map_or(0, |p| p.index()), when, waker);
        match added {
            Added::Closed => self.serve(),
            Added::First if p.is_none() => self.announce(when),
            Added::First | Added::Later => (),
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

    pub(in crate::runtime) fn is_expecting(&self) -> bool {
        self.deadline() != NEVER
    }

    /// From now on the runtime's threads may look no more, because it is shut down: what sleeps is served by a thread of its
    /// own. Tasks are dropped, and their timers with them; but a future that somebody else runs sleeps on, and so may a
    /// destructor.
    pub(in crate::runtime) fn close(self: &Arc<Self>) {
        if self.timers.close() {
            self.serve();
        }
    }

    /// Sees to it that what sleeps is served, after [`close`](TimerQueue::close).
    pub(in crate::runtime) fn serve_if_any(self: &Arc<Self>) {
        if !self.timers.is_empty() {
            self.serve();
        }
    }

    /// After the runtime was shut down: somebody sleeps.
    #[cold]
    fn serve(self: &Arc<Self>) {
        self.timers.serve(|| {
            let (queue, known) = (Arc::clone(self), Known::new());
            let body = move || {
                let _known = known;
                queue.serve_the_first();
            };
            thread::Builder::new().name("spinpark-timers".into()).spawn(body).is_ok()
        });
    }

    /// Until the first is due.
    fn serve_the_first(self: &Arc<Self>) {
        let due = self.timers.wait_for_due(|parker, nanos| parker.park_timeout(nanos));
        self.serve_if_any();
        due.into_iter().for_each(|waker| guarded(|| waker.wake()));
    }
}

impl Deref for TimerQueue {
    type Target = timer_queue::TimerQueue<Cores, Waker>;

    fn deref(&self) -> &Self::Target {
        &self.timers
    }
}

impl Registers for Arc<TimerQueue> {
    type Waker = Waker;

    fn remove(&self, key: Key) {
        drop(self.timers.remove(key));
    }

    fn replace(&self, key: Key, waker: Waker) -> Result<(), Waker> {
        self.timers.replace(key, waker).map(drop)
    }
}
