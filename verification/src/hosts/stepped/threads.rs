//! The operating system's threads on which a test moves what it does not play itself.
//!
//! What a thread does can be [interrupted](Threads::interrupt) before any of its steps outside of the lock: then others move,
//! and it goes on after that.
//!
//! A [`Threads`] belongs to the thread that made it, and to the threads that move in it: tests that run side by side do not
//! meet. When it is dropped, every sleeper leaves by unwinding, and its thread is joined; the other threads wait for the
//! next play of the thread that made it, and end with that thread.

use super::{Body, Gone, SHARED, Shared, Stepped, with_shared};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// What a thread is told.
enum Cue {
    /// This, interrupted before its step of this number; 0: not at all.
    Play(Arc<Mutex<Shared>>, Body, u32),
    /// The same.
    GoOn(u32),
}

/// What a thread says when it stops moving.
enum Report {
    /// It sleeps, until this is set, or for shorter.
    Asleep(Arc<AtomicBool>),
    /// It was interrupted.
    Paused,
    Done,
    Failed(Box<dyn Any + Send>),
}

/// A thread's own end of its channels.
struct Channels {
    cues: Receiver<Cue>,
    reports: Sender<Report>,
}

thread_local! {
    /// `None`: this is no thread of a [`Threads`].
    static CHANNELS: RefCell<Option<Channels>> = const { RefCell::new(None) };
    /// Threads of plays that are over. To start one takes longer than most plays.
    static SPARE: RefCell<Vec<Thread>> = const { RefCell::new(Vec::new()) };
    /// So many steps until the thread is interrupted; 0: it is not.
    static STEPS: Cell<u32> = const { Cell::new(0) };
    /// Is it in the lock?
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// The threads of one play.
pub struct Threads {
    threads: Vec<Thread>,
    /// What moves next is interrupted before this step.
    interrupts: u32,
    shared: Arc<Mutex<Shared>>,
}

struct Thread {
    cues: Option<Sender<Cue>>,
    reports: Receiver<Report>,
    /// It sleeps until this is set.
    token: Option<Arc<AtomicBool>>,
    handle: Option<JoinHandle<()>>,
}

/// Why a thread stopped moving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a thread that fell asleep goes on only when it is told to"]
pub enum Halt {
    /// What it did is over.
    Over,
    /// The thread of this number fell asleep in it.
    Asleep(usize),
    /// The thread of this number was interrupted.
    Paused(usize),
}

impl Threads {
    /// None yet: a new play, at moment 1, in which nothing but 0 is drawn until [`draw_by`](Stepped::draw_by).
    pub fn new() -> Threads {
        Stepped::reset();
        with_shared(|shared| (shared.now, shared.drawn) = (1, Some((0, 0))));
        Threads { threads: Vec::new(), interrupts: 0, shared: SHARED.with_borrow(Arc::clone) }
    }

    /// What begins next, or what a sleeper goes on with, is interrupted before its step of this number, from 1, if it comes so
    /// far: a touch of a word, a fence, an entry into the lock, outside of it.
    pub fn interrupt(&mut self, step: u32) {
        self.interrupts = step;
    }

    /// A thread does `body` until it falls asleep.
    ///
    /// # Panics
    /// As `body` does.
    pub fn play(&mut self, body: impl FnOnce() + Send + 'static) -> Halt {
        self.perform(Box::new(body))
    }

    /// The thread of this name, which was asked for and has yet to begin, begins. `None`: there is none.
    ///
    /// # Panics
    /// As its body does.
    pub fn begin(&mut self, name: &str) -> Option<Halt> {
        let (_, body) = with_shared(|shared| {
            let at = shared.suspended.iter().position(|(theirs, _)| theirs == name)?;
            shared.suspended.remove(at)
        })?;
        Some(self.perform(body))
    }

    /// `thread`, which sleeps, goes on: it was woken, or it wakes spuriously.
    ///
    /// # Panics
    /// If it does not sleep, or as what it does.
    pub fn go_on(&mut self, thread: usize) -> Halt {
        assert!(self.threads[thread].token.take().is_some(), "stepped: thread {thread} does not sleep");
        let step = std::mem::take(&mut self.interrupts);
        self.cue(thread, Cue::GoOn(step))
    }

    /// Was `thread`, which sleeps, woken?
    pub fn is_woken(&self, thread: usize) -> bool {
        self.threads[thread].token.as_ref().is_some_and(|token| token.load(Relaxed))
    }

    /// Was a thread of this name asked for, which has yet to begin?
    pub fn has_suspended(&self, name: &str) -> bool {
        with_shared(|shared| shared.suspended.iter().any(|(theirs, _)| theirs == name))
    }

    fn perform(&mut self, body: Body) -> Halt {
        let free = self.threads.iter().position(|thread| thread.token.is_none());
        let thread = free.unwrap_or_else(|| {
            self.threads.push(SPARE.with_borrow_mut(Vec::pop).unwrap_or_else(Thread::new));
            self.threads.len() - 1
        });
        let step = std::mem::take(&mut self.interrupts);
        self.cue(thread, Cue::Play(Arc::clone(&self.shared), body, step))
    }

    fn cue(&mut self, number: usize, cue: Cue) -> Halt {
        let thread = &mut self.threads[number];
        let sent = thread.cues.as_ref().map(|cues| cues.send(cue));
        assert!(matches!(sent, Some(Ok(()))), "stepped: thread {number} waits for no cue");
        match thread.reports.recv().expect("stepped: it says how it stopped") {
            Report::Done => Halt::Over,
            Report::Failed(failure) => panic::resume_unwind(failure),
            Report::Asleep(token) => {
                thread.token = Some(token);
                Halt::Asleep(number)
            }
            Report::Paused => {
                thread.token = Some(Arc::default());
                Halt::Paused(number)
            }
        }
    }
}

impl Default for Threads {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        // No thread sleeps in what is dropped here, or in what is put back.
        let suspended = std::mem::take(&mut self.shared.lock().unwrap_or_else(PoisonError::into_inner).suspended);
        drop(suspended);
        let (asleep, spare): (Vec<_>, Vec<_>) = self.threads.drain(..).partition(|thread| thread.token.is_some());
        drop(asleep);
        SPARE.with_borrow_mut(|threads| threads.extend(spare));
    }
}

