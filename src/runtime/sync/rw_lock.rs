//! A value for many that look, or for one that changes it.

#![allow(unsafe_code)]

use crate::runtime::sync::semaphore::{Acquire, Semaphore, SemaphorePermit};
use core::cell::UnsafeCell;
use core::fmt;
use core::future::Future;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use std::sync::Arc;

/// The permits: a reader has one, a writer all.
const READERS: u32 = u32::MAX >> 3;

/// A value for many that look, or for one that changes it. Go: `sync.RWMutex`.
///
/// Waiters are served in FIFO order: a new reader waits behind a writer that waits, and a new writer behind the readers that do.
/// So neither starves, and a task that reads and reads again before the first guard is dropped may wait for ever, for a writer in
/// between.
///
/// # Cancel safety
/// A wait that is dropped gives up its place: called again, it waits at the end of the queue.
///
/// ```
/// use spinpark::sync::RwLock;
/// use std::sync::Arc;
///
/// # spinpark::run(async {
/// let lock = Arc::new(RwLock::new(1));
/// {
///     let (one, two) = (lock.read().await, lock.try_read()); // many look
///     assert!(*one == 1 && two.is_ok() && lock.try_write().is_err());
/// }
/// let mut writer = lock.write().await;
/// *writer += 1;
/// assert_eq!(*writer.downgrade(), 2);
/// {
///     let _reader = Arc::clone(&lock).read_owned().await; // the guard keeps the lock alive
///     assert!(Arc::clone(&lock).try_read_owned().is_ok());
/// }
/// *Arc::clone(&lock).write_owned().await = 3;
/// assert_eq!(*lock.try_write_owned().expect("it is free").downgrade(), 3);
/// # });
/// ```
pub struct RwLock<T: ?Sized> {
    permits: Semaphore,
    value: UnsafeCell<T>,
}

// SAFETY: it owns the value.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: many threads have `&T` at once, one has `&mut T`, by permits that only guards have.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

impl<T> RwLock<T> {
    /// An unlocked one.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let lock = spinpark::sync::RwLock::new(1);
    /// let (one, two) = (lock.read().await, lock.read().await); // both at once
    /// assert!(*one == *two && lock.try_write().is_err());
    /// # });
    /// ```
    pub const fn new(value: T) -> Self {
        RwLock { permits: Semaphore::new(READERS as usize), value: UnsafeCell::new(value) }
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Waits for the writers ahead of it, then takes a read lock. Go: `RLock`.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let lock = spinpark::sync::RwLock::new(1);
    /// assert_eq!(*lock.read().await + *lock.read().await, 2);
    /// # });
    /// ```
    pub fn read(&self) -> Read<'_, T> {
        Read { lock: self, acquire: self.permits.acquire_for(1, "sync.RWMutex.RLock") }
    }

    /// Waits for all readers and writers ahead of it, then takes the write lock. Go: `Lock`.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let lock = spinpark::sync::RwLock::new(1);
    /// *lock.write().await += 1;
    /// assert_eq!(lock.into_inner(), 2);
    /// # });
    /// ```
    pub fn write(&self) -> Write<'_, T> {
        Write { lock: self, acquire: self.permits.acquire_for(READERS, "sync.RWMutex.Lock") }
    }

    /// Takes a read lock, if no writer holds the lock or waits. From any thread. Go: `TryRLock`.
    ///
    /// # Errors
    /// If it would have to wait.
    pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T>, TryLockError> {
        let permit = self.permits.try_acquire().map_err(|_| TryLockError(()))?;
        Ok(RwLockReadGuard::new(self, permit))
    }

    /// Takes the write lock, if it is free. From any thread. Go: `TryLock`.
    ///
    /// # Errors
    /// If it would have to wait.
    pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T>, TryLockError> {
        let permit = self.permits.try_acquire_many(READERS).map_err(|_| TryLockError(()))?;
        Ok(RwLockWriteGuard::new(self, permit))
    }

    /// As [`read`](RwLock::read), with a guard that keeps the lock alive.
    pub async fn read_owned(self: Arc<Self>) -> OwnedRwLockReadGuard<T> {
        core::mem::forget(self.read().await);
        OwnedRwLockReadGuard { lock: self }
    }

    /// As [`write`](RwLock::write), with a guard that keeps the lock alive.
    pub async fn write_owned(self: Arc<Self>) -> OwnedRwLockWriteGuard<T> {
        core::mem::forget(self.write().await);
        OwnedRwLockWriteGuard { lock: self, permits: READERS }
    }

    /// As [`try_read`](RwLock::try_read), with a guard that keeps the lock alive.
    ///
    /// # Errors
    /// If it would have to wait.
    pub fn try_read_owned(self: Arc<Self>) -> Result<OwnedRwLockReadGuard<T>, TryLockError> {
        core::mem::forget(self.try_read()?);
        Ok(OwnedRwLockReadGuard { lock: self })
    }

    /// As [`try_write`](RwLock::try_write), with a guard that keeps the lock alive.
    ///
    /// # Errors
    /// If it would have to wait.
    pub fn try_write_owned(self: Arc<Self>) -> Result<OwnedRwLockWriteGuard<T>, TryLockError> {
        core::mem::forget(self.try_write()?);
        Ok(OwnedRwLockWriteGuard { lock: self, permits: READERS })
    }

    /// The value; there is no other user.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        RwLock::new(value)
    }
}

