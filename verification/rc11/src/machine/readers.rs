//! Threads that read a lock which they read already. A writer that asks for it between the two waits for the first one, and
//! std's lock may then make the second wait for the writer. No lock here does, so that it is looked for in the graph.

use super::{Machine, with};
use crate::graph::{Kind, Loc, Update};

/// A thread has read a lock twice at once: which, and the two events of its own.
pub(super) struct Reread {
    thread: u8,
    first: u16,
    again: u16,
}

pub(super) const DEADLOCK: &str = "deadlock: a thread reads a lock again that it reads already, and a writer may ask for it \
    between the two: it waits for the first read, and std's lock may make the second wait for the writer";

/// The calling thread has the lock for reading, by its last event; would it have waited for that?
pub(crate) fn note_read(loc: Loc, waits: bool) {
    with(|machine| {
        let thread = machine.current;
        let Some(slot) = machine.slots.get_mut(usize::from(thread)) else { return };
        let again = slot.told.saturating_sub(1);
        let first = slot.reads.iter().find(|(read, _)| *read == loc).map(|(_, first)| *first);
        slot.reads.push((loc, again));
        if let (Some(first), true) = (first, waits) {
            machine.rereads.push(Reread { thread, first, again });
        }
    });
}

/// It gives the lock back.
pub(crate) fn forget_read(loc: Loc) {
    with(|machine| {
        let Some(slot) = machine.slots.get_mut(usize::from(machine.current)) else { return };
        if let Some(n) = slot.reads.iter().rposition(|(read, _)| *read == loc) {
            slot.reads.remove(n);
        }
    });
}

impl Machine {
    /// The thread that a writer may keep from reading again.
    pub(super) fn may_wait_for_itself(&self) -> Option<u8> {
        self.rereads.iter().find(|reread| self.is_barred(reread)).map(|reread| reread.thread)
    }

    /// May a writer have asked between the two? One must, that neither the first comes after, nor that comes after the second.
    fn is_barred(&self, &Reread { thread, first, again }: &Reread) -> bool {
        let events = &self.slot(thread).events;
        let Some(first) = events.get(usize::from(first)).map(|&n| usize::from(n)) else { return false };
        let had = self.graph.clocks[first].porf;
        self.graph.of(self.graph.events[first].loc).any(|(n, writer)| {
            matches!(writer.kind, Kind::Updating(Update::Await { .. }))
                && writer.thread != thread
                && !had.has(writer.thread, writer.idx)
                && !self.graph.before(n).porf.has(thread, again)
        })
    }
}
