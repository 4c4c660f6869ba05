//! Models of a semaphore: no more are in than may be, none that waits is missed, none is overtaken.

use crate::engines::Engine;
use crate::harness::common::party;
use crate::harness::sleeper::Sleeper;
use crate::hosts::model_host::{Cell, ModelHost};
use crate::model::{Model, loom, rc11, rc11_spurious, sampled, sc};
use crate::mutation::mutant::Mutant;
use crate::mutation::variants::semaphore::{self as steps, Semaphore};
use spinpark_kernel::waits::semaphore::Refused;
use std::sync::Arc;

/// A semaphore, and what those that are in may touch.
struct Tiny<H: ModelHost> {
    semaphore: Semaphore<H>,
    value: H::Cell<u64>,
    /// Who waited.
    waited: [H::Cell<bool>; 3],
}

impl<H: ModelHost> Tiny<H> {
    fn new(permits: usize) -> Arc<Self> {
        let waited = [(); 3].map(|()| Cell::new(false));
        Arc::new(Tiny { semaphore: Semaphore::<H>::new(permits), value: Cell::new(0), waited })
    }

    /// Gets some, waiting if it has to. Has it had to?
    fn acquire(&self, n: usize) -> Result<bool, Refused> {
        let waited = &self.waited[H::me()];
        steps::acquire(&self.semaphore, n, || waited.set(true)).map(|()| waited.get())
    }

    fn free(&self) -> usize {
        self.semaphore.with(|state| state.free())
    }
}

/// One is in, and leaves; another wants to come in.
fn one_gives_back<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(0);
    let other = party::<H, _, _>("other", &tiny, |tiny| {
        let waited = tiny.acquire(1).expect("nobody closes it");
        assert!(tiny.value.get() == 1, "it is in, and does not see what the one before it did");
        waited
    });
    tiny.value.set(1);
    steps::release(&tiny.semaphore, 1);
    let waited = H::join(other);
    assert!(tiny.free() == 0, "it is in, and {} are free", tiny.free());
    format!("waited: {waited}")
}

/// Two want one each, and two are given back at once.
fn two_come_in<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(0);
    let comes = |tiny: &Tiny<H>| tiny.acquire(1).expect("nobody closes it");
    let one = party::<H, _, _>("one", &tiny, comes);
    let other = party::<H, _, _>("other", &tiny, comes);
    steps::release(&tiny.semaphore, 2);
    let mut waited = [H::join(one), H::join(other)];
    waited.sort_unstable();
    assert!(tiny.free() == 0, "two are in, and {} are free", tiny.free());
    format!("waited: {waited:?}")
}

/// Of two that want one, one is dropped; one is given back.
fn one_is_dropped<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(0);
    let gives_up = party::<H, _, _>("gives up", &tiny, |tiny| {
        let mut acquire = tiny.semaphore.acquire(1);
        let is_in = acquire.poll(&mut Sleeper::<H>::new().lender()).is_ready();
        steps::give_up(acquire);
        is_in
    });
    let other = party::<H, _, _>("other", &tiny, |tiny| tiny.acquire(1).expect("nobody closes it"));
    steps::release(&tiny.semaphore, 1);
    let is_in = H::join(gives_up);
    if is_in {
        steps::release(&tiny.semaphore, 1);
    }
    let waited = H::join(other);
    assert!(tiny.free() == 0, "one is in, and {} are free", tiny.free());
    format!("at once: {is_in}, the other waited: {waited}")
}

/// The first that waits wants two, of which one is free, and is dropped. Behind it one wants one.
fn one_that_wants_many_is_dropped<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(1);
    let mut many = tiny.semaphore.acquire(2);
    let sleeper = Sleeper::<H>::new();
    assert!(many.poll(&mut sleeper.lender()).is_pending(), "it wants two of one");
    let other = party::<H, _, _>("other", &tiny, |tiny| tiny.acquire(1).expect("nobody closes it"));
    steps::give_up(many);
    format!("waited: {}", H::join(other))
}

/// One waits for two permits, of which one is free; one more is released; a newcomer tries.
fn nobody_overtakes<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(1);
    let mut many = tiny.semaphore.acquire(2);
    let sleeper = Sleeper::<H>::new();
    assert!(many.poll(&mut sleeper.lender()).is_pending(), "it wants two of one");
    let newcomer = party::<H, _, _>("newcomer", &tiny, |tiny| {
        let taken = steps::try_acquire(&tiny.semaphore, 1);
        assert!(taken == Err(Refused::NoPermits), "it has overtaken who waits");
        tiny.free()
    });
    steps::release(&tiny.semaphore, 1);
    let served = sleeper.wait_for(|lender| many.poll(lender));
    assert!(served == Ok(()), "it is open");
    format!("saw {} free", H::join(newcomer))
}

/// One waits, one comes; it is closed.
fn it_is_closed<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(0);
    let other = party::<H, _, _>("other", &tiny, |tiny| {
        let refused = tiny.acquire(1);
        assert!(refused == Err(Refused::Closed), "there is none");
        tiny.waited[H::me()].get()
    });
    steps::close(&tiny.semaphore);
    assert!(steps::try_acquire(&tiny.semaphore, 1) == Err(Refused::Closed), "it is closed");
    format!("waited: {}", H::join(other))
}

