//! An M's life: find a task, run it, over and over; and what a task can ask of the thread it runs on.
//!
//! Go: `mstart`, `schedule`, `execute`, `newproc`.

use super::board::{Deadlock, WaitingTask};
use super::entered;
use super::goroutine;
use super::home::Home;
use super::join::JoinHandle;
use super::life::{Hall, guarded};
use super::signal;
use super::sim;
use super::stack::{Stack, Stacks};
use super::staff::Present;
use super::task::{Left, Post, Task, Tasks};
use super::watch;
use crate::host::Nanos;
use crate::kernel::g::G;
use crate::kernel::locked::{Locks, Woken};
use crate::kernel::m::MId;
use crate::kernel::p::PId;
use core::cell::{Cell, RefCell};
use core::fmt;
use core::future::Future;
use core::panic::Location;
use core::pin::Pin;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicBool, compiler_fence};
use core::task::{Context, Poll, Waker};
use std::io;
use std::sync::Arc;
use std::task::Wake;

/// What this thread is to a runtime.
pub(super) enum Role {
    /// No task of any.
    Stranger,
    /// It runs a task, and holds a P.
    Running(Post),
    /// It runs a task that is in a system call: the P may be another's by now.
    Away(Left),
    /// It runs a task that has stopped the world, and has no P.
    Stopper(Tasks),
    /// It runs the future of a `block_on`.
    Guest(Tasks),
    /// It asks the sources of this runtime for work: what becomes runnable meanwhile is theirs.
    Collecting(Home),
}

impl Role {
    fn tasks(&self) -> Option<&Tasks> {
        match self {
            Role::Stranger | Role::Collecting(_) => None,
            Role::Running(post) => Some(post.tasks()),
            Role::Away(left) => Some(left.tasks()),
            Role::Stopper(tasks) | Role::Guest(tasks) => Some(tasks),
        }
    }
}

/// A thread's role. Looked at for a moment only, never while a task's code runs: so a signal that comes while nobody
/// looks has interrupted a task.
///
/// Between a thread and its own signal handler the processor keeps the order by itself; only the compiler must.
struct RoleCell {
    role: RefCell<Role>,
    /// Somebody looks.
    is_open: AtomicBool,
}

/// Somebody looks at it, as long as this lives.
struct Looking<'a> {
    cell: &'a RoleCell,
    before: bool,
}

impl RoleCell {
    #[inline(always)]
    fn look(&self) -> Looking<'_> {
        // Relaxed: only this thread, and its signal handler, read and write it.
        let before = self.is_open.load(Relaxed);
        // Relaxed: as above.
        self.is_open.store(true, Relaxed);
        // SeqCst: `interrupt`: what follows is not done before. For the compiler.
        compiler_fence(SeqCst);
        Looking { cell: self, before }
    }

    #[inline(always)]
    fn with<R>(&self, f: impl FnOnce(&Role) -> R) -> R {
        let _looking = self.look();
        f(&self.role.borrow())
    }

    /// `None`: somebody looks already.
    #[inline(always)]
    fn try_with_mut<R>(&self, f: impl FnOnce(&mut Role) -> R) -> Option<R> {
        let _looking = self.look();
        self.role.try_borrow_mut().ok().map(|mut role| f(&mut role))
    }

    #[inline(always)]
    fn replace(&self, role: Role) -> Role {
        let _looking = self.look();
        self.role.replace(role)
    }

    /// For a signal handler on this thread: changes it, if nobody looks.
    fn interrupt(&self, f: impl FnOnce(Role) -> Role) {
        // Relaxed: only this thread writes it, and is where it was interrupted.
        if self.is_open.load(Relaxed) {
            return;
        }
        // SeqCst: `interrupt`: what follows is not done before. For the compiler.
        compiler_fence(SeqCst);
        let role = self.role.replace(Role::Stranger);
        self.role.replace(f(role));
        // SeqCst: `interrupt`: it is done before the thread goes on. For the compiler.
        compiler_fence(SeqCst);
    }
}

impl Drop for Looking<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // SeqCst: `interrupt`: what came before is done. For the compiler.
        compiler_fence(SeqCst);
        // Relaxed: as in `look`.
        self.cell.is_open.store(self.before, Relaxed);
    }
}

