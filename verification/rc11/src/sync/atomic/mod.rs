//! Like `std::sync::atomic`.

mod bool;
mod int;
mod ptr;

pub use self::bool::AtomicBool;
pub use self::int::{
    AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
};
pub use self::ptr::AtomicPtr;
#[doc(no_inline)]
pub use std::sync::atomic::Ordering;

use crate::machine;
use crate::place::Place;
use crate::step::Ask;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// A fence of that ordering.
///
/// # Panics
/// If `order` is `Relaxed`.
///
/// ```
/// use rc11::sync::{Arc, atomic::{AtomicU32, Ordering::{Relaxed, SeqCst}, fence}};
/// rc11::model(|| {
///     let [x, y] = [0, 0].map(|n| Arc::new(AtomicU32::new(n)));
///     let (theirs, mine) = (x.clone(), y.clone());
///     let other = rc11::thread::spawn(move || { theirs.store(1, Relaxed); fence(SeqCst); mine.load(Relaxed) });
///     y.store(1, Relaxed);
///     fence(SeqCst);
///     assert!(x.load(Relaxed) + other.join().unwrap() > 0); // one sees the other's store
/// });
/// ```
#[track_caller]
pub fn fence(order: Ordering) {
    assert!(order != Ordering::Relaxed, "there is no such thing as a relaxed fence");
    machine::ask(Ask::Fence(order.into()));
}

/// A fence for the compiler alone: it orders a thread against what interrupts it, of which a model has nothing.
///
/// ```
/// use rc11::sync::atomic::{Ordering::SeqCst, compiler_fence};
/// # rc11::model::Builder::new().bounded_ok().check(|| {
/// compiler_fence(SeqCst); // orders no two threads
/// # });
/// ```
pub fn compiler_fence(order: Ordering) {
    assert!(order != Ordering::Relaxed, "there is no such thing as a relaxed compiler fence");
}

/// The loop that calls it will look again: [`yield_now`](crate::thread::yield_now).
///
/// ```
/// use rc11::sync::{Arc, atomic::{AtomicBool, Ordering::Relaxed, spin_loop_hint}};
/// rc11::model(|| {
///     let flag = Arc::new(AtomicBool::new(false));
///     let theirs = flag.clone();
///     let other = rc11::thread::spawn(move || theirs.store(true, Relaxed));
///     while !flag.load(Relaxed) {
///         spin_loop_hint();
///     }
///     other.join().unwrap();
/// });
/// ```
#[track_caller]
pub fn spin_loop_hint() {
    crate::thread::yield_now();
}

/// What a weak exchange does when it fails although the value fits, if the model tries that too.
#[track_caller]
fn fails_spuriously() -> bool {
    machine::may_wake_spuriously() && machine::ask(Ask::Spurious) == 1
}

/// The value is lent to be changed, and comes back at the end, also by a panic.
struct Lent<'a, T: Copy> {
    place: &'a Place,
    value: T,
    into: fn(T) -> u64,
}

impl<T: Copy> Drop for Lent<'_, T> {
    #[track_caller]
    fn drop(&mut self) {
        self.place.store_plain((self.into)(self.value));
    }
}

/// `f` on the value, with exclusive access.
#[track_caller]
fn with_mut<T: Copy, R>(place: &Place, from: fn(u64) -> T, into: fn(T) -> u64, f: impl FnOnce(&mut T) -> R) -> R {
    let mut lent = Lent { place, value: from(place.load_plain()), into };
    f(&mut lent.value)
}

/// What `get_mut` of an atomic returns: the value, which is written back when this is dropped. std returns a reference;
/// here `*atomic.get_mut() += 1` is a plain read and a plain write of the model, which every unordered access races with.
pub struct AtomicMut<'a, T: Copy>(Lent<'a, T>);

impl<'a, T: Copy> AtomicMut<'a, T> {
    #[track_caller]
    fn new(place: &'a Place, from: fn(u64) -> T, into: fn(T) -> u64) -> Self {
        AtomicMut(Lent { place, value: from(place.load_plain()), into })
    }
}

impl<T: Copy> Deref for AtomicMut<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

impl<T: Copy> DerefMut for AtomicMut<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0.value
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for AtomicMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.value.fmt(f)
    }
}

/// Loads, and exchanges until it succeeds or `f` has had enough.
macro_rules! fetch_update {
    ($self:ident, $set:ident, $fetch:ident, $f:ident) => {{
        let mut before = $self.load($fetch);
        while let Some(next) = $f(before) {
            match $self.compare_exchange(before, next, $set, $fetch) {
                Ok(before) => return Ok(before),
                Err(found) => before = found,
            }
        }
        Err(before)
    }};
}
use fetch_update;

/// How strong a read a failed exchange is, if one ordering was given for both.
fn of_failure(order: Ordering) -> Ordering {
    match order {
        Ordering::Relaxed | Ordering::Release => Ordering::Relaxed,
        Ordering::Acquire | Ordering::AcqRel => Ordering::Acquire,
        order => order,
    }
}
