//! Models of a `WaitGroup`: who waits goes on once all have done, and sees what they did.

use crate::harness::common::party;
use crate::harness::sleeper::Sleeper;
use crate::hosts::model_host::{Cell, ModelHost};
use crate::model::{Model, loom, rc11, rc11_spurious, sc};
use crate::mutation::mutant::Mutant;
use crate::mutation::variants::wait_group::{self as steps, Group};
use std::sync::Arc;

/// A group, and what those did that are waited for.
struct Tiny<H: ModelHost> {
    group: Group<H>,
    work: [H::Cell<u64>; 2],
    /// Who waited.
    waited: [H::Cell<bool>; 3],
}

impl<H: ModelHost> Tiny<H> {
    fn new(count: usize) -> Arc<Self> {
        let (work, waited) = ([(); 2].map(|()| Cell::new(0)), [(); 3].map(|()| Cell::new(false)));
        let tiny = Tiny { group: Group::<H>::new(), work, waited };
        assert!(tiny.group.add(count), "they can be counted");
        Arc::new(tiny)
    }

    fn works(&self, n: usize) {
        self.work[n].set(self.work[n].get() + 1);
        assert!(steps::done(&self.group), "it was counted");
    }

    /// Waits; has it had to?
    fn waits(&self) -> bool {
        let waited = &self.waited[H::me()];
        steps::wait(&self.group, || waited.set(true));
        waited.get()
    }

    /// All that was done `times`.
    fn saw(&self, times: [u64; 2]) {
        let done = [self.work[0].get(), self.work[1].get()];
        assert!(done == times, "it goes on, and {done:?} of {times:?} is done");
    }
}

/// Two work, and one waits for both.
fn two_work<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(2);
    let one = party::<H, _, _>("worker", &tiny, |tiny| tiny.works(0));
    let other = party::<H, _, _>("other worker", &tiny, |tiny| tiny.works(1));
    let waited = tiny.waits();
    tiny.saw([1, 1]);
    H::join(one);
    H::join(other);
    format!("waited: {waited}")
}

/// Two wait for one.
fn two_wait<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(1);
    let waiter = |tiny: &Tiny<H>| {
        let waited = tiny.waits();
        tiny.saw([1, 0]);
        waited
    };
    let one = party::<H, _, _>("waiter", &tiny, waiter);
    let other = party::<H, _, _>("other waiter", &tiny, waiter);
    tiny.works(0);
    let mut waited = [H::join(one), H::join(other)];
    waited.sort_unstable();
    format!("waited: {waited:?}")
}

/// One waits, and uses it again.
fn it_is_used_again<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(1);
    let first = party::<H, _, _>("worker", &tiny, |tiny| tiny.works(0));
    let waited = tiny.waits();
    tiny.saw([1, 0]);
    assert!(tiny.group.add(1), "it can be counted");
    let second = party::<H, _, _>("second worker", &tiny, |tiny| tiny.works(0));
    let waited_again = tiny.waits() && !waited;
    tiny.saw([2, 0]);
    H::join(first);
    H::join(second);
    format!("waited: {waited}, the second time: {waited_again}")
}

/// The count is zero for a moment only.
fn zero_for_a_moment<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(1);
    let waiter = party::<H, _, _>("waiter", &tiny, |tiny| (tiny.waits(), tiny.group.with(|state| state.count())));
    tiny.works(0);
    assert!(tiny.group.add(1), "it can be counted");
    tiny.works(0);
    let (waited, count) = H::join(waiter);
    format!("waited: {waited}, went on at {count}")
}

/// Of two that wait one is dropped.
fn one_is_dropped<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(1);
    let gives_up = party::<H, _, _>("gives up", &tiny, |tiny| {
        let sleeper = Sleeper::<H>::new();
        tiny.group.wait().poll(&mut sleeper.lender()).is_ready()
    });
    let waiter = party::<H, _, _>("waiter", &tiny, Tiny::waits);
    tiny.works(0);
    format!("at once: {}, the other waited: {}", H::join(gives_up), H::join(waiter))
}

const WORK: &str = "wait_group::who_waits_sees_all_done::two_work";

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("wait_group::who_waits_sees_all_done::two_work", two_work,
        claim: "who waits for two goes on when both have done, and sees what both did",
        size: "3 threads, a count of 2",
        invariants: [97],
        must_reach: ["waited: true", "waited: false"],
        runs: [rc11(), rc11_spurious(1), loom(), sc()]),
    crate::model!("wait_group::who_waits_sees_all_done::two_wait", two_wait,
        claim: "two that wait for one go on both",
        size: "3 threads, a count of 1",
        invariants: [97],
        must_reach: ["waited: [false, false]", "waited: [false, true]", "waited: [true, true]"],
        runs: [rc11(), loom(), sc()]),
    crate::model!("wait_group::who_waits_sees_all_done::it_is_used_again", it_is_used_again,
        claim: "a group that was waited for is used again",
        size: "3 threads, twice a count of 1",
        invariants: [97],
        must_reach: ["waited: true", "waited: false, the second time: true", "waited: false, the second time: false"],
        runs: [rc11(), sc()]),
    crate::model!("wait_group::who_waits_sees_all_done::zero_for_a_moment", zero_for_a_moment,
        claim: "who waited before the count was zero goes on, although it is more again",
        size: "2 threads, twice a count of 1",
        invariants: [97],
        must_reach: ["waited: true, went on at 1", "waited: true, went on at 0", "waited: false, went on at 0"],
        runs: [rc11(), loom(), sc()]),
    crate::model!("wait_group::who_waits_sees_all_done::one_is_dropped", one_is_dropped,
        claim: "of two that wait one is dropped, and the other goes on",
        size: "3 threads, a count of 1",
        invariants: [97],
        must_reach: ["at once: false, the other waited: true", "at once: false, the other waited: false",
            "at once: true, the other waited: true"],
        runs: [rc11(), loom(), sc()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "wait_group";
    "wait-group-wakes-at-one": "those that wait go on when one is left that has not done",
        variant("wakes-at-one"), by WORK => [Sc, Rc11];
    "wait-group-wakes-the-first": "of those that wait one is woken, and the others are served and sleep",
        variant("wakes-the-first"), by "wait_group::who_waits_sees_all_done::two_wait" => [Sc, Rc11];
    "wait-group-enqueues-after-it-looked": "who waits looks at the count, and enqueues its waiter under another lock",
        variant("enqueues-after-it-looked"), by WORK => [Sc, Rc11];
};
