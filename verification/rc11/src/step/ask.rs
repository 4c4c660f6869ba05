//! What a thread may ask for, and what is noted of a way that was not taken.

use crate::graph::{Loc, Order, Update};
use serde::{Deserialize, Serialize};

/// What a thread asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Ask {
    Load {
        loc: Loc,
        init: u64,
        order: Order,
    },
    Store {
        loc: Loc,
        value: u64,
        order: Order,
    },
    Update {
        loc: Loc,
        init: u64,
        order: Order,
        update: Update,
    },
    Open {
        loc: Loc,
    },
    Fence(Order),
    Light,
    HeavyCall,
    HeavyReturn,
    /// Which one of symmetric threads, from 1; 0: of none.
    Fork {
        nth: u8,
    },
    Join(u8),
    Choose(u32),
    Spurious,
    Spin,
    Yield,
    /// A block of a class.
    Alloc {
        heap: Loc,
    },
    /// The one that lies there is freed.
    Free {
        heap: Loc,
        address: u64,
    },
}

/// Why an execution cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It races with this event.
    Race(usize),
    /// Too many threads, or too deep a tree of them.
    Threads,
}

/// A way that was not taken: when there were `len` events, `thread` asked for `ask`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Way {
    pub(in crate::step) len: usize,
    pub(in crate::step) thread: u8,
    pub(in crate::step) ask: Ask,
    pub(in crate::step) other: Other,
    /// Which part of all executions lies there, as far as can be guessed.
    pub(crate) weight: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::step) enum Other {
    /// It reads this write.
    Reads(u16),
    /// It stands at this rank.
    Stands(u16),
    /// This event reads it.
    IsReadBy(usize),
    /// This event reads its writing half, and the reading half is the last event.
    IsReadWhenUpdated(usize),
    /// It is this one.
    Is(u64),
}
