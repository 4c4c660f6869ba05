//! Evidence that must be spent: the drop bomb behind `OwnedP` and `SpinningToken`.
//!
//! Rust forbids copying a value, not forgetting it. With debug assertions (and `std`, to see whether the thread is
//! already panicking) a piece of evidence that is dropped instead of spent panics; in a release it has no size.

/// Panics when dropped. Disarm it by [`spend`](Unspent::spend).
#[derive(Debug)]
pub(in crate::kernel) struct Unspent {
    #[cfg(all(debug_assertions, feature = "std"))]
    duty: &'static str,
}

impl Unspent {
    #[inline(always)]
    pub(in crate::kernel) fn new(duty: &'static str) -> Self {
        #[cfg(not(all(debug_assertions, feature = "std")))]
        let _ = duty;
        Unspent {
            #[cfg(all(debug_assertions, feature = "std"))]
            duty,
        }
    }

    #[inline(always)]
    pub(in crate::kernel) fn spend(self) {
        let _spent = core::mem::ManuallyDrop::new(self);
    }
}

#[cfg(all(debug_assertions, feature = "std"))]
impl Drop for Unspent {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("{}", self.duty);
        }
    }
}

static_assertions::assert_not_impl_any!(Unspent: Copy, Clone);
#[cfg(not(debug_assertions))]
static_assertions::assert_eq_size!(Unspent, ());
