//! One task around the protocol of [`spinpark_kernel::task`]: its future, output and memory are cells whose races are seen.
//!
//! A task that becomes runnable is run by the thread that made it so, after what it does just now: nothing but the task's own
//! word orders one run before the next.

use crate::hosts::model_host::{Cell, ModelHost};
use crate::mutation::mutant::is_variant;
use crate::mutation::variants::task::poll_ends;
use spinpark_kernel::atomic::Atomic;
use spinpark_kernel::host::{Host, Lock, Parker};
use spinpark_kernel::task::{self, Active, Handle, JoinerSlot, Memory, Mode, TaskWord, WakerWords};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Poll;

/// What the future is ready with.
const OUTPUT: u64 = 42;
/// More threads, and more wakers of handles, no model has.
const MAX: usize = 4;

/// The memory of one task, and its users.
pub struct Tiny<H: ModelHost> {
    word: TaskWord<H>,
    slot: JoinerSlot<H>,
    /// A user of the task reads it, the thread that frees it writes it.
    memory: H::Cell<bool>,
    /// How often the future was polled.
    future: H::Cell<u64>,
    has_future: H::Cell<bool>,
    /// Which thread has dropped it, if it did not come to its end.
    dropped_by: H::Cell<usize>,
    output: H::Cell<Option<u64>>,
    /// For each waker, what it writes before it wakes. The future is ready when all is there.
    news: Vec<Atomic<H, bool>>,
    /// Of each waker: how often it has woken; the last poll saw its news.
    wakers: Vec<(H::Cell<u64>, H::Cell<bool>)>,
    /// It was aborted.
    is_aborted: H::Cell<bool>,
    /// How often the future wakes itself before that.
    yields: u64,
    /// Of each thread: the task is its to run; it has woken itself.
    local: Vec<(H::Cell<bool>, H::Cell<bool>)>,
    /// Of each thread: it wakes the task just now, or aborts it.
    wakes: Vec<H::Cell<bool>>,
    /// Of each thread: it has polled the task since it began to run it; a wake by it is one by the task itself.
    polled: Vec<H::Cell<bool>>,
    is_polling: Vec<H::Cell<bool>>,
    /// Nothing is made to run any more.
    is_closed: H::Lock<bool>,
    /// Is that asked?
    closes: bool,
    /// What became of each waker that a handle gave.
    joiners: Vec<Joiner<H>>,
    /// Which of them it gave.
    given: Vec<H::Cell<bool>>,
}

/// A waker of the handle's: what became of it, and the parker of the thread that sleeps until it is woken.
type Joiner<H> = (<H as ModelHost>::Cell<Option<Fate>>, <H as Host>::Parker);

/// What became of a waker of the handle's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Woken,
    Dropped,
}

/// What a handle got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Got {
    /// The output.
    Output,
    /// That it was aborted.
    Aborted,
    /// That it was dropped.
    Dropped,
}

impl<H: ModelHost> Tiny<H> {
    /// A task whose future wants to be woken by so many, and yields so often before. It is runnable, on this thread.
    pub fn new(wakers: usize, yields: u64) -> (Arc<Self>, Handle) {
        Self::with(wakers, yields, false)
    }

    /// The same, where the runtime may end.
    pub fn that_is_closed(wakers: usize) -> (Arc<Self>, Handle) {
        Self::with(wakers, 0, true)
    }

    /// The same, where it yields so often before.
    pub fn that_yields_and_is_closed(yields: u64) -> (Arc<Self>, Handle) {
        Self::with(0, yields, true)
    }

    fn with(wakers: usize, yields: u64, closes: bool) -> (Arc<Self>, Handle) {
        let (word, active, handle) = TaskWord::new();
        let task = Arc::new(Tiny {
            word,
            slot: JoinerSlot::new(),
            memory: Cell::new(true),
            future: Cell::new(0),
            has_future: Cell::new(true),
            dropped_by: Cell::new(usize::MAX),
            output: Cell::new(None),
            news: (0..wakers).map(|_| Atomic::new(false)).collect(),
            wakers: (0..wakers).map(|_| (Cell::new(0), Cell::new(false))).collect(),
            is_aborted: Cell::new(false),
            yields,
            local: (0..MAX).map(|_| (Cell::new(false), Cell::new(false))).collect(),
            wakes: (0..MAX).map(|_| Cell::new(false)).collect(),
            polled: (0..MAX).map(|_| Cell::new(false)).collect(),
            is_polling: (0..MAX).map(|_| Cell::new(false)).collect(),
            is_closed: H::Lock::new(false),
            closes,
            joiners: (0..MAX).map(|_| (Cell::new(None), H::Parker::new())).collect(),
            given: (0..MAX).map(|_| Cell::new(false)).collect(),
        });
        (0..wakers).for_each(|_| task.word.clone_waker());
        task.keep(active);
        (task, handle)
    }

    /// Clones the waker; the caller holds one already, or the right.
    pub fn clone_waker(&self) {
        self.word().clone_waker();
    }

