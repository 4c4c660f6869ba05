//! An M's life: find a task, run it, over and over; and what a task can ask of the thread it runs on.
//!
//! Go: `mstart`, `schedule`, `execute`, `newproc`.

use super::board::{Deadlock, Wait};
use super::join::JoinHandle;
use super::packet::Joinable;
use super::task::{Left, Post, Task, Tasks};
use crate::kernel::locked::{Locks, Woken};
use core::cell::{Cell, RefCell};
use core::fmt;
use core::mem;
use core::panic::Location;
use std::panic::{AssertUnwindSafe, catch_unwind};

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
}

thread_local! {
    /// Borrowed for a moment only, never while a task's code runs.
    static ROLE: RefCell<Role> = const { RefCell::new(Role::Stranger) };
    /// How often the task is bound to this thread.
    static LOCKS: Cell<Locks> = const { Cell::new(Locks::NONE) };
    /// Where the task was spawned.
    static SPAWNED_AT: Cell<Option<&'static Location<'static>>> = const { Cell::new(None) };
    /// The runtime whose world this thread has stopped; 0: none.
    static STOPPED: Cell<usize> = const { Cell::new(0) };
}

/// Runs tasks until the scheduler is closed, or a task ends that is still bound to the thread.
pub(super) fn live(mut post: Post) {
    while let Some((next, task)) = post.next() {
        SPAWNED_AT.set(task.spawned_at());
        ROLE.set(Role::Running(next));
        // The task's own panic is in its packet. This one is of a value that nobody will join, when it is dropped.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| task.run())) {
            // And a payload may panic in its turn.
            mem::forget(payload);
        }
        let Role::Running(mine) = ROLE.replace(Role::Stranger) else { unreachable!("worker: no P after the task") };
        if LOCKS.take().is_locked() {
            return mine.end();
        }
        post = mine;
    }
}

/// Changes how often the task is bound to this thread; a stranger's binding is nobody's.
pub(super) fn change_locks(change: fn(&mut Locks)) {
    let _ = LOCKS.try_with(|locks| {
        let mut now = locks.get();
        change(&mut now);
        locks.set(now);
    });
}

/// This thread's role, taken; to be given back by [`resume`].
pub(super) fn suspend() -> Role {
    ROLE.try_with(|role| role.replace(Role::Stranger)).unwrap_or(Role::Stranger)
}

/// Gives a role back.
pub(super) fn resume(role: Role) {
    // Without its thread local, a thread is a stranger, and was one before.
    let _ = ROLE.try_with(|place| place.replace(role));
}

/// Which scheduler's task this thread runs, if any's.
pub(super) fn current() -> Option<usize> {
    let id = |role: &RefCell<Role>| match &*role.borrow() {
        Role::Stranger => None,
        Role::Running(post) => Some(post.tasks().id()),
        Role::Away(left) => Some(left.tasks().id()),
        Role::Stopper(tasks) => Some(tasks.id()),
    };
    ROLE.try_with(id).ok().flatten()
}

/// Does this thread run a task of this scheduler, and hold its P?
pub(super) fn holds_p_of(home: usize) -> bool {
    let holds = |role: &RefCell<Role>| matches!(&*role.borrow(), Role::Running(post) if post.tasks().id() == home);
    ROLE.try_with(holds) == Ok(true)
}

/// The scheduler whose task this thread runs.
pub(super) fn current_tasks() -> Option<Tasks> {
    let tasks = |role: &RefCell<Role>| match &*role.borrow() {
        Role::Stranger => None,
        Role::Running(post) => Some(post.tasks().clone()),
        Role::Away(left) => Some(left.tasks().clone()),
        Role::Stopper(tasks) => Some(tasks.clone()),
    };
    ROLE.try_with(tasks).ok().flatten()
}

/// The runtime whose world this thread has stopped; 0: none.
pub(super) fn stopped() -> usize {
    STOPPED.try_with(Cell::get).unwrap_or(0)
}

/// This thread has stopped this runtime's world; 0: no longer.
pub(super) fn set_stopped(id: usize) {
    let _ = STOPPED.try_with(|stopped| stopped.set(id));
}

