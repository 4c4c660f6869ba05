//! Guards and permits that borrow nothing: each has an `Arc` of its lock.

#![allow(unsafe_code)]

use crate::runtime::sync::coop::Turn;
use crate::runtime::sync::locks::{Mutex, RwLock, Semaphore};
use async_lock::{MutexGuardArc, RwLockReadGuardArc, RwLockWriteGuardArc, futures};
use core::fmt;
use std::sync::Arc;

/// What [`Mutex::lock_owned`] returns.
pub type LockOwned<T> = Turn<futures::LockArc<T>>;

fn mutex_inside<T>(mutex: Arc<Mutex<T>>) -> Arc<async_lock::Mutex<T>> {
    // SAFETY: `Mutex` is transparent over what is asked for here, and has no drop of its own; the pointer is of an `Arc`, whose
    // count goes over with it.
    unsafe { Arc::from_raw(Arc::into_raw(mutex).cast::<async_lock::Mutex<T>>()) }
}

fn rw_lock_inside<T>(lock: Arc<RwLock<T>>) -> Arc<async_lock::RwLock<T>> {
    // SAFETY: as in `mutex_inside`.
    unsafe { Arc::from_raw(Arc::into_raw(lock).cast::<async_lock::RwLock<T>>()) }
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
    pub fn try_lock_owned(self: Arc<Self>) -> Option<MutexGuardArc<T>> {
        mutex_inside(self).try_lock_arc()
    }
}

impl<T> RwLock<T> {
    /// As [`read`](RwLock::read), with a guard that keeps the lock alive.
    pub async fn read_owned(self: Arc<Self>) -> RwLockReadGuardArc<T> {
        Turn::new(rw_lock_inside(self).read_arc(), "sync.RWMutex.RLock").await
    }

    /// As [`write`](RwLock::write), with a guard that keeps the lock alive.
    pub async fn write_owned(self: Arc<Self>) -> RwLockWriteGuardArc<T> {
        Turn::new(rw_lock_inside(self).write_arc(), "sync.RWMutex.Lock").await
    }

    /// As [`try_read`](RwLock::try_read), with a guard that keeps the lock alive.
    pub fn try_read_owned(self: Arc<Self>) -> Option<RwLockReadGuardArc<T>> {
        rw_lock_inside(self).try_read_arc()
    }

    /// As [`try_write`](RwLock::try_write), with a guard that keeps the lock alive.
    pub fn try_write_owned(self: Arc<Self>) -> Option<RwLockWriteGuardArc<T>> {
        rw_lock_inside(self).try_write_arc()
    }
}

impl Semaphore {
    /// As [`acquire`](Semaphore::acquire), with a permit that keeps the semaphore alive: it may go along with a task.
    ///
    /// ```
    /// use spinpark::sync::Semaphore;
    /// use std::sync::Arc;
    ///
    /// # let runtime = spinpark::Runtime::builder().procs(2).build()?;
    /// runtime.block_on(async {
    ///     let at_once = Arc::new(Semaphore::new(2));
    ///     for n in 0..10 {
    ///         let permit = Arc::clone(&at_once).acquire_owned().await;
    ///         spinpark::spawn(async move {
    ///             println!("{n}: one of two");
    ///             drop(permit);
    ///         });
    ///     }
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn acquire_owned(self: Arc<Self>) -> OwnedSemaphorePermit {
        self.acquire().await.forget();
        OwnedSemaphorePermit { semaphore: Some(self) }
    }

    /// As [`try_acquire`](Semaphore::try_acquire), with a permit that keeps the semaphore alive.
    pub fn try_acquire_owned(self: Arc<Self>) -> Option<OwnedSemaphorePermit> {
        self.try_acquire()?.forget();
        Some(OwnedSemaphorePermit { semaphore: Some(self) })
    }
}

/// One is in, until this is dropped.
pub struct OwnedSemaphorePermit {
    /// `None`: it was forgotten.
    semaphore: Option<Arc<Semaphore>>,
}

impl OwnedSemaphorePermit {
    /// Never gives it back: one less may be in from now on.
    pub fn forget(mut self) {
        self.semaphore = None;
    }
}

impl Drop for OwnedSemaphorePermit {
    fn drop(&mut self) {
        if let Some(semaphore) = &self.semaphore {
            semaphore.add_permits(1);
        }
    }
}

impl fmt::Debug for OwnedSemaphorePermit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedSemaphorePermit").finish_non_exhaustive()
    }
}
