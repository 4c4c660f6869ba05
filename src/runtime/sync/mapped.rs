//! Guards of a part of what is locked.

#![allow(unsafe_code)]

use crate::runtime::sync::rw_lock::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLockReadGuard, RwLockWriteGuard};
use async_lock::{MutexGuard, MutexGuardArc};
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

/// A guard that is kept, and not looked into any more.
trait Held {}

impl<G> Held for G {}

/// What each part gives.
macro_rules! gives {
    ($name:ident) => {
        impl<T: ?Sized> Deref for $name<'_, T> {
            type Target = T;

            fn deref(&self) -> &T {
                // SAFETY: it was found in what the guard guards, which is locked as long as the guard is there; the
                // guard gives no reference to it.
                unsafe { self.value.as_ref() }
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + fmt::Display> fmt::Display for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    };
}

macro_rules! mapped {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[must_use = "dropped, it unlocks at once"]
        #[clippy::has_significant_drop]
        pub struct $name<'a, T: ?Sized> {
            value: NonNull<T>,
            guard: Box<dyn Held + Send + 'a>,
            /// Of `&mut T`.
            is: PhantomData<&'a mut T>,
        }

        // SAFETY: it is `&mut T`, and a guard that may be sent.
        unsafe impl<T: ?Sized + Send> Send for $name<'_, T> {}
        // SAFETY: shared, it gives `&T`; the guard is dropped only.
        unsafe impl<T: ?Sized + Sync> Sync for $name<'_, T> {}

        impl<'a, T: ?Sized> $name<'a, T> {
            /// Of a guard whose value `f` finds it in.
            fn of<G: DerefMut + Send + 'a>(
                mut guard: G,
                f: impl FnOnce(&mut G::Target) -> Option<&mut T>,
            ) -> Result<Self, G> {
                // The value lies behind the lock, not in the guard, so it stays where it is. The guard gives no reference after this.
                match f(&mut guard).map(NonNull::from) {
                    Some(value) => Ok($name { value, guard: Box::new(guard), is: PhantomData }),
                    None => Err(guard),
                }
            }

            /// A part of the part.
            pub fn map<U: ?Sized>(mut this: Self, f: impl FnOnce(&mut T) -> &mut U) -> $name<'a, U> {
                let value = NonNull::from(f(&mut this));
                $name { value, guard: this.guard, is: PhantomData }
            }

            /// The same, if there is such a part.
            ///
            /// # Errors
            /// `f` has found none: here is the guard.
            pub fn try_map<U: ?Sized>(
                mut this: Self,
                f: impl FnOnce(&mut T) -> Option<&mut U>,
            ) -> Result<$name<'a, U>, Self> {
                match f(&mut this).map(NonNull::from) {
                    Some(value) => Ok($name { value, guard: this.guard, is: PhantomData }),
                    None => Err(this),
                }
            }
        }

        gives!($name);

        impl<T: ?Sized> DerefMut for $name<'_, T> {
            fn deref_mut(&mut self) -> &mut T {
                // SAFETY: as above, and it is borrowed for as long.
                unsafe { self.value.as_mut() }
            }
        }
    };
}

mapped! {
    /// A part of what a mutex has inside: [`MapMutexGuard::map`]. Dropped, it unlocks.
    ///
    /// ```
    /// use spinpark::sync::{MapMutexGuard, MappedMutexGuard, Mutex, MutexGuard};
    ///
    /// # spinpark::run(async {
    /// let pair = Mutex::new((1, vec![2]));
    /// let list = MutexGuard::map(pair.lock().await, |pair| &mut pair.1);
    /// let mut first = MappedMutexGuard::map(list, |list| &mut list[0]);
    /// *first += 1;
    /// assert!(pair.try_lock().is_err());
    /// drop(first);
    /// let list = MutexGuard::map(pair.lock().await, |pair| &mut pair.1);
    /// assert!(MappedMutexGuard::try_map(list, |list| list.get_mut(1)).is_err());
    /// assert_eq!(pair.into_inner(), (1, vec![3]));
    /// # });
    /// ```
    MappedMutexGuard
}

mapped! {
    /// A part of what a lock has inside: [`RwLockWriteGuard::map`]. Dropped, it unlocks.
    ///
    /// ```
    /// use spinpark::sync::{RwLock, RwLockMappedWriteGuard, RwLockWriteGuard};
    ///
    /// # spinpark::run(async {
    /// let pair = RwLock::new((1, vec![2]));
    /// let list = RwLockWriteGuard::map(pair.write().await, |pair| &mut pair.1);
    /// let first = RwLockMappedWriteGuard::try_map(list, |list| list.get_mut(0));
    /// *first.expect("there is one") += 1;
    /// assert_eq!(pair.into_inner(), (1, vec![3]));
    /// # });
    /// ```
    RwLockMappedWriteGuard
}

