//! A mutex.

use super::lock::RawLock;
use super::poison::Poison;
use crate::graph::Loc;
use crate::machine;
use std::cell::Cell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{LockResult, Mutex as StdMutex, MutexGuard as StdGuard, PoisonError, TryLockError, TryLockResult};

/// Like `std::sync::Mutex`.
///
/// ```
/// use rc11::sync::{Arc, Mutex};
/// rc11::model(|| {
///     let mut count = Mutex::new(0);
///     *count.get_mut().unwrap() = 1; // no other thread has it
///     let count = Arc::new(count);
///     let theirs = count.clone();
///     let other = rc11::thread::spawn(move || *theirs.lock().unwrap() += 1);
///     if let Ok(count) = count.try_lock() {
///         assert!(*count >= 1);
///     }
///     other.join().unwrap();
///     assert!(!count.is_poisoned()); // its holder has not panicked
///     count.clear_poison();
///     assert_eq!(Arc::into_inner(count).unwrap().into_inner().unwrap(), 2);
/// });
/// ```
pub struct Mutex<T: ?Sized> {
    raw: RawLock,
    /// How often a guard was asked for `&mut T`.
    version: Cell<u64>,
    poison: Poison,
    data: StdMutex<T>,
}

/// Like `std::sync::MutexGuard`.
pub struct MutexGuard<'a, T: ?Sized> {
    lock: &'a Mutex<T>,
    /// None while a condition variable has it open.
    data: Option<StdGuard<'a, T>>,
    /// Did its thread unwind when it took the mutex?
    has_unwound: bool,
}

// SAFETY: std's mutex is `Sync` for such a `T`; the version is only touched by the lock's holder.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    /// An open mutex around `data`.
    ///
    /// # Panics
    /// Outside of a model.
    #[must_use]
    #[track_caller]
    pub fn new(data: T) -> Mutex<T> {
        Mutex { raw: RawLock::new(), version: Cell::new(0), poison: Poison::default(), data: StdMutex::new(data) }
    }

    /// What it guards.
    ///
    /// # Errors
    /// If a holder has panicked.
    pub fn into_inner(self) -> LockResult<T> {
        self.poison.result(self.data.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Takes it, when it is open.
    ///
    /// # Errors
    /// If a holder has panicked.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        self.raw.lock();
        self.guard().result()
    }

    /// Takes it, if it is open. It may find it taken a little longer than it is, as a weak exchange may.
    ///
    /// # Errors
    /// If it is not; if a holder has panicked.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        if self.raw.try_lock() { Ok(self.guard().result()?) } else { Err(TryLockError::WouldBlock) }
    }

    /// What it guards, for the caller alone: an access that nothing orders before that is a race.
    ///
    /// # Errors
    /// If a holder has panicked.
    #[track_caller]
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.raw.lend();
        self.poison.result(self.data.get_mut().unwrap_or_else(PoisonError::into_inner))
    }

    /// Has a holder panicked, whose panic was caught? As the play has come so far: it is no access of the model's.
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.poison.is_set()
    }

    /// As if none had.
    pub fn clear_poison(&self) {
        self.poison.clear();
    }

    fn guard(&self) -> MutexGuard<'_, T> {
        let data = Some(self.data.lock().unwrap_or_else(PoisonError::into_inner));
        MutexGuard { lock: self, data, has_unwound: machine::unwinds() }
    }
}

impl<T: ?Sized> MutexGuard<'_, T> {
    /// What taking the mutex gives.
    pub(super) fn result(self) -> LockResult<Self> {
        self.lock.poison.result(self)
    }

    /// Opens the mutex.
    #[track_caller]
    pub(super) fn open(&mut self) {
        self.data = None;
        self.lock.raw.unlock();
    }

    /// The value, for a condition that is not to change it.
    pub(super) fn unmarked(&mut self) -> &mut T {
        self.data.as_mut().expect("a guard has the mutex while it is lent out")
    }

    /// Where the mutex is.
    pub(super) fn loc(&self) -> Loc {
        self.lock.raw.loc()
    }

    /// A number that changes when the value may have changed.
    pub(super) fn version(&self) -> u64 {
        self.lock.version.get()
    }

    /// Takes it again.
    #[track_caller]
    pub(super) fn take(&mut self) {
        self.lock.raw.lock();
        self.data = Some(self.lock.data.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.data.as_ref().expect("a guard has the mutex while it is lent out")
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.lock.version.set(self.lock.version.get() + 1);
        self.data.as_mut().expect("a guard has the mutex while it is lent out")
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        self.lock.poison.given_back(self.has_unwound);
        self.open();
    }
}

impl<T: Default> Default for Mutex<T> {
    #[track_caller]
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

impl<T> From<T> for Mutex<T> {
    #[track_caller]
    fn from(data: T) -> Self {
        Mutex::new(data)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutex").field("data", &&self.data).finish()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.data, f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
