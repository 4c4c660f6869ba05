//! The scheduler's side of an M without a P: system calls, bound Gs, yielding.
//!
//! Go: `entersyscall`, `exitsyscall`, `stoplockedm`, `startlockedm`, `gopark` of a locked G, `goschedImpl`.
//!
//! **A G that runs on its M's own stack cannot go to another M.** It is bound to it: when it has to wait for a P, a
//! ticket for its M is queued (see `locked`), and the M sleeps until a P comes in its `nextp`.
//!
//! Checked by: verification/src/models/{lists,sched,whole}.rs, verification/rooms/src/rooms/sched.rs

use crate::host::Host;
use crate::protocol::find::Worker;
use crate::protocol::handoff;
use crate::protocol::locked::{Wake, Woken};
use crate::protocol::stw::wanted::Want;
use crate::protocol::syscall::{self, Away, Way};
use crate::protocol::threads;
use crate::sched::Sched;
use crate::sched::observer::{Event, Observer};
use crate::types::g::G;
use crate::types::m::{MId, NextP};
use crate::types::p::{OwnedP, PId};
use alloc::sync::Arc;
use core::sync::atomic::Ordering::Relaxed;

impl<H: Host, O: Observer> Sched<H, O> {
    /// The G that `worker` runs is about to make a system call, which may be short: its P stays in its word until a thread
    /// takes it. Go: `entersyscall`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, worker| {
    /// let away = sched.entersyscall(worker);
    /// // The system call. Meanwhile the P may be taken: by the monitor, or by an M that stops the world.
    /// let Ok((worker, g1, way)) = sched.exitsyscall(away, g(1)) else { panic!("there was no P") };
    /// assert_eq!((g1, way), (g(1), spinpark_kernel::protocol::syscall::Way::Kept));
    /// # worker }) }
    /// ```
    #[inline]
    pub fn entersyscall(self: &Arc<Self>, worker: Worker) -> Away {
        let (m, p) = self.leaves(worker);
        self.observer.event(Event::Entered { m, p: p.id(), blocks: false });
        syscall::entersyscall(m, p, self).signed(self.id())
    }

    /// Queues `g`, which `worker` has just run, behind all others. Go: `Gosched`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, mut worker| {
    /// sched.submit(g(8)).expect("it is open");
    /// sched.yield_now(&mut worker, g(1)); // this M has run it
    /// let (worker, next) = sched.next(worker).expect("it is open");
    /// assert_eq!(next, g(8));
    /// # worker }) }
    /// ```
    pub fn yield_now(self: &Arc<Self>, worker: &mut Worker, g: G) {
        self.check(worker.sched, "Worker");
        self.observer.event(Event::Queued { p: None, g: &g, next: false });
        self.central(|c| c.global.put(g, &self.global_len));
        self.wake_another();
    }

    /// Queues `g`, which `worker` has just run, behind what waits under the same P, and wakes no M, unless the ring is
    /// full: the caller searches next. Go: `goyield`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, mut worker| {
    /// sched.ready(&mut worker, g(8));
    /// sched.goyield(&mut worker, g(1)); // this M has run it
    /// assert_eq!(sched.next_local(&worker), Some(g(8)));
    /// assert_eq!(sched.next_local(&worker), Some(g(1)));
    /// # worker }) }
    /// ```
    #[inline]
    pub fn goyield(self: &Arc<Self>, worker: &mut Worker, g: G) {
        self.check(worker.sched, "Worker");
        self.observer.event(Event::Queued { p: Some(worker.p.id()), g: &g, next: false });
        self.queue(worker).put(g, |half, g| self.spill(half, g));
    }

    /// The preempted G of `away` enters a system call: its M has left its P already, and counts as any other in a system
    /// call from now on. If that is known to block, and the P still is in its word, it is handed off at once.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, worker| {
    /// let away = sched.interrupt(worker);
    /// let away = sched.enter_syscall_detached(away, true);
    /// assert_eq!(sched.detached(), 0);
    /// let (worker, _) = sched.exitsyscall_bound(away);
    /// # worker }) }
    /// ```
    pub fn enter_syscall_detached(self: &Arc<Self>, away: Away, blocks: bool) -> Away {
        self.check(away.sched, "Away");
        let away = away.enters_syscall();
        self.reattached();
        if blocks && let Some(p) = syscall::take_left(&away, self) {
            self.handoffp(p);
        }
        away
    }

    /// An M that was detached serves other Gs again, or its G waits, or is in a system call.
    #[cold]
    fn reattached(&self) {
        // Relaxed: counted.
        self.detached.fetch_sub(1, Relaxed);
    }

    /// The G that `worker` runs waits, or enters a system call: its M counts as any other's.
    #[inline]
    pub(crate) fn leaves(&self, worker: Worker) -> (MId, OwnedP) {
        self.check(worker.sched, "Worker");
        if worker.is_detached {
            self.reattached();
        }
        worker.take_apart()
    }

    /// `worker` looks for a G: none is on its M any more.
    #[inline]
    pub(crate) fn serves(&self, worker: &mut Worker) {
        self.check(worker.sched, "Worker");
        if core::mem::take(&mut worker.is_detached) {
            self.reattached();
        }
    }