/// What a thread knows of itself.
struct Thread {
    role: RoleCell,
    /// Its P was taken away while its task ran on: it has to come back.
    is_interrupted: Cell<bool>,
    /// As the system calls it.
    number: Cell<i32>,
    /// What became runnable while it asks sources for work.
    collected: RefCell<Vec<Task>>,
    /// How often the task is bound to this thread.
    locks: Cell<Locks>,
    /// Where the task was spawned.
    spawned_at: Cell<Option<&'static Location<'static>>>,
    /// What the wakers of the task carry that it runs, or 0.
    running: Cell<usize>,
    /// The runtime whose world this thread has stopped.
    stopped: Cell<Option<Home>>,
    /// The stack of the goroutine that has ended here last, for the next.
    spare: Cell<Option<(Home, Stack)>>,
}

impl Thread {
    const fn new() -> Thread {
        Thread {
            role: RoleCell { role: RefCell::new(Role::Stranger), is_open: AtomicBool::new(false) },
            is_interrupted: Cell::new(false),
            number: Cell::new(0),
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
    /// Does this thread run tasks? Without a destructor, so that a signal handler may read it.
    static RUNS_TASKS: Cell<bool> = const { Cell::new(false) };
    static THREAD: Thread = const { Thread::new() };
}

/// What a simulated thread knows of itself, while another runs.
pub(super) struct Own(Thread, Cell<goroutine::Current>);

impl Default for Own {
    fn default() -> Own {
        Own(Thread::new(), Cell::new(core::ptr::null()))
    }
}

impl Own {
    /// Exchanges it with what the thread knows that plays it.
    pub(super) fn swap(&self) {
        self.1.set(goroutine::exchange(self.1.get()));
        let Thread { role, is_interrupted: _, number: _, collected, locks, spawned_at, running, stopped, spare: _ } =
            &self.0;
        let _ = THREAD.try_with(|thread| {
            thread.role.role.swap(&role.role);
            thread.collected.swap(collected);
            thread.locks.swap(locks);
            thread.spawned_at.swap(spawned_at);
            thread.running.swap(running);
            thread.stopped.swap(stopped);
        });
    }
}

/// Runs tasks until the scheduler is closed, or a task ends that is still bound to the thread.
pub(super) fn live(post: Post) {
    let _room = signal::Stack::of_this_thread();
    let _here = Present::new(post.tasks());
    THREAD.with(|thread| thread.number.set(signal::this_thread()));
    RUNS_TASKS.set(!sim::is_here());
    let _watched = post.tasks().shared().is_watched().then(|| watch::Present::new(post.tasks().home(), post.m()));
    // Once, not at each task.
    match post.tasks().shared().is_seen() || sim::is_here() {
        false => THREAD.with(|thread| thread.live::<false>(post)),
        true => THREAD.with(|thread| thread.live::<true>(post)),
    }
    THREAD.with(Thread::put_spare);
}

impl Thread {
    fn live<const IS_SEEN: bool>(&self, mut post: Post) {
        while let Some((next, task, address)) = post.next() {
            self.takes(next);
            self.run::<IS_SEEN>(task, address);
            // As long as there are tasks of the same P, it stays where it is.
            while !self.locks.get().is_locked()
                && let Some((task, address)) = self.next_local()
            {
                self.run::<IS_SEEN>(task, address);
            }
            let mine = match self.role.replace(Role::Stranger) {
                Role::Running(post) => post,
                Role::Away(left) => self.return_from(left),
                _ => unreachable!("worker: no P after the task"),
            };
            if self.locks.take().is_locked() {
                return mine.end();
            }
            post = mine;
        }
    }

    #[inline]
    fn run<const IS_SEEN: bool>(&self, task: Task, address: usize) {
        if IS_SEEN && sim::is_here() && sim::dispatch(address) {
            return self.run_later(task);
        }
        self.spawned_at.set(Some(task.spawned_at()));
        self.running.set(address);
        let timed = if IS_SEEN { self.is_seen(address) } else { None };
        guarded(|| task.run());
        self.running.set(0);
        if let Some(since) = timed {
            self.with_post(|post| post.ended(since));
        }
    }

    /// The task at this address is about to run, and somebody wants to know. `Some`: tell when it has.
    fn is_seen(&self, address: usize) -> Option<Nanos> {
        watch::begins();
        self.with_post(|post| post.begins(address as u64))
    }

    /// It has this P from now on.
    #[inline]
    fn takes(&self, post: Post) -> Role {
        post.tasks().shared().hogs.has(post.p(), self.number.get());
        self.role.replace(Role::Running(post))
    }

    /// The P was taken away while the task ran on; now it waits for its turn.
    #[cold]
    fn return_from(&self, left: Left) -> Post {
        debug_assert!(self.is_interrupted.get(), "worker: a task ended in a system call");
        left.tasks().shared().hogs.has_come();
        self.is_interrupted.set(false);
        left.come_back()
    }

    /// A seed says that others come first: those of the same P, or all.
    fn run_later(&self, task: Task) {
        self.role.try_with_mut(|role| {
            if let Role::Running(post) = role {
                match sim::choose(2) {
                    0 => post.goyield(task),
                    _ => post.gosched(task),
                }
            }
        });
    }

    fn with_post<R: Default>(&self, f: impl FnOnce(&Post) -> R) -> R {
        self.role.with(|role| match role {
            Role::Running(post) => f(post),
            _ => R::default(),
        })
    }

    /// The thread needs it no more.
    fn put_spare(&self) {
        if let Some((home, stack)) = self.spare.take() {
            put_into_stacks(home, stack);
        }
    }

    #[inline]
    fn next_local(&self) -> Option<(Task, usize)> {
        self.role.with(|role| match role {
            Role::Running(post) => post.next_local(),
            _ => None,
        })
    }
}

/// A task of `home` became runnable. Under the P that this thread holds it is the next to run, or, if it `yields`, the
/// last; found by a source, it is that source's; else it goes to the global queue. After the end it is dropped.
pub(super) fn schedule(home: Home, task: Task, yields: bool) {
    let mut task = Some(task);
    let here = |thread: &Thread| {
        thread.role.try_with_mut(|role| match role {
            Role::Running(post) if post.tasks().home() == home => match task.take() {
                Some(task) if yields => post.goyield(task),
                Some(task) => post.ready(task),
                None => (),
            },
            Role::Collecting(of) if *of == home => thread.collected.borrow_mut().extend(task.take()),
            _ => (),
        })
    };
    let _ = THREAD.try_with(here);
    if let Some(task) = task {
        let submitted = match home.find() {
            Some(tasks) => tasks.submit(task),
            None => Err(task),
        };
        // Closed: the task ends here.
        submitted.unwrap_or_else(watch::drop_another);
    }
}

/// Runs `f`, which wakes tasks of `home`, and gives those to `put`. The thread runs no task meanwhile.
pub(super) fn collect(home: Home, put: &mut dyn FnMut(G), f: impl FnOnce()) {
    let collecting = |thread: &Thread| {
        let before = thread.role.replace(Role::Collecting(home));
        f();
        thread.role.replace(before);
        // Not under the borrow: `put` is anybody's. The room is used again.
        let mut tasks = thread.collected.take();
        tasks.drain(..).for_each(|task| put(task.into_g()));
        thread.collected.replace(tasks);
    };
    let _ = THREAD.try_with(collecting);
}

/// The future of a `block_on` runs on this thread, as long as this lives.
pub(super) struct Inside(Option<Role>);

pub(super) fn enter(tasks: &Tasks) -> Inside {
    Inside(THREAD.try_with(|thread| thread.role.replace(Role::Guest(tasks.clone()))).ok())
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(resume);
    }
}

/// Runs `f` with the hall of this runtime and the row that is this thread's. `None`: the runtime is gone.
#[inline]
pub(super) fn with_hall<R>(home: Home, f: impl FnOnce(&Hall, usize) -> R) -> Option<R> {
    let mut f = Some(f);
    let here = with_own(|tasks, p| {
        if tasks.home() != home {
            return None;
        }
        f.take().map(|f| f(&tasks.shared().hall, p.map_or(0, |p| p.0 as usize)))
    });
    if let Some(done) = here.flatten() {
        return Some(done);
    }
    let tasks = home.find()?;
    f.take().map(|f| f(&tasks.shared().hall, 0))
}

/// Runs `f` with this runtime, if it lives.
pub(super) fn with_runtime(home: Home, f: impl FnOnce(&Tasks)) {
    let mut f = Some(f);
    let mut here = |tasks: &Tasks| {
        if tasks.home() == home
            && let Some(f) = f.take()
        {
            f(tasks);
        }
    };
    with_own(|tasks, _| here(tasks));
    if let (Some(f), Some(tasks)) = (f, home.find()) {
        f(&tasks);
    }
}

/// Runs `f` with the runtime whose task this thread runs, the M that it is, the P that it holds, and the number of the
/// task.
pub(super) fn with_running(f: impl FnOnce(&Tasks, MId, Option<PId>, u64)) {
    let _ = THREAD.try_with(|thread| {
        let g = thread.running.get() as u64;
        thread.role.with(|role| match role {
            Role::Running(post) if g != 0 => f(post.tasks(), post.m(), Some(post.p()), g),
            Role::Away(left) if g != 0 => f(left.tasks(), left.m(), None, g),
            _ => (),
        });
    });
}

/// Is it the waker of the task that this thread runs?
pub(super) fn is_running(waker: &Waker) -> bool {
    THREAD.try_with(|thread| thread.running.get()).is_ok_and(|running| running == waker.data().addr())
}

/// Where the task was spawned that this thread runs.
pub(super) fn spawned_at() -> Option<&'static Location<'static>> {
    THREAD.try_with(|thread| thread.spawned_at.get()).ok().flatten()
}

/// The task was spawned there that this thread runs from now on; returns where the one before was.
pub(super) fn set_spawned_at(at: Option<&'static Location<'static>>) -> Option<&'static Location<'static>> {
    THREAD.try_with(|thread| thread.spawned_at.replace(at)).ok().flatten()
}

/// Runs `f` with the runtime whose task this thread runs, and the P that it holds; or with the one it has entered.
pub(super) fn with_tasks<R>(f: impl FnOnce(&Tasks, Option<PId>) -> R) -> Option<R> {
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
            let p = if let Role::Running(post) = role { Some(post.p()) } else { None };
            role.tasks().map(|tasks| f(tasks, p))
        })
    };
    THREAD.try_with(run).ok().flatten()
}

