//! Models of `idle`: the lists under the lock, the mask that is read without it.

use super::common::party;
use crate::model::{Model, loom, loom_apart, loom_bounded, rc11, sc};
use crate::mutant::Mutant;
use crate::stage::{Cell, Stage};
use spinpark::host::Lock;
use spinpark::kernel::idle::{IdleMask, IdlePs};
use spinpark::kernel::p::{OwnedP, PId};
use std::sync::Arc;

struct Idle<H: Stage> {
    list: H::Lock<IdlePs>,
    mask: IdleMask<H>,
    /// One cell a P: its owner writes it, so two owners would race.
    used: [H::Cell<u64>; 2],
}

impl<H: Stage> Idle<H> {
    fn with_two() -> Arc<Self> {
        let mask = IdleMask::new(2);
        let mut list = IdlePs::new();
        list.put(OwnedP::assume(PId(0)), &mask);
        list.put(OwnedP::assume(PId(1)), &mask);
        Arc::new(Idle { list: H::Lock::new(list), mask, used: [Cell::new(0), Cell::new(0)] })
    }

    /// Takes a P, uses it, and puts it back.
    fn use_one(&self) -> Option<u32> {
        let p = self.list.with(|list| {
            let p = list.get(&self.mask);
            assert!(list.agrees_with(&self.mask), "list and mask differ after a get");
            p
        })?;
        let index = p.id().index();
        assert!(!self.mask_of_own(index), "P{index} is in use, and its bit says idle");
        self.used[index].set(self.used[index].get() + 1);
        self.list.with(|list| {
            list.put(p, &self.mask);
            assert!(list.agrees_with(&self.mask), "list and mask differ after a put");
        });
        Some(index as u32)
    }

    fn mask_of_own(&self, index: usize) -> bool {
        self.mask.is_idle(PId(index as u32))
    }
}

fn two_ms_use_two_ps<H: Stage>() -> String {
    let idle = Idle::<H>::with_two();
    let other = party::<H, _, _>("other M", &idle, |idle| idle.use_one());
    let mine = idle.use_one();
    let theirs = H::join(other);
    let listed = idle.list.with(|list| list.len());
    assert!(listed == 2 && idle.mask.npidle() == 2, "{listed} listed, {} counted, of 2", idle.mask.npidle());
    format!("used {mine:?} {theirs:?}")
}

fn three_ms_want_two_ps<H: Stage>() -> String {
    let idle = Idle::<H>::with_two();
    let take = |idle: &Idle<H>| idle.list.with(|list| list.get(&idle.mask)).map(|p| p.relinquish().0);
    let (one, two) = (party::<H, _, _>("M1", &idle, take), party::<H, _, _>("M2", &idle, take));
    let mut taken = vec![take(&idle), H::join(one), H::join(two)];
    let who_got_none = taken.iter().position(Option::is_none);
    taken.sort();
    assert!(taken == [None, Some(0), Some(1)], "of P0 and P1 were taken {taken:?}");
    assert!(idle.mask.npidle() == 0, "none is idle, {} counted", idle.mask.npidle());
    format!("none for {who_got_none:?}")
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("idle::the_mask_equals_the_list::two_ms_use_two_ps", two_ms_use_two_ps,
        claim: "a P in use has one user, and its bit is clear as long as its user looks",
        size: "2 threads, 2 Ps, each taken and put back",
        invariants: [4, 33],
        must_reach: ["used Some(1) Some(0)", "used Some(0) Some(1)", "used Some(1) Some(1)"],
        runs: [rc11(), loom(), loom_apart(), sc()]),
    crate::model!("idle::a_p_is_taken_once::three_ms_want_two_ps", three_ms_want_two_ps,
        claim: "two Ps go to two of three Ms",
        size: "3 threads, 2 Ps",
        invariants: [4, 33],
        must_reach: ["none for Some(0)", "none for Some(1)", "none for Some(2)"],
        runs: [rc11(), loom_bounded(2), sc()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = &[];
