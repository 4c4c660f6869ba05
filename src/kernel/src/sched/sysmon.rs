//! The monitor's loop around its verdicts: a thread without a P.
//!
//! Go: `sysmon`, `retake`, `sysmonwait`, `sysmonnote`.
//!
//! **It sleeps until it is woken only while every P is idle, or the world is stopped.** Both are known under the lock, and a
//! thread that takes an idle P or starts the world sees there that the monitor sleeps, and wakes it. Before that it takes
//! some long pauses, which only the closing of the scheduler ends.
//!
//! What it requests, preemption, is here too: how a G is asked for it, and how one that ignores it loses its P.
//!
//! Without a monitor the kernel works, but a P whose M entered a system call by `entersyscall` stays there, and Ms that
//! sleep for long never end.
//!
//! Checked by: verification/src/models/{monitor,lists,whole}.rs, verification/rooms/src/rooms/sched.rs

use crate::host::{Host, Nanos, Parker, SpawnError};
use crate::protocol::find::Worker;
use crate::protocol::stw::wanted::Want;
use crate::protocol::syscall::{self, Away, Way};
use crate::protocol::sysmon::{Around, Observed, Pace, SysmonTick, Verdict};
use crate::sched::Sched;
use crate::sched::central::{Central, Monitor};
use crate::sched::observer::{Event, Observer};
use crate::types::m::NextP;
use crate::types::p::PId;
use alloc::{boxed::Box, sync::Arc};
use core::sync::atomic::Ordering::Relaxed;

/// What the monitor remembers from tick to tick.
#[derive(Debug)]
pub struct SysmonTicks {
    seen: Box<[SysmonTick]>,
    pace: Pace,
}

/// What there is to do before the next tick.
enum Doze {
    /// Tick, and pause.
    None,
    /// Sleep until a thread wakes the monitor, or so much time has passed.
    Deep(Option<Nanos>),
    /// The scheduler is closed, and every M has ended.
    End,
}

impl<H: Host, O: Observer> Sched<H, O> {
    /// Starts the monitor, once. It ends when the scheduler is closed.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() {
    /// let sched = Sched::<Os>::new(Config::default(), (), live).expect("numbers that are allowed");
    /// sched.start_sysmon().expect("there can be a thread");
    /// sched.close(); // ends the monitor
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the host cannot start a thread.
    pub fn start_sysmon(self: &Arc<Self>) -> Result<(), SpawnError> {
        self.central(|c| c.monitor = Monitor::Awake);
        let sched = Arc::clone(self);
        let started = H::spawn("spinpark-sysmon", move || sched.sysmon());
        if started.is_err() {
            self.central(|c| c.monitor = Monitor::Absent);
        }
        started
    }

    /// What the monitor remembers at first.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, worker| {
    /// let mut ticks = sched.watch();
    /// sched.tick(&mut ticks, Os::now());
    /// # worker }) }
    /// ```
    pub fn watch(&self) -> SysmonTicks {
        SysmonTicks { seen: (0..self.config.capacity()).map(|_| SysmonTick::default()).collect(), pace: Pace::new() }
    }

    /// The monitor's life. Go: `sysmon`.
    fn sysmon(self: &Arc<Self>) {
        let mut watch = self.watch();
        loop {
            self.monitor.park_timeout(watch.pace.delay_for(self.config.slice));
            loop {
                match self.central(|c| self.doze(c, &mut watch.pace)) {
                    Doze::None => break,
                    Doze::Deep(None) => self.monitor.park(),
                    Doze::Deep(Some(nanos)) => self.monitor.park_timeout(nanos),
                    Doze::End => return,
                }
                watch.pace = Pace::new();
            }
            self.tick(&mut watch, H::now());
        }
    }

    /// How long may the monitor sleep? Under the lock.
    fn doze(&self, c: &mut Central<H>, pace: &mut Pace) -> Doze {
        let now = H::now();
        self.end_old_ms(c, now);
        c.monitor = Monitor::Awake;
        if c.closed && !c.lives() {
            c.monitor = Monitor::Absent;
            c.calls.closer();
            return Doze::End;
        }
        let is_quiet = c.idle_ps.len() == self.procs() && !c.must_retry || c.world.is_stopped();
        if !pace.may_sleep(is_quiet) {
            return Doze::None;
        }
        c.monitor = Monitor::Asleep;
        let ends = c.sleeping.next_to_end().and_then(|since| since.checked_add(self.config.keep_alive));
        Doze::Deep(ends.map(|at| at.saturating_sub(now).max(1)))
    }

