//! What comes from elsewhere, and the parties that wait for it: timers, the poller, and the monitor's thread.

use crate::spec::hands::Slept;
use crate::spec::lists::{At, Lists, Watched};
use crate::spec::moves::{Activity, Ev, Item, What, Who};
use crate::spec::wrong::Wrong;
use spinpark_kernel::host::NEVER;
use spinpark_kernel::host::Nanos;
use spinpark_kernel::protocol::sysmon::{CALM, SLICE};

/// The earliest moment that counts as that of a look.
const FIRST: Nanos = 3;

/// A scheduler's surroundings.
#[derive(Debug, Clone)]
pub(super) struct Elsewhere {
    /// Does a G wait for what the poller reports, and what has it to report?
    pub(super) is_awaited: bool,
    pub(super) reports: Vec<u64>,
    /// When they are due, with their Gs.
    pub(super) timers: Vec<(Nanos, u64)>,
    /// The M that waits in the poller, and until when. If none does: since when.
    pub(super) polls: Option<(usize, Nanos)>,
    pub(super) since: Nanos,
    /// The wait in the poller is over, or the next is none.
    pub(super) is_interrupted: bool,
    pub(super) monitor: Monitor,
}

/// The monitor's thread.
#[derive(Debug, Clone)]
pub(super) struct Monitor {
    pub(super) at: Nap,
    pub(super) is_woken: bool,
    /// So many naps in a row began with nothing to see.
    pub(super) calm: u32,
    pub(super) watch: Vec<Watched>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nap {
    Absent,
    Suspended,
    /// It looks again soon.
    Short,
    /// It looks when it is woken.
    Deep,
}

impl Elsewhere {
    pub(super) fn new(capacity: usize) -> Elsewhere {
        let watch = vec![Watched::default(); capacity];
        Elsewhere {
            is_awaited: false,
            reports: Vec::new(),
            timers: Vec::new(),
            polls: None,
            since: FIRST,
            is_interrupted: false,
            monitor: Monitor { at: Nap::Absent, is_woken: false, calm: 0, watch },
        }
    }

    /// The earliest timer.
    pub(super) fn deadline(&self) -> Nanos {
        self.timers.iter().map(|(when, _)| *when).min().unwrap_or(NEVER)
    }

    /// Is there anything to wait for?
    pub(super) fn is_expecting(&self) -> bool {
        self.is_awaited || !self.timers.is_empty()
    }

    /// Must an M wait in the poller, or for less long than the one that does?
    pub(super) fn is_missing(&self) -> bool {
        self.is_expecting() && self.polls.is_none_or(|(_, until)| until > self.deadline())
    }
}

impl Lists {
    /// Has the source anything to give?
    pub(super) fn has_arrived(&self) -> bool {
        !self.arrived.is_empty() || self.elsewhere.deadline() <= self.now
    }

    /// What the source gives: what has arrived, one list at a time; else what is due.
    pub(super) fn give(&mut self, p: Option<usize>) -> Vec<u64> {
        self.events.push(Ev::Gives(p));
        if let Some(gs) = self.arrived.pop_front() {
            return gs;
        }
        let now = self.now;
        self.seen.note("a timer was due");
        self.elsewhere.timers.extract_if(.., |(when, _)| *when <= now).map(|(_, g)| g).collect()
    }

    /// What the poller reports to an M that does not wait. `None`: no M is to look. At a turn that is `asked` for it may have been
    /// looked at a moment ago.
    pub(super) fn peek(&mut self, asked: bool) -> Option<Vec<u64>> {
        if !self.elsewhere.is_awaited || self.elsewhere.polls.is_some() {
            return None;
        }
        let is_soon = self.now.saturating_sub(self.elsewhere.since) < self.numbers.peek_every;
        self.seen.note_if(is_soon && asked, "a turn that was asked for looked again soon");
        if is_soon && (!asked || self.is(Wrong::AskedTurnLeavesThePoller)) {
            self.seen.note("who would look into the poller left it at what was seen a moment ago");
            return None;
        }
        self.events.push(Ev::Looks { waits: false, polling: 0 });
        self.elsewhere.since = self.now.max(FIRST);
        let reports = std::mem::take(&mut self.elsewhere.reports);
        self.seen.note_if(!reports.is_empty(), "who only looked into the poller found something");
        Some(reports)
    }

    /// The M in the poller comes back; one that is about to wait, at once.
    pub(super) fn interrupt(&mut self) {
        self.events.push(Ev::Interrupted);
        self.elsewhere.is_interrupted = true;
    }

    /// Something is due at `when`, or is waited for, from now on.
    fn announce(&mut self, when: Nanos) {
        match self.elsewhere.polls {
            None => self.wakep(),
            Some((_, until)) if until > when => {
                self.seen.note("who waits in the poller was called back");
                self.interrupt();
            }
            Some(_) => (),
        }
    }

