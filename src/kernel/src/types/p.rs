//! P: the right to run Gs. There are as many as there may be Gs running at once.
//!
//! Go: `type p`, `schedtick`, slice inheritance in `runqget` and `execute`.
//!
//! **A P has one owner at every moment.** [`OwnedP`] is that ownership: it is made once for each P, it cannot be
//! copied, and it can only be handed on.
//!
//! | where the `OwnedP` is        | the P is  | its owner                                |
//! |------------------------------|-----------|------------------------------------------|
//! | in the idle list             | idle      | the list, under the scheduler's lock     |
//! | in a `Worker`                | running   | that M                                   |
//! | in a `wakep` or `startm`     | in flight | the M in that function                   |
//! | in a `nextp`                 | in flight | the M whose `nextp` it is                |
//! | in its own word              | in a system call | the taker of one exchange: see `syscall` |
//! | held for the stopper         | stopped   | `stw`, under the scheduler's lock        |
//! | among the spare Ps           | dead      | no thread, until `procresize` adds Ps    |
//!
//! **Bounded overtaking** (Go has no such bound: golang/go #52934). Every dispatch counts towards the global queue's
//! turn, and at most K dispatches in a row come from `runnext` while the ring holds a G. See [`Turn`].
//!
//! Checked by: verification/src/models/idle.rs, proptests/tests/turn.rs

use crate::atomic::Value;
use crate::host::Nanos;
use crate::types::token::Unspent;

/// A P's number, `0..procs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PId(pub u32);

impl PId {
    /// As an index.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The right to use one P: to fill its queues and to run Gs under it.
#[must_use = "a P that is dropped is lost to the scheduler"]
#[derive(Debug)]
pub struct OwnedP {
    id: PId,
    unspent: Unspent,
}

impl OwnedP {
    /// For the constructor of a scheduler, once for each P; and for a word that took one apart.
    pub(crate) fn assume(id: PId) -> OwnedP {
        OwnedP { id, unspent: Unspent::new("p: an OwnedP was dropped; it must be handed on") }
    }

    /// Which P this is.
    #[inline(always)]
    pub fn id(&self) -> PId {
        self.id
    }

    /// Gives the ownership up, for a word from which it is assumed again, or at the end of the scheduler.
    pub(crate) fn relinquish(self) -> PId {
        self.unspent.spend();
        self.id
    }
}

/// Which queue is served next: counts the dispatches under one P, and those in a row that came from `runnext`.
///
/// It stays with the P when the owner changes; the monitor reads it to see whether the same G still runs (Go: `schedtick`).
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    dispatches: u32,
    inherited: u32,
}

impl Turn {
    /// How many dispatches there were, modulo 2^32.
    #[inline(always)]
    pub fn dispatches(&self) -> u32 {
        self.dispatches
    }

    /// Is the coming dispatch the global queue's? One in `every` is, the first included.
    #[inline(always)]
    pub fn is_global(&self, every: Every) -> bool {
        every.divides(self.dispatches)
    }

    /// May `runnext` be served before the ring?
    #[inline(always)]
    pub fn may_inherit(&self, at_most: u32) -> bool {
        self.inherited < at_most
    }

    /// After a dispatch from the P's own queues: was it from `runnext`?
    #[inline(always)]
    pub fn has_inherited(&self) -> bool {
        self.inherited > 0
    }

    /// A G from `runnext` is about to run.
    #[inline(always)]
    pub fn from_runnext(&mut self) {
        self.dispatches = self.dispatches.wrapping_add(1);
        self.inherited = self.inherited.saturating_add(1);
    }

    /// A G from the ring, this P's or another's, is about to run: the ring was served.
    #[inline(always)]
    pub fn from_ring(&mut self) {
        self.dispatches = self.dispatches.wrapping_add(1);
        self.inherited = 0;
    }

    /// A G from the global queue is about to run: that does not serve the ring, so the count in a row stands.
    #[inline(always)]
    pub fn from_global(&mut self) {
        self.dispatches = self.dispatches.wrapping_add(1);
    }
}

