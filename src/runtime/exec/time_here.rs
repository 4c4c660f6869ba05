//! What time it is in the runtime whose code this thread runs, and whether nothing else than time goes on there.

use crate::host::Nanos;
use crate::runtime::exec::context::Context;
use crate::runtime::exec::tasks::{Tasks, on_host};
use crate::runtime::host::clock;
use crate::runtime::shared::Shared;

/// The host's time, as the runtime around this code shows it.
fn shown(host: Nanos) -> Nanos {
    Context::with_runtime(|shared, _| shared.timers.clock.now(host)).unwrap_or(host)
}

/// The time of this runtime stands still from now on. `false`: it does already.
pub(in crate::runtime) fn pause(shared: &Shared, host: Nanos) -> bool {
    clock::shown_by(shown);
    shared.timers.clock.pause(host)
}

/// Asked by an M that polls, for this runtime: does all else wait, and a thread in `block_on` with it, so that only time, or what
/// comes from outside, makes it go on?
pub(in crate::runtime) fn waits_for_time(tasks: &Tasks) -> bool {
    let waiters = &tasks.shared().block_on_waiters;
    // The M that asks waits, too, as if with a task. A thread in `block_on` that wakes a task comes to the lock before it sleeps.
    on_host!(tasks, sched => sched.kernel().is_at_rest(|| waiters.ms() + 1, || waiters.guests().all_sleep()))
}
