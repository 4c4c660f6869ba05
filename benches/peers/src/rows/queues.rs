//! Local run queues: one owner, and thieves. All of them have room for 256, and hold numbers of 64 bits.
//!
//! concurrent-queue has no way to take half at once: its thief takes one after the other, as async-executor's does.

use crate::meters::Watch;
use crate::row::{Round, Sample, Setup, Tally, sum_below};
use spinpark::kernel::queues::local::LocalQueue;
use spinpark::kernel::queues::owner::{Owner, Stealer};
use spinpark::kernel::queues::runq::Capacity;
use spinpark::kernel::sched::config::Config;
use spinpark::kernel::types::g::G;
use spinpark::kernel::types::p::Turn;
use spinpark::runtime::Cores;
use std::hint::{black_box, spin_loop};
use std::num::NonZeroU64;
use std::sync::{Arc, Barrier};
use std::thread;

const ROOM: usize = 256;
/// What the queue holds while its owner pushes and pops, and what a thief finds on the same thread.
const BATCH: u64 = 64;

/// A run queue, in its owner's hands.
pub(crate) trait Queue: Sized + Send + 'static {
    type Thief: Thief<Self>;
    fn new() -> Self;
    fn thief(&self) -> Self::Thief;
    fn put(&mut self, n: NonZeroU64);
    fn get(&mut self) -> Option<u64>;
    fn len(&self) -> usize;
}

pub(crate) trait Thief<Q>: Send + 'static {
    /// Takes half, rounded up, or what the queue's own way to steal gives: one to be run now, the rest into `mine`.
    fn steal(&self, mine: &mut Q) -> Option<u64>;
}

/// The numbers from 1 to `n`.
pub(crate) fn tally(_: Setup, n: u64) -> Tally {
    Tally { count: n, sum: sum_below(n + 1) }
}

/// Those that are there before the first pop are popped too.
pub(crate) fn tally_of_owner(setup: Setup, n: u64) -> Tally {
    tally(setup, n + BATCH)
}

fn number(n: u64) -> NonZeroU64 {
    NonZeroU64::new(n).expect("they start at 1")
}

/// Adds up what comes out.
#[derive(Default)]
struct Taken(u64, u64);

impl Taken {
    fn take(&mut self, n: u64) {
        self.0 += 1;
        self.1 += black_box(n);
    }

    fn tally(self) -> Tally {
        Tally { count: self.0, sum: self.1 }
    }
}

pub(crate) fn owner<Q: Queue>(_: Setup) -> Round {
    Box::new(|n| {
        let mut queue = Q::new();
        let mut taken = Taken::default();
        (1..=BATCH).for_each(|i| queue.put(number(i)));
        let watch = Watch::start();
        for i in BATCH + 1..=BATCH + n {
            queue.put(black_box(number(i)));
            taken.take(queue.get().expect("it is never empty"));
        }
        let time = watch.time(Tally { count: n, sum: 0 });
        while let Some(i) = queue.get() {
            taken.take(i);
        }
        Sample { tally: taken.tally(), ..time }
    })
}

pub(crate) fn steal<Q: Queue>(_: Setup) -> Round {
    Box::new(|n| {
        let (mut queue, mut mine) = (Q::new(), Q::new());
        let thief = queue.thief();
        let mut taken = Taken::default();
        let watch = Watch::start();
        let mut next = 1;
        while next <= n {
            let end = (next + BATCH).min(n + 1);
            (next..end).for_each(|i| queue.put(black_box(number(i))));
            next = end;
            while let Some(first) = thief.steal(&mut mine) {
                taken.take(first);
                while let Some(i) = mine.get() {
                    taken.take(i);
                }
            }
        }
        watch.time(taken.tally())
    })
}

pub(crate) fn steal_2<Q: Queue>(_: Setup) -> Round {
    Box::new(|n| {
        let mut queue = Q::new();
        let thief = queue.thief();
        let ready = Arc::new(Barrier::new(2));
        let thief = thread::spawn({
            let ready = Arc::clone(&ready);
            move || {
                let mut mine = Q::new();
                let mut taken = Taken::default();
                let mut wait = Patience::default();
                ready.wait();
                let watch = Watch::start();
                while taken.0 < n {
                    let Some(first) = thief.steal(&mut mine) else {
                        wait.wait();
                        continue;
                    };
                    wait = Patience::default();
                    taken.take(first);
                    while let Some(i) = mine.get() {
                        taken.take(i);
                    }
                }
                watch.time(taken.tally())
            }
        });
        ready.wait();
        for i in 1..=n {
            let mut wait = Patience::default();
            while queue.len() >= ROOM {
                wait.wait();
            }
            queue.put(black_box(number(i)));
        }
        thief.join().expect("no panic")
    })
}

/// Spins, and then lets the other thread have the core, if there is only one.
#[derive(Default)]
struct Patience(u32);

impl Patience {
    fn wait(&mut self) {
        self.0 += 1;
        match self.0 {
            0..1000 => spin_loop(),
            _ => thread::yield_now(),
        }
    }
}

pub(crate) struct Crossbeam(crossbeam_deque::Worker<u64>);

impl Queue for Crossbeam {
    type Thief = crossbeam_deque::Stealer<u64>;

