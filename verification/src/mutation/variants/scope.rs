//! The steps of a scope, the right ones unless a variant says otherwise.

use crate::harness::sleeper::{ParkWaker, Sleeper};
use crate::hosts::model_host::ModelHost;
use crate::mutation::mutant::{is_variant, variant};
use spinpark_kernel::waits::scope::{Place, Scope, Task};
use std::sync::Arc;
use std::task::Poll;

/// A scope of a thread.
pub type ThreadScope<H, C> = Scope<H, ParkWaker<H>, C>;
/// A task of it.
pub type ThreadTask<H, C> = Task<H, ParkWaker<H>, C>;

/// One more. See [`Scope::begin`].
pub fn begin<H: ModelHost, C: Send + 'static>(scope: &Arc<ThreadScope<H, C>>, content: C) -> Arc<ThreadTask<H, C>> {
    match variant() {
        Some("counts-when-it-runs") => scope.list(content).0,
        Some("lists-after-the-end") => {
            assert!(scope.group().add(1), "it can be counted");
            scope.list(content).0
        }
        _ => scope.begin(content),
    }
}

/// Runs one. See [`Task::run`].
pub fn run<H: ModelHost, C: Send + 'static>(
    scope: &ThreadScope<H, C>,
    task: &ThreadTask<H, C>,
    run: impl FnOnce(&mut C) -> Poll<()>,
) -> Poll<()> {
    if is_variant("counts-when-it-runs") {
        assert!(scope.group().add(1), "it can be counted");
    }
    if !["counts-before-it-drops", "puts-it-back-unasked"].map(is_variant).contains(&true) {
        return task.run(run);
    }
    let Some(mut content) = task.with(Place::take_out) else { return Poll::Ready(()) };
    let polled = run(&mut content);
    if polled.is_pending() {
        let unwanted = match is_variant("puts-it-back-unasked") {
            true => task.with(|place| {
                *place = Place::There(content);
                None
            }),
            false => task.with(|place| place.put_back(content)),
        };
        unwanted.into_iter().for_each(|content| task.is_over(content));
        return polled;
    }
    task.with(|place| *place = Place::Gone);
    if is_variant("counts-before-it-drops") {
        task.count_down();
        drop(content);
    } else {
        task.is_over(content);
    }
    polled
}

/// Waits. See [`Scope::wait`].
pub fn wait<H: ModelHost, C: Send + 'static>(scope: &ThreadScope<H, C>) -> bool {
    let (mut waited, mut wait) = (false, scope.wait());
    Sleeper::<H>::new().wait_for(|lender| {
        let polled = wait.poll(lender);
        waited |= polled.is_pending();
        polled
    });
    waited
}
