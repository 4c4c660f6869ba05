//! Models of timers of which `verification/rooms` has no program: those that sleep beside the runtime's end, and the thread that serves them.

use crate::harness::timer_queue::{FAR, Tiny};
use crate::hosts::model_host::ModelHost;
use crate::hosts::wrap::trace::main_plays;
use crate::model::{Model, rc11, sc, sc_cut, tso};
use crate::mutation::mutant::Mutant;
use std::sync::Arc;

/// Two shards: in one a thread sleeps for long, in the other one registers while the runtime is shut down.
fn an_add_beside_the_close<H: ModelHost>() -> String {
    main_plays("closer");
    let tiny = Tiny::<H>::new(2, 2);
    tiny.add_far();
    let sleeper = {
        let tiny = Arc::clone(&tiny);
        H::fork("sleeper", move || tiny.add_near(5))
    };
    let until = tiny.close_and_look();
    let is_told = H::join(sleeper);
    assert!(is_told || until == 5, "the new timer is not served, and the server would sleep until {until}");
    format!("told {is_told}, until {}", if until == FAR { "later" } else { "then" })
}

/// After the close two register at once: for sooner, and for later.
fn two_adds_after_the_close<H: ModelHost>() -> String {
    main_plays("sleeper");
    let tiny = Tiny::<H>::new(1, 2);
    tiny.close();
    let other = {
        let tiny = Arc::clone(&tiny);
        H::fork("other", move || tiny.add_and_wait(0, 5, 1))
    };
    tiny.add_and_wait(0, 3, 0);
    H::join(other);
    tiny.check_at_rest();
    format!("fired {} and {}", tiny.fired(0), tiny.fired(1))
}

/// After the close one sleeps for long, and another registers for sooner.
fn a_sooner_one_after_the_close<H: ModelHost>() -> String {
    main_plays("sleeper");
    let tiny = Tiny::<H>::new(1, 2);
    tiny.check_who_is_first();
    tiny.forget_due(8);
    tiny.close();
    let late = tiny.sooner_after_later();
    assert!(late == 0, "woken {late} too late");
    tiny.check_at_rest();
    "in time".to_owned()
}

/// One slept before, and one registers beside the close.
fn one_sleeps_as_it_is_closed<H: ModelHost>() -> String {
    main_plays("sleeper");
    let tiny = Tiny::<H>::new(1, 1);
    let closer = {
        let tiny = Arc::clone(&tiny);
        H::fork("closer", move || tiny.close())
    };
    tiny.add_and_wait(0, 5, 0);
    H::join(closer);
    tiny.check_at_rest();
    format!("fired {}", tiny.fired(0))
}

/// One that sleeps for long changes its mind, beside the close: no server is left.
fn a_cancel_beside_the_close<H: ModelHost>() -> String {
    main_plays("sleeper");
    let tiny = Tiny::<H>::new(1, 1);
    tiny.add_far();
    let closer = {
        let tiny = Arc::clone(&tiny);
        H::fork("closer", move || tiny.close())
    };
    tiny.cancel_far();
    let was_seen = H::join(closer);
    tiny.check_at_rest();
    format!("seen {was_seen}")
}

const CLOSE: &str = "timer_queue::the_last_are_served::an_add_beside_the_close";
const CANCEL: &str = "timer_queue::the_last_are_served::a_cancel_beside_the_close";
const AFTER: &str = "timer_queue::the_last_are_served::two_adds_after_the_close";
const AS: &str = "timer_queue::the_last_are_served::one_sleeps_as_it_is_closed";

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("timer_queue::the_last_are_served::an_add_beside_the_close", an_add_beside_the_close,
        claim: "one that registers in a shard while the runtime is shut down sees that, or is seen by the closer, \
            though one in another shard sleeps for long",
        size: "2 threads, 2 shards, 2 timers",
        invariants: [75, 77],
        must_reach: ["told true, until later", "told false, until then"],
        runs: [rc11(), sc(), tso()]),
    crate::model!("timer_queue::the_last_are_served::two_adds_after_the_close", two_adds_after_the_close,
        claim: "two that register at once after the runtime's end are served, by one thread or by one after the other",
        size: "2 threads and those that serve, 2 timers",
        invariants: [75, 77],
        must_reach: ["fired 1 and 1"],
        runs: [rc11(), sc_cut()]),
    crate::model!("timer_queue::the_last_are_served::a_sooner_one_after_the_close", a_sooner_one_after_the_close,
        claim: "the server after the runtime's end, which sleeps for long, is woken for one that registers for sooner, \
            and serves it at its moment",
        size: "1 thread and one that serves, 2 timers",
        invariants: [75, 77],
        must_reach: ["in time"],
        runs: [rc11(), sc_cut()]),
    crate::model!("timer_queue::the_last_are_served::one_sleeps_as_it_is_closed", one_sleeps_as_it_is_closed,
        claim: "one that registers while the runtime is shut down is seen by the closer, or sees that",
        size: "2 threads and one that serves, 1 timer",
        invariants: [75, 77],
        must_reach: ["fired 1"],
        runs: [rc11(), sc_cut()]),
    crate::model!("timer_queue::the_last_are_served::a_cancel_beside_the_close", a_cancel_beside_the_close,
        claim: "if the last that sleeps changes its mind while the runtime is shut down, or after, no thread is left that serves",
        size: "2 threads and one that serves, 1 timer",
        invariants: [75, 77],
        must_reach: ["seen true", "seen false"],
        runs: [rc11(), sc_cut()]),
];

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "timer_queue";
    "timer-queue-close-leaves-what-sleeps": "the closer leaves what sleeps without a server",
        variant("timer-queue-close-leaves-what-sleeps"), by AS => [Rc11, Sc];
    "timer-queue-cancel-leaves-who-serves": "the server sleeps on, though no sleeper is left to be woken",
        variant("timer-queue-cancel-leaves-who-serves"), by CANCEL => [Rc11, Sc];
    "timer-queue-server-wakes-before-it-hands-over": "the server wakes what is due, and hands the rest to no other",
        variant("timer-queue-server-wakes-before-it-hands-over"), by AFTER => [Rc11, Sc];
    "timer-queue-counts-until-it-finds-one": "the closer counts no more shards when it has found a timer",
        variant("timer-queue-counts-until-it-finds-one"), by CLOSE => [Rc11];
};
