//! The tasks of a runtime that is shut down, of [`spinpark_kernel::task`]: their futures and memory are cells whose races are seen.
//!
//! As `runtime/exec`: a task that waits for the first time is listed by its poll, as by `Life::poll`, and taken off the list when it
//! has ended, as by `Life::drop`; its waker queues it, or puts the right back.

use crate::harness::owned_tasks::Tiny;
use crate::hosts::model_host::{Cell, ModelHost};
use crate::mutation::variants::task::poll_ends;
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::task::{self, Active, JoinerSlot, Memory, Mode, TaskWord, WakerWords};
use spinpark_kernel::waits::owned_tasks::{Key, Owned};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Poll;

/// The right to run a task. Dropped, it ends the task.
pub struct Queued<H: ModelHost>(Option<Task<H>>);

/// A waker of a task.
pub struct Waker<H: ModelHost>(Task<H>);

/// A task that ends when all that it waits for is there. It has no right to anything.
pub struct Task<H: ModelHost>(Arc<Inside<H>>);

/// Its memory.
pub struct Inside<H: ModelHost> {
    number: usize,
    /// On which row it is listed.
    row: usize,
    word: TaskWord<H>,
    slot: JoinerSlot<H>,
    runtime: Arc<Tiny<H>>,
    news: Vec<Atomic<H, bool>>,
    /// How often it was polled.
    polls: H::Cell<usize>,
    /// How it ended.
    end: H::Cell<Option<End>>,
    /// It was dropped, and its runtime went on.
    is_dropped_early: H::Cell<bool>,
    /// It was aborted.
    is_aborted: H::Cell<bool>,
    key: H::Cell<Option<Key>>,
    is_freed: H::Cell<bool>,
}

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By itself.
    Output,
    /// Its future was dropped.
    Dropped,
}

impl<H: ModelHost> Queued<H> {
    /// Which task.
    pub fn number(&self) -> usize {
        self.task().number
    }

    /// Has it run?
    pub fn has_run(&self) -> bool {
        self.task().polls.get() > 0
    }

    fn task(&self) -> &Task<H> {
        self.0.as_ref().expect("it has its task")
    }

    pub(super) fn run(self) {
        let task = self.into_task();
        task::run(&task, Active::forge());
    }

    /// The task, whose right is the caller's now.
    fn into_task(mut self) -> Task<H> {
        self.0.take().expect("it has its task")
    }
}

impl<H: ModelHost> Drop for Queued<H> {
    fn drop(&mut self) {
        // An execution that has failed is over.
        if let (Some(task), false) = (self.0.take(), std::thread::panicking()) {
            task::cancel(&task, Active::forge());
        }
    }
}

impl<H: ModelHost> Waker<H> {
    /// `n` is there, and the task is woken, by a waker that is gone then.
    pub fn wake(self, n: usize) {
        // Relaxed: that the poll sees it is what a wake is for.
        self.0.news[n].store(true, Relaxed);
        task::wake_by_ref(&self.0);
    }

    /// The task is to end.
    pub fn abort(self) {
        self.0.is_aborted.set(true);
        task::abort(&self.0);
    }
}

impl<H: ModelHost> Drop for Waker<H> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            task::drop_waker(&self.0);
        }
    }
}

impl<H: ModelHost> Owned for Waker<H> {
    fn address(&self) -> usize {
        self.0.number
    }

    fn close(&self) -> bool {
        task::close(&self.0)
    }
}

impl<H: ModelHost> Task<H> {
    /// Task `number`, listed on this row, that waits for so many; its output is not wanted. The right to run it, and
    /// itself.
    pub fn new(runtime: &Arc<Tiny<H>>, number: usize, row: usize, news: usize) -> (Queued<H>, Self) {
        let (word, active, handle) = TaskWord::new();
        let task = Task(Arc::new(Inside {
            number,
            row,
            word,
            slot: JoinerSlot::new(),
            runtime: Arc::clone(runtime),
            news: (0..news).map(|_| Atomic::new(false)).collect(),
            polls: Cell::new(0),
            end: Cell::new(None),
            is_dropped_early: Cell::new(false),
            is_aborted: Cell::new(false),
            key: Cell::new(None),
            is_freed: Cell::new(false),
        }));
        task::drop_handle(&task, handle, false);
        (task.queued(active), task)
    }

