//! Who waits for whom: what a deadlock is reported with.

use crate::kernel::m::MId;
use crate::kernel::observer::Observer;
use core::fmt;
use core::panic::Location;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The tasks of one runtime that wait for others of it, by M.
#[derive(Debug, Default)]
pub(super) struct Board(Mutex<BTreeMap<MId, Wait>>);

impl Observer for Board {}

impl Board {
    /// The task of `m` waits from now on.
    pub(super) fn put(&self, m: MId, wait: Wait) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(m, wait);
    }

    /// No longer.
    pub(super) fn take(&self, m: MId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&m);
    }

    /// All of them, as they are now.
    pub(super) fn waits(&self) -> Vec<Wait> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().copied().collect()
    }
}

/// A task that waits for another. Tasks are named by the place at which they were spawned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wait {
    /// Where the task that waits was spawned.
    pub task: &'static Location<'static>,
    /// Where it waits.
    pub at: &'static Location<'static>,
    /// Where the task it waits for was spawned.
    pub for_task: &'static Location<'static>,
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Wait { task, at, for_task } = self;
        if task == for_task {
            return write!(f, "the task spawned at {task} waits at {at} for one spawned at the same place");
        }
        write!(f, "the task spawned at {task} waits at {at} for the one spawned at {for_task}")
    }
}

/// No task of the runtime can go on: each waits for another that waits. The one that has waited longest is told, and
/// can go on with this error; the others may then be able to go on too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deadlock {
    pub(super) waits: Vec<Wait>,
    pub(super) threads: Option<usize>,
}

impl Deadlock {
    /// The tasks that wait, the one that was told among them.
    #[must_use]
    pub fn waits(&self) -> &[Wait] {
        &self.waits
    }

    /// Some of the tasks that are waited for could go on, but there is no thread for them: as many threads as there may
    /// be, this many, belong to tasks that wait. `None`: threads are not the reason.
    #[must_use]
    pub fn max_threads(&self) -> Option<usize> {
        self.threads
    }
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.threads {
            None => f.write_str("deadlock: every task waits for another")?,
            Some(n) => write!(
                f,
                "deadlock: all {n} threads there may be belong to tasks that wait for others; raise max_threads, or \
                 wait for fewer at a time"
            )?,
        }
        self.waits.iter().try_for_each(|wait| write!(f, "\n  {wait}"))
    }
}

impl core::error::Error for Deadlock {}
