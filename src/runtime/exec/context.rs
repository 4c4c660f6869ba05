//! What a thread is to a runtime: the one thread local, and what is asked of it.
//!
//! ```text
//!   spawn, checkpoint, syscall, wait, … ──► CONTEXT ──► the role on Cores: a task of a real runtime runs here
//!                                                 └···► the role on Sim: only if there is none on Cores
//! ```
//!
//! A thread has a role for each host. What finds a real task here is done with that: only a thread that runs none is asked
//! whether it is simulated. While a simulated thread runs, the roles of the thread that plays it are put aside, the one on
//! `Cores` too: so a thread never has both.

use crate::host::Host;
use crate::kernel::protocol::locked::Locks;
use crate::kernel::protocol::role::{self, RoleCell, Waits};
use crate::kernel::types::m::MId;
use crate::kernel::types::p::PId;
use crate::runtime::exec::current_worker::{CurrentWorker, InSyscall};
use crate::runtime::exec::entered;
use crate::runtime::exec::goroutine::stack::Stack;
use crate::runtime::exec::owned::OwnedTasks;
use crate::runtime::exec::task::{Scheduler, Task};
use crate::runtime::exec::tasks::Tasks;
use crate::runtime::host::cores::Cores;
use crate::runtime::host::sim::Sim;
use crate::runtime::id::RuntimeId;
use crate::runtime::shared::Shared;
use core::cell::{Cell, RefCell};
use core::panic::Location;
use core::sync::atomic::AtomicU64;
use core::task::Waker;

/// What this thread is to a runtime on the host `H`.
pub(in crate::runtime) type Role<H> = role::Role<CurrentWorker<H>, InSyscall<H>, Beside>;

/// Where that is kept.
pub(in crate::runtime) type ThreadRole<H> = RoleCell<H, CurrentWorker<H>, InSyscall<H>, Beside>;

/// What a thread can be to a runtime besides running one of its tasks.
pub(in crate::runtime) enum Beside {
    /// It runs a task that has stopped the world, and has no P.
    Stopper(Tasks),
    /// It runs the future of a `block_on`, or something else that is inside the runtime and no task.
    Guest(Tasks),
    /// It polls the sources of this runtime for work: what becomes runnable meanwhile is theirs.
    Collecting(RuntimeId),
}

/// A host that a runtime can be on.
pub(in crate::runtime) trait OnHost: Host {
    /// Is it a machine that is simulated?
    const IS_SIMULATED: bool;

    /// What this thread is there.
    fn role(context: &Context) -> &ThreadRole<Self>;

    /// The scheduler of a runtime there, as one of any.
    fn tasks(sched: Scheduler<Self>) -> Tasks;
}

impl OnHost for Cores {
    const IS_SIMULATED: bool = false;

    #[inline(always)]
    fn role(context: &Context) -> &ThreadRole<Cores> {
        &context.cores
    }

    fn tasks(sched: Scheduler<Cores>) -> Tasks {
        Tasks::Cores(sched)
    }
}

impl OnHost for Sim {
    const IS_SIMULATED: bool = true;

    fn role(context: &Context) -> &ThreadRole<Sim> {
        &context.sim
    }

    fn tasks(sched: Scheduler<Sim>) -> Tasks {
        Tasks::Sim(sched)
    }
}

/// What a thread knows of itself.
pub(in crate::runtime) struct Context {
    pub(super) cores: ThreadRole<Cores>,
    pub(super) sim: ThreadRole<Sim>,
    /// As the system calls it.
    pub(super) number: Cell<i32>,
    /// The runtime whose tasks it runs: an M's thread.
    pub(super) runtime_id: Cell<Option<RuntimeId>>,
    /// The runtime of which it runs a closure that is no task: for a P, or while there is nothing else to do.
    pub(super) callback: Cell<Option<RuntimeId>>,
    /// How often its task was unwound because its runtime is shut down, and went on.
    pub(super) unwound: Cell<u32>,
    /// What became runnable while it polls sources for work.
    collected: RefCell<Vec<Task>>,
    /// How often the task is bound to this thread.
    pub(super) locks: Cell<Locks>,
    /// Where the task was spawned.
    pub(super) spawned_at: Cell<Option<&'static Location<'static>>>,
    /// What the wakers of the task carry that it runs, or 0.
    pub(super) running: Cell<usize>,
    /// The runtime whose world this thread has stopped.
    pub(super) stopped: Cell<Option<RuntimeId>>,
    /// The stack of the goroutine that has ended here last, for the next.
    pub(super) spare: Cell<Option<(RuntimeId, Stack)>>,
}

