//! A lock for one writer or many readers: a word that counts them.

use super::poison::Poison;
use crate::graph::{Compute, Op, Order, Update};
use crate::machine;
use crate::place::Place;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::{
    LockResult, PoisonError, RwLock as StdLock, RwLockReadGuard as StdRead, RwLockWriteGuard as StdWrite, TryLockError,
    TryLockResult,
};

/// More than there can be readers.
const WRITER: u64 = 1 << 32;

/// Like `std::sync::RwLock`. Both orders of readers and writers are tried.
///
/// ```
/// use rc11::sync::{Arc, RwLock};
/// rc11::model(|| {
///     let mut lock = RwLock::new(0);
///     *lock.get_mut().unwrap() = 1; // no other thread has it
///     let lock = Arc::new(lock);
///     let theirs = lock.clone();
///     let other = rc11::thread::spawn(move || *theirs.write().unwrap() += 1);
///     assert!(*lock.read().unwrap() >= 1);
///     let _ = lock.try_read().map(|count| assert!(*count >= 1));
///     let _ = lock.try_write().map(|mut count| *count += 0);
///     other.join().unwrap();
///     assert!(!lock.is_poisoned()); // no writer has panicked
///     lock.clear_poison();
///     assert_eq!(Arc::into_inner(lock).unwrap().into_inner().unwrap(), 2);
/// });
/// ```
#[derive(Debug)]
pub struct RwLock<T: ?Sized> {
    place: Place,
    poison: Poison,
    data: StdLock<T>,
}

/// Like `std::sync::RwLockReadGuard`.
#[derive(Debug)]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    /// None while it is given back.
    data: Option<StdRead<'a, T>>,
}

/// Like `std::sync::RwLockWriteGuard`.
///
/// ```
/// use rc11::sync::{RwLock, RwLockWriteGuard};
/// rc11::model(|| {
///     let lock = RwLock::new(1);
///     let mut writes = lock.write().unwrap();
///     *writes = 2;
///     let reads = RwLockWriteGuard::downgrade(writes); // no writer comes between
///     assert!(*reads == 2 && lock.try_read().is_ok());
/// });
/// ```
#[derive(Debug)]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    /// None while it is given back.
    data: Option<StdWrite<'a, T>>,
    /// Did its thread unwind when it took the lock?
    has_unwound: bool,
}

impl<T> RwLock<T> {
    /// An open lock around `data`.
    ///
    /// # Panics
    /// Outside of a model.
    #[must_use]
    #[track_caller]
    pub fn new(data: T) -> RwLock<T> {
        RwLock { place: Place::new(0), poison: Poison::default(), data: StdLock::new(data) }
    }

    /// What it guards.
    ///
    /// # Errors
    /// If a writer has panicked.
    pub fn into_inner(self) -> LockResult<T> {
        self.poison.result(self.data.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Takes it for reading, when no writer has it.
    ///
    /// # Errors
    /// If a writer has panicked.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        self.place.update(Order::Acquire, Update::Enter { below: WRITER, waits: true });
        self.poison.result(self.reader(true))
    }

    /// Takes it for reading, if no writer has it.
    ///
    /// # Errors
    /// If one has; if a writer has panicked.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        let before = self.place.update(Order::Acquire, Update::Enter { below: WRITER, waits: false });
        if before < WRITER { Ok(self.poison.result(self.reader(false))?) } else { Err(TryLockError::WouldBlock) }
    }

    /// Waits until it is free, and takes it for writing.
    ///
    /// # Errors
    /// If a writer has panicked.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        self.place.update(Order::Acquire, Update::Await { wanted: 0, new: WRITER });
        self.poison.result(self.writer())
    }

    /// Takes it for writing, if it is free.
    ///
    /// # Errors
    /// If it is not free; if a writer has panicked.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        let update = Update::Exchange { current: 0, new: WRITER, failure: Order::Relaxed };
        let before = self.place.update(Order::Acquire, update);
        if before == 0 { Ok(self.poison.result(self.writer())?) } else { Err(TryLockError::WouldBlock) }
    }

    /// What it guards; the lock is not shared.
    ///
    /// # Errors
    /// If a writer has panicked.
    #[track_caller]
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.place.lend();
        self.poison.result(self.data.get_mut().unwrap_or_else(PoisonError::into_inner))
    }

    /// Has a writer panicked, whose panic was caught? As the play has come so far: it is no access of the model's.
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.poison.is_set()
    }

    /// As if none had.
    pub fn clear_poison(&self) {
        self.poison.clear();
    }

    fn reader(&self, waits: bool) -> RwLockReadGuard<'_, T> {
        machine::note_read(self.place.loc(), waits);
        RwLockReadGuard { lock: self, data: Some(self.data.read().unwrap_or_else(PoisonError::into_inner)) }
    }

    fn writer(&self) -> RwLockWriteGuard<'_, T> {
        let data = Some(self.data.write().unwrap_or_else(PoisonError::into_inner));
        RwLockWriteGuard { lock: self, data, has_unwound: machine::unwinds() }
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.data.as_ref().expect("a guard has the lock")
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.data.as_ref().expect("a guard has the lock")
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.data.as_mut().expect("a guard has the lock")
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Lets other readers in, and goes on reading: no writer comes between.
    #[must_use]
    #[track_caller]
    pub fn downgrade(mut this: Self) -> RwLockReadGuard<'a, T> {
        this.data = None;
        this.lock.place.update(Order::Release, Update::Swap(1));
        let lock = ManuallyDrop::new(this).lock;
        lock.reader(false)
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        self.data = None;
        machine::forget_read(self.lock.place.loc());
        let compute = Compute { op: Op::Sub, bits: 64, is_signed: false };
        self.lock.place.update(Order::Release, Update::Compute(compute, 1));
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        self.lock.poison.given_back(self.has_unwound);
        self.data = None;
        self.lock.place.update(Order::Release, Update::Swap(0));
    }
}

impl<T: Default> Default for RwLock<T> {
    #[track_caller]
    fn default() -> Self {
        RwLock::new(T::default())
    }
}

impl<T> From<T> for RwLock<T> {
    #[track_caller]
    fn from(data: T) -> Self {
        RwLock::new(data)
    }
}

macro_rules! display {
    ($($guard:ident)*) => {$(
        impl<T: ?Sized + fmt::Display> fmt::Display for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    )*};
}
display! { RwLockReadGuard RwLockWriteGuard }
