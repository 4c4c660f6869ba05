//! What a wait that times out again and again asks of the machine: past the graph.

use super::{Frame, over, with};
use crate::graph::{Event, Kind, Loc};
use crate::quarantine;
use std::collections::BTreeSet;

/// How a thread comes back to a wait.
pub(crate) enum ComesBack {
    /// In a state that it was in before.
    AsItWas,
    /// In another one.
    Otherwise,
    /// In another one, as often as an execution may have events.
    TooOften,
}

/// Runs `f` as the checker: what it allocates is not the model's.
pub(crate) fn aside<R>(f: impl FnOnce() -> R) -> R {
    quarantine::leave();
    let result = f();
    quarantine::enter();
    result
}

/// How the calling thread comes back, without an event in between, to where it was in one of `states`.
pub(crate) fn comes_back(frame: Option<Frame>, states: &mut BTreeSet<u64>) -> ComesBack {
    // From now on it is noted which blocks of memory the model has.
    if quarantine::track() {
        with(|machine| (machine.begins_anew, machine.is_over) = (true, true));
        over();
    }
    with(|machine| {
        let begins = machine.slot(machine.current).stack_begins;
        match frame.and_then(|frame| frame.digest(begins)) {
            Some(state) if !states.insert(state) => {
                machine.shown += 1;
                ComesBack::AsItWas
            }
            Some(_) if states.len() < machine.limits.max_events => ComesBack::Otherwise,
            _ => ComesBack::TooOften,
        }
    })
}

/// The calling thread's wait at that line: why not each execution of it is played; none, if it was shown that there are no
/// others.
pub(crate) fn is_cut(at: &'static std::panic::Location<'static>, why: Option<String>) {
    with(|machine| {
        let key = (machine.current, std::ptr::from_ref(at).addr());
        match why {
            Some(why) => machine.timed_out.insert(key, why),
            None => machine.timed_out.remove(&key),
        }
    });
}

/// The calling thread's wait at that line times out, without an event. If its loop turns out to be in another state each time,
/// that it is woken there is not played.
pub(crate) fn times_out_silently(at: &'static std::panic::Location<'static>) {
    with(|machine| {
        let current = usize::from(machine.current);
        machine.slots[current].silent = Some(at);
    });
}

/// Since it had the answers to `told` events, has the calling thread learnt anything from others, or changed anything, but
/// at its `own` places?
pub(crate) fn has_news(told: u16, own: &[Loc]) -> bool {
    with(|machine| {
        let slot = machine.slot(machine.current);
        let events = &slot.events[..usize::from(slot.told)];
        let (before, since) = events.split_at(usize::from(told).min(events.len()));
        let event = |n: &u16| machine.graph.events[usize::from(*n)];
        let is_news = |e: Event| match e.kind {
            Kind::Choice(_) | Kind::Yield => false,
            _ if own.contains(&e.loc) => false,
            Kind::Load => before.iter().rev().map(event).find(|old| old.loc == e.loc).is_none_or(|old| old.rf != e.rf),
            _ => true,
        };
        since.iter().map(event).any(is_news)
    })
}
