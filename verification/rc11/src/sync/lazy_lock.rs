//! A value that its first use makes.

use super::OnceLock;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};

/// Like `std::sync::LazyLock`: the first use of the value makes it, once in each execution. It may be in a `static`.
///
/// ```
/// use rc11::sync::{LazyLock, Mutex};
/// use rc11::thread;
///
/// static LOG: LazyLock<Mutex<Vec<u32>>> = LazyLock::new(|| Mutex::new(Vec::new()));
///
/// rc11::model(|| {
///     let other = thread::spawn(|| LOG.lock().unwrap().push(1));
///     LOG.lock().unwrap().push(2);
///     other.join().unwrap();
///     assert_eq!(LOG.lock().unwrap().len(), 2); // and not what the execution before has left
/// });
/// ```
///
/// ```
/// use rc11::sync::LazyLock;
/// rc11::model(|| {
///     let mut lazy = LazyLock::new(|| 7);
///     assert!(LazyLock::get(&lazy).is_none()); // not made yet
///     assert_eq!(*LazyLock::force(&lazy), 7);
///     *LazyLock::force_mut(&mut lazy) += 1;
///     assert_eq!(LazyLock::get_mut(&mut lazy), Some(&mut 8));
/// });
/// ```
pub struct LazyLock<T, F = fn() -> T> {
    value: OnceLock<T>,
    init: ManuallyDrop<F>,
    is_taken: AtomicBool,
}

// SAFETY: it lends `&T` to any thread, and any thread may run `F`.
unsafe impl<T: Send + Sync, F: Send> Sync for LazyLock<T, F> {}

impl<T, F: FnOnce() -> T> LazyLock<T, F> {
    /// One whose value `f` makes.
    pub const fn new(f: F) -> LazyLock<T, F> {
        LazyLock { value: OnceLock::new(), init: ManuallyDrop::new(f), is_taken: AtomicBool::new(false) }
    }

    /// The value, which is made first if it is not there.
    ///
    /// # Panics
    /// If what makes it has panicked; outside of a model.
    #[track_caller]
    pub fn force(this: &LazyLock<T, F>) -> &T {
        this.value.get_or_init_once(|| this.run())
    }

    /// The same, to change it.
    ///
    /// # Panics
    /// Outside of a model.
    #[track_caller]
    pub fn force_mut(this: &mut LazyLock<T, F>) -> &mut T {
        LazyLock::force(this);
        this.value.get_mut().expect("it was made just now")
    }

    /// The value, if it was made.
    ///
    /// # Panics
    /// Outside of a model.
    #[must_use]
    #[track_caller]
    pub fn get(this: &LazyLock<T, F>) -> Option<&T> {
        this.value.get()
    }

    /// The same, to change it.
    ///
    /// # Panics
    /// Outside of a model.
    #[must_use]
    #[track_caller]
    pub fn get_mut(this: &mut LazyLock<T, F>) -> Option<&mut T> {
        this.value.get_mut()
    }

    fn run(&self) -> T {
        // Relaxed: a lock that is no `static` is used by one thread of the machine.
        self.is_taken.store(true, Ordering::Relaxed);
        // SAFETY: it runs once in an execution. Only one in a `static` is in more than one; what a constant expression
        // has made can be made again bit by bit, since no constant owns memory that is freed.
        let f: F = unsafe { std::ptr::read(&*self.init) };
        f()
    }
}

impl<T, F> Drop for LazyLock<T, F> {
    fn drop(&mut self) {
        if !*self.is_taken.get_mut() {
            // SAFETY: it has not run, and is dropped here alone.
            unsafe { ManuallyDrop::drop(&mut self.init) };
        }
    }
}

impl<T, F: FnOnce() -> T> Deref for LazyLock<T, F> {
    type Target = T;

    #[track_caller]
    fn deref(&self) -> &T {
        LazyLock::force(self)
    }
}

impl<T, F: FnOnce() -> T> DerefMut for LazyLock<T, F> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut T {
        LazyLock::force_mut(self)
    }
}

impl<T: Default> Default for LazyLock<T> {
    fn default() -> LazyLock<T> {
        LazyLock::new(T::default)
    }
}

impl<T, F> fmt::Debug for LazyLock<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("LazyLock { .. }")
    }
}
