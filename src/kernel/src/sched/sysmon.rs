//! The monitor's loop around its verdicts: a thread without a P.
//!
//! Go: `sysmon`, `retake`, `sysmonwait`, `sysmonnote`.
//!
//! **It sleeps until it is woken only while every P is idle, or the world is stopped.** Both are known under the lock, and a
//! thread that takes an idle P or starts the world sees there that the monitor sleeps, and wakes it. Before that it takes
//! some long pauses, which only the closing of the scheduler ends.
//!
//! Without a monitor the kernel works, but a P whose M entered a system call by `entersyscall` stays there, and Ms that
//! sleep for long never end.
//!
//! Checked by: verification/src/models/{monitor,lists,pairs,whole}.rs, proptests/tests/sysmon.rs

use crate::host::{Host, Nanos, Parker, SpawnError};
use crate::protocol::stw::wanted::Want;
use crate::protocol::sysmon::{Around, Observed, Pace, SysmonTick, Verdict};
use crate::sched::Sched;
use crate::sched::central::{Central, Monitor};
use crate::sched::observer::{Event, Observer};
use crate::types::m::NextP;
use crate::types::p::{PId, TurnPace};
use alloc::boxed::Box;
use alloc::sync::Arc;
use core::sync::atomic::Ordering::Relaxed;

/// What the monitor remembers from tick to tick.
#[derive(Debug)]
pub struct SysmonTicks {
    seen: Box<[SysmonTick]>,
    pace: Pace,
}

/// So often the time between two turns, and the monitor asks for the next.
const LATE: Nanos = 5;

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
            return false;
        }
        let proc = self.proc(p);
        let status = proc.syscall_word.peek();
        // Relaxed: an old number is as good; the next tick sees the new one.
        let dispatches = proc.turn.load(Relaxed).dispatches();
        // Relaxed: as above.
        let turn = proc.pace.load(Relaxed).since();
        let wanted = self.config.turn_every;
        if wanted > 0 && self.config.global_every > 0 && seen.is_late(turn, around.now, LATE * wanted) {
            // Relaxed: a request. What it overwrites, if the P has its turn just now, is as good as this.
            proc.pace.store(TurnPace::due(dispatches), Relaxed);
        }
        let observed =
            Observed { dispatches, syscall: status.in_syscall.map(|_| status.tick), has_work: !proc.queue.is_empty() };
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
