//! The rooms put together.
//!
//! A [`Sched`] owns the tables of Ps and Ms (type-stable: nothing in them is freed while it lives), the one lock, and
//! what is read without it. What each protocol asks of the others stands in the file of its name. It decides nothing itself.
//!
//! Checked by: verification/src/models/{lists,sched,whole}.rs, verification/rooms/src/rooms/sched.rs, verification/tests/stress.rs

use crate::atomic::{Atomic, UnderLock};
use crate::host::{Host, Lock, Parker};
use crate::protocol::locked::Woken;
use crate::protocol::netpoll::Netpoll;
use crate::protocol::spinning::Spinning;
use crate::protocol::stw::wanted::{Want, Wanted};
use crate::protocol::work_source::{Poller, Waker, WorkSource};
use crate::protocol::{self, find::Worker};
use crate::queues::globq::Len;
use crate::queues::idle::IdleMask;
use crate::queues::local::LocalQueue;
use crate::queues::runq::Capacity;
use crate::sched::central::{Central, Monitor};
use crate::sched::config::{Config, ConfigError};
use crate::sched::netpoll::ParkerPoller;
use crate::sched::observer::{Event, Observer};
use crate::sched::proc::Proc;
use crate::types::g::G;
use crate::types::m::{M, MId, NextP};
use crate::types::p::{Every, PId};
use crate::types::token;
use alloc::{boxed::Box, sync::Arc, sync::Weak, vec::Vec};
use core::sync::atomic::Ordering::Relaxed;
use crossbeam_utils::CachePadded;

/// What an M does with its life: calls [`Sched::next`] and runs the Gs it gets, until there is none. An M whose life ends otherwise, by
/// a panic or without its worker, is [lost](Sched::lost). A function, or a closure that captures what it needs, but no `Arc` of its
/// scheduler, which it is given: that would never be dropped.
pub type Life<H, O> = dyn Fn(&Arc<Sched<H, O>>, Worker) + Send + Sync;

/// The embedder's sources of Gs, in the order in which they are asked.
pub type Sources = Vec<Box<dyn WorkSource>>;

/// A G-M-P scheduler on host `H`, which reports to `O`. Any thread may [`submit`](Sched::submit) and [`close`](Sched::close); what takes a
/// [`Worker`] is for the thread that is this M, and a worker of another scheduler is a panic.
///
/// * **It starts by itself**: a G that is submitted starts an M. [`start`](Sched::start) tells at once whether there can be a thread.
/// * **It has to be closed.** Its Ms keep it alive until [`close`](Sched::close); dropping all other handles ends nothing. Without it,
///   Gs that are queued when the process ends never run, and no value says so.
/// * **It catches no panic.** One that leaves the life of an M [loses](Sched::lost) the M and its P: catch panics around each task.
/// * **It has no priorities.** Queues are FIFO; [`ready`](Sched::ready) goes first, a bounded number of times in a row.
/// * **It gives each G back once for each time that it was queued**, from `next` or `close`, and compares no numbers: see [`G`].
pub struct Sched<H: Host, O: Observer = ()> {
    pub(super) config: Config,
    /// The global queue is served first once in so many dispatches.
    pub(super) every: Every,
    /// How many Ps there are. Changes only while the world is stopped.
    pub(super) procs: Atomic<H, u32, UnderLock>,
    pub(super) ps: Box<[Proc<H>]>,
    pub(super) ms: Box<[M<H>]>,
    /// How many Ms run a preempted G without a P, or wait with one for its turn.
    pub(super) detached: Atomic<H, u64>,
    pub(super) spinning: CachePadded<Spinning<H>>,
    pub(super) idle_mask: IdleMask<H>,
    pub(super) global_len: CachePadded<Len<H>>,
    pub(super) wanted: CachePadded<Wanted<H>>,
    pub(super) lock: H::Lock<Central<H>>,
    pub(super) netpoll: CachePadded<Netpoll<H>>,
    pub(super) sources: Sources,
    pub(super) poller: Box<dyn Poller>,
    pub(super) closer: H::Parker,
    pub(super) monitor: H::Parker,
    pub(super) life: Box<Life<H, O>>,
    pub(super) observer: O,
}

