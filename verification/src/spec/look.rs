//! How an M looks for a G: at which places, in which order, and what it takes.

use crate::spec::hands::Slept;
use crate::spec::lists::{At, Lists, NextP};
use crate::spec::moves::{Ev, Item};
use crate::spec::wrong::Wrong;
use spinpark_kernel::protocol::sources::Source;
use spinpark_kernel::sched::config::Config;
use std::collections::VecDeque;

/// An M with a P, which looks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Looker {
    pub(super) m: usize,
    pub(super) p: usize,
    pub(super) spins: bool,
    /// A turn of the global queue is asked for.
    pub(super) asks: bool,
}

/// What came of giving up.
enum GaveUp {
    /// Nothing: there was a G after all, or it was asked to look again.
    Found(Item),
    Again,
    /// It has no P. Is it to look once more, as one that sought?
    Let {
        sought: bool,
    },
    Closed,
}

/// The places, in order.
fn places(global_first: bool) -> [Source; 5] {
    use Source::{Extra, Global, GlobalTurn, Local, Steal};
    if global_first { [GlobalTurn, Local, Global, Extra, Steal] } else { [GlobalTurn, Local, Steal, Global, Extra] }
}

impl Lists {
    /// `m`, which had none, has this P, and looks.
    pub(super) fn look_with(&mut self, m: usize, p: usize, spins: bool) {
        self.got(m, p, spins);
        self.look(Looker { m, p, spins, asks: false });
    }

    fn got(&mut self, m: usize, p: usize, spins: bool) {
        self.events.push(Ev::Got { m, p });
        if spins {
            self.events.push(Ev::Called(m));
        }
    }

    /// `m` looks until it runs a G, sleeps, or ends.
    pub(super) fn look(&mut self, mut looker: Looker) {
        let m = looker.m;
        self.ms[m].is_detached = false;
        loop {
            let found = match self.search(&mut looker) {
                Some(item) => item,
                None => match self.give_up(&mut looker) {
                    GaveUp::Found(item) => item,
                    GaveUp::Again => continue,
                    GaveUp::Closed => return self.exited(m),
                    GaveUp::Let { sought } => match self.look_once_more(m, sought) {
                        Slept::Run { p, spins } => {
                            self.got(m, p, spins);
                            looker = Looker { m, p, spins, asks: false };
                            continue;
                        }
                        Slept::Sleeps => return,
                        Slept::Exit => return self.exited(m),
                    },
                },
            };
            self.pass_the_baton(&mut looker);
            match found {
                Item::G(g) => {
                    self.ms[m].at = At::Runs { g, p: looker.p };
                    return;
                }
                Item::Ticket(bound) => {
                    self.seen.note("a ticket was served");
                    self.events.push(Ev::Left { m, p: looker.p, waits: false });
                    self.wake_with(bound, NextP::Run { p: looker.p, spins: false });
                    match self.rest(m) {
                        Slept::Run { p, spins } => {
                            self.got(m, p, spins);
                            looker = Looker { m, p, spins, asks: false };
                        }
                        Slept::Sleeps => return,
                        Slept::Exit => return self.exited(m),
                    }
                }
            }
        }
    }

    /// The G of `m` is over. What is next under its P, if no party wants that P and no other queue has its turn, needs
    /// no search.
    pub(super) fn next_local(&mut self, m: usize, p: usize) {
        if !self.is_wanted()
            && !self.ms[m].is_detached
            && !self.is_globals_turn(p, false)
            && let Some((item, next)) = self.take_local(p)
        {
            self.ps[p].is_needspinning = false;
            self.events.push(Ev::Found { m, p, item, from: Source::Local, next });
            match item {
                Item::G(g) => {
                    self.ms[m].at = At::Runs { g, p };
                    return;
                }
                Item::Ticket(_) => {
                    self.seen.note("the shortest way met a ticket");
                    self.put_next(p, item);
                }
            }
        }
        self.look(Looker { m, p, spins: false, asks: false });
    }

    /// To run next; what was to run next before goes behind the others.
    pub(super) fn put_next(&mut self, p: usize, item: Item) {
        if let Some(before) = self.ps[p].next.replace(item) {
            self.put(p, before);
        }
    }

    /// Does anything wait for the next M?
    fn any_work(&self) -> bool {
        !self.global.is_empty() || self.has_arrived() || (0..self.procs).any(|p| self.ps[p].len() > 0)
    }

