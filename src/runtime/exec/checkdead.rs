//! Is a runtime deadlocked? Go: `checkdead`.

use crate::runtime::exec::context::Context;
use crate::runtime::exec::platform::Platform;
use crate::runtime::exec::tasks::Tasks;
use crate::runtime::host::foreign_threads::Known;

/// Will no task of this runtime, which is on the host `H`, ever run again, unless the caller, which waits for one, does
/// something?
pub(in crate::runtime) fn is_stuck<H: Platform>(tasks: &Tasks) -> bool {
    if H::IS_SIMULATED {
        return H::take_deadlock();
    }
    let shared = tasks.shared();
    if !shared.detects_deadlock || shared.is_expecting() {
        return false;
    }
    let _me = this_thread_waits();
    if !is_quiet(tasks) || !H::are_all_known() || shared.is_expecting() {
        return false;
    }
    // A task that waits for another gets its deadlock first: it can go on with that.
    tasks.checkdead();
    is_quiet(tasks)
}

/// This thread is known as one that waits in a function of a runtime, as long as what is returned lives.
pub(in crate::runtime) fn this_thread_waits() -> Option<Known> {
    // An M is known already.
    (!Context::is_m_of(None)).then(Known::new)
}

/// Does every thread of this runtime sleep, or wait with a task, so that none of its tasks runs, or is about to? One that
/// waits may be woken by whatever it waits for.
pub(in crate::runtime) fn is_quiet(tasks: &Tasks) -> bool {
    let now = tasks.snapshot();
    let at_rest = now.sleeping + now.bound + tasks.shared().block_on_waiters.ms();
    let nobody_runs = at_rest == now.alive && now.idle_ps == now.procs && now.detached == 0;
    nobody_runs && (now.global == 0 || now.sleeping == 0 && !now.may_start)
}

/// Are there tasks that could run, and no thread for them, because as many as there may be wait?
pub(in crate::runtime) fn are_exhausted(tasks: &Tasks) -> bool {
    let now = tasks.snapshot();
    now.global > 0 && now.sleeping == 0 && !now.may_start
}
