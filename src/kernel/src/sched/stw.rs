//! The scheduler's side of stopping the world, of the safepoint, and of changing the number of Ps.
//!
//! Go: `stopTheWorld`, `startTheWorld`, `forEachP`, `procresize`, `GOMAXPROCS`.
//!
//! **A stopper has no P of its own**: a G that stops the world gives its P first, like any other. So two stoppers cannot wait
//! for each other.
//!
//! Checked by: verification/src/models/{stw,lists,sched,whole}.rs, verification/rooms/src/rooms/sched.rs

use crate::host::{Host, Parker};
use crate::protocol::find::Worker;
use crate::protocol::stw;
use crate::protocol::stw::resize;
use crate::protocol::stw::safepoint::{self, Safepoint, SafepointFn};
use crate::protocol::stw::wanted::Want;
use crate::protocol::syscall::Away;
use crate::protocol::threads;
use crate::sched::Sched;
use crate::sched::central::Central;
use crate::sched::config::ConfigError;
use crate::sched::observer::{Event, Observer};
use crate::types::m::{MId, NextP};
use crate::types::p::{OwnedP, PId};
use crate::types::token::Unspent;
use alloc::{sync::Arc, vec::Vec};
use core::sync::atomic::Ordering::Relaxed;

/// Evidence that the world is stopped: no P runs until it is given to [`Sched::start_the_world`].
#[must_use = "a world that is stopped has to be started"]
#[derive(Debug)]
pub struct StoppedWorld {
    /// The M whose G stopped it, and the P it had.
    away: Option<(MId, PId)>,
    sched: usize,
    unspent: Unspent<StoppedWorld>,
}

/// A thread that stops the world, or passes a safepoint.
struct Stopper<'a, H: Host, O: Observer> {
    sched: &'a Arc<Sched<H, O>>,
    parker: Arc<H::Parker>,
    run: Option<&'a Arc<SafepointFn>>,
}

impl<H: Host, O: Observer> Sched<H, O> {
    /// Stops the world: returns when no G runs. From any thread; from inside a G with its `worker`. Other stoppers come
    /// after, in order. A G that runs is waited for until it yields, ends, or enters a system call.
    ///
    /// Not from inside a world that the caller has stopped: it would wait for itself.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, worker| {
    /// let stopped = sched.stop_the_world(Some(worker));
    /// // No G runs here, but this one.
    /// let away = sched.start_the_world(stopped).expect("a G stopped it");
    /// let (worker, _) = sched.exitsyscall_bound(away);
    /// # worker }) }
    /// ```
    pub fn stop_the_world(self: &Arc<Self>, worker: Option<Worker>) -> StoppedWorld {
        let (away, own) = worker.map(|worker| self.leaves(worker)).map(|(m, p)| ((m, p.id()), p)).unzip();
        let (stopper, own) = self.queue_up(own, None);
        stw::stop::<H>(own, &stopper);
        self.observer.event(Event::Stopped);
        StoppedWorld { away, sched: self.id(), unspent: Unspent::new() }
    }

    /// Starts the world: Ps that have work are run, the others are idle. `Some`, if it was stopped by a G: its M has to
    /// come back as from a system call.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() {
    /// let sched = Sched::<Os>::new(Config::default(), (), live).expect("numbers that are allowed");
    /// let stopped = sched.stop_the_world(None); // this thread is no M
    /// assert!(sched.start_the_world(stopped).is_none());
    /// sched.close();
    /// # }
    /// ```
    pub fn start_the_world(self: &Arc<Self>, stopped: StoppedWorld) -> Option<Away> {
        self.check(stopped.sched, "StoppedWorld");
        stopped.unspent.spend();
        let busy = self.central(|c| {
            let ps = c.world.resume();
            self.observer.event(Event::Started { procs: ps.len() });
            self.wanted.done(Want::Stop);
            self.rouse_monitor(c);
            let (busy, idle): (Vec<_>, Vec<_>) = ps.into_iter().partition(|p| !self.proc(p.id()).queue.is_empty());
            // The last is the first to be used.
            idle.into_iter().rev().for_each(|p| self.releasep(c, p, false));
            self.leave_line(c);
            // For the Gs that were queued meanwhile, and for those in the rings of the busy Ps.
            c.calls.wakep();
            busy
        });
        busy.into_iter().for_each(|p| threads::startm(NextP::Run { p, token: None }, &self.ms, self));
        stopped.away.map(|(m, p)| Away::without(self.id(), m, p))
    }

    /// From now on there are `procs` Ps. Returns how many there were. Go: `procresize`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() {
    /// let sched = Sched::<Os>::new(Config { max_procs: 8, ..Config::default() }, (), live).expect("numbers that are allowed");
    /// let mut stopped = sched.stop_the_world(None);
    /// assert_eq!(sched.procresize(&mut stopped, 8), Ok(1));
    /// assert!(sched.procresize(&mut stopped, 9).is_err());
    /// sched.start_the_world(stopped);
    /// assert_eq!(sched.procs(), 8);
    /// sched.close();
    /// # }
    /// ```
    ///
    /// # Errors
    /// If there is no place for so many, or it is none.
    pub fn procresize(self: &Arc<Self>, stopped: &mut StoppedWorld, procs: usize) -> Result<usize, ConfigError> {
        self.check(stopped.sched, "StoppedWorld");
        let capacity = self.config.capacity();
        if !(1..=capacity).contains(&procs) {
            return Err(ConfigError::NoRoom { procs, capacity });
        }
        Ok(self.central(|c| {
            let before = self.procs();
            let Central { world, spare, global, .. } = c;
            resize::procresize(world.resize(procs), spare, procs, |p| {
                global.put_front(self.proc(p.id()).queue.drain(), &self.global_len);
            });
            // Relaxed: written while the world is stopped. An M that gets a P after that gets it under the lock, or by `nextp`.
            self.procs.store(procs as u32, Relaxed);
            before
        }))
    }