/// The scheduler is closed. The G comes back.
#[derive(Debug)]
#[must_use = "the G was not queued"]
pub struct Closed(pub G);

impl<H: Host, O: Observer> Sched<H, O> {
    /// All Ps idle, no M yet: threads are started when there is work for them. `life` is what each M does, and may capture.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() {
    /// let (sender, ran) = mpsc::channel();
    /// let life = move |sched: &Arc<Sched<Os>>, mut worker| {
    ///     while let Some((mine, g)) = sched.next(worker) {
    ///         worker = mine;
    ///         sender.send(g.into_raw().get()).expect("it is waited for"); // what G `g` stands for
    ///     }
    /// };
    /// let sched = Sched::new(Config { procs: 2, ..Config::default() }, (), life).expect("numbers that are allowed");
    /// sched.submit(g(7)).expect("it is open");
    /// assert_eq!(ran.recv(), Ok(7));
    /// assert!(sched.close().is_empty());
    /// # }
    /// ```
    ///
    /// # Errors
    /// If a number in `config` is not allowed.
    pub fn new(
        config: Config,
        observer: O,
        life: impl Fn(&Arc<Self>, Worker) + Send + Sync + 'static,
    ) -> Result<Arc<Self>, ConfigError> {
        Self::with_sources(config, observer, life, |_| Vec::new())
    }

    /// Queues `g` from any thread. Go: `newproc` and `goready` without a P.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() {
    /// let sched = Sched::<Os>::new(Config::default(), (), live).expect("numbers that are allowed");
    /// sched.submit(g(1)).expect("it is open");
    /// sched.close();
    /// assert_eq!(sched.submit(g(2)).unwrap_err().0, g(2));
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Closed`], with the G, after [`close`](Sched::close) was called.
    pub fn submit(self: &Arc<Self>, g: G) -> Result<(), Closed> {
        self.observer.event(Event::Queued { p: None, g: &g, next: false });
        self.queue_and_wakep(|c| {
            if c.closed {
                return Err(Closed(g));
            }
            c.global.put(g, &self.global_len);
            Ok(())
        })
    }

    /// The next G for `worker` to run. Sleeps while there is none. `None`: the scheduler is closed, end the thread.
    /// Go: `schedule`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, worker| {
    /// sched.submit(g(7)).expect("it is open");
    /// let (worker, next) = sched.next(worker).expect("it is open");
    /// assert_eq!(next, g(7));
    /// # worker }) }
    /// ```
    #[must_use = "the worker and its G are in it"]
    pub fn next(self: &Arc<Self>, mut worker: Worker) -> Option<(Worker, G)> {
        self.serves(&mut worker);
        loop {
            let (mut found, g) = match self.take_first(&worker) {
                Some(g) => (worker, g),
                None => {
                    let found = protocol::find::find_runnable(worker, self.config.order.sources(), self);
                    found.map_err(|m| self.exited(m)).ok()?
                }
            };
            found.asks_turn = false;
            match g.bound() {
                None => return Some((found, g)),
                Some(m) => worker = self.startlockedm(found, m)?,
            }
        }
    }

    /// The same, at a turn that the embedder asks for, as Gs run for long. Turns by count stay where they are. This one looks into the
    /// poller even if an M did a moment ago; if the global queue is empty, it steals from a P that has dispatched nothing since this P's
    /// last such turn, one P each time. After a G from the global queue it is not heeded: of three dispatches one is of the P's own Gs.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, mut worker| {
    /// sched.ready(&mut worker, g(7));
    /// let (mut worker, _) = sched.next(worker).expect("it is open");
    /// sched.ready(&mut worker, g(8));
    /// sched.submit(g(9)).expect("it is open");
    /// let (worker, next) = sched.next_turn(worker).expect("it is open");
    /// assert_eq!(next, g(9)); // `next` would give 8, but for one dispatch in 61
    /// let (worker, next) = sched.next_turn(worker).expect("it is open");
    /// assert_eq!(next, g(8)); // 9 came from the global queue
    /// # worker }) }
    /// ```
    #[must_use = "the worker and its G are in it"]
    pub fn next_turn(self: &Arc<Self>, mut worker: Worker) -> Option<(Worker, G)> {
        worker.asks_turn = true;
        self.next(worker)
    }