    fn keep(&self, _: Active) {
        let mine = &self.local[H::me()].0;
        assert!(!mine.get(), "the right to the future is given to a thread that has it");
        mine.set(true);
    }

    /// Runs the task, as long as that is this thread's to do.
    pub fn run_mine(&self) {
        while self.local[H::me()].0.get() {
            self.local[H::me()].0.set(false);
            self.polled[H::me()].set(false);
            task::run(self, Active::forge());
        }
    }

    /// The same, where it would not be run again: its runtime has ended.
    pub fn run_last(&self) {
        self.end();
        self.local[H::me()].0.set(false);
        self.polled[H::me()].set(false);
        task::run_last(self, Active::forge());
    }

    /// Waker `n` has news, and wakes, by a waker that is gone then.
    pub fn wake(&self, n: usize) {
        self.brings(n);
        self.wakes[H::me()].set(true);
        task::wake(self);
        self.wakes[H::me()].set(false);
        self.run_mine();
    }

    /// The same, and drops the waker after.
    pub fn wake_by_ref(&self, n: usize) {
        self.brings(n);
        task::wake_by_ref(self);
        self.run_mine();
        task::drop_waker(self);
    }

    fn brings(&self, n: usize) {
        let wakes = &self.wakers[n].0;
        wakes.set(wakes.get() + 1);
        // Relaxed: that the poll sees it is what a wake is for.
        self.news[n].store(true, Relaxed);
    }

    /// Aborts it.
    pub fn abort(&self) {
        self.is_aborted.set(true);
        // Where nothing is made to run any more, it is dropped here.
        self.wakes[H::me()].set(!self.closes);
        task::abort(self);
        self.wakes[H::me()].set(false);
        self.run_mine();
    }

    /// Nothing is made to run any more.
    pub fn end(&self) {
        self.is_closed.with(|is_closed| *is_closed = true);
    }

    /// The runtime ends: what waits is dropped, here. It asks twice whether it can be, and then waits for the thread that was
    /// about to wake it; which comes back if it did not come to that.
    pub fn close(&self, waker: H::Thread<()>) -> Option<H::Thread<()>> {
        self.end();
        let is_over = task::close(self) || task::close(self);
        let left = if is_over {
            Some(waker)
        } else {
            H::join(waker);
            assert!(task::close(self), "no thread is about to run the task, and it cannot be closed");
            None
        };
        self.is_over();
        left
    }

    fn is_over(&self) {
        assert!(self.word().view().is_complete(), "the runtime has ended, and its task has not");
        task::drop_waker(self);
    }

    /// Drops a waker.
    pub fn drop_waker(&self) {
        task::drop_waker(self);
        self.run_mine();
    }

    /// Awaits the handle by waker `joiner`, and drops it.
    pub fn join(&self, handle: Handle, joiner: u64) -> Got {
        let mut polled = self.poll(&handle, joiner);
        while polled.is_none() {
            self.joiners[joiner as usize].1.park();
            polled = self.poll(&handle, joiner);
        }
        task::drop_handle(self, handle, true);
        polled.expect("the task is complete")
    }

    /// Asks whether it is complete, by each of these wakers in turn; then lets the handle go.
    pub fn ask_and_detach(&self, handle: Handle, joiners: &[u64]) -> Option<Got> {
        let got = joiners.iter().find_map(|&joiner| self.poll(&handle, joiner));
        task::drop_handle(self, handle, got.is_some());
        self.run_mine();
        got
    }

    /// Asks the handle by waker `joiner`, which is to be woken if it gets nothing.
    pub fn ask(&self, handle: &Handle, joiner: u64) {
        assert_eq!(self.poll(handle, joiner), None, "no thread could complete the task");
    }

    /// Was that waker woken?
    pub fn check_woken(&self, joiner: usize) {
        assert_eq!(self.joiners[joiner].0.get(), Some(Fate::Woken), "the task is complete, and its joiner sleeps");
    }

    fn poll(&self, handle: &Handle, joiner: u64) -> Option<Got> {
        // Words that were not written belong to no waker.
        let words = WakerWords { data: joiner + 1, vtable: joiner + 1 };
        let gives = || {
            self.given[joiner as usize].set(true);
            words
        };
        let polled = task::poll_handle(self, handle, |old| (old != Some(words)).then(gives));
        let Poll::Ready(view) = polled else { return None };
        assert!(!self.has_future.get(), "the handle hears that the task is over, and its future is there");
        if !view.is_empty() {
            assert!(self.output.get() == Some(OUTPUT), "the task is complete, and its output is not there");
            self.output.set(None);
        }
        Some(match view.is_empty() {
            false => Got::Output,
            true if view.is_aborted() => Got::Aborted,
            true => Got::Dropped,
        })
    }

