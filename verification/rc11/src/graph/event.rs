//! Events: what a thread does, where, and how strongly.

use super::Loc;
use serde::{Deserialize, Serialize};
use std::sync::atomic::Ordering;

/// How strong an access or a fence is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// Not atomic: must be ordered with every other access.
    Plain,
    /// Atomic, and no more.
    Relaxed,
    /// Acquires.
    Acquire,
    /// Releases.
    Release,
    /// Both.
    AcqRel,
    /// Both, and in one order with all other such.
    SeqCst,
}

impl Order {
    pub(crate) fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcqRel | Order::SeqCst)
    }
    pub(crate) fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcqRel | Order::SeqCst)
    }
}

impl From<Ordering> for Order {
    fn from(order: Ordering) -> Order {
        match order {
            Ordering::Acquire => Order::Acquire,
            Ordering::Release => Order::Release,
            Ordering::AcqRel => Order::AcqRel,
            Ordering::SeqCst => Order::SeqCst,
            _ => Order::Relaxed,
        }
    }
}

/// What an update makes of the value that it reads.
///
/// ```
/// use rc11::graph::Update;
/// assert_eq!(Update::Add(2).over(5), Some(7));
/// assert_eq!(Update::Take.over(1), Some(0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Update {
    /// Puts this in its place.
    Swap(u64),
    /// Adds this.
    Add(u64),
    /// Takes one away, if there is one.
    Take,
    /// Writes `new` if it is `current`; else it only reads, with `failure`.
    Exchange {
        /// What must be there.
        current: u64,
        /// What then comes in its place.
        new: u64,
        /// How strong a read it is otherwise.
        failure: Order,
    },
    /// Waits until it is `wanted`, then writes `new`. Every write of such a location is an update, or a [`Kind::Open`].
    Await {
        /// What it waits for.
        wanted: u64,
        /// What then comes in its place.
        new: u64,
    },
    /// Adds one, if the value is below that; else it waits, or only reads. Of the writes of such a location, the same
    /// is true.
    Enter {
        /// What the value must be below.
        below: u64,
        /// Does it wait until it is?
        waits: bool,
    },
    /// An operation on an integer of fewer bits, or another than addition.
    Compute(Compute, u64),
}

/// What an integer of so many bits becomes.
///
/// ```
/// use rc11::graph::{Compute, Op};
/// assert_eq!(Compute { op: Op::Add, bits: 8, is_signed: false }.of(255, 1), 0); // wraps around
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compute {
    /// How.
    pub op: Op,
    /// Of how many bits it is: the others stay 0.
    pub bits: u8,
    /// Does its highest bit count as negative?
    pub is_signed: bool,
}

/// An operation on two integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Sum, wrapping around.
    Add,
    /// Difference, wrapping around.
    Sub,
    /// Bitwise and.
    And,
    /// Bitwise and, then not.
    Nand,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// The greater one.
    Max,
    /// The smaller one.
    Min,
}

impl Compute {
    /// What it makes of `value` and `other`.
    #[must_use]
    pub fn of(self, value: u64, other: u64) -> u64 {
        let mask = u64::MAX >> (64 - u32::from(self.bits));
        let sign = if self.is_signed { 1 << (self.bits - 1) } else { 0 };
        // With the highest bit turned over, signed integers are in the order of unsigned ones.
        let is_below = (value ^ sign) & mask < (other ^ sign) & mask;
        mask & match self.op {
            Op::Add => value.wrapping_add(other),
            Op::Sub => value.wrapping_sub(other),
            Op::And => value & other,
            Op::Nand => !(value & other),
            Op::Or => value | other,
            Op::Xor => value ^ other,
            Op::Max => {
                if is_below {
                    other
                } else {
                    value
                }
            }
            Op::Min => {
                if is_below {
                    value
                } else {
                    other
                }
            }
        }
    }
}

impl Update {
    /// Does it wait for a value over which it writes?
    #[inline]
    pub fn is_await(self) -> bool {
        matches!(self, Update::Await { .. } | Update::Enter { waits: true, .. })
    }

    /// The values that it takes from the program; 0 for one that it does not.
    pub(crate) fn values(self) -> [u64; 2] {
        match self {
            Update::Swap(new) | Update::Compute(_, new) => [new, 0],
            Update::Exchange { current, new, .. } => [current, new],
            _ => [0, 0],
        }
    }

