//! An M's life: find a task, run it, over and over; and what a task can ask of the thread it runs on.
//!
//! Go: `mstart`, `schedule`, `execute`, `newproc`.

use crate::host::Nanos;
use crate::kernel::protocol::locked::{self, Woken};
use crate::kernel::protocol::role::{self, RoleCell, Waits};
use crate::kernel::types::g::G;
use crate::kernel::types::m::MId;
use crate::kernel::types::p::PId;
use crate::runtime::Cores;
use crate::runtime::exec::entered;
use crate::runtime::exec::goroutine;
use crate::runtime::exec::goroutine::stack::{Stack, Stacks};
use crate::runtime::exec::join::JoinHandle;
use crate::runtime::exec::owned::{OwnedTasks, guarded};
use crate::runtime::exec::registry::RuntimeId;
use crate::runtime::exec::task::{CurrentWorker, InSyscall, Task, Tasks};
use crate::runtime::exec::thread_lock::Locks;
use crate::runtime::exec::wait_graph::{Deadlock, WaitingTask};
use crate::runtime::host::signal;
use crate::runtime::host::sim;
use crate::runtime::host::thread_config::Present;
use crate::runtime::observe::watch;
use core::cell::{Cell, RefCell};
use core::fmt;
use core::future::Future;
use core::panic::Location;
use core::pin::Pin;
use core::sync::atomic::AtomicU64;
use core::task::{Context, Poll, Waker};
use std::io;
use std::sync::Arc;
use std::task::Wake;

/// What this thread is to a runtime.
pub(in crate::runtime) type Role = role::Role<CurrentWorker, InSyscall, Beside>;

/// What a thread can be to a runtime besides running one of its tasks.
pub(in crate::runtime) enum Beside {
    /// It runs a task that has stopped the world, and has no P.
    Stopper(Tasks),
    /// It runs the future of a `block_on`, or something else that is inside the runtime and no task.
    Guest(Tasks),
    /// It asks the sources of this runtime for work: what becomes runnable meanwhile is theirs.
    Collecting(RuntimeId),
}

/// Whose task, or guest, is here?
fn tasks_of(role: &Role) -> Option<&Tasks> {
    match role {
        Role::Outside | Role::Other(Beside::Collecting(_)) => None,
        Role::Running(current) => Some(current.tasks()),
        Role::Detached(left) | Role::InSyscall(left) => Some(left.tasks()),
        Role::Other(Beside::Stopper(tasks) | Beside::Guest(tasks)) => Some(tasks),
    }
}

/// What a thread knows of itself.
pub(in crate::runtime) struct Thread {
    role: RoleCell<Cores, CurrentWorker, InSyscall, Beside>,
    /// As the system calls it.
    number: Cell<i32>,
    /// The runtime whose tasks it runs: an M's thread.
    runtime_id: Cell<Option<RuntimeId>>,
    /// The runtime of which it runs a closure that is no task: for a P, or while there is nothing else to do.
    callback: Cell<Option<RuntimeId>>,
    /// How often its task was unwound because its runtime is shut down, and went on.
    unwound: Cell<u32>,
    /// What became runnable while it asks sources for work.
    collected: RefCell<Vec<Task>>,
    /// How often the task is bound to this thread.
    locks: Cell<Locks>,
    /// Where the task was spawned.
    spawned_at: Cell<Option<&'static Location<'static>>>,
    /// What the wakers of the task carry that it runs, or 0.
    running: Cell<usize>,
    /// The runtime whose world this thread has stopped.
    stopped: Cell<Option<RuntimeId>>,
    /// The stack of the goroutine that has ended here last, for the next.
    spare: Cell<Option<(RuntimeId, Stack)>>,
}

