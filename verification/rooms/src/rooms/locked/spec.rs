//! Gs that are bound to their Ms, as a sequential program: what is known of each, beside the same Ps and queues.

use super::central::{At, Beside, Central, Waits};
use super::{BoundGs, Hand, Looked, Op, Role, Setup, WORKER, Was};
use crate::room::{CallId, Does, Effects, Spec};
use kernel::protocol::locked::{Wake, Woken};

/// What is known of an M's G.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct OneG {
    /// It was readied before it waits: it will not.
    is_early: bool,
    /// It waits, for a wake from inside or outside.
    waits: Option<Wake>,
    /// Why its last wait ended.
    woken: Woken,
}

/// What is known of all, and those that rest, the first that did first.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Gs {
    of: [OneG; WORKER as usize],
    rest: Vec<u32>,
}

impl Gs {
    fn inside(&self) -> impl Iterator<Item = u32> + '_ {
        self.rest.iter().copied().filter(|m| self.of[*m as usize].waits == Some(Wake::Inside))
    }
}

const AWAKE: OneG = OneG { is_early: false, waits: None, woken: Woken::Ready };

impl Waits for Gs {
    fn wait(&mut self, m: u32, wake: Wake) -> bool {
        let g = &mut self.of[m as usize];
        *g = OneG { waits: (!g.is_early).then_some(wake), ..AWAKE };
        g.waits.is_some()
    }
    fn rest(&mut self, m: u32) -> bool {
        let rests = self.of[m as usize].waits.is_some();
        self.rest.extend(rests.then_some(m));
        rests
    }
    fn ready(&mut self, m: u32, why: Woken) -> bool {
        let g = &mut self.of[m as usize];
        self.rest.retain(|other| *other != m);
        let waits = g.waits.take().is_some();
        *g = if waits { OneG { woken: why, ..AWAKE } } else { OneG { is_early: true, ..*g } };
        waits
    }
    fn forget(&mut self, m: u32) {
        self.of[m as usize] = AWAKE;
    }
    fn looks(&self) -> Looked {
        let waiting = (0..WORKER).filter(|m| self.of[*m as usize].waits.is_some()).collect();
        let woken = self.of.map(|g| g.woken);
        Looked { total: self.rest.len(), inside: self.inside().count(), oldest: self.inside().next(), waiting, woken }
    }
    /// The one that has waited longest, if no M goes on, and none is available for what there is to do.
    fn is_told(&self, beside: &Beside) -> (bool, Option<(u32, Woken)>) {
        let goes_on = |m: &u32| !beside.sleeping.contains(m) && !self.inside().any(|rests| rests == *m);
        let Some(oldest) = self.inside().next() else { return (false, None) };
        if beside.alive.iter().any(goes_on) || !beside.held.is_empty() {
            return (false, None);
        }
        let (is_queued, is_served) = (beside.queued > 0, !beside.sleeping.is_empty() || beside.setup.may_start);
        let why = match is_queued || beside.setup.expects {
            false => Some(Woken::Deadlock),
            true => (!is_served).then_some(Woken::NoThread),
        };
        (!is_queued, why.map(|why| (oldest, why)))
    }
}

/// What is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Known {
    central: Central<Gs>,
    threads: Vec<Thread>,
}

/// Of a thread, where its call stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Thread {
    hand: Hand,
    at: At,
    /// The P that it is given, and by which call.
    nextp: Option<(u32, CallId)>,
    was: Vec<Was>,
    sees: Vec<CallId>,
}

impl Known {
    /// The next hold of the lock, if the thread does not sleep: it has a P, or needs none.
    fn goes_on(&mut self, me: CallId, op: Op) -> Option<At> {
        let thread = &mut self.threads[me.thread];
        if thread.at.is_asleep() {
            let (p, by) = thread.nextp.take()?;
            thread.hand.p = Some(p);
            thread.sees.push(by);
        }
        let at = self.central.holds(&mut thread.hand, op, thread.at);
        thread.at = at;
        thread.was.extend_from_slice(&self.central.said);
        for said in std::mem::take(&mut self.central.said) {
            if let Was::Gave(m, p) = said {
                let given = self.threads.iter_mut().find(|thread| thread.hand.m == Some(m));
                given.expect("it is one of them").nextp = Some((p, me));
            }
        }
        Some(at)
    }
}

impl Spec<BoundGs> for Known {
    fn new(setup: Setup, roles: &[Role]) -> Self {
        let thread = |role: &Role| {
            let (at, nextp) = (At::Start, None);
            Thread { hand: Hand::new(*role), at, nextp, was: Vec::new(), sees: Vec::new() }
        };
        let gs = Gs { of: [AWAKE; WORKER as usize], rest: Vec::new() };
        Known { central: Central::new(setup, roles, gs), threads: roles.iter().map(thread).collect() }
    }

    fn step_before(&self, me: CallId, does: Does<Op>, _: Option<&Vec<Was>>) -> Option<Self> {
        let Does::Begin(op, _) = does else { return None };
        let mut next = self.clone();
        next.goes_on(me, op).filter(|at| *at != At::Over).map(|_| next)
    }

    fn step(&mut self, me: CallId, does: Does<Op>, _: Option<&Vec<Was>>, effects: &mut Effects) -> Option<Vec<Was>> {
        let Does::Begin(op, _) = does else { return None };
        self.goes_on(me, op)?;
        let thread = &mut self.threads[me.thread];
        thread.at = At::Start;
        effects.sees.append(&mut thread.sees);
        Some(std::mem::take(&mut thread.was))
    }

    fn at_rest(&self) -> Result<(), &'static str> {
        match self.central.bound.is_told(&self.central.beside).1 {
            None => Ok(()),
            Some(_) => Err("a G waits for ever, and is not told"),
        }
    }
}
