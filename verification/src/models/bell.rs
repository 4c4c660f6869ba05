//! Models of a thread that waits for a future: `block_on`, a join outside of a task, and both beside the runtime's end.

use crate::harness::bell::Waiter;
use crate::harness::common::party;
use crate::hosts::model_host::ModelHost;
use crate::hosts::wrap::trace::main_plays;
use crate::model::{Model, loom, rc11, rc11_spurious, sc, tso};
use crate::mutation::mutant::Mutant;

/// It is woken while it polls, or before, or as it goes to sleep.
fn a_wake_beside_the_poll<H: ModelHost>() -> String {
    main_plays("waiter");
    let waiter = Waiter::<H>::new(1);
    let waker = party::<H, _, _>("waker", &waiter, |waiter| waiter.ring(0));
    let polls = waiter.block_on();
    H::join(waker);
    format!("polled {polls}")
}

/// Two wake it.
fn two_wakers<H: ModelHost>() -> String {
    main_plays("waiter");
    let waiter = Waiter::<H>::new(2);
    let one = party::<H, _, _>("waker", &waiter, |waiter| waiter.ring(0));
    let two = party::<H, _, _>("other waker", &waiter, |waiter| waiter.ring(1));
    let polls = waiter.block_on();
    H::join(one);
    H::join(two);
    format!("polled {polls}")
}

/// A waker rings for what is over already: while the same thread waits for something else, and after that.
fn a_waker_outlives_the_wait<H: ModelHost>() -> String {
    main_plays("waiter");
    let waiter = Waiter::<H>::new(2);
    let waker = party::<H, _, _>("waker", &waiter, |waiter| {
        waiter.ring(0);
        waiter.ring(0);
        waiter.ring(1);
        waiter.ring(1);
    });
    let first = waiter.block_on_first(1);
    let second = waiter.block_on();
    H::join(waker);
    format!("polled {first}, then {second}")
}

/// Its runtime is shut down.
fn a_close_beside_the_wait<H: ModelHost>() -> String {
    main_plays("waiter");
    let waiter = Waiter::<H>::new(1);
    let closer = party::<H, _, _>("closer", &waiter, Waiter::close);
    let ended = waiter.block_on_in_a_task();
    H::join(closer);
    waiter.check_at_rest();
    format!("{ended:?}")
}

/// The same, and it is woken.
fn a_close_beside_a_wake<H: ModelHost>() -> String {
    main_plays("waiter");
    let waiter = Waiter::<H>::new(1);
    let waker = party::<H, _, _>("waker", &waiter, |waiter| waiter.ring(0));
    let closer = party::<H, _, _>("closer", &waiter, Waiter::close);
    let ended = waiter.block_on_in_a_task();
    H::join(waker);
    H::join(closer);
    match ended {
        Some(_) => "ready",
        None => "closed",
    }
    .to_owned()
}

/// A task that waits with its thread is woken, and nobody shuts down.
fn a_wake_in_a_task<H: ModelHost>() -> String {
    main_plays("waiter");
    let waiter = Waiter::<H>::new(1);
    let waker = party::<H, _, _>("waker", &waiter, |waiter| waiter.ring(0));
    let ended = waiter.block_on_in_a_task();
    H::join(waker);
    waiter.check_at_rest();
    assert!(ended.is_some(), "a task gives up, and its runtime goes on");
    format!("{ended:?}")
}

/// A thread asks whether it waits in vain, and is woken meanwhile.
fn a_wake_beside_the_question<H: ModelHost>() -> String {
    main_plays("waiter");
    let waiter = Waiter::<H>::new(1);
    let waker = party::<H, _, _>("waker", &waiter, |waiter| waiter.ring(0));
    let woken = waiter.gives_up(|| H::join(waker));
    assert!(woken, "a thread that was woken gives up");
    "woken".to_owned()
}

/// Another comes and goes beside it.
fn a_close_beside_two<H: ModelHost>() -> String {
    main_plays("waiter");
    let waiter = Waiter::<H>::new(1);
    let other = party::<H, _, _>("other", &waiter, Waiter::come_and_go);
    let closer = party::<H, _, _>("closer", &waiter, Waiter::close);
    let ended = waiter.block_on_in_a_task();
    H::join(other);
    H::join(closer);
    waiter.check_at_rest();
    format!("{ended:?}")
}