    /// One that found something no longer looks; the last of those wakes another, if anything is left to be found.
    fn pass_the_baton(&mut self, looker: &mut Looker) {
        if std::mem::take(&mut looker.spins) {
            self.events.push(Ev::Sought(looker.m));
            self.spinning_ms -= 1;
            let (any, is_last) = (self.any_work() || self.elsewhere.is_missing(), self.spinning_ms == 0);
            self.seen.note_if(is_last && !any, "the last to find work left nothing, and woke nobody");
            if is_last && (any && !self.is(Wrong::PassesNoBaton) || self.is(Wrong::PassesTheBatonForNothing)) {
                self.wakep();
            }
        }
    }

    fn search(&mut self, looker: &mut Looker) -> Option<Item> {
        self.attend(looker.p);
        if self.is_stopping || self.is_closed {
            return None;
        }
        for from in places(self.numbers.global_first) {
            let Some((item, next)) = self.take(looker, from) else { continue };
            let Looker { m, p, .. } = *looker;
            self.ps[p].is_needspinning = false;
            self.events.push(Ev::Found { m, p, item, from, next });
            self.seen.note(match from {
                Source::GlobalTurn => "found at the global queue's turn",
                Source::Local => "found locally",
                Source::Global => "found in the global queue",
                Source::Extra => "found in the source",
                Source::Steal => "stolen",
            });
            return Some(item);
        }
        None
    }

    /// And was it to run next?
    fn take(&mut self, looker: &mut Looker, from: Source) -> Option<(Item, bool)> {
        let p = looker.p;
        let item = match from {
            Source::GlobalTurn => self.take_turn(looker),
            Source::Local => return self.take_local(p),
            Source::Global => self.take_share(p, 0),
            Source::Extra => self.take_arrived(p),
            Source::Steal => self.steal(looker),
        };
        item.map(|item| (item, false))
    }

    /// `runnext`, unless it had its turns and others wait; then the ring.
    fn take_local(&mut self, p: usize) -> Option<(Item, bool)> {
        let at_most = self.numbers.inherit_at_most.max(1);
        let no_bound = self.is(Wrong::RunnextWithoutBound);
        let p = &mut self.ps[p];
        let ring_first = p.inherited >= at_most && !p.ring.is_empty() && !no_bound;
        self.seen.note_if(ring_first && p.next.is_some(), "runnext had its turns");
        let from_next = !ring_first && p.next.is_some();
        let item = if !from_next {
            p.inherited = if p.ring.is_empty() { p.inherited } else { 0 };
            p.ring.pop_front()?
        } else {
            p.inherited += 1;
            p.next.take()?
        };
        p.counts(false);
        Some((item, from_next))
    }

    /// A fair share: the first to run, the others into the ring, up to its half. In it, and to run next, `local` wait.
    pub(super) fn take_share(&mut self, p: usize, local: usize) -> Option<Item> {
        let room = (self.numbers.ring() / 2).saturating_sub(local).max(1);
        let room = if self.is(Wrong::ShareWithoutBound) { usize::MAX } else { room };
        let waiting = self.global.len();
        let share = (waiting / self.procs + 1).min(room).min(waiting);
        let first = self.global.pop_front()?;
        self.seen.note_if(share > 1, "a share was more than one");
        let rest = self.global.drain(..share - 1);
        self.ps[p].ring.extend(rest);
        self.ps[p].counts(true);
        Some(first)
    }

    fn take_arrived(&mut self, p: usize) -> Option<Item> {
        if !self.has_arrived() {
            return None;
        }
        let mut gs = self.give(Some(p)).into_iter().map(Item::G);
        let first = gs.next()?;
        let rest: Vec<Item> = gs.collect();
        let has_more = !rest.is_empty();
        for item in rest {
            self.events.push(Ev::Queued(Some(p), item));
            self.put(p, item);
        }
        if has_more {
            self.wakep();
        }
        self.ps[p].counts(true);
        Some(first)
    }

    /// Behind what is in the ring. A full ring gives its older half away, and the new one with it.
    pub(super) fn put(&mut self, p: usize, item: Item) {
        let ring = &mut self.ps[p].ring;
        if ring.len() < self.numbers.ring() {
            return ring.push_back(item);
        }
        self.seen.note("spilled");
        let half = if self.wrong == Some(Wrong::SpillsOnlyTheNewG) { 0 } else { self.numbers.ring() / 2 };
        let spilled = ring.drain(..half).chain([item]);
        self.global.extend(spilled);
        if self.procs > 1 && self.wrong != Some(Wrong::SpillsAndWakesNobody) {
            self.wakep();
        }
    }