thread_local! {
    static CONTEXT: Context = const { Context::new() };
}

/// Looks at the role on `Cores`; if this thread has none there, at the one on `Sim`. What it does comes twice, once for each
/// type, and is `Some` of a role that is not `Outside`.
macro_rules! role {
    ($context:expr, $role:ident => $do:expr) => {
        match $context.cores.with(|$role| if let role::Role::Outside = $role { None } else { Some($do) }) {
            Some(done) => Some(done),
            None => {
                simulated(|| $context.sim.with(|$role| if let role::Role::Outside = $role { None } else { Some($do) }))
            }
        }
    };
}

/// There is no real task here.
#[cold]
#[inline(never)]
pub(super) fn simulated<R>(f: impl FnOnce() -> R) -> R {
    f()
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

/// Queues the task, if this is a place for tasks of `runtime_id`.
#[inline(always)]
fn queue<H: Host>(role: &mut Role<H>, of: RuntimeId, task: &mut Option<Task>, yields: bool, list: &RefCell<Vec<Task>>) {
    match role {
        Role::Running(current) if current.shared().runtime_id == of => match task.take() {
            Some(task) if yields => current.goyield(task),
            Some(task) => current.ready(task),
            None => (),
        },
        Role::Other(Beside::Collecting(collecting)) if *collecting == of => list.borrow_mut().extend(task.take()),
        _ => (),
    }
}

impl Context {
    pub(super) const fn new() -> Context {
        Context {
            cores: RoleCell::new(AtomicU64::new(0)),
            sim: RoleCell::new(AtomicU64::new(0)),
            number: Cell::new(0),
            runtime_id: Cell::new(None),
            callback: Cell::new(None),
            unwound: Cell::new(0),
            collected: RefCell::new(Vec::new()),
            locks: Cell::new(Locks::NONE),
            spawned_at: Cell::new(None),
            running: Cell::new(0),
            stopped: Cell::new(None),
            spare: Cell::new(None),
        }
    }

    /// This thread's. `None`: it is ending.
    #[inline(always)]
    pub(super) fn try_with<R>(f: impl FnOnce(&Context) -> R) -> Option<R> {
        CONTEXT.try_with(f).ok()
    }

    /// Exchanges it with another's, for a host that plays several threads by one.
    pub(super) fn swap(&self, other: &Context) {
        let Context {
            cores,
            sim,
            number: _,
            runtime_id,
            callback,
            unwound,
            collected,
            locks,
            spawned_at,
            running,
            stopped,
            spare: _,
        } = other;
        self.cores.swap(cores);
        self.sim.swap(sim);
        self.runtime_id.swap(runtime_id);
        self.callback.swap(callback);
        self.unwound.swap(unwound);
        self.collected.swap(collected);
        self.locks.swap(locks);
        self.spawned_at.swap(spawned_at);
        self.running.swap(running);
        self.stopped.swap(stopped);
    }

    // What runs here.

    /// What this thread is on the host `H`.
    #[inline(always)]
    pub(super) fn role<H: OnHost>(&self) -> &ThreadRole<H> {
        H::role(self)
    }

    /// It has this P from now on.
    #[inline]
    pub(super) fn takes<H: OnHost>(&self, current: CurrentWorker<H>) -> Role<H> {
        current.shared().detached_tasks.has(current.p(), self.number.get());
        H::role(self).replace(Role::Running(current))
    }

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
            let g = context.running.get() as u64;
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
        Context::try_with(|context| context.running.get() == waker.data().addr()) == Some(true)
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
        let is = |context: &Context| context.callback.get() == of || context.stopped.get() == of;
        Context::current() == of || Context::try_with(is) == Some(true)
    }

    // What becomes runnable.

    /// Takes a task of `runtime_id` that became runnable, if this is a place for it: under the P that this thread holds it is
    /// the next to run, or, if it `yields`, the last; found by a source, it is that source's.
    #[inline]
    pub(super) fn ready(runtime_id: RuntimeId, task: Task, yields: bool) -> Option<Task> {
        let mut task = Some(task);
        Context::try_with(|context| {
            let collected = &context.collected;
            context.cores.try_with_mut(|role| queue(role, runtime_id, &mut task, yields, collected));
            if task.is_some() {
                simulated(|| context.sim.try_with_mut(|role| queue(role, runtime_id, &mut task, yields, collected)));
            }
        });
        task
    }

    /// Runs `f`, which wakes tasks of `runtime_id`, and gives those to `put`. The thread runs no task meanwhile.
    pub(super) fn collect<H: OnHost>(runtime_id: RuntimeId, put: &mut dyn FnMut(Task), f: impl FnOnce()) {
        Context::try_with(|context| {
            let role = H::role(context);
            let before = role.replace(Role::Other(Beside::Collecting(runtime_id)));
            f();
            role.replace(before);
            // Not under the borrow: `put` is anybody's. The room is used again.
            let mut tasks = context.collected.take();
            tasks.drain(..).for_each(put);
            context.collected.replace(tasks);
        });
    }

    // The P.

    /// The P of the task that this thread runs, taken; to be given back by [`set_current_worker`](Context::set_current_worker).
    /// If the task was preempted, and lost it, it waits for its turn first. `None`: there is none to take.
    pub(in crate::runtime) fn take_current_worker<H: OnHost>() -> Option<CurrentWorker<H>> {
        Context::try_with(|context| H::role(context).take(InSyscall::reattach)).flatten()
    }

    /// The task that this thread runs has a P again.
    pub(in crate::runtime) fn set_current_worker<H: OnHost>(current: CurrentWorker<H>) {
        Context::try_with(|context| drop(context.takes(current)));
    }

    /// The task that this thread runs has stopped the world, and its P is held.
    pub(in crate::runtime) fn becomes_stopper<H: OnHost>(sched: &Scheduler<H>) {
        let stopper = Role::Other(Beside::Stopper(H::tasks(sched.clone())));
        Context::try_with(|context| drop(H::role(context).replace(stopper)));
    }

    /// The runtime whose world this thread has stopped.
    pub(in crate::runtime) fn stopped() -> Option<RuntimeId> {
        Context::try_with(|context| context.stopped.get()).flatten()
    }

    /// This thread has stopped this runtime's world; or no longer.
    pub(in crate::runtime) fn set_stopped(runtime_id: Option<RuntimeId>) {
        Context::try_with(|context| context.stopped.set(runtime_id));
    }

    /// How may the code on this thread wait, if it could leave the thread, as far as it is concerned? Not inlined: a goroutine
    /// may be on another thread the next time, and the address of a thread local must not be kept meanwhile.
    #[inline(never)]
    pub(in crate::runtime) fn waits(could_leave: bool) -> Waits {
        let waits = |context: &Context| {
            let could_leave = could_leave && !context.locks.get().is_locked();
            match context.cores.waits(could_leave) {
                Waits::WithoutP => simulated(|| context.sim.waits(could_leave)),
                waits => waits,
            }
        };
        Context::try_with(waits).unwrap_or(Waits::WithoutP)
    }

    /// Is preemption of the task requested that this thread runs? What never waits, because there is always something ready,
    /// asks before each try.
    #[inline(never)] // see `waits`
    pub(in crate::runtime) fn is_asked_to_yield() -> bool {
        Context::try_with(|context| role!(context, role => is_asked_to_yield(role))).flatten() == Some(true)
    }

    /// The same, on the host `H`. `None`: there is nobody to ask.
    #[inline(never)] // see `waits`
    pub(super) fn is_asked_on<H: OnHost>() -> Option<bool> {
        let is_asked = |role: &Role<H>| match role {
            Role::Outside => None,
            role => Some(is_asked_to_yield(role)),
        };
        Context::try_with(|context| context.role::<H>().with(is_asked)).flatten()
    }

    /// Does a task run here, with a P of its own or without, that is on the host `H`?
    pub(super) fn runs_on<H: OnHost>() -> bool {
        let runs = |role: &Role<H>| matches!(role, Role::Running(_) | Role::Detached(_));
        Context::try_with(|context| context.role::<H>().with(runs)) == Some(true)
    }

    // Bound to the thread.

    /// Changes how often the task is bound to this thread; a foreign binding is nobody's.
    pub(in crate::runtime) fn change_locks(change: fn(&mut Locks)) {
        Context::try_with(|context| {
            let mut now = context.locks.get();
            change(&mut now);
            context.locks.set(now);
        });
    }

    /// Is the task bound to this thread, which may be changed in ways that a new thread would inherit?
    pub(in crate::runtime) fn is_locked() -> bool {
        Context::try_with(|context| context.locks.get().is_locked()) == Some(true)
    }
}
