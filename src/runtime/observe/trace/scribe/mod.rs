//! From facts to records: which number each G has, what it does, what each M has, and what stands in which queue.
//!
//! What a fact does not say is concluded from those before it: which Gs were stolen, from which M a P came, which one made a G runnable.
//! Facts of several threads are in the order in which they were reported. That can be another than the order of what
//! they report, by what is under way at the moment; the contents of queues are right as soon as that is over.

mod gs;
mod threads;

use crate::host::Nanos;
use crate::kernel::types::m::MId;
use crate::kernel::types::p::PId;
use crate::runtime::observe::trace::fact::{Fact, Item, Raw};
use crate::runtime::observe::trace::frame::{Frame, MFrame, MState, PFrame};
use crate::runtime::observe::trace::record::{Queue, Record, State, What};
use std::collections::{HashMap, VecDeque};

/// What is known of a G.
#[derive(Debug, Clone, Copy)]
struct Known {
    number: u64,
    state: State,
    queue: Option<Queue>,
}

#[derive(Debug, Default)]
struct M {
    state: MState,
    p: Option<PId>,
    /// The address of its G.
    g: Option<u64>,
    /// It has stolen so many from there, and will say which one it runs.
    stolen: Option<(PId, usize)>,
}

#[derive(Debug, Default)]
struct P {
    is_idle: bool,
    m: Option<MId>,
    /// The M that handed it on, until another has it.
    handed_on: Option<MId>,
    next: Option<u64>,
    ring: VecDeque<u64>,
}

/// Makes records.
#[derive(Debug)]
pub(super) struct Scribe {
    since: Nanos,
    ring: usize,
    procs: usize,
    /// By address.
    gs: HashMap<u64, Known>,
    /// How many Gs were made.
    made: u64,
    ms: Vec<M>,
    ps: Vec<P>,
    global: VecDeque<u64>,
    out: Vec<Record>,
    now: Nanos,
    by: Option<MId>,
}

impl Scribe {
    /// Of a runtime that was built then.
    pub(super) fn new(since: Nanos, procs: usize, ring: usize) -> Scribe {
        let mut scribe = Scribe {
            since,
            ring,
            procs,
            gs: HashMap::new(),
            made: 0,
            ms: Vec::new(),
            ps: Vec::new(),
            global: VecDeque::new(),
            out: Vec::new(),
            now: 0,
            by: None,
        };
        scribe.ps.resize_with(procs, || P { is_idle: true, ..P::default() });
        scribe
    }

