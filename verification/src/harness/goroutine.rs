//! A goroutine with a stack of its own as a task of [`spinpark_kernel::task`], in the steps of [`spinpark_kernel::task::stackful`]: its stack and
//! its frame are cells whose races are seen; with the ways in which that may be wrong.
//!
//! ```text
//!    M: run the task
//!      └ poll: sets the frame's waker, changes to the stack
//!          └ polls what it waits for, which knows its waker  ── from here on any thread may wake it
//!          └ leaves the stack: what is on it is as it was
//!      └ Pending
//!      └ the task waits: its waker may run it
//! ```

use crate::hosts::model_host::{Cell, ModelHost};
use crate::mutation::mutant::is_variant;
use crate::mutation::variants::task::poll_ends;
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::task::stackful::{self, Frame, Stack};
use spinpark_kernel::task::{self, Active, JoinerSlot, Memory, Mode, TaskWord, WakerWords};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Poll;

/// More threads no model has.
const MAX: usize = 4;
/// The waker that wakes none.
const NOBODY: usize = usize::MAX;

/// A goroutine that waits for what so many bring.
pub struct Stackful<H: ModelHost> {
    word: TaskWord<H>,
    slot: JoinerSlot<H>,
    /// What is on the stack: the thread on it writes.
    stack: H::Cell<u64>,
    /// Is a thread on it?
    is_on: H::Cell<bool>,
    /// The frame's waker: which thread has set it.
    waker: H::Cell<Option<usize>>,
    /// It is thrown away, and has caught that once.
    ends: H::Cell<bool>,
    caught: H::Cell<bool>,
    /// It is at its end, or was unwound.
    is_over: H::Cell<bool>,
    /// It was aborted.
    is_aborted: H::Cell<bool>,
    is_freed: H::Cell<bool>,
    news: Vec<Atomic<H, bool>>,
    /// Of each thread: the task is its to run.
    mine: Vec<H::Cell<bool>>,
    /// Of each thread: it has yet to leave the stack.
    is_late: Vec<H::Cell<bool>>,
}

impl<H: ModelHost> Stackful<H> {
    /// That waits for so many. Its output is not wanted. It is runnable, on this thread.
    pub fn new(news: usize) -> Arc<Self> {
        let (word, active, handle) = TaskWord::new();
        let goroutine = Arc::new(Stackful {
            word,
            slot: JoinerSlot::new(),
            stack: Cell::new(0),
            is_on: Cell::new(false),
            waker: Cell::new(None),
            ends: Cell::new(false),
            caught: Cell::new(false),
            is_over: Cell::new(false),
            is_aborted: Cell::new(false),
            is_freed: Cell::new(false),
            news: (0..news).map(|_| Atomic::new(false)).collect(),
            mine: (0..MAX).map(|_| Cell::new(false)).collect(),
            is_late: (0..MAX).map(|_| Cell::new(false)).collect(),
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
            if self.is_late[H::me()].get() {
                self.is_late[H::me()].set(false);
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

    /// Aborts it: it is unwound when it would be run again.
    pub fn abort(&self) {
        self.is_aborted.set(true);
        task::abort(self);
        self.run_mine();
    }

    /// The thread leaves the stack.
    fn leave(&self) {
        assert!(self.is_on.get(), "a thread leaves a stack that it is not on");
        self.is_on.set(false);
    }

    /// All have ended. How often the stack was entered and left.
    pub fn check_at_rest(&self) -> String {
        assert!(self.is_over.get(), "all have ended, and the goroutine waits");
        assert!(self.is_freed.get(), "no reference is left, and it was not freed: {:?}", self.word.view());
        assert!(!self.is_on.get(), "a thread is on the stack of a goroutine that is over");
        let (changes, has_caught) = (self.stack.get(), self.caught.get());
        let is_unwound = self.ends.get() || changes == 0;
        assert!(!is_unwound || self.is_aborted.get(), "a goroutine was unwound that was woken, and not aborted");
        // To run and away again: once, and once for each wake; and twice to be unwound.
        let asked = 2 * (1 + self.news.len() as u64 + if has_caught { 2 } else { 0 });
        assert!(changes <= asked, "{changes} changes of stacks, of which {asked} were asked for");
        format!("changed stacks {changes} times")
    }
}

/// A thread is on the stack.
pub struct OnStack<'a, H: ModelHost>(&'a Stackful<H>);

impl<H: ModelHost> Drop for OnStack<'_, H> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        match is_variant("goroutine-waits-before-it-has-left-its-stack") && !self.0.is_over.get() {
            true => self.0.is_late[H::me()].set(true),
            false => self.0.leave(),
        }
    }
}