    /// Ends every M as soon as it has run the G it runs now, waits for that, and gives back the Gs that were never
    /// started. What a G waits for by [`park_bound`](Sched::park_bound) is over at once. To be called by one thread,
    /// which is no M of this scheduler, and not while the same thread stops the world.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() {
    /// let sched = Sched::<Os>::new(Config::default(), (), live).expect("numbers that are allowed");
    /// sched.submit(g(1)).expect("it is open");
    /// let left = sched.close(); // G 1, if no M has come to it
    /// assert!(left.is_empty() || left == [g(1)]);
    /// # }
    /// ```
    pub fn close(self: &Arc<Self>) -> Vec<G> {
        self.central(|c| {
            c.closed = true;
            self.wanted.ask(Want::Close);
            while let Some(m) = c.sleeping.get() {
                c.calls.wake_with(m, NextP::Exit);
            }
            let waiting: Vec<MId> = c.bound.waiting().collect();
            for m in waiting {
                if c.bound.ready(m, Woken::Closed) {
                    self.send_for(c, m);
                }
            }
            // Tickets that an M was about to find: it finds no G any more.
            while !c.idle_ps.is_empty()
                && let Some(m) = c.global.get_bound(&self.global_len)
            {
                self.send_for(c, m);
            }
            self.end_monitor(c);
            c.calls.poller();
        });
        while self.central(|c| c.lives() || c.idle_ps.len() + c.lost < self.procs() || c.monitor != Monitor::Absent) {
            self.closer.park();
        }
        self.central(|c| self.never_ran(c))
    }
}

impl<H: Host, O: Observer> Sched<H, O> {
    /// The same, with more places where Gs come from. Each is made from the waker it is to wake: see [`WorkSource`], with an example.
    ///
    /// # Errors
    /// If a number in `config` is not allowed, or a source shows another waker than the one it was given.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() {
    /// let sched = Sched::<Os>::with_sources(Config::default(), (), live, |_waker| Vec::new()).expect("numbers that are allowed");
    /// assert!(sched.close().is_empty());
    /// # }
    /// ```
    pub fn with_sources(
        config: Config,
        observer: O,
        life: impl Fn(&Arc<Self>, Worker) + Send + Sync + 'static,
        make: impl FnOnce(&Waker) -> Sources,
    ) -> Result<Arc<Self>, ConfigError> {
        Self::with_poller(config, observer, life, |waker| (make(waker), Box::new(ParkerPoller::<H>(H::Parker::new()))))
    }

    /// The same, with a poller to wait in, for sockets: see [`Poller`], with an example. Without one, an M waits for timers on a parker.
    ///
    /// # Errors
    /// If a number in `config` is not allowed, or a source shows another waker than the one it was given.
    pub fn with_poller(
        config: Config,
        observer: O,
        life: impl Fn(&Arc<Self>, Worker) + Send + Sync + 'static,
        make: impl FnOnce(&Waker) -> (Sources, Box<dyn Poller>),
    ) -> Result<Arc<Self>, ConfigError> {
        let ring = config.check()?;
        let mut stranger = None;
        let sched = Arc::new_cyclic(|sched: &Weak<Self>| {
            let waker = Waker::new(Weak::<Self>::clone(sched));
            let (sources, poller) = make(&waker);
            stranger = sources.iter().position(|source| !source.waker().is_same(&waker));
            Self::assemble(config, ring, observer, Box::new(life), sources, poller)
        });
        stranger.map_or(Ok(sched), |index| Err(ConfigError::Waker(index)))
    }

