//! What each G does, and in which queue it stands.

use super::{Scribe, remove};
use crate::kernel::protocol::sources::Source;
use crate::kernel::types::m::MId;
use crate::kernel::types::p::PId;
use crate::runtime::observe::trace::fact::Item;
use crate::runtime::observe::trace::frame::MState;
use crate::runtime::observe::trace::record::{From, Queue, State, What};

impl Scribe {
    pub(super) fn created(&mut self, g: u64, what: What) {
        // Its address may have been another's, which was dropped elsewhere.
        self.unqueue(g);
        self.gs.remove(&g);
        let p = self.by.and_then(|m| self.m(m).p);
        self.put_by(self.by, p, Some(g), what);
    }

    pub(super) fn queued(&mut self, p: Option<PId>, g: u64, next: bool) {
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
    pub(super) fn ticketed(&mut self, p: Option<PId>, of: MId, next: bool) {
        if let Some(g) = self.m(of).g {
            self.waits_its_turn(p, g, next, false);
        }
    }

    pub(super) fn waits_its_turn(&mut self, p: Option<PId>, g: u64, next: bool, yields: bool) {
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

    pub(super) fn put_global(&mut self, g: u64) {
        self.global.push_back(g);
        self.g(g).queue = Some(Queue::Global);
    }

    pub(super) fn put_ring(&mut self, p: PId, g: u64) {
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
    pub(super) fn unqueue(&mut self, g: u64) {
        let Some(queue) = self.gs.get_mut(&g).and_then(|known| known.queue.take()) else { return };
        match queue {
            Queue::Next(p) => self.p(PId(p)).next = None,
            Queue::Ring(p) => remove(&mut self.p(PId(p)).ring, g),
            Queue::Global => remove(&mut self.global, g),
            Queue::Sources => (),
        }
    }

    pub(super) fn found(&mut self, m: MId, p: PId, item: Item, from: Source, next: bool) {
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
            // A source had it, and nothing was reported.
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

    pub(super) fn stole(&mut self, m: MId, p: PId, first: u64, victim: PId, count: usize) {
        let many = (count - 1).min(self.p(victim).ring.len());
        let rest: Vec<u64> = self.p(victim).ring.drain(..many).collect();
        let gs = [first].iter().chain(&rest).map(|&g| self.g(g).number).collect();
        self.put(Some(m), Some(p), Some(first), What::Stole { victim: victim.0, gs });
        rest.into_iter().for_each(|g| self.put_ring(p, g));
    }

    /// A fair share of so many, without the first.
    pub(super) fn shared(&mut self, m: MId, p: PId, before: usize) {
        let share = (before / self.procs.max(1) + 1).min(self.ring / 2).min(before);
        let more: Vec<u64> = self.global.drain(..share.saturating_sub(1).min(self.global.len())).collect();
        if !more.is_empty() {
            let gs = more.iter().map(|&g| self.g(g).number).collect();
            self.put(Some(m), Some(p), None, What::Shared { gs });
            more.into_iter().for_each(|g| self.put_ring(p, g));
        }
    }

    /// It runs no more.
    pub(super) fn ends(&mut self, m: MId, g: u64, what: What) {
        let p = self.m(m).p;
        self.m(m).g = None;
        if let What::Waiting { why } = what {
            self.g(g).state = State::Waiting(why);
        }
        self.put(Some(m), p, Some(g), what);
    }

    pub(super) fn dead(&mut self, m: MId, g: u64) {
        self.unqueue(g);
        self.ends(m, g, What::Dead);
        self.gs.remove(&g);
    }

    // Ps and Ms.
}
