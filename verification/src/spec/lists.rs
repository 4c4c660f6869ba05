//! The lists.

use crate::checker::tally::Tally;
use crate::hosts::stepped::draw;
use crate::spec::elsewhere::Elsewhere;
use crate::spec::moves::{Activity, Ev, Item, Numbers, OUTSIDERS, Observed, Who};
use crate::spec::wrong::Wrong;
use spinpark_kernel::host::Nanos;
use spinpark_kernel::protocol::locked::{Wake, Woken};
use spinpark_kernel::sched::snapshot::Snapshot;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A scheduler in lists. Nothing here is shared, and no thread interferes.
#[derive(Debug, Clone)]
pub struct Lists {
    pub(super) numbers: Numbers,
    pub(super) wrong: Option<Wrong>,
    /// What is done more often than other things.
    pub(super) theme: Theme,
    pub(super) procs: usize,
    pub(super) ps: Vec<P>,
    pub(super) ms: Vec<M>,
    pub(super) global: VecDeque<Item>,
    /// The one that is used next is last; so with the three lists after it.
    pub(super) idle: Vec<usize>,
    pub(super) sleeping: Vec<usize>,
    pub(super) unused: Vec<usize>,
    /// Ms that were started and have not ended.
    pub(super) alive: usize,
    /// How many are counted as looking for work, and whether one more is asked for.
    pub(super) spinning_ms: usize,
    pub(super) wants_spinning_m: bool,
    pub(super) refused: u64,
    pub(super) must_retry: bool,
    /// So many threads will be refused.
    pub(super) refusals: usize,
    /// Those whose next wait is none.
    pub(super) readied: BTreeSet<usize>,
    /// Those that wait, oldest first.
    pub(super) waiting: Vec<(usize, Wake)>,
    /// Those that want to stop the world, and those of them that sleep.
    pub(super) line: VecDeque<Who>,
    pub(super) sleepers: BTreeMap<Who, Sleeper>,
    pub(super) is_stopping: bool,
    pub(super) has_stopped: Option<Who>,
    pub(super) held: Vec<usize>,
    /// Under which Ps the function has yet to run, while there is one.
    pub(super) safepoint: Option<BTreeSet<usize>>,
    /// What the source gives, one list at a time, and whether it expects more.
    pub(super) arrived: VecDeque<Vec<u64>>,
    pub(super) expects: bool,
    pub(super) elsewhere: Elsewhere,
    /// It is expected no more, and no M has looked since whether a G waits for it.
    pub(super) is_hidden: bool,
    pub(super) is_closed: bool,
    pub(super) closer_is_done: bool,
    pub(super) now: Nanos,
    pub(super) watch: Vec<Watched>,
    /// What is left to do when the lock is free.
    pub(super) later: Later,
    pub(super) next_g: u64,
    pub(super) drawn: (u64, u64),
    pub(super) events: Vec<Ev>,
    /// What was reached.
    pub seen: Tally,
}

/// What is done more often than other things: what needs several moves of a kind is rare where there are many kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// All alike.
    Everything,
    /// Gs come and go.
    Queues,
    /// Gs make system calls.
    Calls,
    /// Gs that are bound to their Ms wait.
    Waits,
    /// The world is stopped.
    World,
    /// Timers run, sockets are waited for.
    Elsewhere,
    /// Turns of the global queue are asked for.
    Turns,
}

impl Theme {
    /// All of them.
    pub const ALL: [Theme; 7] =
        [Theme::Everything, Theme::Queues, Theme::Calls, Theme::Waits, Theme::World, Theme::Elsewhere, Theme::Turns];
}

/// A P.
#[derive(Debug, Clone, Default)]
pub(super) struct P {
    pub(super) next: Option<Item>,
    pub(super) ring: VecDeque<Item>,
    pub(super) dispatches: u32,
    pub(super) inherited: u32,
    /// Was the last G that it dispatched the global queue's, or the source's?
    pub(super) was_global: bool,
    /// Another P, and its dispatches at the last turn that was asked for.
    pub(super) watched: (usize, u32),
    /// Only with a rule that is wrong.
    pub(super) is_asked_for_ever: bool,
    pub(super) skips_a_turn: bool,
    pub(super) is_needspinning: bool,
    /// The M that has left it in a system call; and how often it was taken out of one.
    pub(super) in_call_of: Option<usize>,
    pub(super) takings: u32,
}

