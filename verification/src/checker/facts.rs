//! The facts, and the invariants of the whole scheduler that they must not break. A [`Facts`] is told facts and knows nothing
//! else, so each invariant can be shown to fail by telling it a wrong list.

use super::invariants::*;
use spinpark_kernel::protocol::locked::Woken;
use spinpark_kernel::sched::observer::Event;
use spinpark_kernel::sched::snapshot::Snapshot;
use std::collections::{BTreeMap, BTreeSet};

/// Something that was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// G `n` is about to be queued.
    Queued(u64),
    /// G `n` is about to become runnable by a source. The M that takes it from there may queue it, or run it at once.
    Rings(u64),
    /// G `n` is about to come back from a call, and may be queued by that.
    Returns(u64),
    /// An M has taken G `n` out of a queue.
    Found {
        /// The G.
        g: u64,
        /// The M.
        m: u32,
    },
    /// G `n` runs, for the first time or again, and sees `data`.
    Runs {
        /// The G.
        g: u64,
        /// Its P.
        p: u32,
        /// What was written before it was queued, as it sees it.
        data: u64,
    },
    /// G `g` no longer runs: it is in a call, waits, or is queued.
    Leaves {
        /// The G.
        g: u64,
        /// The P it had.
        p: u32,
    },
    /// G `g` has come back to M `now`, and belongs to M `bound`.
    Bound {
        /// The G.
        g: u64,
        /// Where it was.
        bound: u32,
        /// Where it is.
        now: u32,
    },
    /// G `n` is over.
    Ends(u64),
    /// An M is about to give its P away without an event: it is interrupted, stops the world, or ends.
    WithoutEvent {
        /// Which.
        m: u32,
    },
    /// An M is about to sleep.
    Slept(u32),
    /// An M is about to be woken.
    Woken(u32),
    /// A thread is about to be started for an M.
    Starting(u32),
    /// An M has ended, or was never started.
    Exited(u32),
    /// So many wakes may follow from what is done now.
    Causes(u64),
    /// The world is stopped; so many Ps are held.
    Stopped {
        /// Held ones.
        held: usize,
        /// All.
        procs: usize,
    },
    /// The world is about to run again.
    Started {
        /// With so many Ps.
        procs: usize,
    },
    /// A safepoint's function ran under a P.
    Passed {
        /// Which safepoint.
        round: u64,
        /// Which P.
        p: u32,
    },
    /// A safepoint is over.
    Over {
        /// Which.
        round: u64,
        /// How many Ps there were.
        procs: usize,
    },
    /// The wait of a G has ended.
    WaitEnded {
        /// Why.
        why: Woken,
        /// Could it be that thread creation failed?
        may_lack_threads: bool,
    },
    /// Every M sleeps.
    Quiet(Snapshot),
}

impl Fact {
    /// What the scheduler reports by this event, if it is a fact.
    pub fn of(event: &Event<'_>) -> Option<Fact> {
        Some(match event {
            Event::Queued { g, .. } if g.bound().is_none() => Fact::Queued(g.id()),
            Event::Found { m, g, .. } if g.bound().is_none() => Fact::Found { g: g.id(), m: m.0 },
            // A ticket is found, a refused M is tried again, a retaken P is handed off.
            Event::Found { .. } | Event::Refused | Event::Retaken { .. } => Fact::Causes(1),
            Event::Slept { m, .. } => Fact::Slept(m.0),
            Event::Woken { m } => Fact::Woken(m.0),
            Event::Starting { m } => Fact::Starting(m.0),
            Event::Started { procs } => Fact::Started { procs: *procs },
            Event::Exited { m } => Fact::Exited(m.0),
            _ => return None,
        })
    }
}

/// Where a G is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Where {
    /// With the source.
    Ready,
    Queued,
    Found,
    Running,
    Away,
    /// On its way back from a call: may be queued.
    Returning,
    Over,
}

