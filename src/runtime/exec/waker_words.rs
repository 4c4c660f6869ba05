//! A waker as two words, for a slot that is read before it is known whose it is.

#![allow(unsafe_code)]

use crate::kernel::task::WakerWords;
use core::task::{RawWakerVTable, Waker};

/// A waker as words; it is not used up.
pub(super) fn words_of(waker: &Waker) -> WakerWords {
    WakerWords {
        data: waker.data().expose_provenance() as u64,
        vtable: core::ptr::from_ref(waker.vtable()).expose_provenance() as u64,
    }
}

/// The waker that they are the words of.
///
/// # Safety
/// They are [`words_of`] a waker that was forgotten, and no waker was made of them since.
pub(super) unsafe fn from_words(words: WakerWords) -> Waker {
    let data = core::ptr::with_exposed_provenance(words.data as usize);
    let vtable = core::ptr::with_exposed_provenance::<RawWakerVTable>(words.vtable as usize);
    // SAFETY: the table is static, and was exposed; the rest is this function's contract.
    unsafe { Waker::new(data, &*vtable) }
}
