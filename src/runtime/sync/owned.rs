//! Guards of mutexes that borrow nothing: each has an `Arc` of its mutex.

#![allow(unsafe_code)]

use crate::runtime::sync::coop::Turn;
use crate::runtime::sync::locks::Mutex;
use crate::runtime::sync::rw_lock::TryLockError;
use async_lock::{MutexGuardArc, futures};
use std::sync::Arc;

/// What [`Mutex::lock_owned`] returns.
pub type LockOwned<T> = Turn<futures::LockArc<T>>;

fn mutex_inside<T>(mutex: Arc<Mutex<T>>) -> Arc<async_lock::Mutex<T>> {
    // SAFETY: `Mutex` is transparent over what is asked for here, and has no drop of its own; the pointer is of an `Arc`, whose
    // count goes over with it.
    unsafe { Arc::from_raw(Arc::into_raw(mutex).cast::<async_lock::Mutex<T>>()) }
}

impl<T> Mutex<T> {
    /// As [`lock`](Mutex::lock), with a guard that keeps the mutex alive: it may be returned, kept, sent to another task.
    ///
    /// ```
    /// use spinpark::sync::Mutex;
    /// use std::sync::Arc;
    ///
    /// # let runtime = spinpark::Runtime::builder().procs(2).build()?;
    /// runtime.block_on(async {
    ///     let mutex = Arc::new(Mutex::new(1));
    ///     let mut guard = Arc::clone(&mutex).lock_owned().await;
    ///     let task = spinpark::spawn(async move { *guard += 1 }); // unlocked when the task has done
    ///     task.await.expect("no panic");
    ///     assert_eq!(*mutex.lock().await, 2);
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lock_owned(self: Arc<Self>) -> LockOwned<T> {
        Turn::new(mutex_inside(self).lock_arc(), "sync.Mutex.Lock")
    }

    /// As [`try_lock`](Mutex::try_lock), with a guard that keeps the mutex alive.
    ///
    /// # Errors
    /// If it would have to wait.
    ///
    /// ```
    /// use spinpark::sync::Mutex;
    /// use std::sync::Arc;
    ///
    /// let mutex = Arc::new(Mutex::new(1));
    /// let guard = Arc::clone(&mutex).try_lock_owned().expect("it is free");
    /// assert!(mutex.try_lock_owned().is_err());
    /// drop(guard);
    /// ```
    pub fn try_lock_owned(self: Arc<Self>) -> Result<MutexGuardArc<T>, TryLockError> {
        mutex_inside(self).try_lock_arc().ok_or(TryLockError(()))
    }
}
