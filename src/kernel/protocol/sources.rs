//! Every place where work can be, in the order in which it is looked for. Once: whoever must know all of them reads
//! this list.
//!
//! Go: the order of `findRunnable`, which `handoffp` must agree with.
//!
//! **A place that is searched is a place that is looked at again before sleep, and before a P is idled.** `find` and
//! `handoff` walk the list, and the second look of a spinning M asks for all of it.
//!
//! Checked by: verification/src/models/sched.rs

/// A place where a G may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// The global queue, when it is its turn: one dispatch in `global_every`. Then the embedder's sources and the poller
    /// are looked at too, and what they have is queued.
    GlobalTurn,
    /// The P's own `runnext` and ring.
    Local,
    /// The global queue, a fair share of it.
    Global,
    /// The embedder's sources: a poller, timers. See `work_source`.
    Extra,
    /// The other Ps' rings.
    Steal,
}

/// In which order to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SearchOrder {
    /// Other Ps first, then the global queue: as the classic descriptions of Go's scheduler draw it.
    #[default]
    StealFirst,
    /// The global queue first, then other Ps: as Go does today.
    GlobalFirst,
}

impl SearchOrder {
    /// The places, in order. Each order names each place.
    pub const fn sources(self) -> &'static [Source; 5] {
        match self {
            SearchOrder::StealFirst => {
                &[Source::GlobalTurn, Source::Local, Source::Steal, Source::Global, Source::Extra]
            }
            SearchOrder::GlobalFirst => {
                &[Source::GlobalTurn, Source::Local, Source::Global, Source::Extra, Source::Steal]
            }
        }
    }
}
