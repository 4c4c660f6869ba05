//! From facts to records: who is who, what each G does, what each M has, and what stands in which queue.
//!
//! What a fact does not say is told from those before it: which Gs were stolen, from whom a P came, who made a G runnable.
//! Facts of several threads are in the order in which they were reported. That can be another than the order of what
//! they report, by what is under way at the moment; the contents of queues are right as soon as that is over.

use crate::host::Nanos;
use crate::kernel::protocol::sources::Source;
use crate::kernel::protocol::syscall::Way;
use crate::kernel::types::m::MId;
use crate::kernel::types::p::PId;
use crate::runtime::observe::trace::fact::{Fact, Item, Raw};
use crate::runtime::observe::trace::record::{From, Queue, Record, State, What};
use std::collections::{HashMap, VecDeque};

/// What an M does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum MState {
    /// There is no such thread.
    #[default]
    Absent,
    /// It is about to start, or to wake.
    Waking,
    /// It runs a G, or looks which is the next.
    Awake,
    /// It looks for work at other Ps.
    Spinning,
    /// It sleeps.
    Sleeping,
    /// It waits for timers and sockets.
    Polling,
}

/// An M at one moment of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MFrame {
    /// What it does.
    pub state: MState,
    /// The P that it has.
    pub p: Option<u32>,
    /// The G that it runs, or that waits on it.
    pub g: Option<u64>,
}

/// A P at one moment of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PFrame {
    /// It is on the idle list.
    pub is_idle: bool,
    /// The M that has it, or has left it for a system call.
    pub m: Option<u32>,
    /// The G that is to run next.
    pub next: Option<u64>,
    /// Those in its ring, the oldest first.
    pub ring: Vec<u64>,
}

