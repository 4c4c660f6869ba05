//! Which task waits for which: what a deadlock is reported with.

use crate::kernel::types::m::MId;
use crate::runtime::id::TaskId;
use core::fmt;
use core::panic::Location;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The tasks of one runtime that wait with their threads.
#[derive(Debug, Default)]
pub(in crate::runtime) struct WaitGraph(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    /// Those that wait for others of it, by M.
    joins: BTreeMap<MId, WaitingTask>,
    /// Those that wait for something else.
    blocked: BTreeMap<TaskId, BlockedTask>,
}

impl WaitGraph {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The task of `m` waits from now on.
    pub(in crate::runtime) fn put(&self, m: MId, wait: WaitingTask) {
        self.lock().joins.insert(m, wait);
    }

    /// No longer.
    pub(in crate::runtime) fn take(&self, m: MId) {
        self.lock().joins.remove(&m);
    }

    /// All that wait for others, as they are now.
    pub(in crate::runtime) fn waits(&self) -> Vec<WaitingTask> {
        let mut waits: Vec<_> = self.lock().joins.values().cloned().collect();
        waits.iter_mut().for_each(|wait| wait.name = wait.id.and_then(TaskId::name));
        waits
    }

    /// This task waits, as long as what is returned lives.
    pub(super) fn block(&self, task: BlockedTask) -> Blocked<'_> {
        let id = task.id;
        Blocked { graph: self, id, before: self.lock().blocked.insert(id, task) }
    }

    /// All that wait for something else.
    pub(super) fn blocked(&self) -> Vec<BlockedTask> {
        self.lock().blocked.values().cloned().collect()
    }
}

/// A task is known to wait, as long as this lives.
pub(super) struct Blocked<'a> {
    graph: &'a WaitGraph,
    id: TaskId,
    /// The wait around this one.
    before: Option<BlockedTask>,
}

impl Drop for Blocked<'_> {
    fn drop(&mut self) {
        let blocked = &mut self.graph.lock().blocked;
        match self.before.take() {
            Some(before) => _ = blocked.insert(self.id, before),
            None => _ = blocked.remove(&self.id),
        }
    }
}

/// A task that waits for another. Tasks are named by the place at which they were spawned.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitingTask {
    /// Where the task that waits was spawned.
    pub task: &'static Location<'static>,
    /// Its number.
    pub id: Option<TaskId>,
    /// Its name, if a [`TaskBuilder`](crate::TaskBuilder) has given it one.
    pub name: Option<Arc<str>>,
    /// Where it waits.
    pub at: &'static Location<'static>,
    /// Where the task it waits for was spawned.
    pub for_task: &'static Location<'static>,
}

impl fmt::Display for WaitingTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WaitingTask { task, id, name, at, for_task } = self;
        match task == for_task {
            true => write!(f, "the task spawned at {task} waits at {at} for one spawned at the same place")?,
            false => write!(f, "the task spawned at {task} waits at {at} for the one spawned at {for_task}")?,
        }
        let name = Quoted(name.as_deref());
        id.map_or(Ok(()), |id| write!(f, " (task {id}{name}, join)"))
    }
}

/// A task that waits, with its thread or without one, for something else than [`JoinHandle::join`](crate::JoinHandle::join) does.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockedTask {
    /// Where it was spawned.
    pub task: &'static Location<'static>,
    /// Its number: that of its [`JoinHandle::id`](crate::JoinHandle::id).
    pub id: TaskId,
    /// Its name, if a [`TaskBuilder`](crate::TaskBuilder) has given it one.
    pub name: Option<Arc<str>>,
    /// What it waits for, in the words of Go's `waitReason`: `chan receive`, `sync.Mutex.Lock`, `join`. `await`: a future that is not
    /// one of ours.
    pub why: &'static str,
    /// Where it waits, if it does so with its thread: by [`wait`](crate::Wait::wait), or in `block_on`.
    pub at: Option<&'static Location<'static>>,
}

impl fmt::Display for BlockedTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task {}{}, {}", self.id, Quoted(self.name.as_deref()), self.why)?;
        self.at.map_or(Ok(()), |at| write!(f, ", at {at}"))
    }
}

