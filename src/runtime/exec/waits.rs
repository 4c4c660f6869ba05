//! Waiting with the thread, for what cannot leave it: the P is another's meanwhile.
//!
//! Go: `stoplockedm`, `startlockedm`.

use crate::kernel::protocol::locked::{self, Woken};
use crate::kernel::types::m::MId;
use crate::runtime::exec::checkpoint::checkpoint;
use crate::runtime::exec::context::{Context, OnHost, Role};
use crate::runtime::exec::polling::Nested;
use crate::runtime::exec::scheduler::Scheduler;
use crate::runtime::exec::task::Raw;
use crate::runtime::exec::tasks::Tasks;
use crate::runtime::exec::wait_graph::{BlockedTask, Deadlock, WaitingTask};
use crate::runtime::host::cores::Cores;
use crate::runtime::host::sim::sim_host::Sim;
use crate::runtime::id::TaskId;
use crate::runtime::shared::Shared;
use core::future::Future;
use core::panic::Location;
use core::pin::Pin;
use core::task::{self, Poll, Waker};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::task::Wake;

/// Why a wait inside of a runtime came to nothing.
pub(in crate::runtime) enum Unmet {
    Closed,
    Deadlock(Deadlock),
}

/// Readies the task that is bound to an M.
struct Bound {
    tasks: Tasks,
    m: MId,
}

impl Wake for Bound {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.tasks.ready_bound(self.m);
    }
}

/// A task that waits with its thread: its runtime, and the M that is bound to it.
struct Waiter<H: OnHost> {
    sched: Scheduler<H>,
    m: MId,
    waker: Waker,
}

impl<H: OnHost> Waiter<H> {
    /// Of the task that this thread runs, which was found to wait by [`Waits::Block`](crate::kernel::protocol::role::Waits).
    fn here() -> Waiter<H> {
        let mine = |role: &Role<H>| match role {
            Role::Running(current) => Some((current.sched().clone(), current.m())),
            Role::Detached(left) => Some((left.sched().clone(), left.m())),
            _ => None,
        };
        match Context::try_with(|context| context.role::<H>().with(mine)).flatten() {
            Some((sched, m)) => {
                let waker = Waker::from(Arc::new(Bound { tasks: H::tasks(sched.clone()), m }));
                Waiter { sched, m, waker }
            }
            None => unreachable!("waits: what blocks with its P has none"),
        }
    }

    fn poll<F: Future>(&self, awaited: Pin<&mut F>) -> Poll<F::Output> {
        awaited.poll(&mut task::Context::from_waker(&self.waker))
    }

    /// Hands the P on, and sleeps until the waker was called, and there is a P again.
    fn park(&self, wake: locked::Wake, asleep: impl FnOnce(&Self)) -> Woken {
        // What is asked to yield may only have yielded: it is ready, and would find the same request for ever.
        checkpoint();
        let Some(current) = Context::take_current_worker::<H>() else {
            unreachable!("waits: what blocks with its P has none")
        };
        asleep(self);
        let spawned_at = Context::spawned_at();
        let (current, woken) = current.park(wake);
        Context::set_current_worker(current);
        Context::set_spawned_at(spawned_at);
        woken
    }
}

/// Waits, in a task that cannot leave its thread, for a task of the same runtime. The P is another's meanwhile.
pub(in crate::runtime) fn wait_inside<F: Future + Unpin>(
    awaited: &mut F,
    at: &'static Location<'static>,
    for_task: &'static Location<'static>,
) -> Result<F::Output, Unmet> {
    match Context::runs_on::<Cores>() {
        true => wait_inside_on::<Cores, F>(awaited, at, for_task),
        false => wait_inside_on::<Sim, F>(awaited, at, for_task),
    }
}

fn wait_inside_on<H: OnHost, F: Future + Unpin>(
    awaited: &mut F,
    at: &'static Location<'static>,
    for_task: &'static Location<'static>,
) -> Result<F::Output, Unmet> {
    let waiter = Waiter::<H>::here();
    let (shared, m) = (waiter.sched.shared(), waiter.m);
    let wait_graph = &shared.wait_graph;
    loop {
        if let Poll::Ready(output) = waiter.poll(Pin::new(awaited)) {
            return Ok(output);
        }
        let task = Context::spawned_at().unwrap_or(for_task);
        let id = Raw::polled().map(|task| TaskId::at(task.address()));
        let woken = waiter
            .park(locked::Wake::Inside, |_| wait_graph.put(m, WaitingTask { task, id, name: None, at, for_task }));
        let waits = if woken == Woken::Ready { Vec::new() } else { wait_graph.waits() };
        wait_graph.take(m);
        if woken == Woken::Ready {
            continue;
        }
        if let Poll::Ready(output) = waiter.poll(Pin::new(awaited)) {
            return Ok(output);
        }
        let threads = (woken == Woken::NoThread).then_some(waiter.sched.kernel().config().max_ms);
        return Err(match woken {
            Woken::Closed => Unmet::Closed,
            _ => Unmet::Deadlock(Deadlock::new(waits, threads, blocked_in(shared))),
        });
    }
}

/// Every task of the runtime with this state that waits, but for those that wait for others by `join`.
pub(super) fn blocked_in(shared: &Shared) -> Vec<BlockedTask> {
    let mut blocked = shared.wait_graph.blocked();
    let with_threads: BTreeSet<TaskId> = blocked.iter().map(|task| task.id).collect();
    // A future that is polled, and waits with its thread meanwhile, is among both.
    blocked.extend(shared.owned_tasks.blocked().into_iter().filter(|task| !with_threads.contains(&task.id)));
    blocked.iter_mut().for_each(|task| task.name = task.id.name());
    blocked
}

/// Waits, in a task that cannot leave its thread, for anything. The P is another's meanwhile. `None`: the runtime is shut
/// down.
pub(in crate::runtime) fn wait_bound<F: Future>(
    awaited: Pin<&mut F>,
    at: &'static Location<'static>,
) -> Option<F::Output> {
    match Context::runs_on::<Cores>() {
        true => wait_bound_on::<Cores, F>(awaited, at),
        false => wait_bound_on::<Sim, F>(awaited, at),
    }
}

fn wait_bound_on<H: OnHost, F: Future>(mut awaited: Pin<&mut F>, at: &'static Location<'static>) -> Option<F::Output> {
    let waiter = Waiter::<H>::here();
    // One that is ready each time is left all the same: on a simulated machine nothing preempts it.
    if H::IS_SIMULATED {
        checkpoint();
    }
    loop {
        let polls = Nested::begin();
        if let Poll::Ready(output) = waiter.poll(awaited.as_mut()) {
            return Some(output);
        }
        // It has woken itself: for that the P need not change its thread.
        if polls.has_yielded() && !Context::is_asked_to_yield() {
            continue;
        }
        drop(polls);
        let _blocked = Raw::polled().map(|task| waiter.sched.shared().wait_graph.block(task.blocked(Some(at))));
        if waiter.park(locked::Wake::Outside, |_| ()) == Woken::Closed {
            return None;
        }
    }
}