    /// The same, for a system call that is known to block: its P is handed off at once. Go: `entersyscallblock`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, worker| {
    /// let away = sched.entersyscallblock(worker); // another M has the P
    /// let (worker, _) = sched.exitsyscall_bound(away);
    /// # worker }) }
    /// ```
    pub fn entersyscallblock(self: &Arc<Self>, worker: Worker) -> Away {
        let (m, p) = self.leaves(worker);
        self.observer.event(Event::Entered { m, p: p.id(), blocks: true });
        syscall::entersyscallblock(m, p, self).signed(self.id())
    }

    /// Back from the system call. `Err`: there was no P for `g`, it is queued and an M will run it; the M has to
    /// [`rest`](Sched::rest). Go: `exitsyscall`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, worker| {
    /// let mut away = sched.entersyscallblock(worker);
    /// let worker = match sched.exitsyscall(away, g(1)) {
    ///     Ok((worker, _, _)) => worker,                             // it goes on with G 1
    ///     Err(m) => sched.rest(m).expect("it is open"),             // G 1 is queued; the M sleeps until there is work
    /// };
    /// # worker }) }
    /// ```
    ///
    /// # Errors
    /// The M.
    pub fn exitsyscall(self: &Arc<Self>, away: Away, g: G) -> Result<(Worker, G, Way), MId> {
        self.check(away.sched, "Away");
        let (m, was_detached) = (away.m(), away.was_detached());
        let back = syscall::exitsyscall(away, g, self);
        if back.is_err() && was_detached {
            self.reattached();
        }
        let (p, g, way) = back?;
        self.observer.event(Event::Returned { m, p: p.id(), way });
        Ok((Worker::new(self.id(), m, p, was_detached), g, way))
    }

    /// Back from the system call, with a G that cannot leave its M: waits for a P if there is none.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, worker| {
    /// let (worker, way) = sched.exitsyscall_bound(sched.entersyscall(worker));
    /// assert_eq!(way, spinpark_kernel::protocol::syscall::Way::Kept);
    /// # worker }) }
    /// ```
    #[inline]
    pub fn exitsyscall_bound(self: &Arc<Self>, away: Away) -> (Worker, Way) {
        self.check(away.sched, "Away");
        let (m, was_detached) = (away.m(), away.was_detached());
        let (p, way) = match syscall::exitsyscall(away, G::bound_to(m), self) {
            Ok((p, ticket, way)) => {
                ticket.into_raw();
                (p, way)
            }
            Err(m) => (self.wait_p(m), Way::Queued),
        };
        self.observer.event(Event::Returned { m, p: p.id(), way });
        (Worker::new(self.id(), m, p, was_detached), way)
    }

    /// An M without a P sleeps until there is work for it. `None`: the scheduler is closed, end the thread.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, worker| {
    /// let away = sched.entersyscallblock(worker);
    /// let worker = match sched.exitsyscall(away, g(1)) {
    ///     Ok((worker, ..)) => worker,
    ///     Err(m) => sched.rest(m).expect("it is open"),
    /// };
    /// # worker }) }
    /// ```
    #[must_use = "the worker is in it"]
    pub fn rest(self: &Arc<Self>, m: MId) -> Option<Worker> {
        match threads::stopm(m, &self.ms, self) {
            NextP::Run { p, token } => {
                self.notify_got(m, &p, &token);
                Some(Worker::woken(self.id(), m, p, token))
            }
            NextP::Exit => {
                self.exited(m);
                None
            }
        }
    }

    /// The G that `worker` runs, and which cannot leave its M, waits until its M is readied, or spuriously.
    /// Meanwhile its P is handed off. Go: `gopark` of a locked G, `stoplockedm`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, worker| {
    /// use spinpark_kernel::protocol::locked::{Wake, Woken};
    /// let (other, m) = (Arc::clone(sched), worker.m());
    /// thread::spawn(move || other.ready_bound(m));
    /// let (worker, why) = sched.park_bound(worker, Wake::Outside);
    /// assert_eq!(why, Woken::Ready);
    /// # worker }) }
    /// ```
    pub fn park_bound(self: &Arc<Self>, worker: Worker, wake: Wake) -> (Worker, Woken) {
        self.check(worker.sched, "Worker");
        let m = worker.m;
        let waits = self.central(|c| match c.closed {
            true => Err(Woken::Closed),
            false if c.bound.wait(m, wake) => Ok(()),
            false => Err(Woken::Ready),
        });
        if let Err(woken) = waits {
            return (worker, woken);
        }
        let (m, p) = self.leaves(worker);
        self.observer.event(Event::Left { m, p: p.id(), waits: true });
        self.handoffp(p);
        self.central(|c| {
            if c.bound.rest(m) {
                self.checkdead(c);
            }
        });
        let p = self.wait_p(m);
        (Worker::new(self.id(), m, p, false), self.central(|c| c.bound.woken(m)))
    }