impl<H: ModelHost> Frame for Stackful<H> {
    /// A thread.
    type Waker = usize;
    type OnStack<'a> = OnStack<'a, H>;

    fn set_waker(&self, waker: &usize) {
        if !is_variant("goroutine-keeps-the-waker-of-its-last-thread") || self.waker.get().is_none() {
            self.waker.set(Some(*waker));
        }
    }

    fn enter(&self) -> OnStack<'_, H> {
        assert!(!self.is_on.get(), "two threads are on one stack");
        self.is_on.set(true);
        OnStack(self)
    }

    fn set_ends(&self) {
        self.ends.set(true);
    }
}

/// What runs on the stack: it waits until all is there.
struct Closure<'a, H: ModelHost>(&'a Stackful<H>);

impl<H: ModelHost> Closure<'_, H> {
    /// The thread is there, and writes what is there.
    fn runs(&self) {
        assert!(self.0.is_on.get(), "a thread is on a stack, and does not know");
        self.0.stack.set(self.0.stack.get() + 1);
    }
}

impl<H: ModelHost> Stack for Closure<'_, H> {
    type Output = ();

    /// As `Frame::wait`, from one wait to the next.
    fn resume(&mut self) -> Option<()> {
        self.runs();
        assert!(!self.0.is_over.get() && !self.0.ends.get(), "a goroutine goes on after its end");
        assert!(self.0.waker.get() == Some(H::me()), "the frame has a waker of a thread that has left");
        // Relaxed: what is written before a wake is seen by the poll after it.
        let is_ready = self.0.news.iter().all(|news| news.load(Relaxed));
        self.0.is_over.set(is_ready);
        self.runs();
        is_ready.then_some(())
    }

    /// It catches the first try, and waits again.
    fn unwind(&mut self) -> bool {
        self.runs();
        assert!(self.0.ends.get() && !self.has_ended(), "a goroutine is unwound that goes on, or is over");
        assert!(self.0.waker.get() == Some(NOBODY), "what is waited for as it is unwound wakes a task that is over");
        let has_caught = self.0.caught.get();
        self.0.caught.set(true);
        self.0.is_over.set(has_caught);
        self.runs();
        has_caught
    }

    fn has_ended(&self) -> bool {
        self.0.is_over.get()
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

    fn poll(&self, _: &Active) -> Poll<()> {
        stackful::resume(self, &H::me(), &mut Closure(self)).map_or(Poll::Pending, Poll::Ready)
    }

    fn has_woken_itself(&self) -> bool {
        poll_ends(self);
        false
    }

    /// It is unwound on its own stack, by this thread; if it ever was there.
    fn drop_future(&self, _: &Active) {
        if self.stack.get() == 0 {
            return self.is_over.set(true);
        }
        assert!(stackful::throw_away(self, &NOBODY, &mut Closure(self), 2), "it catches one of two");
    }

    fn drop_output(&self) {}

    fn schedule(&self, active: Active, _: Mode) -> Result<(), Active> {
        self.keep(active);
        Ok(())
    }

    fn wake_joiner(&self, _: WakerWords) {
        unreachable!("it is not awaited");
    }

    fn drop_joiner(&self, _: WakerWords) {
        unreachable!("it is not awaited");
    }

    fn free(&self) {
        assert!(!self.is_freed.get(), "a goroutine is freed twice");
        self.is_freed.set(true);
    }
}
