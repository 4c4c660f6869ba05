//! The scheduler as something that takes and gives tasks.
//!
//! The kernel knows a G as a number. Here, and nowhere else, a task becomes its number and a number its task, which is unsafe.
//! It is sound because no other G can get into a [`Scheduler`], and because the kernel gives each G back exactly once, which
//! is what its models check.

#![allow(unsafe_code)]

use crate::host::Host;
use crate::kernel::protocol::find::Worker;
use crate::kernel::protocol::work_source::{Poller, Waker};
use crate::kernel::sched::config::{Config, ConfigError};
use crate::kernel::sched::{Closed, Sched, Sources};
use crate::runtime::events::Events;
use crate::runtime::exec::task::Task;
use crate::runtime::id::RuntimeId;
use crate::runtime::shared::Shared;
use std::sync::{Arc, Weak};

/// The kernel's scheduler on the host `H`, observed by its runtime.
pub(in crate::runtime) type Kernel<H> = Sched<H, Events>;

/// A scheduler in which every G is a task: nothing else can put one in.
pub(in crate::runtime) struct Scheduler<H: Host>(Arc<Kernel<H>>);

impl<H: Host> Clone for Scheduler<H> {
    #[inline]
    fn clone(&self) -> Self {
        Scheduler(Arc::clone(&self.0))
    }
}

impl<H: Host> Scheduler<H> {
    /// A scheduler with no M yet. `mstart` is each M's life.
    ///
    /// # Errors
    /// If a number is not allowed.
    pub(in crate::runtime) fn new(
        config: Config,
        shared: Shared,
        mstart: impl Fn(&Arc<Kernel<H>>, Worker) + Send + Sync + 'static,
        sources: impl FnOnce(&Waker) -> (Sources, Box<dyn Poller>),
    ) -> Result<Self, ConfigError> {
        Sched::with_poller(config, Events::new(shared), mstart, sources).map(Scheduler)
    }

    /// The one whose this is. Only [`new`](Scheduler::new) makes any.
    pub(in crate::runtime) fn of(kernel: &Arc<Kernel<H>>) -> Self {
        Scheduler(Arc::clone(kernel))
    }

    /// Without keeping it.
    pub(in crate::runtime) fn downgrade(&self) -> Weak<Kernel<H>> {
        Arc::downgrade(&self.0)
    }

    /// For all that neither takes nor gives a G.
    #[inline(always)]
    pub(in crate::runtime) fn kernel(&self) -> &Arc<Kernel<H>> {
        &self.0
    }

    /// What belongs to the runtime besides its scheduler.
    #[inline(always)]
    pub(in crate::runtime) fn shared(&self) -> &Shared {
        self.0.observer().shared()
    }

    /// Which runtime's it is.
    #[inline(always)]
    pub(in crate::runtime) fn runtime_id(&self) -> RuntimeId {
        self.shared().runtime_id
    }

    /// Queues `task`; closed, gives it back.
    pub(super) fn submit(&self, task: Task) -> Result<(), Task> {
        self.0.submit(task.into_g::<H>()).map_err(|Closed(g)| {
            // SAFETY: this is the G that was to be queued, one line above.
            unsafe { Task::from_g(g) }.0
        })
    }

    /// Queues `task` to run next under the worker's P.
    #[inline]
    pub(super) fn ready(&self, worker: &mut Worker, task: Task) {
        self.0.ready(worker, task.into_g::<H>());
    }

    /// Queues `task`, which has just run, behind the others of the worker's P.
    #[inline]
    pub(super) fn goyield(&self, worker: &mut Worker, task: Task) {
        self.0.goyield(worker, task.into_g::<H>());
    }

    /// Queues `task`, which was about to run, behind all others.
    pub(super) fn gosched(&self, worker: &mut Worker, task: Task) {
        self.0.yield_now(worker, task.into_g::<H>());
    }

    /// The next task to run, if that is one of the worker's P; and what its wakers carry.
    #[inline]
    pub(super) fn next_local(&self, worker: &Worker) -> Option<(Task, usize)> {
        let g = self.0.next_local(worker)?;
        // SAFETY: as in `next`.
        Some(unsafe { Task::from_g(g) })
    }

    /// The next task to run, and what its wakers carry. `None`: the scheduler is closed.
    #[inline]
    pub(super) fn next(&self, worker: Worker) -> Option<(Worker, (Task, usize))> {
        let (worker, g) = self.0.next(worker)?;
        // SAFETY: all Gs in there came from `submit` or `ready`, and the kernel gives each back once; it keeps its own
        // tickets to itself.
        Some((worker, unsafe { Task::from_g(g) }))
    }

    /// The same, at a turn of the global queue, timers and sockets.
    pub(super) fn next_turn(&self, worker: Worker) -> Option<(Worker, (Task, usize))> {
        let (worker, g) = self.0.next_turn(worker)?;
        // SAFETY: as in `next`.
        Some((worker, unsafe { Task::from_g(g) }))
    }

    /// Waits for the tasks that run, and gives back those that are queued.
    pub(super) fn close(&self) -> Vec<Task> {
        let left = self.0.close().into_iter();
        // SAFETY: all Gs in there came from `submit` or `ready`, and the kernel gives each back once. The kernel's own
        // tickets are served before it closes.
        left.map(|g| unsafe { Task::from_g(g) }.0).collect()
    }
}