/// Two look, one writes: who looks has one of two, who writes has both.
fn a_writer_beside_two_readers<H: ModelHost>() -> String {
    let tiny = Tiny::<H>::new(2);
    let reads = |tiny: &Tiny<H>| {
        tiny.acquire(1).expect("nobody closes it");
        let value = tiny.value.get();
        steps::release(&tiny.semaphore, 1);
        value
    };
    let one = party::<H, _, _>("reader", &tiny, reads);
    let other = party::<H, _, _>("other reader", &tiny, reads);
    tiny.acquire(2).expect("nobody closes it");
    tiny.value.set(1);
    steps::release(&tiny.semaphore, 2);
    let mut seen = [H::join(one), H::join(other)];
    seen.sort_unstable();
    assert!(tiny.free() == 2, "all have left, and {} are free", tiny.free());
    format!("saw {seen:?}")
}

const ONE: &str = "semaphore::nobody_that_waits_is_missed::one_gives_back";
const TWO: &str = "semaphore::nobody_that_waits_is_missed::two_come_in";
const DROPPED: &str = "semaphore::nobody_that_waits_is_missed::one_is_dropped";
const MANY: &str = "semaphore::nobody_that_waits_is_missed::one_that_wants_many_is_dropped";
const CLOSED: &str = "semaphore::nobody_that_waits_is_missed::it_is_closed";
const ORDER: &str = "semaphore::no_more_are_in_than_may_be::nobody_overtakes";

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("semaphore::nobody_that_waits_is_missed::one_gives_back", one_gives_back,
        claim: "who wants a permit has it as soon as one is given back, and sees what was done before that",
        size: "2 threads, 1 permit",
        invariants: [125, 126],
        must_reach: ["waited: true", "waited: false"],
        runs: [rc11(), rc11_spurious(1), loom(), sc()]),
    crate::model!("semaphore::nobody_that_waits_is_missed::two_come_in", two_come_in,
        claim: "two that want a permit have one each, when two are given back at once",
        size: "3 threads, 2 permits",
        invariants: [125, 126],
        must_reach: ["waited: [false, false]", "waited: [false, true]", "waited: [true, true]"],
        runs: [rc11(), sampled(Engine::Pct, 2_000)]),
    crate::model!("semaphore::nobody_that_waits_is_missed::one_is_dropped", one_is_dropped,
        claim: "of two that want a permit one is dropped, served or not, and the other has it",
        size: "3 threads, 1 permit",
        invariants: [125, 126],
        must_reach: ["at once: false, the other waited: true", "at once: false, the other waited: false",
            "at once: true, the other waited: true"],
        runs: [rc11(), sampled(Engine::Pct, 2_000)]),
    crate::model!("semaphore::nobody_that_waits_is_missed::one_that_wants_many_is_dropped", one_that_wants_many_is_dropped,
        claim: "who waits behind one that wants more than are free has its own when that is dropped",
        size: "2 threads, 1 permit",
        invariants: [126],
        must_reach: ["waited: true", "waited: false"],
        runs: [rc11(), loom(), sc()]),
    crate::model!("semaphore::nobody_that_waits_is_missed::it_is_closed", it_is_closed,
        claim: "who wants a permit is told that there will be none, whenever it came",
        size: "2 threads, no permit",
        invariants: [126],
        must_reach: ["waited: true", "waited: false"],
        runs: [rc11(), loom(), sc()]),
    crate::model!("semaphore::no_more_are_in_than_may_be::nobody_overtakes", nobody_overtakes,
        claim: "while one waits for many, none that comes later gets the few that are free; and it has all when there are enough",
        size: "2 threads, 2 permits",
        invariants: [125, 126],
        must_reach: ["saw 0 free", "saw 1 free"],
        runs: [rc11(), loom(), sc()]),
    crate::model!("semaphore::no_more_are_in_than_may_be::a_writer_beside_two_readers", a_writer_beside_two_readers,
        claim: "who has all permits is alone, and each after it sees what it wrote",
        size: "3 threads, 2 permits",
        invariants: [125, 126],
        must_reach: ["saw [0, 0]", "saw [0, 1]", "saw [1, 1]"],
        runs: [rc11(), sampled(Engine::Pct, 2_000)]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "semaphore";
    "semaphore-enqueues-after-it-looked": "who wants a permit looks, and enqueues its waiter under another lock",
        variant("semaphore-enqueues-after-it-looked"), by ONE => [Sc, Rc11];
    "semaphore-counts-after-it-served": "who gives a permit back serves those that wait before it counts it",
        variant("semaphore-counts-after-it-served"), by ONE => [Sc, Rc11];
    "semaphore-serves-one-of-two": "of those that could be served one is",
        variant("semaphore-serves-one-of-two"), by TWO => [Rc11];
    "semaphore-keeps-what-a-dropped-one-has": "who is dropped keeps its place in the queue, or what it was served",
        variant("semaphore-keeps-what-a-dropped-one-has"), by DROPPED => [Rc11], MANY => [Sc, Rc11];
    "semaphore-is-closed-to-newcomers-alone": "those that wait are not woken when it is closed",
        variant("semaphore-is-closed-to-newcomers-alone"), by CLOSED => [Sc, Rc11];
    "semaphore-lets-a-newcomer-overtake": "who comes takes what is free, though others wait",
        variant("semaphore-lets-a-newcomer-overtake"), by ORDER => [Sc, Rc11];
};