/// Whose value lies behind the lock, and not in the guard, which is moved.
mod sealed {
    pub trait Guards {}
    impl<T: ?Sized> Guards for async_lock::MutexGuard<'_, T> {}
    impl<T: ?Sized> Guards for async_lock::MutexGuardArc<T> {}
}

/// A part of what a guard of a mutex guards, by tokio's names: with this trait in scope, `MutexGuard::map(guard, …)`. It takes memory for
/// the guard. [`OwnedMutexGuard`](crate::sync::OwnedMutexGuard) has it, too; no other type can.
///
/// ```
/// use spinpark::sync::{MapMutexGuard, Mutex, OwnedMutexGuard};
/// use std::sync::Arc;
///
/// # spinpark::run(async {
/// let words = Arc::new(Mutex::new(vec!["a".to_owned()]));
/// let guard = Arc::clone(&words).lock_owned().await;
/// let mut word = OwnedMutexGuard::try_map(guard, |words| words.first_mut()).expect("there is one");
/// word.push('b'); // it may be sent to another task
/// drop(word);
/// assert_eq!(*words.lock().await, ["ab"]);
/// # });
/// ```
pub trait MapMutexGuard<'a>: sealed::Guards + DerefMut + Send + Sized + 'a {
    /// The part that `f` finds.
    fn map<U: ?Sized>(this: Self, f: impl FnOnce(&mut Self::Target) -> &mut U) -> MappedMutexGuard<'a, U> {
        // It finds one always.
        MappedMutexGuard::of(this, |value| Some(f(value))).unwrap_or_else(|_| unreachable!("mutex: a part was lost"))
    }

    /// The part that `f` finds, if it does.
    ///
    /// # Errors
    /// It finds none: here is the guard.
    fn try_map<U: ?Sized>(
        this: Self,
        f: impl FnOnce(&mut Self::Target) -> Option<&mut U>,
    ) -> Result<MappedMutexGuard<'a, U>, Self> {
        MappedMutexGuard::of(this, f)
    }
}

impl<'a, T: ?Sized + Send> MapMutexGuard<'a> for MutexGuard<'a, T> {}
impl<T: Send + 'static> MapMutexGuard<'static> for MutexGuardArc<T> {}

macro_rules! writer {
    ($guard:ty, $a:lifetime, impl<$($generics:tt)*) => {
        impl<$($generics)* $guard {
            /// Goes on with the part that `f` finds. It takes memory for the guard.
            ///
            /// ```
            /// use spinpark::sync::{OwnedRwLockWriteGuard, RwLock, RwLockWriteGuard};
            /// use std::sync::Arc;
            ///
            /// # spinpark::run(async {
            /// let pair = Arc::new(RwLock::new((1, 2)));
            /// *RwLockWriteGuard::map(pair.write().await, |pair| &mut pair.0) += 1;
            /// *OwnedRwLockWriteGuard::map(Arc::clone(&pair).write_owned().await, |pair| &mut pair.1) += 1;
            /// assert_eq!(*pair.read().await, (2, 3));
            /// # });
            /// ```
            pub fn map<U: ?Sized>(this: Self, f: impl FnOnce(&mut T) -> &mut U) -> RwLockMappedWriteGuard<$a, U> {
                // It finds one always.
                let mapped = RwLockMappedWriteGuard::of(this, |value| Some(f(value)));
                mapped.unwrap_or_else(|_| unreachable!("rw_lock: a part was lost"))
            }

            /// The same, if there is such a part.
            ///
            /// # Errors
            /// `f` has found none: here is the guard.
            ///
            /// ```
            /// use spinpark::sync::{RwLock, RwLockWriteGuard};
            ///
            /// # spinpark::run(async {
            /// let list = RwLock::new(vec![1]);
            /// let guard = RwLockWriteGuard::try_map(list.write().await, |list| list.get_mut(1)).unwrap_err();
            /// assert_eq!(*guard, [1]);
            /// # });
            /// ```
            pub fn try_map<U: ?Sized>(
                this: Self,
                f: impl FnOnce(&mut T) -> Option<&mut U>,
            ) -> Result<RwLockMappedWriteGuard<$a, U>, Self> {
                RwLockMappedWriteGuard::of(this, f)
            }
        }
    };
}