/// Queues `task` under the P that this thread holds; if it has none at the moment, into the global queue. A stranger's
/// comes back, and so does one that comes after the end.
pub(super) fn ready(task: Task) -> Result<(), Task> {
    ROLE.with_borrow_mut(|role| match role {
        Role::Stranger => Err(task),
        Role::Running(post) => {
            post.ready(task);
            Ok(())
        }
        Role::Away(left) => left.tasks().submit(task),
        Role::Stopper(tasks) => tasks.submit(task),
    })
}

/// Gets the P back when it is dropped, if there was one to leave.
pub(super) struct Return;

impl Return {
    /// Leaves the P, if the thread holds one.
    #[inline]
    pub(super) fn after_leaving(known_to_block: bool) -> Option<Return> {
        let leave = |role: &RefCell<Role>| match role.replace(Role::Stranger) {
            Role::Running(post) => {
                let left = post.leave(known_to_block);
                *role.borrow_mut() = Role::Away(left);
                Some(Return)
            }
            other => {
                *role.borrow_mut() = other;
                None
            }
        };
        ROLE.try_with(leave).ok().flatten()
    }
}

impl Drop for Return {
    #[inline]
    fn drop(&mut self) {
        let come_back = |role: &RefCell<Role>| {
            if let Role::Away(left) = role.replace(Role::Stranger) {
                let post = left.come_back();
                *role.borrow_mut() = Role::Running(post);
            }
        };
        let _ = ROLE.try_with(come_back);
    }
}

/// Why a wait inside of a runtime came to nothing.
pub(super) enum Unmet {
    Closed,
    Deadlock(Deadlock),
}

/// Waits, in a task, until `packet` has an outcome. The P is another's meanwhile.
pub(super) fn wait_inside<T>(packet: &dyn Joinable<T>, at: &'static Location<'static>) -> Result<(), Unmet> {
    while !packet.is_finished() {
        let Role::Running(post) = suspend() else { unreachable!("worker: a wait inside, from outside") };
        let (tasks, m) = (post.tasks().clone(), post.m());
        if !packet.await_by((tasks.clone(), m)) {
            resume(Role::Running(post));
            return Ok(());
        }
        let for_task = packet.spawned_at();
        tasks.board().put(m, Wait { task: SPAWNED_AT.get().unwrap_or(for_task), at, for_task });
        let (post, woken) = post.park();
        let waits = if woken == Woken::Ready { Vec::new() } else { tasks.board().waits() };
        tasks.board().take(m);
        resume(Role::Running(post));
        let threads = (woken == Woken::NoThread).then_some(tasks.config().max_ms);
        match woken {
            Woken::Ready => continue,
            _ if packet.is_finished() => return Ok(()),
            Woken::Closed => {
                packet.forget_who();
                return Err(Unmet::Closed);
            }
            Woken::Deadlock | Woken::NoThread => {
                packet.forget_who();
                return Err(Unmet::Deadlock(Deadlock { waits, threads }));
            }
        }
    }
    Ok(())
}

/// Runs `f` as a new task, from inside one. It is the next to run under this P. Go: `go f()`.
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
    let home = current().ok_or(NotInRuntime)?;
    let (task, packet) = Task::new(f);
    // Given back if closed: it is abandoned, which its handle says.
    drop(ready(task));
    Ok(JoinHandle::new(packet, home))
}

/// Makes way, if the task has run for long while others wait, or if somebody wants to stop the world. Costs a few
/// nanoseconds otherwise, so it can stand in the inner loop of a task that computes for long. Outside of a task it does
/// nothing.
///
/// A task runs until it ends, waits, or makes way: nothing interrupts it, and a
/// [`stop_the_world`](crate::Runtime::stop_the_world) has to wait for it. Go, which can interrupt a goroutine, calls
/// the like `Gosched`.
#[inline]
pub fn checkpoint() {
    let is_asked = ROLE.try_with(|role| matches!(&*role.borrow(), Role::Running(post) if post.should_yield()));
    if is_asked == Ok(true) {
        make_way();
    }
}

#[cold]
fn make_way() {
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
