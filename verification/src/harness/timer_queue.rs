//! Threads that sleep around the timers of [`spinpark_kernel::waits::timer_queue`], with a bell for each of their
//! wakers; a closer, and the threads that serve after that; with the ways in which that
//! may be wrong.

use crate::hosts::model_host::{Cell, ModelHost};
use crate::mutation::mutant::is_variant;
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::{NEVER, Nanos, Parker};
use spinpark_kernel::queues::timers::Key;
use spinpark_kernel::waits::bell::Bell;
use spinpark_kernel::waits::timer_queue::{Added, TimerQueue};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};

/// Later than all else.
pub const FAR: Nanos = 1 << 40;

/// The timers, and one that sleeps for each waker.
pub struct Tiny<H: ModelHost> {
    queue: TimerQueue<H, usize>,
    bells: Vec<Bell<H>>,
    /// How often each waker was woken by a timer: touched by the thread that has the right to wake it.
    fired: Vec<Atomic<H, u64>>,
    /// What was done before a timer was added: the thread that fires it may touch it.
    data: Vec<H::Cell<u64>>,
    /// The wrong flag of a variant.
    closed: Atomic<H, bool>,
    /// The timer at [`FAR`]: for the thread that made it, and shuts down.
    far: Mutex<Option<Key>>,
}

impl<H: ModelHost> Tiny<H> {
    /// So many wakers, on so many shards.
    pub fn new(shards: usize, wakers: usize) -> Arc<Self> {
        Arc::new(Tiny {
            queue: TimerQueue::new(shards),
            bells: (0..wakers).map(|_| Bell::new()).collect(),
            fired: (0..wakers).map(|_| Atomic::new(0)).collect(),
            data: (0..wakers).map(|_| Cell::new(0)).collect(),
            closed: Atomic::new(false),
            far: Mutex::new(None),
        })
    }

    /// Adds a timer as the runtime does, without a P.
    fn add(self: &Arc<Self>, shard: usize, when: Nanos, waker: usize) -> Key {
        let (key, added) = self.queue.add(shard, when, waker);
        if added == Added::Closed {
            self.serve();
        }
        key
    }

    fn wait(&self, waker: usize) {
        let waited = self.bells[waker].wait(|| Ok::<(), ()>(()));
        assert!(waited.is_ok(), "a thread that never gives up has given up");
    }

    /// Adds a timer, and waits until it is fired.
    pub fn add_and_wait(self: &Arc<Self>, shard: usize, when: Nanos, waker: usize) {
        self.data[waker].set(1);
        self.add(shard, when, waker);
        self.wait(waker);
    }

    /// Adds a long sleep, in shard 0.
    pub fn add_far(self: &Arc<Self>) {
        let far = self.add(0, FAR, 0);
        *self.far.lock().unwrap_or_else(PoisonError::into_inner) = Some(far);
    }

    /// After the close, at 3: one thread sleeps for long, then another until 8. How late is the second woken?
    pub fn sooner_after_later(self: &Arc<Self>) -> Nanos {
        H::pass(3);
        let far = self.add(0, FAR, 0);
        self.add_and_wait(0, 8, 1);
        let now = H::now();
        self.cancel(far);
        now.saturating_sub(8)
    }

    /// Takes the timer at [`FAR`] back. The serving thread ends, and does not sleep until then.
    fn cancel(&self, far: Key) {
        if is_variant("timer-queue-cancel-leaves-who-serves") {
            drop(self.queue.take_due(0, FAR));
        } else {
            self.queue.remove(far);
        }
    }

    /// The same, for the one that [sleeps for long](Tiny::add_far).
    pub fn cancel_far(&self) {
        let far = self.far.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.cancel(far.expect("a thread sleeps for long"));
    }

    /// What a timer is to its adder.
    pub fn check_who_is_first(&self) {
        let firsts = [5, 8, 3].map(|when| self.queue.add(0, when, 0).1);
        assert!(firsts == [Added::First, Added::Later, Added::First], "{firsts:?}");
    }

    /// Registers in shard 1 for `when`. Is it seen that it must be served?
    pub fn add_near(self: &Arc<Self>, when: Nanos) -> bool {
        let (_, added) = self.queue.add(1, when, 1);
        self.is_closed(added)
    }

    fn is_closed(&self, added: Added) -> bool {
        // Relaxed: as in `TimerQueue::add`.
        let wrong = is_variant("timer-queue-counts-until-it-finds-one") && self.closed.load(Relaxed);
        wrong || added == Added::Closed
    }

    /// The runtime is shut down, while a thread sleeps for long. Until when would the serving thread sleep?
    pub fn close_and_look(&self) -> Nanos {
        if is_variant("timer-queue-counts-until-it-finds-one") {
            // Relaxed: as in `TimerQueue::close`.
            self.closed.store(true, Relaxed);
            let far = self.far.lock().unwrap_or_else(PoisonError::into_inner).expect("a thread sleeps for long");
            // Under the lock of its shard, and of no other.
            let _ = self.queue.replace(far, 0);
        } else {
            assert!(self.queue.close(), "a thread sleeps, and is not seen");
        }
        self.queue.deadline()
    }

    fn fire(&self, waker: usize) {
        self.data[waker].set(self.data[waker].get() + 10);
        // Relaxed: counted.
        self.fired[waker].fetch_add(1, Relaxed);
        self.bells[waker].ring();
    }

    /// How often the timers of this waker fired, when all have come to rest.
    pub fn fired(&self, waker: usize) -> u64 {
        // Relaxed: asked at rest.
        self.fired[waker].load(Relaxed)
    }

    /// Takes those that are due at `now`, and forgets them.
    pub fn forget_due(&self, now: Nanos) {
        drop(self.queue.take_due(0, now));
    }

    /// The runtime is shut down. Was there a sleeper?
    pub fn close(self: &Arc<Self>) -> bool {
        let is_any = self.queue.close();
        if is_any && !is_variant("timer-queue-close-leaves-what-sleeps") {
            self.serve();
        }
        is_any
    }

    fn serve(self: &Arc<Self>) {
        self.queue.serve(|| {
            let tiny = Arc::clone(self);
            H::spawn("server", move || tiny.serve_the_first()).is_ok()
        });
    }

    /// The life of a thread that serves, as in the runtime.
    fn serve_the_first(self: &Arc<Self>) {
        let due = self.queue.wait_for_due(0, |parker, nanos| match nanos {
            // No timed wait is as long as that: parks until a sooner timer is announced.
            nanos if nanos > FAR / 2 => parker.park(),
            nanos => parker.park_timeout(nanos),
        });
        if is_variant("timer-queue-server-wakes-before-it-hands-over") {
            return due.into_iter().for_each(|waker| self.fire(waker));
        }
        if !self.queue.is_empty() {
            self.serve();
        }
        due.into_iter().for_each(|waker| self.fire(waker));
    }

    /// Nothing is left.
    pub fn check_at_rest(&self) {
        assert!(self.queue.is_empty(), "all have been woken, and a timer is left");
        assert!(self.queue.deadline() == NEVER, "there is no timer, and one is due some time");
    }
}
