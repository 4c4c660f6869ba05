//! The runtimes that live, by number. A task knows its runtime by number only: to share a count with all others of its
//! runtime would cost each spawn more than the rest of it.

use super::task::Tasks;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

/// Which runtime: never 0, never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Home(u32);

static HOMES: RwLock<BTreeMap<Home, WeakTasks>> = RwLock::new(BTreeMap::new());

pub(super) type WeakTasks = std::sync::Weak<super::task::Kernel>;

impl Home {
    /// That of no runtime.
    pub(super) const NONE: Home = Home(0);

    /// A number for a new runtime.
    pub(super) fn new() -> Home {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        // Relaxed: only that no number comes twice. (After four billion runtimes one would.)
        Home(NEXT.fetch_add(1, Relaxed))
    }

    /// Any.
    #[cfg(test)]
    pub(super) fn for_test(number: u32) -> Home {
        Home(number)
    }

    /// From now on tasks find it.
    pub(super) fn open(self, tasks: &Tasks) {
        HOMES.write().unwrap_or_else(PoisonError::into_inner).insert(self, tasks.downgrade());
    }

    /// No longer.
    pub(super) fn close(self) {
        HOMES.write().unwrap_or_else(PoisonError::into_inner).remove(&self);
    }

    /// Its runtime, if it lives.
    pub(super) fn find(self) -> Option<Tasks> {
        let weak = HOMES.read().unwrap_or_else(PoisonError::into_inner).get(&self).cloned();
        weak?.upgrade().map(Tasks::from)
    }
}

/// How many there are.
pub(super) fn count() -> usize {
    HOMES.read().unwrap_or_else(PoisonError::into_inner).len()
}