    /// The records of one fact.
    pub(super) fn write(&mut self, raw: &Raw) -> impl Iterator<Item = Record> + '_ {
        self.now = raw.at.saturating_sub(self.since);
        self.by = raw.by;
        self.note(raw.fact);
        self.out.drain(..)
    }

    /// What everything looks like now.
    pub(super) fn frame(&self) -> Frame {
        let m = |m: &M| MFrame { state: m.state, p: m.p.map(|p| p.0), g: m.g.map(|g| self.number_of(g)) };
        let p = |p: &P| PFrame {
            is_idle: p.is_idle,
            m: p.m.map(|m| m.0),
            next: p.next.map(|g| self.number_of(g)),
            ring: p.ring.iter().map(|&g| self.number_of(g)).collect(),
        };
        Frame {
            ps: self.ps.iter().map(p).collect(),
            ms: self.ms.iter().map(m).collect(),
            global: self.global.iter().map(|&g| self.number_of(g)).collect(),
        }
    }

    /// How many Gs are in the global queue.
    pub(super) fn global(&self) -> usize {
        self.global.len()
    }

    /// How many Gs each P has in its queue.
    pub(super) fn queues(&self) -> impl Iterator<Item = usize> + '_ {
        self.ps.iter().map(|p| p.ring.len() + usize::from(p.next.is_some()))
    }

    /// How many Ps are not idle.
    pub(super) fn busy(&self) -> usize {
        self.ps.iter().take(self.procs).filter(|p| !p.is_idle).count()
    }

    fn note(&mut self, fact: Fact) {
        match fact {
            Fact::Created { g, at } => self.created(g, What::Created { at }),
            Fact::Queued { p, item: Item::G(g), next } => self.queued(p, g, next),
            Fact::Queued { p, item: Item::Ticket(of), next } => self.ticketed(p, of, next),
            Fact::Refused => self.put(None, None, None, What::Refused),
            Fact::Found { m, p, item, from, next } => self.found(m, p, item, from, next),
            Fact::Waiting { m, g, why } => self.ends(m, g, What::Waiting { why }),
            Fact::Dead { m, g } => self.dead(m, g),
            Fact::Stole { m, victim, gs } => self.m(m).stolen = Some((victim, gs)),
            Fact::Got { m, p } => self.got(m, p),
            Fact::Left { m, p, waits } => self.left(m, p, waits),
            Fact::Entered { m, p, blocks } => self.entered(m, p, blocks),
            Fact::Over { m } => self.over(m),
            Fact::Returned { m, p, way } => self.returned(m, p, way),
            Fact::Listed { p } => self.listed(p),
            Fact::Retaken { p } => self.retaken(p, What::Retaken),
            Fact::Held { p } => self.retaken(p, What::Held),
            Fact::Preempt { p } => self.preempted(p),
            Fact::Started { procs } => self.started(procs),
            Fact::Stopped => self.put(None, None, None, What::Stopped),
            Fact::Deadlock { m, why } => self.of_m(m, What::Deadlock { why }),
            Fact::Spinning { m } => self.turns(m, MState::Spinning, What::Spinning),
            Fact::Sought { m } => self.turns(m, MState::Awake, What::Sought),
            Fact::Slept { m } => self.rests(m, MState::Sleeping, What::Slept),
            Fact::Polling { m } => self.rests(m, MState::Polling, What::Polling),
            Fact::Polled { m } => self.turns(m, MState::Awake, What::Polled),
            Fact::Woken { m } => self.wakes(m, What::Woken),
            Fact::Starting { m } => self.wakes(m, What::Starting),
            Fact::Exited { m } => self.rests(m, MState::Absent, What::Exited),
        }
    }

    // Which is which.

    fn m(&mut self, m: MId) -> &mut M {
        if self.ms.len() <= m.index() {
            self.ms.resize_with(m.index() + 1, M::default);
        }
        &mut self.ms[m.index()]
    }

    fn p(&mut self, p: PId) -> &mut P {
        if self.ps.len() <= p.index() {
            self.ps.resize_with(p.index() + 1, P::default);
        }
        &mut self.ps[p.index()]
    }

    fn number_of(&self, g: u64) -> u64 {
        self.gs.get(&g).map_or(0, |known| known.number)
    }

    /// What is known of `g`. One that was never reported gets the next number.
    fn g(&mut self, g: u64) -> &mut Known {
        let made = &mut self.made;
        self.gs.entry(g).or_insert_with(|| {
            *made += 1;
            Known { number: *made, state: State::Created, queue: None }
        })
    }

    fn put(&mut self, m: Option<MId>, p: Option<PId>, g: Option<u64>, what: What) {
        let g = g.map(|g| self.g(g).number);
        self.out.push(Record { at: self.now, m: m.map(|m| m.0), p: p.map(|p| p.0), g, by: None, what });
    }

    fn of_m(&mut self, m: MId, what: What) {
        let (p, g) = (self.m(m).p, self.m(m).g);
        self.put(Some(m), p, g, what);
    }

    /// The same, with the G that did it.
    fn put_by(&mut self, m: Option<MId>, p: Option<PId>, g: Option<u64>, what: What) {
        let doer = self.by.and_then(|m| self.m(m).g);
        let by = doer.filter(|&doer| Some(doer) != g).map(|g| self.g(g).number);
        self.put(m, p, g, what);
        if let Some(last) = self.out.last_mut() {
            last.by = by;
        }
    }

    // Gs.
}

fn remove(queue: &mut VecDeque<u64>, g: u64) {
    if let Some(at) = queue.iter().position(|&other| other == g) {
        queue.remove(at);
    }
}
