//! What a thread is to a runtime: the one thread local, and what is asked of it.
//!
//! ```text
//!   spawn, checkpoint, syscall, wait, … ──► CONTEXT ──► the role on Cores: a task of a real runtime runs here
//!                                                 └···► the role on Sim: only if there is none on Cores
//! ```
//!
//! A thread has a role for each host. What finds a real task here is done with that: only a thread that runs none is asked
//! whether it is simulated. A simulated thread runs no task of a real runtime: so a thread never has both.

mod current;
pub(in crate::runtime::exec) mod locks;

use crate::host::Host;
use crate::kernel::protocol::role::{self, RoleCell};
use crate::runtime::exec::context::locks::Locks;
use crate::runtime::exec::current_worker::{CurrentWorker, InSyscall};
use crate::runtime::exec::goroutine::stack::Stack;
use crate::runtime::exec::scheduler::Scheduler;
use crate::runtime::exec::task::Task;
use crate::runtime::exec::tasks::Tasks;
use crate::runtime::host::cores::Cores;
use crate::runtime::host::sim::sim_host::Sim;
use crate::runtime::host::thread_state::thread_state;
use crate::runtime::id::RuntimeId;
use core::cell::{Cell, RefCell};
use core::mem;
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
    pub(in crate::runtime::exec) cores: ThreadRole<Cores>,
    pub(in crate::runtime::exec) sim: ThreadRole<Sim>,
    /// As the system calls it.
    pub(in crate::runtime::exec) number: Cell<i32>,
    /// The runtime whose tasks it runs: an M's thread.
    pub(in crate::runtime::exec) runtime_id: Cell<Option<RuntimeId>>,
    /// The runtime of which it runs a closure that is no task, for a P, or while there is nothing else to do; or a waker that is not ours. And
    /// would a stop of its world wait for that?
    pub(in crate::runtime::exec) callback: Cell<Option<(RuntimeId, bool)>>,
    /// How often its task was unwound because its runtime is shut down, and went on.
    pub(in crate::runtime::exec) unwound: Cell<u32>,
    /// What became runnable while it polls sources for work.
    collected: RefCell<Collected>,
    /// How often the task is bound to this thread.
    pub(in crate::runtime::exec) locks: Cell<Locks>,
    /// Where the task was spawned.
    pub(in crate::runtime::exec) spawned_at: Cell<Option<&'static Location<'static>>>,
    /// The runtime whose world this thread has stopped.
    pub(in crate::runtime::exec) stopped: Cell<Option<RuntimeId>>,
    /// The stack of the goroutine that has ended here last, for the next.
    pub(in crate::runtime::exec) spare: Cell<Option<(RuntimeId, Stack)>>,
}

thread_state!(
    static CONTEXT: Context = Context::new();
);

impl Drop for Context {
    /// A thread that ends is outside of all tasks; but `exit` in a task ends the process, thread locals first: that P is needed no more.
    fn drop(&mut self) {
        mem::forget(self.cores.replace(Role::Outside));
    }
}

/// What became runnable while a thread polls.
struct Collected {
    tasks: Vec<Task>,
    /// Of the code that polls, and would end its wait at the first.
    waker: Option<Waker>,
}

/// There is no real task here.
#[cold]
#[inline(never)]
pub(in crate::runtime::exec) fn simulated<R>(f: impl FnOnce() -> R) -> R {
    f()
}

/// Queues the task, if this is a place for tasks of `runtime_id`.
#[inline(always)]
fn queue<H: Host>(role: &mut Role<H>, of: RuntimeId, task: &mut Option<Task>, yields: bool, list: &RefCell<Collected>) {
    match role {
        Role::Running(current) if current.shared().runtime_id == of => match task.take() {
            // Its slice is over: behind all others. Go: `gopreempt_m`.
            Some(task) if yields && current.is_preempted() => current.gosched(task),
            Some(task) if yields => current.goyield(task),
            Some(task) => current.ready(task),
            None => (),
        },
        Role::Other(Beside::Collecting(collecting)) if *collecting == of => collect(task, list),
        _ => (),
    }
}

#[cold]
#[inline(never)]
fn collect(task: &mut Option<Task>, list: &RefCell<Collected>) {
    let mut list = list.borrow_mut();
    list.tasks.extend(task.take());
    if let Some(waker) = list.waker.take() {
        waker.wake();
    }
}