impl Thread {
    const fn new() -> Thread {
        Thread {
            role: RoleCell::new(AtomicU64::new(0)),
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
}

thread_local! {
    static THREAD: Thread = const { Thread::new() };
}

/// What a simulated thread knows of itself, while another runs.
pub(in crate::runtime) struct SavedThreadState(Thread, Cell<goroutine::Current>);

impl Default for SavedThreadState {
    fn default() -> SavedThreadState {
        SavedThreadState(Thread::new(), Cell::new(core::ptr::null()))
    }
}

impl SavedThreadState {
    /// Exchanges it with what the thread knows that plays it.
    pub(in crate::runtime) fn swap(&self) {
        self.1.set(goroutine::exchange(self.1.get()));
        let Thread {
            role,
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
        } = &self.0;
        let _ = THREAD.try_with(|thread| {
            thread.role.swap(role);
            thread.runtime_id.swap(runtime_id);
            thread.callback.swap(callback);
            thread.unwound.swap(unwound);
            thread.collected.swap(collected);
            thread.locks.swap(locks);
            thread.spawned_at.swap(spawned_at);
            thread.running.swap(running);
            thread.stopped.swap(stopped);
        });
    }
}

/// Runs tasks until the scheduler is closed, or a task ends that is still bound to the thread.
pub(in crate::runtime) fn live(current: CurrentWorker) {
    let _room = signal::Stack::of_this_thread();
    let _here = Present::new(current.tasks());
    let runtime_id = Some(current.tasks().runtime_id());
    THREAD.with(|thread| {
        thread.runtime_id.set(runtime_id);
        thread.number.set(signal::this_thread());
    });
    // Where threads are played by one, none of them is signalled.
    let _heard = (!sim::is_here()).then(|| THREAD.with(|thread| signal::Heard::new(thread, goroutine::place())));
    let _watched =
        current.tasks().shared().is_watched().then(|| watch::Present::new(current.tasks().runtime_id(), current.m()));
    // Once, not at each task.
    match current.tasks().shared().is_seen() || sim::is_here() {
        false => THREAD.with(|thread| thread.live::<false>(current)),
        true => THREAD.with(|thread| thread.live::<true>(current)),
    }
    THREAD.with(Thread::put_spare);
}

impl Thread {
    fn live<const IS_SEEN: bool>(&self, mut current: CurrentWorker) {
        while let Some((next, task, address)) = current.next() {
            self.takes(next);
            self.run::<IS_SEEN>(task, address);
            // As long as there are tasks of the same P, it stays where it is.
            while !self.locks.get().is_locked()
                && let Some((task, address)) = self.next_local()
            {
                self.run::<IS_SEEN>(task, address);
            }
            let mine =
                self.role.take(InSyscall::reattach).unwrap_or_else(|| unreachable!("worker: no P after the task"));
            if self.locks.get().is_locked() {
                // Stays locked to its end: the thread that takes its P over is started from a clean one.
                return mine.end();
            }
            current = mine;
        }
    }

    #[inline]
    fn run<const IS_SEEN: bool>(&self, task: Task, address: usize) {
        if IS_SEEN && sim::is_here() && sim::dispatch(address) {
            return self.run_later(task);
        }
        self.spawned_at.set(Some(task.spawned_at()));
        self.running.set(address);
        self.unwound.set(0);
        let timed = if IS_SEEN { self.is_seen(address) } else { None };
        guarded(|| task.run());
        self.running.set(0);
        if let Some(since) = timed {
            self.with_current_worker(|current| current.ended(since));
        }
    }

    /// The task at this address is about to run, and somebody wants to know. `Some`: tell when it has.
    fn is_seen(&self, address: usize) -> Option<Nanos> {
        watch::begins();
        self.with_current_worker(|current| current.begins(address as u64))
    }

    /// It has this P from now on.
    #[inline]
    fn takes(&self, current: CurrentWorker) -> Role {
        current.tasks().shared().detached_tasks.has(current.p(), self.number.get());
        self.role.replace(Role::Running(current))
    }

    /// A seed says that others come first: those of the same P, or all.
    fn run_later(&self, task: Task) {
        self.role.try_with_mut(|role| {
            if let Role::Running(current) = role {
                match sim::choose(2) {
                    0 => current.goyield(task),
                    _ => current.gosched(task),
                }
            }
        });
    }

    fn with_current_worker<R: Default>(&self, f: impl FnOnce(&CurrentWorker) -> R) -> R {
        self.role.with(|role| match role {
            Role::Running(current) => f(current),
            _ => R::default(),
        })
    }

    /// The thread needs it no more.
    fn put_spare(&self) {
        if let Some((runtime_id, stack)) = self.spare.take() {
            put_into_stacks(runtime_id, stack);
        }
    }

    #[inline]
    fn next_local(&self) -> Option<(Task, usize)> {
        self.role.with(|role| match role {
            Role::Running(current) => current.next_local(),
            _ => None,
        })
    }
}

/// A task of `runtime_id` became runnable. Under the P that this thread holds it is the next to run, or, if it `yields`, the
/// last; found by a source, it is that source's; else it goes to the global queue. After the end it is dropped.
pub(in crate::runtime) fn schedule(runtime_id: RuntimeId, task: Task, yields: bool) {
    let mut task = Some(task);
    let here = |thread: &Thread| {
        thread.role.try_with_mut(|role| match role {
            Role::Running(current) if current.tasks().runtime_id() == runtime_id => match task.take() {
                Some(task) if yields => current.goyield(task),
                Some(task) => current.ready(task),
                None => (),
            },
            Role::Other(Beside::Collecting(of)) if *of == runtime_id => {
                thread.collected.borrow_mut().extend(task.take())
            }
            _ => (),
        })
    };
    let _ = THREAD.try_with(here);
    if let Some(task) = task {
        let tasks = runtime_id.find();
        let submitted = match &tasks {
            Some(tasks) => tasks.submit(task),
            None => Err(task),
        };
        if let Err(task) = submitted {
            // Closed: the task ends here, and its destructors inside the runtime, if that is still there.
            let _inside = tasks.as_ref().filter(|_| current().is_none()).map(enter);
            watch::drop_another(task);
        }
    }
}

/// Runs `f`, which wakes tasks of `runtime_id`, and gives those to `put`. The thread runs no task meanwhile.
pub(in crate::runtime) fn collect(runtime_id: RuntimeId, put: &mut dyn FnMut(G), f: impl FnOnce()) {
    let collecting = |thread: &Thread| {
        let before = thread.role.replace(Role::Other(Beside::Collecting(runtime_id)));
        f();
        thread.role.replace(before);
        // Not under the borrow: `put` is anybody's. The room is used again.
        let mut tasks = thread.collected.take();
        tasks.drain(..).for_each(|task| put(task.into_g()));
        thread.collected.replace(tasks);
    };
    let _ = THREAD.try_with(collecting);
}

/// What runs on this thread is inside this runtime, and is no task, as long as this lives. For a thread that holds no P.
pub(in crate::runtime) struct Inside(Option<Role>);

pub(in crate::runtime) fn enter(tasks: &Tasks) -> Inside {
    Inside(THREAD.try_with(|thread| thread.role.replace(Role::Other(Beside::Guest(tasks.clone())))).ok())
}

impl Drop for Inside {
    fn drop(&mut self) {
        if let Some(before) = self.0.take() {
            let _ = THREAD.try_with(|thread| drop(thread.role.replace(before)));
        }
    }
}

/// A closure of the user's that is no task runs on this thread, on behalf of this runtime, as long as this lives.
pub(in crate::runtime) struct Callback(Option<RuntimeId>);

impl Callback {
    pub(in crate::runtime) fn of(runtime_id: RuntimeId) -> Callback {
        Callback(THREAD.try_with(|thread| thread.callback.replace(Some(runtime_id))).ok().flatten())
    }
}

impl Drop for Callback {
    fn drop(&mut self) {
        let _ = THREAD.try_with(|thread| thread.callback.set(self.0));
    }
}

/// Would this runtime wait for this thread, if it were shut down here?
pub(in crate::runtime) fn is_part_of(runtime_id: RuntimeId) -> bool {
    let is = |thread: &Thread| thread.callback.get() == Some(runtime_id) || thread.stopped.get() == Some(runtime_id);
    current() == Some(runtime_id) || THREAD.try_with(is) == Ok(true)
}

/// Does this thread run tasks: of this runtime, or of any?
pub(in crate::runtime) fn is_m_of(runtime_id: Option<RuntimeId>) -> bool {
    let is = |thread: &Thread| {
        thread.runtime_id.get().is_some_and(|mine| runtime_id.is_none_or(|runtime_id| mine == runtime_id))
    };
    THREAD.try_with(is) == Ok(true)
}

/// Runs `f` with the owned tasks of this runtime and the row that is this thread's. `None`: the runtime is gone.
#[inline]
pub(in crate::runtime) fn with_owned_tasks<R>(
    runtime_id: RuntimeId,
    f: impl FnOnce(&OwnedTasks, usize) -> R,
) -> Option<R> {
    let mut f = Some(f);
    let here = with_own(|tasks, p| {
        if tasks.runtime_id() != runtime_id {
            return None;
        }
        f.take().map(|f| f(&tasks.shared().owned_tasks, p.map_or(0, |p| p.0 as usize)))
    });
    if let Some(done) = here.flatten() {
        return Some(done);
    }
    let tasks = runtime_id.find()?;
    f.take().map(|f| f(&tasks.shared().owned_tasks, 0))
}

/// Runs `f` with this runtime, if it lives.
pub(in crate::runtime) fn with_runtime(runtime_id: RuntimeId, f: impl FnOnce(&Tasks)) {
    let mut f = Some(f);
    let mut here = |tasks: &Tasks| {
        if tasks.runtime_id() == runtime_id
            && let Some(f) = f.take()
        {
            f(tasks);
        }
    };
    with_own(|tasks, _| here(tasks));
    if let (Some(f), Some(tasks)) = (f, runtime_id.find()) {
        f(&tasks);
    }
}

/// Runs `f` with the runtime whose task this thread runs, the M that it is, the P that it holds, and the number of the
/// task.
pub(in crate::runtime) fn with_running(f: impl FnOnce(&Tasks, MId, Option<PId>, u64)) {
    let _ = THREAD.try_with(|thread| {
        let g = thread.running.get() as u64;
        thread.role.with(|role| match role {
            Role::Running(current) if g != 0 => f(current.tasks(), current.m(), Some(current.p()), g),
            Role::Detached(left) | Role::InSyscall(left) if g != 0 => f(left.tasks(), left.m(), None, g),
            _ => (),
        });
    });
}

/// Is it the waker of the task that this thread runs?
pub(in crate::runtime) fn is_running(waker: &Waker) -> bool {
    THREAD.try_with(|thread| thread.running.get()).is_ok_and(|running| running == waker.data().addr())
}

/// Where the task was spawned that this thread runs.
pub(in crate::runtime) fn spawned_at() -> Option<&'static Location<'static>> {
    THREAD.try_with(|thread| thread.spawned_at.get()).ok().flatten()
}

/// The task was spawned there that this thread runs from now on; returns where the one before was.
pub(in crate::runtime) fn set_spawned_at(at: Option<&'static Location<'static>>) -> Option<&'static Location<'static>> {
    THREAD.try_with(|thread| thread.spawned_at.replace(at)).ok().flatten()
}

/// Runs `f` with the runtime whose task this thread runs, and the P that it holds; or with the one it has entered.
pub(in crate::runtime) fn with_tasks<R>(f: impl FnOnce(&Tasks, Option<PId>) -> R) -> Option<R> {
    let mut f = Some(f);
    let done = with_own(|tasks, p| f.take().map(|f| f(tasks, p))).flatten();
    match f {
        None => done,
        Some(f) => entered::last().map(|tasks| f(&tasks, None)),
    }
}

/// Runs `f` with the runtime whose task this thread runs, and the P that it holds.
fn with_own<R>(f: impl FnOnce(&Tasks, Option<PId>) -> R) -> Option<R> {
    let run = |thread: &Thread| {
        thread.role.with(|role| {
            let p = if let Role::Running(current) = role { Some(current.p()) } else { None };
            tasks_of(role).map(|tasks| f(tasks, p))
        })
    };
    THREAD.try_with(run).ok().flatten()
}

/// Changes how often the task is bound to this thread; a foreign binding is nobody's.
pub(in crate::runtime) fn change_locks(change: fn(&mut Locks)) {
    let _ = THREAD.try_with(|thread| {
        let mut now = thread.locks.get();
        change(&mut now);
        thread.locks.set(now);
    });
}

/// This thread's task has run for a whole slice, and ignores preemption: if it runs its own code under its P, it goes on
/// without. In a signal handler on this thread: see [`signal`](crate::runtime::host::signal).
pub(in crate::runtime) fn interrupt(thread: &Thread) {
    thread.role.interrupt(|current| match current.is_preempted() && current.can_detach() {
        true => Ok(current.interrupt()),
        false => Err(current),
    });
}

/// How may the code on this thread wait, if it could leave the thread, as far as it is concerned? Not inlined: a goroutine
/// may be on another thread the next time, and the address of a thread local must not be kept meanwhile.
#[inline(never)]
pub(in crate::runtime) fn waits(could_leave: bool) -> Waits {
    let waits = |thread: &Thread| thread.role.waits(could_leave && !thread.locks.get().is_locked());
    THREAD.try_with(waits).unwrap_or(Waits::WithoutP)
}

/// Is the task bound to this thread, which may be changed in ways that a new thread would inherit?
pub(in crate::runtime) fn is_locked() -> bool {
    THREAD.try_with(|thread| thread.locks.get().is_locked()) == Ok(true)
}

/// A stack for a goroutine of the runtime `runtime_id`. `None`: that is gone, or its closures run on their threads' own.
pub(in crate::runtime) fn take_stack(runtime_id: RuntimeId) -> Option<io::Result<Stack>> {
    match THREAD.try_with(|thread| thread.spare.take()) {
        Ok(Some((of, stack))) if of == runtime_id => return Some(Ok(stack)),
        Ok(Some((of, stack))) => put_into_stacks(of, stack),
        _ => (),
    }
    with_stacks(runtime_id, Stacks::take)
}

/// Nobody uses it any more.
pub(in crate::runtime) fn put_stack(runtime_id: RuntimeId, stack: Stack) {
    let mut unused = Some((runtime_id, stack));
    // Who runs tasks is asked for a stack again; and gives this one back in the end.
    let _ = THREAD.try_with(|thread| {
        if thread.running.get() != 0 {
            unused = thread.spare.replace(unused.take());
        }
    });
    if let Some((runtime_id, stack)) = unused {
        put_into_stacks(runtime_id, stack);
    }
}

/// If the runtime is gone, the stack ends here.
fn put_into_stacks(runtime_id: RuntimeId, stack: Stack) {
    with_stacks(runtime_id, |stacks, row| stacks.put(row, stack));
}

/// Runs `f` with the stacks of this runtime and the row that is this thread's. `None`: the runtime is gone, or has none.
fn with_stacks<R>(runtime_id: RuntimeId, f: impl FnOnce(&Stacks, usize) -> R) -> Option<R> {
    let mut f = Some(f);
    let here = with_own(|tasks, p| match tasks.runtime_id() == runtime_id {
        true => f.take().and_then(|f| Some(f(tasks.shared().stacks.as_deref()?, p.map_or(0, PId::index)))),
        false => None,
    });
    match (here.flatten(), f) {
        (Some(done), _) => Some(done),
        (None, Some(f)) => runtime_id.find().and_then(|tasks| Some(f(tasks.shared().stacks.as_deref()?, 0))),
        (None, None) => None,
    }
}

/// The P of the task that this thread runs, taken; to be given back by [`set_current_worker`]. If the task was preempted, and lost
/// it, it waits for its turn first. `None`: there is none to take.
pub(in crate::runtime) fn take_current_worker() -> Option<CurrentWorker> {
    THREAD.try_with(|thread| thread.role.take(InSyscall::reattach)).ok().flatten()
}

/// The task that this thread runs has a P again.
pub(in crate::runtime) fn set_current_worker(current: CurrentWorker) {
    let _ = THREAD.try_with(|thread| drop(thread.takes(current)));
}

/// The task that this thread runs has stopped the world, and its P is held.
pub(in crate::runtime) fn becomes_stopper(tasks: &Tasks) {
    let _ = THREAD.try_with(|thread| drop(thread.role.replace(Role::Other(Beside::Stopper(tasks.clone())))));
}

/// The M of the task that this thread runs, and the P, if it holds one.
pub(in crate::runtime) fn place() -> Option<(MId, Option<PId>)> {
    let place = |role: &Role| match role {
        Role::Running(current) => Some((current.m(), Some(current.p()))),
        Role::Detached(left) | Role::InSyscall(left) => Some((left.m(), None)),
        _ => None,
    };
    THREAD.try_with(|thread| thread.role.with(place)).ok().flatten()
}

/// Which runtime's task this thread runs, if any's.
pub(in crate::runtime) fn current() -> Option<RuntimeId> {
    THREAD.try_with(|thread| thread.role.with(|role| tasks_of(role).map(Tasks::runtime_id))).ok().flatten()
}

/// Does this thread run a task of this runtime, and hold its P?
pub(in crate::runtime) fn holds_p_of(runtime_id: RuntimeId) -> bool {
    let is = |role: &Role| matches!(role, Role::Running(current) if current.tasks().runtime_id() == runtime_id);
    THREAD.try_with(|thread| thread.role.with(is)) == Ok(true)
}

/// The runtime whose task this thread runs.
pub(in crate::runtime) fn current_tasks() -> Option<Tasks> {
    THREAD.try_with(|thread| thread.role.with(|role| tasks_of(role).cloned())).ok().flatten()
}

/// The same, or the one that this thread has entered.
pub(in crate::runtime) fn around() -> Option<Tasks> {
    current_tasks().or_else(entered::last)
}

/// The runtime whose world this thread has stopped.
pub(in crate::runtime) fn stopped() -> Option<RuntimeId> {
    THREAD.try_with(|thread| thread.stopped.get()).ok().flatten()
}

/// This thread has stopped this runtime's world; or no longer.
pub(in crate::runtime) fn set_stopped(runtime_id: Option<RuntimeId>) {
    let _ = THREAD.try_with(|thread| thread.stopped.set(runtime_id));
}

/// Gets the P back when it is dropped, if there was one to leave.
pub(in crate::runtime) struct Return;

impl Return {
    /// Leaves the P, if the thread holds one.
    #[inline]
    pub(in crate::runtime) fn after_leaving(known_to_block: bool) -> Option<Return> {
        let leave = |thread: &Thread| {
            let stays = |left: InSyscall| left.enter_syscall(known_to_block);
            thread.role.enter_syscall(|current| current.leave(known_to_block), stays).then(|| Return)
        };
        THREAD.try_with(leave).ok().flatten()
    }
}

impl Drop for Return {
    #[inline]
    fn drop(&mut self) {
        let come_back = |thread: &Thread| {
            if let Some(current) = thread.role.exit_syscall(InSyscall::come_back) {
                thread.takes(current);
            }
        };
        let _ = THREAD.try_with(come_back);
    }
}

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
struct Waiter {
    tasks: Tasks,
    m: MId,
    waker: Waker,
}

impl Waiter {
    /// Of the task that this thread runs, which was found to wait by [`Waits::Block`].
    fn here() -> Waiter {
        let mine = |role: &Role| match role {
            Role::Running(current) => Some((current.tasks().clone(), current.m())),
            Role::Detached(left) => Some((left.tasks().clone(), left.m())),
            _ => None,
        };
        match THREAD.with(|thread| thread.role.with(mine)) {
            Some((tasks, m)) => {
                let waker = Waker::from(Arc::new(Bound { tasks: tasks.clone(), m }));
                Waiter { tasks, m, waker }
            }
            None => unreachable!("worker: what blocks with its P has none"),
        }
    }

    fn poll<F: Future>(&self, awaited: Pin<&mut F>) -> Poll<F::Output> {
        awaited.poll(&mut Context::from_waker(&self.waker))
    }

    /// Hands the P on, and sleeps until the waker was called, and there is a P again.
    fn park(&self, wake: locked::Wake, asleep: impl FnOnce(&Waiter)) -> Woken {
        // What is asked to yield may only have yielded: it is ready, and would find the same request for ever.
        checkpoint();
        let Some(current) = take_current_worker() else { unreachable!("worker: what blocks with its P has none") };
        asleep(self);
        let spawned_at = spawned_at();
        let (current, woken) = current.park(wake);
        set_current_worker(current);
        THREAD.with(|thread| thread.spawned_at.set(spawned_at));
        woken
    }
}

/// Waits, in a task that cannot leave its thread, for a task of the same runtime. The P is another's meanwhile.
pub(in crate::runtime) fn wait_inside<F: Future + Unpin>(
    awaited: &mut F,
    at: &'static Location<'static>,
    for_task: &'static Location<'static>,
) -> Result<F::Output, Unmet> {
    let waiter = Waiter::here();
    let (tasks, m) = (&waiter.tasks, waiter.m);
    let wait_graph = &tasks.shared().wait_graph;
    loop {
        if let Poll::Ready(output) = waiter.poll(Pin::new(awaited)) {
            return Ok(output);
        }
        let task = spawned_at().unwrap_or(for_task);
        let woken = waiter.park(locked::Wake::Inside, |_| wait_graph.put(m, WaitingTask { task, at, for_task }));
        let waits = if woken == Woken::Ready { Vec::new() } else { wait_graph.waits() };
        wait_graph.take(m);
        if woken == Woken::Ready {
            continue;
        }
        if let Poll::Ready(output) = waiter.poll(Pin::new(awaited)) {
            return Ok(output);
        }
        let threads = (woken == Woken::NoThread).then_some(tasks.config().max_ms);
        return Err(match woken {
            Woken::Closed => Unmet::Closed,
            _ => Unmet::Deadlock(Deadlock::of_waits(waits, threads, tasks.shared().owned_tasks.spawned_at())),
        });
    }
}

/// Waits, in a task that cannot leave its thread, for anything. The P is another's meanwhile. `None`: the runtime is shut
/// down.
pub(in crate::runtime) fn wait_bound<F: Future>(mut awaited: Pin<&mut F>) -> Option<F::Output> {
    let waiter = Waiter::here();
    loop {
        if let Poll::Ready(output) = waiter.poll(awaited.as_mut()) {
            return Some(output);
        }
        if waiter.park(locked::Wake::Outside, |_| ()) == Woken::Closed {
            return None;
        }
    }
}

/// What a task is unwound with that waits when its runtime is shut down.
pub(in crate::runtime) struct Unwound;

/// How often a task may catch that, and wait again. After that it is left where it is.
pub(in crate::runtime) const PATIENCE: u32 = 64;

/// The runtime is shut down, and the task that this thread runs waits with it: it is unwound. One that catches that and
/// waits again, over and over, is left where it is, and the thread with it.
#[cold]
pub(in crate::runtime) fn unwind() -> ! {
    let times = THREAD.try_with(|thread| thread.unwound.replace(thread.unwound.get().saturating_add(1)));
    if cfg!(panic = "unwind") && times.is_ok_and(|times| times < PATIENCE || sim::is_here()) {
        std::panic::resume_unwind(Box::new(Unwound));
    }
    if let Some(current) = THREAD.try_with(|thread| thread.role.exit_syscall(InSyscall::come_back)).ok().flatten() {
        set_current_worker(current);
    }
    if let Some(current) = take_current_worker() {
        current.tasks().shared().thread_config.forget_one();
        current.end();
    }
    loop {
        std::thread::park();
    }
}

/// Runs `future` as a new task, from inside of one. It is the next to run under this P.
///
/// # Panics
/// If the caller is no task of a [`Runtime`](crate::Runtime). Use [`Runtime::spawn`](crate::Runtime::spawn) or a
/// [`Handle`](crate::Handle) from other threads, or [`try_spawn`] if you cannot know.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    match try_spawn(future) {
        Ok(handle) => handle,
        Err(error) => panic!("spinpark::spawn was {error}"),
    }
}

