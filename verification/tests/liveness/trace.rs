//! What of a trace the model knows, and writing it down for the model.
//!
//! Left out of what the kernel tells: which thread made a G and why it waits, slices and preemption, the poller, stops,
//! safepoints and deadlocks, the end of an M. docs/evidence/liveness.md has the table.

use crate::scenes::Watch;
use spinpark_kernel::protocol::sources::Source;
use spinpark_kernel::protocol::syscall::Way;
use spinpark_kernel::sched::observer::Event;
use spinpark_verification::hosts::model_host::ModelHost;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;

/// An event as the model knows it: the number of its kind, as in `spinpark.pml`, and what it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Told {
    kind: u64,
    /// A P or an M.
    a: u64,
    b: What,
    /// The thread that reports it, if it says so.
    m: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum What {
    Nothing,
    Many(u64),
    G(u64),
}

/// What `event` is in the model, if it is known there.
pub(crate) fn project(event: Event<'_>) -> Option<Told> {
    let told = |kind, a: u32, b| Some(Told { kind, a: u64::from(a), b, m: None });
    let plain = |kind| told(kind, 0, What::Nothing);
    match event {
        Event::Queued { p: None, g, .. } => told(1, 0, What::G(g.id())),
        Event::Queued { p: Some(p), g, next } => told(if next { 2 } else { 3 }, p.0, What::G(g.id())),
        Event::Found { p, g, from, .. } => {
            let kind = match from {
                Source::GlobalTurn => 4,
                Source::Local => 5,
                Source::Global => 6,
                Source::Steal => 7,
                Source::Extra => return None,
            };
            told(kind, p.0, What::G(g.id()))
        }
        Event::Stole { victim, gs, .. } => told(8, victim.0, What::Many(gs as u64)),
        Event::Got { m, p } => told(9, p.0, What::Nothing).map(|told| Told { m: Some(u64::from(m.0)), ..told }),
        Event::Spinning { .. } => plain(10),
        Event::Called { .. } => plain(11),
        Event::Sought { .. } => plain(12),
        Event::Idled { p, .. } => told(13, p.0, What::Nothing),
        Event::Listed { p } => told(14, p.0, What::Nothing),
        Event::Slept { .. } => plain(15),
        Event::Woken { m } => told(16, m.0, What::Nothing),
        Event::Starting { m } => told(17, m.0, What::Nothing),
        Event::Refused => plain(18),
        Event::Entered { p, blocks: true, .. } => told(19, p.0, What::Nothing),
        Event::Returned { p, way: Way::Idle, .. } => told(20, p.0, What::Nothing),
        _ => None,
    }
}

/// Records what is reported, and by which thread, in order.
#[derive(Debug, Default)]
pub(crate) struct Log(Mutex<Option<Vec<(usize, Told)>>>);

impl<H: ModelHost> Watch<H> for Log {
    fn event(&self, event: Event<'_>) {
        project(event).into_iter().for_each(|told| self.push(H::me(), told));
    }

    /// The kernel does not know.
    fn over(&self, g: u64) {
        self.push(H::me(), Told { kind: 21, a: 0, b: What::G(g), m: None });
    }
}

impl Log {
    pub(crate) fn new() -> Log {
        Log(Mutex::new(Some(Vec::new())))
    }

    fn push(&self, thread: usize, told: Told) {
        if let Some(log) = &mut *self.0.lock().expect("no panic under it") {
            log.push((thread, told));
        }
    }

    /// What was told until now; nothing more is written down.
    pub(crate) fn end(&self, max_ms: usize) -> Trace {
        let log = self.0.lock().expect("no panic under it").take().expect("it ends once");
        Trace::new(log, max_ms)
    }
}

/// Events, with the reporter of each: an M, or a submitter.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Trace {
    events: Vec<(usize, [u64; 3])>,
    /// How many Ms there may be.
    max_ms: usize,
}

/// How many Ms, submitters and Gs there may be: the model is compiled once for all traces.
pub(crate) const MS: usize = 4;
pub(crate) const SUBMITTERS: usize = 3;
pub(crate) const GS: u64 = 7;

impl Trace {
    fn new(log: Vec<(usize, Told)>, max_ms: usize) -> Trace {
        // An M's first word is which P it got.
        let mut parties = BTreeMap::new();
        for (thread, told) in &log {
            if let Some(m) = told.m {
                let before = parties.insert(*thread, m as usize);
                assert!(before.is_none_or(|before| before == m as usize), "thread {thread} is two Ms");
            }
        }
        let mut others = 0;
        let mut gs = BTreeMap::new();
        let events = log.into_iter().map(|(thread, told)| {
            let party = *parties.entry(thread).or_insert_with(|| {
                others += 1;
                MS + others - 1
            });
            let next = gs.len() as u64 + 1;
            let b = match told.b {
                What::Nothing => 0,
                What::Many(n) => n,
                What::G(g) => *gs.entry(g).or_insert(next),
            };
            (party, [told.kind, told.a, b])
        });
        let trace = Trace { events: events.collect(), max_ms };
        assert!(others <= SUBMITTERS && gs.len() as u64 <= GS, "too large for the model: {trace:?}");
        trace
    }

    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    /// As the model reads it. An event may be played before up to `window` others that were written down before it.
    pub(crate) fn text(&self, window: usize) -> String {
        let (mut begins, mut lines, mut n) = (String::new(), String::new(), 0);
        for party in 0..MS + SUBMITTERS {
            write!(begins, "{n} ").expect("to memory");
            for (stamp, (_, [kind, a, b])) in self.events.iter().enumerate().filter(|(_, (by, _))| *by == party) {
                writeln!(lines, "{} {stamp}", 64 * kind + 8 * a + b).expect("to memory");
                n += 1;
            }
            lines.push_str("0 0\n");
            n += 1;
        }
        format!("{} {window} {} {n}\n{begins}\n{lines}", self.len(), self.max_ms)
    }

    pub(crate) fn without(&self, at: usize) -> Trace {
        let mut wrong = self.clone();
        wrong.events.remove(at);
        wrong
    }

    pub(crate) fn with_one_twice(&self, at: usize) -> Trace {
        let mut wrong = self.clone();
        wrong.events.insert(at, wrong.events[at]);
        wrong
    }

    /// The event and the next of the same thread, each in the other's place. `None`: there is none, or it is the same.
    pub(crate) fn with_two_swapped(&self, at: usize) -> Option<Trace> {
        let (by, event) = self.events[at];
        let then = (at + 1..self.len()).find(|&i| self.events[i].0 == by)?;
        let mut wrong = self.clone();
        (wrong.events[at].1, wrong.events[then].1) = (wrong.events[then].1, event);
        (wrong != *self).then_some(wrong)
    }

    /// The event and the next, of another thread, each in the other's place.
    pub(crate) fn with_neighbours_swapped(&self, at: usize) -> Option<Trace> {
        let is_other = at + 1 < self.len() && self.events[at].0 != self.events[at + 1].0;
        let mut wrong = self.clone();
        is_other.then(|| wrong.events.swap(at, at + 1));
        is_other.then_some(wrong)
    }
}
