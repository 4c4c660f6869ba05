//! The tasks of a runtime that wait, and do so without a thread: [`owned_tasks`] on real cores.

use crate::kernel::task;
use crate::runtime::exec::task::Raw;
use crate::runtime::exec::wait_graph::BlockedTask;
use crate::runtime::host::cores::Cores;
use crate::runtime::host::sim;
use crate::waits::owned_tasks::{self, Owned};
use core::ops::Deref;
use core::task::Waker;
use core::time::Duration;
use std::thread;

pub(in crate::runtime) use crate::waits::owned_tasks::Key;

/// The tasks of a runtime that have waited once, and have not ended: how to wake them.
pub(in crate::runtime) struct OwnedTasks(owned_tasks::OwnedTasks<Cores, OwnedTask>);

impl Deref for OwnedTasks {
    type Target = owned_tasks::OwnedTasks<Cores, OwnedTask>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// One of them.
pub(in crate::runtime) struct OwnedTask {
    waker: Waker,
}

impl OwnedTask {
    /// The one that this wakes.
    pub(super) fn of(waker: &Waker) -> OwnedTask {
        OwnedTask { waker: waker.clone() }
    }

    /// Wakes it.
    pub(super) fn waker(&self) -> &Waker {
        &self.waker
    }
}

impl Owned for OwnedTask {
    /// What its wakers carry.
    fn address(&self) -> usize {
        self.waker.data().addr()
    }

    fn close(&self) -> bool {
        let raw = Raw::of(&self.waker);
        debug_assert!(raw.is_some(), "owned: a foreign waker");
        raw.is_none_or(|raw| task::close(&raw))
    }
}

/// Room for so many is kept in each row.
const KEPT: usize = 1024;

impl OwnedTasks {
    /// None yet, on so many rows.
    pub(in crate::runtime) fn new(rows: usize) -> OwnedTasks {
        OwnedTasks(owned_tasks::OwnedTasks::new(rows))
    }

    /// The task has ended, which is listed there.
    pub(super) fn ended(&self, key: Key) -> Option<OwnedTask> {
        self.remove(key, |row| {
            // A crowd was there, and has gone: its memory goes too. Tried now and then: it takes time.
            let is_crowd_gone = row.capacity() > KEPT && row.len() * 8 < row.capacity();
            if is_crowd_gone && (row.is_empty() || row.len().is_power_of_two()) {
                row.shrink_to_fit();
            }
        })
    }

    /// All of them, as they wait now.
    pub(super) fn blocked(&self) -> Vec<BlockedTask> {
        let mut blocked = Vec::new();
        self.for_each(|owned| blocked.extend(Raw::of(&owned.waker).map(|task| task.blocked(None))));
        blocked
    }

    /// Drops all of them, here. Nothing runs them any more.
    pub(in crate::runtime) fn clear(&self) {
        self.close_all(|| {
            if !sim::pause(Duration::from_nanos(1)) {
                thread::yield_now();
            }
        });
    }
}