/// Runs `future` as a new task, from inside of one. It is the next to run under this P.
///
/// # Errors
/// [`NotInRuntime`] if the caller is no task of a [`Runtime`](crate::Runtime). `future` is dropped.
#[track_caller]
pub fn try_spawn<F>(future: F) -> Result<JoinHandle<F::Output>, NotInRuntime>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    let runtime_id = current().or_else(|| entered::last().map(|tasks| tasks.runtime_id())).ok_or(NotInRuntime)?;
    let (task, awaited) = Task::new(runtime_id, future);
    schedule(runtime_id, task, false);
    Ok(JoinHandle::new(awaited, runtime_id))
}

/// Runs `f` as a goroutine, from inside a task. It is the next to run under this P. Go: `go f()`.
///
/// In it whatever can be awaited can be [waited](crate::Wait::wait) for. It runs on the stack of a thread, and **that thread
/// sleeps while it waits**: its P is handed on, so others run, but each goroutine that waits costs a thread, of which there
/// are [`max_threads`](crate::Builder::max_threads). Where many wait, use futures ([`spawn`]); or stacks of their own, as
/// Go has them, by [`stackful_goroutines`](crate::Builder::stackful_goroutines), which takes a promise.
///
/// If its runtime is shut down while it waits, it is unwound: what it owns is dropped, as by a panic. (With
/// `panic = "abort"` it is forgotten.) One with a stack of its own is so too when it is [aborted](JoinHandle::abort).
///
/// # Panics
/// If the caller is no task of a [`Runtime`](crate::Runtime). Use [`Runtime::go`](crate::Runtime::go) or a
/// [`Handle`](crate::Handle) from other threads, or [`try_go`] if you cannot know.
#[track_caller]
pub fn go<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    match try_go(f) {
        Ok(handle) => handle,
        Err(error) => panic!("spinpark::go was {error}"),
    }
}

