//! The rooms put together.
//!
//! A [`Sched`] owns the tables of Ps and Ms (type-stable: nothing in them is freed while it lives), the one lock, and
//! what is read without it. What the rooms ask of each other stands in [`neighbours`](super::neighbours).
//!
//! Checked by: verification/src/models/sched.rs, verification/tests/stress.rs

use super::config::{Config, ConfigError};
use super::find::{self, Worker};
use super::g::G;
use super::globq::{GlobQueue, Len};
use super::idle::{IdleMask, IdlePs, SleepingMs};
use super::local::LocalQueue;
use super::m::{M, MId, Mail};
use super::observer::{Event, Observer};
use super::p::{OwnedP, PId};
use super::random_order::RandomOrder;
use super::runq::Spilled;
use super::snapshot::Snapshot;
use super::spinning::{self, Spinning};
use super::threads;
use crate::atomic::Atomic;
use crate::host::{Host, Lock, Parker, SpawnError};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::Relaxed;
use crossbeam_utils::CachePadded;

/// What an M does with its life: calls [`Sched::next`] and runs the Gs it gets, until there is none.
pub type Life<H, O> = fn(&Arc<Sched<H, O>>, Worker);

/// A G-M-P scheduler on host `H`, watched by `O`.
pub struct Sched<H: Host, O: Observer = ()> {
    pub(super) config: Config,
    pub(super) ps: Box<[LocalQueue<H>]>,
    pub(super) ms: Box<[M<H>]>,
    pub(super) spinning: CachePadded<Spinning<H>>,
    pub(super) idle_mask: IdleMask<H>,
    pub(super) global_len: CachePadded<Len<H>>,
    /// A copy of `Central::closed`, to be read without the lock.
    pub(super) closing: Atomic<H, bool>,
    pub(super) lock: H::Lock<Central>,
    pub(super) steal_order: RandomOrder,
    closer: H::Parker,
    pub(super) life: Life<H, O>,
    pub(super) observer: O,
}

/// What lives under the one lock. Go: `sched.lock`.
pub(super) struct Central {
    pub(super) global: GlobQueue,
    pub(super) idle_ps: IdlePs,
    pub(super) sleeping: SleepingMs,
    /// Ms that were never started, or whose start failed.
    unused: Vec<MId>,
    /// Ms that were started and have not ended.
    pub(super) alive: usize,
    pub(super) closed: bool,
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
    pub fn new(config: Config, observer: O, life: Life<H, O>) -> Result<Arc<Self>, ConfigError> {
        let ring = config.check()?;
        let idle_mask = IdleMask::new(config.procs);
        let mut idle_ps = IdlePs::new();
        for p in (0..config.procs as u32).rev() {
            idle_ps.put(OwnedP::assume(PId(p)), &idle_mask);
        }
        Ok(Arc::new(Sched {
            ps: (0..config.procs).map(|_| LocalQueue::new(ring)).collect(),
            ms: (0..config.max_ms).map(|_| M::new()).collect(),
            spinning: CachePadded::new(Spinning::new()),
            idle_mask,
            global_len: CachePadded::new(Len::new()),
            closing: Atomic::new(false),
            lock: H::Lock::new(Central {
                global: GlobQueue::new(),
                idle_ps,
                sleeping: SleepingMs::new(),
                unused: (0..config.max_ms as u32).rev().map(MId).collect(),
                alive: 0,
                closed: false,
            }),
            steal_order: RandomOrder::new(config.procs),
            closer: H::Parker::new(),
            config,
            life,
            observer,
        }))
    }

    /// Starts the first M, to know that there can be one. From then on a refused thread only delays work.
    ///
    /// # Errors
    /// If the host cannot start a thread.
    pub fn start(self: &Arc<Self>) -> Result<(), SpawnError> {
        let Some(m) = self.lock.with(|c| c.reserve()) else { return Ok(()) };
        match spinning::Neighbours::pidleget(self, || ()) {
            Some(p) => self.ms[m.index()].post(Mail::Run { p, seeking: Some(self.spinning.become_spinning()) }),
            None => {
                self.exited(m); // every P is in use: there are Ms already
                return Ok(());
            }
        }
        let started = threads::Neighbours::newm(self, m);
        if started.is_err()
            && let Some(mail) = self.ms[m.index()].collect()
        {
            threads::give_back(mail, Some(m), &self.ms, self);
        }
        started
    }

