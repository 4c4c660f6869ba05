//! Counted references.
//!
//! Their counts are no events as long as they cannot be observed. A count shows in three ways: to a caller that asks for it
//! (`strong_count`, `get_mut`, `try_unwrap`), by which thread drops the value, and by what that thread then knows. The
//! last two show only if the value's destructor asks the model for something. As soon as either happens to an `Arc` that
//! was made at some place in the source, the exploration begins anew, and the counts of those made there are atomics, as
//! in std: `Relaxed` up, `Release` down, an `Acquire` fence before the value is dropped.

mod traits;
mod weak;

pub use self::weak::Weak;

use crate::graph::{Clock, Compute, Loc, Op, Order, Update};
use crate::machine;
use crate::model;
use crate::place::Place;
use crate::quarantine::checker;
use crate::state::{self, At};
use crate::step::Ask;
use std::any::Any;
use std::mem::{self, ManuallyDrop};
use std::ops::Deref;
use std::panic::Location;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc as StdArc, Mutex, PoisonError};

/// Like `std::sync::Arc`. One that is not given back by the end of the execution is a leak.
///
/// ```
/// use rc11::sync::Arc;
/// rc11::model(|| {
///     let mut one = Arc::new(1); // a model that leaks one fails
///     *Arc::make_mut(&mut one) += 1;
///     *Arc::get_mut(&mut one).unwrap() += 1;
///     let two = one.clone();
///     assert!(Arc::ptr_eq(&one, &two) && Arc::strong_count(&one) == 2);
///     let weak = Arc::downgrade(&one);
///     assert_eq!(Arc::weak_count(&two), 1);
///     let one = Arc::try_unwrap(one).unwrap_err(); // there is another
///     drop(two);
///     let pointer = Arc::into_raw(one);
///     let one = unsafe {
///         Arc::increment_strong_count(pointer);
///         Arc::decrement_strong_count(pointer);
///         Arc::from_raw(pointer)
///     };
///     assert_eq!(Arc::as_ptr(&one), pointer);
///     assert_eq!(Arc::into_inner(one), Some(3));
///     assert!(weak.upgrade().is_none());
///
///     assert_eq!(*Arc::pin(7), 7);
///     assert_eq!(Arc::unwrap_or_clone(Arc::from_std(std::sync::Arc::new(7))), 7);
///     let any: Arc<dyn std::any::Any + Send + Sync> = Arc::from_std(std::sync::Arc::new(7u8));
///     assert!(any.downcast::<u8>().is_ok());
///     struct Knows(rc11::sync::Weak<Knows>);
///     let itself = Arc::new_cyclic(|weak| Knows(weak.clone()));
///     assert!(itself.0.upgrade().is_some_and(|same| Arc::ptr_eq(&same, &itself)));
/// });
/// ```
pub struct Arc<T: ?Sized> {
    object: StdArc<Object>,
    value: ManuallyDrop<StdArc<T>>,
}

#[derive(Debug)]
pub(super) struct Object {
    /// The counts, if they can be observed.
    counts: Option<Counts>,
    at: At,
    play: Option<u32>,
    /// Without a count: what all threads knew that have dropped a reference, when they did.
    known: Mutex<Clock>,
}

/// As in std: an `Arc` may be made of a `Weak` as long as `strong` is not 0.
#[derive(Debug)]
pub(super) struct Counts {
    pub(super) strong: Place,
    /// `Weak`s alone; [`LOCKED`] while it is looked whether there are any.
    pub(super) weak: Place,
}

/// What the count of `Weak`s is while none may be made.
pub(super) const LOCKED: u64 = u64::MAX;

/// One more, or one less.
fn one(op: Op) -> Update {
    Update::Compute(Compute { op, bits: 64, is_signed: false }, 1)
}

impl Object {
    /// Its value lies there.
    fn is_at(self: &StdArc<Self>, address: usize) {
        let (shared, at): (StdArc<dyn Any + Send + Sync>, _) = (StdArc::clone(self) as _, self.at);
        state::with(|state| {
            state.arcs.insert(address, shared);
            state.arcs_made.insert(address, at);
        });
    }

    /// With one reference, or with none yet.
    #[track_caller]
    fn new(strong: u64) -> Object {
        let at = Location::caller();
        let counts = model::is_observed(at).then(|| Counts { strong: Place::counted(strong), weak: Place::counted(0) });
        let play = Some(machine::current()).and_then(|_| machine::play());
        Object { counts, at, play, known: Mutex::default() }
    }

