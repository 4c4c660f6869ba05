//! Code of the user's that nobody waits for.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `f`, which is code of the user's that nobody waits for. Its panic was reported by the panic hook, and ends here;
/// what it panicked with may panic in its turn when it is dropped, and is not.
pub(in crate::runtime) fn guarded(f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        core::mem::forget(payload);
    }
}