impl Context {
    pub(in crate::runtime::exec) const fn new() -> Context {
        Context {
            cores: RoleCell::new(AtomicU64::new(0)),
            sim: RoleCell::new(AtomicU64::new(0)),
            number: Cell::new(0),
            runtime_id: Cell::new(None),
            callback: Cell::new(None),
            unwound: Cell::new(0),
            collected: RefCell::new(Collected { tasks: Vec::new(), waker: None }),
            locks: Cell::new(Locks::NONE),
            spawned_at: Cell::new(None),
            stopped: Cell::new(None),
            spare: Cell::new(None),
        }
    }

    /// This thread's. `None`: it is ending.
    #[inline(always)]
    pub(in crate::runtime::exec) fn try_with<R>(f: impl FnOnce(&Context) -> R) -> Option<R> {
        CONTEXT::with(f)
    }

    /// The same, for a function that is not inlined.
    #[inline(always)]
    pub(in crate::runtime::exec) fn in_place<R>(f: impl FnOnce(&Context) -> R) -> Option<R> {
        CONTEXT::in_place(f)
    }

    /// What this thread is on the host `H`.
    #[inline(always)]
    pub(in crate::runtime::exec) fn role<H: OnHost>(&self) -> &ThreadRole<H> {
        H::role(self)
    }

    /// It has this P from now on.
    #[inline]
    pub(in crate::runtime::exec) fn takes<H: OnHost>(&self, current: CurrentWorker<H>) -> Role<H> {
        current.shared().detached_tasks.has(current.p(), self.number.get());
        H::role(self).replace(Role::Running(current))
    }

    /// Takes a task of `runtime_id` that became runnable, if this is a place for it: under the P that this thread holds it is
    /// the next to run, or, if it `yields`, the last; found by a source, it is that source's. For a function that is not inlined.
    #[inline]
    pub(in crate::runtime::exec) fn ready(runtime_id: RuntimeId, task: Task, yields: bool) -> Option<Task> {
        let mut task = Some(task);
        Context::in_place(|context| {
            let collected = &context.collected;
            context.cores.try_with_mut(|role| queue(role, runtime_id, &mut task, yields, collected));
            if task.is_some() {
                simulated(|| context.sim.try_with_mut(|role| queue(role, runtime_id, &mut task, yields, collected)));
            }
        });
        task
    }

    /// If this thread runs a preempted task of `runtime_id`, that goes on under an idle P. `false`: there is no such task, or no
    /// P is idle.
    #[cold]
    pub(in crate::runtime::exec) fn try_reattach<H: OnHost>(runtime_id: RuntimeId) -> bool {
        let is_lost =
            |role: &mut Role<H>| matches!(role, Role::Detached(left) if left.shared().runtime_id == runtime_id);
        let reattach = |context: &Context| match H::role(context).replace(Role::Outside) {
            Role::Detached(left) => match left.try_reattach() {
                Ok(current) => {
                    drop(context.takes(current));
                    true
                }
                Err(left) => {
                    drop(H::role(context).replace(Role::Detached(left)));
                    false
                }
            },
            other => {
                drop(H::role(context).replace(other));
                false
            }
        };
        // A caller further up may work with the role: then it stays as it is.
        Context::try_with(|context| H::role(context).try_with_mut(is_lost) == Some(true) && reattach(context))
            == Some(true)
    }

    /// Runs `f`, which wakes tasks of `runtime_id`, and gives those to `put`. The thread runs no task meanwhile.
    pub(in crate::runtime::exec) fn collect<H: OnHost>(
        runtime_id: RuntimeId,
        put: &mut dyn FnMut(Task),
        f: impl FnOnce(),
    ) {
        Context::try_with(|context| {
            let role = H::role(context);
            let before = role.replace(Role::Other(Beside::Collecting(runtime_id)));
            f();
            role.replace(before);
            // Not under the borrow: `put` is anybody's. The room is used again.
            let mut tasks = {
                let mut collected = context.collected.borrow_mut();
                collected.waker = None;
                mem::take(&mut collected.tasks)
            };
            tasks.drain(..).for_each(put);
            context.collected.borrow_mut().tasks = tasks;
        });
    }

    /// Was one collected already? If not, the first that is wakes this waker, unless the collection ends before.
    #[cfg(feature = "tokio-context")]
    pub(in crate::runtime) fn collect_with(waker: &Waker) -> bool {
        let waits = |context: &Context| {
            let mut collected = context.collected.borrow_mut();
            let is_any = !collected.tasks.is_empty();
            collected.waker = if is_any { None } else { Some(waker.clone()) };
            is_any
        };
        Context::try_with(waits) == Some(true)
    }

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

    /// Changes how often the task is bound to this thread; a foreign binding is ignored.
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
