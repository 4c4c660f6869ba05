//! The M in the poller, as a sequential program. One thread alone is told exactly what must follow. Of several, whether an M waits, and until
//! when, may be seen late by each: what they say was done is counted, and what must not come of it is said at the end.

use super::{Beside, Op, Polled, Role, SOON, Was};
use crate::room::{CallId, Does, Effects, Spec};
use kernel::host::{NEVER, Nanos};

/// How it begins.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    /// When the timer that is there is due: the owner's, if there is one.
    pub(super) timer: Nanos,
    /// Does a task wait for a socket?
    pub(super) awaited: bool,
    /// An M has waited before, until then: the protocol remembers it.
    pub(super) waited: Option<Nanos>,
}

/// The poller has not been polled yet.
const LONG_AGO: Nanos = 3;

/// The time in the `nth` call of a thread. In some it is no later than what the protocol has numbers for.
pub(super) const fn now(nth: usize) -> Nanos {
    [1, 20, 0, 30, 2, 40][nth % 6]
}

/// How many Ps are idle before the first call, which timers there are, and the thread whose M waits.
pub(super) fn beginning(setup: Setup, roles: &[Role]) -> (usize, Vec<Nanos>, Option<usize>) {
    let timers = roles.iter().map(|_| NEVER).chain([setup.timer]).collect::<Vec<_>>();
    let in_poller = roles.iter().position(|role| matches!(role, Role::InPoller(_)));
    let is_any = setup.awaited || timers.iter().any(|timer| *timer != NEVER);
    (usize::from(roles.contains(&Role::InPoller(true))), timers, in_poller.filter(|_| is_any))
}

/// What there is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Known {
    /// When each thread's timer is due, and the one that was there before.
    timers: Vec<Nanos>,
    /// Whose that is.
    owner: Option<usize>,
    awaited: bool,
    /// How many Ps are idle, and notices unread. A call counts as a whole: on the way there may be less than none.
    idle: i32,
    notices: i32,
    /// An M was woken, and looks.
    woken: bool,
    /// A spinning M is asked for.
    asked: bool,
    ms: Vec<M>,
    /// There is one thread, and this is in the poller.
    alone: Option<InPoller>,
    was: Vec<Was>,
}

/// What a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum M {
    /// It has a P, and runs.
    Runs,
    /// It has a P, and has yet to look for work.
    Looks,
    /// It has none.
    Away,
    /// It waits in the poller, until then.
    Waits(Nanos),
}

/// The thread in the poller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum InPoller {
    /// None, since then.
    Since(Nanos),
    /// An M that waits until then.
    Waits(Nanos),
    /// A thread that looks. Would an M have waited?
    Looks(bool),
}

impl Known {
    fn deadline(&self) -> Nanos {
        self.timers.iter().copied().min().unwrap_or(NEVER)
    }

    fn is_any(&self) -> bool {
        self.awaited || self.deadline() != NEVER
    }

    fn in_poller(&self) -> InPoller {
        self.alone.unwrap_or(InPoller::Since(LONG_AGO))
    }

    /// This was done by thread `me`.
    fn counts(&mut self, me: usize, was: Was) {
        match was {
            Was::Took | Was::Called => (self.idle, self.ms[me]) = (self.idle - 1, M::Looks),
            Was::Idled => (self.idle, self.ms[me]) = (self.idle + 1, M::Away),
            Was::Kept => (self.asked, self.ms[me]) = (false, M::Looks),
            Was::Asleep => self.ms[me] = M::Away,
            Was::Waits(until) => self.ms[me] = M::Waits(until),
            Was::HandedOn(is_run) => {
                self.idle += i32::from(!is_run);
                (self.woken, self.asked, self.ms[me]) = (self.woken || is_run, false, M::Away);
            }
            Was::Interrupted(before) => self.notices += i32::from(!before),
            Was::Read(notice) => self.notices -= i32::from(notice),
            Was::Woke(is_any) => {
                self.idle -= i32::from(is_any);
                (self.woken, self.asked) = (self.woken || is_any, self.asked || !is_any);
            }
            Was::Peeked(_) | Was::Claimed(_) | Was::Is(..) => {}
        }
        self.was.push(was);
    }

    fn does(&mut self, was: Was) {
        self.counts(0, was);
    }

    fn interrupts_if_later(&mut self, until: Nanos, when: Nanos) {
        if until > when {
            self.does(Was::Interrupted(self.notices > 0));
        }
    }

    fn wakes(&mut self) {
        self.does(Was::Woke(self.idle > 0));
    }

    /// Is an M that would sleep to wait?
    fn claims(&mut self) -> bool {
        if !self.is_any() {
            return false;
        }
        match self.in_poller() {
            InPoller::Since(_) => return true,
            InPoller::Waits(until) => self.interrupts_if_later(until, self.deadline()),
            InPoller::Looks(_) => self.alone = Some(InPoller::Looks(true)),
        }
        false
    }

    fn sleeps(&mut self) {
        if !self.claims() {
            return self.does(Was::Asleep);
        }
        let until = self.deadline();
        self.alone = Some(InPoller::Waits(until));
        self.does(Was::Waits(until));
    }

    fn announces(&mut self, when: Nanos) {
        match self.in_poller() {
            InPoller::Waits(until) => self.interrupts_if_later(until, when),
            _ => self.wakes(),
        }
    }

