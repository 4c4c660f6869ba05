//! The rooms put together.
//!
//! A [`Sched`] owns the tables of Ps and Ms (type-stable: nothing in them is freed while it lives), the one lock, and
//! what is read without it. It implements what each room asks of the others; it decides nothing itself.
//!
//! Checked by: verification/src/models/sched.rs, verification/tests/stress.rs

use super::config::{Config, ConfigError};
use super::find::{self, Idled, Worker};
use super::g::G;
use super::globq::{GlobQueue, Len};
use super::idle::{IdleMask, IdlePs, SleepingMs};
use super::local::LocalQueue;
use super::m::{M, MId, Mail, Seeking};
use super::observer::{Event, Observer};
use super::p::{OwnedP, PId};
use super::random_order::RandomOrder;
use super::runq::Spilled;
use super::sources::Source;
use super::spinning::{self, Spinning};
use super::threads::{self, Available};
use crate::atomic::Atomic;
use crate::host::{Host, Lock, Parker, SpawnError};
use alloc::boxed::Box;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::Relaxed;
use crossbeam_utils::CachePadded;

/// What an M does with its life: calls [`Sched::next`] and runs the Gs it gets, until there is none.
pub type Life<H, O> = fn(&Arc<Sched<H, O>>, Worker);

/// A G-M-P scheduler on host `H`, watched by `O`.
pub struct Sched<H: Host, O: Observer = ()> {
    config: Config,
    ps: Box<[LocalQueue<H>]>,
    ms: Box<[M<H>]>,
    spinning: CachePadded<Spinning<H>>,
    idle_mask: IdleMask<H>,
    global_len: CachePadded<Len<H>>,
    /// A copy of `Central::closed`, to be read without the lock.
    closing: Atomic<H, bool>,
    lock: H::Lock<Central>,
    steal_order: RandomOrder,
    closer: H::Parker,
    life: Life<H, O>,
    observer: O,
}

/// What lives under the one lock. Go: `sched.lock`.
struct Central {
    global: GlobQueue,
    idle_ps: IdlePs,
    sleeping: SleepingMs,
    /// Ms that were never started, or whose start failed.
    unused: Vec<MId>,
    /// Ms that were started and have not ended.
    alive: usize,
    closed: bool,
}

/// The scheduler is closed. The G comes back.
#[derive(Debug)]
#[must_use = "the G was not queued"]
pub struct Closed(pub G);

/// A scheduler at one moment, taken under its lock. What others own is a guess while they run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Gs in each P's queues.
    pub local: Vec<usize>,
    /// Gs in the global queue.
    pub global: usize,
    /// Idle Ps.
    pub idle_ps: usize,
    /// Do the list of idle Ps, their bits and their count agree?
    pub masks_agree: bool,
    /// Ms counted as looking for work.
    pub nmspinning: usize,
    /// Ms that sleep.
    pub sleeping: usize,
    /// Ms that were started and have not ended.
    pub alive: usize,
}

impl Snapshot {
    /// Do all Ms sleep? Then nothing moves until somebody submits.
    pub fn is_quiescent(&self) -> bool {
        self.sleeping == self.alive
    }

    /// At quiescence: what is wrong, if anything. Invariants 30 to 34.
    pub fn violation(&self) -> Option<&'static str> {
        let queued = self.global + self.local.iter().sum::<usize>();
        if queued > 0 && self.idle_ps > 0 {
            Some("a G waits and a P is idle, but every M sleeps")
        } else if self.nmspinning != 0 {
            Some("every M sleeps, but some are counted as spinning")
        } else if self.idle_ps != self.local.len() {
            Some("every M sleeps, but a P is not idle")
        } else if !self.masks_agree {
            Some("the idle list and its mask differ")
        } else {
            None
        }
    }
}

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

    fn local(&self, worker: &Worker) -> &LocalQueue<H> {
        &self.ps[worker.p.id().index()]
    }

    /// A full ring gives its older half, and the G that did not fit, to the global queue. Go: `runqputslow`.
    #[inline(never)]
    fn spill(&self, half: Spilled<'_, H, 32>, g: G) {
        self.lock.with(|c| c.global.put_batch(half.chain(core::iter::once(g)), &self.global_len));
    }

    /// One from the global queue, or with `share` a fair share: the rest goes into the ring, which is empty.
    fn take_global(&self, c: &mut Central, worker: &mut Worker, share: bool) -> Option<G> {
        let g = if share {
            let local = self.local(worker);
            c.global.get_batch(self.config.procs, self.config.ring / 2, &self.global_len, |mut gs| {
                local.put_batch(&mut gs);
            })?
        } else {
            c.global.get(&self.global_len)?
        };
        worker.p.turn().from_global();
        Some(g)
    }

    /// Go: `stealWork`.
    fn steal(&self, worker: &mut Worker) -> Option<G> {
        if worker.seeking.is_none() {
            if !self.spinning.may_spin(self.config.procs, self.idle_mask.npidle()) {
                return None;
            }
            self.observer.event(Event::Spinning { m: worker.m });
            worker.seeking = Some(self.spinning.become_spinning());
        }
        let mine = self.local(worker);
        for pass in 1..=self.config.steal_passes {
            let is_last = pass == self.config.steal_passes;
            for victim in self.steal_order.pick(H::choose) {
                if victim == worker.p.id().index() || self.idle_mask.is_idle(PId(victim as u32)) {
                    continue;
                }
                if let Some(g) = self.ps[victim].steal_into(mine, is_last, H::relax) {
                    worker.p.turn().from_ring();
                    return Some(g);
                }
            }
        }
        None
    }

    /// An M has ended, or was never needed.
    fn exited(&self, m: MId) {
        let was_last = self.lock.with(|c| {
            self.observer.event(Event::Exited { m });
            c.unused.push(m);
            c.alive -= 1;
            c.closed && c.alive == 0
        });
        if was_last {
            self.closer.unpark();
        }
    }
}

