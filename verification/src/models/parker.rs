//! Models of the futex parker: the source that runs on real cores, over a futex that keeps its contract and no more.

use crate::harness::common::party;
use crate::harness::parker::{self, OnFutex};
use crate::hosts::model_host::{Cell, ModelHost};
use crate::hosts::wrap::trace::main_plays;
use crate::model::{Model, loom, rc11, sc};
use crate::mutation::mutant::Mutant;
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::waits::parker::{EMPTY, NOTIFIED, PARKED};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// A parker, and what its wakers write before they unpark.
struct Sleeper<H: ModelHost, const SPURIOUS: usize> {
    parker: OnFutex<H, SPURIOUS>,
    data: H::Cell<u64>,
    flags: [Atomic<H, bool>; 2],
}

impl<H: ModelHost, const SPURIOUS: usize> Sleeper<H, SPURIOUS> {
    fn new() -> Arc<Self> {
        main_plays("sleeper");
        let flags = [Atomic::new(false), Atomic::new(false)];
        Arc::new(Sleeper { parker: OnFutex::new(), data: Cell::new(0), flags })
    }

    fn raise(&self, flag: usize) {
        // Relaxed: that the sleeper sees it is what an unpark is for.
        self.flags[flag].store(true, Relaxed);
        parker::unpark(&self.parker);
    }

    fn has(&self, flag: usize) -> bool {
        // Relaxed: as above.
        self.flags[flag].load(Relaxed)
    }

    /// Parks until each of these flags is raised; how many times.
    fn park_until(&self, flags: &[usize]) -> usize {
        let mut parked = 0;
        while !flags.iter().all(|&flag| self.has(flag)) {
            parker::park(&self.parker);
            parked += 1;
        }
        parked
    }

    /// What is left of the tokens, when all have come to rest.
    fn left(&self) -> &'static str {
        match self.parker.word().load() {
            EMPTY => "nothing left",
            NOTIFIED => "a token left",
            other => panic!("no thread is in park, and the word says that one is: {other}"),
        }
    }
}

/// One park, one unpark, and no return without a reason: the data is the sleeper's then.
fn park_beside_unpark<H: ModelHost>() -> String {
    let sleeper = Sleeper::<H, 0>::new();
    let waker = party::<H, _, _>("waker", &sleeper, |sleeper| {
        sleeper.data.set(1);
        parker::unpark(&sleeper.parker);
    });
    parker::park(&sleeper.parker);
    assert!(sleeper.data.get() == 1, "the sleeper goes on without what was written before the unpark");
    sleeper.data.set(2);
    H::join(waker);
    sleeper.left().to_owned()
}

/// Two unpark; the sleeper wants what both have written.
fn two_unparks<H: ModelHost>() -> String {
    let sleeper = Sleeper::<H, 0>::new();
    let one = party::<H, _, _>("waker", &sleeper, |sleeper| sleeper.raise(0));
    let two = party::<H, _, _>("other waker", &sleeper, |sleeper| sleeper.raise(1));
    let parked = sleeper.park_until(&[0, 1]);
    H::join(one);
    H::join(two);
    format!("parked {parked} times, {}", sleeper.left())
}

/// The futex returns spuriously, up to twice.
fn spurious_returns<H: ModelHost>() -> String {
    let sleeper = Sleeper::<H, 2>::new();
    let waker = party::<H, _, _>("waker", &sleeper, |sleeper| sleeper.raise(0));
    let parked = sleeper.park_until(&[0]);
    H::join(waker);
    format!("parked {parked} times, {}", sleeper.left())
}

/// The time is over beside an unpark: the thread that has the token has seen what came with it.
fn park_timeout_beside_unpark<H: ModelHost>() -> String {
    let sleeper = Sleeper::<H, 0>::new();
    let waker = party::<H, _, _>("waker", &sleeper, |sleeper| sleeper.raise(0));
    parker::park_timeout(&sleeper.parker);
    assert!(sleeper.parker.word().load() != PARKED, "the time is over, and the word says that a thread sleeps");
    let seen = sleeper.has(0);
    H::join(waker);
    let left = sleeper.left();
    assert!(seen || left == "a token left", "the token was taken, and what was written before it is not seen");
    format!("seen {seen}, {left}")
}

/// It parks for a time, and then for good.
fn park_after_a_time_out<H: ModelHost>() -> String {
    let sleeper = Sleeper::<H, 0>::new();
    let waker = party::<H, _, _>("waker", &sleeper, |sleeper| sleeper.raise(0));
    parker::park_timeout(&sleeper.parker);
    let parked = sleeper.park_until(&[0]);
    H::join(waker);
    format!("parked {parked} times, {}", sleeper.left())
}

