//! A goroutine with a stack of its own as a task of [`spinpark::task`], in the steps of `runtime/exec/goroutine`: its stack and its
//! frame are cells whose races are seen; with the ways in which that may be wrong.
//!
//! ```text
//!    M: run the task
//!      └ poll: sets the frame's waker, changes to the stack
//!          └ polls what it waits for, which knows its waker  ── from here on anybody may wake it
//!          └ leaves the stack: what is on it is as it was
//!      └ Pending
//!      └ the task waits: whoever wakes it may run it
//! ```

use crate::hosts::model_host::{Cell, ModelHost};
use crate::mutation::mutant::is_variant;
use spinpark::atomic::Atomic;
use spinpark::task::{self, Active, JoinerSlot, Memory, Mode, TaskWord, WakerWords};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Poll;

/// More threads no model has.
const MAX: usize = 4;

/// A goroutine that waits for what so many bring.
pub struct Stackful<H: ModelHost> {
    word: TaskWord<H>,
    slot: JoinerSlot<H>,
    /// What is on the stack: whoever is on it writes.
    stack: H::Cell<u64>,
    /// Is a thread on it?
    is_on: H::Cell<bool>,
    /// The frame's waker: which thread has set it.
    waker: H::Cell<Option<usize>>,
    /// It is at its end, or was unwound.
    is_over: H::Cell<bool>,
    is_freed: H::Cell<bool>,
    news: Vec<Atomic<H, bool>>,
    /// Of each thread: the task is its to run.
    mine: Vec<H::Cell<bool>>,
}

impl<H: ModelHost> Stackful<H> {
    /// That waits for so many. Nobody wants its output. It is runnable, on this thread.
    pub fn new(news: usize) -> Arc<Self> {
        let (word, active, handle) = TaskWord::new();
        let goroutine = Arc::new(Stackful {
            word,
            slot: JoinerSlot::new(),
            stack: Cell::new(0),
            is_on: Cell::new(false),
            waker: Cell::new(None),
            is_over: Cell::new(false),
            is_freed: Cell::new(false),
            news: (0..news).map(|_| Atomic::new(false)).collect(),
            mine: (0..MAX).map(|_| Cell::new(false)).collect(),
        });
        (0..news).for_each(|_| goroutine.word.clone_waker());
        task::drop_handle(&*goroutine, handle, false);
        goroutine.keep(active);
        goroutine
    }

    /// One waker more.
    pub fn clone_waker(&self) {
        self.word.clone_waker();
    }

    /// And one less.
    pub fn drop_waker(&self) {
        task::drop_waker(self);
        self.run_mine();
    }

    fn keep(&self, _: Active) {
        self.mine[H::me()].set(true);
    }

    /// Runs it, as long as that is this thread's to do.
    pub fn run_mine(&self) {
        while self.mine[H::me()].get() {
            self.mine[H::me()].set(false);
            task::run(self, Active::forge());
            if is_variant("goroutine-waits-before-it-has-left-its-stack") {
                self.leave();
            }
        }
    }

    /// Waker `n` has news, wakes, and runs what is its to run.
    pub fn wake(&self, n: usize) {
        // Relaxed: that the poll sees it is what a wake is for.
        self.news[n].store(true, Relaxed);
        if is_variant("goroutine-is-run-by-whoever-wakes-it") {
            self.keep(Active::forge());
        } else {
            task::wake_by_ref(self);
        }
        self.run_mine();
        self.drop_waker();
    }

    /// Somebody aborts it: it is unwound when it would be run again.
    pub fn abort(&self) {
        task::abort(self);
        self.run_mine();
    }

    /// A thread changes to the stack.
    fn enter(&self) {
        assert!(!self.is_on.get(), "two threads are on one stack");
        self.is_on.set(true);
        if !is_variant("goroutine-keeps-the-waker-of-its-last-thread") || self.waker.get().is_none() {
            self.waker.set(Some(H::me()));
        }
        self.stack.set(self.stack.get() + 1);
    }

    /// It leaves it.
    fn leave(&self) {
        self.stack.set(self.stack.get() + 1);
        self.is_on.set(false);
    }

    /// All have ended. How often the stack was entered and left.
    pub fn check_at_rest(&self) -> String {
        assert!(self.is_over.get(), "all have ended, and the goroutine waits");
        assert!(self.is_freed.get(), "nobody refers to it, and it was not freed: {:?}", self.word.view());
        assert!(!self.is_on.get(), "a thread is on the stack of a goroutine that is over");
        format!("changed stacks {} times", self.stack.get())
    }
}

impl<H: ModelHost> Memory for Stackful<H> {
    type Host = H;

    fn word(&self) -> &TaskWord<H> {
        &self.word
    }

    fn slot(&self) -> &JoinerSlot<H> {
        &self.slot
    }

    /// As `Goroutine::resume`, and `Frame::wait` until it suspends.
    fn poll(&self, _: &Active) -> Poll<()> {
        self.enter();
        assert!(!self.is_over.get(), "a goroutine goes on after its end");
        assert!(self.waker.get() == Some(H::me()), "the frame has a waker of a thread that has left");
        // Relaxed: what is written before a wake is seen by the poll after it.
        let is_ready = self.news.iter().all(|news| news.load(Relaxed));
        if is_ready {
            self.is_over.set(true);
        }
        if is_ready || !is_variant("goroutine-waits-before-it-has-left-its-stack") {
            self.leave();
        }
        if is_ready { Poll::Ready(()) } else { Poll::Pending }
    }

    fn has_woken_itself(&self) -> bool {
        false
    }

    /// As `Goroutine::drop`: it is unwound on its own stack, by this thread.
    fn drop_future(&self, _: &Active) {
        self.enter();
        self.is_over.set(true);
        self.leave();
    }

    fn drop_output(&self) {}

    fn schedule(&self, active: Active, _: Mode) -> Result<(), Active> {
        self.keep(active);
        Ok(())
    }

    fn wake_joiner(&self, _: WakerWords) {
        unreachable!("nobody awaits it");
    }

    fn drop_joiner(&self, _: WakerWords) {
        unreachable!("nobody awaits it");
    }

    fn free(&self) {
        assert!(!self.is_freed.get(), "a goroutine is freed twice");
        self.is_freed.set(true);
    }
}