    /// Queues `g` from any thread. Go: `newproc` and `goready` without a P.
    ///
    /// # Errors
    /// [`Closed`], with the G, after [`close`](Sched::close) was called.
    pub fn submit(self: &Arc<Self>, g: G) -> Result<(), Closed> {
        self.observer.event(Event::Queued { p: None, g: &g });
        self.lock.with(|c| {
            if c.closed {
                return Err(Closed(g));
            }
            c.global.put(g, &self.global_len);
            Ok(())
        })?;
        self.spinning.wakep(self);
        Ok(())
    }

    /// Queues `g` to run next under `worker`'s P. Go: `newproc`, `goready`.
    pub fn ready(self: &Arc<Self>, worker: &mut Worker, g: G) {
        self.observer.event(Event::Queued { p: Some(worker.p.id()), g: &g });
        self.local(worker).put_next(g, |half, g| self.spill(half, g));
        self.spinning.wakep(self);
    }

    /// Queues `g`, which `worker` has just run, behind everything else. Go: `Gosched`.
    pub fn yield_now(self: &Arc<Self>, _worker: &mut Worker, g: G) {
        self.observer.event(Event::Queued { p: None, g: &g });
        self.lock.with(|c| c.global.put(g, &self.global_len));
        self.spinning.wakep(self);
    }

    /// The next G for `worker` to run. Sleeps while there is none. `None`: the scheduler is closed, end the thread.
    /// Go: `schedule`.
    #[must_use = "the worker and its G are in it"]
    pub fn next(self: &Arc<Self>, worker: Worker) -> Option<(Worker, G)> {
        let found = find::find_runnable(worker, self.config.order.sources(), self);
        found.map_err(|m| self.exited(m)).ok()
    }

    /// Ends every M as soon as it has run the G it runs now, waits for that, and gives back the Gs that were never
    /// started. To be called by one thread, which is no M of this scheduler.
    pub fn close(&self) -> Vec<G> {
        let sleepers: Vec<MId> = self.lock.with(|c| {
            c.closed = true;
            // Relaxed: a hint for `take`; what counts is `closed`, under the lock.
            self.closing.store(true, Relaxed);
            core::iter::from_fn(|| c.sleeping.get()).collect()
        });
        for m in sleepers {
            self.ms[m.index()].deliver(Mail::Exit);
        }
        while self.lock.with(|c| c.alive > 0) {
            self.closer.park();
        }
        self.lock.with(|c| core::iter::from_fn(|| c.global.get(&self.global_len)).collect())
    }

    /// What the scheduler looks like now.
    pub fn snapshot(&self) -> Snapshot {
        self.lock.with(|c| Snapshot {
            local: self.ps.iter().map(LocalQueue::len).collect(),
            global: c.global.len(),
            idle_ps: c.idle_ps.len(),
            masks_agree: c.idle_ps.agrees_with(&self.idle_mask) && c.global.len() == self.global_len.peek(),
            nmspinning: self.spinning.count(),
            sleeping: c.sleeping.len(),
            alive: c.alive,
        })
    }

    /// Who watches.
    pub fn observer(&self) -> &O {
        &self.observer
    }

    /// The numbers it was made with.
    pub fn config(&self) -> &Config {
        &self.config
    }

    pub(super) fn local(&self, worker: &Worker) -> &LocalQueue<H> {
        &self.ps[worker.p.id().index()]
    }

    /// A full ring gives its older half, and the G that did not fit, to the global queue. Go: `runqputslow`.
    #[inline(never)]
    fn spill(&self, half: Spilled<'_, H, 32>, g: G) {
        self.lock.with(|c| c.global.put_batch(half.chain(core::iter::once(g)), &self.global_len));
    }

    /// An M has ended, or was never needed.
    pub(super) fn exited(&self, m: MId) {
        let was_last = self.lock.with(|c| self.release(c, m));
        self.tell_closer(was_last);
    }

    /// Takes `m`'s number back. Was it the last that a close waits for? Then [`tell_closer`](Sched::tell_closer).
    pub(super) fn release(&self, c: &mut Central, m: MId) -> bool {
        self.observer.event(Event::Exited { m });
        c.unused.push(m);
        c.alive -= 1;
        c.closed && c.alive == 0
    }

    /// After the lock is released: nobody is woken under it.
    pub(super) fn tell_closer(&self, was_last: bool) {
        if was_last {
            self.closer.unpark();
        }
    }
}

impl Central {
    /// A number for a new M, which counts as alive from now on. Go: `mReserveID`.
    pub(super) fn reserve(&mut self) -> Option<MId> {
        let m = self.unused.pop()?;
        self.alive += 1;
        Some(m)
    }
}

impl Worker {
    /// Which M this is.
    pub fn m(&self) -> MId {
        self.m
    }

    /// Which P it holds.
    pub fn p(&self) -> PId {
        self.p.id()
    }
}
