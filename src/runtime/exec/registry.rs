//! The runtimes that live, by number. A task knows its runtime by number only: to share a count with all others of its
//! runtime would cost each spawn more than the rest of it.

use crate::runtime::exec::task::Tasks;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

/// Which runtime: never 0, never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::runtime) struct RuntimeId(u32);

static RUNTIMES: RwLock<BTreeMap<RuntimeId, WeakTasks>> = RwLock::new(BTreeMap::new());

pub(in crate::runtime) type WeakTasks = std::sync::Weak<crate::runtime::exec::task::Kernel>;

impl RuntimeId {
    /// That of no runtime.
    pub(in crate::runtime) const NONE: RuntimeId = RuntimeId(0);

    /// A number for a new runtime.
    pub(in crate::runtime) fn new() -> RuntimeId {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        // Relaxed: only that no number comes twice. (After four billion runtimes one would.)
        RuntimeId(NEXT.fetch_add(1, Relaxed))
    }

    /// Any.
    #[cfg(test)]
    pub(in crate::runtime) fn for_test(number: u32) -> RuntimeId {
        RuntimeId(number)
    }

    /// From now on tasks find it.
    pub(in crate::runtime) fn open(self, tasks: &Tasks) {
        RUNTIMES.write().unwrap_or_else(PoisonError::into_inner).insert(self, tasks.downgrade());
    }

    /// No longer.
    pub(in crate::runtime) fn close(self) {
        RUNTIMES.write().unwrap_or_else(PoisonError::into_inner).remove(&self);
    }

    /// Its runtime, if it lives.
    pub(in crate::runtime) fn find(self) -> Option<Tasks> {
        let weak = RUNTIMES.read().unwrap_or_else(PoisonError::into_inner).get(&self).cloned();
        weak?.upgrade().map(Tasks::from)
    }
}

/// How many there are.
pub(in crate::runtime) fn count() -> usize {
    RUNTIMES.read().unwrap_or_else(PoisonError::into_inner).len()
}
