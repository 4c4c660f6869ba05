//! What the monitor decides, and when its next tick is.
//!
//! Go: `sysmon`, `retake`.
//!
//! **A P whose M is in a system call while work waits is retaken within two ticks.** The verdict is a pure function
//! of what the monitor has seen; the loop around it is in [`monitor`](crate::sched::sysmon).
//!
//! | seen of a P                                                                     | verdict  |
//! |---------------------------------------------------------------------------------|----------|
//! | a stop or a safepoint wants every P, and it is in a system call                 | retake   |
//! | in the same system call as at the tick before, or the same slice for 10 ms; and |          |
//! | … it has work, or no M is spinning and no P is idle, or 10 ms have passed       | retake   |
//! | running the same slice for 10 ms                                                | preempt  |
//! | anything else                                                                   | leave    |
//!
//! No slice is as old as a tick at which the P was idle.
//!
//! (golang/go #28701: with the same-call test alone, a P that makes one short call after another is never retaken.)
//!
//! Checked by: verification/src/models/sysmon.rs, proptests/tests/sysmon.rs

use crate::host::Nanos;

/// How long a G may run by default, and a P be left in a system call. Go: `forcePreemptNS`.
pub const SLICE: Nanos = 10_000_000;

/// The shortest time between two ticks.
pub const SHORTEST: Nanos = 20_000;

/// The longest. Go's is twice as long; a CPU-bound G is then noticed in its third slice, not its second.
pub const LONGEST: Nanos = 5_000_000;

/// The time between two ticks while every P is idle.
pub const QUIET: Nanos = 10_000_000;

/// The longest after a G's preemption was requested: does it yield?
pub const SOON: Nanos = 1_000_000;

/// So many ticks without a retake, and the monitor slows down.
pub const PATIENCE: u32 = 50;

/// So many ticks with every P idle, and the monitor sleeps until it is woken. Until then an M that takes an idle P need not
/// wake it: a thread that is woken now and then, for a moment, does not wake a second one each time.
pub const CALM: u32 = 8;

/// A P at one tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observed {
    /// Its dispatches so far. Go: `schedtick`.
    pub dispatches: u32,
    /// In a system call: which. Go: `syscalltick`.
    pub syscall: Option<u32>,
    /// Do its queues hold a G?
    pub has_work: bool,
}

/// The scheduler at one tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Around {
    /// What time it is.
    pub now: Nanos,
    /// Is an M spinning, or a P idle, so that new work would be found?
    pub somebody_looks: bool,
    /// Is every P wanted, by a stop or a safepoint?
    pub is_wanted: bool,
    /// How long a G may run.
    pub slice: Nanos,
}

/// What the monitor remembers of a P. Go: `sysmontick`.
///
/// ```
/// use spinpark_kernel::protocol::sysmon::{Around, Observed, SLICE, SysmonTick, Verdict};
/// let mut tick = SysmonTick::default();
/// let same_g = Observed { dispatches: 1, syscall: None, has_work: true };
/// let around = |now| Around { now, somebody_looks: false, is_wanted: false, slice: SLICE };
/// assert_eq!(tick.verdict(same_g, around(1)), Verdict::Leave);
/// assert_eq!(tick.verdict(same_g, around(1 + SLICE)), Verdict::Preempt); // it has run for a slice
/// assert!(tick.is_news() && !tick.is_news());
/// let in_syscall = Observed { syscall: Some(1), ..same_g };
/// tick.verdict(in_syscall, around(SLICE + 2));
/// assert_eq!(tick.verdict(in_syscall, around(SLICE + 3)), Verdict::Retake); // at the second tick
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SysmonTick {
    slice: Since,
    syscall: Since,
    /// The slice for which preemption was requested, and whether that was at this tick.
    asked: Option<(u32, bool)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Since {
    tick: u32,
    when: Nanos,
}

impl Since {
    /// Was it the same at an earlier tick? If not, remembers this one.
    fn is_old(&mut self, tick: u32, now: Nanos) -> bool {
        if self.tick == tick && self.when != 0 {
            return true;
        }
        *self = Since { tick, when: now.max(1) };
        false
    }
    fn is_over(&self, now: Nanos, slice: Nanos) -> bool {
        now.saturating_sub(self.when) >= slice
    }
}

/// What to do with a P.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Nothing.
    Leave,
    /// Take it out of its system call, and hand it on.
    Retake,
    /// Request preemption of its G.
    Preempt,
}