    /// Queues `g` to run next under `worker`'s P; if nothing may overtake, behind what waits there. Go: `newproc`, `goready`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, mut worker| {
    /// sched.submit(g(8)).expect("it is open");
    /// sched.ready(&mut worker, g(7));
    /// let (worker, next) = sched.next(worker).expect("it is open");
    /// assert_eq!(next, g(7)); // before what was submitted earlier
    /// # worker }) }
    /// ```
    pub fn ready(self: &Arc<Self>, worker: &mut Worker, g: G) {
        self.check(worker.sched, "Worker");
        let next = self.config.inherit_at_most > 0;
        self.observer.event(Event::Queued { p: Some(worker.p.id()), g: &g, next });
        let queue = self.queue(worker);
        match next {
            true => queue.put_next(g, |half, g| self.spill(half, g)),
            // In `runnext` it would wait until the ring is empty, which one that yields may never let it be.
            false => queue.put(g, |half, g| self.spill(half, g)),
        }
        self.wake_another();
    }

    /// The next G for `worker`, if there is one in its own P's queues, that P is not wanted, and it is not the global
    /// queue's turn. `None`: call [`next`](Sched::next). The shortest way from G to G: the worker stays where it is.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, mut worker| {
    /// sched.ready(&mut worker, g(7));
    /// assert_eq!(sched.next_local(&worker), Some(g(7)));
    /// assert_eq!(sched.next_local(&worker), None); // call `next`
    /// # worker }) }
    /// ```
    #[inline]
    pub fn next_local(self: &Arc<Self>, worker: &Worker) -> Option<G> {
        self.check(worker.sched, "Worker");
        let g = self.take_first(worker)?;
        if g.bound().is_some() {
            // A ticket, which is not run here: `next` will find it again.
            self.queue(worker).put_next(g, |half, g| self.spill(half, g));
            return None;
        }
        Some(g)
    }

    /// The observer.
    pub fn observer(&self) -> &O {
        &self.observer
    }

    /// The numbers it was made with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// How many Ps there are.
    #[inline]
    pub fn procs(&self) -> usize {
        // Relaxed: it changes only while no P runs; to a thread without a P it is a hint.
        self.procs.load(Relaxed) as usize
    }

    /// What tells it from others: its address, where it stays as long as an M of it lives.
    #[inline(always)]
    pub(super) fn id(&self) -> usize {
        core::ptr::from_ref(self).addr()
    }

    /// Panics unless `what`, whose scheduler is `of`, is one of this scheduler's.
    #[inline(always)]
    pub(super) fn check(&self, of: usize, what: &str) {
        if of != self.id() {
            token::foreign(what);
        }
    }

    #[inline(always)]
    pub(super) fn proc(&self, p: PId) -> &Proc<H> {
        &self.ps[p.index()]
    }

    pub(super) fn queue(&self, worker: &Worker) -> &LocalQueue<H> {
        &self.proc(worker.p.id()).queue
    }

    fn assemble(
        config: Config,
        ring: Capacity,
        observer: O,
        life: Box<Life<H, O>>,
        sources: Sources,
        poller: Box<dyn Poller>,
    ) -> Self {
        let capacity = config.capacity();
        let table = config.max_ms + config.max_detached;
        let idle_mask = IdleMask::new(capacity);
        let central = Central::new(&config, &idle_mask);
        Sched {
            procs: Atomic::new(config.procs as u32),
            ps: (0..capacity).map(|p| Proc::new(PId(p as u32), ring)).collect(),
            ms: (0..table).map(|_| M::new()).collect(),
            detached: Atomic::new(0),
            spinning: CachePadded::new(Spinning::new()),
            idle_mask,
            global_len: CachePadded::new(Len::new()),
            wanted: CachePadded::new(Wanted::new()),
            lock: H::Lock::new(central),
            netpoll: CachePadded::new(Netpoll::new()),
            sources,
            poller,
            closer: H::Parker::new(),
            monitor: H::Parker::new(),
            every: Every::new(config.global_every),
            config,
            life,
            observer,
        }
    }
}

mod central;
pub mod config;
mod find;
mod handoff;
mod netpoll;
pub mod observer;
mod proc;
pub mod snapshot;
mod spinning;
pub mod stw;
pub mod syscall;
pub mod sysmon;
mod threads;