writer!(RwLockWriteGuard<'a, T>, 'a, impl<'a, T: ?Sized + Send>);
writer!(OwnedRwLockWriteGuard<T>, 'static, impl<T: ?Sized + Send + Sync + 'static>);

/// A part of what a lock has inside, to look at: [`RwLockReadGuard::map`]. Dropped, it unlocks.
///
/// ```
/// use spinpark::sync::{OwnedRwLockReadGuard, RwLock, RwLockMappedReadGuard, RwLockReadGuard};
/// use std::sync::Arc;
///
/// # spinpark::run(async {
/// let pair = Arc::new(RwLock::new((1, vec![2])));
/// let list = RwLockReadGuard::map(pair.read().await, |pair| &pair.1);
/// let first = RwLockMappedReadGuard::map(list, |list| &list[0]);
/// let other = OwnedRwLockReadGuard::map(Arc::clone(&pair).read_owned().await, |pair| &pair.0);
/// assert!((*first, *other) == (2, 1) && pair.try_write().is_err());
/// # });
/// ```
#[must_use = "dropped, it unlocks at once"]
#[clippy::has_significant_drop]
pub struct RwLockMappedReadGuard<'a, T: ?Sized> {
    value: NonNull<T>,
    guard: Box<dyn Held + Send + 'a>,
    /// Of `&T`.
    is: PhantomData<&'a T>,
}

// SAFETY: it is `&T`, and a guard that may be sent.
unsafe impl<T: ?Sized + Sync> Send for RwLockMappedReadGuard<'_, T> {}
// SAFETY: it gives `&T`; the guard is dropped only.
unsafe impl<T: ?Sized + Sync> Sync for RwLockMappedReadGuard<'_, T> {}

gives!(RwLockMappedReadGuard);

impl<'a, T: ?Sized> RwLockMappedReadGuard<'a, T> {
    /// Of a guard whose value `f` finds it in.
    fn of<G: Deref + Send + 'a>(guard: G, f: impl FnOnce(&G::Target) -> Option<&T>) -> Result<Self, G> {
        // As of a writer.
        match f(&guard).map(NonNull::from) {
            Some(value) => Ok(RwLockMappedReadGuard { value, guard: Box::new(guard), is: PhantomData }),
            None => Err(guard),
        }
    }

    /// A part of the part.
    pub fn map<U: ?Sized>(this: Self, f: impl FnOnce(&T) -> &U) -> RwLockMappedReadGuard<'a, U> {
        let value = NonNull::from(f(&this));
        RwLockMappedReadGuard { value, guard: this.guard, is: PhantomData }
    }
}

macro_rules! reader {
    ($guard:ty, $a:lifetime, impl<$($generics:tt)*) => {
        impl<$($generics)* $guard {
            /// Goes on with the part that `f` finds. It takes memory for the guard.
            ///
            /// ```
            /// use spinpark::sync::{RwLock, RwLockReadGuard};
            ///
            /// # spinpark::run(async {
            /// let pair = RwLock::new((1, 2));
            /// assert_eq!(*RwLockReadGuard::map(pair.read().await, |pair| &pair.1), 2);
            /// # });
            /// ```
            pub fn map<U: ?Sized>(this: Self, f: impl FnOnce(&T) -> &U) -> RwLockMappedReadGuard<$a, U> {
                // It finds one always.
                let mapped = RwLockMappedReadGuard::of(this, |value| Some(f(value)));
                mapped.unwrap_or_else(|_| unreachable!("rw_lock: a part was lost"))
            }

            /// The same, if there is such a part.
            ///
            /// # Errors
            /// `f` has found none: here is the guard.
            ///
            /// ```
            /// use spinpark::sync::{RwLock, RwLockReadGuard};
            ///
            /// # spinpark::run(async {
            /// let list = RwLock::new(vec![1]);
            /// assert!(RwLockReadGuard::try_map(list.read().await, |list| list.get(1)).is_err());
            /// # });
            /// ```
            pub fn try_map<U: ?Sized>(
                this: Self,
                f: impl FnOnce(&T) -> Option<&U>,
            ) -> Result<RwLockMappedReadGuard<$a, U>, Self> {
                RwLockMappedReadGuard::of(this, f)
            }
        }
    };
}

reader!(RwLockReadGuard<'a, T>, 'a, impl<'a, T: ?Sized + Sync>);
reader!(OwnedRwLockReadGuard<T>, 'static, impl<T: ?Sized + Send + Sync + 'static>);

static_assertions::assert_impl_all!(MappedMutexGuard<'static, std::cell::Cell<u8>>: Send);
static_assertions::assert_not_impl_any!(MappedMutexGuard<'static, std::cell::Cell<u8>>: Sync);
static_assertions::assert_not_impl_any!(RwLockMappedWriteGuard<'static, std::sync::MutexGuard<'static, u8>>: Send);
