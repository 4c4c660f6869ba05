//! What a thread is to the scheduler while a G's code runs on it; what may change that, and how the code may wait.
//!
//! Go: `asyncPreempt`, `wantAsyncPreempt`, `canPreemptM` (`m.locks`, `m.preemptoff`); `gopark`, `stoplockedm`,
//! `entersyscallblock` for the ways to wait.
//!
//! **A thread that waits has handed its P off, or is known to have none; the P of a preempted G is taken once, and comes
//! back once.** The role is one value: whether the P was lost is no flag beside it. Two read it, the thread and the handler of
//! a signal that the thread is sent, which comes between any two steps of the thread:
//!
//! | the thread, inside the scheduler      | the handler, in [`interrupt`](RoleCell::interrupt)              |
//! |---------------------------------------|-----------------------------------------------------------------|
//! | 1. `is_inside` = true                 | 1. reads `is_inside`: true? leaves the role as it is            |
//! | 2. reads the role, and decides        | 2. reads the role: Running, and preemption was requested?       |
//! | 3. changes it                         | 3. leaves the P in its word; the role is Detached               |
//! | 4. `is_inside` = as before            |                                                                 |
//!
//! So a decision and the change that follows from it are one step to the handler. Both are on one thread: the processor
//! keeps their order by itself, and a fence for the compiler is enough.
//!
//! | role      | the G's code runs                | it waits by          | its P                                     |
//! |-----------|----------------------------------|----------------------|-------------------------------------------|
//! | Running   | under its P                      | `Suspend` or `Block` | is the thread's                           |
//! | Detached  | without: it was preempted        | the same             | was left in its word; to be reattached    |
//! | InSyscall | in a system call, or waits there | `WithoutP`           | was left in its word, or handed off       |
//! | Outside   | none of a G's, as far as we know | `WithoutP`           | is with the scheduler, or none            |
//! | Other     | what the embedder says           | `WithoutP`           | none                                      |
//!
//! Checked by: verification/rooms/src/rooms/role.rs

use crate::atomic::Atomic;
use crate::host::Host;
use core::cell::RefCell;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::compiler_fence;

/// What a thread is: `W` is an M with its P, `A` an M that has left its P, `O` what else the embedder knows.
#[derive(Debug)]
pub enum Role<W, A, O> {
    /// No G's code runs here, or the scheduler's does.
    Outside,
    /// A G's code runs, under a P.
    Running(W),
    /// A G's code runs without its P: it was preempted.
    Detached(A),
    /// A G is in a system call.
    InSyscall(A),
    /// Something of the embedder's.
    Other(O),
}

/// How the code on a thread may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Waits {
    /// It leaves the thread, which runs others. Go: `gopark`.
    Suspend,
    /// The thread sleeps, after its P was reattached, if it was preempted, and handed off. Go: `stoplockedm`.
    Block,
    /// The thread sleeps: there is no P to hand off.
    WithoutP,
}

/// The role of one thread. Not shared with others: only the thread and its signal handler read it.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::protocol::role::{Role, RoleCell, Waits};
/// let cell = RoleCell::<Os, &str, &str, ()>::new(AtomicU64::new(0));
/// assert_eq!(cell.waits(true), Waits::WithoutP); // outside
/// cell.replace(Role::Running("worker"));
/// assert_eq!((cell.waits(true), cell.waits(false)), (Waits::Suspend, Waits::Block));
/// assert!(cell.try_with_mut(|role| matches!(role, Role::Running(_))).unwrap());
///
/// cell.interrupt(|_worker| Ok("away")); // in the signal handler: the P is gone
/// assert!(cell.with(|role| matches!(role, Role::Detached("away"))));
/// assert!(cell.enter_syscall(|_worker| "left", |away| away));
/// assert_eq!(cell.exit_syscall(|_away| "another worker"), Some("another worker"));
/// assert_eq!(cell.take(|_away| "reattached"), None); // outside again
/// # }
/// ```
pub struct RoleCell<H: Host, W, A, O> {
    /// The thread is inside the scheduler: it reads the role, or changes it.
    is_inside: Atomic<H, bool>,
    role: RefCell<Role<W, A, O>>,
}

/// The thread is inside the scheduler, as long as this lives.
struct Inside<'a, H: Host> {
    flag: &'a Atomic<H, bool>,
    before: bool,
}

impl<'a, H: Host> Inside<'a, H> {
    #[inline(always)]
    fn new(flag: &'a Atomic<H, bool>) -> Self {
        // Relaxed: only this thread writes it, and its signal handler reads it.
        let before = flag.load(Relaxed);
        // Relaxed: as above.
        flag.store(true, Relaxed);
        // SeqCst: what follows is not done before. For the compiler.
        compiler_fence(SeqCst);
        Inside { flag, before }
    }
}

