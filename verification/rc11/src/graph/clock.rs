//! What is known at an event: how many events of each thread.

use super::{Event, MAX_THREADS, Order};
use serde::{Deserialize, Serialize};

/// Of each thread, how many of its events.
///
/// ```
/// let clock = rc11::graph::Clock::default(); // no event of any thread
/// assert!(clock.of(0) == 0 && !clock.has(0, 0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Clock([u16; MAX_THREADS]);

impl Clock {
    /// No event of any thread.
    pub(super) const NONE: Clock = Clock([0; MAX_THREADS]);

    /// All events, of all threads.
    pub(crate) const ALL: Clock = Clock([u16::MAX; MAX_THREADS]);

    #[inline]
    pub(crate) fn join(&mut self, other: &Clock) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Is event number `idx` of `thread` among them?
    #[inline]
    pub fn has(&self, thread: u8, idx: u16) -> bool {
        self.0[usize::from(thread)] > idx
    }

    #[inline]
    pub(crate) fn has_event(&self, event: &Event) -> bool {
        self.has(event.thread, event.idx)
    }

    /// Of `thread`, how many.
    #[inline]
    pub fn of(&self, thread: u8) -> u16 {
        self.0[usize::from(thread)]
    }

    /// The clock of a thread of which `len` events, the last one and all that is before it, and no other are known.
    #[inline]
    pub(crate) fn count(&mut self, thread: u8, len: u16) {
        self.0[usize::from(thread)] = len;
    }
}

/// What is known at an event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocks {
    /// What happens before it, and itself.
    pub hb: Clock,
    /// What is before it in `(sb ∪ rf)+`, and itself.
    pub porf: Clock,
    /// What an acquire fence after it would acquire.
    pub(super) pending: Clock,
    /// What the last release fence before it released.
    pub(crate) fenced: Clock,
    /// Of a write: what an acquiring read of it acquires.
    pub(super) released: Clock,
}

impl Clocks {
    /// A read of that strength, of a write that has those clocks.
    pub(super) fn reads(&mut self, write: &Clocks, order: Order) {
        self.porf.join(&write.porf);
        if order.acquires() {
            self.hb.join(&write.released);
        } else if order != Order::Plain {
            self.pending.join(&write.released);
        }
    }
}