impl<T: fmt::Debug + ?Sized> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.try_read() {
            Ok(guard) => f.debug_struct("RwLock").field("value", &&*guard).finish(),
            Err(_) => f.debug_struct("RwLock").field("value", &format_args!("<locked>")).finish(),
        }
    }
}

/// What [`RwLock::read`] returns.
#[must_use = "a future does nothing until it is awaited"]
pub struct Read<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    acquire: Acquire<'a>,
}

/// What [`RwLock::write`] returns.
#[must_use = "a future does nothing until it is awaited"]
pub struct Write<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    acquire: Acquire<'a>,
}

impl<'a, T: ?Sized> Future for Read<'a, T> {
    type Output = RwLockReadGuard<'a, T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let permit = ready!(Pin::new(&mut self.acquire).poll(cx)).expect("a lock is never closed");
        Poll::Ready(RwLockReadGuard::new(self.lock, permit))
    }
}

impl<'a, T: ?Sized> Future for Write<'a, T> {
    type Output = RwLockWriteGuard<'a, T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let permit = ready!(Pin::new(&mut self.acquire).poll(cx)).expect("a lock is never closed");
        Poll::Ready(RwLockWriteGuard::new(self.lock, permit))
    }
}

/// Many may look, as long as this is not dropped.
#[must_use = "dropped, it unlocks at once"]
#[clippy::has_significant_drop]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    /// Of `&T`.
    value: PhantomData<&'a T>,
}

/// One may change it, as long as this is not dropped.
#[must_use = "dropped, it unlocks at once"]
#[clippy::has_significant_drop]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    /// All; or all but one, which a reader has now.
    permits: u32,
    /// Of `&mut T`.
    value: PhantomData<&'a mut T>,
}

/// As [`RwLockReadGuard`], and keeps the lock alive.
#[must_use = "dropped, it unlocks at once"]
#[clippy::has_significant_drop]
pub struct OwnedRwLockReadGuard<T: ?Sized> {
    lock: Arc<RwLock<T>>,
}

/// As [`RwLockWriteGuard`], and keeps the lock alive.
#[must_use = "dropped, it unlocks at once"]
#[clippy::has_significant_drop]
pub struct OwnedRwLockWriteGuard<T: ?Sized> {
    lock: Arc<RwLock<T>>,
    /// As above.
    permits: u32,
}

