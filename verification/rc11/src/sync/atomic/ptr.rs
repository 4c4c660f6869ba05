//! A pointer. What the graph holds is a name of the address: by which event it came first.

use super::{AtomicMut, fails_spuriously, fetch_update, with_mut};
use crate::graph::Update;
use crate::machine;
use crate::place::Place;
use std::fmt;
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicPtr as StdPtr, Ordering};

/// Like `std::sync::atomic::AtomicPtr`.
///
/// ```
/// use rc11::sync::atomic::{AtomicPtr, Ordering::{AcqRel, Acquire, Relaxed}};
/// rc11::model(|| {
///     let mut places = [1u8, 2];
///     let (one, two) = (&raw mut places[0], &raw mut places[1]);
///     let mut shared = AtomicPtr::new(one);
///     shared.store(two, Relaxed);
///     assert_eq!((shared.load(Relaxed), shared.swap(one, AcqRel)), (two, two));
///     assert_eq!(shared.compare_exchange(one, two, AcqRel, Acquire), Ok(one));
///     while shared.compare_exchange_weak(two, one, AcqRel, Acquire).is_err() {} // may fail spuriously
///     assert_eq!((shared.fetch_ptr_add(1, Relaxed), shared.fetch_ptr_sub(1, Relaxed)), (one, two));
///     assert_eq!((shared.fetch_byte_add(1, Relaxed), shared.fetch_byte_sub(1, Relaxed)), (one, two));
///     shared.fetch_or(0, Relaxed); // bits of the address
///     shared.fetch_and(!0, Relaxed);
///     shared.fetch_xor(0, Relaxed);
///     assert_eq!(shared.fetch_update(Relaxed, Relaxed, |_| Some(two)), Ok(one));
///     assert_eq!((shared.update(Relaxed, Relaxed, |_| one), shared.compare_and_swap(one, two, AcqRel)), (two, one));
///     assert!(shared.try_update(Relaxed, Relaxed, |_| None).is_err());
///     shared.with_mut(|pointer| *pointer = one); // no other thread has it
///     *shared.get_mut() = two;
///     assert_eq!((unsafe { shared.unsync_load() }, shared.into_inner()), (two, two));
/// });
/// ```
pub struct AtomicPtr<T>(Place, PhantomData<StdPtr<T>>);

fn from_word<T>(word: u64) -> *mut T {
    ptr::with_exposed_provenance_mut(word as usize)
}

fn into_word<T>(pointer: *mut T) -> u64 {
    pointer.expose_provenance() as u64
}

impl<T> AtomicPtr<T> {
    /// Holds `pointer`. A thread may only use it if its making happens before that use.
    ///
    /// # Panics
    /// Outside of a model.
    #[must_use]
    #[track_caller]
    pub fn new(pointer: *mut T) -> AtomicPtr<T> {
        let place = Place::of_pointer(into_word(pointer));
        machine::note_type(place.loc(), std::any::type_name::<*mut T>());
        AtomicPtr(place, PhantomData)
    }

    /// Reads, not atomically.
    ///
    /// # Safety
    /// It is a race with every write that does not happen before it, which is found.
    #[must_use]
    #[track_caller]
    pub unsafe fn unsync_load(&self) -> *mut T {
        from_word(self.0.load_plain())
    }

