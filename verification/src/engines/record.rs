//! Schedulers around schedulers: one that writes down what another decides, and one that decides what was written.

use crate::engines::sc::Announced;
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

/// Decides what was written down, once; after its end, any thread that can run. What cannot be followed ends the
/// execution: [`Followed`] says why.
pub(super) struct Follow {
    picks: std::vec::IntoIter<Pick>,
    played: bool,
    followed: Rc<RefCell<Followed>>,
}

/// How far a script was followed.
#[derive(Debug, Default)]
pub(super) struct Followed {
    /// How many decisions were taken.
    taken: usize,
    /// Of so many.
    of: usize,
    /// Why not the next one.
    why_not: Option<String>,
}

impl Followed {
    /// Why the script is of another execution, if it is: all of it must have been played, unless the execution failed before.
    pub(super) fn misfit(&self, has_failed: bool) -> Option<String> {
        let Followed { taken, of, why_not } = self;
        match why_not {
            Some(why) => Some(format!("decision {} of {of} cannot be taken: {why}", taken + 1)),
            None if taken < of && !has_failed => Some(format!("the execution ends after {taken} of {of} decisions")),
            None => None,
        }
    }
}

impl Follow {
    pub(super) fn new(picks: Vec<Pick>) -> (Self, Rc<RefCell<Followed>>) {
        let followed = Rc::new(RefCell::new(Followed { of: picks.len(), ..Followed::default() }));
        (Follow { picks: picks.into_iter(), played: false, followed: Rc::clone(&followed) }, followed)
    }

    fn cannot(&self, why: String) {
        self.followed.borrow_mut().why_not.get_or_insert(why);
    }

    fn was_taken(&self) {
        self.followed.borrow_mut().taken += 1;
    }
}

impl Scheduler for Follow {
    fn new_execution(&mut self) -> Option<Schedule> {
        let first = !self.played;
        self.played = true;
        first.then(|| Schedule::new(0))
    }

    fn next_task(&mut self, tasks: &[&Task], _current: Option<TaskId>, _is_yielding: bool) -> Option<TaskId> {
        if self.followed.borrow().why_not.is_some() {
            return None;
        }
        match self.picks.next() {
            Some(Pick::T(task)) if tasks.iter().any(|t| usize::from(t.id()) == task) => {
                self.was_taken();
                Some(TaskId::from(task))
            }
            None => tasks.iter().find(|task| !task.blocked()).map(|task| task.id()),
            Some(Pick::T(task)) => {
                self.cannot(format!("thread {task} cannot go on"));
                None
            }
            Some(Pick::V(_)) => {
                self.cannot("it draws a number, and a thread is to be chosen".to_owned());
                None
            }
        }
    }

    fn next_u64(&mut self) -> u64 {
        match self.picks.next() {
            Some(Pick::V(value)) => {
                self.was_taken();
                value
            }
            None => 0,
            Some(Pick::T(_)) => {
                self.cannot("it chooses a thread, and a number is to be drawn".to_owned());
                0
            }
        }
    }
}
