//! P: the right to run Gs. There are as many as there may be Gs running at once.
//!
//! Go: `type p`, `schedtick`, slice inheritance in `runqget` and `execute`.
//!
//! **A P has one owner at every moment.** [`OwnedP`] is that ownership: it is made once for each P, it cannot be
//! copied, and it can only be handed on.
//!
//! | where the `OwnedP` is        | the P is  | who owns it                              |
//! |------------------------------|-----------|------------------------------------------|
//! | in the idle list             | idle      | the list, under the scheduler's lock     |
//! | in a `Worker`                | running   | that M                                   |
//! | in a `wakep` or `startm`     | in flight | the M in that function                   |
//! | in a mailbox                 | in flight | the M whose mailbox it is                |
//!
//! **Bounded overtaking** (Go has no such bound: golang/go #52934). Every dispatch counts towards the global queue's
//! turn, and at most K dispatches in a row come from `runnext` while the ring holds a G. See [`Turn`].
//!
//! Checked by: verification/src/models/idle.rs, proptests/tests/turn.rs

use super::evidence::Unspent;

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
    turn: Turn,
    unspent: Unspent,
}

impl OwnedP {
    /// For the constructor of a scheduler (or of a model), once for each P; and for a mailbox that took one apart.
    pub fn assume(id: PId) -> OwnedP {
        OwnedP { id, turn: Turn::default(), unspent: Unspent::new("p: an OwnedP was dropped; it must be handed on") }
    }

    /// Which P this is.
    #[inline(always)]
    pub fn id(&self) -> PId {
        self.id
    }

    /// Gives the ownership up, for someone who will [`assume`](OwnedP::assume) it: a mailbox, or the end of the world.
    pub fn relinquish(self) -> PId {
        self.unspent.spend();
        self.id
    }

    /// Whose turn it is under this P.
    #[inline(always)]
    pub fn turn(&mut self) -> &mut Turn {
        &mut self.turn
    }
}

/// Whose turn it is: counts the dispatches under one P, and those in a row that came from `runnext`.
///
/// It begins anew when the P goes through a mailbox. That breaks no bound: such a P was idle, its ring is empty, so nobody
/// in it is being overtaken, and the first dispatch of a new turn is the global queue's.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    dispatches: u32,
    inherited: u32,
}

impl Turn {
    /// Is the coming dispatch the global queue's? One in `every` is, the first included; `0` means never.
    #[inline(always)]
    pub fn is_global(&self, every: u32) -> bool {
        every != 0 && self.dispatches.is_multiple_of(every)
    }

    /// May `runnext` be served before the ring?
    #[inline(always)]
    pub fn may_inherit(&self, at_most: u32) -> bool {
        self.inherited < at_most
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

static_assertions::assert_impl_all!(OwnedP: Send, Sync);
static_assertions::assert_not_impl_any!(OwnedP: Copy, Clone);
