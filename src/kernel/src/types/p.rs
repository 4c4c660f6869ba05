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
//! Checked by: verification/rooms/src/rooms/idle.rs, proptests/tests/turn.rs

use crate::atomic::Value;
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
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// on_an_m(|_, worker| {
///     assert_eq!(worker.p().index(), 0); // a `Worker` holds one
///     worker
/// });
/// # }
/// ```
#[must_use = "a P that is dropped is lost to the scheduler"]
#[derive(Debug)]
pub struct OwnedP {
    id: PId,
    unspent: Unspent<OwnedP>,
}

impl OwnedP {
    /// For the constructor of a scheduler, once for each P; and for a word that took one apart.
    pub(crate) fn assume(id: PId) -> OwnedP {
        OwnedP { id, unspent: Unspent::new() }
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
///
/// ```
/// use spinpark_kernel::types::p::{Every, Turn};
/// let mut turn = Turn::default();
/// assert!(turn.is_global(Every::new(61))); // the first, then one in 61
/// turn.from_global();
/// assert!(!turn.may_be_asked()); // not two in a row
/// turn.from_runnext();
/// turn.from_runnext();
/// assert!(!turn.may_inherit(2)); // the ring's turn
/// turn.from_ring();
/// assert!(turn.may_inherit(2) && !turn.has_inherited() && turn.dispatches() == 4);
/// ```
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    dispatches: u32,
    inherited: u32,
    was_global: bool,
}

impl Turn {
    /// 31 bits of its word count the dispatches in a row from `runnext`; the last one is `was_global`.
    const MOST_INHERITED: u32 = u32::MAX >> 1;

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

    /// Is the coming dispatch a turn of the global queue if the embedder asks for one? Not two in a row, or a submitter that keeps the
    /// global queue filled starves the ring.
    #[inline(always)]
    pub fn may_be_asked(&self) -> bool {
        !self.was_global
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
        self.inherited = (self.inherited + 1).min(Turn::MOST_INHERITED);
        self.was_global = false;
    }

    /// A G from the ring, this P's or another's, is about to run: the ring was served.
    #[inline(always)]
    pub fn from_ring(&mut self) {
        self.dispatches = self.dispatches.wrapping_add(1);
        self.inherited = 0;
        self.was_global = false;
    }

    /// A G from the global queue is about to run: that does not serve the ring, so the count in a row stands.
    #[inline(always)]
    pub fn from_global(&mut self) {
        self.dispatches = self.dispatches.wrapping_add(1);
        self.was_global = true;
    }
}

/// Once in so many, or never. Asked at each dispatch, so without a division (Granlund and Montgomery 1994): a multiple of
/// `n`, and nothing else, times the inverse of `n` is no more than the largest quotient.
///
/// ```
/// use spinpark_kernel::types::p::{Every, Turn};
/// assert!(Turn::default().is_global(Every::new(1)));
/// assert!(!Turn::default().is_global(Every::new(0))); // never
/// ```
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
        u64::from(self.dispatches) | u64::from(self.inherited) << 32 | u64::from(self.was_global) << 63
    }
    #[inline(always)]
    fn from_word(word: u64) -> Self {
        let inherited = (word >> 32) as u32 & Turn::MOST_INHERITED;
        Turn { dispatches: word as u32, inherited, was_global: word >> 63 == 1 }
    }
}

static_assertions::assert_impl_all!(OwnedP: Send, Sync);
