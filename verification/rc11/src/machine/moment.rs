//! Moments: where a thread stands between two of its events, and what it knows there. For a checker of histories, which asks
//! whether one call of a library happens before another.

use super::with;
use crate::graph::{Clock, Kind};

/// A moment of one thread.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// Which thread.
    pub thread: u8,
    /// After how many of its events.
    pub events: u16,
    /// Of each thread, how many of its events happen before the thread's next event.
    pub known: Clock,
}

impl Moment {
    /// Does all that this moment's thread did up to it happen before what comes after `other`?
    pub fn is_known_at(&self, other: &Moment) -> bool {
        other.known.of(self.thread) >= self.events
    }
}

/// Where the calling thread stands, and what it knows there.
pub(crate) fn moment() -> Moment {
    with(|machine| {
        let thread = machine.current;
        let slot = machine.slot(thread);
        let last = match slot.told {
            0 => machine.graph.events.iter().position(|event| event.kind == Kind::Fork(thread)),
            told => Some(usize::from(slot.events[usize::from(told) - 1])),
        };
        let known = last.map_or_else(Clock::default, |last| machine.graph.clocks[last].hb);
        Moment { thread, events: slot.told, known }
    })
}

/// `moment` of the calling thread, with what the thread knows at its first event after it. A thread that has done nothing since
/// cannot be told from one that stood there until then.
pub(crate) fn at_the_latest(moment: Moment) -> Moment {
    with(|machine| {
        let slot = machine.slot(moment.thread);
        let first = (slot.told > moment.events).then(|| usize::from(slot.events[usize::from(moment.events)]));
        let known = first.map_or(moment.known, |first| machine.graph.clocks[first].hb);
        Moment { known, ..moment }
    })
}

/// Does the calling thread hold a lock?
pub(crate) fn holds_a_lock() -> bool {
    with(|machine| machine.slot(machine.current).holds > 0)
}