    /// All have ended: nothing is left, and nothing was lost.
    pub fn check_at_rest(&self, given: usize) -> String {
        assert!(!self.memory.get(), "no reference to the task is left, and it was not freed: {:?}", self.word.view());
        assert!(!self.has_future.get(), "the task was freed with its future");
        assert!(self.output.get().is_none(), "the task was freed with its output");
        let fates: Vec<_> = self.joiners[..given].iter().map(|(fate, _)| fate.get()).collect();
        for (n, (fate, given)) in fates.iter().zip(&self.given).enumerate() {
            assert!(fate.is_some() == given.get(), "waker {n} was given: {}, and became {fate:?}", given.get());
        }
        assert!(
            self.local.iter().all(|(_, woken)| !woken.get()),
            "a thread believes that its next task has woken itself"
        );
        self.check_polls();
        format!("polled {}, wakers {fates:?}", self.future.get())
    }

    /// Each wake was followed by a poll, unless the task was aborted or its runtime has ended; and each poll was asked for.
    fn check_polls(&self) {
        let is_spared = self.is_aborted.get() || self.closes && self.is_closed.with(|is_closed| *is_closed);
        for (n, (wakes, is_seen)) in self.wakers.iter().enumerate() {
            assert!(
                is_spared || wakes.get() == 0 || is_seen.get(),
                "waker {n} woke the task, which was not polled after that"
            );
        }
        let asked = 1 + self.yields + self.wakers.iter().map(|(wakes, _)| wakes.get()).sum::<u64>();
        assert!(
            self.future.get() <= asked,
            "a task is polled {} times, and only {asked} times was that asked for",
            self.future.get()
        );
    }

    /// Which thread has dropped the future.
    pub fn dropped_by(&self) -> usize {
        self.dropped_by.get()
    }

    /// The user's code is about to run, and may make and wake another task in this memory.
    fn is_after_the_poll(&self) {
        assert!(
            !self.is_polling[H::me()].get(),
            "a thread that is done with a task takes its wakes for the task's own"
        );
    }

    /// What became of waker `joiner`: said once.
    fn becomes(&self, joiner: WakerWords, fate: Fate) {
        assert!(joiner.data == joiner.vtable, "a waker was read in two halves");
        assert!(joiner.data > 0, "a waker is used that the handle has not written yet");
        let (seen, parker) = &self.joiners[joiner.data as usize - 1];
        assert!(seen.get().is_none(), "a waker is used that was woken or dropped");
        seen.set(Some(fate));
        if fate == Fate::Woken {
            parker.unpark();
        }
    }
}

impl<H: ModelHost> Memory for Tiny<H> {
    type Host = H;

    fn word(&self) -> &TaskWord<H> {
        assert!(self.memory.get(), "a task is used that was freed");
        &self.word
    }

    fn slot(&self) -> &JoinerSlot<H> {
        assert!(self.memory.get(), "a task is used that was freed");
        &self.slot
    }

    fn poll(&self, _: &Active) -> Poll<()> {
        assert!(self.has_future.get(), "a future is polled that is gone");
        assert!(!self.polled[H::me()].get(), "a future is polled twice before its thread comes to anything else");
        self.polled[H::me()].set(true);
        self.is_polling[H::me()].set(true);
        let polls = self.future.get() + 1;
        self.future.set(polls);
        if polls <= self.yields {
            self.local[H::me()].1.set(true);
            return Poll::Pending;
        }
        // Relaxed: what is written before a wake is seen by the poll after it.
        let missing = self.news.iter().zip(&self.wakers).filter(|(news, (_, is_seen))| {
            is_seen.set(news.load(Relaxed));
            !is_seen.get()
        });
        if missing.count() > 0 {
            return Poll::Pending;
        }
        self.has_future.set(false);
        self.output.set(Some(OUTPUT));
        Poll::Ready(())
    }

    fn has_woken_itself(&self) -> bool {
        self.is_polling[H::me()].set(false);
        poll_ends(self);
        let woken = &self.local[H::me()].1;
        let is_woken = woken.get();
        woken.set(false);
        is_woken && !is_variant("forgets-that-it-woke-itself")
    }

    fn drop_future(&self, _: &Active) {
        assert!(self.has_future.get(), "a future is dropped that is gone");
        assert!(
            !self.wakes[H::me()].get(),
            "a future is dropped by a wake, or an abort, which may hold a lock that its destructor wants"
        );
        self.future.set(self.future.get());
        self.has_future.set(false);
        self.dropped_by.set(H::me());
    }

    fn drop_output(&self) {
        self.is_after_the_poll();
        assert!(self.output.get().is_some(), "an output is dropped that is not there");
        self.output.set(None);
    }

    fn schedule(&self, active: Active, mode: Mode) -> Result<(), Active> {
        if self.closes && self.is_closed.with(|is_closed| *is_closed) {
            if mode == Mode::Woken && is_variant("drops-where-it-is-woken") {
                task::cancel(self, active);
                return Ok(());
            }
            return Err(active);
        }
        self.keep(active);
        Ok(())
    }

    fn wake_joiner(&self, joiner: WakerWords) {
        self.is_after_the_poll();
        self.becomes(joiner, Fate::Woken);
    }

    fn drop_joiner(&self, joiner: WakerWords) {
        self.becomes(joiner, Fate::Dropped);
    }

    fn free(&self) {
        assert!(self.memory.get(), "a task is freed twice");
        self.memory.set(false);
    }
}
