//! Values of each thread's own.

use crate::machine;
use crate::state;
use std::cell::{Cell, RefCell};
use std::error::Error;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// A value of each thread's own: what [`thread_local!`](macro@crate::thread_local) makes.
///
/// ```
/// use std::cell::{Cell, RefCell};
/// rc11::thread_local! {
///     static COUNT: Cell<u32> = Cell::new(1);
///     static NAMES: RefCell<Vec<&'static str>> = RefCell::new(Vec::new());
/// }
/// rc11::model::Builder::new().bounded_ok().check(|| {
///     COUNT.set(2);
///     assert_eq!((COUNT.replace(3), COUNT.take(), COUNT.get()), (2, 3, 0));
///     COUNT.with(|count| count.set(1));
///     let other = rc11::thread::spawn(|| COUNT.try_with(Cell::get).unwrap());
///     assert_eq!(other.join().unwrap(), 1); // one for each thread
///     NAMES.with_borrow_mut(|names| names.push("a"));
///     assert_eq!(NAMES.with_borrow(Vec::len), 1);
/// });
/// ```
pub struct LocalKey<T> {
    #[doc(hidden)]
    pub init: fn() -> T,
    #[doc(hidden)]
    pub _p: PhantomData<fn(T)>,
}

/// A thread's value is gone: the thread is at its end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AccessError(());

impl fmt::Debug for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessError").finish()
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("already destroyed")
    }
}

impl Error for AccessError {}

impl<T: 'static> LocalKey<T> {
    /// `f` on the calling thread's value, which is made first if it is not there.
    ///
    /// # Panics
    /// If it is gone.
    pub fn with<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        self.try_with(f).expect("cannot access a (mock) TLS value during or after it is destroyed")
    }

    /// `f` on the calling thread's value, which is made first if it is not there.
    ///
    /// # Errors
    /// If it is gone.
    pub fn try_with<F, R>(&'static self, f: F) -> Result<R, AccessError>
    where
        F: FnOnce(&T) -> R,
    {
        let key = (machine::current(), std::ptr::from_ref(self).addr());
        let found = state::with(|state| state.locals.get(&key).cloned());
        let value = match found {
            Some(value) => value.ok_or(AccessError(()))?,
            None => {
                let value: Arc<dyn std::any::Any> = Arc::new((self.init)());
                state::with(|state| state.locals.insert(key, Some(Arc::clone(&value))));
                value
            }
        };
        Ok(f(value.downcast_ref().expect("a key has one type")))
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("LocalKey { .. }")
    }
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// Puts `value` in the calling thread's cell.
    ///
    /// # Panics
    /// If it is gone.
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }

    /// What is in the calling thread's cell.
    ///
    /// # Panics
    /// If it is gone.
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// Takes what is in the calling thread's cell.
    ///
    /// # Panics
    /// If it is gone.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }

    /// Puts `value` in the calling thread's cell, and returns what was there.
    ///
    /// # Panics
    /// If it is gone.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

impl<T: 'static> LocalKey<RefCell<T>> {
    /// `f` on what is in the calling thread's cell.
    ///
    /// # Panics
    /// If it is gone, or is changed.
    pub fn with_borrow<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.with(|cell| f(&cell.borrow()))
    }

    /// `f` on what is in the calling thread's cell, to change it.
    ///
    /// # Panics
    /// If it is gone, or in use.
    pub fn with_borrow_mut<R>(&'static self, f: impl FnOnce(&mut T) -> R) -> R {
        self.with(|cell| f(&mut cell.borrow_mut()))
    }

    /// Puts `value` in the calling thread's cell.
    ///
    /// # Panics
    /// If it is gone, or in use.
    pub fn set(&'static self, value: T) {
        self.replace(value);
    }

    /// Takes what is in the calling thread's cell.
    ///
    /// # Panics
    /// If it is gone, or in use.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(RefCell::take)
    }

    /// Puts `value` in the calling thread's cell, and returns what was there.
    ///
    /// # Panics
    /// If it is gone, or in use.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }
}

/// The calling thread is at its end: so are its values. A destructor may make others.
pub(crate) fn drop_locals() {
    let me = machine::current();
    loop {
        let local = state::with(|state| {
            let mut mine = state.locals.iter_mut().filter(|((thread, _), value)| *thread == me && value.is_some());
            let first = mine.next()?;
            first.1.take()
        });
        if local.is_none() {
            return;
        }
    }
}
