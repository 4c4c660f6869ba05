//! Loops that wait, and say so by yielding: a round without news is no execution.
//!
//! A round is what a thread does between two yields. If it has found what it had found before, and written nothing, the
//! loop is tried: the thread is answered the same again, past the graph, and one of three things happens.
//!
//! - It comes back to a state that it was in before, with the same registers, stack and memory ([`Frame::digest`]). Then
//!   **it is shown that the loop has no end**.
//! - It leaves the loop, because it has counted its rounds, say.
//! - Neither, in as many rounds as an execution may have events. Then the loop is cut, and the verdict is *bounded*.
//!
//! In the first two cases these rounds are events like others, and the play begins anew: news may come in each of these
//! states, and what the thread then does may depend on it. A round is left out only at the end of one that has brought the
//! thread to a state from which a round has been played, without news between: then the thread waits, until something is
//! written that one of the rounds in between has read. Which state that is, a mark in the graph says, too
//! ([`Machine::has_come_round`]).

use super::frame::{self, Frame};
use super::rounds::{ROUNDS_WITH_WRITES, Round};
use super::{Machine, Mode, Over};
use crate::graph::Kind;
use crate::quarantine;
use crate::step::Ask;
use crate::verdict::Why;
use std::cell::Cell;
use std::collections::BTreeSet;

/// A loop that comes to no state that it was in is cut after so many rounds without news.
const ROUNDS_PLAYED: usize = 250;

/// How many rounds a loop goes round in, if that is not known. See [`Graph::spins_for_ever`](crate::graph::Graph).
pub(in super::super) const NOT_SHOWN: u64 = u64::MAX;

/// So many yields in a row without a question between: a loop that asks for nothing.
const MOST_IN_A_ROW: u32 = 100_000;

/// A thread that is answered what it has found before.
#[derive(Debug, Clone, Default)]
pub(super) struct Dry {
    /// What it has asked since, and was answered.
    asked: Vec<(Ask, u64)>,
    /// Reads of this round.
    reads: u32,
    /// Yields in a row.
    yields: u32,
    /// The digests of its state at the end of each round since it had news last.
    states: BTreeSet<u64>,
    /// Of these, those since it is tried, in order; and how many rounds after the nth it came back to that one.
    tried: Vec<u64>,
    cycle: Option<(usize, u64)>,
}

/// Why a loop is left before its end.
enum Cut {
    Writes,
    IsNotShown,
}

/// The calling thread has been answered. If its loop is tried, what the checker has left on its stack is wiped.
pub(super) fn wipe_if_dry() {
    if IS_DRY.get() {
        frame::wipe();
    }
}

std::thread_local! {
    /// Is the thread that asks one whose loop is tried?
    static IS_DRY: Cell<bool> = const { Cell::new(false) };
}

/// It yields: where it stands then.
#[track_caller]
#[inline(always)]
pub(in super::super) fn ask_to_yield() {
    frame::wipe_if_tracked();
    yields_here();
}