/// A task's name, behind its number.
struct Quoted<'a>(Option<&'a str>);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |name| write!(f, " {name:?}"))
    }
}

/// No task of the runtime can go on: each waits, and nothing that it waits for can come any more. The task that has waited longest for
/// another by [`join`](crate::JoinHandle::join) gets this error, and can go on with it; the others may then be able to go on too. If none
/// joins, each thread in `block_on` gets it. It names every task that waits.
///
/// It is told only where it is certain: on Linux, if every other thread of the process waits in a function of the runtime's and was not
/// woken, no timer runs, and no socket is waited for.
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
    blocked: Vec<BlockedTask>,
    /// Where those were spawned that wait without a thread.
    tasks: Vec<&'static Location<'static>>,
}

impl Deadlock {
    /// Of tasks that wait for others on threads of their own; `threads`: as many as there may be are the reason.
    pub(super) fn new(waits: Vec<WaitingTask>, threads: Option<usize>, mut blocked: Vec<BlockedTask>) -> Deadlock {
        let place = |task: &BlockedTask| (task.task.file(), task.task.line(), task.task.column(), task.id);
        blocked.sort_by_key(place);
        let tasks = blocked.iter().filter(|task| task.at.is_none()).map(|task| task.task).collect();
        Deadlock(Box::new(Waits { waits, threads, root: None, is_closed: false, blocked, tasks }))
    }

    /// It is told to a thread in the `block_on` there.
    pub(super) fn with_root(mut self, at: &'static Location<'static>) -> Deadlock {
        self.0.root = Some(at);
        self
    }

    /// It is none: the runtime of a task in the `block_on` there is being shut down.
    pub(super) fn by_close(mut self, at: &'static Location<'static>) -> Deadlock {
        (self.0.root, self.0.is_closed) = (Some(at), true);
        self
    }

    /// Where the tasks were spawned that wait without a thread, for something that no task will bring.
    #[must_use]
    pub fn tasks(&self) -> &[&'static Location<'static>] {
        &self.0.tasks
    }

    /// Every task that waits for something else than [`waits`](Deadlock::waits) says, by the place at which it was spawned.
    ///
    /// ```
    /// # use spinpark::{Runtime, chan};
    /// # #[cfg(target_os = "linux")]
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let runtime = Runtime::builder().deterministic(1).build()?;
    /// let (_keep, receive) = chan::bounded::<u8>(1);
    /// let task = runtime.spawn(async move { receive.recv().await });
    /// let id = task.id();
    /// let deadlock = runtime.block_on(task).expect_err("nothing is ever sent");
    /// assert_eq!((deadlock.blocked()[0].id, deadlock.blocked()[0].why), (id, "chan receive"));
    /// # Ok(())
    /// # }
    /// # #[cfg(not(target_os = "linux"))]
    /// # fn main() {}
    /// ```
    #[must_use]
    pub fn blocked(&self) -> &[BlockedTask] {
        &self.0.blocked
    }

    /// The tasks that wait, the one that got this error among them.
    #[must_use]
    pub fn waits(&self) -> &[WaitingTask] {
        &self.0.waits
    }

    /// Some of the tasks that are waited for could go on, but there is no thread for them: as many threads as there may
    /// be, this many, belong to tasks that wait. `None`: threads are not the reason.
    ///
    /// ```
    /// use spinpark::{JoinError, go};
    ///
    /// let runtime = spinpark::Runtime::builder().procs(1).max_threads(1).build()?;
    /// // Each joins one more, until a thread is wanted that may not be.
    /// let error = runtime.go(|| go(|| 1).join()).join()?;
    /// if let Err(JoinError::Deadlock(deadlock, _)) = error {
    ///     assert_eq!(deadlock.max_threads(), Some(1));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
        for same in self.0.blocked.chunk_by(|one, other| one.task == other.task) {
            let at = same[0].task;
            match same {
                [one] => write!(f, "\n  the task spawned at {at} waits: {one}")?,
                _ => write!(f, "\n  {} tasks spawned at {at} wait:", same.len())?,
            }
            if same.len() > 1 {
                same.iter().try_for_each(|one| write!(f, "\n    {one}"))?;
            }
        }
        Ok(())
    }
}

impl core::error::Error for Deadlock {}