impl SysmonTick {
    /// What to do with a P that looks like `p` now.
    #[inline]
    pub fn verdict(&mut self, p: Observed, around: Around) -> Verdict {
        let same_slice = self.slice.is_old(p.dispatches, around.now) && self.slice.is_over(around.now, around.slice);
        let Some(tick) = p.syscall else {
            self.syscall = Since::default();
            return if same_slice { self.ask(p.dispatches) } else { Verdict::Leave };
        };
        let same_call = self.syscall.is_old(tick, around.now);
        let is_old = same_call || same_slice;
        let is_needed = p.has_work || !around.somebody_looks || self.syscall.is_over(around.now, SLICE);
        if around.is_wanted || is_old && is_needed { Verdict::Retake } else { Verdict::Leave }
    }

    /// The P is idle. An M that comes back to it with its G dispatches nothing: that slice begins then, not with the dispatch before. (Go's
    /// begins with that: a G that has just got an idle P is preempted at the next tick.)
    ///
    /// ```
    /// # use spinpark_kernel::protocol::sysmon::{Around, Observed, SLICE, SysmonTick, Verdict};
    /// # let mut tick = SysmonTick::default();
    /// let same_g = Observed { dispatches: 1, syscall: None, has_work: true };
    /// let around = |now| Around { now, somebody_looks: false, is_wanted: false, slice: SLICE };
    /// assert_eq!(tick.verdict(same_g, around(1)), Verdict::Leave);
    /// tick.idles();
    /// assert_eq!(tick.verdict(same_g, around(1 + SLICE)), Verdict::Leave); // it has run since then at most
    /// ```
    #[inline]
    pub fn idles(&mut self) {
        (self.slice, self.asked) = (Since::default(), None);
    }

    fn ask(&mut self, slice: u32) -> Verdict {
        self.asked = Some((slice, self.asked.is_none_or(|(asked, _)| asked != slice)));
        Verdict::Preempt
    }

    /// Was preemption requested at this tick, and not before? Asked once a tick.
    pub fn is_news(&mut self) -> bool {
        self.asked.as_mut().is_some_and(|(_, news)| core::mem::take(news))
    }
}

/// How long the monitor sleeps between two ticks.
///
/// ```
/// use spinpark_kernel::protocol::sysmon::{PATIENCE, Pace, SHORTEST, SLICE, SOON};
/// let mut pace = Pace::new();
/// assert_eq!(pace.delay(), SHORTEST);
/// (0..4 * PATIENCE).for_each(|_| pace.after(false)); // nothing was retaken
/// assert!(pace.delay() > SHORTEST && pace.delay_for(SLICE) <= SLICE / 2);
/// pace.hurry(); // preemption was requested
/// assert!(pace.delay() <= SOON);
/// assert!(!pace.may_sleep(true)); // every P is idle, but not for long
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    idle: u32,
    calm: u32,
    delay: Nanos,
}

impl Pace {
    /// As short as it gets: a P has just begun to run.
    pub const fn new() -> Self {
        Pace { idle: 0, calm: 0, delay: SHORTEST }
    }

    /// The time until the next tick.
    pub const fn delay(&self) -> Nanos {
        if self.calm > 0 { QUIET } else { self.delay }
    }

    /// The same, where a G may run for so long: the monitor ticks twice in a slice, unless every P is idle.
    pub const fn delay_for(&self, slice: Nanos) -> Nanos {
        let half = if slice / 2 > SHORTEST { slice / 2 } else { SHORTEST };
        if self.calm == 0 && self.delay > half { half } else { self.delay() }
    }

    /// Preemption of a G was requested: the next tick comes soon, to see whether it yields. Not while every P is idle: then it
    /// was a P without an M.
    #[inline]
    pub fn hurry(&mut self) {
        if self.calm == 0 {
            self.delay = self.delay.min(SOON);
        }
    }

    /// Is every P idle? `true`: they have been for so long that the monitor may sleep until it is woken. Before that, it takes
    /// naps, and goes on as slowly as it did before them: Ps that are idle for a moment again and again, as a server's, do not
    /// make it quick each time. (Go's begins anew.)
    #[inline]
    pub fn may_sleep(&mut self, is_quiet: bool) -> bool {
        let may_sleep = is_quiet && self.calm >= CALM;
        self.calm = if is_quiet { (self.calm + 1).min(CALM) } else { 0 };
        may_sleep
    }

    /// A tick is over. Did it retake anything?
    #[inline]
    pub fn after(&mut self, retook: bool) {
        if retook {
            *self = Pace::new();
            return;
        }
        if self.calm > 0 {
            return;
        }
        self.idle = self.idle.saturating_add(1);
        if self.idle > PATIENCE {
            self.delay = (self.delay * 2).min(LONGEST);
        }
    }
}
