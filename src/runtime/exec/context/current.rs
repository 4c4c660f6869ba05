//! What is asked of the task that runs on this thread: of which runtime it is, where it is, how it may wait.

use crate::host::Host;
use crate::kernel::protocol::role::Waits;
use crate::kernel::types::m::MId;
use crate::kernel::types::p::PId;
use crate::runtime::exec::context::{Beside, Context, OnHost, Role, simulated};
use crate::runtime::exec::entered;
use crate::runtime::exec::owned::OwnedTasks;
use crate::runtime::exec::polling;
use crate::runtime::exec::tasks::Tasks;
use crate::runtime::id::RuntimeId;
use crate::runtime::shared::Shared;
use core::panic::Location;
use core::task::Waker;

/// Looks at the role on `Cores`; if this thread has none there, at the one on `Sim`. What it does comes twice, once for each
/// type, and is `Some` of a role that is not `Outside`.
macro_rules! role {
    ($context:expr, $role:ident => $do:expr) => {
        match $context.cores.with(|$role| if let Role::Outside = $role { None } else { Some($do) }) {
            Some(done) => Some(done),
            None => simulated(|| $context.sim.with(|$role| if let Role::Outside = $role { None } else { Some($do) })),
        }
    };
}

/// The state of the runtime whose task or guest is here, and the P that it holds.
#[inline(always)]
fn shared_of<H: Host>(role: &Role<H>) -> Option<(&Shared, Option<PId>)> {
    match role {
        Role::Outside | Role::Other(Beside::Collecting(_)) => None,
        Role::Running(current) => Some((current.shared(), Some(current.p()))),
        Role::Detached(left) | Role::InSyscall(left) => Some((left.shared(), None)),
        Role::Other(Beside::Stopper(tasks) | Beside::Guest(tasks)) => Some((tasks.shared(), None)),
    }
}

/// The runtime whose task or guest is here.
fn tasks_of<H: OnHost>(role: &Role<H>) -> Option<Tasks> {
    match role {
        Role::Outside | Role::Other(Beside::Collecting(_)) => None,
        Role::Running(current) => Some(H::tasks(current.sched().clone())),
        Role::Detached(left) | Role::InSyscall(left) => Some(H::tasks(left.sched().clone())),
        Role::Other(Beside::Stopper(tasks) | Beside::Guest(tasks)) => Some(tasks.clone()),
    }
}

/// The M of the task that is here, and the P, if it holds one.
fn place_of<H: Host>(role: &Role<H>) -> Option<(MId, Option<PId>)> {
    match role {
        Role::Running(current) => Some((current.m(), Some(current.p()))),
        Role::Detached(left) | Role::InSyscall(left) => Some((left.m(), None)),
        _ => None,
    }
}

/// Is preemption of the task requested that is here?
#[inline(always)]
fn is_asked_to_yield<H: Host>(role: &Role<H>) -> bool {
    match role {
        Role::Running(current) => current.should_yield(),
        Role::Detached(_) => true,
        _ => false,
    }
}

impl Context {
    /// Runs `f` with the runtime whose task this thread runs, and the P that it holds.
    #[inline]
    fn with_own<R>(f: impl FnOnce(&Shared, Option<PId>) -> R) -> Option<R> {
        let mut f = Some(f);
        let mut run = |(shared, p): (&Shared, Option<PId>)| f.take().map(|f| f(shared, p));
        Context::try_with(|context| role!(context, role => shared_of(role).and_then(&mut run))).flatten().flatten()
    }

    /// Runs `f` with the runtime whose task this thread runs, and the P that it holds; or with the one it has entered.
    pub(in crate::runtime) fn with_runtime<R>(f: impl FnOnce(&Shared, Option<PId>) -> R) -> Option<R> {
        let mut f = Some(f);
        let done = Context::with_own(|shared, p| f.take().map(|f| f(shared, p))).flatten();
        match f {
            None => done,
            Some(f) => entered::last().map(|tasks| f(tasks.shared(), None)),
        }
    }

    /// Runs `f` with this runtime, if it lives, and the P of it that this thread holds.
    #[inline]
    pub(in crate::runtime) fn with_shared<R>(
        runtime_id: RuntimeId,
        f: impl FnOnce(&Shared, Option<PId>) -> R,
    ) -> Option<R> {
        let mut f = Some(f);
        let here = Context::with_own(|shared, p| match shared.runtime_id == runtime_id {
            true => f.take().map(|f| f(shared, p)),
            false => None,
        });
        if let Some(done) = here.flatten() {
            return Some(done);
        }
        let tasks = runtime_id.find()?;
        f.take().map(|f| f(tasks.shared(), None))
    }

    /// Runs `f` with the owned tasks of this runtime and the row that is this thread's. `None`: the runtime is gone.
    #[inline]
    pub(in crate::runtime) fn with_owned_tasks<R>(
        runtime_id: RuntimeId,
        f: impl FnOnce(&OwnedTasks, usize) -> R,
    ) -> Option<R> {
        Context::with_shared(runtime_id, |shared, p| f(&shared.owned_tasks, p.map_or(0, PId::index)))
    }

