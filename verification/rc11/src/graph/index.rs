//! Which events are of one location.

use super::{Event, INIT, Loc, MAX_THREADS};

/// The locations of each thread lie side by side; a row more has those that no thread made.
const ROWS: usize = MAX_THREADS + 1;

/// Where the row of a thread's locations begins, and how many there may be.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    start: u32,
    len: u32,
}

/// Of a location, the last event that was added, and the write that stands last in its order; or [`INIT`].
#[derive(Debug, Clone, Copy)]
struct Ends {
    last: u16,
    newest: u16,
}

impl Ends {
    const NONE: Ends = Ends { last: INIT, newest: INIT };
}

/// Of each location its ends, and of each event the one before it at its location. Not part of what a graph is.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    rows: [Row; ROWS],
    ends: Vec<Ends>,
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
        Index { rows: self.rows, ends: vec![Ends::NONE; self.ends.len()], before: Vec::with_capacity(room) }
    }

    #[inline]
    fn ends_of(&self, loc: Loc) -> Ends {
        let (thread, ordinal) = loc.slot();
        match self.rows.get(thread) {
            Some(row) if ordinal < row.len as usize => self.ends[row.start as usize + ordinal],
            _ => Ends::NONE,
        }
    }

    /// The last event of `loc`, or [`INIT`].
    #[inline]
    pub(super) fn last_of(&self, loc: Loc) -> u16 {
        self.ends_of(loc).last
    }

    /// The write that stands last in the order of `loc`, or [`INIT`].
    #[inline]
    pub(super) fn newest_of(&self, loc: Loc) -> u16 {
        self.ends_of(loc).newest
    }

    /// The event before event `n` of its location, or [`INIT`].
    #[inline]
    pub(super) fn before(&self, n: usize) -> u16 {
        self.before[n]
    }

    /// The last events of all locations.
    pub(super) fn ends(&self) -> impl Iterator<Item = u16> + '_ {
        self.ends.iter().map(|ends| ends.last).filter(|last| *last != INIT)
    }

    /// The next event is this one, behind those in `events`.
    #[inline]
    pub(super) fn push(&mut self, event: &Event, events: &[Event]) {
        let n = self.before.len() as u16;
        let mut before = INIT;
        if event.loc != Loc::NONE {
            let ends = self.slot(event.loc);
            before = std::mem::replace(&mut ends.last, n);
            let rank = events.get(usize::from(ends.newest)).map_or(0, |newest| newest.mo);
            if event.is_write() && event.mo > rank {
                ends.newest = n;
            }
        }
        self.before.push(before);
    }

    #[inline]
    fn slot(&mut self, loc: Loc) -> &mut Ends {
        let (thread, ordinal) = loc.slot();
        if self.rows[thread].len as usize <= ordinal {
            self.widen(thread, ordinal);
        }
        &mut self.ends[self.rows[thread].start as usize + ordinal]
    }

    /// Moves a row to the end, where it has room for location `ordinal`.
    #[cold]
    fn widen(&mut self, thread: usize, ordinal: usize) {
        let Row { start, len } = self.rows[thread];
        let (from, to) = (start as usize, start as usize + len as usize);
        let (start, len) = (self.ends.len(), (ordinal + 1).max(2 * len as usize));
        self.ends.extend_from_within(from..to);
        self.ends[from..to].fill(Ends::NONE);
        self.ends.resize(start + len, Ends::NONE);
        self.rows[thread] = Row { start: start as u32, len: len as u32 };
    }
}
