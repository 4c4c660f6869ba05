//! A task bound to its thread.
//!
//! Go: `LockOSThread`, `UnlockOSThread`.

use crate::runtime::exec::context::Context;
use crate::runtime::exec::context::locks::Locks;
use crate::runtime::exec::not_in_runtime::NotInRuntime;
use crate::runtime::host::cores::Cores;
use crate::runtime::host::sim::sim_host::Sim;
use core::fmt;
use core::marker::PhantomData;
use core::mem;

/// Binds the calling task to its thread until the [`ThreadLock`] is dropped; locks may be nested. Go: `LockOSThread`.
///
/// A future stays on its thread until it next waits (and the lock cannot be held across an `.await`); a closure with
/// [a stack of its own](crate::Builder::stackful_goroutines) too, and under the lock it waits with the thread; one on the
/// thread's stack stays to its end. What the lock adds is the end: a task that [keeps](ThreadLock::keep) it takes the
/// thread along, when it ends or waits. So what it has changed for the thread (a name space, a signal mask, a thread local
/// of a foreign library) is seen by no other task; nor by a new thread, as all are started from one that was not changed.
///
/// # Errors
/// [`NotInRuntime`] if the caller is no task of a [`Runtime`](crate::Runtime).
///
/// ```
/// # let runtime = spinpark::Runtime::builder().procs(1).build().expect("a runtime");
/// runtime.go(|| {
///     let lock = spinpark::lock_thread().expect("inside a task");
///     // … change what cannot be changed back …
///     lock.keep(); // no other task will run on this thread
/// });
/// ```
pub fn lock_thread() -> Result<ThreadLock, NotInRuntime> {
    Context::current().ok_or(NotInRuntime::new("spinpark::lock_thread was called"))?;
    if !Context::runs_on::<Sim>() {
        Cores::prepare_template(Context::is_locked);
    }
    Context::change_locks(Locks::lock);
    Ok(ThreadLock { not_send: PhantomData })
}

/// A task is bound to its thread. See [`lock_thread`].
#[must_use = "dropped, it unlocks the thread"]
pub struct ThreadLock {
    /// It belongs to its thread.
    not_send: PhantomData<*const ()>,
}

impl ThreadLock {
    /// Never unlocks: the thread ends with the task.
    ///
    /// ```
    /// # spinpark::run(async {
    /// spinpark::go(|| {
    ///     let lock = spinpark::task::lock_thread().expect("in a task");
    ///     // Here the thread is changed for good: its name space, its signal mask.
    ///     lock.keep();
    /// })
    /// .await
    /// .expect("no panic");
    /// # });
    /// ```
    pub fn keep(self) {
        mem::forget(self);
    }
}

impl Drop for ThreadLock {
    fn drop(&mut self) {
        Context::change_locks(Locks::dropped);
    }
}

impl fmt::Debug for ThreadLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadLock").finish_non_exhaustive()
    }
}

static_assertions::assert_not_impl_any!(ThreadLock: Send, Sync);
