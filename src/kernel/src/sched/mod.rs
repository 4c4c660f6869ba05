//! The rooms put together.
//!
//! A [`Sched`] owns the tables of Ps and Ms (type-stable: nothing in them is freed while it lives), the one lock, and
//! what is read without it. What each protocol asks of the others stands in the file of its name. It decides nothing itself.
//!
//! Checked by: verification/src/models/{lists,sched,pairs,whole}.rs, verification/tests/stress.rs

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

use crate::atomic::Atomic;
use crate::host::{Host, Lock, Nanos, Parker, SpawnError};
use crate::protocol;
use crate::protocol::find::Worker;
use crate::protocol::locked::{Bindings, Woken};
use crate::protocol::netpoll::Netpoll;
use crate::protocol::sources::Source;
use crate::protocol::spinning::Spinning;
use crate::protocol::stw::WorldState;
use crate::protocol::stw::wanted::{Want, Wanted};
use crate::protocol::work_source::{Poller, Wakep, Waker, WorkSource};
use crate::queues::globq::{GlobQueue, Len};
use crate::queues::idle::{IdleMask, IdlePs, SleepingMs};
use crate::queues::local::LocalQueue;
use crate::queues::runq::{Capacity, Spilled};
use crate::sched::central::{Calls, Central, Monitor};
use crate::sched::config::{Config, ConfigError};
use crate::sched::netpoll::ParkerPoller;
use crate::sched::observer::{Event, Observer};
use crate::sched::proc::Proc;
use crate::types::g::G;
use crate::types::m::{M, MId, NextP};
use crate::types::p::{Every, OwnedP, PId};
use crate::types::token;
use alloc::boxed::Box;
use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;
use core::sync::atomic::Ordering::Relaxed;
use crossbeam_utils::CachePadded;

/// What an M does with its life: calls [`Sched::next`] and runs the Gs it gets, until there is none. An M whose life ends otherwise, by
/// a panic or without its worker, is [lost](Sched::lost). A function, or a closure that captures what it needs, but no `Arc` of its
/// scheduler, which it is given: that would never be dropped.
pub type Life<H, O> = dyn Fn(&Arc<Sched<H, O>>, Worker) + Send + Sync;

/// The embedder's sources, in the order in which they are asked.
pub type Sources = Vec<Box<dyn WorkSource>>;

/// A G-M-P scheduler on host `H`, which reports to `O`.
pub struct Sched<H: Host, O: Observer = ()> {
    pub(super) config: Config,
    /// The global queue is served first once in so many dispatches.
    pub(super) every: Every,
    /// How many Ps there are. Changes only while the world is stopped.
    pub(super) procs: Atomic<H, u32>,
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
    /// All Ps idle, no M yet: threads are started when there is work for them.
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

    /// The same, with more places where Gs come from. Each is made from the waker it is to wake.
    ///
    /// # Errors
    /// If a number in `config` is not allowed, or a source shows another waker than the one it was given.
    pub fn with_sources(
        config: Config,
        observer: O,
        life: impl Fn(&Arc<Self>, Worker) + Send + Sync + 'static,
        make: impl FnOnce(&Waker) -> Sources,
    ) -> Result<Arc<Self>, ConfigError> {
        Self::with_poller(config, observer, life, |waker| (make(waker), Box::new(ParkerPoller::<H>(H::Parker::new()))))
    }

    /// The same, with a poller to wait in, for sockets. Without one, an M waits for timers on a parker.
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
        let mut idle_ps = IdlePs::default();
        for p in (0..config.procs as u32).rev() {
            idle_ps.put(OwnedP::assume(PId(p)), &idle_mask);
        }
        let central = Central {
            global: GlobQueue::default(),
            idle_ps,
            sleeping: SleepingMs::default(),
            spare: (config.procs..capacity).map(|p| OwnedP::assume(PId(p as u32))).collect(),
            unused: (0..table as u32).rev().map(MId).collect(),
            alive: 0,
            lost: 0,
            ends: (0..table).map(|_| 0).collect(),
            closed: false,
            world: WorldState::new(config.procs),
            safepoint: None,
            bound: Bindings::new(table),
            monitor: Monitor::Absent,
            refused: 0,
            must_retry: false,
            monitor_takes: false,
            calls: Calls::none(),
        };
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

    /// Starts the first M, to know that there can be one. From then on a refused thread only delays work.
    ///
    /// # Errors
    /// If the host cannot start a thread.
    pub fn start(self: &Arc<Self>) -> Result<(), SpawnError> {
        let Some(m) = self.central(|c| self.reserve(c)) else { return Ok(()) };
        match protocol::spinning::Neighbours::pidleget(self, || ()) {
            Some(p) => self.ms[m.index()].set_nextp(NextP::Run { p, token: Some(self.spinning.become_spinning()) }),
            None => {
                self.exited(m); // every P is in use: there are Ms already
                return Ok(());
            }
        }
        let started = protocol::threads::Neighbours::newm(self, m);
        if started.is_err()
            && let Some(nextp) = self.ms[m.index()].take_nextp()
        {
            protocol::threads::give_back(nextp, Some(m), &self.ms, self);
        }
        started
    }

