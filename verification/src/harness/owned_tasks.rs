//! A runtime of one M, one queue and [`spinpark_kernel::waits::owned_tasks`], which is shut down as by `Tasks::close`; with the ways in
//! which that may be wrong.

use crate::harness::owned_task::{Queued, Waker};
use crate::hosts::model_host::{Cell, ModelHost};
use crate::mutation::variants::owned_tasks as steps;
use spinpark_kernel::host::{Lock, Parker};
use spinpark_kernel::waits::owned_tasks::OwnedTasks;
use std::collections::VecDeque;
use std::sync::Arc;

/// A runtime.
pub struct Tiny<H: ModelHost> {
    /// The tasks that have waited.
    pub owned: OwnedTasks<H, Waker<H>>,
    queue: H::Lock<Queue<H>>,
    /// Where its M sleeps.
    parker: H::Parker,
    /// It is shut down: nothing of it runs any more.
    is_over: H::Cell<bool>,
}

struct Queue<H: ModelHost> {
    tasks: VecDeque<Queued<H>>,
    is_closed: bool,
}

/// What an M finds.
enum Found<H: ModelHost> {
    Task(Queued<H>),
    Nothing,
    Closed,
}

impl<H: ModelHost> Tiny<H> {
    /// Without tasks, and its list has so many rows.
    pub fn new(rows: usize) -> Arc<Self> {
        Arc::new(Tiny {
            owned: OwnedTasks::new(rows),
            queue: H::Lock::new(Queue { tasks: VecDeque::new(), is_closed: false }),
            parker: H::Parker::new(),
            is_over: Cell::new(false),
        })
    }

    /// Makes this task run, if anything does.
    pub(super) fn submit(&self, queued: Queued<H>) -> Result<(), Queued<H>> {
        self.queue.with(|queue| {
            if queue.is_closed {
                return Err(queued);
            }
            queue.tasks.push_back(queued);
            Ok(())
        })?;
        self.parker.unpark();
        Ok(())
    }

    /// Is it shut down? For the M that runs a task of it.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// Is nothing queued any more?
    pub(super) fn is_shut_down(&self) -> bool {
        self.queue.with(|queue| queue.is_closed)
    }

    /// A new task, as `spawn` makes it run. Refused, it is dropped, here.
    pub fn spawn(&self, task: Queued<H>) -> bool {
        self.submit(task).is_ok()
    }

    fn next(&self) -> Found<H> {
        self.queue.with(|queue| match queue.is_closed {
            true => Found::Closed,
            false => queue.tasks.pop_front().map_or(Found::Nothing, Found::Task),
        })
    }

    /// The M runs what there is.
    pub fn run_once(&self) {
        if let Found::Task(task) = self.next() {
            task.run();
        }
    }

    /// The life of the M.
    pub fn run_m(&self) {
        loop {
            match self.next() {
                Found::Task(task) => task.run(),
                Found::Nothing => self.parker.park(),
                Found::Closed => return,
            }
        }
    }

    /// As `Tasks::close`: waits for the M, and ends the tasks. `busy` is called when a thread was found that is about to wake one,
    /// with how often that was so. Those that never ran.
    pub fn close(&self, m: H::Thread<()>, busy: impl FnMut(usize)) -> Vec<Queued<H>> {
        let unstarted = steps::close(self, m, busy);
        self.is_over.set(true);
        assert!(self.owned.is_empty(), "the runtime is shut down, and a task is listed");
        unstarted
    }

    /// As the kernel's `close`: nothing is queued any more, and the M ends. What is queued then.
    pub fn close_scheduler(&self, m: H::Thread<()>) -> VecDeque<Queued<H>> {
        self.queue.with(|queue| queue.is_closed = true);
        self.parker.unpark();
        H::join(m);
        self.queue.with(|queue| std::mem::take(&mut queue.tasks))
    }
}
