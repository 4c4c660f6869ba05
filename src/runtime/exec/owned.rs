//! The tasks of a runtime that wait, and do so without a thread.

use crate::runtime::exec::task;
use crate::runtime::host::sim;
use core::num::NonZeroU32;
use core::panic::Location;
use core::task::Waker;
use core::time::Duration;
use slab::Slab;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The tasks of a runtime that have waited once, and have not ended: where they were spawned, and how to wake them.
pub(in crate::runtime) struct OwnedTasks {
    /// One for each P, so that they do not wait for each other.
    rows: Box<[Mutex<Slab<OwnedTask>>]>,
}

/// One of them.
pub(in crate::runtime) struct OwnedTask {
    waker: Waker,
    spawned_at: &'static Location<'static>,
}

impl OwnedTask {
    /// Wakes it.
    pub(super) fn waker(&self) -> &Waker {
        &self.waker
    }
}

/// Room for so many is kept in each row.
const KEPT: usize = 1024;

/// Where one is known: its row and its number there, in one.
pub(in crate::runtime) struct Key(NonZeroU32);

impl OwnedTasks {
    pub(in crate::runtime) fn new(rows: usize) -> Arc<OwnedTasks> {
        Arc::new(OwnedTasks { rows: (0..rows.max(1)).map(|_| Mutex::new(Slab::new())).collect() })
    }

    fn row(&self, row: usize) -> MutexGuard<'_, Slab<OwnedTask>> {
        self.rows[row].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The task of this waker waits from now on.
    pub(super) fn insert(&self, row: usize, waker: &Waker, spawned_at: &'static Location<'static>) -> Key {
        let rows = self.rows.len();
        let row = row % rows;
        let number = self.row(row).insert(OwnedTask { waker: waker.clone(), spawned_at });
        let key = u32::try_from(number * rows + row + 1).ok().and_then(NonZeroU32::new);
        Key(key.expect("there is no memory for four billion tasks"))
    }

    pub(super) fn remove(&self, Key(key): Key) -> Option<OwnedTask> {
        let key = key.get() as usize - 1;
        let mut row = self.row(key % self.rows.len());
        let owned = row.try_remove(key / self.rows.len());
        // A crowd was there, and has gone: its memory goes too. Tried now and then: it takes time.
        if row.capacity() > KEPT && row.len() * 8 < row.capacity() && (row.is_empty() || row.len().is_power_of_two()) {
            row.shrink_to_fit();
        }
        owned
    }

    /// What the wakers of its tasks carry.
    pub(in crate::runtime) fn addresses(&self) -> BTreeSet<usize> {
        let mut addresses = BTreeSet::new();
        for row in 0..self.rows.len() {
            addresses.extend(self.row(row).iter().map(|(_, owned)| owned.waker.data().addr()));
        }
        addresses
    }

    /// How many wait, or have waited and run now.
    pub(in crate::runtime) fn len(&self) -> usize {
        (0..self.rows.len()).map(|row| self.row(row).len()).sum()
    }

    /// Where those were spawned.
    pub(in crate::runtime) fn spawned_at(&self) -> Vec<&'static Location<'static>> {
        let mut places: Vec<&'static Location<'static>> = Vec::new();
        for row in 0..self.rows.len() {
            places.extend(self.row(row).iter().map(|(_, owned)| owned.spawned_at));
        }
        places.sort_by_key(|at| (at.file(), at.line(), at.column()));
        places
    }

    /// Drops all of them, here. Nothing runs them any more.
    pub(in crate::runtime) fn clear(&self) {
        for row in 0..self.rows.len() {
            // Not under the lock: a task that is dropped removes itself.
            let owned = core::mem::take(&mut *self.row(row));
            for (_, OwnedTask { waker, .. }) in owned {
                // A thread that wakes the task just now finds out that nothing is run any more, in a few steps.
                while !task::close(&waker) {
                    if !sim::pause(Duration::from_nanos(1)) {
                        thread::yield_now();
                    }
                }
            }
        }
    }
}