    /// Queues `g` from any thread. Go: `newproc` and `goready` without a P.
    ///
    /// # Errors
    /// [`Closed`], with the G, after [`close`](Sched::close) was called.
    pub fn submit(self: &Arc<Self>, g: G) -> Result<(), Closed> {
        self.observer.event(Event::Queued { p: None, g: &g, next: false });
        self.central(|c| {
            if c.closed {
                return Err(Closed(g));
            }
            c.global.put(g, &self.global_len);
            Ok(())
        })?;
        self.spinning.wakep(self);
        Ok(())
    }

    /// Queues `g` to run next under `worker`'s P; if nothing may overtake, behind what waits there. Go: `newproc`, `goready`.
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

    /// Makes sure that another M looks for work, beside the caller, which holds a P.
    #[inline]
    fn wake_another(self: &Arc<Self>) {
        // Not if the only P is the caller's: no other M could run a G, and while the caller holds it there will be no second P.
        if self.procs() > 1 {
            self.spinning.wakep(self);
        }
    }

    /// Queues `g`, which `worker` has just run, behind all others. Go: `Gosched`.
    pub fn yield_now(self: &Arc<Self>, worker: &mut Worker, g: G) {
        self.check(worker.sched, "Worker");
        self.observer.event(Event::Queued { p: None, g: &g, next: false });
        self.central(|c| c.global.put(g, &self.global_len));
        self.wake_another();
    }

    /// Queues `g`, which `worker` has just run, behind what waits under the same P, and wakes no M, unless the ring is
    /// full: the caller searches next. Go: `goyield`.
    #[inline]
    pub fn goyield(self: &Arc<Self>, worker: &mut Worker, g: G) {
        self.check(worker.sched, "Worker");
        self.observer.event(Event::Queued { p: Some(worker.p.id()), g: &g, next: false });
        self.queue(worker).put(g, |half, g| self.spill(half, g));
    }

    /// The next G for `worker` to run. Sleeps while there is none. `None`: the scheduler is closed, end the thread.
    /// Go: `schedule`.
    #[must_use = "the worker and its G are in it"]
    pub fn next(self: &Arc<Self>, mut worker: Worker) -> Option<(Worker, G)> {
        self.serves(&mut worker);
        loop {
            let (found, g) = match self.take_first(&worker) {
                Some(g) => (worker, g),
                None => {
                    let found = protocol::find::find_runnable(worker, self.config.order.sources(), self);
                    found.map_err(|m| self.exited(m)).ok()?
                }
            };
            match g.bound() {
                None => return Some((found, g)),
                Some(m) => worker = self.startlockedm(found, m)?,
            }
        }
    }

    /// The next G for `worker`, if there is one in its own P's queues, that P is not wanted, and it is not the global
    /// queue's turn. `None`: call [`next`](Sched::next). The shortest way from G to G: the worker stays where it is.
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

    /// What the search would find in its first two places, which are the same in every order, without the rest of it.
    #[inline]
    fn take_first(&self, worker: &Worker) -> Option<G> {
        if self.wanted.any() || worker.token.is_some() || worker.is_detached || self.is_globals_turn(worker.p.id()) {
            return None;
        }
        let (g, next) = self.take_local(worker.p.id())?;
        self.observer.event(Event::Found { m: worker.m, p: worker.p.id(), g: &g, from: Source::Local, next });
        Some(g)
    }

    /// Ends every M as soon as it has run the G it runs now, waits for that, and gives back the Gs that were never
    /// started. What a G waits for by [`park_bound`](Sched::park_bound) is over at once. To be called by one thread,
    /// which is no M of this scheduler, and not while the same thread stops the world.
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

    /// A full ring gives its older half, and the G that did not fit, to the global queue. Go: `runqputslow`.
    ///
    /// And `wakep` is called, whichever caller fills the ring and whether or not it wakes an M afterwards: the Gs were in the
    /// ring and are in the global queue now, and an M that scanned the global queue before, and the ring after, has seen none
    /// of them. Go's `goyield` does not.
    #[inline(never)]
    pub(super) fn spill(self: &Arc<Self>, half: Spilled<'_, H, 32>, g: G) {
        self.central(|c| c.global.put_batch(half.chain(core::iter::once(g)), &self.global_len));
        self.wake_another();
    }

    /// An M has ended, or was never needed.
    pub(super) fn exited(self: &Arc<Self>, m: MId) {
        let is_wanted = self.central(|c| {
            self.free_m(c, m);
            let is_wanted = !c.closed && core::mem::take(&mut c.must_retry);
            if !is_wanted {
                self.end_m(c);
            }
            is_wanted
        });
        if is_wanted {
            // An M was refused; now there is a number for one. Until it is asked for, this M counts as alive: a thread that
            // closes the scheduler waits for it, and no deadlock is seen.
            self.spinning.wakep(self);
            self.central(|c| self.end_m(c));
        }
    }
}

impl<H: Host, O: Observer> Wakep for Sched<H, O> {
    fn wakep(self: Arc<Self>) {
        self.spinning.wakep(&self);
    }

    fn announce(self: Arc<Self>, when: Nanos) {
        self.netpoll.announce(when, &self);
    }
}
