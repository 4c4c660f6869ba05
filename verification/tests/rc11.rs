//! The checker of weak memory, checked: that it explores every execution once and no other, and says what is wrong.

#[path = "rc11/a_lock_of_ones_own.rs"]
mod a_lock_of_ones_own;
#[path = "rc11/counts_are_those_of_the_literature.rs"]
mod counts_are_those_of_the_literature;
#[path = "rc11/each_graph_is_explored_once.rs"]
mod each_graph_is_explored_once;
#[path = "rc11/memory_is_weak.rs"]
mod memory_is_weak;
#[path = "rc11/reference.rs"]
mod reference;
#[path = "rc11/the_host_keeps_its_contract.rs"]
mod the_host_keeps_its_contract;
#[path = "rc11/what_is_wrong_is_said.rs"]
mod what_is_wrong_is_said;

use spinpark_verification::hosts::model_host::ModelHost;
use spinpark_verification::rc11::{Config, Rc11, Report, Tally, explore};

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
    let (a, b) = (Rc11::fork("a", a), Rc11::fork("b", b));
    (Rc11::join(a), Rc11::join(b))
}
