//! A task bound to its thread.
//!
//! Go: `LockOSThread`, `UnlockOSThread`, `m.lockedExt`.

use crate::runtime::exec::context::Context;
use crate::runtime::exec::not_in_runtime::NotInRuntime;
use crate::runtime::host::sim::Sim;
use crate::runtime::host::template;
use core::fmt;
use core::marker::PhantomData;
use core::mem;

/// How often a task is bound to its thread; it is free again when each binding is undone. Go: `m.lockedExt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::runtime) struct Locks(u32);

impl Locks {
    /// Not bound.
    pub(in crate::runtime) const NONE: Locks = Locks(0);

    /// Binds once more.
    pub(in crate::runtime) fn lock(&mut self) {
        self.0 += 1;
    }

    /// Undoes one binding.
    ///
    /// # Panics
    /// If there is none.
    pub(in crate::runtime) fn unlock(&mut self) {
        self.0 = self.0.checked_sub(1).expect("thread_lock: unlocked more often than locked");
    }

    /// Is it bound? A thread whose task ends so ends with it.
    pub(in crate::runtime) fn is_locked(self) -> bool {
        self.0 > 0
    }
}

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
    Context::current().ok_or(NotInRuntime)?;
    if !Context::runs_on::<Sim>() {
        template::prepare(Context::is_locked);
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
    pub fn keep(self) {
        mem::forget(self);
    }
}

impl Drop for ThreadLock {
    fn drop(&mut self) {
        Context::change_locks(|locks| {
            // One that outlives its task, in a thread local, finds nothing to undo.
            if locks.is_locked() {
                locks.unlock();
            }
        });
    }
}

impl fmt::Debug for ThreadLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadLock").finish_non_exhaustive()
    }
}

static_assertions::assert_not_impl_any!(ThreadLock: Send, Sync);

#[cfg(test)]
mod tests {
    mod a_task_is_free_again_when_each_binding_is_undone {
        use crate::runtime::exec::thread_lock::Locks;

        #[test]
        fn in_every_order_of_ten_of_both() {
            for order in 0..1_u32 << 10 {
                let (mut locks, mut bound) = (Locks::default(), 0);
                for step in 0..10 {
                    if order >> step & 1 == 0 {
                        locks.lock();
                        bound += 1;
                    } else if bound > 0 {
                        locks.unlock();
                        bound -= 1;
                    }
                    assert_eq!(locks.is_locked(), bound > 0, "bound {bound} times: {locks:?}");
                    assert_eq!(locks == Locks::NONE, bound == 0, "bound {bound} times: {locks:?}");
                }
            }
        }

        #[test]
        #[should_panic(expected = "thread_lock: unlocked more often than locked")]
        fn and_not_once_more() {
            let mut locks = Locks::default();
            locks.lock();
            locks.unlock();
            locks.unlock();
        }
    }
}
