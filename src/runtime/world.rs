//! Stopping the world, changing the number of Ps, running something under each.
//!
//! Go: `stopTheWorld`, `startTheWorld`, `GOMAXPROCS`, `forEachP`.

use crate::kernel::sched::config::ConfigError;
use crate::kernel::sched::stw::StoppedWorld;
use crate::kernel::types::p::PId;
use crate::runtime::exec::owned::guarded;
use crate::runtime::exec::registry::RuntimeId;
use crate::runtime::exec::task::{CurrentWorker, InSyscall, Tasks};
use crate::runtime::exec::worker::{self, Callback, NotInRuntime, Return};
use core::fmt;
use std::sync::Arc;

/// Runs `f` while no task of the caller's runtime runs: [`Runtime::stop_the_world`](crate::Runtime::stop_the_world) for
/// who is inside of a task.
///
/// # Errors
/// [`StopError`] if the caller is no task, or has stopped this world already.
pub fn stop_the_world<R>(f: impl FnOnce() -> R) -> Result<R, StopError> {
    stop(&worker::current_tasks().ok_or(StopError::NotInRuntime)?, f)
}

/// A stopped world. Dropped, it goes on, whatever happened meanwhile.
struct World {
    tasks: Tasks,
    stopped: Option<StoppedWorld>,
    /// The world of another runtime that this thread has stopped.
    outer: Option<RuntimeId>,
}

impl World {
    fn stop(tasks: &Tasks) -> World {
        let stopped = match own_post(tasks) {
            Some(current) => {
                let stopped = current.stop();
                worker::becomes_stopper(tasks);
                stopped
            }
            None => tasks.stop(),
        };
        let outer = worker::stopped();
        worker::set_stopped(Some(tasks.runtime_id()));
        World { tasks: tasks.clone(), stopped: Some(stopped), outer }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        worker::set_stopped(self.outer);
        let left = self.stopped.take().and_then(|stopped| self.tasks.start_again(stopped));
        if let Some(left) = left {
            worker::set_current_worker(left.come_back());
        }
    }
}

/// The P of this runtime that the caller's task holds, taken.
fn own_post(tasks: &Tasks) -> Option<CurrentWorker> {
    if worker::current() != Some(tasks.runtime_id()) {
        return None;
    }
    worker::take_current_worker()
}

pub(super) fn stop<R>(tasks: &Tasks, f: impl FnOnce() -> R) -> Result<R, StopError> {
    with_stopped(tasks, |_| {
        tasks.shared().detached_tasks.wait();
        f()
    })
}

pub(super) fn set_procs(tasks: &Tasks, procs: usize) -> Result<usize, SetProcsError> {
    with_stopped(tasks, |stopped| tasks.set_procs(stopped, procs))?.map_err(SetProcsError::Config)
}

fn with_stopped<R>(tasks: &Tasks, f: impl FnOnce(&mut StoppedWorld) -> R) -> Result<R, StopError> {
    if worker::stopped() == Some(tasks.runtime_id()) {
        return Err(StopError::Nested);
    }
    // A task of another runtime does not hold up that one.
    let _back = (worker::current() != Some(tasks.runtime_id())).then(|| Return::after_leaving(true));
    let mut world = World::stop(tasks);
    let stopped = world.stopped.as_mut().expect("world: it is stopped");
    Ok(f(stopped))
}

pub(super) fn for_each_p(tasks: &Tasks, f: impl Fn(usize) + Send + Sync + 'static) -> Result<(), StopError> {
    if worker::stopped() == Some(tasks.runtime_id()) {
        return Err(StopError::Nested);
    }
    let runtime_id = tasks.runtime_id();
    // A panic would end the thread that happens to own the P.
    let f = Arc::new(move |p: PId| {
        let _callback = Callback::of(runtime_id);
        guarded(|| f(p.index()));
    });
    let left: Option<InSyscall> = match own_post(tasks) {
        Some(current) => current.for_each_p(f),
        None => {
            let _back = (worker::current() != Some(tasks.runtime_id())).then(|| Return::after_leaving(true));
            tasks.for_each_p(f);
            None
        }
    };
    if let Some(left) = left {
        worker::set_current_worker(left.come_back());
    }
    Ok(())
}

/// The world was not stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopError {
    /// The caller is no task, so there is no world to speak of.
    NotInRuntime,
    /// The caller has stopped it already, and would wait for itself.
    Nested,
}

impl fmt::Display for StopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopError::NotInRuntime => NotInRuntime.fmt(f),
            StopError::Nested => f.write_str(
                "the world is stopped already, by this thread: do it after the closure that runs in the stopped world",
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