const ONE: &str = "parker::a_park_sees_what_came_before_its_unpark::park_beside_unpark";
const TWO: &str = "parker::a_park_sees_what_came_before_its_unpark::two_unparks";
const SPURIOUS: &str = "parker::no_unpark_is_lost::spurious_returns";
const TIME: &str = "parker::a_time_out_takes_the_token::park_timeout_beside_unpark";
const AFTER: &str = "parker::no_unpark_is_lost::park_after_a_time_out";

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("parker::a_park_sees_what_came_before_its_unpark::park_beside_unpark", park_beside_unpark,
        claim: "a park returns when it is unparked, before, while or after it goes to sleep, and what was written before the \
            unpark is the sleeper's to read and to write",
        size: "2 threads, 1 unpark",
        invariants: [70, 71],
        must_reach: ["nothing left"],
        runs: [rc11(), loom(), sc()]),
    crate::model!("parker::a_park_sees_what_came_before_its_unpark::two_unparks", two_unparks,
        claim: "of two unparks that leave one token both are seen: the sleeper does not wait for what was written before either",
        size: "3 threads, 2 unparks",
        invariants: [70, 71],
        must_reach: ["parked 1 times, nothing left", "parked 2 times, nothing left", "parked 0 times, a token left"],
        runs: [rc11(), sc()]),
    crate::model!("parker::no_unpark_is_lost::spurious_returns", spurious_returns,
        claim: "a futex that wakes spuriously loses no unpark, and what was written before is seen all the same",
        size: "2 threads, 1 unpark, 2 spurious returns",
        invariants: [70, 71],
        must_reach: ["parked 3 times, nothing left", "parked 0 times, a token left"],
        runs: [rc11(), sc()]),
    crate::model!("parker::a_time_out_takes_the_token::park_timeout_beside_unpark", park_timeout_beside_unpark,
        claim: "an unpark that comes as the time is over: its token is taken, and what was written before it is seen, or it is \
            left for the next park",
        size: "2 threads, 1 unpark, 1 time-out",
        invariants: [70, 71, 72],
        must_reach: ["seen true, nothing left", "seen false, a token left"],
        runs: [rc11(), loom(), sc()]),
    crate::model!("parker::no_unpark_is_lost::park_after_a_time_out", park_after_a_time_out,
        claim: "a park after one whose time was over, beside an unpark: no unpark is lost between the two",
        size: "2 threads, 1 unpark, 1 time-out",
        invariants: [70, 71, 72],
        must_reach: ["parked 0 times, nothing left", "parked 1 times, nothing left"],
        runs: [rc11(), sc()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "parker";
    // As rust-lang/rust #53366 was. Under SC every thread sees what came before.
    "parker-takes-its-token-by-a-store": "after it has slept the sleeper empties the word by a store",
        variant("parker-takes-its-token-by-a-store"), by TWO => [Rc11], ONE => [Rc11, Loom];
    "parker-wakes-before-its-token": "the waker wakes, and then leaves the token",
        variant("parker-wakes-before-its-token"), by ONE => [Rc11, Sc], AFTER => [Rc11, Sc];
    "parker-second-unpark-writes-nothing": "an unpark that finds a token writes nothing",
        variant("parker-second-unpark-writes-nothing"), by TWO => [Rc11];
    "parker-is-parked-after-its-time": "a sleeper whose time is over leaves the word as it is",
        variant("parker-is-parked-after-its-time"), by TIME => [Rc11, Sc];
    "parker-futex-compares-too-early": "the system compares the word before it lists the sleeper",
        variant("parker-futex-compares-too-early"), by ONE => [Rc11, Sc], SPURIOUS => [Rc11, Sc];
    "parker-no-acquire-without-sleep": "the sleeper takes a token that is there, Relaxed",
        weaken("waits/parker.rs", "pub fn park_by", "fetch_sub(1, Acquire)"), by ONE => [Rc11, Loom];
    "parker-no-acquire-after-sleep": "the sleeper takes the token after its sleep, Relaxed",
        weaken("waits/parker.rs", "pub fn park_by", "swap(EMPTY, Acquire)"), by ONE => [Rc11], SPURIOUS => [Rc11];
    "parker-no-release": "the waker leaves the token, Relaxed",
        weaken("waits/parker.rs", "pub fn unpark", "swap(NOTIFIED, Release)"), by ONE => [Rc11, Loom];
};
