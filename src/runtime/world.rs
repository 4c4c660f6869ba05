//! Stopping the world, changing the number of Ps, running something under each.
//!
//! Go: `stopTheWorld`, `startTheWorld`, `GOMAXPROCS`, `forEachP`.

use crate::kernel::protocol::stw::safepoint::SafepointFn;
use crate::kernel::sched::config::ConfigError;
use crate::kernel::sched::stw::StoppedWorld;
use crate::kernel::types::p::PId;
use crate::runtime::exec::call_site::Call;
use crate::runtime::exec::context::{Context, OnHost};
use crate::runtime::exec::current_worker::{CurrentWorker, InSyscall};
use crate::runtime::exec::inside::Callback;
use crate::runtime::exec::leaving::Return;
use crate::runtime::exec::not_in_runtime::NotInRuntime;
use crate::runtime::exec::preempt::DetachedTasks;
use crate::runtime::exec::scheduler::Scheduler;
use crate::runtime::exec::tasks::{Tasks, on_host};
use crate::runtime::guarded::{Theirs, guarded};
use crate::runtime::id::RuntimeId;
use core::fmt;
use std::sync::Arc;

/// Runs `f` while no task of the caller's runtime runs: [`Runtime::stop_the_world`](crate::Runtime::stop_the_world) from
/// inside of a task.
///
/// # Errors
/// [`StopError`] if the caller is no task, or has stopped this world already.
///
/// ```
/// # spinpark::run(async {
/// let value = spinpark::runtime::stop_the_world(|| 1).expect("not inside of another");
/// assert_eq!(value, 1);
/// # });
/// ```
pub fn stop_the_world<R>(f: impl FnOnce() -> R) -> Result<R, StopError> {
    stop(&Context::current_tasks().ok_or(StopError::NotInRuntime)?, f)
}

/// A stopped world. Dropped, it is started again, whatever happened meanwhile.
struct Restart<H: OnHost> {
    sched: Scheduler<H>,
    stopped: Option<StoppedWorld>,
    /// The world of another runtime that this thread has stopped.
    outer: Option<RuntimeId>,
}

impl<H: OnHost> Restart<H> {
    fn stop(sched: &Scheduler<H>) -> Self {
        let stopped = match own_worker(sched) {
            Some(current) => {
                let stopped = current.stop();
                Context::becomes_stopper(sched);
                stopped
            }
            None => sched.kernel().stop_the_world(None),
        };
        let outer = Context::stopped();
        Context::set_stopped(Some(sched.runtime_id()));
        Restart { sched: sched.clone(), stopped: Some(stopped), outer }
    }
}

impl<H: OnHost> Drop for Restart<H> {
    fn drop(&mut self) {
        Context::set_stopped(self.outer);
        let away = self.stopped.take().and_then(|stopped| self.sched.kernel().start_the_world(stopped));
        if let Some(away) = away {
            // One of its tasks had stopped it.
            Context::set_current_worker(InSyscall::new(self.sched.clone(), away).come_back());
        }
    }
}

/// The P of this runtime that the caller's task holds, taken.
fn own_worker<H: OnHost>(sched: &Scheduler<H>) -> Option<CurrentWorker<H>> {
    if Context::current() != Some(sched.runtime_id()) {
        return None;
    }
    Context::take_current_worker()
}

pub(super) fn stop<R>(tasks: &Tasks, f: impl FnOnce() -> R) -> Result<R, StopError> {
    let f = |detached_tasks: &DetachedTasks| {
        detached_tasks.wait();
        f()
    };
    on_host!(tasks, sched => with_stopped(tasks, sched, |_| f(&sched.shared().detached_tasks)))
}

pub(super) fn set_procs(tasks: &Tasks, procs: usize) -> Result<usize, SetProcsError> {
    let set = on_host!(tasks, sched => {
        with_stopped(tasks, sched, |stopped| sched.kernel().procresize(stopped, procs))
    });
    set?.map_err(SetProcsError::Config)
}

/// Would the caller not wait for itself?
fn may_stop(runtime_id: RuntimeId) -> Result<(), StopError> {
    match () {
        () if Context::stopped() == Some(runtime_id) => Err(StopError::Nested),
        () if Context::delays_stops_of(runtime_id) => Err(StopError::InCallback),
        () => Ok(()),
    }
}

fn with_stopped<H: OnHost, R>(
    tasks: &Tasks,
    sched: &Scheduler<H>,
    f: impl FnOnce(&mut StoppedWorld) -> R,
) -> Result<R, StopError> {
    may_stop(sched.runtime_id())?;
    tasks.check_thread();
    // A task of another runtime does not hold up that one.
    let _back = (Context::current() != Some(sched.runtime_id())).then(|| Return::after_leaving(Call::Blocks));
    let mut world = Restart::stop(sched);
    let stopped = world.stopped.as_mut().expect("world: it is stopped");
    Ok(f(stopped))
}

pub(super) fn for_each_p(tasks: &Tasks, f: impl Fn(usize) + Send + Sync + 'static) -> Result<(), StopError> {
    let runtime_id = tasks.runtime_id();
    may_stop(runtime_id)?;
    let f = Theirs::new(f);
    // A panic would end the thread that happens to own the P.
    let f: Arc<SafepointFn> = Arc::new(move |p: PId| {
        let _callback = Callback::that_delays_stops(runtime_id);
        guarded(|| f(p.index()));
    });
    on_host!(tasks, sched => for_each_p_on(tasks, sched, &f));
    Ok(())
}

fn for_each_p_on<H: OnHost>(tasks: &Tasks, sched: &Scheduler<H>, f: &Arc<SafepointFn>) {
    let left: Option<InSyscall<H>> = match own_worker(sched) {
        Some(current) => current.for_each_p(f),
        None => {
            let _back = (Context::current() != Some(sched.runtime_id())).then(|| Return::after_leaving(Call::Blocks));
            tasks.for_each_p(f);
            None
        }
    };
    if let Some(left) = left {
        Context::set_current_worker(left.come_back());
    }
}

/// The world was not stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopError {
    /// The caller is no task, so there is no world to speak of.
    NotInRuntime,
    /// The caller has stopped it already, and would wait for itself.
    Nested,
    /// The caller is a waker that a thread of the runtime calls, or runs for a P, or by `tokio::spawn`, and would wait for itself.
    InCallback,
}

impl fmt::Display for StopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopError::NotInRuntime => NotInRuntime::with_method("spinpark::stop_the_world was called").fmt(f),
            StopError::Nested => f.write_str(
                "the world is stopped already, by this thread: do it after the closure that runs in the stopped world",
            ),
            StopError::InCallback => f.write_str(
                "the world cannot be stopped by a waker, nor by a closure that runs for a P: it would wait for itself; do it in a task",
            ),
        }
    }
}

impl core::error::Error for StopError {}

/// The number of Ps was not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SetProcsError {
    /// The number is not allowed.
    Config(ConfigError),
    /// The world could not be stopped.
    Stop(StopError),
}

impl From<StopError> for SetProcsError {
    fn from(error: StopError) -> Self {
        SetProcsError::Stop(error)
    }
}

impl fmt::Display for SetProcsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SetProcsError::Config(error) => error.fmt(f),
            SetProcsError::Stop(error) => error.fmt(f),
        }
    }
}

// No `source`: the whole of it is in the text.
impl core::error::Error for SetProcsError {}
