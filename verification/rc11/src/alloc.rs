//! Memory of which it is known whether it was given back, and how often.

use crate::machine;
use crate::state;
use std::alloc::GlobalAlloc as _;
use std::mem::ManuallyDrop;
use std::panic::Location;

pub use crate::quarantine::Allocator;
#[doc(no_inline)]
pub use std::alloc::Layout;

/// Like `std::alloc::alloc`. What is not given back by the end of the execution is a leak.
///
/// # Safety
/// That of `std::alloc::alloc`.
///
/// ```
/// use rc11::alloc::{Layout, alloc, dealloc};
/// rc11::model(|| unsafe {
///     let block = alloc(Layout::new::<u64>());
///     block.write(7);
///     assert_eq!(block.read(), 7);
///     dealloc(block, Layout::new::<u64>()); // not called, it would be a leak
/// });
/// ```
#[must_use]
#[track_caller]
pub unsafe fn alloc(layout: Layout) -> *mut u8 {
    // SAFETY: the caller's promise is the same.
    let block = unsafe { Allocator.alloc(layout) };
    note(block);
    block
}

/// Like `std::alloc::alloc_zeroed`. What is not given back by the end of the execution is a leak.
///
/// # Safety
/// That of `std::alloc::alloc_zeroed`.
///
/// ```
/// use rc11::alloc::{Layout, alloc_zeroed, dealloc};
/// rc11::model(|| unsafe {
///     let block = alloc_zeroed(Layout::new::<u64>());
///     assert_eq!(block.read(), 0);
///     dealloc(block, Layout::new::<u64>());
/// });
/// ```
#[must_use]
#[track_caller]
pub unsafe fn alloc_zeroed(layout: Layout) -> *mut u8 {
    // SAFETY: the caller's promise is the same.
    let block = unsafe { Allocator.alloc_zeroed(layout) };
    note(block);
    block
}

#[track_caller]
fn note(block: *mut u8) {
    let (address, at) = (block.addr(), Location::caller());
    state::with(|state| {
        state.freed.remove(&address);
        state.blocks.insert(address, at);
    });
}

/// Like `std::alloc::dealloc`. A block that was given back before, or is no block of this module's, is a failure of the
/// execution, and stays as it is.
///
/// # Safety
/// That of `std::alloc::dealloc`.
///
/// ```
/// use rc11::alloc::{Layout, alloc, dealloc};
/// rc11::model(|| unsafe {
///     let block = alloc(Layout::new::<u8>());
///     dealloc(block, Layout::new::<u8>());
/// });
/// ```
#[track_caller]
pub unsafe fn dealloc(block: *mut u8, layout: Layout) {
    let (address, at) = (block.addr(), Location::caller());
    let is_there = state::with(|state| {
        let is_there = state.blocks.remove(&address).is_some();
        let before = if is_there { state.freed.insert(address, at) } else { state.freed.get(&address).copied() };
        is_there.then_some(()).ok_or(before)
    });
    match is_there {
        // SAFETY: the caller's promise is the same, and it was not given back before.
        Ok(()) => unsafe { Allocator.dealloc(block, layout) },
        Err(Some(before)) => machine::fail(&format!("double free: at {at}, and at {before} before")),
        Err(None) => machine::fail(&format!("{at}: frees what `alloc` of this crate has not given")),
    }
}

/// A value that must have been dropped by the end of the execution.
///
/// ```
/// use rc11::alloc::Track;
/// rc11::model(|| {
///     let value = Track::new(7); // never dropped, it would be a leak
///     assert_eq!(*value.get_ref(), 7);
///     assert_eq!(value.into_inner(), 7);
/// });
/// ```
#[derive(Debug)]
pub struct Track<T> {
    value: ManuallyDrop<T>,
    number: u64,
}

impl<T> Track<T> {
    /// Tracks `value`.
    #[must_use]
    #[track_caller]
    pub fn new(value: T) -> Track<T> {
        let at = Location::caller();
        let number = state::with(|state| {
            state.next += 1;
            state.tracked.insert(state.next, at);
            state.next
        });
        Track { value: ManuallyDrop::new(value), number }
    }

    /// The value.
    pub fn get_ref(&self) -> &T {
        &self.value
    }

    /// The value.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// The value, which is tracked no more.
    pub fn into_inner(mut self) -> T {
        self.untrack();
        // SAFETY: the value is taken once: `self` is forgotten, so that it is not dropped.
        let value = unsafe { ManuallyDrop::take(&mut self.value) };
        std::mem::forget(self);
        value
    }

    /// Was it there?
    fn untrack(&self) -> bool {
        let was_there = state::with(|state| state.tracked.remove(&self.number).is_some());
        if !was_there && machine::play().is_some() {
            machine::fail("double free: a tracked value is dropped twice");
        }
        was_there
    }
}

impl<T> Drop for Track<T> {
    fn drop(&mut self) {
        if self.untrack() {
            // SAFETY: it is dropped here alone, and `untrack` lets one pass once.
            unsafe { ManuallyDrop::drop(&mut self.value) };
        }
    }
}