    /// The monitor ticks for some time, if it sleeps until it is woken.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, worker| {
    /// sched.rouse_sysmon(); // there is none: nothing happens
    /// # worker }) }
    /// ```
    pub fn rouse_sysmon(self: &Arc<Self>) {
        self.central(|c| self.rouse_monitor(c));
    }

    /// Ms that have slept for long end. Under the lock.
    fn end_old_ms(&self, c: &mut Central<H>, now: Nanos) {
        let Some(before) = now.checked_sub(self.config.keep_alive) else { return };
        while let Some(m) = c.sleeping.get_older(before) {
            self.observer.event(Event::Woken { m });
            c.calls.wake_with(m, NextP::Exit);
        }
    }

    /// Checks every P once: retakes it, or requests preemption of its G. Returns whether it took a P out of a system call.
    /// Called by the monitor; an embedder without one may call it now and then. Go: `retake`.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, worker| {
    /// let mut ticks = sched.watch();
    /// let away = sched.entersyscall(worker);
    /// // Two ticks see the P in the same system call, and no M that is idle.
    /// while !sched.tick(&mut ticks, Os::now()) {
    ///     thread::sleep(Duration::from_millis(1));
    /// }
    /// let (worker, _) = sched.exitsyscall_bound(away);
    /// # worker }) }
    /// ```
    pub fn tick(self: &Arc<Self>, watch: &mut SysmonTicks, now: Nanos) -> bool {
        self.sources.iter().for_each(|source| source.tick(now));
        self.sysmon_netpoll(now);
        let around = Around {
            now,
            somebody_looks: self.spinning.count() + self.idle_mask.npidle() > 0,
            is_wanted: self.wanted.is(Want::Stop) || self.wanted.is(Want::Safepoint),
            slice: self.config.slice,
        };
        let mut retook = false;
        for (p, seen) in watch.seen.iter_mut().enumerate().take(self.procs()) {
            retook |= self.look_at(PId(p as u32), seen, around);
        }
        watch.pace.after(retook);
        // Each is asked, not only up to the first: a request that is new at this tick is old at the next.
        if watch.seen.iter_mut().take(self.procs()).map(SysmonTick::is_news).filter(|&news| news).count() > 0 {
            watch.pace.hurry();
        }
        if self.central(|c| core::mem::take(&mut c.must_retry)) {
            // No M was available; perhaps one is now.
            self.spinning.wakep(self);
        }
        retook
    }

    /// Should the G that `worker` runs yield? Its preemption is requested, or every P is wanted. Cheap.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, worker| {
    /// assert!(!sched.should_yield(&worker)); // not yet for so long as `Config::slice`, and there is no monitor to ask for it
    /// # worker }) }
    /// ```
    #[inline]
    pub fn should_yield(&self, worker: &Worker) -> bool {
        // Relaxed: a request, granted a little later.
        self.wanted.any() || self.proc(worker.p.id()).preempt.load(Relaxed)
    }

