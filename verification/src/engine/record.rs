//! Schedulers around schedulers: one that writes down what another decides, and one that decides what was written.

use super::sc::Announced;
use serde::{Deserialize, Serialize};
use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};
use std::cell::RefCell;
use std::rc::Rc;

/// One decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pick {
    /// This thread goes on.
    T(usize),
    /// This value was drawn.
    V(u64),
}

/// Writes down what `inner` decides in the current execution.
pub(super) struct Recorder {
    inner: Box<dyn Scheduler>,
    picks: Rc<RefCell<Vec<Pick>>>,
    keep_going: Box<dyn Fn(u64) -> bool>,
    executions: u64,
}

impl Recorder {
    pub(super) fn new(
        inner: Box<dyn Scheduler>,
        picks: Rc<RefCell<Vec<Pick>>>,
        keep_going: impl Fn(u64) -> bool + 'static,
    ) -> Self {
        Recorder { inner, picks, keep_going: Box::new(keep_going), executions: 0 }
    }
}

impl Scheduler for Recorder {
    fn new_execution(&mut self) -> Option<Schedule> {
        if !(self.keep_going)(self.executions) {
            return None;
        }
        self.executions += 1;
        self.picks.borrow_mut().clear();
        Announced::reset();
        self.inner.new_execution()
    }

    fn next_task(&mut self, tasks: &[&Task], current: Option<TaskId>, is_yielding: bool) -> Option<TaskId> {
        let task = self.inner.next_task(tasks, current, is_yielding)?;
        self.picks.borrow_mut().push(Pick::T(usize::from(task)));
        Some(task)
    }

    fn next_u64(&mut self) -> u64 {
        let value = self.inner.next_u64();
        self.picks.borrow_mut().push(Pick::V(value));
        value
    }
}

/// Decides what was written down, once; after its end, any thread that can run.
pub(super) struct Follow {
    picks: std::vec::IntoIter<Pick>,
    played: bool,
}

impl Follow {
    pub(super) fn new(picks: Vec<Pick>) -> Self {
        Follow { picks: picks.into_iter(), played: false }
    }
}

impl Scheduler for Follow {
    fn new_execution(&mut self) -> Option<Schedule> {
        let first = !self.played;
        self.played = true;
        first.then(|| Schedule::new(0))
    }

    fn next_task(&mut self, tasks: &[&Task], _current: Option<TaskId>, _is_yielding: bool) -> Option<TaskId> {
        match self.picks.next() {
            Some(Pick::T(task)) if tasks.iter().any(|t| usize::from(t.id()) == task) => Some(TaskId::from(task)),
            None => tasks.iter().find(|task| !task.blocked()).map(|task| task.id()),
            Some(_) => panic!("replay: the code has changed since the schedule was written; it cannot be followed"),
        }
    }

    fn next_u64(&mut self) -> u64 {
        match self.picks.next() {
            Some(Pick::V(value)) => value,
            None => 0,
            Some(_) => panic!("replay: the code has changed since the schedule was written; it cannot be followed"),
        }
    }
}
