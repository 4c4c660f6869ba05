//! Evidence for checkers: what a release build cannot make out of nothing.
//!
//! A counter that wraps around after 2^32 steps starts near its wrap here, so that a model meets that in a few.
//!
//! An `OwnedP` says that one M may use a P, a `SpinningToken` that one M is counted, a ticket that an M waits for its P. The
//! kernel makes each where that becomes true, and no other code can. A model of one room has no kernel around it, so it forges
//! what the rest of the kernel would have handed it, and discards what it would have handed on.
//!
//! Behind the feature `model`, which `verification` and `proptests` switch on, and no default.
//!
//! Checked by: proptests/tests/evidence.rs, verification/tests/evidence.rs

#![cfg(feature = "model")]

use crate::atomic::Value;
use crate::host::Host;
use crate::protocol::syscall::SyscallStatus;
use crate::queues::runq::{Capacity, RunQueue};
use crate::sched::Sched;
use crate::sched::observer::Observer;
use crate::types::g::G;
use crate::types::m::{MId, NextP, NextPWord, SpinningToken};
use crate::types::p::{OwnedP, PId, Turn};
use core::sync::atomic::Ordering::Relaxed;

impl G {
    /// What stands in a queue for the G that is bound to `m`.
    pub fn forge_ticket(m: MId) -> G {
        G::bound_to(m)
    }
}

impl<H: Host, const BITS: u32> RunQueue<H, BITS> {
    /// Empty. Which thread is the owner is for the checker to keep.
    ///
    /// # Panics
    /// If `BITS` bits cannot tell a full ring of this capacity from an empty one. 32 bits, the default, always can.
    #[track_caller]
    pub fn new(capacity: Capacity) -> Self {
        Self::made(capacity, 0)
    }

    /// The same, with both cursors at `at`: for models that are to meet the wrap soon.
    #[track_caller]
    pub fn starting_at(capacity: Capacity, at: u32) -> Self {
        Self::made(capacity, at)
    }
}

impl OwnedP {
    /// The right to use `id`, out of nothing.
    pub fn forge(id: PId) -> OwnedP {
        OwnedP::assume(id)
    }

    /// Gives the right up: no M has it.
    pub fn discard(self) -> PId {
        self.relinquish()
    }
}

impl Turn {
    /// Of a P with so many dispatches, none of them in a row from `runnext`.
    pub fn starting_at(dispatches: u32) -> Turn {
        Turn::from_word(u64::from(dispatches))
    }
}

impl<H: Host, O: Observer> Sched<H, O> {
    /// Each P was taken out of its word so often, and so many Gs were dispatched under it. For a scheduler without an M.
    pub fn counters_start_at(&self, takings: u32, dispatches: u32) {
        for p in &self.ps {
            // Relaxed: the first M begins after this, and the monitor.
            p.syscall_word.word.store(SyscallStatus { in_syscall: None, tick: takings }, Relaxed);
            // Relaxed: as above.
            p.turn.store(Turn::starting_at(dispatches), Relaxed);
        }
    }
}

impl SpinningToken {
    /// The evidence of being counted, of an M that is not.
    pub fn forge() -> SpinningToken {
        SpinningToken::assume()
    }

    /// Gives the evidence up; the count stays.
    pub fn discard(self) {
        self.relinquish()
    }
}

impl NextP {
    /// As it is held in the M's word.
    pub fn into_word(nextp: Option<NextP>) -> u64 {
        NextPWord(nextp).into_word()
    }

    /// Back from such a word.
    pub fn from_word(word: u64) -> Option<NextP> {
        NextPWord::from_word(word).0
    }
}
