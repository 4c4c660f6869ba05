//! Rounds of a loop that waits: what each has found, and whether they are shown to go round.

use super::Machine;
use crate::graph::{Event, Kind};

/// A loop that writes in its body is left after so many rounds that write, if it has learnt nothing from others meanwhile.
pub(super) const ROUNDS_WITH_WRITES: usize = 3;

/// What a round has found.
pub(super) enum Round {
    News,
    Nothing,
    /// Nothing, but it has written.
    NothingAndWrote,
}

impl Machine {
    /// The last event ends a round: from there the thread comes back to the same state after so many rounds. The value of the
    /// event says so.
    pub(super) fn marks_cycle(&mut self, cycle: Option<(usize, u64)>) {
        if let (Some((_, rounds)), Some(event)) = (cycle, self.graph.events.last_mut()) {
            event.value = rounds;
        }
    }

    /// Has the thread played, without news, all rounds of a cycle that was shown? How many they are.
    ///
    /// A digest cannot tell: meanwhile another thread may have changed memory that this one does not look at. Why a mark can:
    /// 1. While the loop was tried no other thread ran, so that the digest was the same only if all memory was: from the marked
    ///    event, the same answers bring the thread back to the state that it is in there.
    /// 2. That state is the same in each graph that has the mark, since a graph has an event only with all that it depends on.
    /// 3. It was answered the same: each read in the rounds since has found the write that it had found before (`round_before`).
    /// 4. Memory that it reads without asking is as it was: another thread's write to it would race with the read, unless this
    ///    thread has learnt of the write meanwhile, by an event; and that is news.
    /// 5. So each further round repeats one of these; and news that comes in it may come in that one, whose reads are in the
    ///    graph: leaving out reads and fences between leaves a consistent execution, in which the thread does the same.
    pub(super) fn has_come_round(&self, thread: u8) -> Option<u64> {
        let slot = &self.slots[usize::from(thread)];
        let mut end = slot.events.len();
        for rounds in 1.. {
            if slot.silent.is_some() || !matches!(self.round_before(thread, end), Round::Nothing) {
                return None;
            }
            end = (0..end).rev().find(|&n| self.ends_round(thread, n))?;
            if self.graph.events[usize::from(slot.events[end])].value == rounds {
                return Some(rounds);
            }
        }
        None
    }

    /// Is the thread's event number `n` the end of a round?
    pub(super) fn ends_round(&self, thread: u8, n: usize) -> bool {
        self.graph.events[usize::from(self.slots[usize::from(thread)].events[n])].kind == Kind::Yield
    }

    /// What the thread has done since it yielded last.
    pub(super) fn last_round(&self, thread: u8) -> Round {
        self.round_before(thread, self.slots[usize::from(thread)].events.len())
    }

    /// The same of its first `all` events.
    pub(super) fn round_before(&self, thread: u8, all: usize) -> Round {
        let events = |from: usize, to: usize| {
            let of_round = &self.slots[usize::from(thread)].events[from..to];
            of_round.iter().map(|n| &self.graph.events[usize::from(*n)])
        };
        let mut ends = (0..all).rev().filter(|&n| self.ends_round(thread, n));
        let Some(from) = ends.next() else { return Round::News };
        let is_effect = |e: &Event| {
            let reads = matches!(e.kind, Kind::Load | Kind::Fence | Kind::Updating(_));
            !reads || e.will_write().is_some()
        };
        if !events(from + 1, all).any(is_effect) {
            let is_old = |e: &Event| self.found_before(thread, e.loc, from as u16) == Some(e.rf);
            let finds_nothing = events(from + 1, all).filter(|e| e.is_read()).all(is_old);
            return if finds_nothing { Round::Nothing } else { Round::News };
        }
        let (mut to, mut wrote) = (all, 0);
        for from in std::iter::once(from).chain(ends) {
            let before = usize::from(self.slots[usize::from(thread)].events[from]);
            let knew = |e: &Event| {
                let known = &self.graph.clocks[before].porf;
                let is_known = |w: &Event| w.thread == thread || known.has(w.thread, w.idx);
                self.graph.events.get(usize::from(e.rf)).is_none_or(is_known)
            };
            if !events(from + 1, to).filter(|e| e.is_read()).all(knew) {
                return Round::News;
            }
            wrote += usize::from(events(from + 1, to).any(is_effect));
            if wrote == ROUNDS_WITH_WRITES {
                return Round::NothingAndWrote;
            }
            to = from;
        }
        Round::News
    }

    /// The write that the thread had last read or made there, before its event number `before`.
    fn found_before(&self, thread: u8, loc: crate::graph::Loc, before: u16) -> Option<u16> {
        let mut of_it = self.graph.of(loc).filter(|(_, e)| e.thread == thread && e.idx < before);
        of_it.next().map(|(n, e)| if e.is_write() { n as u16 } else { e.rf })
    }
}