/// Changes how often the task is bound to this thread; a stranger's binding is nobody's.
pub(super) fn change_locks(change: fn(&mut Locks)) {
    let _ = THREAD.try_with(|thread| {
        let mut now = thread.locks.get();
        change(&mut now);
        thread.locks.set(now);
    });
}

/// This thread's task has run for too long. If it holds a P, and is in its own code, it goes on without. In a signal
/// handler: see [`signal`](super::signal).
pub(super) fn interrupt() {
    if !RUNS_TASKS.get() {
        return;
    }
    let _ = THREAD.try_with(|thread| {
        thread.role.interrupt(|role| match role {
            Role::Running(post) if post.is_preempted() => {
                thread.is_interrupted.set(true);
                post.tasks().shared().hogs.goes();
                Role::Away(post.interrupt())
            }
            other => other,
        });
    });
}

/// If this thread's P was taken away while its task ran on, waits for one. To be asked by whatever waits, or wants a P.
#[inline(never)] // see `can_suspend`
pub(super) fn come_back() {
    let _ = THREAD.try_with(|thread| {
        if thread.is_interrupted.get()
            && let Role::Away(left) = thread.role.replace(Role::Stranger)
        {
            let post = thread.return_from(left);
            thread.takes(post);
        }
    });
}

/// Can the task that this thread runs wait without the thread? It holds its P, or has lost it only because it ran for
/// long, and is not bound. Inlined only into what is not: a goroutine may be on another thread the next time, and the address
/// of a thread local must not be kept meanwhile.
#[inline]
pub(super) fn can_suspend() -> bool {
    let can = |thread: &Thread| {
        let holds_p = thread.is_interrupted.get() || thread.role.with(|role| matches!(role, Role::Running(_)));
        holds_p && !thread.locks.get().is_locked()
    };
    THREAD.try_with(can) == Ok(true)
}