/// What is known by now.
#[derive(Debug, Clone)]
pub struct Facts {
    most: usize,
    gs: BTreeMap<u64, Where>,
    /// Which G runs under each P.
    busy: BTreeMap<u32, u64>,
    asleep: BTreeSet<u32>,
    stopped: bool,
    passed: BTreeSet<(u64, u32)>,
    wakes: u64,
    causes: u64,
    /// How often each was looked at.
    pub checked: BTreeMap<Invariant, u64>,
}

impl Facts {
    /// Nothing has happened. There are `most` Ps at most.
    pub fn new(most: usize) -> Self {
        Facts {
            most,
            gs: BTreeMap::new(),
            busy: BTreeMap::new(),
            asleep: BTreeSet::new(),
            stopped: false,
            passed: BTreeSet::new(),
            wakes: 0,
            causes: 0,
            checked: BTreeMap::new(),
        }
    }

    fn check(&mut self, of: Invariant, holds: bool, seen: impl FnOnce() -> String) -> Result<(), Violation> {
        *self.checked.entry(of).or_default() += 1;
        if holds { Ok(()) } else { Err(Violation { of, seen: seen() }) }
    }

    /// This has happened.
    ///
    /// # Errors
    /// The invariant that does not hold.
    pub fn tell(&mut self, fact: Fact) -> Result<(), Violation> {
        match fact {
            Fact::Queued(g) => {
                self.causes += 1;
                let before = self.gs.insert(g, Where::Queued);
                let may = !matches!(before, Some(Where::Queued | Where::Found | Where::Over));
                self.check(NO_G_RUNS_TWICE, may, || format!("G{g} is queued, and was {before:?}"))
            }
            Fact::Rings(g) => {
                self.causes += 1;
                let before = self.gs.insert(g, Where::Ready);
                self.check(NO_G_RUNS_TWICE, before.is_none(), || format!("a source has G{g}, which was {before:?}"))
            }
            Fact::Returns(g) => {
                self.gs.insert(g, Where::Returning);
                Ok(())
            }
            Fact::Found { g, m } => self.found(g, m),
            Fact::Runs { g, p, data } => self.runs(g, p, data),
            Fact::Leaves { g, p } => {
                self.busy.remove(&p);
                self.gs.insert(g, Where::Away);
                let stopped = self.stopped;
                self.check(A_STOPPED_WORLD_STANDS_STILL, !stopped, || format!("G{g} ran while it was stopped"))
            }
            Fact::Bound { g, bound, now } => {
                self.check(BOUND_GS_STAY, bound == now, || format!("G{g} of M{bound} goes on on M{now}"))
            }
            Fact::Ends(g) => {
                let before = self.gs.insert(g, Where::Over);
                let may = before == Some(Where::Away);
                self.check(NO_G_RUNS_TWICE, may, || format!("G{g} ends, and was {before:?}"))
            }
            Fact::Causes(n) => {
                self.causes += n;
                Ok(())
            }
            Fact::WithoutEvent { .. } => Ok(()),
            Fact::WaitEnded { why, may_lack_threads } => {
                let may = why == Woken::Ready || (why == Woken::NoThread && may_lack_threads);
                self.check(NO_FALSE_DEADLOCK, may, || format!("woken: {why:?}"))
            }
            Fact::Passed { round, p } => {
                let is_new = self.passed.insert((round, p));
                self.check(ONCE_UNDER_EACH_P, is_new, || format!("it ran twice under P{p}"))
            }
            Fact::Over { round, procs } => {
                let ran = self.passed.iter().filter(|(of, _)| *of == round).count();
                self.check(ONCE_UNDER_EACH_P, ran == procs, || format!("it ran under {ran} of {procs} Ps"))
            }
            fact => self.of_ms(fact),
        }
    }

    fn found(&mut self, g: u64, m: u32) -> Result<(), Violation> {
        // An M that finds work while others may be asleep wakes the next.
        self.causes += 1;
        let before = self.gs.insert(g, Where::Found);
        let was_queued = matches!(before, Some(Where::Ready | Where::Queued | Where::Returning));
        self.check(NO_G_RUNS_TWICE, was_queued, || format!("M{m} found G{g}, which was {before:?}"))?;
        let is_awake = !self.asleep.contains(&m);
        self.check(SLEEPERS_RUN_NOTHING, is_awake, || format!("M{m} sleeps, and found G{g}"))
    }

