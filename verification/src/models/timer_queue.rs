//! Models of timers as the runtime has them: those that sleep beside the firing M, and beside the runtime's end.

use crate::harness::common::party;
use crate::harness::timer_queue::{FAR, Tiny};
use crate::hosts::model_host::ModelHost;
use crate::hosts::wrap::trace::main_plays;
use crate::model::{Model, rc11, sc, sc_cut, tso};
use crate::mutation::mutant::Mutant;
use std::sync::Arc;

/// One that sleeps is polled by one waker, and then by another, while an M fires.
fn another_waker_beside_the_firing<H: ModelHost>() -> String {
    main_plays("sleeper");
    let tiny = Tiny::<H>::new(1, 2);
    let m = party::<H, _, _>("M", &tiny, Tiny::run_m);
    tiny.sleep(5, &[0, 1]);
    tiny.is_over();
    H::join(m);
    tiny.check_at_rest();
    format!("fired {} and {}", tiny.fired(0), tiny.fired(1))
}

/// A timer is taken back while it fires.
fn a_cancel_beside_the_firing<H: ModelHost>() -> String {
    main_plays("sleeper");
    let tiny = Tiny::<H>::new(1, 1);
    let m = party::<H, _, _>("M", &tiny, |tiny| tiny.fire_due(5));
    let cancelled = tiny.add_and_cancel(5, 0);
    H::join(m);
    tiny.check_at_rest();
    let fired = tiny.fired(0);
    assert!(fired + u64::from(cancelled) == 1, "fired {fired} times, cancelled {cancelled}");
    format!("cancelled {cancelled}")
}

/// Two fire at once.
fn two_fire<H: ModelHost>() -> String {
    main_plays("sleeper");
    let tiny = Tiny::<H>::new(1, 1);
    let sleeper = {
        let tiny = Arc::clone(&tiny);
        move || tiny.add_and_cancel(5, 0)
    };
    let one = party::<H, _, _>("M", &tiny, |tiny| tiny.fire_due(5));
    let two = party::<H, _, _>("other M", &tiny, |tiny| tiny.fire_due(5));
    let cancelled = sleeper();
    H::join(one);
    H::join(two);
    let fired = tiny.fired(0);
    assert!(fired + u64::from(cancelled) == 1, "fired {fired} times, cancelled {cancelled}");
    format!("cancelled {cancelled}")
}

/// One that sleeps changes its mind, and wants to sleep longer.
fn a_reset_beside_the_firing<H: ModelHost>() -> String {
    main_plays("sleeper");
    let tiny = Tiny::<H>::new(1, 1);
    let m = party::<H, _, _>("M", &tiny, Tiny::run_m);
    tiny.sleep_and_reset(3, 8, 0);
    assert!(H::now() >= 8, "it slept until {}, and not until 8", H::now());
    tiny.is_over();
    H::join(m);
    tiny.check_at_rest();
    format!("fired {}", tiny.fired(0))
}

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

const WAKER: &str = "timer_queue::no_sleeper_is_missed::another_waker_beside_the_firing";
const RESET: &str = "timer_queue::no_sleeper_is_missed::a_reset_beside_the_firing";
const CLOSE: &str = "timer_queue::the_last_are_served::an_add_beside_the_close";
const CANCEL: &str = "timer_queue::the_last_are_served::a_cancel_beside_the_close";
const AFTER: &str = "timer_queue::the_last_are_served::two_adds_after_the_close";
const AS: &str = "timer_queue::the_last_are_served::one_sleeps_as_it_is_closed";

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("timer_queue::no_sleeper_is_missed::another_waker_beside_the_firing", another_waker_beside_the_firing,
        claim: "one that sleeps, and is polled by another waker while its timer fires, is woken by that one, when its time is \
            over",
        size: "2 threads, 2 wakers",
        invariants: [75, 76],
        must_reach: ["fired 0 and 1", "fired 1 and 1"],
        runs: [rc11(), sc()]),
    crate::model!("timer_queue::a_timer_is_fired_once_or_cancelled::a_cancel_beside_the_firing", a_cancel_beside_the_firing,
        claim: "a timer that is cancelled while it fires is fired or cancelled, and what was done before is seen by \
                the thread that does it",
        size: "2 threads, 1 timer",
        invariants: [75],
        must_reach: ["cancelled true", "cancelled false"],
        runs: [rc11(), sc()]),
    crate::model!("timer_queue::a_timer_is_fired_once_or_cancelled::two_fire", two_fire,
        claim: "the same, and two Ms fire at once",
        size: "3 threads, 1 timer",
        invariants: [75],
        must_reach: ["cancelled true", "cancelled false"],
        runs: [rc11(), sc()]),
    crate::model!("timer_queue::no_sleeper_is_missed::a_reset_beside_the_firing", a_reset_beside_the_firing,
        claim: "one that sleeps longer after all, while its timer fires, is woken without another poll, and then when the later \
            moment has come",
        size: "2 threads, 1 waker, 2 timers",
        invariants: [75, 76],
        must_reach: ["fired 1", "fired 2"],
        runs: [rc11(), sc_cut()]),
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
    "timer-queue-forgets-a-waker-that-comes-late": "a waker that comes when the timer is over is not registered anew",
        variant("timer-queue-forgets-a-waker-that-comes-late"), by WAKER => [Rc11, Sc];
    "timer-queue-resets-without-a-cancel": "one that sleeps longer after all keeps the timer that it has",
        variant("timer-queue-resets-without-a-cancel"), by RESET => [Rc11, Sc];
    "timer-queue-reset-forgets-the-waker": "one that sleeps longer after all is woken only if it is polled again",
        variant("timer-queue-reset-forgets-the-waker"), by RESET => [Rc11, Sc];
    "timer-queue-close-leaves-what-sleeps": "the closer leaves what sleeps without a server",
        variant("timer-queue-close-leaves-what-sleeps"), by AS => [Rc11, Sc];
    "timer-queue-cancel-leaves-who-serves": "the server sleeps on, though no sleeper is left to be woken",
        variant("timer-queue-cancel-leaves-who-serves"), by CANCEL => [Rc11, Sc];
    "timer-queue-server-wakes-before-it-hands-over": "the server wakes what is due, and hands the rest to no other",
        variant("timer-queue-server-wakes-before-it-hands-over"), by AFTER => [Rc11, Sc];
    "timer-queue-counts-until-it-finds-one": "the closer counts no more shards when it has found a timer",
        variant("timer-queue-counts-until-it-finds-one"), by CLOSE => [Rc11];
};