/// A stack for a goroutine of the runtime `home`. `None`: that is gone.
pub(super) fn take_stack(home: Home) -> Option<io::Result<Stack>> {
    match THREAD.try_with(|thread| thread.spare.take()) {
        Ok(Some((of, stack))) if of == home => return Some(Ok(stack)),
        Ok(Some((of, stack))) => put_into_stacks(of, stack),
        _ => (),
    }
    with_stacks(home, Stacks::take)
}

/// Nobody uses it any more.
pub(super) fn put_stack(home: Home, stack: Stack) {
    let mut unused = Some((home, stack));
    // Who runs tasks is asked for a stack again; and gives this one back in the end.
    let _ = THREAD.try_with(|thread| {
        if thread.running.get() != 0 {
            unused = thread.spare.replace(unused.take());
        }
    });
    if let Some((home, stack)) = unused {
        put_into_stacks(home, stack);
    }
}

/// If the runtime is gone, the stack ends here.
fn put_into_stacks(home: Home, stack: Stack) {
    with_stacks(home, |stacks, row| stacks.put(row, stack));
}

/// Runs `f` with the stacks of this runtime and the row that is this thread's. `None`: the runtime is gone.
fn with_stacks<R>(home: Home, f: impl FnOnce(&Stacks, usize) -> R) -> Option<R> {
    let mut f = Some(f);
    let here = with_own(|tasks, p| match tasks.home() == home {
        true => f.take().map(|f| f(&tasks.shared().stacks, p.map_or(0, PId::index))),
        false => None,
    });
    match (here.flatten(), f) {
        (Some(done), _) => Some(done),
        (None, Some(f)) => home.find().map(|tasks| f(&tasks.shared().stacks, 0)),
        (None, None) => None,
    }
}

