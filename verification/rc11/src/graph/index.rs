//! Which events are of one location.

use super::{INIT, Loc, MAX_THREADS};

/// The locations of each thread lie side by side; a row more has those that no thread made.
const ROWS: usize = MAX_THREADS + 1;

/// Where the row of a thread's locations begins, and how many there may be.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    start: u32,
    len: u32,
}

/// Of each location the last event, and of each event the one before it at its location. Not part of what a graph is.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    rows: [Row; ROWS],
    last: Vec<u16>,
    before: Vec<u16>,
}

impl PartialEq for Index {
    fn eq(&self, _: &Index) -> bool {
        true
    }
}

impl Index {
    /// An empty one, with room for the same locations and so many events.
    pub(super) fn emptied(&self, room: usize) -> Index {
        Index { rows: self.rows, last: vec![INIT; self.last.len()], before: Vec::with_capacity(room) }
    }

    /// The last event of `loc`, or [`INIT`].
    #[inline]
    pub(super) fn last_of(&self, loc: Loc) -> u16 {
        let (thread, ordinal) = loc.slot();
        match self.rows.get(thread) {
            Some(row) if ordinal < row.len as usize => self.last[row.start as usize + ordinal],
            _ => INIT,
        }
    }

    /// The event before event `n` of its location, or [`INIT`].
    #[inline]
    pub(super) fn before(&self, n: usize) -> u16 {
        self.before[n]
    }

    /// The last events of all locations.
    pub(super) fn ends(&self) -> impl Iterator<Item = u16> + '_ {
        self.last.iter().copied().filter(|last| *last != INIT)
    }

    /// The next event is of `loc`.
    #[inline]
    pub(super) fn push(&mut self, loc: Loc) {
        let n = self.before.len() as u16;
        let before = if loc == Loc::NONE { INIT } else { std::mem::replace(self.slot(loc), n) };
        self.before.push(before);
    }

    #[inline]
    fn slot(&mut self, loc: Loc) -> &mut u16 {
        let (thread, ordinal) = loc.slot();
        if self.rows[thread].len as usize <= ordinal {
            self.widen(thread, ordinal);
        }
        &mut self.last[self.rows[thread].start as usize + ordinal]
    }

    /// Moves a row to the end, where it has room for location `ordinal`.
    #[cold]
    fn widen(&mut self, thread: usize, ordinal: usize) {
        let Row { start, len } = self.rows[thread];
        let (from, to) = (start as usize, start as usize + len as usize);
        let (start, len) = (self.last.len(), (ordinal + 1).max(2 * len as usize));
        self.last.extend_from_within(from..to);
        self.last[from..to].fill(INIT);
        self.last.resize(start + len, INIT);
        self.rows[thread] = Row { start: start as u32, len: len as u32 };
    }
}
