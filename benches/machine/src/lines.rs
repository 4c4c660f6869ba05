//! Which core has which line, and until when it is on its way.
//!
//! **A line is in one core, to be written, or in several, to be read.** A core that has it pays for the access only. Another waits
//! until the line is there; one that wants to write it takes it from all the others. A line that is on its way to one core goes on
//! to the next when it has arrived: so many that write the same word come one after the other.
//!
//! A plain store is not waited for: it goes into the core's store buffer, which is drained in order; a locked instruction and a
//! fence wait until it is empty. (The value is seen at once all the same: only time is modelled, and no weak memory.)
//!
//! Left out: what a core fetches ahead, or fetches several of at once; that a cache is full; that words which only this core has
//! ever written may have to come from memory. So a scan of many rings is dearer here than on a core that overlaps its misses.

use crate::costs::{Costs, Picos};
use rustc_hash::FxHashMap;
use std::panic::Location;

/// What an access does to its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// A plain load.
    Load,
    /// A plain store.
    Store,
    /// A locked instruction.
    Locked,
}

/// Cores, as bits.
#[derive(Debug, Default)]
struct Cores(Vec<u64>);

impl Cores {
    fn has(&self, core: usize) -> bool {
        self.0.get(core / 64).is_some_and(|bits| bits >> (core % 64) & 1 != 0)
    }

    fn add(&mut self, core: usize) {
        if self.0.len() <= core / 64 {
            self.0.resize(core / 64 + 1, 0);
        }
        self.0[core / 64] |= 1 << (core % 64);
    }
}

#[derive(Debug, Default)]
struct Line {
    /// The core that wrote it last, or read it first.
    from: Option<usize>,
    /// The cores that have it beside that one.
    readers: Option<Cores>,
    /// On its way until then.
    until: Picos,
    /// For how long it was on its way, since this was last asked.
    moving: Picos,
    /// The line of code that it came for last.
    at: Option<&'static Location<'static>>,
}

impl Line {
    /// To be written, from `way` before `there` on.
    fn goes_to(&mut self, core: usize, there: Picos, way: Picos) {
        (self.from, self.readers, self.until) = (Some(core), None, there);
        self.moving += way;
    }

    fn is_alone_at(&self, core: usize) -> bool {
        self.from == Some(core) && self.readers.is_none()
    }

    fn is_at(&self, core: usize) -> bool {
        self.from == Some(core) || self.readers.as_ref().is_some_and(|readers| readers.has(core))
    }
}

/// All lines, and the store buffers.
#[derive(Debug)]
pub(crate) struct Lines {
    lines: FxHashMap<usize, Line>,
    /// Until when a core's store buffer is not empty.
    drained: Vec<Picos>,
}

/// What an access took.
pub(crate) struct Charge {
    /// The core goes on then.
    pub(crate) until: Picos,
    /// Did the line have to come?
    pub(crate) moved: bool,
}

impl Lines {
    pub(crate) fn new() -> Lines {
        Lines { lines: FxHashMap::default(), drained: Vec::new() }
    }

    /// The core's store buffer is empty from then on, or from now.
    pub(crate) fn drained(&self, core: usize, now: Picos) -> Picos {
        self.drained.get(core).copied().unwrap_or(0).max(now)
    }

    /// What it costs to bring the line to `core`.
    fn way(line: &Line, core: usize, costs: &Costs) -> Picos {
        match line.from {
            None => costs.memory,
            Some(from) if from / costs.socket == core / costs.socket => costs.line,
            Some(_) => costs.far_line,
        }
    }

    /// `core` has made this line out of fresh memory, which its cache has.
    pub(crate) fn fresh(&mut self, core: usize, line: usize) {
        self.lines.insert(line, Line { from: Some(core), ..Line::default() });
    }

    /// Forgets for how long each line was on its way.
    pub(crate) fn forget_moves(&mut self) {
        self.lines.values_mut().for_each(|line| line.moving = 0);
    }

    /// The line that was on its way longest: for how long, and which.
    pub(crate) fn hottest(&self) -> (Picos, Option<(usize, Option<&'static Location<'static>>)>) {
        let most = self.lines.iter().max_by_key(|(number, line)| (line.moving, **number));
        most.map_or((0, None), |(number, line)| (line.moving, Some((*number, line.at))))
    }

    /// One access by `core`, asked for by the code `at`, at the moment `now`.
    pub(crate) fn access(
        &mut self,
        core: usize,
        number: usize,
        what: Access,
        at: Option<&'static Location<'static>>,
        now: Picos,
        costs: &Costs,
    ) -> Charge {
        let start = if what == Access::Locked { self.drained(core, now) } else { now };
        let drained = self.drained(core, now);
        let line = self.lines.entry(number).or_default();
        let own = if what == Access::Locked { costs.locked } else { costs.local };
        let is_here = if what == Access::Load { line.is_at(core) } else { line.is_alone_at(core) };
        if is_here {
            // A store of its own that is still on its way is forwarded; a locked instruction has waited for it.
            return Charge { until: start + own, moved: false };
        }
        let way = Self::way(line, core, costs);
        line.at = at;
        match what {
            Access::Load => {
                let there = start.max(line.until) + way;
                match line.from {
                    None => line.from = Some(core),
                    Some(_) => {
                        if line.readers.is_none() {
                            line.until = there; // its writer gives it away; later readers have it from the cache between them
                            line.moving += way;
                        }
                        line.readers.get_or_insert_default().add(core);
                    }
                }
                Charge { until: there + own, moved: true }
            }
            Access::Locked => {
                let there = start.max(line.until) + way;
                line.goes_to(core, there, way);
                Charge { until: there + own, moved: true }
            }
            Access::Store => {
                let there = drained.max(line.until) + way;
                line.goes_to(core, there, way);
                if self.drained.len() <= core {
                    self.drained.resize(core + 1, 0);
                }
                self.drained[core] = there;
                Charge { until: start + own, moved: true }
            }
        }
    }
}