/// This thread's role, taken; to be given back by [`resume`].
pub(super) fn suspend() -> Role {
    THREAD.try_with(|thread| thread.role.replace(Role::Stranger)).unwrap_or(Role::Stranger)
}

/// Gives a role back.
pub(super) fn resume(role: Role) {
    // Without its thread local, a thread is a stranger, and was one before.
    let _ = THREAD.try_with(|thread| match role {
        Role::Running(post) => drop(thread.takes(post)),
        other => drop(thread.role.replace(other)),
    });
}

/// The M of the task that this thread runs, and the P, if it holds one.
pub(super) fn place() -> Option<(MId, Option<PId>)> {
    let place = |role: &Role| match role {
        Role::Running(post) => Some((post.m(), Some(post.p()))),
        Role::Away(left) => Some((left.m(), None)),
        _ => None,
    };
    THREAD.try_with(|thread| thread.role.with(place)).ok().flatten()
}

/// Which runtime's task this thread runs, if any's.
pub(super) fn current() -> Option<Home> {
    THREAD.try_with(|thread| thread.role.with(|role| role.tasks().map(Tasks::home))).ok().flatten()
}

/// Does this thread run a task of this runtime, and hold its P?
pub(super) fn holds_p_of(home: Home) -> bool {
    let is = |role: &Role| matches!(role, Role::Running(post) if post.tasks().home() == home);
    THREAD.try_with(|thread| thread.role.with(is)) == Ok(true)
}

/// The runtime whose task this thread runs.
pub(super) fn current_tasks() -> Option<Tasks> {
    THREAD.try_with(|thread| thread.role.with(|role| role.tasks().cloned())).ok().flatten()
}

/// The same, or the one that this thread has entered.
pub(super) fn around() -> Option<Tasks> {
    current_tasks().or_else(entered::last)
}

/// The runtime whose world this thread has stopped.
pub(super) fn stopped() -> Option<Home> {
    THREAD.try_with(|thread| thread.stopped.get()).ok().flatten()
}

/// This thread has stopped this runtime's world; or no longer.
pub(super) fn set_stopped(home: Option<Home>) {
    let _ = THREAD.try_with(|thread| thread.stopped.set(home));
}

/// Gets the P back when it is dropped, if there was one to leave.
pub(super) struct Return;

impl Return {
    /// Leaves the P, if the thread holds one.
    #[inline]
    pub(super) fn after_leaving(known_to_block: bool) -> Option<Return> {
        let leave = |thread: &Thread| match thread.role.replace(Role::Stranger) {
            Role::Running(post) => {
                let left = post.leave(known_to_block);
                thread.role.replace(Role::Away(left));
                Some(Return)
            }
            other => {
                thread.role.replace(other);
                None
            }
        };
        THREAD.try_with(leave).ok().flatten()
    }
}

