//! Models of `role`: a thread that runs a G, and the handler of a signal that comes between any two of its steps.
//!
//! The monitor requests preemption and retakes the P; the signal itself has no sender, it may come anywhere, also when
//! it is not due. M0's G does one thing that needs a decision: it waits, enters a system call, or wants its P. At the end of
//! every execution M0's thread has its P back and lets go of it.

use crate::harness::common::party;
use crate::harness::role::{Place, Tiny};
use crate::hosts::model_host::ModelHost;
use crate::hosts::wrap::signals::Signals;
use crate::model::{Model, rc11, sc};
use crate::mutation::mutant::Mutant;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

/// What another thread does, by name.
type Other<H, R> = (&'static str, fn(&Tiny<Signals<H>>) -> R);

/// Plays `act` as M0's G, beside a monitor and `others`, with up to `signals` signals.
fn play<H: ModelHost, R: Send + 'static>(
    signals: usize,
    others: &[Other<H, R>],
    act: impl FnOnce(&Arc<Tiny<Signals<H>>>, &Rc<Place<Signals<H>>>) -> String,
) -> String {
    type Of<H> = Signals<H>;
    Of::<H>::begin();
    let tiny = Tiny::<Of<H>>::new();
    let place = Tiny::<Of<H>>::running();
    let detached = Rc::new(Cell::new(0));
    let listens = Of::<H>::listen(signals, {
        let (tiny, place, detached) = (Arc::clone(&tiny), Rc::clone(&place), Rc::clone(&detached));
        move || detached.set(detached.get() + usize::from(tiny.handle(&place)))
    });
    let monitor = party::<Of<H>, _, _>("monitor", &tiny, Tiny::monitor);
    let others: Vec<_> = others.iter().map(|(name, act)| party::<Of<H>, _, _>(name, &tiny, *act)).collect();
    let went = act(&tiny, &place);
    let p = tiny.end(&place);
    drop(listens);
    tiny.release(p);
    let retook = Of::<H>::join(monitor);
    others.into_iter().for_each(|other| drop(Of::<H>::join(other)));
    tiny.check_at_rest();
    format!("{went}; detached {}, retaken {retook}", detached.get())
}

/// It waits, with its thread.
fn it_blocks<H: ModelHost>() -> String {
    play::<H, ()>(1, &[("who brings it", |tiny| tiny.bring())], |tiny, place| {
        tiny.block(place);
        "blocked".to_owned()
    })
}

/// It waits, and could leave its thread.
fn it_suspends<H: ModelHost>() -> String {
    play::<H, ()>(1, &[("who brings it", |tiny| tiny.bring())], |tiny, place| {
        tiny.suspend(place);
        "left".to_owned()
    })
}

/// A system call, in which it waits without a P until a stopper has seen that no M runs without one.
fn it_enters_a_system_call<H: ModelHost>() -> String {
    play::<H, ()>(1, &[("stopper", |tiny| tiny.stop())], |tiny, place| {
        tiny.system_call(place);
        "in and out".to_owned()
    })
}

/// It readies others under its P, if it has one: what it does there and the handler do not meet.
fn it_works_under_its_p<H: ModelHost>() -> String {
    play::<H, ()>(2, &[], |tiny, place| {
        let under = (0..2).filter(|_| tiny.readies(place)).count();
        format!("under its P {under} times")
    })
}

/// The models.
pub const MODELS: &[Model] = &[
    crate::model!("role::whoever_waits_has_handed_its_p_on::it_blocks_beside_signals", it_blocks,
        claim: "a G that waits with its thread has its P first, hands it on, and gets one again; one that was preempted too",
        size: "3 threads, 1 P, 1 signal",
        invariants: [4, 52],
        must_reach: ["blocked; detached 1, retaken true", "blocked; detached 1, retaken false", "blocked; detached 0"],
        runs: [rc11(), sc()]),
    crate::model!("role::nobody_waits_with_its_thread_who_could_leave_it::it_suspends_beside_signals", it_suspends,
        claim: "a G that could leave its thread does, whenever a signal comes; its M has a P when it runs the next",
        size: "3 threads, 1 P, 1 signal",
        invariants: [4, 52],
        must_reach: ["left; detached 1, retaken true", "left; detached 0"],
        runs: [rc11(), sc()]),
    crate::model!("role::whoever_waits_without_a_p_is_known::it_enters_a_system_call_beside_signals", it_enters_a_system_call,
        claim: "a preempted G that enters a system call no longer counts as one that runs; a stopper does not wait for it",
        size: "3 threads, 1 P, 1 signal",
        invariants: [4, 52],
        must_reach: ["in and out; detached 1", "in and out; detached 0"],
        runs: [rc11(), sc()]),
    crate::model!("role::a_p_is_taken_once::it_works_under_its_p_beside_signals", it_works_under_its_p,
        claim: "what a thread does under its P inside the scheduler is not interrupted: no other M has the P meanwhile",
        size: "2 threads, 1 P, 2 signals",
        invariants: [4, 52],
        must_reach: ["under its P 2 times", "under its P 1 times", "under its P 0 times"],
        runs: [rc11(), sc()]),
];

const BLOCKS: &str = "role::whoever_waits_has_handed_its_p_on::it_blocks_beside_signals";
const SUSPENDS: &str = "role::nobody_waits_with_its_thread_who_could_leave_it::it_suspends_beside_signals";
const SYSCALL: &str = "role::whoever_waits_without_a_p_is_known::it_enters_a_system_call_beside_signals";

/// The mutants.
pub const MUTANTS: &[Mutant] = crate::mutants! {
    room: "role";
    "role-asks-a-flag-beside-the-role": "whether the P was lost is asked before the role, and a signal comes in between: a G that could leave its \
        thread waits with it, and is told to yield for ever",
        variant("asks-a-flag-beside-the-role"), by SUSPENDS => [Sc, Rc11], BLOCKS => [Sc, Rc11];
    "role-waits-without-reattaching":
        "a G that was preempted waits with its thread as it is, and never takes a P back before it waits",
        variant("waits-without-reattaching"), by BLOCKS => [Sc, Rc11];
    "role-a-system-call-stays-detached":
        "a preempted G that enters a system call still counts as one that runs: a stopper waits for it",
        variant("a-system-call-stays-detached"), by SYSCALL => [Sc, Rc11];
};