#[track_caller]
#[inline(never)]
fn yields_here() {
    let frame = Frame::here();
    super::with(|machine| {
        let current = usize::from(machine.current);
        if let Some(slot) = machine.slots.get_mut(current) {
            slot.frame = frame;
        }
    });
    super::ask(Ask::Yield);
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
            // From now on it is noted which blocks of memory the model has.
            Round::Nothing if quarantine::track() => {
                (self.begins_anew, self.is_over) = (true, true);
                Some(Err(Over))
            }
            Round::Nothing => {
                let state = self.state_of(thread);
                let slot = &self.slots[usize::from(thread)];
                let was_at = slot.spun.iter().rposition(|was| Some(*was) == state);
                let rounds = was_at.map(|at| (slot.spun.len() - at) as u64);
                if let Some(rounds) = self.has_come_round(thread).or(rounds) {
                    self.shown += 1;
                    return self.waits_for_news(thread, rounds);
                }
                let slot = &self.slots[usize::from(thread)];
                if let Some(at) = slot.silent {
                    self.cuts += 1;
                    self.cut.insert(format!(
                        "the wait at {at} has timed out more than once in a row, and the thread was in another state each time: \
                         that it is woken after the second is not played"
                    ));
                }
                let slot = &mut self.slots[usize::from(thread)];
                if slot.spun.len() > ROUNDS_PLAYED {
                    self.cut(thread, Cut::IsNotShown);
                    return self.waits_for_news(thread, NOT_SHOWN);
                }
                IS_DRY.set(true);
                quarantine::only_tries(true);
                let states = slot.spun.iter().copied().chain(state).collect();
                let tried = state.into_iter().collect();
                slot.dry = Some(Dry { asked: vec![(Ask::Yield, 0)], states, tried, ..Dry::default() });
                slot.asks = None;
                Some(Ok(0))
            }
            Round::NothingAndWrote => {
                self.cut(thread, Cut::Writes);
                self.waits_for_news(thread, 1)
            }
            Round::News => {
                let state = quarantine::is_tracked().then(|| self.state_of(thread)).flatten();
                let slot = &mut self.slots[usize::from(thread)];
                slot.silent = None;
                slot.spun.clear();
                slot.spun.extend(state);
                Some(self.goes_on(thread, &Ask::Yield))
            }
        }
    }

    /// A round that `thread` has played is played again, and ends here.
    pub(super) fn notes_state(&mut self, thread: u8) {
        let slot = &self.slots[usize::from(thread)];
        let at = usize::from(slot.told);
        if !self.ends_round(thread, at) || self.mode == Mode::Replay || !quarantine::is_tracked() {
            return;
        }
        if !matches!(self.round_before(thread, at), Round::Nothing) {
            let slot = &mut self.slots[usize::from(thread)];
            slot.silent = None;
            slot.spun.clear();
        }
        if self.has_no_news_after(thread, at) {
            let state = self.state_of(thread);
            self.slots[usize::from(thread)].spun.extend(state);
        }
    }

    /// Is there none in the rounds that the thread has played after its event number `at`? Else no state is needed there.
    fn has_no_news_after(&self, thread: u8, at: usize) -> bool {
        let all = self.slots[usize::from(thread)].events.len();
        let mut ends = (at + 1..all).filter(|&n| self.ends_round(thread, n)).chain([all]);
        ends.all(|end| matches!(self.round_before(thread, end), Round::Nothing))
    }

    /// The state of the thread, which has yielded.
    fn state_of(&self, thread: u8) -> Option<u64> {
        let slot = &self.slots[usize::from(thread)];
        slot.frame.and_then(|frame| frame.digest(slot.stack_begins))
    }

    /// It goes round in its last so many rounds, until there is news in one of them.
    fn waits_for_news(&mut self, thread: u8, rounds: u64) -> Option<Result<u64, Over>> {
        quarantine::only_tries(false);
        if let Err(over) = self.goes_on(thread, &Ask::Spin) {
            return Some(Err(over));
        }
        if let Some(event) = self.graph.events.last_mut() {
            event.value = rounds;
        }
        None
    }

    /// A thread whose loop is tried asks: it is answered what it has found last.
    pub(super) fn answer_dry(&mut self, thread: u8, ask: &Ask) -> Option<Result<u64, Over>> {
        let mut dry = self.slots[usize::from(thread)].dry.take().unwrap_or_default();
        IS_DRY.set(false);
        let answer = match ask {
            Ask::Yield if dry.reads == 0 => {
                dry.yields += 1;
                (dry.yields < MOST_IN_A_ROW).then_some(0)
            }
            Ask::Yield => {
                let state = self.state_of(thread);
                if state.is_some_and(|state| !dry.states.insert(state)) {
                    let nth = dry.tried.iter().position(|tried| Some(*tried) == state);
                    let rounds = dry.asked.iter().filter(|(ask, _)| *ask == Ask::Yield).count();
                    // The digest of each round is known.
                    dry.cycle = nth.filter(|_| rounds == dry.tried.len()).map(|nth| (nth, (rounds - nth) as u64));
                    self.slots[usize::from(thread)].dry = Some(dry);
                    self.leaves_the_loop(thread);
                    return Some(Err(Over));
                }
                if self.graph.events.len() + dry.asked.len() >= self.limits.max_events {
                    self.cut(thread, Cut::IsNotShown);
                    // Where no state is known, it is taken for one that does the same in each round.
                    return self.waits_for_news(thread, if state.is_some() { NOT_SHOWN } else { 1 });
                }
                dry.tried.extend(state);
                Some(0)
            }
            Ask::Fence(_) => Some(0),
            Ask::Load { loc, .. } | Ask::Update { loc, .. } => {
                (dry.reads, dry.yields) = (dry.reads + 1, 0);
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
        if let Some(value) = answer {
            let is_event = *ask != Ask::Yield || std::mem::take(&mut dry.reads) > 0;
            dry.asked.extend(is_event.then_some((*ask, value)));
            self.slots[usize::from(thread)].dry = Some(dry);
            self.slots[usize::from(thread)].asks = None;
            IS_DRY.set(true);
            return Some(Ok(value));
        }
        self.slots[usize::from(thread)].dry = Some(dry);
        self.leaves_the_loop(thread);
        Some(Err(Over))
    }

    /// It was no loop that waits, or comes back to where it was: what it has asked since are events, as far as it would be
    /// answered the same, and all begins anew.
    pub(super) fn leaves_the_loop(&mut self, thread: u8) {
        quarantine::only_tries(false);
        let dry = self.slots[usize::from(thread)].dry.take().unwrap_or_default();
        self.begins_anew = true;
        let mut rounds = 0;
        for (ask, answer) in dry.asked {
            let result = self.goes_on(thread, &ask);
            if ask == Ask::Yield && result.is_ok() {
                self.marks_cycle(dry.cycle.filter(|(nth, _)| *nth == rounds));
                rounds += 1;
            }
            match result {
                Ok(value) if value == answer => (),
                Ok(_) => break,
                Err(Over) => {
                    self.begins_anew = false;
                    break;
                }
            }
        }
        self.is_over = true;
    }

    /// Other rounds of the loop that the thread is in are left out.
    fn cut(&mut self, thread: u8, why: Cut) {
        self.cuts += 1;
        let at = self.slots[usize::from(thread)].at.map(ToString::to_string).unwrap_or_default();
        self.cut.insert(match why {
            Cut::Writes => format!(
                "the loop at {at} writes in each round, and was left after {ROUNDS_WITH_WRITES} that brought no news: load \
                 first, and write when the load says that it will succeed"
            ),
            Cut::IsNotShown => format!(
                "the loop at {at} was left after as many rounds as an execution may have events, and it is not shown that it \
                 goes on so for ever: raise `max_branches` if it counts its rounds"
            ),
        });
    }
}