    /// Has the monitor requested its preemption?
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() {
    /// on_an_m(|sched, worker| {
    ///     assert!(!sched.is_preempted(&worker)); // there is no monitor to ask for it
    ///     worker
    /// });
    /// # }
    /// ```
    #[inline]
    pub fn is_preempted(&self, worker: &Worker) -> bool {
        // Relaxed: a request.
        self.proc(worker.p.id()).preempt.load(Relaxed)
    }

    /// The G that `worker` runs ignores preemption: its P is left as if in a system call, and the monitor hands it off.
    /// May be called in a signal handler on the M's thread, while that is not inside of the scheduler (see
    /// [`role`](crate::protocol::role)): it takes no lock and reports nothing. The G runs on without a P, and its M does not count
    /// against [`max_ms`](crate::sched::config::Config::max_ms) from now on, until the G has left it, or waits, or enters a
    /// system call; when the G next wants something of the scheduler its M gets a P back by
    /// [`exitsyscall_bound`](Sched::exitsyscall_bound). Go: `asyncPreempt`.
    ///
    /// The caller asks [`can_detach`](Sched::can_detach) first.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, worker| {
    /// // In a signal handler, where `can_detach` says so. G 1 goes on without a P, until it wants something of the scheduler:
    /// let away = sched.interrupt(worker);
    /// assert_eq!(sched.detached(), 1);
    /// let (worker, _) = sched.exitsyscall_bound(away);
    /// # worker }) }
    /// ```
    #[inline]
    pub fn interrupt(self: &Arc<Self>, worker: Worker) -> Away {
        self.check(worker.sched, "Worker");
        let is_detached = worker.is_detached;
        let (m, p) = worker.take_apart();
        if !is_detached {
            self.detaches();
        }
        syscall::interrupt(m, p, self).signed(self.id())
    }

    /// The preempted G of `away` would go on under a P, but not wait for one: it gets one that is idle. Its own, while that
    /// still is in its word, it does not take back: that was taken for others. For a G that would otherwise queue what it
    /// readies under the lock, one by one.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, worker| {
    /// let away = sched.interrupt(worker);
    /// let Err(away) = sched.try_reattach(away) else { panic!("its P waits for another M") };
    /// let (worker, _) = sched.exitsyscall_bound(away);
    /// # worker }) }
    /// ```
    ///
    /// # Errors
    /// `away`: no P is idle.
    #[cold]
    pub fn try_reattach(self: &Arc<Self>, away: Away) -> Result<Worker, Away> {
        self.check(away.sched, "Away");
        if self.idle_mask.npidle() == 0 || syscall::is_left(&away, self) {
            return Err(away);
        }
        let Some(p) = self.central(|c| Sched::pidleget(self, c)) else { return Err(away) };
        let (was_detached, m) = (away.was_detached(), away.spend());
        self.observer.event(Event::Returned { m, p: p.id(), way: Way::Idle });
        Ok(Worker::new(self.id(), m, p, was_detached))
    }

    /// May the M of `worker` go on without a P? It may if it was detached before; and as many may as
    /// [`max_detached`](crate::sched::config::Config::max_detached) says, but for a race between two that ask at once. For a
    /// signal handler.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, worker| {
    /// assert!(!sched.can_detach(&worker)); // `max_detached` is 0
    /// # worker }) }
    /// ```
    #[inline]
    pub fn can_detach(&self, worker: &Worker) -> bool {
        worker.is_detached || self.detached() < self.config.max_detached
    }

    /// How many Ms run a preempted G without a P, wait with one for its turn, or run one that has had its turn.
    #[inline]
    pub fn detached(&self) -> usize {
        // Relaxed: a bound that two may overstep by one; there is a number for no more Ms than there are.
        self.detached.load(Relaxed) as usize
    }

    #[inline]
    pub(super) fn detaches(&self) {
        // Relaxed: counted. A thread that takes the P from the M, and wants another M for it, may miss it: then the monitor
        // tries again.
        self.detached.fetch_add(1, Relaxed);
    }

    /// Requests preemption of the G that runs under `p`. Go: `preemptone`.
    fn preempt(&self, p: PId) {
        let proc = self.proc(p);
        // Relaxed: a request that is cleared meanwhile was answered.
        let first = !proc.preempt.load(Relaxed);
        // Relaxed: a request.
        proc.preempt.store(true, Relaxed);
        self.observer.event(Event::Preempt { p, first });
        if self.config.max_detached > 0 && self.detached() >= self.config.max_detached {
            self.observer.event(Event::Undetachable { p });
        }
    }

    fn look_at(self: &Arc<Self>, p: PId, seen: &mut SysmonTick, around: Around) -> bool {
        if self.idle_mask.is_idle(p) {
            seen.idles();
            return false;
        }
        let proc = self.proc(p);
        let status = proc.syscall_word.peek();
        let observed = Observed {
            // Relaxed: an old number is as good; the next tick sees the new one.
            dispatches: proc.turn.load(Relaxed).dispatches(),
            syscall: status.in_syscall.map(|_| status.tick),
            has_work: !proc.queue.is_empty(),
        };
        match seen.verdict(observed, around) {
            Verdict::Leave => (),
            Verdict::Preempt => self.preempt(p),
            Verdict::Retake => {
                let taken = proc.syscall_word.take(status);
                let retook = taken.is_some();
                if let Some(p) = taken {
                    self.observer.event(Event::Retaken { p: p.id() });
                    self.handoffp(p);
                }
                return retook;
            }
        }
        false
    }
}
