//! What is to be done with a graph, within which limits, and what comes of it.

use super::Seen;
use crate::graph::{Graph, Loc};
use crate::step::Way;
use crate::verdict::Failure;
use std::collections::BTreeSet;
use std::panic::Location;

/// Whose event, which of its thread's, and where in the source it was asked for.
pub type Site = (u8, u16, &'static Location<'static>);

/// What an execution may take, and how it is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Limits {
    pub max_events: usize,
    pub max_threads: usize,
    /// When it is over, do its threads unwind? If not, nothing of theirs is dropped.
    pub unwind: bool,
    /// Is what it frees kept until its end?
    pub quarantine: bool,
    /// Is one explored of the executions that symmetric threads make of one?
    pub symmetry: bool,
    /// So many times a block may lie where one that was freed lay.
    pub reuse: u16,
    /// Is it counted what it does not free?
    pub leaks: bool,
}

/// What is to be done with a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mode {
    /// It is extended until all threads have ended.
    #[default]
    Explore,
    /// It is only played again, and looked at.
    Replay,
}

/// How an execution ended.
pub(crate) enum End {
    /// All threads have come to their end.
    Complete,
    /// A thread spins on what was overwritten: no execution of its own.
    Blocked,
    /// It was only played again.
    Played,
    /// It is to be played again, and then goes on.
    Anew,
    /// It must not be.
    Failed(Failure),
}

/// What came of one run.
pub(crate) struct Run {
    pub end: End,
    pub graph: Graph,
    pub ways: Vec<Way>,
    /// How many ways were not to be noted.
    pub skipped: u64,
    /// How many loops that write were left without news.
    pub cuts: u64,
    /// Which, and why.
    pub cut: BTreeSet<String>,
    /// How many loops were shown to have no end.
    pub shown: u64,
    /// Does the model use what is no location, but the checker's?
    pub is_seen: bool,
    /// Has a last owner, by a count of std's, freed what others had accessed?
    pub std_counts: bool,
    pub sites: Vec<Site>,
    /// Types and values; only when it is played again.
    pub seen: Seen,
    /// What each thread waits for, and what they are called; only when it is played again.
    pub waits: Vec<Wait>,
    pub names: Vec<String>,
    /// Of the location that the thread that failed asks for: its maker, after how many events, and where.
    pub lost: Option<(u8, u16, &'static Location<'static>)>,
    /// The file and the line of the panic that it ended with.
    pub panicked: Option<String>,
}

/// A thread that has come to rest, and what for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// The thread that waits.
    pub thread: u8,
    /// What for.
    pub wants: Wants,
}

/// What a thread may wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// Until `value` is at `loc`.
    Value {
        /// Where.
        loc: Loc,
        /// What.
        value: u64,
    },
    /// Until that thread has come to its end.
    Thread(u8),
    /// Until something is written that its loop has read.
    News,
    /// Until there is room at that place.
    Room(Loc),
}
