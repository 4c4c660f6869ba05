//! A picture of a scheduler, and the invariants of quiescence.
//!
//! Go: `schedtrace`, `checkdead`.
//!
//! **When every M sleeps, no G waits while a P is idle, no M is counted as spinning, every P is idle, and masks equal
//! lists.**
//!
//! Checked by: verification/src/models/{snapshot,sched}.rs

use crate::host::Host;
use crate::sched::Sched;
use crate::sched::central::Central;
use crate::sched::observer::Observer;
use alloc::{sync::Arc, vec::Vec};
use core::sync::atomic::Ordering::Relaxed;

/// A scheduler at one moment, taken under its lock. What others own is a guess while they run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// How many Ps there are.
    pub procs: usize,
    /// Gs in each P's queues, the Ps that are not among them.
    pub local: Vec<usize>,
    /// Gs in the global queue.
    pub global: usize,
    /// Idle Ps.
    pub idle_ps: usize,
    /// Do the list of idle Ps, their bits and their count agree?
    pub masks_agree: bool,
    /// Ms counted as spinning.
    pub nmspinning: usize,
    /// Ms that sleep.
    pub sleeping: usize,
    /// Ms that were started and have not ended; [lost](Sched::lost) ones too.
    pub alive: usize,
    /// Ms that wait in the poller: one, or none.
    pub polling: usize,
    /// Ms that wait for a G of this scheduler, without a P.
    pub waiting: usize,
    /// Ms that rest because their bound G waits, for one inside or outside: those of [`waiting`](Snapshot::waiting) too.
    pub bound: usize,
    /// Ms that run a preempted G without a P, wait with one for its turn, or run one that has had its turn.
    pub detached: usize,
    /// Could one more M be started?
    pub may_start: bool,
    /// Ps that are in a system call now.
    pub in_syscall: usize,
    /// Ps that are held for the stopper.
    pub held: usize,
    /// How often no M was available so far: as many as there may be were busy, or thread creation failed.
    pub refused: u64,
}

impl<H: Host, O: Observer> Sched<H, O> {
    /// What the scheduler looks like now.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() {
    /// let sched = Sched::<Os>::new(Config::default(), (), live).expect("numbers that are allowed");
    /// sched.submit(g(1)).expect("it is open");
    /// while !sched.snapshot().is_quiescent() {
    ///     thread::yield_now();
    /// }
    /// assert_eq!(sched.snapshot().violation(), None);
    /// sched.close();
    /// # }
    /// ```
    pub fn snapshot(self: &Arc<Self>) -> Snapshot {
        self.central(|c| self.picture(c))
    }

    /// The same, and what Go's `schedtrace` prints besides.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() { on_an_m(|sched, worker| {
    /// assert_eq!(sched.detailed_snapshot().schedticks, [1]); // one G was dispatched
    /// # worker }) }
    /// ```
    pub fn detailed_snapshot(self: &Arc<Self>) -> DetailedSnapshot {
        self.central(|c| DetailedSnapshot {
            snapshot: self.picture(c),
            needspinning: self.spinning.is_needspinning(),
            // Relaxed: another's, and a guess while it runs.
            schedticks: self.ps.iter().map(|p| p.turn.load(Relaxed).dispatches()).collect(),
        })
    }

    fn picture(&self, c: &Central<H>) -> Snapshot {
        Snapshot {
            procs: self.procs(),
            local: self.ps.iter().map(|p| p.queue.len()).collect(),
            global: c.global.len(),
            idle_ps: c.idle_ps.len(),
            masks_agree: c.idle_ps.agrees_with(&self.idle_mask) && c.global.len() == self.global_len.peek(),
            nmspinning: self.spinning.count(),
            sleeping: c.sleeping.len(),
            alive: c.alive,
            polling: usize::from(self.netpoll.is_blocked()),
            waiting: c.bound.inside(),
            bound: c.bound.total(),
            detached: self.detached(),
            may_start: self.may_start(c),
            in_syscall: self.ps.iter().filter(|p| p.syscall_word.peek().in_syscall.is_some()).count(),
            held: c.world.held(),
            refused: c.refused,
        }
    }
}

/// A scheduler at one moment, with what Go's `schedtrace` prints besides.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DetailedSnapshot {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// Is one more spinning M asked for, because work was seen that no M could look for?
    pub needspinning: bool,
    /// How many Gs were dispatched under each P, modulo 2^32, those from `runnext` too. Go: `schedtick`.
    pub schedticks: Vec<u32>,
}

impl Snapshot {
    /// Do all Ms sleep, or wait in the poller? Then nothing moves until a G is submitted, a timer is due, or a socket is ready. An M
    /// that was [lost](Sched::lost) never does.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() {
    /// let sched = Sched::<Os>::new(Config::default(), (), live).expect("numbers that are allowed");
    /// assert!(sched.snapshot().is_quiescent()); // no M was started yet
    /// # sched.close();
    /// # }
    /// ```
    pub fn is_quiescent(&self) -> bool {
        self.sleeping + self.waiting + self.polling == self.alive
    }

    /// At quiescence: what is wrong, if anything. Invariants 30 to 34. The P of a [lost](Sched::lost) M is not idle.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc.in")); fn main() {
    /// let sched = Sched::<Os>::new(Config::default(), (), live).expect("numbers that are allowed");
    /// assert_eq!(sched.snapshot().violation(), None);
    /// # sched.close();
    /// # }
    /// ```
    pub fn violation(&self) -> Option<&'static str> {
        let queued = self.global + self.local.iter().sum::<usize>();
        if queued > 0 && self.idle_ps > 0 {
            Some("a G waits and a P is idle, but every M sleeps")
        } else if self.nmspinning != 0 {
            Some("every M sleeps, but some are counted as spinning")
        } else if self.idle_ps + self.held != self.procs {
            Some("every M sleeps, but a P is not idle")
        } else if !self.masks_agree {
            Some("the idle list and its mask differ")
        } else if self.detached != 0 {
            Some("every M sleeps, but a G is counted as detached")
        } else {
            None
        }
    }
}