/// What everything looked like at one moment of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Frame {
    /// By number.
    pub ps: Vec<PFrame>,
    /// By number.
    pub ms: Vec<MFrame>,
    /// Those in the global queue, the oldest first.
    pub global: Vec<u64>,
}

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

    // Who is who.

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

    /// What is known of `g`. One that was never told of gets the next number.
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

    fn created(&mut self, g: u64, what: What) {
        // Its address may have been another's, which was dropped elsewhere.
        self.unqueue(g);
        self.gs.remove(&g);
        let p = self.by.and_then(|m| self.m(m).p);
        self.put_by(self.by, p, Some(g), what);
    }

    fn queued(&mut self, p: Option<PId>, g: u64, next: bool) {
        // It is queued by its own M only after it has run.
        let ran = self.by.filter(|&m| self.m(m).g == Some(g));
        let yields = ran.is_some();
        if let Some(m) = ran {
            self.m(m).g = None;
        }
        self.g(g).state = State::Runnable;
        self.waits_its_turn(p, g, next, yields);
    }

    /// The G that waits on this M does so for a P now, and stands in a queue for it.
    fn ticketed(&mut self, p: Option<PId>, of: MId, next: bool) {
        if let Some(g) = self.m(of).g {
            self.waits_its_turn(p, g, next, false);
        }
    }

    fn waits_its_turn(&mut self, p: Option<PId>, g: u64, next: bool, yields: bool) {
        self.unqueue(g);
        let queue = match p {
            Some(p) if next => Queue::Next(p.0),
            Some(p) => Queue::Ring(p.0),
            None => Queue::Global,
        };
        let holder = self.by.and_then(|m| self.m(m).p);
        self.put_by(self.by, holder, Some(g), What::Runnable { queue, yields });
        match p {
            Some(p) if next => {
                if let Some(displaced) = self.p(p).next.replace(g) {
                    self.put_ring(p, displaced);
                }
                self.g(g).queue = Some(Queue::Next(p.0));
            }
            Some(p) => self.put_ring(p, g),
            None => self.put_global(g),
        }
    }

    fn put_global(&mut self, g: u64) {
        self.global.push_back(g);
        self.g(g).queue = Some(Queue::Global);
    }

    fn put_ring(&mut self, p: PId, g: u64) {
        if self.p(p).ring.len() < self.ring {
            self.p(p).ring.push_back(g);
            self.g(g).queue = Some(Queue::Ring(p.0));
            return;
        }
        let half = self.ring / 2;
        let spilled: Vec<u64> = self.p(p).ring.drain(..half).chain([g]).collect();
        let gs = spilled.iter().map(|&g| self.g(g).number).collect();
        self.put(self.by, Some(p), None, What::Spilled { gs });
        spilled.into_iter().for_each(|g| self.put_global(g));
    }

    /// It is in no queue any more.
    fn unqueue(&mut self, g: u64) {
        let Some(queue) = self.gs.get_mut(&g).and_then(|known| known.queue.take()) else { return };
        match queue {
            Queue::Next(p) => self.p(PId(p)).next = None,
            Queue::Ring(p) => remove(&mut self.p(PId(p)).ring, g),
            Queue::Global => remove(&mut self.global, g),
            Queue::Sources => (),
        }
    }

    fn found(&mut self, m: MId, p: PId, item: Item, from: Source, next: bool) {
        self.has(m, p);
        self.m(m).state = MState::Awake;
        let g = match item {
            Item::G(g) => g,
            Item::Ticket(of) => {
                self.m(m).g = None;
                if let Some(g) = self.m(of).g {
                    self.unqueue(g);
                }
                return self.of_m(m, What::Ticket { of: of.0 });
            }
        };
        if !matches!(self.g(g).state, State::Runnable) {
            // A source had it, and nobody was told.
            self.g(g).state = State::Runnable;
            self.put(None, None, Some(g), What::Runnable { queue: Queue::Sources, yields: false });
        }
        let stolen = self.m(m).stolen.take().filter(|_| from == Source::Steal);
        let before = self.global.len();
        self.unqueue(g);
        let from = match from {
            Source::Local if next => From::Next,
            Source::Local => From::Ring,
            Source::Global => From::Global,
            Source::GlobalTurn => From::GlobalTurn,
            Source::Extra => From::Sources,
            Source::Steal => From::Stolen(stolen.map_or(p.0, |(victim, _)| victim.0)),
        };
        if let Some((victim, count)) = stolen {
            self.stole(m, p, g, victim, count);
        } else if from == From::Global {
            self.shared(m, p, before);
        }
        self.m(m).g = Some(g);
        self.g(g).state = State::Executing;
        self.of_m(m, What::Executing { from });
    }

    fn stole(&mut self, m: MId, p: PId, first: u64, victim: PId, count: usize) {
        let many = (count - 1).min(self.p(victim).ring.len());
        let rest: Vec<u64> = self.p(victim).ring.drain(..many).collect();
        let gs = [first].iter().chain(&rest).map(|&g| self.g(g).number).collect();
        self.put(Some(m), Some(p), Some(first), What::Stole { victim: victim.0, gs });
        rest.into_iter().for_each(|g| self.put_ring(p, g));
    }

    /// A fair share of so many, without the first.
    fn shared(&mut self, m: MId, p: PId, before: usize) {
        let share = (before / self.procs.max(1) + 1).min(self.ring / 2).min(before);
        let more: Vec<u64> = self.global.drain(..share.saturating_sub(1).min(self.global.len())).collect();
        if !more.is_empty() {
            let gs = more.iter().map(|&g| self.g(g).number).collect();
            self.put(Some(m), Some(p), None, What::Shared { gs });
            more.into_iter().for_each(|g| self.put_ring(p, g));
        }
    }

    /// It runs no more.
    fn ends(&mut self, m: MId, g: u64, what: What) {
        let p = self.m(m).p;
        self.m(m).g = None;
        if let What::Waiting { why } = what {
            self.g(g).state = State::Waiting(why);
        }
        self.put(Some(m), p, Some(g), what);
    }

    fn dead(&mut self, m: MId, g: u64) {
        self.unqueue(g);
        self.ends(m, g, What::Dead);
        self.gs.remove(&g);
    }

    // Ps and Ms.

    /// `m` has `p` from now on, and nobody else has.
    fn has(&mut self, m: MId, p: PId) {
        if self.m(m).p != Some(p) {
            if let Some(old) = self.m(m).p {
                self.parts(m, old);
            }
            if let Some(other) = self.p(p).m {
                self.parts(other, p);
            }
            self.m(m).p = Some(p);
        }
        let place = self.p(p);
        (place.m, place.is_idle, place.handed_on) = (Some(m), false, None);
    }

    /// `m` does not have `p` any more.
    fn parts(&mut self, m: MId, p: PId) {
        if self.m(m).p == Some(p) {
            self.m(m).p = None;
        }
        if self.p(p).m == Some(m) {
            self.p(p).m = None;
        }
    }

    fn got(&mut self, m: MId, p: PId) {
        let from = self.p(p).handed_on.or(self.p(p).m).filter(|&other| other != m).map(|m| m.0);
        self.has(m, p);
        self.m(m).state = MState::Awake;
        let g = self.m(m).g;
        self.put(Some(m), Some(p), g, What::Got { from });
        // One that waited on its thread for this; not one that comes back from a system call, which says so itself.
        if let Some(g) = g
            && matches!(self.g(g).state, State::Waiting(_) | State::Runnable)
        {
            self.g(g).state = State::Executing;
            self.of_m(m, What::Executing { from: From::Thread });
        }
    }

    fn left(&mut self, m: MId, p: PId, waits: Option<&'static str>) {
        if let Some(g) = self.m(m).g {
            let what = match waits {
                Some(why) => What::Waiting { why },
                None => What::Runnable { queue: Queue::Global, yields: true },
            };
            self.g(g).state = waits.map_or(State::Runnable, State::Waiting);
            self.put(Some(m), Some(p), Some(g), what);
        }
        self.of_m(m, What::Left);
        self.hands_on(m, p);
    }

    fn hands_on(&mut self, m: MId, p: PId) {
        self.parts(m, p);
        self.p(p).handed_on = Some(m);
    }

    fn entered(&mut self, m: MId, p: PId, blocks: bool) {
        if let Some(g) = self.m(m).g {
            self.g(g).state = State::Syscall;
        }
        self.of_m(m, What::Syscall { blocks });
        if blocks {
            self.of_m(m, What::Left);
            self.hands_on(m, p);
        }
    }

    /// Its system call is over. If its P is another's, and none is idle, its G stands in the global queue until one is free.
    fn over(&mut self, m: MId) {
        if self.m(m).p.is_none() && self.busy() == self.procs {
            self.ticketed(None, m, false);
        }
    }

    fn returned(&mut self, m: MId, p: PId, way: Way) {
        self.has(m, p);
        if let Some(g) = self.m(m).g {
            self.unqueue(g);
            self.g(g).state = State::Executing;
        }
        self.of_m(m, What::Returned { way });
    }

    fn listed(&mut self, p: PId) {
        let m = self.p(p).m;
        if let Some(m) = m {
            self.parts(m, p);
        }
        let place = self.p(p);
        (place.is_idle, place.handed_on) = (true, None);
        self.put(m, Some(p), None, What::Idle);
    }

    /// Taken from whoever has it.
    fn retaken(&mut self, p: PId, what: What) {
        let m = self.p(p).m;
        let g = m.and_then(|m| self.m(m).g);
        self.put(m, Some(p), g, what);
        self.p(p).is_idle = false;
        if let Some(m) = m {
            self.hands_on(m, p);
        }
    }

    fn preempted(&mut self, p: PId) {
        let m = self.p(p).m;
        let g = m.and_then(|m| self.m(m).g);
        self.put(m, Some(p), g, What::Preempted);
    }

    fn started(&mut self, procs: usize) {
        self.procs = procs;
        let mut left = Vec::new();
        for p in self.ps.iter_mut().skip(procs) {
            left.extend(p.next.take().into_iter().chain(p.ring.drain(..)));
        }
        for g in left.into_iter().rev() {
            self.global.push_front(g);
            self.g(g).queue = Some(Queue::Global);
        }
        self.put(None, None, None, What::Started { procs: procs as u32 });
    }

    fn turns(&mut self, m: MId, state: MState, what: What) {
        self.m(m).state = state;
        self.of_m(m, what);
    }

    /// It has no P any more.
    fn rests(&mut self, m: MId, state: MState, what: What) {
        if let Some(p) = self.m(m).p {
            self.parts(m, p);
        }
        self.m(m).g = None;
        self.turns(m, state, what);
    }

    fn wakes(&mut self, m: MId, what: What) {
        self.m(m).state = MState::Waking;
        self.put_by(Some(m), None, None, what);
    }
}

fn remove(queue: &mut VecDeque<u64>, g: u64) {
    if let Some(at) = queue.iter().position(|&other| other == g) {
        queue.remove(at);
    }
}