const ONE: &str = "bell::no_wake_is_missed::a_wake_beside_the_poll";
const TWO: &str = "bell::no_wake_is_missed::two_wakers";
const LATE: &str = "bell::a_late_ring_harms_nobody::a_waker_outlives_the_wait";
const CLOSE: &str = "bell::nobody_waits_after_the_end::a_close_beside_the_wait";

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("bell::no_wake_is_missed::a_wake_beside_the_poll", a_wake_beside_the_poll,
        claim: "a thread that waits for a future, and is woken while it polls, before or after, polls again, and sees what was \
            written before it was woken",
        size: "2 threads, 1 wake",
        invariants: [73],
        must_reach: ["polled 1", "polled 2"],
        runs: [rc11_spurious(2), loom(), sc(), tso()]),
    crate::model!("bell::no_wake_is_missed::two_wakers", two_wakers,
        claim: "of two wakes at once, of which one unparks, neither is missed",
        size: "3 threads, 2 wakes",
        invariants: [73],
        must_reach: ["polled 1", "polled 2", "polled 3"],
        runs: [rc11(), sc()]),
    crate::model!("bell::a_late_ring_harms_nobody::a_waker_outlives_the_wait", a_waker_outlives_the_wait,
        claim: "a waker that rings for what is over already costs the next wait a poll, and hides no wake from it",
        size: "2 threads, 4 wakes, 2 waits",
        invariants: [73],
        must_reach: ["polled 1, then 1", "polled 2, then 3"],
        runs: [rc11(), sc()]),
    crate::model!("bell::nobody_waits_after_the_end::a_close_beside_the_wait", a_close_beside_the_wait,
        claim: "a task that waits with its thread for what never comes ends when its runtime is shut down, before, while or \
            after it goes to sleep",
        size: "2 threads",
        invariants: [74],
        must_reach: ["None"],
        runs: [rc11_spurious(1), sc(), tso()]),
    crate::model!("bell::nobody_waits_after_the_end::a_close_beside_a_wake", a_close_beside_a_wake,
        claim: "the same beside a wake: it ends by the one or by the other",
        size: "3 threads, 1 wake",
        invariants: [73, 74],
        must_reach: ["ready", "closed"],
        runs: [rc11(), sc()]),
    crate::model!("bell::no_wake_is_missed::a_wake_in_a_task", a_wake_in_a_task,
        claim: "a task that waits with its thread is woken as any other, and gives up only if its runtime ends",
        size: "2 threads, 1 wake",
        invariants: [73, 74],
        must_reach: ["Some(1)", "Some(2)"],
        runs: [rc11(), sc()]),
    crate::model!("bell::no_wake_is_missed::a_wake_beside_the_question", a_wake_beside_the_question,
        claim: "a thread that is told that it waits in vain, and was woken while it asked, does not give up",
        size: "2 threads, 1 wake",
        invariants: [73],
        must_reach: ["woken"],
        runs: [rc11(), sc()]),
    crate::model!("bell::nobody_waits_after_the_end::a_close_beside_two", a_close_beside_two,
        claim: "the same beside another that is listed and struck off: none is forgotten, none left",
        size: "3 threads, 2 bells",
        invariants: [74],
        must_reach: ["None"],
        runs: [rc11(), sc()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "bell";
    "bell-unparks-before-it-rings": "a waker unparks, and then rings",
        variant("bell-unparks-before-it-rings"), by ONE => [Rc11, Sc];
    "bell-is-taken-before-the-sleep": "the thread forgets what rang since it polled",
        variant("bell-is-taken-before-the-sleep"), by ONE => [Rc11, Sc];
    "bell-close-wakes-before-it-says": "the runtime wakes those that wait, and then says that it ends",
        variant("bell-close-wakes-before-it-says"), by CLOSE => [Rc11, Sc];
    "bell-is-never-listed": "a task that waits with its thread is not listed",
        variant("bell-is-never-listed"), by CLOSE => [Rc11, Sc];
    "bell-no-release": "a waker rings, Relaxed",
        weaken("waits/bell.rs", "pub fn ring", "swap(true, Release)"), by ONE => [Rc11], TWO => [Rc11];
    "bell-no-acquire": "the thread takes a ring, Relaxed",
        weaken("waits/bell.rs", "fn take", "swap(false, Acquire)"), by ONE => [Rc11], LATE => [Rc11];
};
