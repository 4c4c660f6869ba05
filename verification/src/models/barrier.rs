//! Models of a barrier: nobody goes on before all of its round have come, and one of them leads.

use crate::engines::Engine;
use crate::harness::common::party;
use crate::harness::sleeper::Sleeper;
use crate::hosts::model_host::{Cell, ModelHost};
use crate::model::{Model, loom, rc11, rc11_spurious, sampled, sc};
use crate::mutation::mutant::Mutant;
use crate::mutation::variants::barrier::{self as steps, Barrier};
use std::sync::Arc;
use std::task::Poll;

/// A barrier, and what each party did in each round before it came.
struct Tiny<H: ModelHost> {
    barrier: Barrier<H>,
    work: [[H::Cell<u64>; 3]; 2],
    /// Who waited.
    waited: [H::Cell<bool>; 3],
}

impl<H: ModelHost> Tiny<H> {
    fn new(parties: usize) -> Arc<Self> {
        let work = [(); 2].map(|()| [(); 3].map(|()| Cell::new(0)));
        Arc::new(Tiny { barrier: Barrier::<H>::new(parties), work, waited: [(); 3].map(|()| Cell::new(false)) })
    }

    /// Works, comes, waits for the others of `all`, and sees what they did. Does it lead?
    fn comes(&self, round: usize, me: usize, all: usize) -> bool {
        self.work[round][me].set(1);
        let waited = &self.waited[H::me()];
        let leads = steps::wait(&self.barrier, || waited.set(true));
        let seen: u64 = self.work[round][..all].iter().map(Cell::get).sum();
        assert!(seen == all as u64, "it goes on, and {seen} of {all} have come");
        leads
    }

    fn has_waited(&self) -> bool {
        self.waited[H::me()].get()
    }
}

fn one_leads(leads: &[bool]) {
    let leaders = leads.iter().filter(|&&leads| leads).count();
    assert!(leaders == 1, "{leaders} lead one round");
}

/// Two, once.
fn two_parties<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(2);
    let other = party::<H, _, _>("other", &tiny, |tiny| tiny.comes(0, 1, 2));
    let leads = tiny.comes(0, 0, 2);
    one_leads(&[leads, H::join(other)]);
    format!("leads: {leads}, waited: {}", tiny.has_waited())
}

/// Three, once.
fn three_parties<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(3);
    let one = party::<H, _, _>("one", &tiny, |tiny| tiny.comes(0, 1, 3));
    let other = party::<H, _, _>("other", &tiny, |tiny| tiny.comes(0, 2, 3));
    let leads = tiny.comes(0, 0, 3);
    one_leads(&[leads, H::join(one), H::join(other)]);
    format!("leads: {leads}, waited: {}", tiny.has_waited())
}

/// Two, twice.
fn two_rounds<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(2);
    let other = party::<H, _, _>("other", &tiny, |tiny| [tiny.comes(0, 1, 2), tiny.comes(1, 1, 2)]);
    let leads = [tiny.comes(0, 0, 2), tiny.comes(1, 0, 2)];
    let others = H::join(other);
    (0..2).for_each(|round| one_leads(&[leads[round], others[round]]));
    format!("leads: {leads:?}")
}

/// Of two one is dropped when it has come.
fn one_that_came_is_dropped<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(2);
    let gives_up = party::<H, _, _>("gives up", &tiny, |tiny| {
        tiny.barrier.wait().poll(&mut Sleeper::<H>::new().untrusted_lender())
    });
    let leads = steps::wait(&tiny.barrier, || ());
    let other = H::join(gives_up);
    one_leads(&[leads, other == Poll::Ready(true)]);
    format!("leads: {leads}, the other: {other:?}")
}

/// For none, and for one: nobody waits.
fn for_none_is_for_one<H: ModelHost>() -> String {
    let n = H::choose(2);
    let tiny = Tiny::<H>::new(n);
    let other = party::<H, _, _>("other", &tiny, |tiny| steps::wait(&tiny.barrier, || panic!("it waits")));
    let leads = steps::wait(&tiny.barrier, || panic!("it waits"));
    assert!(leads && H::join(other), "each is the last of its round");
    format!("for {n}")
}

const TWO: &str = "barrier::nobody_goes_on_before_the_last::two_parties";
const THREE: &str = "barrier::nobody_goes_on_before_the_last::three_parties";

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("barrier::nobody_goes_on_before_the_last::two_parties", two_parties,
        claim: "of two that wait for each other both go on when both have come, see what the other did, and one leads",
        size: "2 threads, 1 round",
        invariants: [117],
        must_reach: ["leads: true, waited: false", "leads: false, waited: true", "leads: false, waited: false"],
        runs: [rc11(), rc11_spurious(1), loom(), sc()]),
    crate::model!("barrier::nobody_goes_on_before_the_last::three_parties", three_parties,
        claim: "the same of three",
        size: "3 threads, 1 round",
        invariants: [117],
        must_reach: ["leads: true, waited: false", "leads: false, waited: true", "leads: false, waited: false"],
        runs: [rc11(), sampled(Engine::Pct, 2_000)]),
    crate::model!("barrier::nobody_goes_on_before_the_last::two_rounds", two_rounds,
        claim: "a barrier is used again at once: nobody goes on in the place of another round's",
        size: "2 threads, 2 rounds",
        invariants: [117],
        must_reach: ["leads: [true, true]", "leads: [true, false]", "leads: [false, true]", "leads: [false, false]"],
        runs: [rc11(), sc()]),
    crate::model!("barrier::nobody_goes_on_before_the_last::one_that_came_is_dropped", one_that_came_is_dropped,
        claim: "one that is dropped after it has come is counted, and the other goes on",
        size: "2 threads, 1 round",
        invariants: [117],
        must_reach: ["leads: true, the other: Pending", "leads: true, the other: Ready(false)", "leads: false, the other: Ready(true)"],
        runs: [rc11(), loom(), sc()]),
    crate::model!("barrier::nobody_goes_on_before_the_last::for_none_is_for_one", for_none_is_for_one,
        claim: "a barrier for none is as one for one: nobody waits",
        size: "2 threads, barriers for none and for one",
        invariants: [117],
        must_reach: ["for 0", "for 1"],
        runs: [rc11(), sc()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "barrier";
    "barrier-reads-the-round-later": "one that comes reads under another lock which round it waits for",
        variant("reads-the-round-later"), by TWO => [Sc, Rc11];
    "barrier-enqueues-after-it-looked": "one that waits looks at the round, and enqueues its waiter under another lock",
        variant("enqueues-after-it-looked"), by TWO => [Sc, Rc11];
    "barrier-wakes-the-first": "the last wakes one of those that wait",
        variant("wakes-the-first"), by THREE => [Rc11];
};