impl<H: Host> Drop for Inside<'_, H> {
    #[inline(always)]
    fn drop(&mut self) {
        // SeqCst: what came before is done. For the compiler.
        compiler_fence(SeqCst);
        // Relaxed: as in `new`.
        self.flag.store(self.before, Relaxed);
    }
}

impl<H: Host, W, A, O> RoleCell<H, W, A, O> {
    /// Outside. The word is the host's, and holds 0: so that a thread local can be made without running anything.
    pub const fn new(word: H::Word) -> Self {
        RoleCell { is_inside: Atomic::from_word(word), role: RefCell::new(Role::Outside) }
    }

    /// Reads the role.
    #[inline(always)]
    pub fn with<R>(&self, f: impl FnOnce(&Role<W, A, O>) -> R) -> R {
        let _inside = Inside::new(&self.is_inside);
        f(&self.role.borrow())
    }

    /// Works with what is in the role. `None`: a caller further up on the stack does so already.
    #[inline(always)]
    pub fn try_with_mut<R>(&self, f: impl FnOnce(&mut Role<W, A, O>) -> R) -> Option<R> {
        let _inside = Inside::new(&self.is_inside);
        self.role.try_borrow_mut().ok().map(|mut role| f(&mut role))
    }

    /// Changes the role, and returns what it was.
    #[inline(always)]
    pub fn replace(&self, role: Role<W, A, O>) -> Role<W, A, O> {
        let _inside = Inside::new(&self.is_inside);
        self.role.replace(role)
    }

    /// For the signal handler on this thread: a G that runs under its P, which `detach` takes, is detached. Nothing, if
    /// the thread is inside the scheduler, or `detach` finds that preemption was not requested.
    #[inline]
    pub fn interrupt(&self, detach: impl FnOnce(W) -> Result<A, W>) {
        // Relaxed: only this thread writes it, and it stands where it was interrupted.
        if self.is_inside.load(Relaxed) {
            return;
        }
        // SeqCst: what follows is not done before. For the compiler.
        compiler_fence(SeqCst);
        let role = match self.role.replace(Role::Outside) {
            Role::Running(worker) => detach(worker).map_or_else(Role::Running, Role::Detached),
            other => other,
        };
        self.role.replace(role);
        // SeqCst: it is done before the thread goes on. For the compiler.
        compiler_fence(SeqCst);
    }

    /// How may the code on this thread wait? `could_leave`: the code itself could be resumed on another thread. Asked once
    /// for each wait. The answer stays true: the handler turns Running into Detached, which waits in the same way.
    #[inline(always)]
    pub fn waits(&self, could_leave: bool) -> Waits {
        self.with(|role| match role {
            Role::Running(_) | Role::Detached(_) if could_leave => Waits::Suspend,
            Role::Running(_) | Role::Detached(_) => Waits::Block,
            Role::Outside | Role::InSyscall(_) | Role::Other(_) => Waits::WithoutP,
        })
    }

    /// Takes the P, to hand it off or to come back with it; the thread is outside. If it was lost, `reattach` waits for it.
    /// `None`: there is none here, and nothing has changed.
    #[inline]
    pub fn take(&self, reattach: impl FnOnce(A) -> W) -> Option<W> {
        match self.replace(Role::Outside) {
            Role::Running(worker) => Some(worker),
            Role::Detached(away) => Some(reattach(away)),
            other => {
                drop(self.replace(other));
                None
            }
        }
    }

    /// The G enters a system call: `leave` leaves the P, `stay` knows that it was lost already. `false`: there is none
    /// here, and nothing has changed.
    #[inline]
    pub fn enter_syscall(&self, leave: impl FnOnce(W) -> A, stay: impl FnOnce(A) -> A) -> bool {
        let away = match self.replace(Role::Outside) {
            Role::Running(worker) => leave(worker),
            Role::Detached(away) => stay(away),
            other => {
                drop(self.replace(other));
                return false;
            }
        };
        drop(self.replace(Role::InSyscall(away)));
        true
    }

    /// The system call is over: `come_back` waits for a P. `None`: the G is in none.
    #[inline]
    pub fn exit_syscall(&self, come_back: impl FnOnce(A) -> W) -> Option<W> {
        match self.replace(Role::Outside) {
            Role::InSyscall(away) => Some(come_back(away)),
            other => {
                drop(self.replace(other));
                None
            }
        }
    }
}
