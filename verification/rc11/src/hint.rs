//! Like `std::hint`.

#[doc(no_inline)]
pub use std::hint::{black_box, select_unpredictable};

/// The loop that calls it will look again: [`yield_now`](crate::thread::yield_now).
///
/// ```
/// use rc11::sync::{Arc, atomic::{AtomicBool, Ordering::{Acquire, Release}}};
/// rc11::model(|| {
///     let is_ready = Arc::new(AtomicBool::new(false));
///     let theirs = is_ready.clone();
///     let other = rc11::thread::spawn(move || theirs.store(true, Release));
///     while !is_ready.load(Acquire) {
///         rc11::hint::spin_loop(); // waits for another thread
///     }
///     other.join().unwrap();
/// });
/// ```
#[track_caller]
pub fn spin_loop() {
    crate::thread::yield_now();
}

/// Says that this is not reached; a model that reaches it fails.
///
/// # Safety
/// It does nothing that is not safe, but for std's it is needed.
///
/// # Panics
/// Always.
///
/// ```
/// # rc11::model::Builder::new().bounded_ok().check(|| {
/// let n = rc11::sync::atomic::AtomicU8::new(1);
/// if n.into_inner() != 1 {
///     unsafe { rc11::hint::unreachable_unchecked() } // reached, it is a failure
/// }
/// # });
/// ```
#[track_caller]
pub unsafe fn unreachable_unchecked() -> ! {
    unreachable!("unreachable_unchecked was reached!");
}

/// Says that `condition` holds; a model in which it does not fails.
///
/// # Safety
/// It does nothing that is not safe, but for std's it is needed.
///
/// # Panics
/// If it does not.
///
/// ```
/// # rc11::model::Builder::new().bounded_ok().check(|| {
/// let n = rc11::sync::atomic::AtomicU8::new(1);
/// unsafe { rc11::hint::assert_unchecked(n.into_inner() == 1) }; // false, it is a failure
/// # });
/// ```
#[track_caller]
pub unsafe fn assert_unchecked(condition: bool) {
    assert!(condition, "assert_unchecked: the condition does not hold");
}
