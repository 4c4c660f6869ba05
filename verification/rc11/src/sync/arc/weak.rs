//! References that do not keep the value.

use super::{Arc, LOCKED, Object};
use crate::graph::{Op, Order};
use crate::state;
use std::any::Any;
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::atomic::Ordering;
use std::sync::{Arc as StdArc, Weak as StdWeak};

/// Like `std::sync::Weak`. That it is upgraded shows the count of the `Arc`s, which are events then: as in std, `upgrade`
/// adds one to a count that is not 0, by `Acquire`.
///
/// ```
/// use rc11::sync::{Arc, Weak};
/// rc11::model(|| {
///     let arc = Arc::new(7);
///     let weak = Arc::downgrade(&arc);
///     assert!(weak.ptr_eq(&weak.clone()) && !weak.ptr_eq(&Weak::new()));
///     let weak = unsafe { Weak::from_raw(weak.into_raw()) };
///     assert_eq!(weak.upgrade().map(|arc| *arc), Some(7));
///     drop(arc);
///     assert!(weak.upgrade().is_none());
/// });
/// ```
pub struct Weak<T: ?Sized> {
    /// None: of nothing.
    object: Option<StdArc<Object>>,
    value: StdWeak<T>,
}

impl<T> Weak<T> {
    /// Of nothing.
    #[must_use]
    pub const fn new() -> Weak<T> {
        Weak { object: None, value: StdWeak::new() }
    }
}

impl<T: ?Sized> Weak<T> {
    pub(super) fn of(object: StdArc<Object>, value: StdWeak<T>) -> Weak<T> {
        Weak { object: Some(object), value }
    }

    /// A reference that keeps the value, if it is still there.
    #[must_use]
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        let object = self.object.as_ref()?;
        let strong = &object.observed().strong;
        let mut count = strong.load(Order::Relaxed);
        loop {
            if count == 0 {
                return None;
            }
            match strong.compare_exchange(count, count + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => break,
                Err(found) => count = found,
            }
        }
        let value = self.value.upgrade()?;
        Some(Arc::upgraded(StdArc::clone(object), value))
    }

    /// How many `Arc`s there are.
    #[must_use]
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        self.object.as_ref().map_or(0, |object| object.observed().strong.load(Order::Relaxed) as usize)
    }

    /// How many `Weak`s there are; 0, if there is no `Arc`.
    #[must_use]
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        let Some(object) = &self.object else { return 0 };
        let weak = object.observed().weak.load(Order::Acquire);
        if object.observed().strong.load(Order::Relaxed) == 0 || weak == LOCKED { 0 } else { weak as usize }
    }

    /// Do both refer to the same value, or both to none?
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        self.value.ptr_eq(&other.value)
    }

    /// A pointer to the value, which may not be there.
    #[must_use]
    pub fn as_ptr(&self) -> *const T {
        self.value.as_ptr()
    }

    /// The same, which stands for this reference.
    #[must_use]
    pub fn into_raw(self) -> *const T {
        let mut this = ManuallyDrop::new(self);
        let pointer = this.as_ptr();
        if let Some(object) = this.object.take() {
            state::with(|state| state.weaks.entry(pointer.addr()).or_default().push(object));
        }
        pointer
    }

    /// The reference that a pointer stands for.
    ///
    /// # Safety
    /// It is from `into_raw`, each time from another.
    #[must_use]
    pub unsafe fn from_raw(pointer: *const T) -> Self {
        let found = state::with(|state| state.weaks.get_mut(&pointer.addr())?.pop());
        let object = found.and_then(|object: StdArc<dyn Any + Send + Sync>| object.downcast().ok());
        // SAFETY: as the caller promises.
        Weak { object, value: unsafe { StdWeak::from_raw(pointer) } }
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    #[track_caller]
    fn clone(&self) -> Weak<T> {
        if let Some(object) = &self.object {
            object.weak(Op::Add, Order::Relaxed);
        }
        Weak { object: self.object.clone(), value: self.value.clone() }
    }
}

impl<T: ?Sized> Drop for Weak<T> {
    #[track_caller]
    fn drop(&mut self) {
        if let Some(object) = self.object.as_ref().filter(|object| object.is_of_now()) {
            object.weak(Op::Sub, Order::Release);
        }
    }
}

impl<T> Default for Weak<T> {
    fn default() -> Weak<T> {
        Weak::new()
    }
}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(Weak)")
    }
}