impl Central {
    /// A number for a new M, which counts as alive from now on. Go: `mReserveID`.
    fn reserve(&mut self) -> Option<MId> {
        let m = self.unused.pop()?;
        self.alive += 1;
        Some(m)
    }
}

impl<H: Host, O: Observer> spinning::Neighbours for Arc<Sched<H, O>> {
    type IdleP = OwnedP;

    fn any_work(&self) -> bool {
        self.global_len.peek() > 0 || self.ps.iter().any(|p| !p.is_empty())
    }

    fn pidleget(&self, or_else: impl FnOnce()) -> Option<OwnedP> {
        self.lock.with(|c| {
            let p = if c.closed { None } else { c.idle_ps.get(&self.idle_mask) };
            if p.is_none() {
                or_else();
            }
            p
        })
    }

    fn startm(&self, p: OwnedP, seeking: Seeking) {
        threads::startm(Mail::Run { p, seeking: Some(seeking) }, &self.ms, self);
    }
}

impl<H: Host, O: Observer> threads::Neighbours<H> for Arc<Sched<H, O>> {
    fn mget(&self) -> Available {
        self.lock.with(|c| match c.sleeping.get() {
            Some(m) => {
                self.observer.event(Event::Woken { m });
                Available::Sleeping(m)
            }
            None if c.closed => Available::None,
            None => c.reserve().map_or(Available::None, Available::New),
        })
    }

    fn mput(&self, m: MId) -> Option<Mail> {
        self.lock.with(|c| {
            if c.closed {
                return Some(Mail::Exit);
            }
            if !c.idle_ps.is_empty()
                && let Some(seeking) = self.spinning.called_upon()
            {
                return c.idle_ps.get(&self.idle_mask).map(|p| Mail::Run { p, seeking: Some(seeking) });
            }
            c.sleeping.put(m);
            self.observer.event(Event::Slept { m, sleeping: c.sleeping.len(), alive: c.alive });
            None
        })
    }

    fn newm(&self, m: MId) -> Result<(), SpawnError> {
        self.observer.event(Event::Starting { m });
        let sched = Arc::clone(self);
        H::spawn(&format!("spinpark-m{}", m.0), move || {
            if let Some(Mail::Run { p, seeking }) = sched.ms[m.index()].collect() {
                (sched.life)(&sched, Worker { m, p, seeking });
            }
        })
    }

    fn refused(&self, mail: Mail, m: Option<MId>) -> Option<(MId, Mail)> {
        self.observer.event(Event::Refused);
        let late = self.lock.with(|c| {
            if let Some(sleeper) = c.sleeping.get() {
                return Some((sleeper, mail));
            }
            if let Mail::Run { p, seeking } = mail {
                c.idle_ps.put(p, &self.idle_mask);
                self.spinning.ask_for_seeker();
                seeking.into_iter().for_each(|seeking| self.spinning.give_up(seeking));
            }
            None
        });
        m.into_iter().for_each(|m| self.exited(m));
        late
    }
}

impl<H: Host, O: Observer> find::Neighbours for Arc<Sched<H, O>> {
    fn take(&self, worker: &mut Worker, from: Source) -> Option<G> {
        // Relaxed: a hint. Missing it costs one more G; `idle` looks under the lock.
        if self.closing.load(Relaxed) {
            return None;
        }
        let g = match from {
            Source::GlobalTurn if !worker.p.turn().is_global(self.config.global_every) => None,
            Source::GlobalTurn | Source::Global if self.global_len.peek() == 0 => None,
            Source::GlobalTurn => self.lock.with(|c| self.take_global(c, worker, false)),
            Source::Global => self.lock.with(|c| self.take_global(c, worker, true)),
            Source::Local => self.ps[worker.p.id().index()].get(worker.p.turn(), self.config.inherit_at_most),
            Source::Steal => self.steal(worker),
        }?;
        self.observer.event(Event::Found { m: worker.m, p: worker.p.id(), g: &g, from });
        Some(g)
    }

    fn found(&self, worker: &mut Worker) {
        if let Some(seeking) = worker.seeking.take() {
            self.spinning.found_work(seeking, self);
        }
    }

    fn idle(&self, mut worker: Worker) -> Idled {
        self.lock.with(|c| {
            if c.closed {
                c.global.put_batch(self.local(&worker).drain(), &self.global_len);
                worker.seeking.into_iter().for_each(|seeking| self.spinning.give_up(seeking));
                c.idle_ps.put(worker.p, &self.idle_mask);
                return Idled::Closed(worker.m);
            }
            if let Some(g) = self.take_global(c, &mut worker, true) {
                self.observer.event(Event::Found { m: worker.m, p: worker.p.id(), g: &g, from: Source::Global });
                return Idled::Work(worker, g);
            }
            if worker.seeking.is_none() {
                worker.seeking = self.spinning.called_upon();
                if worker.seeking.is_some() {
                    return Idled::CalledUpon(worker);
                }
            }
            let Worker { m, p, seeking } = worker;
            debug_assert!(self.ps[p.id().index()].is_empty(), "idle: P{} still holds Gs", p.id().0);
            self.observer.event(Event::Idled { m, p: p.id() });
            c.idle_ps.put(p, &self.idle_mask);
            Idled::Idle(m, seeking)
        })
    }

    fn stop(&self, m: MId, seeking: Option<Seeking>) -> Mail {
        match seeking.and_then(|seeking| self.spinning.retire(seeking, self)) {
            Some((p, seeking)) => Mail::Run { p, seeking: Some(seeking) },
            None => threads::stopm(m, &self.ms, self),
        }
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
