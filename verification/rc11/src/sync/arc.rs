//! Counted references.
//!
//! Their counts are no events as long as nobody can observe them. A count shows in three ways: by who asks for it
//! (`strong_count`, `get_mut`, `try_unwrap`), by which thread drops the value, and by what that thread then knows. The
//! last two show only if the value's destructor asks the model for something. As soon as either happens to an `Arc` that
//! was made at some place in the source, the exploration begins anew, and the counts of those made there are atomics, as
//! in std: `Relaxed` up, `Release` down, an `Acquire` fence before the value is dropped.

use crate::graph::{Compute, Op, Order, Update};
use crate::machine;
use crate::model;
use crate::place::Place;
use crate::state::{self, At};
use crate::step::Ask;
use std::borrow::Borrow;
use std::mem::{self, ManuallyDrop};
use std::ops::Deref;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc as StdArc;
use std::sync::atomic::Ordering;

/// Like `std::sync::Arc`. One that is not given back by the end of the execution is a leak.
#[derive(Debug)]
pub struct Arc<T: ?Sized> {
    object: StdArc<Object>,
    value: ManuallyDrop<StdArc<T>>,
}

#[derive(Debug)]
struct Object {
    /// The count, if it can be observed.
    count: Option<Place>,
    at: At,
    play: Option<u32>,
}

impl Object {
    /// What the count was before it changed.
    #[track_caller]
    fn count(&self, op: Op, order: Order) -> Option<u64> {
        let compute = Compute { op, bits: 64, is_signed: false };
        self.count.as_ref().map(|count| count.update(order, Update::Compute(compute, 1)))
    }

    /// The count, which somebody wants to know.
    #[track_caller]
    fn observed(&self) -> &Place {
        if self.count.is_none() {
            model::observe(self.at);
        }
        self.count.as_ref().expect("the exploration begins anew, and this thread goes no further")
    }
}

impl<T> Arc<T> {
    /// The first reference to `value`.
    ///
    /// # Panics
    /// Outside of a model.
    #[must_use]
    #[track_caller]
    pub fn new(value: T) -> Arc<T> {
        Arc::from_std(StdArc::new(value))
    }

    /// The same, pinned.
    #[must_use]
    #[track_caller]
    pub fn pin(value: T) -> Pin<Arc<T>> {
        // SAFETY: what an `Arc` refers to stays where it is, and is lent out for change by `get_mut` alone, which needs
        // an `Arc` that is not pinned.
        unsafe { Pin::new_unchecked(Arc::new(value)) }
    }

    /// The value, if this is the only reference.
    ///
    /// # Errors
    /// The reference, if it is not.
    #[track_caller]
    pub fn try_unwrap(this: Arc<T>) -> Result<T, Arc<T>> {
        let count = this.object.observed();
        if count.compare_exchange(1, 0, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return Err(this);
        }
        machine::ask(Ask::Fence(Order::Acquire));
        this.unregister();
        let mut this = ManuallyDrop::new(this);
        // SAFETY: `this` is not dropped, so that each field is taken once.
        let (value, _object) = unsafe { (ManuallyDrop::take(&mut this.value), std::ptr::read(&raw const this.object)) };
        StdArc::try_unwrap(value).map_err(|_| unreachable!("the count was one"))
    }
}

impl<T: ?Sized> Arc<T> {
    /// From std's, which must be the only reference: for values whose size is not known.
    ///
    /// # Panics
    /// If it is not; outside of a model.
    #[must_use]
    #[track_caller]
    pub fn from_std(mut std: StdArc<T>) -> Self {
        assert!(StdArc::get_mut(&mut std).is_some(), "Arc provided to `from_std` is not unique");
        let at = Location::caller();
        let count = model::is_observed(at).then(|| Place::new(1));
        let object = StdArc::new(Object { count, at, play: Some(machine::current()).and_then(|_| machine::play()) });
        let address = StdArc::as_ptr(&std).addr();
        let shared: StdArc<dyn std::any::Any + Send + Sync> = object.clone();
        state::with(|state| {
            state.arcs.insert(address, shared);
            state.arcs_made.insert(address, at);
        });
        Arc { object, value: ManuallyDrop::new(std) }
    }

    /// How many references there are.
    #[track_caller]
    pub fn strong_count(this: &Self) -> usize {
        this.object.observed().load(Order::Relaxed) as usize
    }