/// When the global queue's turn is due before its [count](Turn::is_global) says so, because Gs run for long. The owner of the P sets it at
/// each turn, from how long the dispatches since the last one took: one reading of the clock a turn, none a dispatch.
///
/// **While dispatches take equally long, turns are no further apart than the time they are wanted in, or than one dispatch** (two, after
/// a turn that served the global queue: so a G of the P's own is dispatched between two of those). Where Gs that were short turn long,
/// the interval of before is the last that is too long, and the monitor cuts it off: [`due`](TurnPace::due). Where long ones turn short it at most
/// doubles from turn to turn: a short G among long ones is no mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnPace {
    /// So many dispatches there were at the last turn;
    since: u32,
    /// and when there are more than so many more, it is the next.
    more: u32,
}

impl TurnPace {
    /// By count alone.
    pub const NEVER: TurnPace = TurnPace { since: 0, more: u32::MAX };

    /// Is it due?
    #[inline(always)]
    pub fn is_due(self, dispatches: u32) -> bool {
        dispatches.wrapping_sub(self.since) > self.more
    }

    /// At how many dispatches the last turn was.
    pub fn since(self) -> u32 {
        self.since
    }

    /// It is due at once.
    pub fn due(dispatches: u32) -> TurnPace {
        TurnPace { since: dispatches.wrapping_sub(1), more: 0 }
    }

    /// Does it come before the count, which is one in `every`?
    pub fn is_ahead(self, every: u32) -> bool {
        self.more < every.saturating_sub(1)
    }

    /// After the turn at so many `dispatches`. The time since the turn before: `took`, if it is known. Turns are wanted in `wanted`, 0: by
    /// count alone. Has this one `served` the global queue?
    #[must_use]
    pub fn next(self, dispatches: u32, took: Option<Nanos>, wanted: Nanos, served: bool) -> TurnPace {
        let Some(took) = took.filter(|_| wanted > 0) else { return TurnPace { since: dispatches, more: u32::MAX } };
        let passed = u64::from(dispatches.wrapping_sub(self.since).max(1));
        let fits = wanted.saturating_mul(passed) / took.max(1);
        let most = fits.min(2 * passed).max(1 + u64::from(served));
        TurnPace { since: dispatches, more: u32::try_from(most - 1).unwrap_or(u32::MAX) }
    }
}

/// Once in so many, or never. Asked at each dispatch, so without a division (Granlund and Montgomery 1994): a multiple of
/// `n`, and nothing else, times the inverse of `n` is no more than the largest quotient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Every {
    inverse: u32,
    shift: u32,
    largest: u32,
}

impl Every {
    /// Once in `n`; with 0, never.
    pub const fn new(n: u32) -> Every {
        if n == 0 {
            return Every { inverse: 0, shift: 0, largest: 0 };
        }
        let shift = n.trailing_zeros();
        let odd = n >> shift;
        // Newton: each step doubles the bits that are right, of which an odd number's own three are.
        let mut inverse = odd;
        let mut step = 0;
        while step < 4 {
            inverse = inverse.wrapping_mul(2u32.wrapping_sub(odd.wrapping_mul(inverse)));
            step += 1;
        }
        Every { inverse, shift, largest: u32::MAX / n }
    }

    #[inline(always)]
    const fn divides(self, dispatches: u32) -> bool {
        self.inverse != 0 && dispatches.wrapping_mul(self.inverse).rotate_right(self.shift) <= self.largest
    }
}

static_assertions::const_assert!(Every::new(61).divides(0) && Every::new(61).divides(61 * 70_409_299));
static_assertions::const_assert!(!Every::new(61).divides(60) && !Every::new(0).divides(0));
static_assertions::const_assert!(Every::new(12).divides(36) && !Every::new(12).divides(18));

impl Value for Turn {
    #[inline(always)]
    fn into_word(self) -> u64 {
        u64::from(self.dispatches) | u64::from(self.inherited) << 32
    }
    #[inline(always)]
    fn from_word(word: u64) -> Self {
        Turn { dispatches: word as u32, inherited: (word >> 32) as u32 }
    }
}

impl Value for TurnPace {
    #[inline(always)]
    fn into_word(self) -> u64 {
        u64::from(self.since) | u64::from(self.more) << 32
    }
    #[inline(always)]
    fn from_word(word: u64) -> Self {
        TurnPace { since: word as u32, more: (word >> 32) as u32 }
    }
}

static_assertions::assert_impl_all!(OwnedP: Send, Sync);
static_assertions::assert_not_impl_any!(OwnedP: Copy, Clone);
