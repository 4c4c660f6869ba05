//! Threads that sleep around the timers of [`spinpark_kernel::waits::timer_queue`], with a bell for each of their
//! wakers; an M that fires what is due, a closer, and the threads that serve after that; with the ways in which that
//! may be wrong.

use crate::hosts::model_host::{Cell, ModelHost};
use crate::mutation::mutant::is_variant;
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::{NEVER, Nanos, Parker};
use spinpark_kernel::queues::timers::Key;
use spinpark_kernel::waits::bell::Bell;
use spinpark_kernel::waits::timer_queue::{Added, Registers, Timer, TimerQueue};
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
    /// Where the M waits while there is no timer.
    m: Bell<H>,
    is_over: Atomic<H, bool>,
    /// The wrong flag of a variant.
    closed: Atomic<H, bool>,
    /// The timer at [`FAR`]: for the thread that made it, and shuts down.
    far: Mutex<Option<Key>>,
}

/// The timers, and which of their wakers' bells there are.
#[derive(Clone)]
struct Queue<H: ModelHost>(Arc<Tiny<H>>);

type Place<H> = Option<Timer<Queue<H>, usize>>;

impl<H: ModelHost> Registers for Queue<H> {
    type Waker = usize;

    fn remove(&self, key: Key) {
        self.0.queue.remove(key);
    }

    fn take(&self, key: Key) -> Option<usize> {
        self.0.queue.remove(key)
    }

    fn replace(&self, key: Key, waker: usize) -> Result<(), usize> {
        if is_variant("timer-queue-forgets-a-waker-that-comes-late") {
            let _ = self.0.queue.replace(key, waker);
            return Ok(());
        }
        self.0.queue.replace(key, waker).map(drop)
    }
}

impl<H: ModelHost> Tiny<H> {
    /// So many wakers, on so many shards.
    pub fn new(shards: usize, wakers: usize) -> Arc<Self> {
        Arc::new(Tiny {
            queue: TimerQueue::new(shards),
            bells: (0..wakers).map(|_| Bell::new()).collect(),
            fired: (0..wakers).map(|_| Atomic::new(0)).collect(),
            data: (0..wakers).map(|_| Cell::new(0)).collect(),
            m: Bell::new(),
            is_over: Atomic::new(false),
            closed: Atomic::new(false),
            far: Mutex::new(None),
        })
    }

    /// Adds a timer as the runtime does, without a P.
    fn add(self: &Arc<Self>, shard: usize, when: Nanos, waker: usize) -> Key {
        let (key, added) = self.queue.add(shard, when, waker);
        match added {
            Added::Closed => self.serve(),
            Added::First => self.m.ring(),
            Added::Later => (),
        }
        key
    }

    fn poll(self: &Arc<Self>, place: &mut Place<H>, when: Nanos, waker: usize) {
        Timer::poll(place, waker, || waker, |waker| (Queue(Arc::clone(self)), self.add(0, when, waker)));
    }

    /// Sleeps until `when`, polled first by each of these wakers in turn, and by the last of them when it is woken.
    pub fn sleep(self: &Arc<Self>, when: Nanos, wakers: &[usize]) {
        let mut place = None;
        self.sleep_on(&mut place, when, wakers);
    }

    fn sleep_on(self: &Arc<Self>, place: &mut Place<H>, when: Nanos, wakers: &[usize]) {
        let mut wakers = wakers.iter().copied();
        let mut waker = wakers.next().expect("one waker at least");
        while H::now() < when {
            self.poll(place, when, waker);
            match wakers.next() {
                Some(next) => waker = next,
                None => self.wait(waker),
            }
        }
        Timer::forget(place);
    }

    fn wait(&self, waker: usize) {
        let waited = self.bells[waker].wait(|| Ok::<(), ()>(()));
        assert!(waited.is_ok(), "a thread that never gives up has given up");
    }

    /// Sleeps until `first`, but changes its mind as soon as its timer runs, and sleeps until `then`. Before it is polled again it
    /// waits to be woken.
    pub fn sleep_and_reset(self: &Arc<Self>, first: Nanos, then: Nanos, waker: usize) {
        let mut place = None;
        self.poll(&mut place, first, waker);
        if is_variant("timer-queue-reset-forgets-the-waker") {
            Timer::forget(&mut place);
        } else if !is_variant("timer-queue-resets-without-a-cancel") {
            Timer::reset(&mut place, |queue, waker| queue.0.add(0, then, waker));
        }
        self.wait(waker);
        self.sleep_on(&mut place, then, &[waker]);
    }

    /// Adds a timer, and takes it back. Was it there still? Then what comes with it is ours again.
    pub fn add_and_cancel(self: &Arc<Self>, when: Nanos, waker: usize) -> bool {
        self.data[waker].set(1);
        let key = self.add(0, when, waker);
        let cancelled = self.queue.remove(key).is_some();
        if cancelled {
            self.data[waker].set(2);
        }
        cancelled
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

    /// The life of an M: fires what is due, and waits for the next, until it is [over](Tiny::is_over).
    pub fn run_m(&self) {
        loop {
            let now = H::now();
            self.fire_due(now);
            // Relaxed: the thread that sets it rings after it.
            if self.is_over.load(Relaxed) {
                return;
            }
            match self.queue.deadline() {
                NEVER => assert!(self.m.wait(|| Ok::<(), ()>(())).is_ok(), "the M never gives up"),
                when => H::pass(when.saturating_sub(H::now())),
            }
        }
    }

    /// Fires what is due at `now`, once.
    pub fn fire_due(&self, now: Nanos) {
        self.queue.all_due(0, now).for_each(|waker| self.fire(waker));
    }

    /// Takes those that are due at `now`, and forgets them.
    pub fn forget_due(&self, now: Nanos) {
        drop(self.queue.take_due(0, now));
    }

    /// The M ends.
    pub fn is_over(&self) {
        // Relaxed: the bell brings it.
        self.is_over.store(true, Relaxed);
        self.m.ring();
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
        let due = self.queue.wait_for_due(|parker, nanos| match nanos {
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
