//! The one guard around what belongs to the user and is called or dropped where no caller could take its panic.
//!
//! Futures and closures of tasks, their outputs, wakers, hooks, observers, values in channels: each is code of the user's, run by an
//! M, by the poller or by a thread that ends. **A panic of it ends in [`guarded`]**; the panic hook has reported it. What the user
//! calls in its own frame is not guarded: a closure given to [`syscall`](crate::syscall), the future of a `block_on`.

#![allow(unsafe_code)]

use core::mem::{ManuallyDrop, needs_drop};
use core::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `f`, which is code of the user's with no caller of the user's. Its panic was reported by the panic hook, and ends here;
/// what it panicked with may panic in its turn when it is dropped, and is not.
pub(in crate::runtime) fn guarded(f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        core::mem::forget(payload);
    }
}

/// What belongs to the user. Wherever it is dropped, its destructor is [`guarded`]; also one of several in a collection, of which std
/// would abort at the second panic.
#[repr(transparent)]
pub(in crate::runtime) struct Theirs<T>(ManuallyDrop<T>);

impl<T> Theirs<T> {
    #[inline(always)]
    pub(in crate::runtime) const fn new(value: T) -> Theirs<T> {
        Theirs(ManuallyDrop::new(value))
    }

    #[inline(always)]
    pub(in crate::runtime) fn into_inner(self) -> T {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: neither `this` nor what is in it is used again.
        unsafe { ManuallyDrop::take(&mut this.0) }
    }
}

impl<T: Clone> Clone for Theirs<T> {
    fn clone(&self) -> Theirs<T> {
        Theirs::new(T::clone(&self.0))
    }
}

impl<T> Deref for Theirs<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Drop for Theirs<T> {
    #[inline]
    fn drop(&mut self) {
        if needs_drop::<T>() {
            // SAFETY: it is dropped once, here, and not used again.
            guarded(|| unsafe { ManuallyDrop::drop(&mut self.0) });
        }
    }
}
