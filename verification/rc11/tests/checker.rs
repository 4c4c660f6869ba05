//! The checker, checked: that it explores every execution once and no other, and says what is wrong. It is compared
//! with a reference that enumerates all graphs where litmus tests are read: `verification/tests/reference.rs`.

#[path = "checker/a_lock_of_ones_own.rs"]
mod a_lock_of_ones_own;
#[path = "checker/counts_are_those_of_the_literature.rs"]
mod counts_are_those_of_the_literature;
#[path = "checker/counts_do_not_depend_on_the_machine.rs"]
mod counts_do_not_depend_on_the_machine;
#[path = "checker/memory_is_weak.rs"]
mod memory_is_weak;
#[path = "checker/primitives_keep_their_contract.rs"]
mod primitives_keep_their_contract;
#[path = "checker/symmetric_threads_are_one.rs"]
mod symmetric_threads_are_one;
#[path = "checker/what_is_wrong_is_said.rs"]
mod what_is_wrong_is_said;

use rc11::engine::{Config, Report, Tally, explore, fork};

/// What is wrong, in a sentence in which threads are `T0`, `T1`...
fn sentence(report: &Report) -> Option<String> {
    let found = report.failure.as_ref()?;
    Some(found.failure.why.sentence(&found.graph, |thread| format!("T{thread}")))
}

/// Every execution of `body` is as it should be.
fn proved(config: &Config, body: impl Fn() -> String + Send + Sync + 'static) -> Tally {
    let report = explore(config, body, |_| ());
    assert!(report.is_proof(), "{:?}, {} left", sentence(&report), report.left.len());
    report.tally
}

/// Some execution of `body` is not; why.
fn refuted(config: &Config, body: impl Fn() -> String + Send + Sync + 'static) -> String {
    sentence(&explore(config, body, |_| ())).expect("something is wrong")
}

/// How all executions of `body` end.
fn outcomes(body: impl Fn() -> String + Send + Sync + 'static) -> Vec<String> {
    proved(&Config::default(), body).outcomes.into_keys().collect()
}

/// Runs both beside each other, and what they return.
fn beside<T: Send + 'static>(a: impl FnOnce() -> T + Send + 'static, b: impl FnOnce() -> T + Send + 'static) -> (T, T) {
    let (a, b) = (fork("a", a), fork("b", b));
    (a.join(), b.join())
}
