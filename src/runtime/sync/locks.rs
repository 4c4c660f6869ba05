//! Mutex, and a value that is made once: async-lock's.

use crate::runtime::exec::yielding::proceed;
use crate::runtime::sync::coop::{Turn, gently};
use crate::runtime::sync::rw_lock::TryLockError;
use async_lock::{MutexGuard, futures};
use core::fmt;
use core::future::Future;
use core::pin::pin;
use core::task::{self, Waker};

/// What [`Mutex::lock`] returns.
pub type Lock<'a, T> = Turn<futures::Lock<'a, T>>;

/// A value for one at a time. Go: `sync.Mutex`.
///
/// A task that comes just when it is free may have it before those that wait, which is fast; but one that has waited for half a
/// millisecond is served before any newcomer. (Go: a millisecond, `starvationThresholdNs`.)
///
/// ```
/// use spinpark::sync::Mutex;
/// use std::sync::Arc;
///
/// # spinpark::run(async {
/// let count = Arc::new(Mutex::new(0));
/// let tasks: spinpark::JoinSet<()> = (0..4)
///     .map(|_| {
///         let count = Arc::clone(&count);
///         async move { *count.lock().await += 1 }
///     })
///     .collect();
/// tasks.join_all().await;
/// assert_eq!(*count.try_lock().expect("it is free"), 4);
/// # });
/// ```
#[derive(Default)]
#[repr(transparent)] // so that an `Arc` of it is one of what is inside: `owned`
pub struct Mutex<T: ?Sized>(async_lock::Mutex<T>);

impl<T> Mutex<T> {
    /// An unlocked one.
    ///
    /// ```
    /// use spinpark::sync::Mutex;
    ///
    /// # spinpark::run(async {
    /// static COUNT: Mutex<u32> = Mutex::new(1); // without a runtime, too
    /// *COUNT.lock().await += 1;
    /// assert_eq!(*COUNT.lock().await, 2);
    /// # });
    /// ```
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
    ///
    /// # Cancel safety
    /// Dropped while it waits, it gives up its place: called again, it waits at the end of the queue.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mutex = spinpark::sync::Mutex::new(1);
    /// let mut guard = mutex.lock().await;
    /// *guard += 1;
    /// assert!(mutex.try_lock().is_err());
    /// drop(guard);
    /// assert_eq!(mutex.into_inner(), 2);
    /// # });
    /// ```
    #[inline]
    pub fn lock(&self) -> Lock<'_, T> {
        Turn::new(self.0.lock(), "sync.Mutex.Lock")
    }

    /// Locks it if it is free, and no task has waited for long. From any thread. Go: `TryLock`.
    ///
    /// # Errors
    /// If it would have to wait.
    ///
    /// ```
    /// let mutex = spinpark::sync::Mutex::new(1);
    /// let guard = mutex.try_lock().expect("it is free");
    /// assert!(mutex.try_lock().is_err());
    /// drop(guard);
    /// ```
    #[inline]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        self.0.try_lock().ok_or(TryLockError(()))
    }

    /// The value; there is no other user.
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

/// A value that is made once, by the first that wants it; the others wait for it. Go: `sync.Once`, `sync.OnceValue`.
///
/// ```
/// use spinpark::sync::OnceCell;
///
/// # spinpark::run(async {
/// let config = OnceCell::new();
/// assert_eq!(config.get(), None);
/// assert!(config.get_or_try_init(|| async { Err("not found") }).await.is_err());
/// assert_eq!(config.get_or_init(|| async { 1 }).await, &1);
/// assert_eq!(config.get_or_init(|| async { 2 }).await, &1); // made once
/// assert_eq!((config.get(), config.wait().await), (Some(&1), &1));
/// # });
/// ```
pub struct OnceCell<T>(async_lock::OnceCell<T>);

impl<T> OnceCell<T> {
    /// Without a value yet.
    ///
    /// ```
    /// use spinpark::sync::OnceCell;
    ///
    /// # spinpark::run(async {
    /// static CONFIG: OnceCell<String> = OnceCell::new();
    /// assert_eq!(CONFIG.get_or_init(|| async { "made once".into() }).await, "made once");
    /// # });
    /// ```
    pub const fn new() -> Self {
        OnceCell(async_lock::OnceCell::new())
    }

    /// The value, if it is made. From any thread.
    pub fn get(&self) -> Option<&T> {
        self.0.get()
    }

    /// The value, if it is made; there is no other user.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.0.get_mut()
    }

    /// The value; if there is none yet, `make` makes it. If another task is about to, waits for that; if that fails, by a
    /// panic or because the future was dropped, it is this one's turn. Go: `Once.Do`.
    ///
    /// # Cancel safety
    /// Dropped, it drops what `make` has given: the next caller makes the value anew.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let cell = spinpark::sync::OnceCell::new();
    /// assert_eq!(cell.get_or_init(|| async { 1 }).await, &1);
    /// assert_eq!(cell.get_or_init(|| async { 2 }).await, &1);
    /// # });
    /// ```
    pub async fn get_or_init<F: Future<Output = T>>(&self, make: impl FnOnce() -> F) -> &T {
        proceed().await;
        gently(self.0.get_or_init(make)).await
    }

    /// The same, if making it may fail.
    ///
    /// # Errors
    /// When awaited: what `make` gave. The next caller tries again.
    ///
    /// # Cancel safety
    /// As [`get_or_init`](OnceCell::get_or_init)'s.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let cell = spinpark::sync::OnceCell::new();
    /// assert!(cell.get_or_try_init(|| async { Err("not yet") }).await.is_err());
    /// assert_eq!(cell.get_or_try_init(|| async { Ok::<_, ()>(1) }).await, Ok(&1));
    /// # });
    /// ```
    pub async fn get_or_try_init<E, F: Future<Output = Result<T, E>>>(
        &self,
        make: impl FnOnce() -> F,
    ) -> Result<&T, E> {
        proceed().await;
        gently(self.0.get_or_try_init(make)).await
    }

    /// Sets the value, without waiting. From any thread.
    ///
    /// # Errors
    /// There is one already, or a task makes one: here is what was to be set.
    ///
    /// ```
    /// use spinpark::sync::OnceCell;
    ///
    /// static NAME: OnceCell<String> = OnceCell::new();
    /// assert_eq!(NAME.set("first".into()), Ok(()));
    /// assert_eq!(NAME.set("second".into()), Err("second".into()));
    /// assert_eq!(NAME.get().map(String::as_str), Some("first"));
    /// ```
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        let make = self.0.get_or_init(async || value.take().expect("once_cell: a value is set twice"));
        // Asked once: if it is not ready, another task makes the value, and ours is still here.
        let _ = pin!(make).poll(&mut task::Context::from_waker(Waker::noop()));
        value.map_or(Ok(()), Err)
    }

    /// Is the value made?
    pub fn initialized(&self) -> bool {
        self.0.is_initialized()
    }

    /// Waits until there is a value, and makes none.
    ///
    /// # Cancel safety
    /// Dropped, it changes nothing.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let cell = spinpark::sync::OnceCell::new();
    /// cell.get_or_init(|| async { 1 }).await;
    /// assert_eq!(cell.wait().await, &1);
    /// # });
    /// ```
    pub async fn wait(&self) -> &T {
        proceed().await;
        gently(self.0.wait()).await
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