impl Drop for Return {
    #[inline]
    fn drop(&mut self) {
        let come_back = |thread: &Thread| {
            if let Role::Away(left) = thread.role.replace(Role::Stranger) {
                thread.takes(left.come_back());
            }
        };
        let _ = THREAD.try_with(come_back);
    }
}

/// Why a wait inside of a runtime came to nothing.
pub(super) enum Unmet {
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

/// Waits, in a task that cannot leave its thread, for `awaited`. The P is another's meanwhile.
pub(super) fn wait_inside<F: Future + Unpin>(
    awaited: &mut F,
    at: &'static Location<'static>,
    for_task: &'static Location<'static>,
) -> Result<F::Output, Unmet> {
    come_back();
    let mine = |role: &Role| match role {
        Role::Running(post) => Some((post.tasks().clone(), post.m())),
        _ => None,
    };
    let (tasks, m) = match THREAD.with(|thread| thread.role.with(mine)) {
        Some(found) => found,
        None => unreachable!("worker: a wait inside, from outside"),
    };
    let waker = Waker::from(Arc::new(Bound { tasks: tasks.clone(), m }));
    let poll = |awaited: &mut F| Pin::new(awaited).poll(&mut Context::from_waker(&waker));
    loop {
        if let Poll::Ready(output) = poll(awaited) {
            return Ok(output);
        }
        let task = spawned_at().unwrap_or(for_task);
        let Role::Running(post) = suspend() else { unreachable!("worker: a wait inside, from outside") };
        tasks.shared().board.put(m, WaitingTask { task, at, for_task });
        let (post, woken) = post.park();
        let waits = if woken == Woken::Ready { Vec::new() } else { tasks.shared().board.waits() };
        tasks.shared().board.take(m);
        resume(Role::Running(post));
        THREAD.with(|thread| thread.spawned_at.set(Some(task)));
        if woken == Woken::Ready {
            continue;
        }
        if let Poll::Ready(output) = poll(awaited) {
            return Ok(output);
        }
        let threads = (woken == Woken::NoThread).then_some(tasks.config().max_ms);
        return Err(match woken {
            Woken::Closed => Unmet::Closed,
            _ => Unmet::Deadlock(Deadlock::of_waits(waits, threads, tasks.shared().hall.spawned_at())),
        });
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
    let home = current().or_else(|| entered::last().map(|tasks| tasks.home())).ok_or(NotInRuntime)?;
    let (task, awaited) = Task::new(home, future);
    schedule(home, task, false);
    Ok(JoinHandle::new(awaited, home))
}

/// Runs `f` as a goroutine, from inside a task: on a stack of its own. It is the next to run under this P. Go: `go f()`.
///
/// In it whatever can be awaited can be [waited](crate::Wait::wait) for, and its thread runs others meanwhile.
///
/// **A goroutine changes threads** whenever it waits, with everything that is on its stack, and the compiler does not
/// check that. So do not keep over a wait what belongs to the thread it is on: a reference into a thread local, an `Rc`
/// of which that thread has another clone, a guard of a std mutex. [`lock_thread`](crate::lock_thread) keeps it where it
/// is; a future ([`spawn`]) is checked.
///
/// If its runtime is dropped while it waits, or it is [aborted](JoinHandle::abort), it is unwound: what it owns is
/// dropped, as by a panic. (With `panic = "abort"` it is forgotten.)
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
    let home = current().or_else(|| entered::last().map(|tasks| tasks.home())).ok_or(NotInRuntime)?;
    let (task, awaited) = Task::of_closure(home, f);
    schedule(home, task, false);
    Ok(JoinHandle::new(awaited, home))
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
    if is_asked_to_yield() || sim::makes_way() {
        make_way();
    }
}

/// Is the task that this thread runs asked to make way? What never waits, because there is always something ready, asks
/// before each try.
#[inline(never)] // see `can_suspend`
pub(super) fn is_asked_to_yield() -> bool {
    let is_asked = |role: &Role| matches!(role, Role::Running(post) if post.should_yield());
    THREAD.try_with(|thread| thread.is_interrupted.get() || thread.role.with(is_asked)) == Ok(true)
}

#[cold]
fn make_way() {
    come_back();
    match suspend() {
        Role::Running(post) => resume(Role::Running(post.make_way())),
        other => resume(other),
    }
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
