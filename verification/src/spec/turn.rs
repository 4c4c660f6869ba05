//! The global queue's turn, which is the source's and the poller's too.

use crate::spec::lists::Lists;
use crate::spec::look::Looker;
use crate::spec::moves::{Ev, Item};
use crate::spec::wrong::Wrong;

impl Lists {
    fn is_by_count(&self, p: usize) -> bool {
        let every = self.numbers.global_every;
        every != 0 && self.ps[p].dispatches.is_multiple_of(every) && !self.is(Wrong::NoGlobalTurn)
    }

    /// By count; or it is asked for, and the last G was none of the global queue's.
    pub(super) fn is_globals_turn(&self, p: usize, asks: bool) -> bool {
        let (is_by_count, p) = (self.is_by_count(p), &self.ps[p]);
        let asks = asks && !self.is(Wrong::AskedTurnIsNotTaken) || p.is_asked_for_ever;
        is_by_count && !p.skips_a_turn || asks && (!p.was_global || self.is(Wrong::TwoAskedTurnsInARow))
    }

    pub(super) fn take_turn(&mut self, looker: &mut Looker) -> Option<Item> {
        let p = looker.p;
        if !self.is_globals_turn(p, looker.asks) {
            self.ps[p].skips_a_turn &= !self.is_by_count(p);
            self.seen
                .note_if(looker.asks && !self.is(Wrong::AskedTurnIsNotTaken), "a turn that was asked for was not due");
            return None;
        }
        self.seen.note_if(looker.asks && !self.is_by_count(p), "a turn was asked for");
        self.ps[p].is_asked_for_ever |= looker.asks && self.is(Wrong::AskedTurnStaysAskedFor);
        self.ps[p].skips_a_turn |= looker.asks && self.is(Wrong::AskedTurnReplacesTheNext);
        let any = !self.is(Wrong::LeavesTheSourceAtTheTurn) && self.empty_the_source(p, looker.asks);
        let waiting = self.ps[p].len();
        let shared = self.take_share(p, waiting);
        self.seen.note_if(shared.is_some() && waiting > 0, "a share was taken in turn, into a ring that held some");
        let relieves = shared.is_none() && (looker.asks || self.is(Wrong::RelievesAtEachTurn));
        let item = if relieves { self.relieve(looker) } else { shared };
        let is_alone = item.is_none() && self.ps[p].len() == 1;
        self.seen.note_if(any && is_alone, "a turn found what is run next");
        self.seen.note_if(any && item.is_some(), "a turn found what has to wait");
        let wakes =
            if is_alone { self.is(Wrong::WakesForWhatItRunsNext) } else { !self.is(Wrong::WakesNobodyAtTheTurn) };
        if any && wakes {
            self.wakep();
        }
        item
    }

    /// A P that has dispatched nothing since the last turn that was asked for is stolen from. One P is looked at in each.
    fn relieve(&mut self, looker: &mut Looker) -> Option<Item> {
        let p = looker.p;
        let (watched, was) = self.ps[p].watched;
        let victim = watched % self.procs;
        let next = (1..=self.procs).map(|n| (victim + n) % self.procs).find(|&other| other != p)?;
        self.ps[p].watched = (next, self.ps[next].dispatches);
        let has_run = (victim, self.ps[victim].dispatches) != (watched, was) && !self.is(Wrong::RelievesWhoRuns);
        let has_more = 2 * self.ps[p].len() < self.ps[victim].len() || self.is(Wrong::RelievesWhoHasFewer);
        if victim == p || has_run || self.idle.contains(&victim) || !has_more || !self.may_steal(looker) {
            return None;
        }
        let item = self.steal_from(looker, victim, self.is(Wrong::RelievesOfRunnext))?;
        self.seen.note("a P was relieved that dispatches nothing");
        let is_global = !self.is(Wrong::RelievesTwiceInARow);
        self.ps[p].counts(is_global);
        Some(item)
    }

    /// What the source gives at once goes into the ring; the first runs next if the turn was asked for, and anything may overtake.
    /// Was it anything?
    fn empty_the_source(&mut self, p: usize, asks: bool) -> bool {
        let mut any = false;
        let may_overtake = asks && self.numbers.inherit_at_most > 0 && !self.is(Wrong::AskedTurnQueuesAll);
        if self.has_arrived() {
            self.seen.note("the source was emptied at the global queue's turn");
            let gs = self.give(Some(p));
            any |= !gs.is_empty();
            self.put_all(p, gs, may_overtake);
        }
        if let Some(gs) = self.peek(asks) {
            let next = may_overtake && !any;
            any |= !gs.is_empty();
            self.put_all(p, gs, next);
        }
        any
    }

    fn put_all(&mut self, p: usize, gs: Vec<u64>, mut next: bool) {
        for item in gs.into_iter().map(Item::G) {
            match std::mem::take(&mut next) {
                true => {
                    self.seen.note("what a turn found that was asked for runs next");
                    self.events.push(Ev::QueuedNext(p, item));
                    self.put_next(p, item);
                }
                false => {
                    self.events.push(Ev::Queued(Some(p), item));
                    self.put(p, item);
                }
            }
        }
    }
}
