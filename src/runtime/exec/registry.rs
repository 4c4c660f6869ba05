//! The runtimes that live, by number. A task knows its runtime by number only: to share a count with all others of its
//! runtime would cost each spawn more than the rest of it.

use crate::runtime::exec::tasks::{Tasks, WeakTasks};
use crate::runtime::id::RuntimeId;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

static RUNTIMES: RwLock<BTreeMap<RuntimeId, WeakTasks>> = RwLock::new(BTreeMap::new());

impl RuntimeId {
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
        weak?.upgrade()
    }

    /// Does it live?
    pub(in crate::runtime) fn is_open(self) -> bool {
        self.find().is_some()
    }
}

/// How many there are.
pub(in crate::runtime) fn count() -> usize {
    RUNTIMES.read().unwrap_or_else(PoisonError::into_inner).len()
}

/// The only one that there is.
pub(in crate::runtime) fn only() -> Option<Tasks> {
    let runtimes = RUNTIMES.read().unwrap_or_else(PoisonError::into_inner);
    let weak = runtimes.values().next().filter(|_| runtimes.len() == 1).cloned();
    drop(runtimes);
    weak?.upgrade()
}
