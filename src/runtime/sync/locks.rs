//! Mutex, reader-writer lock, semaphore, and a value that is made once: async-lock's.

use crate::runtime::sync::coop::Turn;
use async_lock::{MutexGuard, RwLockReadGuard, RwLockWriteGuard, SemaphoreGuard, futures};
use core::fmt;
use core::future::Future;

/// What [`Mutex::lock`] returns.
pub type Lock<'a, T> = Turn<futures::Lock<'a, T>>;
/// What [`RwLock::read`] returns.
pub type Read<'a, T> = Turn<futures::Read<'a, T>>;
/// What [`RwLock::write`] returns.
pub type Write<'a, T> = Turn<futures::Write<'a, T>>;
/// What [`Semaphore::acquire`] returns.
pub type Acquire<'a> = Turn<futures::Acquire<'a>>;

/// A value for one at a time. Go: `sync.Mutex`.
///
/// A task that comes just when it is free may have it before those that wait, which is fast; but one that has waited for half a
/// millisecond is served before anybody new. (Go: a millisecond, `starvationThresholdNs`.)
#[derive(Default)]
#[repr(transparent)] // so that an `Arc` of it is one of what is inside: `owned`
pub struct Mutex<T: ?Sized>(async_lock::Mutex<T>);

impl<T> Mutex<T> {
    /// An unlocked one.
    pub const fn new(value: T) -> Self {
        Mutex(async_lock::Mutex::new(value))
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits until it is free. It is locked until the guard is dropped. Go: `Lock`.
    #[inline]
    pub fn lock(&self) -> Lock<'_, T> {
        Turn::new(self.0.lock(), "sync.Mutex.Lock")
    }

    /// Locks it if it is free, and nobody has waited for long. From any thread. Go: `TryLock`.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.0.try_lock()
    }

    /// The value; nobody else has it.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }
}

impl<T: fmt::Debug + ?Sized> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Mutex::new(value)
    }
}

/// A value for many that look, or for one that changes it. Go: `sync.RWMutex`.
///
/// As soon as a writer waits, new readers wait behind it.
#[derive(Default)]
#[repr(transparent)] // as `Mutex`
pub struct RwLock<T: ?Sized>(async_lock::RwLock<T>);

impl<T> RwLock<T> {
    /// An unlocked one.
    pub const fn new(value: T) -> Self {
        RwLock(async_lock::RwLock::new(value))
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Waits until nobody changes it, nor waits to. A task that reads and reads again before the first guard is dropped may wait
    /// for ever, for a writer in between. Go: `RLock`.
    #[inline]
    pub fn read(&self) -> Read<'_, T> {
        Turn::new(self.0.read(), "sync.RWMutex.RLock")
    }

    /// Waits until nobody else has it. Go: `Lock`.
    #[inline]
    pub fn write(&self) -> Write<'_, T> {
        Turn::new(self.0.write(), "sync.RWMutex.Lock")
    }

    /// Reads, if nobody changes it or waits to. From any thread. Go: `TryRLock`.
    #[inline]
    pub fn try_read(&self) -> Option<RwLockReadGuard<'_, T>> {
        self.0.try_read()
    }

    /// Changes it, if nobody has it. From any thread. Go: `TryLock`.
    #[inline]
    pub fn try_write(&self) -> Option<RwLockWriteGuard<'_, T>> {
        self.0.try_write()
    }

    /// The value; nobody else has it.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }
}

impl<T: fmt::Debug + ?Sized> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        RwLock::new(value)
    }
}

/// So many may be in at once. Go: `golang.org/x/sync/semaphore`.
#[derive(Debug)]
pub struct Semaphore(async_lock::Semaphore);

impl Semaphore {
    /// Lets `permits` in at once.
    pub const fn new(permits: usize) -> Self {
        Semaphore(async_lock::Semaphore::new(permits))
    }

    /// Waits until one more may come in, which is in until the guard is dropped. Go: `Acquire`.
    #[inline]
    pub fn acquire(&self) -> Acquire<'_> {
        Turn::new(self.0.acquire(), "semacquire")
    }

    /// Comes in, if one more may. From any thread. Go: `TryAcquire`.
    #[inline]
    pub fn try_acquire(&self) -> Option<SemaphoreGuard<'_>> {
        self.0.try_acquire()
    }

    /// From now on so many more may be in. With a guard that was forgotten ([`SemaphoreGuard::forget`]) one permit is
    /// gone for good.
    pub fn add_permits(&self, more: usize) {
        self.0.add_permits(more);
    }
}

/// A value that is made once, by the first that wants it; the others wait for it. Go: `sync.Once`, `sync.OnceValue`.
pub struct OnceCell<T>(async_lock::OnceCell<T>);

impl<T> OnceCell<T> {
    /// Without a value yet.
    pub const fn new() -> Self {
        OnceCell(async_lock::OnceCell::new())
    }

    /// The value, if it is made. From any thread.
    pub fn get(&self) -> Option<&T> {
        self.0.get()
    }

    /// The value, if it is made; nobody else has it.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.0.get_mut()
    }

    /// The value; if there is none yet, `make` makes it. If somebody else is about to, waits for that; if that fails, by a
    /// panic or because the future was dropped, it is this one's turn. Go: `Once.Do`.
    pub async fn get_or_init<F: Future<Output = T>>(&self, make: impl FnOnce() -> F) -> &T {
        self.0.get_or_init(make).await
    }

    /// The same, if making it may fail.
    ///
    /// # Errors
    /// When awaited: what `make` gave. The next caller tries again.
    pub async fn get_or_try_init<E, F: Future<Output = Result<T, E>>>(
        &self,
        make: impl FnOnce() -> F,
    ) -> Result<&T, E> {
        self.0.get_or_try_init(make).await
    }

    /// Waits until there is a value, and makes none.
    pub async fn wait(&self) -> &T {
        self.0.wait().await
    }

    /// The value, if it was made.
    pub fn into_inner(self) -> Option<T> {
        self.0.into_inner()
    }
}

impl<T> Default for OnceCell<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OnceCell").field(&self.get()).finish()
    }
}

static_assertions::assert_impl_all!(Lock<'static, std::cell::Cell<u8>>: Send);
static_assertions::assert_impl_all!(Mutex<std::cell::Cell<u8>>: Send, Sync);
