//! The value, and what borrows it.

use crate::waits::watch::Slot;
use core::fmt;
use core::ops::Deref;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// Where the value lies. A panic of a holder is not passed on: it has been reported where it happened.
pub(super) struct Value<T>(RwLock<T>);

impl<T> Value<T> {
    pub(super) fn new(initial: T) -> Self {
        Value(RwLock::new(initial))
    }
}

impl<T> Slot for Value<T> {
    type Value = T;
    type Ref<'a>
        = RwLockReadGuard<'a, T>
    where
        T: 'a;

    fn read<R>(&self, f: impl FnOnce() -> R) -> (Self::Ref<'_>, R) {
        let value = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let result = f();
        (value, result)
    }

    fn write<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.0.write().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The value, which does not change while this is there.
pub struct Ref<'a, T> {
    pub(super) value: RwLockReadGuard<'a, T>,
    pub(super) has_changed: bool,
}

impl<T> Ref<'_, T> {
    /// Is it another than the receiver had seen? Of what a sender borrows: no.
    #[must_use]
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }
}

impl<T> Deref for Ref<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: fmt::Debug> fmt::Debug for Ref<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
