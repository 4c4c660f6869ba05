//! A task that waits, as a report of a deadlock names it.

use crate::runtime::exec::task::Raw;
use crate::runtime::exec::wait_graph::BlockedTask;
use crate::runtime::id::TaskId;
use crate::runtime::observe::watch;
use core::panic::Location;

impl Raw {
    /// What it waits for, as far as it has said since it was polled last.
    pub(super) fn why(&self) -> &'static str {
        self.header().why.get().unwrap_or(watch::AWAIT)
    }

    /// It waits: with its thread, `at` this place, or without one.
    pub(super) fn blocked(self, at: Option<&'static Location<'static>>) -> BlockedTask {
        BlockedTask { task: self.spawned_at(), id: TaskId::at(self.address()), name: None, why: self.why(), at }
    }
}
