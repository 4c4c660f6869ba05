//! Which thread goes on, and how an execution ends.

use super::{End, Machine, Mode, Next, PARKING_FOR_A_WHILE, Wait, Wants, readers};
use crate::graph::{Kind, Update};
use crate::step::Ask;
use crate::verdict::Why;
use std::panic::Location;

impl Machine {
    /// Always the same rule, and one that does not depend on how the graph came about: a thread that holds a lock goes
    /// on first, so that nothing else happens while it does; else the first in the order of paths.
    pub(super) fn who_is_next(&mut self) -> Next {
        if self.is_over || self.failure.is_some() {
            return Next::End(End::Played);
        }
        if self.left > 0 {
            return self.who_is_played_next();
        }
        if self.mode == Mode::Replay {
            return self.who_comes_to_rest_next();
        }
        let holders = self.order.iter().filter(|&&n| self.slot(n).holds > 0);
        let mut able = holders.chain(&self.order).copied().filter(|&thread| self.can_go_on(thread));
        let next = match &self.drain {
            None => able.next(),
            Some(_) => able.min_by_key(|&thread| self.rests(thread)),
        };
        if let Some(next) = next {
            return Next::Thread(next);
        }
        match self.end() {
            End::Blocked if self.drains() => self.who_is_next(),
            end => self.times_out().map_or(Next::End(end), Next::Thread),
        }
    }

    pub(super) fn who_is_played_next(&mut self) -> Next {
        let can_be_played = |&&thread: &&u8| {
            let slot = self.slot(thread);
            let has_more = usize::from(slot.told) < slot.events.len();
            let is_known = slot.thread.is_some() && !slot.is_done;
            is_known && if has_more { slot.asks.is_none() || self.can_be_told(thread) } else { slot.asks.is_none() }
        };
        match self.order.iter().find(can_be_played).copied() {
            Some(thread) => Next::Thread(thread),
            None => {
                self.fails(Why::NotDeterministic);
                Next::End(End::Played)
            }
        }
    }

    /// All has been played: each thread goes on up to what it would ask next.
    pub(super) fn who_comes_to_rest_next(&mut self) -> Next {
        let runs = |&&thread: &&u8| self.slot(thread).asks.is_none() && !self.slot(thread).is_done;
        if let Some(&thread) = self.order.iter().find(runs) {
            return Next::Thread(thread);
        }
        if let Some((a, _)) = self.graph.race() {
            self.fails(Why::Race(a));
            return Next::End(End::Played);
        }
        let able: Vec<u8> = self.order.iter().copied().filter(|&thread| self.can_go_on(thread)).collect();
        if able.is_empty() {
            return Next::End(self.end());
        }
        if let Some((thread, why)) = able.iter().find_map(|&thread| Some((thread, self.why_not_further(thread)?))) {
            self.current = thread;
            self.fails(why);
        }
        Next::End(End::Played)
    }

    /// What `thread` asks for next is no event, but the end: exploring would find the same.
    pub(super) fn why_not_further(&mut self, thread: u8) -> Option<Why> {
        if !self.knows_what_it_must(thread) {
            return Some(Why::Uninitialised);
        }
        match self.slot(thread).asks {
            Some(Ask::Fork { .. }) if !self.graph.may_fork(thread) => Some(Why::TooManyThreads),
            _ => {
                let most = self.limits.max_events;
                (self.graph.events.len() >= most).then_some(Why::TooManyEvents(most))
            }
        }
    }

    pub(super) fn can_go_on(&self, thread: u8) -> bool {
        let slot = self.slot(thread);
        match slot.asks {
            _ if slot.is_done => false,
            None => true,
            Some(Ask::Join(child)) => self.slot(child).is_done && self.graph.is_enabled(thread, &Ask::Join(child)),
            Some(ask) => self.graph.is_enabled(thread, &ask),
        }
    }

    /// No thread can go on.
    pub(super) fn end(&mut self) -> End {
        if self.mixes
            && let Some(race) = self.graph.race()
        {
            self.fails_by(race);
            return End::Played;
        }
        if let Some(thread) = self.may_wait_for_itself() {
            self.current = thread;
            self.fails(Why::Panic(readers::DEADLOCK.to_owned()));
            return End::Played;
        }
        let waits: Vec<u8> = self.order.iter().copied().filter(|&thread| !self.slot(thread).is_done).collect();
        if waits.is_empty() {
            return End::Complete;
        }
        let may_go_on = |&thread: &u8| {
            let last = self.graph.last(thread).map(|n| self.graph.events[n]);
            last.is_some_and(|last| match last.kind {
                Kind::Spin => !self.graph.spins_for_ever(thread),
                // It was displaced, and what it waits for is there again: another graph has it read that.
                Kind::Updating(update) => last.waits() && update.over(self.graph.newest_value(last.loc)).is_some(),
                _ => false,
            })
        };
        let waits_for_a_while =
            |&thread: &u8| matches!(self.slot(thread).asks, Some(Ask::Update { update: PARKING_FOR_A_WHILE, .. }));
        if waits.iter().any(may_go_on) || waits.iter().any(waits_for_a_while) {
            return End::Blocked;
        }
        if self.leaves_waiting && self.slots[0].is_done {
            return End::Complete;
        }
        self.fails(if self.slots[0].is_done { Why::Unjoined(waits) } else { Why::Deadlock(waits) });
        End::Played
    }

    /// Where the location was made that the thread asks for that has failed.
    pub(super) fn lost(&self) -> Option<(u8, u16, &'static Location<'static>)> {
        let loc = match self.slot(self.failure.as_ref()?.thread).asks? {
            Ask::Load { loc, .. } | Ask::Store { loc, .. } | Ask::Update { loc, .. } | Ask::Open { loc } => loc,
            _ => return None,
        };
        self.made.iter().find(|(made, ..)| *made == loc).map(|(_, maker, told, at)| (*maker, *told, *at))
    }

    /// What each thread waits for. It is read only when an execution is played again.
    pub(super) fn waits(&self) -> Vec<Wait> {
        let wait = |&thread: &u8| {
            let wants = match self.slot(thread).asks? {
                Ask::Update { loc, update: Update::Await { wanted: value, .. }, .. } => Wants::Value { loc, value },
                Ask::Update { loc, update, .. } if update.is_await() => Wants::Room(loc),
                Ask::Join(child) => Wants::Thread(child),
                Ask::Spin | Ask::Yield => Wants::News,
                _ => return None,
            };
            Some(Wait { thread, wants })
        };
        let order = if self.mode == Mode::Replay { self.order.as_slice() } else { &[] };
        order.iter().filter(|&&thread| !self.slot(thread).is_done && !self.can_go_on(thread)).filter_map(wait).collect()
    }
}
