//! Where a task that computes for long yields.
//!
//! Go: `asyncPreempt`, where the compiler finds the places.

use crate::runtime::exec::context::{Context, OnHost, Role, simulated};
use crate::runtime::host::cores::Cores;
use crate::runtime::host::sim::{self, sim_host::Sim};

/// Yields, if the task has run for long while others wait, or if the world is to be stopped. Costs a few
/// nanoseconds otherwise, so it can stand in the inner loop of a task that computes for long. Outside of a task it does
/// nothing.
///
/// One that never asks loses its P after 10 ms where the system can do that (see
/// [`Builder::preemption`](crate::Builder::preemption)), and goes on as one thread more; a
/// [`stop_the_world`](crate::Runtime::stop_the_world) has to wait for it.
///
/// ```
/// # spinpark::run(async {
/// let sum = spinpark::go(|| {
///     (0..10_000_u64).fold(0, |sum, n| {
///         spinpark::checkpoint();
///         sum + n
///     })
/// });
/// assert_eq!(sum.await.expect("no panic"), 49_995_000);
/// # });
/// ```
#[inline]
#[doc(alias = "consume_budget")]
pub fn checkpoint() {
    match Context::is_asked_on::<Cores>() {
        Some(false) => (),
        Some(true) => yield_p::<Cores>(),
        None => simulated(checkpoint_on_machine),
    }
}

/// On a thread that runs no real task.
fn checkpoint_on_machine() {
    if sim::is_here() && (Context::is_asked_on::<Sim>() == Some(true) || sim::yields()) {
        yield_p::<Sim>();
    }
}

#[cold]
fn yield_p<H: OnHost>() {
    Context::try_with(|context| match context.role::<H>().replace(Role::Outside) {
        Role::Running(current) => drop(context.takes(current.yield_p())),
        Role::Detached(left) => drop(context.takes(left.reattach())),
        other => drop(context.role::<H>().replace(other)),
    });
}