    /// Adds a reference to what `pointer` points to.
    ///
    /// # Safety
    /// It is from `into_raw`, and there is a reference as long as this takes.
    #[track_caller]
    pub unsafe fn increment_strong_count(pointer: *const T) {
        // SAFETY: as the caller promises; the reference is not dropped, so that it is the caller's as before.
        let arc = ManuallyDrop::new(unsafe { Arc::from_raw(pointer) });
        mem::forget(Arc::clone(&arc));
    }

    /// Drops a reference to what `pointer` points to.
    ///
    /// # Safety
    /// It is from `into_raw`, and there is a reference that is not used again.
    #[track_caller]
    pub unsafe fn decrement_strong_count(pointer: *const T) {
        // SAFETY: as the caller promises.
        drop(unsafe { Arc::from_raw(pointer) });
    }

    /// The value, if this is the only reference.
    #[track_caller]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        let is_alone = this.object.observed().load(Order::Acquire) == 1;
        if is_alone { StdArc::get_mut(&mut this.value) } else { None }
    }

    /// Do both refer to the same value?
    #[must_use]
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        StdArc::ptr_eq(&this.value, &other.value)
    }

    /// A pointer to the value, which stands for this reference.
    #[must_use]
    pub fn into_raw(this: Self) -> *const T {
        let pointer = Self::as_ptr(&this);
        let mut this = ManuallyDrop::new(this);
        // SAFETY: `this` is not dropped. Its other field, std's reference, is what the pointer stands for.
        unsafe { std::ptr::drop_in_place(&raw mut this.object) };
        pointer
    }

    /// A pointer to the value.
    #[must_use]
    pub fn as_ptr(this: &Self) -> *const T {
        StdArc::as_ptr(&this.value)
    }

    /// The reference that a pointer stands for.
    ///
    /// # Safety
    /// It is from `into_raw`, each time from another.
    #[must_use]
    #[track_caller]
    pub unsafe fn from_raw(pointer: *const T) -> Self {
        let found = state::with(|state| state.arcs.get(&pointer.addr()).cloned());
        let object = found.and_then(|object| object.downcast::<Object>().ok());
        let Some(object) = object else {
            machine::fail(
                "use after free: an `Arc` is made of a pointer to a value that was dropped, or never was one",
            );
            unreachable!("the execution is over, and this thread goes no further");
        };
        // SAFETY: as the caller promises; the value was not dropped, or it would not be registered.
        let value = unsafe { StdArc::from_raw(pointer) };
        Arc { object, value: ManuallyDrop::new(value) }
    }

    /// The value is about to be dropped.
    fn unregister(&self) {
        let address = StdArc::as_ptr(&self.value).addr();
        let object = state::with(|state| {
            state.arcs_made.remove(&address);
            state.arcs.remove(&address)
        });
        drop(object);
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    #[track_caller]
    fn drop(&mut self) {
        if machine::play().is_none() || machine::play() != self.object.play {
            // It has outlived its execution: what its destructor would ask has no meaning.
            return;
        }
        if self.object.count(Op::Sub, Order::Release) == Some(1) {
            machine::ask(Ask::Fence(Order::Acquire));
        }
        let is_last = StdArc::strong_count(&self.value) == 1;
        if is_last {
            self.unregister();
        }
        let is_unobserved = is_last && self.object.count.is_none();
        let told = machine::told();
        // If the value's destructor asks for anything, it is observed by whom it is dropped.
        let outer = is_unobserved.then(|| model::expect_no_question(Some(self.object.at)));
        // SAFETY: it is dropped here alone, and not used again.
        unsafe { ManuallyDrop::drop(&mut self.value) };
        if let Some(outer) = outer {
            model::expect_no_question(outer);
            if machine::told() != told {
                model::observe(self.object.at);
            }
        }
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    fn clone(&self) -> Arc<T> {
        self.object.count(Op::Add, Order::Relaxed);
        Arc { object: self.object.clone(), value: self.value.clone() }
    }
}

impl<T: Default> Default for Arc<T> {
    #[track_caller]
    fn default() -> Arc<T> {
        Arc::new(T::default())
    }
}

impl<T> From<T> for Arc<T> {
    #[track_caller]
    fn from(value: T) -> Self {
        Arc::new(value)
    }
}

impl<T: ?Sized> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: ?Sized> Borrow<T> for Arc<T> {
    fn borrow(&self) -> &T {
        self
    }
}
