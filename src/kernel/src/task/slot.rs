//! Where a handle stores its waker.

use crate::atomic::{Atomic, ByOwner};
use crate::host::Host;
use core::sync::atomic::Ordering::Relaxed;

/// A waker as two words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WakerWords {
    /// What it is given.
    pub data: u64,
    /// What it can do.
    pub vtable: u64,
}

/// Where a handle stores its waker. Words, because the thread that completes the task reads them before it knows whether
/// they are its own to use.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// let slot = spinpark_kernel::task::JoinerSlot::<Os>::new(); // empty; a task's `Memory` has one
/// # let _ = slot;
/// # }
/// ```
pub struct JoinerSlot<H: Host> {
    data: Atomic<H, u64, ByOwner>,
    vtable: Atomic<H, u64, ByOwner>,
}

impl<H: Host> JoinerSlot<H> {
    /// None.
    pub fn new() -> Self {
        JoinerSlot { data: Atomic::new(0), vtable: Atomic::new(0) }
    }

    #[inline]
    pub(super) fn write(&self, words: WakerWords) {
        // Relaxed: `TaskWord::offer` publishes them.
        self.data.store(words.data, Relaxed);
        self.vtable.store(words.vtable, Relaxed);
    }

    #[inline]
    pub(super) fn read(&self) -> WakerWords {
        // Relaxed: a reader has seen JOINER. What is read while the handle writes is not used.
        WakerWords { data: self.data.load(Relaxed), vtable: self.vtable.load(Relaxed) }
    }
}

impl<H: Host> Default for JoinerSlot<H> {
    fn default() -> Self {
        Self::new()
    }
}