    fn new() -> Self {
        Crossbeam(crossbeam_deque::Worker::new_fifo())
    }

    fn thief(&self) -> Self::Thief {
        self.0.stealer()
    }

    #[inline]
    fn put(&mut self, n: NonZeroU64) {
        self.0.push(n.get());
    }

    #[inline]
    fn get(&mut self) -> Option<u64> {
        self.0.pop()
    }

    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }
}

impl Thief<Crossbeam> for crossbeam_deque::Stealer<u64> {
    #[inline]
    fn steal(&self, mine: &mut Crossbeam) -> Option<u64> {
        // At most 32 at once: its own limit.
        loop {
            match self.steal_batch_and_pop(&mine.0) {
                crossbeam_deque::Steal::Success(n) => return Some(n),
                crossbeam_deque::Steal::Empty => return None,
                crossbeam_deque::Steal::Retry => {}
            }
        }
    }
}

pub(crate) struct St3(st3::fifo::Worker<u64>);

impl Queue for St3 {
    type Thief = st3::fifo::Stealer<u64>;

    fn new() -> Self {
        St3(st3::fifo::Worker::new(ROOM))
    }

    fn thief(&self) -> Self::Thief {
        self.0.stealer()
    }

    #[inline]
    fn put(&mut self, n: NonZeroU64) {
        self.0.push(n.get()).expect("there is room");
    }

    #[inline]
    fn get(&mut self) -> Option<u64> {
        self.0.pop()
    }

    #[inline]
    fn len(&self) -> usize {
        self.0.capacity() - self.0.spare_capacity()
    }
}

impl Thief<St3> for st3::fifo::Stealer<u64> {
    #[inline]
    fn steal(&self, mine: &mut St3) -> Option<u64> {
        loop {
            match self.steal_and_pop(&mine.0, |n| n - n / 2) {
                Ok((n, _)) => return Some(n),
                Err(st3::StealError::Empty) => return None,
                Err(st3::StealError::Busy) => spin_loop(),
            }
        }
    }
}

#[derive(Clone)]
pub(crate) struct Concurrent(Arc<concurrent_queue::ConcurrentQueue<u64>>);

impl Queue for Concurrent {
    type Thief = Concurrent;

    fn new() -> Self {
        Concurrent(Arc::new(concurrent_queue::ConcurrentQueue::bounded(ROOM)))
    }

    fn thief(&self) -> Concurrent {
        self.clone()
    }

    #[inline]
    fn put(&mut self, n: NonZeroU64) {
        self.0.push(n.get()).expect("there is room");
    }

    #[inline]
    fn get(&mut self) -> Option<u64> {
        self.0.pop().ok()
    }

    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }
}

impl Thief<Concurrent> for Concurrent {
    #[inline]
    fn steal(&self, mine: &mut Concurrent) -> Option<u64> {
        let first = self.0.pop().ok()?;
        for _ in 0..self.0.len() / 2 {
            let Ok(n) = self.0.pop() else { break };
            mine.0.push(n).expect("there is room");
        }
        Some(first)
    }
}

/// The ring alone.
pub(crate) struct Runq(Owner<Cores>);

impl Queue for Runq {
    type Thief = Stealer<Cores>;

    fn new() -> Self {
        Runq(Owner::new(Capacity::DEFAULT))
    }

    fn thief(&self) -> Self::Thief {
        self.0.stealer()
    }

    #[inline]
    fn put(&mut self, n: NonZeroU64) {
        self.0.put(G::from_raw(n)).expect("there is room");
    }

    #[inline]
    fn get(&mut self) -> Option<u64> {
        self.0.get().map(|g| g.into_raw().get())
    }

    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }
}

impl Thief<Runq> for Stealer<Cores> {
    #[inline]
    fn steal(&self, mine: &mut Runq) -> Option<u64> {
        self.steal_some(&mine.0).map(|(g, _)| g.into_raw().get())
    }
}

/// What a P has: the ring and `runnext`, which is looked at, and stays empty.
pub(crate) struct Local {
    queue: Arc<LocalQueue<Cores>>,
    turn: Turn,
    inherit_at_most: u32,
}

impl Queue for Local {
    type Thief = Arc<LocalQueue<Cores>>;

    fn new() -> Self {
        Local {
            queue: Arc::new(LocalQueue::new(Capacity::DEFAULT)),
            turn: Turn::default(),
            inherit_at_most: Config::default().inherit_at_most,
        }
    }

    fn thief(&self) -> Self::Thief {
        Arc::clone(&self.queue)
    }

    #[inline]
    fn put(&mut self, n: NonZeroU64) {
        self.queue.put(G::from_raw(n), |_, _| unreachable!("there is room"));
    }

    #[inline]
    fn get(&mut self) -> Option<u64> {
        self.queue.get(&mut self.turn, self.inherit_at_most).map(|g| g.into_raw().get())
    }

    #[inline]
    fn len(&self) -> usize {
        self.queue.len()
    }
}

impl Thief<Local> for Arc<LocalQueue<Cores>> {
    #[inline]
    fn steal(&self, mine: &mut Local) -> Option<u64> {
        self.steal_some(&mine.queue, true, || ()).map(|(g, _)| g.into_raw().get())
    }
}