    /// Does the execution in which it was made still go on?
    pub(super) fn is_of_now(&self) -> bool {
        machine::play().is_some() && machine::play() == self.play
    }

    /// The calling thread drops a reference. What it and all others knew that have dropped one.
    fn known(&self) -> Clock {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.join(&machine::known());
        *known
    }

    /// What the count of `Arc`s was before it changed.
    #[track_caller]
    fn strong(&self, op: Op, order: Order) -> Option<u64> {
        self.counts.as_ref().map(|counts| counts.strong.update(order, one(op)))
    }

    /// One `Weak` more, or one less.
    #[track_caller]
    pub(super) fn weak(&self, op: Op, order: Order) {
        let Some(counts) = &self.counts else { return };
        let update = if op == Op::Add { Update::Enter { below: LOCKED, waits: true } } else { one(op) };
        counts.weak.update(order, update);
    }

    /// The counts, which something depends on.
    #[track_caller]
    pub(super) fn observed(&self) -> &Counts {
        if self.counts.is_none() {
            model::observe(self.at);
        }
        self.counts.as_ref().expect("the exploration begins anew, and this thread goes no further")
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
        let counts = this.object.observed();
        if counts.strong.compare_exchange(1, 0, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return Err(this);
        }
        machine::ask(Ask::Fence(Order::Acquire));
        Ok(this.take())
    }

    /// The value, if this is the last reference: of those that ask this at once, one gets it.
    #[must_use]
    #[track_caller]
    pub fn into_inner(this: Arc<T>) -> Option<T> {
        this.object.observed();
        if this.object.strong(Op::Sub, Order::Release) == Some(1) {
            machine::ask(Ask::Fence(Order::Acquire));
            return Some(this.take());
        }
        drop(this.into_parts());
        None
    }

    /// The value, or a copy if there are other references.
    #[must_use]
    #[track_caller]
    pub fn unwrap_or_clone(this: Arc<T>) -> T
    where
        T: Clone,
    {
        Arc::try_unwrap(this).unwrap_or_else(|this| (*this).clone())
    }

    /// A value that has a `Weak` of itself. It cannot be upgraded before `f` has returned.
    ///
    /// # Panics
    /// Outside of a model.
    #[must_use]
    #[track_caller]
    pub fn new_cyclic<F: FnOnce(&Weak<T>) -> T>(f: F) -> Arc<T> {
        let object = Object::new(0);
        let object = checker(|| StdArc::new(object));
        let value = StdArc::new_cyclic(|weak| {
            let weak = Weak::of(StdArc::clone(&object), weak.clone());
            object.weak(Op::Add, Order::Relaxed);
            f(&weak)
        });
        object.strong(Op::Add, Order::Release);
        Arc::registered(object, value)
    }

    /// The value, which no other reference has.
    fn take(self) -> T {
        self.unregister();
        let (_object, value) = self.into_parts();
        StdArc::try_unwrap(value).unwrap_or_else(|_| unreachable!("the count was one"))
    }
}

impl<T: Clone> Arc<T> {
    /// The value, to change it: a copy, if there are other references. `Weak`s of a value that is not copied lose it.
    #[track_caller]
    pub fn make_mut(this: &mut Arc<T>) -> &mut T {
        let counts = this.object.observed();
        if counts.strong.compare_exchange(1, 0, Ordering::Acquire, Ordering::Relaxed).is_err() {
            let copy = Arc::new(T::clone(this));
            drop(mem::replace(this, copy));
        } else if counts.weak.load(Order::Relaxed) != 0 {
            // SAFETY: `this` is overwritten without being dropped.
            let value = unsafe { std::ptr::read(this) }.take();
            // SAFETY: what was there is moved out, just now.
            unsafe { std::ptr::write(this, Arc::new(value)) };
        } else {
            counts.strong.update(Order::Release, Update::Swap(1));
        }
        StdArc::get_mut(&mut this.value).expect("there is no other reference")
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
        let object = Object::new(1);
        Arc::registered(checker(|| StdArc::new(object)), std)
    }

    fn into_parts(self) -> (StdArc<Object>, StdArc<T>) {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is not dropped, so that each field is taken once.
        unsafe { (std::ptr::read(&raw const this.object), ManuallyDrop::take(&mut this.value)) }
    }