    /// `m` has nothing to do, and waits in the poller if no other M does.
    pub(super) fn rest_or_poll(&mut self, m: usize) -> Slept {
        while self.elsewhere.is_expecting() {
            let until = self.elsewhere.deadline();
            if let Some((_, theirs)) = self.elsewhere.polls {
                if theirs > until {
                    self.interrupt();
                }
                break;
            }
            if self.is_closed {
                self.elsewhere.since = self.now.max(FIRST);
                return Slept::Exit;
            }
            if !self.idle.is_empty() && self.wants_spinning_m {
                self.elsewhere.since = self.now.max(FIRST);
                (self.spinning_ms, self.wants_spinning_m) = (self.spinning_ms + 1, false);
                return self.idle_p().map_or(Slept::Sleeps, |p| Slept::Run { p, spins: true });
            }
            self.elsewhere.polls = Some((m, until));
            self.events.push(Ev::Polling(m, until));
            self.events.push(Ev::Looks { waits: true, polling: 1 });
            let is_over = !self.elsewhere.reports.is_empty() || until <= self.now;
            if !is_over && !std::mem::take(&mut self.elsewhere.is_interrupted) {
                self.ms[m].at = At::Polls;
                self.seen.note("an M waited in the poller");
                return Slept::Sleeps;
            }
            if let Some(slept) = self.polled(m) {
                return slept;
            }
        }
        self.rest(m)
    }

    /// `m` comes back from the poller. `None`: for nothing.
    fn polled(&mut self, m: usize) -> Option<Slept> {
        let reports = std::mem::take(&mut self.elsewhere.reports);
        self.events.push(Ev::Polled(m));
        (self.elsewhere.polls, self.elsewhere.since) = (None, self.now.max(FIRST));
        if reports.is_empty() && self.now < self.elsewhere.deadline() {
            self.seen.note("an M came back from the poller for nothing");
            return None;
        }
        let p = if self.is_closed { None } else { self.idle_p() };
        let Some(p) = p else {
            self.seen.note_if(!reports.is_empty(), "what was reported found no idle P");
            self.queue_all(reports);
            return Some(self.rest(m));
        };
        let is_many = reports.len() > 1;
        self.seen.note_if(is_many, "several Gs were reported");
        for item in reports.into_iter().map(Item::G) {
            self.events.push(Ev::Queued(Some(p), item));
            self.put(p, item);
        }
        if is_many {
            self.wakep();
        }
        Some(Slept::Run { p, spins: false })
    }

    /// `m`, in the poller, goes on.
    pub(super) fn leaves_the_poller(&mut self, m: usize) {
        self.elsewhere.is_interrupted = false;
        let slept = self.polled(m).unwrap_or_else(|| self.rest_or_poll(m));
        match slept {
            Slept::Run { p, spins } => self.look_with(m, p, spins),
            Slept::Sleeps => (),
            Slept::Exit => self.exited(m),
        }
    }

    fn queue_all(&mut self, gs: Vec<u64>) {
        for item in gs.into_iter().map(Item::G) {
            self.events.push(Ev::Queued(None, item));
            self.global.push_back(item);
        }
    }

    /// The monitor sees to it that an M looks at what comes from elsewhere, at least once in a slice.
    pub(super) fn mind_the_poller(&mut self) {
        let (deadline, now) = (self.elsewhere.deadline(), self.now);
        if self.elsewhere.polls.is_some() {
            if deadline <= now {
                self.announce(deadline);
            } else if !self.elsewhere.is_expecting() {
                self.seen.note("the monitor called an M back that waited for nothing");
                self.interrupt();
            }
            return;
        }
        let is_old = now.saturating_sub(self.elsewhere.since) >= SLICE && self.elsewhere.is_expecting();
        if deadline > now && !is_old {
            return;
        }
        if !self.idle.is_empty() && !self.must_retry {
            return self.wakep();
        }
        let mut gs = if self.has_arrived() { self.give(None) } else { Vec::new() };
        gs.extend(self.peek(false).into_iter().flatten());
        if !gs.is_empty() {
            self.seen.note("the monitor looked for who is busy");
            self.queue_all(gs);
            self.wakep();
        }
    }

