//! What is really so, beside what `locked` and `deadlock` say: which M runs, which waits, and for which a wake has
//! come.

use spinpark_kernel::protocol::locked::Woken;
use spinpark_kernel::types::m::MId;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Party {
    /// Runs, or will as soon as it gets a P. A wake for its next wait may have come.
    Runs {
        readied: bool,
    },
    /// Waits, but has yet to give up its P.
    Waits,
    /// Waits without a P.
    Rests,
    /// Is no G's thread, and sleeps.
    Sleeps,
    Ended,
}

/// The books: one party a thread, the Ms first. Kept under the scheduler's lock.
#[derive(Debug)]
pub struct Truth(Vec<Party>);

impl Truth {
    /// `parties` run.
    pub fn new(parties: usize) -> Self {
        Truth(vec![Party::Runs { readied: false }; parties])
    }

    /// Party `party` ends.
    pub fn ends(&mut self, party: usize) {
        self.0[party] = Party::Ended;
    }

    /// M `m` sleeps until there is work for it.
    pub fn sleeps(&mut self, m: MId) {
        self.0[m.index()] = Party::Sleeps;
    }

    /// There is work for M `m`: it wakes.
    pub(super) fn wakes(&mut self, m: MId) {
        self.0[m.index()] = Party::Runs { readied: false };
    }

    /// `m` would wait; does it, as the room has it?
    pub(super) fn waits(&mut self, m: MId, does: bool) {
        let party = &mut self.0[m.index()];
        let Party::Runs { readied } = *party else { panic!("M{} waits, but it did not run: {party:?}", m.0) };
        assert!(!does || !readied, "M{} was readied before it waits, and waits all the same", m.0);
        assert!(does || readied, "M{} does not wait, but it was not readied", m.0);
        *party = if does { Party::Waits } else { Party::Runs { readied: false } };
    }

    /// `m` has given up its P; does it rest, as the room has it?
    pub(super) fn rests(&mut self, m: MId, does: bool) {
        let party = &mut self.0[m.index()];
        assert!(!does || *party == Party::Waits, "M{} rests, but it was readied meanwhile", m.0);
        assert!(does || *party != Party::Waits, "M{} does not rest, but it was not readied", m.0);
        *party = if does { Party::Rests } else { *party };
    }

    /// `m` was given a P; does it count as one that waits?
    pub(super) fn goes_on(&self, m: MId, waits: bool) {
        let party = self.0[m.index()];
        assert!(matches!(party, Party::Runs { .. }), "M{} goes on, but it was not readied", m.0);
        assert!(!waits, "M{} goes on, and counts as one that waits", m.0);
    }

    /// `m` is readied. Does it wait, so that it has to be sent for?
    pub(super) fn readied(&mut self, m: MId) -> bool {
        let party = &mut self.0[m.index()];
        let waits = matches!(party, Party::Waits | Party::Rests);
        *party = match *party {
            Party::Ended => Party::Ended,
            _ => Party::Runs { readied: !waits },
        };
        waits
    }

    /// `m` is told that it waits for ever.
    pub(super) fn told(&mut self, m: MId, why: Woken) {
        let runs = self.0.iter().position(|party| matches!(party, Party::Runs { .. } | Party::Waits));
        assert!(runs.is_none(), "M{} is told {why:?}, but thread {} has yet to rest", m.0, runs.unwrap_or_default());
        assert!(self.0[m.index()] == Party::Rests, "M{} is told {why:?}, but it does not wait", m.0);
        self.0[m.index()] = Party::Runs { readied: false };
    }

    /// Has a wake for `m`'s next wait come?
    pub fn is_readied(&self, m: MId) -> bool {
        self.0[m.index()] == Party::Runs { readied: true }
    }

    /// Does `m` wait without a P?
    pub fn is_resting(&self, m: MId) -> bool {
        self.0[m.index()] == Party::Rests
    }

    /// Does an M wait, and none run?
    pub(super) fn is_stuck(&self) -> bool {
        let runs = |party: &Party| matches!(party, Party::Runs { .. } | Party::Waits);
        self.0.contains(&Party::Rests) && !self.0.iter().any(runs)
    }
}
