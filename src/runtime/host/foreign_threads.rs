//! Is there a thread in this process that could still do something, and that no runtime knows?
//!
//! Go: `checkdead`, which does not report a deadlock either while there is a thread that is not Go's.

use crate::runtime::exec::task::Tasks;
use crate::runtime::exec::{registry, worker};
use crate::runtime::host::sim;
use crate::runtime::shared::Shared;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;

/// Threads that do nothing by themselves: those of runtimes, and those that wait in one of their functions.
static KNOWN: AtomicUsize = AtomicUsize::new(0);

/// One more is known, as long as this lives.
pub(in crate::runtime) struct Known(bool);

impl Known {
    /// A thread of a runtime.
    pub(in crate::runtime) fn new() -> Known {
        // Relaxed: counted; what is compared with it is only believed when everything is at rest.
        KNOWN.fetch_add(1, Relaxed);
        Known(true)
    }

    /// This thread waits in a function of a runtime.
    pub(in crate::runtime) fn waiting() -> Known {
        match worker::is_m_of(None) {
            true => Known(false), // known already
            false => Known::new(),
        }
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        if self.0 {
            // Relaxed: as above.
            KNOWN.fetch_sub(1, Relaxed);
        }
    }
}

/// Are all threads of this process known, and all of one runtime? Then nobody outside can wake a task. Where the system
/// does not tell, no.
pub(in crate::runtime) fn are_all_known() -> bool {
    if sim::is_here() {
        // Of a simulated machine only the thread that has it is not the runtime's.
        return sim::is_main_asleep();
    }
    // Relaxed: as above.
    registry::count() == 1 && count() == Some(KNOWN.load(Relaxed))
}

/// How many threads this process has.
#[cfg(target_os = "linux")]
fn count() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/task").ok()?.count())
}

#[cfg(not(target_os = "linux"))]
fn count() -> Option<usize> {
    None
}

/// Will no task of this runtime ever run again, unless the caller, who waits for one, does something?
pub(in crate::runtime) fn is_stuck(tasks: &Tasks) -> bool {
    let shared: &Shared = tasks.shared();
    if shared.machine.is_any() {
        return sim::is_told();
    }
    if !shared.detects_deadlock || shared.is_expecting() {
        return false;
    }
    let _me = Known::waiting();
    if !is_quiet(tasks) || !are_all_known() || shared.is_expecting() {
        return false;
    }
    // A task that waits for another is told first: it can go on with that.
    tasks.checkdead();
    is_quiet(tasks)
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
