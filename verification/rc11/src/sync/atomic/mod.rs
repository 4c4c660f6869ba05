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

/// A fence of that ordering.
///
/// # Panics
/// If `order` is `Relaxed`.
#[track_caller]
pub fn fence(order: Ordering) {
    assert!(order != Ordering::Relaxed, "there is no such thing as a relaxed fence");
    machine::ask(Ask::Fence(order.into()));
}

/// A fence for the compiler alone: it orders a thread against what interrupts it, of which a model has nothing.
pub fn compiler_fence(order: Ordering) {
    assert!(order != Ordering::Relaxed, "there is no such thing as a relaxed compiler fence");
}

/// The loop that calls it will look again: [`yield_now`](crate::thread::yield_now).
#[track_caller]
pub fn spin_loop_hint() {
    crate::thread::yield_now();
}

/// What a weak exchange does when it fails although the value fits, if the model tries that too.
#[track_caller]
fn fails_spuriously() -> bool {
    machine::may_wake_spuriously() && machine::ask(Ask::Spurious) == 1
}

/// The value goes out to who may change it, and comes back when they are done, also by a panic.
struct Lent<'a, T: Copy> {
    place: &'a Place,
    value: T,
    into: fn(T) -> u64,
}

impl<T: Copy> Drop for Lent<'_, T> {
    fn drop(&mut self) {
        self.place.store_plain((self.into)(self.value));
    }
}

/// `f` on the value, which nobody else has.
#[track_caller]
fn with_mut<T: Copy, R>(place: &Place, from: fn(u64) -> T, into: fn(T) -> u64, f: impl FnOnce(&mut T) -> R) -> R {
    let mut lent = Lent { place, value: from(place.load_plain()), into };
    f(&mut lent.value)
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