    /// Hands out the pointer, with exclusive access to the atomic. Every access that does not happen before this is a
    /// race.
    #[track_caller]
    pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut *mut T) -> R) -> R {
        with_mut(&self.0, from_word, into_word, f)
    }

    /// The value, with exclusive access to the atomic; what is made of it is written back when this is dropped. Every
    /// access that does not happen before this is a race.
    #[track_caller]
    pub fn get_mut(&mut self) -> AtomicMut<'_, *mut T> {
        AtomicMut::new(&self.0, from_word, into_word)
    }

    /// The pointer.
    #[must_use]
    #[track_caller]
    pub fn into_inner(self) -> *mut T {
        from_word(self.0.load_plain())
    }

    /// Reads. Every pointer that the memory model lets this thread see is tried.
    #[track_caller]
    pub fn load(&self, order: Ordering) -> *mut T {
        from_word(self.0.load(order.into()))
    }

    /// Writes.
    #[track_caller]
    pub fn store(&self, pointer: *mut T, order: Ordering) {
        self.0.store(into_word(pointer), order.into());
    }

    /// Writes, and returns what was there.
    #[track_caller]
    pub fn swap(&self, pointer: *mut T, order: Ordering) -> *mut T {
        from_word(self.0.update(order.into(), Update::Swap(into_word(pointer))))
    }

    /// As `compare_exchange`, with the failure's ordering made from `order`; returns what was there.
    #[track_caller]
    pub fn compare_and_swap(&self, current: *mut T, new: *mut T, order: Ordering) -> *mut T {
        self.compare_exchange(current, new, order, super::of_failure(order)).unwrap_or_else(|found| found)
    }

    /// Writes `new` if `current` is there. It never fails spuriously.
    ///
    /// # Errors
    /// What was there, if it was not `current`.
    #[track_caller]
    pub fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        let found = self.0.compare_exchange(into_word(current), into_word(new), success, failure);
        found.map(from_word).map_err(from_word)
    }

    /// The same, but it may fail spuriously, as often in an execution as the model allows: see
    /// [`Builder::spurious`](crate::model::Builder::spurious).
    ///
    /// # Errors
    /// What was there.
    #[track_caller]
    pub fn compare_exchange_weak(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        if fails_spuriously() {
            return Err(self.load(failure));
        }
        self.compare_exchange(current, new, success, failure)
    }

    /// Moves the pointer by so many `T`s, wrapping around; returns what was there. This and the next ones are a load, and
    /// exchanges until one succeeds, which no other thread can tell from one step.
    #[track_caller]
    pub fn fetch_ptr_add(&self, count: usize, order: Ordering) -> *mut T {
        self.change(order, |pointer| pointer.wrapping_add(count))
    }

    /// Moves the pointer back by so many `T`s, wrapping around; returns what was there.
    #[track_caller]
    pub fn fetch_ptr_sub(&self, count: usize, order: Ordering) -> *mut T {
        self.change(order, |pointer| pointer.wrapping_sub(count))
    }

    /// Moves the pointer by so many bytes, wrapping around; returns what was there.
    #[track_caller]
    pub fn fetch_byte_add(&self, count: usize, order: Ordering) -> *mut T {
        self.change(order, |pointer| pointer.wrapping_byte_add(count))
    }

    /// Moves the pointer back by so many bytes, wrapping around; returns what was there.
    #[track_caller]
    pub fn fetch_byte_sub(&self, count: usize, order: Ordering) -> *mut T {
        self.change(order, |pointer| pointer.wrapping_byte_sub(count))
    }

    /// Bitwise or of the address, for a tag; returns what was there.
    #[track_caller]
    pub fn fetch_or(&self, bits: usize, order: Ordering) -> *mut T {
        self.change(order, |pointer| pointer.map_addr(|address| address | bits))
    }

    /// Bitwise and of the address; returns what was there.
    #[track_caller]
    pub fn fetch_and(&self, bits: usize, order: Ordering) -> *mut T {
        self.change(order, |pointer| pointer.map_addr(|address| address & bits))
    }

    /// Bitwise exclusive or of the address; returns what was there.
    #[track_caller]
    pub fn fetch_xor(&self, bits: usize, order: Ordering) -> *mut T {
        self.change(order, |pointer| pointer.map_addr(|address| address ^ bits))
    }

    #[track_caller]
    fn change(&self, order: Ordering, f: impl FnMut(*mut T) -> *mut T) -> *mut T {
        self.update(order, Ordering::Relaxed, f)
    }

    /// Writes what `f` makes of the pointer, unless it makes nothing of it: a load, and exchanges until one succeeds.
    ///
    /// # Errors
    /// The pointer of which `f` made nothing.
    #[track_caller]
    pub fn fetch_update<F>(&self, set_order: Ordering, fetch_order: Ordering, mut f: F) -> Result<*mut T, *mut T>
    where
        F: FnMut(*mut T) -> Option<*mut T>,
    {
        fetch_update!(self, set_order, fetch_order, f)
    }

    /// The same, by its name in std since 1.95.
    ///
    /// # Errors
    /// The value of which `f` made nothing.
    #[track_caller]
    pub fn try_update(
        &self,
        set_order: Ordering,
        fetch_order: Ordering,
        f: impl FnMut(*mut T) -> Option<*mut T>,
    ) -> Result<*mut T, *mut T> {
        self.fetch_update(set_order, fetch_order, f)
    }

    /// Writes what `f` makes of the value, and returns what was there: a load, and exchanges until one succeeds.
    #[track_caller]
    pub fn update(&self, set_order: Ordering, fetch_order: Ordering, mut f: impl FnMut(*mut T) -> *mut T) -> *mut T {
        let found = self.fetch_update(set_order, fetch_order, |value| Some(f(value)));
        found.unwrap_or_else(|found| found)
    }
}

impl<T> Default for AtomicPtr<T> {
    #[track_caller]
    fn default() -> AtomicPtr<T> {
        AtomicPtr::new(ptr::null_mut())
    }
}

impl<T> From<*mut T> for AtomicPtr<T> {
    #[track_caller]
    fn from(pointer: *mut T) -> AtomicPtr<T> {
        AtomicPtr::new(pointer)
    }
}

impl<T> fmt::Debug for AtomicPtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("AtomicPtr { .. }")
    }
}
