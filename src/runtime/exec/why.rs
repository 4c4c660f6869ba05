//! What a task waits for, in one word of its header: a thread that reports a deadlock reads it while another may write it.

#![allow(unsafe_code)]

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use core::{slice, str};

/// Where the length stands; below it the address.
const LENGTH: u32 = 48;

/// The words of Go's `waitReason`, or none.
pub(super) struct Why(AtomicU64);

impl Why {
    pub(super) const fn unknown() -> Why {
        Why(AtomicU64::new(0))
    }

    /// It waits for this. A text at an address that has no room beside its length is not kept.
    #[inline(always)]
    pub(super) fn set(&self, why: &'static str) {
        let (address, length) = (why.as_ptr().expose_provenance() as u64, why.len() as u64);
        if address >> LENGTH == 0 && length >> (u64::BITS - LENGTH) == 0 {
            // Relaxed: one word says all of it, and the text was there before the program began.
            self.0.store(length << LENGTH | address, Relaxed);
        }
    }

    /// It is polled anew, and has not said what it waits for.
    #[inline(always)]
    pub(super) fn forget(&self) {
        // Relaxed: as in `set`.
        self.0.store(0, Relaxed);
    }

    /// `None`: it has not said, as foreign futures do not.
    pub(super) fn get(&self) -> Option<&'static str> {
        // Relaxed: as in `set`.
        let word = self.0.load(Relaxed);
        let (address, length) = (word & ((1 << LENGTH) - 1), word >> LENGTH);
        // SAFETY: other words than 0 are those of `set`: the address and the length of one text, which is there for ever.
        let text = |address| unsafe { str::from_utf8_unchecked(slice::from_raw_parts(address, length as usize)) };
        (word != 0).then(|| text(core::ptr::with_exposed_provenance(address as usize)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_what_was_set_last() {
        let why = Why::unknown();
        assert_eq!(why.get(), None);
        for text in ["chan receive", "", "sleep"] {
            why.set(text);
            assert_eq!(why.get(), Some(text));
        }
        why.forget();
        assert_eq!(why.get(), None);
    }
}