    /// The same with other values for those that it takes from the program.
    pub(crate) fn map(self, mut f: impl FnMut(u64) -> u64) -> Update {
        match self {
            Update::Swap(new) => Update::Swap(f(new)),
            Update::Exchange { current, new, failure } => {
                Update::Exchange { current: f(current), new: f(new), failure }
            }
            Update::Compute(compute, other) => Update::Compute(compute, f(other)),
            other => other,
        }
    }

    /// What is written over `value`. `None`: nothing.
    pub fn over(self, value: u64) -> Option<u64> {
        match self {
            Update::Swap(new) => Some(new),
            Update::Add(more) => Some(value.wrapping_add(more)),
            Update::Take => Some(value.saturating_sub(1)),
            Update::Exchange { current, new, .. } => (value == current).then_some(new),
            Update::Await { wanted, new } => (value == wanted).then_some(new),
            Update::Enter { below, .. } => (value < below).then_some(value.wrapping_add(1)),
            Update::Compute(compute, other) => Some(compute.of(value, other)),
        }
    }
}

/// What an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Reads.
    Load,
    /// Writes.
    Store,
    /// Opens a lock: a write after everything.
    Open,
    /// The reading half of an update; its writing half, if it writes, is its thread's next event.
    Updating(Update),
    /// The writing half of an update.
    Updated,
    /// A fence.
    Fence,
    /// A light fence. Its order is none: it counts beside heavy ones alone.
    Light,
    /// A heavy fence is called: a `SeqCst` fence.
    HeavyCall,
    /// It returns, its thread's next event: another one.
    HeavyReturn,
    /// A thread is started.
    Fork(u8),
    /// A thread has come to its end.
    Join(u8),
    /// One of so many, chosen.
    Choice(u32),
    /// Whether `park` wakes spuriously: 1 if it does.
    Spurious,
    /// A loop that waits: nothing happens here until something is written that it has read.
    Spin,
    /// A loop that waits has looked, and will look again: a round of it ends here.
    Yield,
    /// A block of memory is given out: it lies where the block lay that the event freed which it reads, or where none has
    /// been.
    Alloc,
    /// A block of memory is freed; its value is where it lies.
    Free,
}

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Whose.
    pub thread: u8,
    /// Which of its thread's, from 0.
    pub idx: u16,
    /// Of a read: the number of the write that it reads, or [`INIT`](super::INIT).
    pub rf: u16,
    /// Of a write: its rank in its location's order. The first value has rank 0.
    pub mo: u16,
    /// Where.
    pub loc: Loc,
    /// How strong.
    pub order: Order,
    /// What.
    pub kind: Kind,
    /// What was read, written or chosen.
    pub value: u64,
    /// Of a read that has waited: was it given what it reads in place, without being revisited?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub handed: bool,
}

impl Event {
    /// Does it write?
    #[inline]
    pub fn is_write(&self) -> bool {
        matches!(self.kind, Kind::Store | Kind::Updated | Kind::Open)
    }

    /// Does it read?
    #[inline]
    pub fn is_read(&self) -> bool {
        matches!(self.kind, Kind::Load | Kind::Updating(_))
    }

    /// Is it a fence of RC11's? A light one is not.
    #[inline]
    pub fn is_fence(&self) -> bool {
        matches!(self.kind, Kind::Fence | Kind::HeavyCall | Kind::HeavyReturn)
    }

    /// What it writes next, if it is the reading half of an update that writes.
    pub fn will_write(&self) -> Option<u64> {
        match self.kind {
            Kind::Updating(update) => update.over(self.value),
            _ => None,
        }
    }

    /// Does it wait for a value that is not there?
    pub fn waits(&self) -> bool {
        self.waits_at(self.value)
    }

    /// Would it wait, if it read `value`?
    pub(crate) fn waits_at(&self, value: u64) -> bool {
        matches!(self.kind, Kind::Updating(update) if update.is_await() && update.over(value).is_none())
    }

    /// How strong it is: an exchange that fails is a read of its own.
    pub fn strength(&self) -> Order {
        match self.kind {
            Kind::Updating(Update::Exchange { current, failure, .. }) if self.value != current => failure,
            _ => self.order,
        }
    }
}
