//! Like `std::hint`.

#[doc(no_inline)]
pub use std::hint::{black_box, select_unpredictable};

/// The loop that calls it will look again: [`yield_now`](crate::thread::yield_now).
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
#[track_caller]
pub unsafe fn assert_unchecked(condition: bool) {
    assert!(condition, "assert_unchecked: the condition does not hold");
}