    fn queued(&self, _: Active) -> Queued<H> {
        Queued(Some(self.clone()))
    }

    /// Which it is.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Is its future gone?
    pub fn has_ended(&self) -> bool {
        self.end.get().is_some()
    }

    /// Clones the waker; the caller holds one already, or the right.
    pub fn waker(&self) -> Waker<H> {
        self.word().clone_waker();
        Waker(self.clone())
    }

    /// As `Life`, when its future is gone.
    fn ends(&self, end: End) {
        assert!(self.end.get().is_none(), "a task ends twice");
        self.end.set(Some(end));
        if let Some(key) = self.key.get() {
            drop(self.runtime.owned.remove(key, |_| ())); // not under the lock
        }
    }

    /// All threads have ended. How often it was polled, and how it ended.
    pub fn check_at_rest(&self) -> String {
        let end = self.end.get().unwrap_or_else(|| panic!("task {} has not ended", self.number));
        assert!(
            self.is_freed.get(),
            "no reference to task {} is left, and it was not freed: {:?}",
            self.number,
            self.word.view()
        );
        let (polls, asked) = (self.polls.get(), 1 + self.news.len());
        assert!(
            polls <= asked,
            "task {} is polled {polls} times, and only {asked} times was that asked for",
            self.number
        );
        let is_spared = !self.is_dropped_early.get() || self.is_aborted.get();
        assert!(is_spared, "task {} was dropped, and neither was it aborted, nor its runtime shut down", self.number);
        format!("polled {polls}, {end:?}")
    }
}

impl<H: ModelHost> Clone for Task<H> {
    fn clone(&self) -> Self {
        Task(Arc::clone(&self.0))
    }
}

impl<H: ModelHost> Deref for Task<H> {
    type Target = Inside<H>;

    fn deref(&self) -> &Inside<H> {
        &self.0
    }
}

impl<H: ModelHost> Memory for Task<H> {
    type Host = H;

    fn word(&self) -> &TaskWord<H> {
        assert!(!self.is_freed.get(), "a task is used that was freed");
        &self.word
    }

    fn slot(&self) -> &JoinerSlot<H> {
        &self.slot
    }

    fn poll(&self, _: &Active) -> Poll<()> {
        assert!(self.end.get().is_none(), "a task runs that has ended");
        assert!(!self.runtime.is_over(), "a task runs, and its runtime is shut down");
        self.polls.set(self.polls.get() + 1);
        // Relaxed: what is written before a wake is seen by the poll after it.
        if self.news.iter().all(|news| news.load(Relaxed)) {
            self.ends(End::Output);
            return Poll::Ready(());
        }
        if self.key.get().is_none() {
            let key = self.runtime.owned.insert(self.row, self.waker());
            self.key.set(Some(key));
        }
        Poll::Pending
    }

    fn has_woken_itself(&self) -> bool {
        poll_ends(self);
        false
    }

    fn drop_future(&self, _: &Active) {
        self.is_dropped_early.set(!self.runtime.is_shut_down());
        self.ends(End::Dropped);
    }

    fn drop_output(&self) {}

    fn schedule(&self, active: Active, _: Mode) -> Result<(), Active> {
        self.runtime.submit(self.queued(active)).map_err(|queued| {
            queued.into_task();
            Active::forge()
        })
    }

    fn wake_joiner(&self, _: WakerWords) {
        unreachable!("it is not awaited");
    }

    fn drop_joiner(&self, _: WakerWords) {
        unreachable!("it is not awaited");
    }

    fn free(&self) {
        assert!(!self.is_freed.get(), "a task is freed twice");
        self.is_freed.set(true);
    }
}