    /// Runs `f` once under each P, without stopping all of them at once; returns when it has run for all. From any
    /// thread; from inside a G with its `worker`, whose M then has to come back as from a system call. `f` must neither
    /// panic nor wait. The scheduler has no reference to it any more then.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() {
    /// use spinpark_kernel::protocol::stw::safepoint::SafepointFn;
    /// let sched = Sched::<Os>::new(Config { procs: 3, ..Config::default() }, (), live).expect("numbers that are allowed");
    /// let seen = Arc::new(AtomicU64::new(0));
    /// let count = Arc::clone(&seen);
    /// let f: Arc<SafepointFn> = Arc::new(move |_| drop(count.fetch_add(1, Ordering::Relaxed)));
    /// sched.for_each_p(None, &f);
    /// assert_eq!(seen.load(Ordering::Relaxed), 3);
    /// sched.close();
    /// # }
    /// ```
    pub fn for_each_p(self: &Arc<Self>, worker: Option<Worker>, f: &Arc<SafepointFn>) -> Option<Away> {
        let (away, own) = worker.map(|worker| self.leaves(worker)).map(|(m, p)| ((m, p.id()), p)).unzip();
        let (stopper, own) = self.queue_up(own, Some(f));
        safepoint::for_each_p::<H>(own, &stopper);
        away.map(|(m, p)| Away::without(self.id(), m, p))
    }

    /// Waits for the turn to stop the world; `own` is handed off if that takes time. Go: `worldsema`.
    fn queue_up<'a>(
        self: &'a Arc<Self>,
        own: Option<OwnedP>,
        run: Option<&'a Arc<SafepointFn>>,
    ) -> (Stopper<'a, H, O>, Option<OwnedP>) {
        let parker = Arc::new(H::Parker::new());
        let stopper = |parker| Stopper { sched: self, parker, run };
        if self.central(|c| c.world.queue_up(&parker)) {
            return (stopper(parker), own);
        }
        own.into_iter().for_each(|p| self.handoffp(p));
        while !self.central(|c| c.world.is_first(&parker)) {
            parker.park();
        }
        (stopper(parker), None)
    }

    fn leave_line(&self, c: &mut Central<H>) {
        let next = c.world.leave_line();
        c.calls.wake(next);
    }

    /// Takes every P that is in a system call.
    fn take_from_syscalls(&self) -> impl Iterator<Item = OwnedP> {
        (0..self.procs()).filter_map(|p| self.proc(PId(p as u32)).syscall_word.take_any())
    }

    /// Runs the safepoint's function under `p`, if one is wanted.
    pub(crate) fn attend(self: &Arc<Self>, p: &OwnedP) {
        if !self.wanted.is(Want::Safepoint) {
            return;
        }
        if let Some(run) = self.central(|c| c.safepoint.as_mut()?.begin(p)) {
            run(p.id());
            self.central(|c| {
                let caller = c.safepoint.as_mut().and_then(|safepoint| safepoint.ran(run));
                c.calls.wake(caller);
            });
        }
    }
}

impl<H: Host, O: Observer> stw::Neighbours for Stopper<'_, H, O> {
    fn begin(&self, own: Option<OwnedP>) {
        self.sched.central(|c| {
            c.world.begin_stop();
            self.sched.wanted.ask(Want::Stop);
            own.into_iter().for_each(|p| self.sched.releasep(c, p, false));
            while let Some(p) = c.idle_ps.get(&self.sched.idle_mask) {
                self.sched.releasep(c, p, false);
            }
        });
    }

    fn take_from_syscalls(&self) {
        self.sched.take_from_syscalls().for_each(|p| self.sched.central(|c| self.sched.releasep(c, p, false)));
    }

    fn is_stopped(&self) -> bool {
        self.sched.central(|c| c.world.is_stopped())
    }

    fn sleep(&self) {
        self.parker.park();
    }
}

impl<H: Host, O: Observer> safepoint::Neighbours for Stopper<'_, H, O> {
    fn begin(&self) -> Vec<OwnedP> {
        let Some(run) = self.run.cloned() else { return Vec::new() };
        self.sched.central(|c| {
            c.safepoint = Some(Safepoint::new(self.sched.procs(), run, Arc::clone(&self.parker)));
            self.sched.wanted.ask(Want::Safepoint);
            core::iter::from_fn(|| self.sched.pidleget(c)).collect()
        })
    }

    fn take_from_syscalls(&self) -> Vec<OwnedP> {
        self.sched.take_from_syscalls().collect()
    }

    fn pass(&self, p: OwnedP) {
        self.sched.handoffp(p);
    }

    fn finish(&self) {
        while !self.sched.central(|c| c.safepoint.as_ref().is_none_or(Safepoint::is_passed)) {
            self.parker.park();
        }
        self.sched.central(|c| {
            c.safepoint = None;
            self.sched.wanted.done(Want::Safepoint);
            self.sched.leave_line(c);
        });
    }
}