    fn is_missing(&self) -> bool {
        let in_time = matches!(self.in_poller(), InPoller::Waits(until) if until <= self.deadline());
        self.is_any() && !in_time
    }

    fn is_asked(&mut self) {
        let since = if let InPoller::Since(since) = self.in_poller() { Some(since) } else { None };
        let is_blocked = matches!(self.in_poller(), InPoller::Waits(_));
        self.does(Was::Is(since, is_blocked, self.is_missing()));
    }

    fn peeks(&mut self, beside: Beside, now: Nanos) {
        let InPoller::Since(_) = self.in_poller() else { return self.does(Was::Peeked(false)) };
        self.alone = Some(InPoller::Looks(false));
        self.does(Was::Read(self.notices > 0));
        match beside {
            Beside::Nothing => {}
            Beside::Sleepers(n) => (0..n).for_each(|_| {
                let claims = self.claims();
                self.does(Was::Claimed(claims));
            }),
            Beside::Adder => self.announces(SOON),
            Beside::Peeker => self.does(Was::Peeked(false)),
        }
        self.is_asked();
        let is_missed = self.in_poller() == InPoller::Looks(true);
        self.alone = Some(InPoller::Since(now));
        if is_missed {
            self.wakes();
        }
        self.does(Was::Peeked(true));
    }

    /// What one thread alone does.
    fn does_alone(&mut self, op: Op, now: Nanos) {
        match op {
            Op::Sleep(_) if self.asked => self.does(Was::Kept),
            Op::Sleep(_) => {
                self.does(Was::Idled);
                self.sleeps();
            }
            Op::HandOn(_) => self.does(Was::HandedOn(self.asked || self.is_missing())),
            Op::Peek(beside) => self.peeks(beside, now),
            Op::Add(when) => self.announces(when),
            Op::Await => self.announces(NEVER),
            Op::Return(is_due) if matches!(self.ms[0], M::Waits(_)) => {
                self.does(Was::Read(self.notices > 0));
                self.alone = Some(InPoller::Since(now));
                match is_due {
                    true => self.does(if self.idle > 0 { Was::Took } else { Was::Asleep }),
                    false => self.sleeps(),
                }
            }
            Op::Another if matches!(self.ms[0], M::Waits(_)) => {
                let claims = self.claims();
                self.does(Was::Claimed(claims));
            }
            Op::Return(_) | Op::Another => {}
        }
        self.is_asked();
    }
}

impl Spec<Polled> for Known {
    fn new(setup: Setup, roles: &[Role]) -> Self {
        let (idle, timers, in_poller) = beginning(setup, roles);
        let until = timers.iter().copied().min().unwrap_or(NEVER);
        let m = |(n, role): (usize, &Role)| match role {
            Role::InPoller(_) if in_poller == Some(n) => M::Waits(until),
            Role::InPoller(_) | Role::Outsider => M::Away,
            _ => M::Runs,
        };
        Known {
            timers,
            owner: roles.iter().position(|role| matches!(role, Role::Owner | Role::Alone)),
            awaited: setup.awaited,
            idle: idle as i32,
            notices: 0,
            woken: false,
            asked: false,
            ms: roles.iter().enumerate().map(m).collect(),
            alone: roles.contains(&Role::Alone).then_some(InPoller::Since(LONG_AGO)),
            was: Vec::new(),
        }
    }

    fn step(&mut self, me: CallId, does: Does<Op>, answer: Option<&Vec<Was>>, _: &mut Effects) -> Option<Vec<Was>> {
        let Does::Begin(op, _) = does else { return None };
        let change = match op {
            Op::Sleep(change) | Op::HandOn(change) => change,
            Op::Add(when) => Some(when),
            Op::Return(_) | Op::Peek(_) | Op::Another | Op::Await => None,
        };
        self.awaited |= op == Op::Await;
        let is_exact = self.alone.is_some();
        if is_exact && op.needs_p() && !matches!(self.ms[0], M::Runs | M::Looks) {
            if self.idle == 0 || self.ms[0] != M::Away {
                return Some(Vec::new());
            }
            self.does(Was::Took);
        }
        let is_nothing = !is_exact && op.needs_p() && answer.is_some_and(Vec::is_empty);
        if let Some(when) = change.filter(|_| !is_nothing) {
            let before = self.timers.len() - 1;
            let is_gone = op.needs_p() && self.owner == Some(me.thread);
            self.timers[before] = if is_gone { NEVER } else { self.timers[before] };
            self.timers[me.thread] = when;
        }
        match is_exact {
            true => self.does_alone(op, now(me.nth).max(LONG_AGO)),
            false => answer.into_iter().flatten().for_each(|was| self.counts(me.thread, *was)),
        }
        Some(std::mem::take(&mut self.was))
    }

    fn at_rest(&self) -> Result<(), &'static str> {
        let waits: Vec<Nanos> =
            self.ms.iter().filter_map(|m| if let M::Waits(until) = m { Some(*until) } else { None }).collect();
        let in_time = waits.iter().any(|until| *until <= self.deadline() || self.notices > 0);
        let looks = self.woken || self.ms.contains(&M::Looks);
        match () {
            () if waits.len() > 1 => Err("two Ms wait in the poller"),
            () if self.is_any() && self.idle > 0 && !looks && !in_time => {
                Err("there is something to wait for and a P is idle, but no M looks, and none waits in time")
            }
            () => Ok(()),
        }
    }
}