/// Runs `f` as a new task, from inside one. It is the next to run under this P. Go: `go f()`.
///
/// # Errors
/// [`NotInRuntime`] if the caller is no task of a [`Runtime`](crate::Runtime). `f` is dropped.
#[track_caller]
pub fn try_go<F, T>(f: F) -> Result<JoinHandle<T>, NotInRuntime>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let runtime_id = current().or_else(|| entered::last().map(|tasks| tasks.runtime_id())).ok_or(NotInRuntime)?;
    let (task, awaited) = Task::of_closure(runtime_id, f);
    schedule(runtime_id, task, false);
    Ok(JoinHandle::new(awaited, runtime_id))
}

/// Makes way, if the task has run for long while others wait, or if somebody wants to stop the world. Costs a few
/// nanoseconds otherwise, so it can stand in the inner loop of a task that computes for long. Outside of a task it does
/// nothing.
///
/// One that never asks loses its P after 10 ms where the system can do that (see
/// [`Builder::preemption`](crate::Builder::preemption)), and goes on as one thread more; a
/// [`stop_the_world`](crate::Runtime::stop_the_world) has to wait for it.
#[inline]
pub fn checkpoint() {
    if is_asked_to_yield() || sim::yields() {
        yield_p();
    }
}

/// Is preemption of the task requested that this thread runs? What never waits, because there is always something ready,
/// asks before each try.
#[inline(never)] // see `waits`
pub(in crate::runtime) fn is_asked_to_yield() -> bool {
    let is_asked = |role: &Role| match role {
        Role::Running(current) => current.should_yield(),
        Role::Detached(_) => true,
        _ => false,
    };
    THREAD.try_with(|thread| thread.role.with(is_asked)) == Ok(true)
}

#[cold]
fn yield_p() {
    let _ = THREAD.try_with(|thread| match thread.role.replace(Role::Outside) {
        Role::Running(current) => drop(thread.takes(current.yield_p())),
        Role::Detached(left) => drop(thread.takes(left.reattach())),
        other => drop(thread.role.replace(other)),
    });
}

/// There is no runtime here: the thread does not run one of a runtime's tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotInRuntime;

impl fmt::Display for NotInRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "called outside of a task: call the method of the same name on a Runtime, or on a Handle, which any thread \
             may own; or call it inside a task",
        )
    }
}

impl core::error::Error for NotInRuntime {}