    /// What has to do with all that is done.
    pub(super) fn done_elsewhere(&mut self, what: What) {
        match what {
            What::Timer(by, after) => {
                let (when, g) = (self.now + after, self.fresh());
                let is_earlier = when < self.elsewhere.deadline();
                self.elsewhere.timers.push((when, g));
                if by.is_none() && is_earlier {
                    self.announce(when);
                }
            }
            What::Await(by, true) => {
                self.elsewhere.is_awaited = true;
                if by.is_none() {
                    self.announce(NEVER);
                }
            }
            What::Await(_, false) => {
                self.elsewhere.is_awaited = false;
                self.is_hidden = self.elsewhere.polls.is_none();
                if self.elsewhere.polls.is_some() {
                    self.interrupt();
                }
            }
            What::Report(gs) => {
                let gs: Vec<u64> = (0..gs).map(|_| self.fresh()).collect();
                self.elsewhere.reports.extend(gs);
                self.elsewhere.is_interrupted |= self.elsewhere.polls.is_some();
            }
            What::StartMonitor => {
                let refused = self.refusals.checked_sub(1);
                match refused {
                    Some(left) => self.refusals = left,
                    None => self.elsewhere.monitor.at = Nap::Suspended,
                }
                self.events.push(Ev::Began(refused.is_none()));
            }
            What::Watch(pause) => {
                self.now += pause;
                self.monitor_goes_on();
            }
            What::Calm => {
                for _ in 0..=CALM {
                    if self.where_is(Who::Monitor) != Activity::Nowhere {
                        self.monitor_goes_on();
                    }
                }
            }
            other => unreachable!("{other:?} does not come from elsewhere"),
        }
    }

    /// May this be done now?
    pub(super) fn allows_from_elsewhere(&self, what: What) -> bool {
        let by = match what {
            What::Timer(by, _) | What::Await(by, _) => by,
            _ => None,
        };
        let runs = |m: usize| matches!(self.ms.get(m).map(|m| m.at), Some(At::Runs { .. }));
        self.numbers.elsewhere
            && by.is_none_or(runs)
            && match what {
                What::Timer(..) => self.elsewhere.timers.len() < 2,
                What::Await(_, awaits) => awaits != self.elsewhere.is_awaited && self.elsewhere.reports.is_empty(),
                What::Report(_) => self.elsewhere.is_awaited && self.elsewhere.reports.is_empty(),
                What::StartMonitor => self.elsewhere.monitor.at == Nap::Absent && !self.is_closed,
                _ => self.where_is(Who::Monitor) != Activity::Nowhere,
            }
    }

    /// Where the monitor is.
    pub(super) fn monitor_activity(&self) -> Activity {
        match self.elsewhere.monitor.at {
            Nap::Absent => Activity::Nowhere,
            Nap::Suspended => Activity::Suspended,
            Nap::Short | Nap::Deep => Activity::Asleep(self.elsewhere.monitor.is_woken),
        }
    }

    /// An idle P is used, or the world goes on: a monitor that sleeps deeply is woken.
    pub(super) fn rouse_monitor(&mut self) {
        let monitor = &mut self.elsewhere.monitor;
        if monitor.at == Nap::Deep && !monitor.is_woken {
            monitor.is_woken = true;
            self.seen.note("a monitor that slept deeply was woken");
        }
    }

    /// The scheduler is closed, or its last M has ended: the monitor is woken from any nap.
    pub(super) fn end_monitor(&mut self) {
        self.elsewhere.monitor.is_woken = self.elsewhere.monitor.at != Nap::Absent;
    }

    /// The monitor goes on until it naps again.
    pub(super) fn monitor_goes_on(&mut self) {
        let mut is_woken = std::mem::take(&mut self.elsewhere.monitor.is_woken);
        match self.elsewhere.monitor.at {
            Nap::Absent => unreachable!("there is no monitor"),
            Nap::Suspended => {
                (self.elsewhere.monitor.at, self.elsewhere.monitor.calm) = (Nap::Short, 0);
                if !is_woken {
                    return;
                }
            }
            Nap::Short => (),
            Nap::Deep => self.elsewhere.monitor.calm = 0,
        }
        loop {
            self.elsewhere.monitor.at = Nap::Short;
            if self.is_closed && self.alive == 0 {
                self.elsewhere.monitor.at = Nap::Absent;
                return self.wake(Who::Closer);
            }
            let is_stopped = self.is_stopping && self.held.len() == self.procs;
            let is_quiet = self.idle.len() == self.procs && !self.must_retry || is_stopped;
            let calm = self.elsewhere.monitor.calm;
            if is_quiet && calm == CALM {
                self.elsewhere.monitor.at = Nap::Deep;
                self.seen.note("the monitor slept deeply");
                return;
            }
            self.elsewhere.monitor.calm = if is_quiet { calm + 1 } else { 0 };
            self.swap_watches();
            if self.tick() {
                self.elsewhere.monitor.calm = 0;
            }
            self.swap_watches();
            is_woken = std::mem::take(&mut self.elsewhere.monitor.is_woken);
            if !is_woken {
                return;
            }
        }
    }

    /// A caller of `tick` without the monitor's thread has seen other ticks.
    fn swap_watches(&mut self) {
        std::mem::swap(&mut self.watch, &mut self.elsewhere.monitor.watch);
    }
}
