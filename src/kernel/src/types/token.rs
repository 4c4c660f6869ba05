//! Evidence that must be spent: the drop bomb behind `OwnedP` and `SpinningToken`.
//!
//! Rust forbids copying a value, not forgetting it. With debug assertions a piece of evidence that is dropped instead of spent
//! panics, unless its thread is panicking already; in a release it has no size.

/// Panics when dropped. Disarm it by [`spend`](Unspent::spend).
#[derive(Debug)]
pub(crate) struct Unspent {
    #[cfg(debug_assertions)]
    duty: &'static str,
}

impl Unspent {
    #[inline(always)]
    pub(crate) fn new(duty: &'static str) -> Self {
        #[cfg(not(debug_assertions))]
        let _ = duty;
        Unspent {
            #[cfg(debug_assertions)]
            duty,
        }
    }

    #[inline(always)]
    pub(crate) fn spend(self) {
        let _spent = core::mem::ManuallyDrop::new(self);
    }
}

#[cfg(debug_assertions)]
impl Drop for Unspent {
    fn drop(&mut self) {
        if !is_unwinding() {
            panic!("{}", self.duty);
        }
    }
}

/// Is this thread unwinding? Only std's runtime unwinds, so a build whose panics unwind has std; in others no drop follows a
/// panic.
#[cfg(debug_assertions)]
fn is_unwinding() -> bool {
    #[cfg(panic = "unwind")]
    return std::thread::panicking();
    #[cfg(not(panic = "unwind"))]
    return false;
}

static_assertions::assert_not_impl_any!(Unspent: Copy, Clone);
#[cfg(not(debug_assertions))]
static_assertions::assert_eq_size!(Unspent, ());
