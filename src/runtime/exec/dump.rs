//! What the tasks of a runtime wait for, on demand. Go: the stacks that SIGQUIT prints.

use crate::runtime::exec::tasks::Tasks;
use crate::runtime::exec::wait_graph::{BlockedTask, WaitingTask};
use crate::runtime::exec::waits::blocked_in;
use core::fmt;

/// What the tasks of a runtime wait for, at a moment: of [`Handle::dump`](crate::Handle::dump). Shown, it has a line a task, those of
/// one place together.
///
/// In it are the tasks that have waited once and have not ended. One that runs or is queued at that moment stands there with what it waited for
/// last, or with `await`; one that has never waited is only counted in the [`schedtrace`](Dump::schedtrace).
#[derive(Debug, Clone)]
pub struct Dump {
    schedtrace: String,
    waits: Vec<WaitingTask>,
    blocked: Vec<BlockedTask>,
}

impl Dump {
    pub(in crate::runtime) fn of(tasks: &Tasks) -> Dump {
        let shared = tasks.shared();
        let mut blocked = blocked_in(shared);
        blocked.sort_by_key(|task| (task.task.file(), task.task.line(), task.task.column(), task.id));
        Dump { schedtrace: tasks.schedtrace(), waits: shared.wait_graph.waits(), blocked }
    }

    /// What the scheduler looks like: as [`Handle::schedtrace`](crate::Handle::schedtrace).
    #[must_use]
    pub fn schedtrace(&self) -> &str {
        &self.schedtrace
    }

    /// The tasks that wait for others by [`join`](crate::JoinHandle::join), with their threads: the edges of the wait graph.
    #[must_use]
    pub fn waits(&self) -> &[WaitingTask] {
        &self.waits
    }

    /// The others: each with its name, its number, where it was spawned and what it waits for.
    #[must_use]
    pub fn blocked(&self) -> &[BlockedTask] {
        &self.blocked
    }
}

impl fmt::Display for Dump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.schedtrace)?;
        self.waits.iter().try_for_each(|wait| write!(f, "\n  {wait}"))?;
        for same in self.blocked.chunk_by(|one, other| one.task == other.task) {
            write!(f, "\n  spawned at {}: {}", same[0].task, same.len())?;
            same.iter().try_for_each(|one| write!(f, "\n    {one}"))?;
        }
        Ok(())
    }
}
