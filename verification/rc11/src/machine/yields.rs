//! Loops that wait, and say so by yielding: a round without news is no execution.
//!
//! A round is what a thread does between two yields. If it has found what it had found before, and written nothing, it
//! is tried whether the loop goes on so: the thread is answered the same again, for [`ROUNDS`] rounds, past the graph. If
//! it comes back each time, it waits, until something is written that the round has read. If it does not (it counts its
//! attempts, say), the yield is an event like others, and the play begins anew.

use super::{Machine, Over};
use crate::graph::{Event, Kind};
use crate::step::Ask;
use crate::verdict::Why;

/// After so many rounds that are the same it is believed that they stay so.
const ROUNDS: u32 = 64;

/// A loop that writes in its body is left after so many rounds in which it has learnt nothing from others.
const ROUNDS_WITH_WRITES: usize = 3;

/// So many yields in a row without a question between: a loop that asks for nothing.
const MOST_IN_A_ROW: u32 = 100_000;

/// A thread that is answered what it has found before.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Dry {
    rounds: u32,
    /// Reads of this round.
    reads: u32,
}

/// What a round has found.
enum Round {
    News,
    Nothing,
    /// Nothing, but it has written.
    NothingAndWrote,
}

impl Machine {
    /// A yield that ends no round, since nothing came after the last one: no event.
    pub(super) fn yields_in_vain(&mut self, thread: u8) -> Option<Result<u64, Over>> {
        let slot = &self.slots[usize::from(thread)];
        let kind = |n: &u16| self.graph.events[usize::from(*n)].kind;
        let next = slot.events.get(usize::from(slot.told)).map(kind);
        let last = slot.told.checked_sub(1).and_then(|last| slot.events.get(usize::from(last))).map(kind);
        match (next, last) {
            (Some(Kind::Yield | Kind::Spin), _) => None,
            (None, Some(last)) if last != Kind::Yield => None,
            _ => {
                let slot = &mut self.slots[usize::from(thread)];
                slot.asks = None;
                slot.yields += 1;
                if slot.yields > MOST_IN_A_ROW {
                    self.fails(Why::Panic(
                        "a loop yields for ever without looking at anything of the model's: what it waits for must be \
                         one of the model's atomics"
                            .to_owned(),
                    ));
                    return Some(Err(Over));
                }
                Some(Ok(0))
            }
        }
    }

    /// The end of a round, which is a new event.
    pub(super) fn yields(&mut self, thread: u8) -> Option<Result<u64, Over>> {
        self.slots[usize::from(thread)].yields = 0;
        match self.last_round(thread) {
            Round::Nothing => {
                self.slots[usize::from(thread)].dry = Some(Dry::default());
                self.slots[usize::from(thread)].asks = None;
                Some(Ok(0))
            }
            Round::NothingAndWrote => {
                self.cuts += 1;
                self.waits_for_news(thread)
            }
            Round::News => Some(self.goes_on(thread, &Ask::Yield)),
        }
    }

    fn waits_for_news(&mut self, thread: u8) -> Option<Result<u64, Over>> {
        match self.goes_on(thread, &Ask::Spin) {
            Ok(_) => None,
            Err(over) => Some(Err(over)),
        }
    }

    /// A thread whose loop is tried asks: it is answered what it has found last.
    pub(super) fn answer_dry(&mut self, thread: u8, ask: &Ask) -> Option<Result<u64, Over>> {
        let mut dry = self.slots[usize::from(thread)].dry.take().unwrap_or_default();
        let answer = match ask {
            Ask::Yield if dry.reads == 0 => Some(0),
            Ask::Yield => {
                (dry.rounds, dry.reads) = (dry.rounds + 1, 0);
                (dry.rounds < ROUNDS).then_some(0)
            }
            Ask::Fence(_) => Some(0),
            Ask::Load { loc, .. } | Ask::Update { loc, .. } => {
                dry.reads += 1;
                let last = self.graph.of(*loc).find(|(_, e)| e.thread == thread);
                let found = last.map(|(_, e)| e.value);
                match ask {
                    Ask::Update { update, .. } => {
                        found.filter(|found| !update.is_await() && update.over(*found).is_none())
                    }
                    _ => found,
                }
            }
            _ => None,
        };
        match answer {
            Some(value) => {
                self.slots[usize::from(thread)].dry = Some(dry);
                self.slots[usize::from(thread)].asks = None;
                Some(Ok(value))
            }
            None if *ask == Ask::Yield => self.waits_for_news(thread),
            None => {
                self.leaves_the_loop(thread);
                Some(Err(Over))
            }
        }
    }

    /// It was no loop that waits, or not for ever: its yield is an event, and all begins anew.
    pub(super) fn leaves_the_loop(&mut self, thread: u8) {
        self.slots[usize::from(thread)].dry = None;
        self.begins_anew = self.goes_on(thread, &Ask::Yield).is_ok();
        self.is_over = true;
    }

    /// What the thread has done since it yielded last.
    fn last_round(&self, thread: u8) -> Round {
        let events = |from: usize, to: usize| {
            let of_round = &self.slots[usize::from(thread)].events[from..to];
            of_round.iter().map(|n| &self.graph.events[usize::from(*n)])
        };
        let all = self.slots[usize::from(thread)].events.len();
        let mut ends = (0..all).rev().filter(|&n| events(n, n + 1).all(|e| e.kind == Kind::Yield));
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
        let mut to = all;
        for from in std::iter::once(from).chain(ends).take(ROUNDS_WITH_WRITES) {
            let before = usize::from(self.slots[usize::from(thread)].events[from]);
            let knew = |e: &Event| {
                let known = &self.graph.clocks[before].porf;
                let is_known = |w: &Event| w.thread == thread || known.has(w.thread, w.idx);
                self.graph.events.get(usize::from(e.rf)).is_none_or(is_known)
            };
            if !events(from + 1, to).filter(|e| e.is_read()).all(knew) {
                return Round::News;
            }
            to = from;
        }
        let is_round = |n: &usize| events(*n, n + 1).all(|e| e.kind == Kind::Yield);
        if (0..all).filter(is_round).count() >= ROUNDS_WITH_WRITES { Round::NothingAndWrote } else { Round::News }
    }

    /// The write that the thread had last read or made there, before its event number `before`.
    fn found_before(&self, thread: u8, loc: crate::graph::Loc, before: u16) -> Option<u16> {
        let mut of_it = self.graph.of(loc).filter(|(_, e)| e.thread == thread && e.idx < before);
        of_it.next().map(|(n, e)| if e.is_write() { n as u16 } else { e.rf })
    }
}
