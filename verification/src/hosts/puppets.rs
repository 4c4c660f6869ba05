//! A host on which every thread is a puppet: of all of them exactly one moves at a time, and the test says which.
//!
//! A puppet moves until it falls asleep in [`Parker::park`](host::Parker::park), or is done. Then the test goes on, and
//! lets another move, or the same, if it was woken, or spuriously. So, unlike on [`Staged`](crate::hosts::staged::Staged),
//! an M can fall asleep in the middle of [`Sched::next`](spinpark::kernel::sched::Sched::next), others act, and the
//! sleepers go on in any order. Everything else that a host decides is the test's, too: which threads are refused, what
//! is sampled at random, what time it is.
//!
//! A puppet is an operating system's thread that waits for its cue. A [`ModelHost`] belongs to the thread that made it, and
//! to the threads that move on it: tests that run side by side do not meet. When it is dropped, every sleeper leaves by
//! unwinding, and its thread is joined; the other threads wait for the next stage of the thread that made it, and end
//! with that thread.

use crate::hosts::solo;
use spinpark::host::{self, Host, Nanos, SpawnError};
use std::any::Any;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{self, Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// The host.
#[derive(Debug)]
pub struct Puppets;

/// A bed. Its sleeper is looked away from until the test lets it go on.
#[derive(Debug)]
pub struct Parker(Arc<AtomicBool>);

/// What a puppet does.
type Body = Box<dyn FnOnce() + Send>;

/// What a puppet is told.
enum Cue {
    Play(Arc<Mutex<Props>>, Body),
    GoOn,
}

/// What a puppet says when it stops moving.
enum Halt {
    /// It sleeps, until this is set, or for shorter.
    Asleep(Arc<AtomicBool>),
    Done,
    Failed(Box<dyn Any + Send>),
}

/// The stage is gone while somebody sleeps: the way out of its sleep.
struct Gone;

/// A puppet's end of the strings.
struct Strings {
    cues: Receiver<Cue>,
    halts: Sender<Halt>,
}

/// What all on one stage share. Uncontended: one moves at a time.
#[derive(Default)]
struct Props {
    lot: u64,
    drawn: u64,
    now: Nanos,
    refusals: usize,
    /// The threads that were asked for and have yet to begin.
    suspended: VecDeque<(String, Body)>,
}

thread_local! {
    static PROPS: RefCell<Option<Arc<Mutex<Props>>>> = const { RefCell::new(None) };
    static STRINGS: RefCell<Option<Strings>> = const { RefCell::new(None) };
    /// Puppets of stages that are gone. To start a thread takes longer than most scenarios.
    static BOX: RefCell<Vec<Puppet>> = const { RefCell::new(Vec::new()) };
}

/// What is drawn out of `0..n` when it is drawn for the `nth` time by `lot`. Lot 0 draws nothing but 0.
pub fn draw(lot: u64, nth: u64, n: usize) -> usize {
    if lot == 0 {
        return 0;
    }
    let z = (lot << 32 | nth).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((z >> 33) % n as u64) as usize
}

fn with_props<R>(f: impl FnOnce(&mut Props) -> R) -> R {
    let props = PROPS.with_borrow(|props| props.clone()).expect("puppets: this thread stands on no stage");
    let mut props = props.lock().unwrap_or_else(PoisonError::into_inner);
    f(&mut props)
}

/// Where the puppets are, and who has the strings: the thread that made it.
pub struct ModelHost {
    puppets: Vec<Puppet>,
    props: Arc<Mutex<Props>>,
}

struct Puppet {
    cues: Option<Sender<Cue>>,
    halts: Receiver<Halt>,
    /// It sleeps here.
    bed: Option<Arc<AtomicBool>>,
    thread: Option<JoinHandle<()>>,
}

/// How a scenario ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a puppet that fell asleep goes on only when it is told to"]
pub enum Scenario {
    /// It is over.
    Over,
    /// The puppet of this number fell asleep in it.
    Asleep(usize),
}

impl ModelHost {
    /// An empty stage, at moment 1. The caller moves on it as long as it has no other.
    pub fn new() -> ModelHost {
        let props = Arc::new(Mutex::new(Props { now: 1, ..Props::default() }));
        PROPS.set(Some(Arc::clone(&props)));
        ModelHost { puppets: Vec::new(), props }
    }

    /// A puppet does `body` until it falls asleep.
    ///
    /// # Panics
    /// As `body` does.
    pub fn play(&mut self, body: impl FnOnce() + Send + 'static) -> Scenario {
        self.perform(Box::new(body))
    }

    /// The thread of this name, which was asked for and has yet to begin, begins. `None`: there is none.
    ///
    /// # Panics
    /// As its body does.
    pub fn begin(&mut self, name: &str) -> Option<Scenario> {
        let at = self.suspended(|suspended| suspended.iter().position(|(theirs, _)| theirs == name))?;
        let (_, body) = self.suspended(|suspended| suspended.remove(at))?;
        Some(self.perform(body))
    }

    /// `puppet`, which sleeps, goes on: it was woken, or it wakes spuriously.
    ///
    /// # Panics
    /// If it does not sleep, or as what it does.
    pub fn go_on(&mut self, puppet: usize) -> Scenario {
        assert!(self.puppets[puppet].bed.take().is_some(), "puppets: {puppet} does not sleep");
        self.cue(puppet, Cue::GoOn)
    }

    /// Was `puppet`, which sleeps, woken?
    pub fn is_woken(&self, puppet: usize) -> bool {
        self.puppets[puppet].bed.as_ref().is_some_and(|bed| bed.load(Relaxed))
    }

    /// Was a thread of this name asked for, which has yet to begin?
    pub fn has_suspended(&self, name: &str) -> bool {
        self.suspended(|suspended| suspended.iter().any(|(theirs, _)| theirs == name))
    }

    /// From now on is drawn by this lot, from its first time on: see [`draw`].
    pub fn draw_by(&self, lot: u64) {
        with_props(|props| (props.lot, props.drawn) = (lot, 0));
    }

    /// So much time passes.
    pub fn pass(&self, nanos: Nanos) {
        with_props(|props| props.now += nanos);
    }

    /// So many threads are refused from now on.
    pub fn refuse(&self, threads: usize) {
        with_props(|props| props.refusals = threads);
    }

    fn suspended<R>(&self, f: impl FnOnce(&mut VecDeque<(String, Body)>) -> R) -> R {
        f(&mut self.props.lock().unwrap_or_else(PoisonError::into_inner).suspended)
    }

    fn perform(&mut self, body: Body) -> Scenario {
        let free = self.puppets.iter().position(|puppet| puppet.bed.is_none());
        let puppet = free.unwrap_or_else(|| {
            self.puppets.push(BOX.with_borrow_mut(Vec::pop).unwrap_or_else(Puppet::new));
            self.puppets.len() - 1
        });
        self.cue(puppet, Cue::Play(Arc::clone(&self.props), body))
    }

    fn cue(&mut self, number: usize, cue: Cue) -> Scenario {
        let puppet = &mut self.puppets[number];
        let sent = puppet.cues.as_ref().map(|cues| cues.send(cue));
        assert!(matches!(sent, Some(Ok(()))), "puppets: {number} waits for no cue");
        match puppet.halts.recv().expect("puppets: it says how it stopped") {
            Halt::Done => Scenario::Over,
            Halt::Failed(failure) => panic::resume_unwind(failure),
            Halt::Asleep(bed) => {
                puppet.bed = Some(bed);
                Scenario::Asleep(number)
            }
        }
    }
}

impl Default for ModelHost {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for ModelHost {
    fn drop(&mut self) {
        // Nobody sleeps in what is dropped here, or in what is put back.
        drop(self.suspended(std::mem::take));
        let (asleep, idle): (Vec<_>, Vec<_>) = self.puppets.drain(..).partition(|puppet| puppet.bed.is_some());
        drop(asleep);
        BOX.with_borrow_mut(|puppets| puppets.extend(idle));
    }
}

impl Puppet {
    fn new() -> Puppet {
        let (cues, their_cues) = channel();
        let (their_halts, halts) = channel();
        let thread = thread::spawn(move || {
            STRINGS.set(Some(Strings { cues: their_cues, halts: their_halts }));
            while let Some(Cue::Play(props, body)) = cue() {
                PROPS.set(Some(props));
                let played = panic::catch_unwind(AssertUnwindSafe(body));
                PROPS.set(None);
                halt_with(played.map_or_else(Halt::Failed, |()| Halt::Done));
            }
        });
        Puppet { cues: Some(cues), halts, bed: None, thread: Some(thread) }
    }
}

impl Drop for Puppet {
    /// Without cues it leaves.
    fn drop(&mut self) {
        drop(self.cues.take());
        // It cannot have failed: it says so instead.
        let _left = self.thread.take().map(JoinHandle::join);
    }
}

/// The next cue. `None`: there will be none.
fn cue() -> Option<Cue> {
    STRINGS.with_borrow(|strings| strings.as_ref()?.cues.recv().ok())
}

fn halt_with(halt: Halt) {
    STRINGS.with_borrow(|strings| {
        let strings = strings.as_ref().expect("puppets: the test itself fell asleep");
        // Nobody listens any more: the stage is gone, and the next cue says so.
        let _ = strings.halts.send(halt);
    });
}

impl Host for Puppets {
    type Word = solo::Word;
    type Lock<T: Send + 'static> = solo::Lock<T>;
    type Parker = Parker;

    fn fence(_: Ordering) {}
    fn relax() {}
    fn choose(n: usize) -> usize {
        with_props(|props| {
            props.drawn += 1;
            draw(props.lot, props.drawn, n)
        })
    }
    fn now() -> Nanos {
        with_props(|props| props.now)
    }
    fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), SpawnError> {
        with_props(|props| match props.refusals.checked_sub(1) {
            Some(left) => {
                props.refusals = left;
                Err(SpawnError { os_error: None })
            }
            None => {
                props.suspended.push_back((name.to_owned(), Box::new(body)));
                Ok(())
            }
        })
    }
}

impl host::Parker for Parker {
    fn new() -> Self {
        Parker(Arc::new(AtomicBool::new(false)))
    }
    /// Returns when the test says so, woken or not.
    fn park(&self) {
        if self.0.swap(false, Relaxed) {
            return;
        }
        halt_with(Halt::Asleep(Arc::clone(&self.0)));
        if !matches!(cue(), Some(Cue::GoOn)) {
            panic::resume_unwind(Box::new(Gone));
        }
        self.0.store(false, Relaxed);
    }
    /// The same; the time passes as the test says.
    fn park_timeout(&self, _: Nanos) {
        self.park();
    }
    fn unpark(&self) {
        self.0.store(true, Relaxed);
    }
}
