//! Tasks with names, for reports: a deadlock's, a dump's.
//!
//! The names stand beside the tasks: a task without one pays nothing. A task enters its name when it is first polled, and
//! takes it out when its future is dropped; so the number is that of this task as long as the name is there.

use crate::runtime::exec::task::Raw;
use crate::runtime::id::TaskId;
use core::task::Waker;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

static NAMES: Mutex<BTreeMap<TaskId, Arc<str>>> = Mutex::new(BTreeMap::new());

fn names() -> MutexGuard<'static, BTreeMap<TaskId, Arc<str>>> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TaskId {
    /// The number of the task that this code runs in. `None`: of none, or of one of a [`LocalSet`](crate::LocalSet). tokio:
    /// `task::try_id`.
    ///
    /// ```
    /// use spinpark::TaskId;
    ///
    /// let runtime = spinpark::Runtime::builder().procs(1).build()?;
    /// let mut task = runtime.spawn(async { TaskId::try_current() });
    /// let id = task.id();
    /// assert_eq!(task.join_mut()?, Some(id)); // the handle keeps the number from being another task's
    /// assert_eq!(TaskId::try_current(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    #[inline(never)] // as `report::waits_for`
    pub fn try_current() -> Option<TaskId> {
        Raw::polled().map(|task| TaskId::at(task.address()))
    }

    /// The name that the task of this number was given by a [`TaskBuilder`](crate::TaskBuilder). `None`: it has none, has ended, or has not run yet.
    ///
    /// ```
    /// use spinpark::task::{TaskBuilder, TaskId};
    ///
    /// # spinpark::run(async {
    /// let cook = TaskBuilder::new().name("cook").spawn(async { TaskId::try_current().and_then(TaskId::name) });
    /// assert_eq!(cook.await.expect("no panic").as_deref(), Some("cook"));
    /// # });
    /// ```
    #[must_use]
    pub fn name(self) -> Option<Arc<str>> {
        names().get(&self).cloned()
    }
}

/// A task's name, as long as its future lives.
pub(in crate::runtime) struct Name {
    name: Option<Arc<str>>,
    id: Option<TaskId>,
}

impl Name {
    pub(in crate::runtime) fn new(name: Option<Arc<str>>) -> Name {
        Name { name, id: None }
    }

    /// The task runs: it is known which it is.
    pub(in crate::runtime) fn enter(&mut self) {
        if self.name.is_some() {
            self.enter_as(TaskId::try_current());
        }
    }

    /// The same; this is the task's waker.
    pub(in crate::runtime) fn enter_by(&mut self, waker: &Waker) {
        if self.name.is_some() {
            self.enter_as(Raw::of(waker).map(|task| TaskId::at(task.address())));
        }
    }

    fn enter_as(&mut self, id: Option<TaskId>) {
        self.id = id;
        self.id.zip(self.name.take()).map(|(id, name)| names().insert(id, name));
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        drop(self.id.map(|id| names().remove(&id)));
    }
}
