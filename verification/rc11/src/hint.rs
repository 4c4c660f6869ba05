//! Like `std::hint`.

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