    /// Runs `f` with the runtime whose task this thread runs, the M that it is, the P that it holds, and the number of the
    /// task.
    pub(in crate::runtime) fn with_running(f: impl FnOnce(&Shared, MId, Option<PId>, u64)) {
        let mut f = Some(f);
        Context::try_with(|context| {
            let g = polling::dispatched() as u64;
            let mut run = |shared: &Shared, place: Option<(MId, Option<PId>)>| {
                if let (Some((m, p)), Some(f)) = (place, f.take()) {
                    f(shared, m, p, g);
                }
            };
            if g != 0 {
                role!(context, role => shared_of(role).map(|(shared, _)| run(shared, place_of(role))));
            }
        });
    }

    /// Is it the waker of the task that this thread runs?
    pub(in crate::runtime) fn is_running(waker: &Waker) -> bool {
        polling::dispatched() == waker.data().addr()
    }

    /// Where the task was spawned that this thread runs.
    pub(in crate::runtime) fn spawned_at() -> Option<&'static Location<'static>> {
        Context::try_with(|context| context.spawned_at.get()).flatten()
    }

    /// The task was spawned there that this thread runs from now on; returns where the one before was.
    pub(in crate::runtime) fn set_spawned_at(
        at: Option<&'static Location<'static>>,
    ) -> Option<&'static Location<'static>> {
        Context::try_with(|context| context.spawned_at.replace(at)).flatten()
    }

    /// The M of the task that this thread runs, and the P, if it holds one.
    pub(in crate::runtime) fn place() -> Option<(MId, Option<PId>)> {
        Context::try_with(|context| role!(context, role => place_of(role))).flatten().flatten()
    }

    /// Which runtime's task this thread runs, if any's.
    pub(in crate::runtime) fn current() -> Option<RuntimeId> {
        Context::with_own(|shared, _| shared.runtime_id)
    }

    /// The runtime whose task this thread runs.
    pub(in crate::runtime) fn current_tasks() -> Option<Tasks> {
        Context::try_with(|context| role!(context, role => tasks_of(role))).flatten().flatten()
    }

    /// The same, or the one that this thread has entered.
    pub(in crate::runtime) fn around() -> Option<Tasks> {
        Context::current_tasks().or_else(entered::last)
    }

    /// Which runtime that is.
    #[inline]
    pub(in crate::runtime) fn around_id() -> Option<RuntimeId> {
        Context::current().or_else(|| entered::last().map(|tasks| tasks.runtime_id()))
    }

    /// Does this thread run a task of this runtime, and hold its P?
    pub(in crate::runtime) fn holds_p_of(runtime_id: RuntimeId) -> bool {
        Context::with_own(|shared, p| shared.runtime_id == runtime_id && p.is_some()) == Some(true)
    }

    /// Does this thread run tasks: of this runtime, or of any?
    pub(in crate::runtime) fn is_m_of(runtime_id: Option<RuntimeId>) -> bool {
        let mine = Context::try_with(|context| context.runtime_id.get()).flatten();
        mine.is_some_and(|mine| runtime_id.is_none_or(|runtime_id| mine == runtime_id))
    }

    /// Would this runtime wait for this thread, if it were shut down here?
    pub(in crate::runtime) fn is_part_of(runtime_id: RuntimeId) -> bool {
        let of = Some(runtime_id);
        let is = |context: &Context| {
            context.callback.get().is_some_and(|(id, _)| id == runtime_id) || context.stopped.get() == of
        };
        Context::current() == of || Context::try_with(is) == Some(true)
    }

    /// Would a stop of this runtime's world wait for code of the user's that runs on this thread, and is no task?
    pub(in crate::runtime) fn delays_stops_of(runtime_id: RuntimeId) -> bool {
        Context::try_with(|context| context.callback.get()).flatten() == Some((runtime_id, true))
    }

    /// How may the code on this thread wait, if it could leave the thread, as far as it is concerned?
    #[inline(never)]
    pub(in crate::runtime) fn waits(could_leave: bool) -> Waits {
        let waits = |context: &Context| {
            let could_leave = could_leave && !context.locks.get().is_locked();
            match context.cores.waits(could_leave) {
                Waits::WithoutP => simulated(|| context.sim.waits(could_leave)),
                waits => waits,
            }
        };
        Context::in_place(waits).unwrap_or(Waits::WithoutP)
    }

    /// Is preemption of the task requested that this thread runs? What never waits, because there is always something ready,
    /// asks before each try.
    #[inline(never)]
    pub(in crate::runtime) fn is_asked_to_yield() -> bool {
        Context::in_place(|context| role!(context, role => is_asked_to_yield(role))).flatten() == Some(true)
    }

    /// The same, on the host `H`. `None`: there is no P here.
    #[inline(never)]
    pub(in crate::runtime::exec) fn is_asked_on<H: OnHost>() -> Option<bool> {
        let is_asked = |role: &Role<H>| match role {
            Role::Outside => None,
            role => Some(is_asked_to_yield(role)),
        };
        Context::in_place(|context| context.role::<H>().with(is_asked)).flatten()
    }

    /// Does a task run here, with a P of its own or without, that is on the host `H`?
    pub(in crate::runtime::exec) fn runs_on<H: OnHost>() -> bool {
        let runs = |role: &Role<H>| matches!(role, Role::Running(_) | Role::Detached(_));
        Context::try_with(|context| context.role::<H>().with(runs)) == Some(true)
    }
}
