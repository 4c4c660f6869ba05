//! Is a runtime deadlocked? Go: `checkdead`.

use crate::runtime::exec::platform::Platform;
use crate::runtime::exec::registry;
use crate::runtime::exec::tasks::{Tasks, on_host};
use crate::runtime::host::cores::Cores;

/// Will no task of this runtime, which is on the host `H`, ever run again, unless the caller, which waits for one and is counted
/// as a thread that waits, does something? If all that the runtime knows of is at rest, and only another thread of the process is not, or a
/// task that waits for another has yet to be told, the monitor looks again for some time, if it `may_look`.
pub(in crate::runtime) fn is_stuck<H: Platform>(tasks: &Tasks, may_look: bool) -> bool {
    if H::IS_SIMULATED {
        return H::take_deadlock();
    }
    let shared = tasks.shared();
    if !shared.detects_deadlock || shared.is_expecting() {
        return false;
    }
    let rests = || is_at_rest(tasks, || !shared.is_expecting());
    if !rests() {
        if may_look {
            // An M may wait in the poller for what is expected no more: the monitor interrupts it.
            on_host!(tasks, sched => sched.kernel().rouse_sysmon());
        }
        return false;
    }
    // A task that waits for another gets its deadlock first: it can go on with that.
    if H::are_all_known(shared.has_foreign_threads, rests) && !tasks.checkdead() {
        return H::are_all_known(shared.has_foreign_threads, rests);
    }
    if may_look {
        on_host!(tasks, sched => sched.kernel().rouse_sysmon());
    }
    false
}

/// The calling thread waits where no runtime can tell it anything. Since it waits, nothing may be left that could wake the tasks and threads of
/// the only runtime that there is: then they are told.
pub(in crate::runtime) fn look_for_others() {
    if let Some(tasks @ Tasks::Cores(_)) = registry::only()
        && is_stuck::<Cores>(&tasks, true)
    {
        tasks.shared().block_on_waiters.all_look_again();
    }
}

/// Does every thread of this runtime sleep, or wait with a task, so that none of its tasks runs, or is about to? One that
/// waits may be woken by whatever it waits for.
pub(in crate::runtime) fn is_quiet(tasks: &Tasks) -> bool {
    is_at_rest(tasks, || true)
}

fn is_at_rest(tasks: &Tasks, certain: impl FnOnce() -> bool) -> bool {
    let waiters = &tasks.shared().block_on_waiters;
    on_host!(tasks, sched => sched.kernel().is_at_rest(|| waiters.ms(), certain))
}

/// Are there tasks that could run, and no thread for them, because as many as there may be wait?
pub(in crate::runtime) fn are_exhausted(tasks: &Tasks) -> bool {
    let now = tasks.snapshot();
    now.global > 0 && now.sleeping == 0 && !now.may_start
}