impl Thread {
    fn new() -> Thread {
        let (cues, their_cues) = channel();
        let (their_reports, reports) = channel();
        let handle = thread::spawn(move || {
            CHANNELS.set(Some(Channels { cues: their_cues, reports: their_reports }));
            while let Some(Cue::Play(shared, body, step)) = cue() {
                SHARED.set(shared);
                STEPS.set(step);
                IS_INSIDE.set(false);
                let played = panic::catch_unwind(AssertUnwindSafe(body));
                SHARED.take();
                STEPS.set(0);
                report(played.map_or_else(Report::Failed, |()| Report::Done));
            }
        });
        Thread { cues: Some(cues), reports, token: None, handle: Some(handle) }
    }
}

impl Drop for Thread {
    /// Without cues it leaves.
    fn drop(&mut self) {
        drop(self.cues.take());
        // It cannot have failed: it says so instead.
        let _left = self.handle.take().map(JoinHandle::join);
    }
}

/// The next cue. `None`: there will be none.
fn cue() -> Option<Cue> {
    CHANNELS.with_borrow(|channels| channels.as_ref()?.cues.recv().ok())
}

/// Says why this thread stops moving. Is it one of a [`Threads`] at all?
fn report(report: Report) -> bool {
    CHANNELS.with_borrow(|channels| {
        // No receiver is left: the play is over, and the next cue says so.
        let sent = channels.as_ref().map(|channels| channels.reports.send(report));
        sent.is_some()
    })
}

/// The thread makes a step, unless it is interrupted before.
pub(super) fn step() {
    let steps = STEPS.get();
    if steps == 0 || IS_INSIDE.get() {
        return;
    }
    STEPS.set(steps - 1);
    if steps == 1 {
        report(Report::Paused);
        await_cue();
    }
}

/// Runs `f`, which is in the lock.
pub(super) fn uninterrupted<R>(f: impl FnOnce() -> R) -> R {
    let before = IS_INSIDE.replace(true);
    let result = f();
    IS_INSIDE.set(before);
    result
}

/// Waits until the thread may go on; leaves if there is nothing to go on with.
fn await_cue() {
    match cue() {
        Some(Cue::GoOn(step)) => STEPS.set(step),
        _ => panic::resume_unwind(Box::new(Gone)),
    }
}

/// Sleeps until the test says so, woken or not. Is this a thread of a [`Threads`] at all?
pub(super) fn sleep(token: &Arc<AtomicBool>) -> bool {
    STEPS.set(0);
    let is_ours = report(Report::Asleep(Arc::clone(token)));
    if is_ours {
        await_cue();
        token.store(false, Relaxed);
    }
    is_ours
}