    fn runs(&mut self, g: u64, p: u32, data: u64) -> Result<(), Violation> {
        self.check(NO_G_IS_LOST, data == g, || format!("G{g} runs, and sees {data} of what was done before"))?;
        let stopped = self.stopped;
        self.check(A_STOPPED_WORLD_STANDS_STILL, !stopped, || format!("G{g} runs while it is stopped"))?;
        let before = self.gs.insert(g, Where::Running);
        let may = !matches!(before, None | Some(Where::Running | Where::Over));
        self.check(NO_G_RUNS_TWICE, may, || format!("G{g} runs, and was {before:?}"))?;
        let other = self.busy.insert(p, g);
        self.check(ONE_OWNER, other.is_none(), || format!("G{g} runs under P{p}, and so does G{other:?}"))?;
        let (running, most) = (self.busy.len(), self.most);
        self.check(ONE_OWNER, running <= most, || format!("{running} Gs run on {most} Ps"))
    }

    fn of_ms(&mut self, fact: Fact) -> Result<(), Violation> {
        match fact {
            Fact::Slept(m) => {
                let is_new = self.asleep.insert(m);
                self.check(ONE_WAKE_A_SLEEP, is_new, || format!("M{m} falls asleep twice"))
            }
            Fact::Woken(m) => {
                let slept = self.asleep.remove(&m);
                self.check(ONE_WAKE_A_SLEEP, slept, || format!("M{m} is woken, and did not sleep"))?;
                self.wake(m)
            }
            Fact::Starting(m) => {
                let may = !self.asleep.contains(&m);
                self.check(ONE_WAKE_A_SLEEP, may, || format!("M{m} is started, and sleeps"))?;
                self.wake(m)
            }
            Fact::Exited(m) => {
                self.asleep.remove(&m);
                Ok(())
            }
            Fact::Stopped { held, procs } => {
                self.stopped = true;
                let running = self.busy.len();
                self.check(A_STOPPED_WORLD_STANDS_STILL, running == 0, || format!("{running} Gs run"))?;
                self.check(A_STOPPED_WORLD_STANDS_STILL, held == procs, || format!("{held} of {procs} Ps are held"))
            }
            Fact::Started { procs } => {
                self.stopped = false;
                // Each may have work of its own; one more looks for the rest.
                self.causes += procs as u64 + 1;
                Ok(())
            }
            Fact::Quiet(snapshot) => self.quiet(&snapshot),
            fact => unreachable!("{fact:?} is handled elsewhere"),
        }
    }

    fn wake(&mut self, m: u32) -> Result<(), Violation> {
        self.wakes += 1;
        let (wakes, causes) = (self.wakes, self.causes);
        self.check(NO_WAKE_WITHOUT_CAUSE, wakes <= causes, || format!("M{m}: {wakes} wakes for {causes} causes"))
    }

    fn quiet(&mut self, s: &Snapshot) -> Result<(), Violation> {
        let queued = s.global + s.local.iter().sum::<usize>();
        self.check(WORK_IS_CONSERVED, queued == 0 || s.idle_ps == 0, || format!("{s:?}"))?;
        self.check(NOBODY_SPINS, s.nmspinning == 0, || format!("{s:?}"))?;
        self.check(EVERY_P_IS_IDLE, s.idle_ps + s.held == s.procs, || format!("{s:?}"))?;
        self.check(LISTS_AGREE, s.masks_agree, || format!("{s:?}"))?;
        let asleep = self.asleep.len();
        let is_right = s.sleeping == asleep && s.sleeping + s.waiting == s.alive;
        self.check(MS_ARE_ACCOUNTED_FOR, is_right, || format!("{asleep} were seen to fall asleep: {s:?}"))?;
        let left = self.gs.iter().find(|(_, place)| **place != Where::Over).map(|(g, place)| (*g, *place));
        self.check(EVERY_G_ENDS, left.is_none(), || format!("all is quiet, and G{left:?} is not over"))
    }
}