    /// Readies the G that is bound to `m`; if it does not wait yet, its next wait ends at once. From any thread.
    /// Go: `goready` of a locked G.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, worker| {
    /// use spinpark_kernel::protocol::locked::{Wake, Woken};
    /// sched.ready_bound(worker.m()); // before its wait: that ends at once
    /// let (worker, why) = sched.park_bound(worker, Wake::Inside);
    /// assert_eq!(why, Woken::Ready);
    /// # worker }) }
    /// ```
    pub fn ready_bound(self: &Arc<Self>, m: MId) {
        self.central(|c| {
            if c.bound.ready(m, Woken::Ready) {
                self.send_for(c, m);
            }
        });
    }

    /// The G that `worker` runs, and which cannot leave its M, yields for others: for a stop, for a safepoint, or
    /// for what waits; goes on when it is its turn. From now on its M is detached, if it may be: others may have a thread in
    /// its place, also when it runs again. (Ms that came back and counted again would be all that may be, with a P each, and
    /// the Gs they yield to would have none.) Go: `Gosched` of a locked G.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, worker| {
    /// sched.submit(g(7)).expect("it is open");
    /// let worker = sched.yield_bound(worker); // another M runs G 7 meanwhile
    /// # worker }) }
    /// ```
    pub fn yield_bound(self: &Arc<Self>, worker: Worker) -> Worker {
        self.check(worker.sched, "Worker");
        // Relaxed: cleared by the owner; a request that comes just now is for a slice that ends here.
        self.proc(worker.p.id()).preempt.store(false, Relaxed);
        self.attend(&worker.p);
        let is_stopping = self.wanted.is(Want::Stop);
        let has_work = |&source: &_| handoff::Neighbours::has_work(self, &worker.p, source);
        if !is_stopping && !self.config.order.sources().iter().any(has_work) {
            return worker;
        }
        let (was_detached, is_detached) = (worker.is_detached, self.can_detach(&worker));
        let (m, p) = worker.take_apart();
        self.observer.event(Event::Left { m, p: p.id(), waits: false });
        if is_detached && !was_detached {
            self.detaches();
        }
        self.central(|c| c.global.put(G::bound_to(m), &self.global_len));
        self.handoffp(p);
        let p = self.wait_p(m);
        Worker::new(self.id(), m, p, is_detached)
    }

    /// Is an M available now, one that sleeps or a new one? Stale as soon as it is known.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, worker| {
    /// assert!(sched.can_start_m()); // `max_ms` is 512
    /// # worker }) }
    /// ```
    pub fn can_start_m(self: &Arc<Self>) -> bool {
        self.central(|c| !c.sleeping.is_empty() || self.may_start(c))
    }

    /// `worker`'s thread ends, though the scheduler is open: its G ended while it was bound. Go: `mexit`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() {
    /// let life = |sched: &Arc<Sched<Os>>, worker| {
    ///     let Some((worker, _)) = sched.next(worker) else { return };
    ///     sched.end(worker); // one G a thread
    /// };
    /// let sched = Sched::new(Config::default(), (), life).expect("numbers that are allowed");
    /// (1..=3).for_each(|n| sched.submit(g(n)).expect("it is open"));
    /// while sched.snapshot().global > 0 {
    ///     thread::yield_now();
    /// }
    /// sched.close();
    /// assert_eq!(sched.lost(), 0);
    /// # }
    /// ```
    pub fn end(self: &Arc<Self>, worker: Worker) {
        let (m, p) = self.leaves(worker);
        self.handoffp(p);
        self.exited(m);
    }

    /// `worker` has found the ticket of M `bound`: gives it its P, and rests. Go: `startlockedm`.
    pub(crate) fn startlockedm(self: &Arc<Self>, worker: Worker, bound: MId) -> Option<Worker> {
        let (m, p) = worker.take_apart();
        self.observer.event(Event::Left { m, p: p.id(), waits: false });
        self.ms[bound.index()].wake_with(NextP::Run { p, token: None });
        self.rest(m)
    }

    /// Sleeps until a P comes for the G that is bound to this M.
    fn wait_p(&self, m: MId) -> OwnedP {
        match self.ms[m.index()].wait_nextp() {
            NextP::Run { p, token } => {
                debug_assert!(token.is_none(), "syscall: the M of a bound G was woken to spin");
                token.into_iter().for_each(|token| self.spinning.give_up(token));
                self.observer.event(Event::Got { m, p: p.id() });
                p
            }
            NextP::Exit => unreachable!("syscall: an M with a G was woken to exit"),
        }
    }
}

impl<H: Host, O: Observer> syscall::Neighbours<H> for Arc<Sched<H, O>> {
    #[inline]
    fn syscall_word(&self, p: PId) -> &syscall::SyscallWord<H> {
        &self.proc(p).syscall_word
    }

    #[inline]
    fn is_wanted(&self) -> bool {
        self.wanted.any()
    }

    fn handoffp(&self, p: OwnedP) {
        Sched::handoffp(self, p);
    }

    fn pidleget_or_queue(&self, g: G) -> Option<(OwnedP, G)> {
        self.central(|c| match Sched::pidleget(self, c) {
            Some(p) => Some((p, g)),
            None => {
                c.global.put(g, &self.global_len);
                None
            }
        })
    }
}
