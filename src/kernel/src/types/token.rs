//! Evidence that must be spent: the drop bomb behind `OwnedP`, `SpinningToken`, `Away` and `StoppedWorld`.
//!
//! Rust forbids copying a value, not forgetting it. A piece of evidence that is dropped instead of spent panics, in every build,
//! unless its thread is panicking already. The bomb has no size.

use core::marker::PhantomData;

/// Panics when dropped. Disarm it by [`spend`](Unspent::spend).
#[derive(Debug)]
pub(crate) struct Unspent<D>(PhantomData<fn() -> D>);

impl<D> Unspent<D> {
    pub(crate) fn new() -> Self {
        Unspent(PhantomData)
    }

    #[inline(always)]
    pub(crate) fn spend(self) {
        let _spent = core::mem::ManuallyDrop::new(self);
    }
}

impl<D> Drop for Unspent<D> {
    #[inline]
    fn drop(&mut self) {
        forgotten(core::any::type_name::<D>());
    }
}

/// Only std's runtime unwinds, so a build whose panics unwind has std; in others no drop follows a panic.
#[cold]
#[inline(never)]
fn forgotten(path: &str) {
    #[cfg(panic = "unwind")]
    if std::thread::panicking() {
        return;
    }
    let mut names = path.rsplit("::");
    let (what, room) = (names.next().unwrap_or(path), names.next().unwrap_or("kernel"));
    panic!("{room}: {what} was dropped, alone or with what holds it; it must be handed on, or its M and P are lost");
}

/// What `what` panics with, which belongs to another scheduler: there a G would be lost, or a P had two owners.
#[cold]
#[inline(never)]
pub(crate) fn foreign(what: &str) -> ! {
    panic!("sched: this {what} belongs to another scheduler");
}

static_assertions::assert_not_impl_any!(Unspent<u8>: Copy, Clone);
static_assertions::assert_eq_size!(Unspent<u8>, ());