impl P {
    /// A G is about to run.
    pub(super) fn counts(&mut self, is_global: bool) {
        self.dispatches += 1;
        self.was_global = is_global;
    }

    pub(super) fn len(&self) -> usize {
        self.ring.len() + usize::from(self.next.is_some())
    }

    /// All that it holds, in the order in which it would run.
    pub(super) fn empty(&mut self) -> Vec<Item> {
        self.next.take().into_iter().chain(self.ring.drain(..)).collect()
    }
}

/// An M.
#[derive(Debug, Clone)]
pub(super) struct M {
    pub(super) at: At,
    pub(super) nextp: Option<NextP>,
    pub(super) why: Woken,
    /// Its G was preempted, or has yielded on it, and has not left it since.
    pub(super) is_detached: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    Nowhere,
    Suspended,
    Runs {
        g: u64,
        p: usize,
    },
    /// In a system call. `left`: the P is in its word, if it was taken so often.
    Away {
        g: u64,
        p: usize,
        left: Option<u32>,
    },
    /// Has nothing to do.
    Rests,
    /// The same, and waits in the poller.
    Polls,
    /// Its G waits for a P: because it yielded, because it waited, because it is back.
    Yielded(u64),
    Waits(u64),
    Returns(u64),
    /// Stops the world, or waits to; or passes a safepoint.
    Stops {
        g: u64,
        p: usize,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextP {
    Run { p: usize, spins: bool },
    Exit,
}

/// A party without a P, that sleeps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sleeper {
    pub(super) until: Until,
    pub(super) is_woken: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// It is first in line, to stop the world or to pass a safepoint.
    First {
        stops: bool,
    },
    Stopped,
    Passed,
    Closed,
}

/// What the monitor remembers of a P: since when it has had this slice; since when it is in this call, and how many
/// ticks have seen it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Watched {
    pub(super) slice: Option<(u32, Nanos)>,
    pub(super) call: Option<(u32, Nanos, u32)>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Later {
    pub(super) pass: Vec<usize>,
    pub(super) wakep: bool,
    pub(super) poller: bool,
}

impl Lists {
    /// A scheduler that was just made; by a wrong rule, if there is one.
    pub fn new(numbers: Numbers, wrong: Option<Wrong>) -> Lists {
        let capacity = numbers.capacity();
        Lists {
            numbers,
            wrong,
            theme: Theme::Everything,
            procs: numbers.procs,
            ps: vec![P::default(); capacity],
            ms: vec![M { at: At::Nowhere, nextp: None, why: Woken::Ready, is_detached: false }; numbers.ms()],
            global: VecDeque::new(),
            idle: (0..numbers.procs).rev().collect(),
            sleeping: Vec::new(),
            unused: (0..numbers.ms()).rev().collect(),
            alive: 0,
            spinning_ms: 0,
            wants_spinning_m: false,
            refused: 0,
            must_retry: false,
            refusals: 0,
            readied: BTreeSet::new(),
            waiting: Vec::new(),
            line: VecDeque::new(),
            sleepers: BTreeMap::new(),
            is_stopping: false,
            has_stopped: None,
            held: Vec::new(),
            safepoint: None,
            arrived: VecDeque::new(),
            expects: false,
            elsewhere: Elsewhere::new(capacity),
            is_hidden: false,
            is_closed: false,
            closer_is_done: false,
            now: 1,
            watch: vec![Watched::default(); capacity],
            later: Later::default(),
            next_g: 1,
            drawn: (0, 0),
            events: Vec::new(),
            seen: Tally::default(),
        }
    }

    /// The same, but this is done more often than other things.
    #[must_use]
    pub fn about(self, theme: Theme) -> Lists {
        Lists { theme, ..self }
    }

    /// Its numbers.
    pub fn numbers(&self) -> Numbers {
        self.numbers
    }

    pub(super) fn is(&self, wrong: Wrong) -> bool {
        self.wrong == Some(wrong)
    }

    /// Is it by the scheduler's own rules?
    pub(super) fn is_right(&self) -> bool {
        self.wrong.is_none()
    }

    pub(super) fn fresh(&mut self) -> u64 {
        self.next_g += 1;
        self.next_g - 1
    }

