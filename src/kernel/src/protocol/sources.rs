//! Every place where work can be, in the order in which an M searches it. One list, which every search and every scan walks.
//!
//! Go: the order of `findRunnable`, which `handoffp` must agree with.
//!
//! **A place that is searched is a place that is scanned again before an M sleeps, and before it idles a P.** `find` and
//! `handoff` walk the list, and a spinning M that retires scans all of it.
//!
//! Checked by: verification/src/models/sched.rs

/// A place where a G may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// The global queue, when it is its turn: one dispatch in `global_every`. Then the embedder's sources are polled too, and the
    /// poller, if no M was in it for some time (`peek_every`); the Gs that they have are queued.
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

/// In which order to search.
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
    ///
    /// ```
    /// use spinpark_kernel::protocol::sources::{SearchOrder, Source};
    /// assert_eq!(SearchOrder::GlobalFirst.sources()[0], Source::GlobalTurn);
    /// assert!(SearchOrder::StealFirst.sources().contains(&Source::Steal));
    /// ```
    pub const fn sources(self) -> &'static [Source; 5] {
        use Source::{Extra, Global, GlobalTurn, Local, Steal};
        match self {
            SearchOrder::StealFirst => &[GlobalTurn, Local, Steal, Global, Extra],
            SearchOrder::GlobalFirst => &[GlobalTurn, Local, Global, Extra, Steal],
        }
    }
}