    /// From the others, in an order that is drawn: half of a ring; in the last pass `runnext`, if the ring is empty.
    fn steal(&mut self, looker: &mut Looker) -> Option<Item> {
        if !self.may_steal(looker) {
            return None;
        }
        for pass in 1..=self.numbers.steal_passes {
            let is_last = pass == self.numbers.steal_passes || self.is(Wrong::StealsRunnextAtOnce);
            for victim in self.victims() {
                if victim == looker.p || self.idle.contains(&victim) {
                    continue;
                }
                if let Some(item) = self.steal_from(looker, victim, is_last) {
                    self.ps[looker.p].counts(false);
                    self.ps[looker.p].inherited = 0;
                    return Some(item);
                }
            }
        }
        None
    }

    pub(super) fn may_steal(&mut self, looker: &mut Looker) -> bool {
        if !looker.spins {
            let is_enough = self.spinning_ms >= Config::default().spinning_at_most;
            if is_enough || 2 * self.spinning_ms >= self.procs - self.idle.len() {
                self.seen.note("enough look already");
                return false;
            }
            self.events.push(Ev::Spinning(looker.m));
            (self.spinning_ms, self.wants_spinning_m, looker.spins) = (self.spinning_ms + 1, false, true);
        }
        true
    }

    /// What it runs.
    pub(super) fn steal_from(&mut self, looker: &Looker, victim: usize, and_next: bool) -> Option<Item> {
        let Looker { m, p, .. } = *looker;
        let waiting = self.ps[victim].ring.len();
        let half =
            if self.is(Wrong::StealsHalfRoundedDown) { (waiting / 2).max(waiting.min(1)) } else { waiting.div_ceil(2) };
        let mut stolen: VecDeque<Item> = self.ps[victim].ring.drain(..half).collect();
        let from_ring = if self.is(Wrong::RunsTheLastItStole) { stolen.pop_back() } else { stolen.pop_front() };
        self.seen.note_if(!stolen.is_empty(), "several were stolen");
        self.ps[p].ring.extend(stolen);
        let (item, gs) = match from_ring {
            Some(item) => (item, half),
            None if and_next => (self.ps[victim].next.take()?, 1),
            None => return None,
        };
        self.seen.note_if(from_ring.is_none(), "runnext was stolen");
        self.events.push(Ev::Stole { m, p, victim, gs });
        Some(item)
    }

    /// From a drawn P on, in steps of a drawn length that meets each P once.
    fn victims(&mut self) -> Vec<usize> {
        let n = self.procs;
        if n == 1 {
            return vec![0];
        }
        let (from, at_least) = (self.draw(n), 1 + self.draw(n - 1));
        let round = |step: usize| (0..n).map(|i| (from + i * step) % n).collect::<Vec<_>>();
        let meets_all = |ps: &Vec<usize>| (0..n).all(|p| ps.contains(&p));
        (at_least..n).map(round).find(meets_all).unwrap_or_else(|| round(1))
    }

    /// Nothing was found. The P is let go of, unless something speaks against it.
    fn give_up(&mut self, looker: &mut Looker) -> GaveUp {
        let Looker { m, p, spins, .. } = *looker;
        if self.is_closed || self.is_stopping {
            if self.is_closed {
                let gs = self.ps[p].empty();
                self.global.extend(gs);
            }
            self.spinning_ms -= usize::from(spins);
            self.releasep(p, false);
            self.unlock();
            return if self.is_closed { GaveUp::Closed } else { GaveUp::Let { sought: false } };
        }
        if let Some(item) = self.take_share(p, 0) {
            self.ps[p].is_needspinning = false;
            self.events.push(Ev::Found { m, p, item, from: Source::Global, next: false });
            return GaveUp::Found(item);
        }
        if !spins && (self.wants_spinning_m || self.idle.is_empty() && self.spinning_ms == 0) {
            self.seen.note("who was about to idle its P was asked to look");
            (self.spinning_ms, self.wants_spinning_m, looker.spins) = (self.spinning_ms + 1, false, true);
            self.events.push(Ev::Called(m));
            return GaveUp::Again;
        }
        self.events.push(Ev::Idled { m, p });
        self.releasep(p, false);
        self.unlock();
        GaveUp::Let { sought: spins }
    }

    /// One that sought looks at everything once more, without a P; then it sleeps.
    fn look_once_more(&mut self, m: usize, sought: bool) -> Slept {
        if sought {
            self.events.push(Ev::Sought(m));
            self.spinning_ms -= 1;
            if self.any_work() {
                self.seen.note("the second look found something");
                let p = if self.is_closed { None } else { self.idle_p() };
                match p {
                    Some(p) => {
                        (self.spinning_ms, self.wants_spinning_m) = (self.spinning_ms + 1, false);
                        return Slept::Run { p, spins: true };
                    }
                    None => self.wants_spinning_m = true,
                }
            }
        }
        self.rest_or_poll(m)
    }
}
