//! Which runtime of this process.

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

/// Which runtime: never 0, never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::runtime) struct RuntimeId(u32);

impl RuntimeId {
    /// That of no runtime.
    pub(in crate::runtime) const NONE: RuntimeId = RuntimeId(0);

    /// A number for a new runtime.
    pub(in crate::runtime) fn new() -> RuntimeId {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        // Relaxed: only that no number comes twice. (After four billion runtimes one would.)
        RuntimeId(NEXT.fetch_add(1, Relaxed))
    }
}
