//! Waiting for the system without holding up other tasks.
//!
//! Go: `entersyscall`, `entersyscallblock`, `exitsyscall`.

use crate::runtime::exec::call_site::Call;
use crate::runtime::exec::context::Context;
use crate::runtime::exec::leaving::Return;
use crate::runtime::exec::tasks::Tasks;
use core::fmt;
use core::panic::Location;

/// Runs `f`, which may block in the system: reads a file, waits for a lock, calls foreign code. Meanwhile other tasks
/// can run: if `f` takes long, within some tens of microseconds the monitor gives the caller's P to another thread.
/// Returns when `f` has, and a P is free again.
///
/// It costs about as much as a few uncontended atomics, so it can stand around calls that are usually short. It learns: where
/// a call was so long that its P was taken, the next one gives the P away at once, until one is short again. For calls
/// that are always long, [`blocking`] does so from the first. Outside of a task it just runs `f`; so it does inside
/// another `syscall`.
///
/// ```
/// # let runtime = spinpark::Runtime::builder().procs(1).build().expect("a runtime");
/// let size = runtime.go(|| spinpark::syscall(|| std::fs::metadata(".").map(|data| data.len())));
/// # size.join().expect("no panic").expect("a size");
/// ```
#[inline]
#[track_caller]
#[doc(alias = "block_in_place")]
pub fn syscall<R>(f: impl FnOnce() -> R) -> R {
    let _back = Return::after_leaving(Call::at(Location::caller()));
    f()
}

/// Runs `f`, which is known to block for long: sleeps, waits for a child process, computes for seconds in foreign code.
/// The caller's P goes to another thread at once, unless the last eight calls from the same place were over within 30 us
/// each: then it is left as by [`syscall`], until one is long again. Outside of a task it just runs `f`; so it does inside another
/// `blocking`.
///
/// Each task that blocks occupies a thread, so at most
/// [`max_threads`](crate::Builder::max_threads) do so at once while others run; after that, tasks wait for a thread. If
/// you want to know, use [`try_blocking`].
///
/// ```
/// # let runtime = spinpark::Runtime::builder().procs(1).build().expect("a runtime");
/// runtime.go(|| spinpark::blocking(|| std::thread::sleep(std::time::Duration::from_millis(1))));
/// ```
#[track_caller]
#[doc(alias = "spawn_blocking")]
pub fn blocking<R>(f: impl FnOnce() -> R) -> R {
    let _back = Return::after_leaving(Call::said_to_block_at(Location::caller()));
    f()
}

/// As [`blocking`], but only if another thread can take over. (Whether one can may change between the question and the
/// hand-over, so this is a matter of good manners, no guarantee.)
///
/// # Errors
/// [`NoThread`], with `f`, if every thread that there may be is busy.
///
/// ```
/// # spinpark::run(async {
/// match spinpark::try_blocking(|| std::fs::exists(".")) {
///     Ok(there) => assert!(there.expect("a look")),
///     Err(none) => println!("later: {none}"), // `none.f` is what was to be run
/// }
/// # });
/// ```
#[track_caller]
pub fn try_blocking<F, R>(f: F) -> Result<R, NoThread<F>>
where
    F: FnOnce() -> R,
{
    match Context::current_tasks() {
        Some(tasks) if !tasks.can_start_m() => Err(NoThread { f, max_threads: max_threads(&tasks) }),
        _ => Ok(blocking(f)),
    }
}

fn max_threads(tasks: &Tasks) -> usize {
    tasks.config().max_ms
}

/// No thread can take over: as many as there may be are busy. What was to be run comes back.
pub struct NoThread<F> {
    /// What was to be run.
    pub f: F,
    /// How many threads there may be.
    pub max_threads: usize,
}

impl<F> fmt::Debug for NoThread<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NoThread").field("max_threads", &self.max_threads).finish_non_exhaustive()
    }
}

impl<F> fmt::Display for NoThread<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "all {} threads are busy, so no thread could run other tasks meanwhile: raise max_threads, or block in fewer \
             tasks at a time",
            self.max_threads
        )
    }
}

impl<F> core::error::Error for NoThread<F> {}
