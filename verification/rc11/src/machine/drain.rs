//! What becomes of an execution in which a thread spins on what was overwritten.
//!
//! It stands for nothing, but its threads have things on their stacks, and where they are not to be unwound these would be
//! lost: some hundred bytes, a million times. So the execution is played to its end. A thread that spins looks again, and each
//! read finds the newest; when no thread can go on, one that waits for a while times out. That is how a fair machine would go
//! on; nothing of it is noted, whatever comes of it.

use super::{Machine, Mode, Over, PARKING_FOR_A_WHILE, with};
use crate::graph::{Graph, Kind, MAX_THREADS};
use crate::step::Ask;
use std::collections::{BTreeMap, BTreeSet};

/// So many rounds of loops at most.
const ROUNDS: u32 = 1_000;

/// How it stood when no thread could go on.
pub(super) struct Drain {
    graph: Graph,
    skipped: u64,
    cuts: u64,
    shown: u64,
    cut: BTreeSet<String>,
    timed_out: BTreeMap<(u8, usize), String>,
    /// Which threads have yielded, and let the others go first.
    rests: [bool; MAX_THREADS],
    /// Which one's wait times out next.
    times_out: Option<u8>,
    rounds: u32,
}

impl Machine {
    /// No thread can go on, since some spin: from now on they may. `false`: they are to be unwound instead, or did so already.
    pub(super) fn drains(&mut self) -> bool {
        if self.limits.unwind || self.mode == Mode::Replay || self.drain.is_some() {
            return false;
        }
        let mut drain = Drain {
            graph: self.graph.clone(),
            skipped: self.skipped,
            cuts: self.cuts,
            shown: self.shown,
            cut: self.cut.clone(),
            timed_out: self.timed_out.clone(),
            rests: [false; MAX_THREADS],
            times_out: None,
            rounds: 0,
        };
        for thread in self.order.clone() {
            if let Some(last) = self.graph.last(thread).filter(|_| !self.slot(thread).is_done)
                && matches!(self.graph.events[last].kind, Kind::Spin)
            {
                self.graph.events[last].kind = Kind::Yield;
                drain.rests[usize::from(thread)] = true;
            }
        }
        self.drain = Some(Box::new(drain));
        true
    }

    /// A thread that waits for a while, where no thread can go on: its wait is over.
    pub(super) fn times_out(&mut self) -> Option<u8> {
        let waits = |&&thread: &&u8| {
            let slot = self.slot(thread);
            !slot.is_done && matches!(slot.asks, Some(Ask::Update { update: PARKING_FOR_A_WHILE, .. }))
        };
        let thread = self.order.iter().find(waits).copied()?;
        let drain = self.drain.as_mut()?;
        drain.rounds += 1;
        drain.times_out = Some(thread);
        (drain.rounds <= ROUNDS).then_some(thread)
    }

    /// Does the wait of `thread` time out?
    pub(super) fn is_timed_out(&mut self, thread: u8) -> bool {
        let is_timed_out =
            self.drain.as_mut().is_some_and(|drain| drain.times_out.take_if(|one| *one == thread).is_some());
        if is_timed_out {
            self.slots[usize::from(thread)].asks = None;
        }
        is_timed_out
    }

    /// Does `thread` let the others go first?
    pub(super) fn rests(&self, thread: u8) -> bool {
        self.drain.as_ref().is_some_and(|drain| drain.rests[usize::from(thread)])
    }

    /// A yield is no event then. `None`: the others go first.
    pub(super) fn yields_to_the_others(&mut self, thread: u8) -> Option<Option<Result<u64, Over>>> {
        let drain = self.drain.as_mut()?;
        let rests = &mut drain.rests[usize::from(thread)];
        *rests = !*rests;
        if !*rests {
            self.slots[usize::from(thread)].asks = None;
            return Some(Some(Ok(0)));
        }
        drain.rounds += 1;
        if drain.rounds > ROUNDS {
            self.is_over = true;
            return Some(Some(Err(Over)));
        }
        Some(None)
    }
}

/// The execution is as it was before it was played to its end. Was it?
pub(super) fn undo() -> bool {
    with(|machine| {
        let Some(drain) = machine.drain.take() else { return false };
        let Drain { graph, skipped, cuts, shown, cut, timed_out, .. } = *drain;
        machine.graph = graph;
        (machine.skipped, machine.cuts, machine.shown) = (skipped, cuts, shown);
        (machine.cut, machine.timed_out) = (cut, timed_out);
        (machine.failure, machine.begins_anew) = (None, false);
        true
    })
}
