//! Which task waits for which: what a deadlock is reported with.

use crate::kernel::types::m::MId;
use core::fmt;
use core::panic::Location;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The tasks of one runtime that wait for others of it, by M.
#[derive(Debug, Default)]
pub(in crate::runtime) struct WaitGraph(Mutex<BTreeMap<MId, WaitingTask>>);

impl WaitGraph {
    /// The task of `m` waits from now on.
    pub(in crate::runtime) fn put(&self, m: MId, wait: WaitingTask) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(m, wait);
    }

    /// No longer.
    pub(in crate::runtime) fn take(&self, m: MId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&m);
    }

    /// All of them, as they are now.
    pub(in crate::runtime) fn waits(&self) -> Vec<WaitingTask> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().copied().collect()
    }
}

/// A task that waits for another. Tasks are named by the place at which they were spawned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitingTask {
    /// Where the task that waits was spawned.
    pub task: &'static Location<'static>,
    /// Where it waits.
    pub at: &'static Location<'static>,
    /// Where the task it waits for was spawned.
    pub for_task: &'static Location<'static>,
}

impl fmt::Display for WaitingTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WaitingTask { task, at, for_task } = self;
        if task == for_task {
            return write!(f, "the task spawned at {task} waits at {at} for one spawned at the same place");
        }
        write!(f, "the task spawned at {task} waits at {at} for the one spawned at {for_task}")
    }
}

/// No task of the runtime can go on: each waits for another that waits. The one that has waited longest gets
/// this error, and can go on with it; the others may then be able to go on too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deadlock(Box<Waits>); // one word, because every `Result` of a handle has a place for it

#[derive(Debug, Clone, PartialEq, Eq)]
struct Waits {
    waits: Vec<WaitingTask>,
    threads: Option<usize>,
    /// Where the `block_on` was called that is deadlocked, and where the tasks were spawned that wait without a thread.
    root: Option<&'static Location<'static>>,
    /// It is a task's, and the runtime is being shut down.
    is_closed: bool,
    tasks: Vec<&'static Location<'static>>,
}

impl Deadlock {
    /// Of tasks that wait for others on threads of their own.
    pub(in crate::runtime) fn of_waits(
        waits: Vec<WaitingTask>,
        threads: Option<usize>,
        tasks: Vec<&'static Location<'static>>,
    ) -> Deadlock {
        Deadlock(Box::new(Waits { waits, threads, root: None, is_closed: false, tasks }))
    }

    /// Of a thread in `block_on`; `threads`: as many as there may be are the reason.
    pub(in crate::runtime) fn of_root(
        at: &'static Location<'static>,
        threads: Option<usize>,
        tasks: Vec<&'static Location<'static>>,
    ) -> Deadlock {
        Deadlock(Box::new(Waits { waits: Vec::new(), threads, root: Some(at), is_closed: false, tasks }))
    }

    /// Of a task in `block_on`, whose runtime is being shut down.
    pub(in crate::runtime) fn of_closed(
        at: &'static Location<'static>,
        tasks: Vec<&'static Location<'static>>,
    ) -> Deadlock {
        Deadlock(Box::new(Waits { waits: Vec::new(), threads: None, root: Some(at), is_closed: true, tasks }))
    }

    /// Where the tasks were spawned that wait without a thread, for something that nobody will bring.
    #[must_use]
    pub fn tasks(&self) -> &[&'static Location<'static>] {
        &self.0.tasks
    }

    /// The tasks that wait, the one that got this error among them.
    #[must_use]
    pub fn waits(&self) -> &[WaitingTask] {
        &self.0.waits
    }

    /// Some of the tasks that are waited for could go on, but there is no thread for them: as many threads as there may
    /// be, this many, belong to tasks that wait. `None`: threads are not the reason.
    #[must_use]
    pub fn max_threads(&self) -> Option<usize> {
        self.0.threads
    }
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.threads {
            None if self.0.is_closed => {
                f.write_str("the runtime is being shut down, and a task of it waits in block_on")?
            }
            None if self.0.root.is_some() => f.write_str("deadlock: nothing can happen any more")?,
            None => f.write_str("deadlock: every task waits for another")?,
            Some(n) => write!(
                f,
                "deadlock: all {n} threads there may be belong to tasks that wait; raise max_threads, or wait with fewer \
                 threads at a time"
            )?,
        }
        if let Some(at) = self.0.root {
            write!(f, "\n  the future given to block_on at {at} waits")?;
        }
        self.0.waits.iter().try_for_each(|wait| write!(f, "\n  {wait}"))?;
        let mut rest = &self.0.tasks[..];
        while let Some(at) = rest.first() {
            let same = rest.iter().take_while(|other| other == &at).count();
            rest = &rest[same..];
            match same {
                1 => write!(f, "\n  the task spawned at {at} waits")?,
                _ => write!(f, "\n  {same} tasks spawned at {at} wait")?,
            }
        }
        Ok(())
    }
}

impl core::error::Error for Deadlock {}