    pub(super) fn draw(&mut self, n: usize) -> usize {
        self.drawn.1 += 1;
        draw(self.drawn.0, self.drawn.1, n)
    }

    /// Is anything wanted of every P: a stop, a safepoint, the end?
    pub(super) fn is_wanted(&self) -> bool {
        self.is_stopping || self.safepoint.is_some() || self.is_closed
    }

    /// How many wait that only others of the same scheduler can ready.
    pub(super) fn inside(&self) -> usize {
        self.waiting.iter().filter(|(_, wake)| *wake == Wake::Inside).count()
    }

    fn activity(&self, m: usize) -> Activity {
        let who = Who::M(m);
        match self.ms[m].at {
            At::Nowhere => Activity::Nowhere,
            At::Suspended => Activity::Suspended,
            At::Runs { g, p } => {
                let is_preempted = self.ps[p].is_needspinning;
                Activity::Runs { g, p, should_yield: self.is_wanted() || is_preempted, is_preempted }
            }
            At::Away { g, .. } => Activity::Away(g),
            At::Rests | At::Yielded(_) | At::Waits(_) | At::Returns(_) => Activity::Asleep(self.ms[m].nextp.is_some()),
            At::Polls => Activity::Asleep(self.elsewhere.is_interrupted),
            At::Stops { .. } if self.has_stopped == Some(who) => Activity::HasStopped,
            At::Stops { .. } => self.activity_outside(who),
        }
    }

    /// Of a party that is no M, or is one that stops the world.
    fn activity_outside(&self, who: Who) -> Activity {
        match self.sleepers.get(&who) {
            Some(sleeper) => Activity::Asleep(sleeper.is_woken),
            None if self.has_stopped == Some(who) => Activity::HasStopped,
            None => Activity::Nowhere,
        }
    }

    /// Where `who` is.
    pub(super) fn where_is(&self, who: Who) -> Activity {
        match who {
            Who::M(m) if m < self.ms.len() => self.activity(m),
            Who::Monitor => self.monitor_activity(),
            _ => self.activity_outside(who),
        }
    }

    /// All parties that there may be.
    pub(super) fn everybody(&self) -> impl Iterator<Item = Who> + use<> {
        let outside = (0..OUTSIDERS).map(Who::Outsider).chain([Who::Closer, Who::Monitor]);
        (0..self.numbers.ms()).map(Who::M).chain(outside)
    }

    /// What is to be seen of it after the last move.
    pub fn seen_now(&self) -> Observed {
        let snapshot = Snapshot {
            procs: self.procs,
            local: self.ps.iter().map(P::len).collect(),
            global: self.global.len(),
            idle_ps: self.idle.len(),
            masks_agree: true,
            nmspinning: self.spinning_ms,
            sleeping: self.sleeping.len(),
            alive: self.alive,
            polling: usize::from(self.elsewhere.polls.is_some()),
            waiting: self.inside(),
            bound: self.waiting.len(),
            detached: self.detached(),
            may_start: self.may_start(),
            in_syscall: self.ps.iter().filter(|p| p.in_call_of.is_some()).count(),
            held: self.held.len(),
            refused: self.refused,
        };
        let (ms, outside): (Vec<Who>, Vec<Who>) = self.everybody().partition(|who| matches!(who, Who::M(_)));
        let activities = |all: Vec<Who>| all.into_iter().map(|who| self.where_is(who)).collect();
        let can_start_m = !self.sleeping.is_empty() || self.may_start();
        Observed {
            events: self.events.clone(),
            ms: activities(ms),
            outside: activities(outside),
            can_start_m,
            snapshot,
        }
    }

    /// Ms that do not count: each serves one G, which was preempted or yielded on it.
    pub(super) fn detached(&self) -> usize {
        self.ms.iter().filter(|m| m.is_detached).count()
    }

    /// Could one more M be started?
    pub(super) fn may_start(&self) -> bool {
        let used = self.numbers.ms() - self.unused.len();
        !self.unused.is_empty() && used < self.numbers.max_ms + self.detached()
    }

    /// Is there a reason why work waits though every M sleeps: no M was available, or the scheduler is closed?
    pub(super) fn may_leave_work(&self) -> bool {
        self.must_retry || self.is_closed
    }
}