    fn registered(object: StdArc<Object>, value: StdArc<T>) -> Self {
        object.is_at(StdArc::as_ptr(&value).addr());
        Arc { object, value: ManuallyDrop::new(value) }
    }

    /// One that a `Weak` has been upgraded to.
    pub(super) fn upgraded(object: StdArc<Object>, value: StdArc<T>) -> Self {
        Arc { object, value: ManuallyDrop::new(value) }
    }

    /// A reference that does not keep the value.
    #[must_use]
    #[track_caller]
    pub fn downgrade(this: &Self) -> Weak<T> {
        this.object.weak(Op::Add, Order::Acquire);
        Weak::of(StdArc::clone(&this.object), StdArc::downgrade(&this.value))
    }

    /// How many `Weak`s there are.
    #[must_use]
    #[track_caller]
    pub fn weak_count(this: &Self) -> usize {
        match this.object.observed().weak.load(Order::Relaxed) {
            LOCKED => 0,
            count => count as usize,
        }
    }

    /// How many references there are.
    #[track_caller]
    pub fn strong_count(this: &Self) -> usize {
        this.object.observed().strong.load(Order::Relaxed) as usize
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

    /// The value, if this is the only reference, and there is no `Weak`.
    #[track_caller]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        let Counts { strong, weak } = this.object.observed();
        weak.compare_exchange(0, LOCKED, Ordering::Acquire, Ordering::Relaxed).ok()?;
        let is_alone = strong.load(Order::Acquire) == 1;
        weak.update(Order::Release, Update::Swap(0));
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

    /// Was it dropped, and this is a copy of its bits? What lay there is kept until the execution has ended.
    fn is_gone(&self) -> bool {
        StdArc::strong_count(&self.value) == 0
    }

    fn must_be_there(&self) {
        if self.is_gone() && self.object.is_of_now() {
            machine::is_gone(Loc::NONE, false);
        }
    }

    /// The value is about to be dropped.
    fn unregister(&self) {
        unregister(StdArc::as_ptr(&self.value).addr());
    }
}

/// No object is at this address any more.
fn unregister(address: usize) {
    let object = state::with(|state| {
        state.arcs_made.remove(&address);
        state.arcs.remove(&address)
    });
    drop(object);
}

/// What that is called in a backtrace.
pub(crate) const DROPS_OUR_ARC: &str = "drop_value_of_our_arc";

/// A frame by which a backtrace tells whose `Arc` drops its value.
///
/// # Safety
/// It is not used again.
#[inline(never)]
unsafe fn drop_value_of_our_arc<T: ?Sized>(value: &mut ManuallyDrop<StdArc<T>>) {
    // SAFETY: as the caller promises.
    unsafe { ManuallyDrop::drop(value) };
    // So that the last call is not the frame's end.
    std::hint::black_box(());
}

impl<T: ?Sized> Drop for Arc<T> {
    #[track_caller]
    fn drop(&mut self) {
        if !self.object.is_of_now() {
            // It has outlived its execution: what its destructor would ask has no meaning.
            return;
        }
        if self.is_gone() {
            machine::is_gone(Loc::NONE, true);
            return;
        }
        if self.object.strong(Op::Sub, Order::Release) == Some(1) {
            machine::ask(Ask::Fence(Order::Acquire));
        }
        let is_last = StdArc::strong_count(&self.value) == 1;
        if is_last {
            self.unregister();
        }
        if self.object.counts.is_some() {
            // SAFETY: it is dropped here alone, and not used again.
            return unsafe { drop_value_of_our_arc(&mut self.value) };
        }
        let known = self.object.known();
        if !is_last {
            // SAFETY: as above.
            return unsafe { drop_value_of_our_arc(&mut self.value) };
        }
        // Which thread comes last is not known to the model, but what it then knows is. If the value's destructor asks
        // for anything, it is observed which thread drops it.
        let told = machine::told();
        let outer = model::expect_no_question(Some(self.object.at));
        // SAFETY: as above.
        machine::as_if_it_knew(known, || unsafe { drop_value_of_our_arc(&mut self.value) });
        model::expect_no_question(outer);
        if machine::told() != told {
            model::observe(self.object.at);
        }
    }
}

impl<T: ?Sized> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.must_be_there();
        &self.value
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    fn clone(&self) -> Arc<T> {
        self.must_be_there();
        self.object.strong(Op::Add, Order::Relaxed);
        Arc { object: self.object.clone(), value: self.value.clone() }
    }
}