// SAFETY: it gives `&T`, and on the last drop of the lock, which it borrows, nothing.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Sync> Send for RwLockReadGuard<'_, T> {}
// SAFETY: shared, it gives `&T`.
unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}
// SAFETY: it is `&mut T`.
unsafe impl<T: ?Sized + Send> Send for RwLockWriteGuard<'_, T> {}
// SAFETY: shared, it gives `&T`; its last owner drops the value, for which it is to be `Send`.
unsafe impl<T: ?Sized + Send + Sync> Sync for OwnedRwLockReadGuard<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Send for OwnedRwLockReadGuard<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Sync for OwnedRwLockWriteGuard<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send + Sync> Send for OwnedRwLockWriteGuard<T> {}

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    /// The permit is the guard's.
    fn new(lock: &'a RwLock<T>, permit: SemaphorePermit<'a>) -> Self {
        permit.forget();
        RwLockReadGuard { lock, value: PhantomData }
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// The permits are the guard's.
    fn new(lock: &'a RwLock<T>, permits: SemaphorePermit<'a>) -> Self {
        permits.forget();
        RwLockWriteGuard { lock, permits: READERS, value: PhantomData }
    }

    /// Looks only, from now on: other readers that wait come in, no writer comes in between.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let lock = spinpark::sync::RwLock::new(1);
    /// let reader = lock.write().await.downgrade();
    /// assert!(lock.try_read().is_ok(), "others look, too");
    /// drop(reader);
    /// # });
    /// ```
    pub fn downgrade(mut self) -> RwLockReadGuard<'a, T> {
        self.permits = READERS - 1;
        RwLockReadGuard { lock: self.lock, value: PhantomData }
    }
}

impl<T: ?Sized> OwnedRwLockWriteGuard<T> {
    /// As [`RwLockWriteGuard::downgrade`].
    ///
    /// ```
    /// # spinpark::run(async {
    /// let lock = std::sync::Arc::new(spinpark::sync::RwLock::new(1));
    /// let reader = lock.write_owned().await.downgrade();
    /// assert_eq!(*reader, 1);
    /// # });
    /// ```
    pub fn downgrade(mut self) -> OwnedRwLockReadGuard<T> {
        self.permits = READERS - 1;
        OwnedRwLockReadGuard { lock: Arc::clone(&self.lock) }
    }
}

macro_rules! guard {
    ($guard:ty, |$this:ident| $permits:expr) => {
        impl<T: ?Sized> Deref for $guard {
            type Target = T;

            fn deref(&self) -> &T {
                // SAFETY: a reader has a permit, so no writer has all; a writer has all, and lends itself.
                unsafe { &*self.lock.value.get() }
            }
        }

        impl<T: ?Sized> Drop for $guard {
            fn drop(&mut self) {
                let $this = &*self;
                $this.lock.permits.add_permits($permits as usize);
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $guard {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + fmt::Display> fmt::Display for $guard {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}

macro_rules! writer {
    ($guard:ty) => {
        guard!($guard, |guard| guard.permits);

        impl<T: ?Sized> DerefMut for $guard {
            fn deref_mut(&mut self) -> &mut T {
                // SAFETY: it has all permits, and is borrowed for as long.
                unsafe { &mut *self.lock.value.get() }
            }
        }
    };
}

guard!(RwLockReadGuard<'_, T>, |guard| 1);
guard!(OwnedRwLockReadGuard<T>, |guard| 1);
writer!(RwLockWriteGuard<'_, T>);
writer!(OwnedRwLockWriteGuard<T>);

macro_rules! debug {
    ($($future:ident)*) => {
        $(impl<T: ?Sized> fmt::Debug for $future<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($future)).finish_non_exhaustive()
            }
        })*
    };
}

debug!(Read Write);

/// A lock could not be acquired at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TryLockError(pub(super) ());

impl fmt::Display for TryLockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the lock is held or has waiters")
    }
}

impl core::error::Error for TryLockError {}

static_assertions::assert_impl_all!(RwLock<core::cell::Cell<u8>>: Send);
static_assertions::assert_not_impl_any!(RwLock<core::cell::Cell<u8>>: Sync);
static_assertions::assert_not_impl_any!(RwLockReadGuard<'static, core::cell::Cell<u8>>: Send, Sync);
static_assertions::assert_not_impl_any!(OwnedRwLockReadGuard<core::cell::Cell<u8>>: Send, Sync);
static_assertions::assert_impl_all!(RwLockWriteGuard<'static, core::cell::Cell<u8>>: Send);
static_assertions::assert_impl_all!(Read<'static, u8>: Send, Unpin);
