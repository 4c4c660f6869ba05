//! What wakes a thread that waits for a future: `block_on`, and a join outside of a task.
//!
//! **A ring that comes after the bell was taken last ends the wait; the thread sees what was written before it. Once a ring has
//! returned, the thread does not count as waiting.** A bell may ring for ever after: a late ring costs a poll.
//!
//! | a waker, in [`ring`](Bell::ring)              | the thread, in [`wait`](Bell::wait)              |
//! |-----------------------------------------------|--------------------------------------------------|
//! | 1. the state becomes `Rung`                   | 1. was it `Rung`? polls again                    |
//! | 2. it was `Waiting`: takes the thread out of the count, says so, and unparks | 2. from `Idle` to `Waiting`; counts itself |
//! |                                               | 3. asks whether it can end; parks; until it is `Rung`, and it is out |
//! |                                               | 4. gives up: takes itself out; from `Waiting` to `Idle`, or counts itself again if it was `Rung` |
//!
//! Pair `bell`. One exchange decides which of the two takes the thread out of the count. A thread that gives up is out before that can be
//! seen: one that rings it, and asks then whether all wait, would find it among them. The thread counts itself after its step to
//! `Waiting`: a waker that is faster takes it out before it comes in, and it is never counted. It goes on when it is out: one that
//! waited again before that would be counted twice, once for its waker, and a deadlock told. All steps are read-modify-writes: one that
//! takes the second of two rings sees what came before either.
//!
//! A thread that runs tasks waits for nothing once its runtime is being shut down. So it puts its bell on a list first:
//!
//! | a thread that shuts down, in [`close`](Bells::close) | the thread, in [`enter`](Bells::enter) and `wait` |
//! |------------------------------------------------------|---------------------------------------------------|
//! | 1. sets `is_closing`                                 | 1. lists its bell, under the lock                 |
//! | 2. under the lock, unparks all listed                | 2. reads `is_closing`, before each sleep          |
//!
//! Whichever comes to the lock second has seen the other's first step: the thread the flag, or the closer the bell, whose unpark
//! brings the flag along. Deadlock detection asks each of them to look again in the same way.
//!
//! Checked by: verification/rooms/src/rooms/bell.rs

use crate::atomic::{Atomic, Value};
use crate::host::{Host, Lock, Parker};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// What counts a thread as long as it waits.
pub trait Counts: Send + Sync {
    /// It waits from now on.
    fn enter(&self);
    /// No longer. Called once for each [`enter`](Counts::enter), by the thread or by its waker, perhaps before it.
    fn leave(&self);
}

/// A thread that no detector looks at.
#[derive(Debug, Clone, Copy)]
pub struct Uncounted;

impl Counts for Uncounted {
    fn enter(&self) {}

    fn leave(&self) {}
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The thread runs, and nothing has rung since it last polled.
    Idle,
    /// It has rung.
    Rung,
    /// The thread sleeps, or is about to, and is counted.
    Waiting,
}

impl Value for State {
    #[inline(always)]
    fn into_word(self) -> u64 {
        self as u64
    }
    #[inline(always)]
    fn from_word(word: u64) -> State {
        match word {
            0 => State::Idle,
            1 => State::Rung,
            _ => State::Waiting,
        }
    }
}

/// What wakes one thread.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::bell::{Bell, Uncounted};
/// let bell = Arc::new(Bell::<Os>::new());
/// let ringer = Arc::clone(&bell);
/// thread::spawn(move || ringer.ring());
/// assert_eq!(bell.wait(|| Ok::<_, ()>(())), Ok(())); // sleeps until it rings
///
/// let bell = Bell::<Os, Uncounted>::counted_by(Uncounted);
/// assert_eq!(bell.wait(|| Err::<(), _>("there is another end")), Err("there is another end"));
/// bell.ring();
/// bell.look_again(); // a thread that sleeps would ask once more
/// let park = |parker: &OsParker, nanos| parker.park_timeout(nanos);
/// assert_eq!(bell.wait_by(|| Ok::<_, ()>(1_000_000), park), Ok(())); // it has rung already
/// # }
/// ```
pub struct Bell<H: Host, C = Uncounted> {
    parker: H::Parker,
    state: Atomic<H, State>,
    /// The ring that found the thread waiting has taken it out of the count.
    is_out: Atomic<H, bool>,
    counts: C,
}

impl<H: Host> Bell<H> {
    /// It has not rung.
    #[track_caller]
    pub fn new() -> Self {
        Bell::counted_by(Uncounted)
    }
}

impl<H: Host> Default for Bell<H> {
    fn default() -> Self {
        Self::new()
    }
}

impl<H: Host, C: Counts> Bell<H, C> {
    /// It has not rung. `counts` its thread while that waits.
    #[track_caller]
    pub fn counted_by(counts: C) -> Self {
        Bell { parker: H::Parker::new(), state: Atomic::new(State::Idle), is_out: Atomic::new(false), counts }
    }

    /// Rings. From anywhere, as often as one likes.
    pub fn ring(&self) {
        // Release: `bell`, waker's half: the poll that follows sees what was done before. A thread that does not wait finds it
        // before it sleeps, so it is not unparked. Acquire: `bell`, a thread
        // that has given up is out of the count.
        if self.state.swap(State::Rung, AcqRel) == State::Waiting {
            self.counts.leave();
            // Release: `bell`, as above: the thread that goes on is out of the count.
            self.is_out.swap(true, Release);
            self.parker.unpark();
        }
    }

    /// Has it rung since the thread last asked? The thread does not wait.
    fn take(&self) -> bool {
        // Acquire: `bell`, the thread's half: what was done before it rang is seen; a later ring is not lost.
        self.state.swap(State::Idle, Acquire) == State::Rung
    }

    /// The thread asks once more whether its wait can end.
    pub fn look_again(&self) {
        self.parker.unpark();
    }

    /// Sleeps until it rings, which it may have already. Before each sleep the thread asks whether its wait can end: it is counted
    /// then. What it gets lives as long as that sleep.
    ///
    /// # Errors
    /// Why it does.
    pub fn wait<T, E>(&self, before_sleep: impl FnMut() -> Result<T, E>) -> Result<(), E> {
        self.wait_by(before_sleep, |parker, _sleeping| parker.park())
    }

    /// The same, and the thread sleeps by `park`, which takes what `before_sleep` has returned. It may return for any reason, as when
    /// a time is over: the thread asks once more.
    ///
    /// # Errors
    /// As [`wait`](Bell::wait).
    pub fn wait_by<T, E>(
        &self,
        mut before_sleep: impl FnMut() -> Result<T, E>,
        park: impl Fn(&H::Parker, T),
    ) -> Result<(), E> {
        // Relaxed: `take` reads again what this finds.
        if self.state.compare_exchange(State::Idle, State::Waiting, Relaxed, Relaxed).is_err() {
            let has_rung = self.take();
            debug_assert!(has_rung, "bell: two threads wait by one bell");
            return Ok(());
        }
        self.counts.enter();
        loop {
            match before_sleep() {
                Ok(sleeping) => park(&self.parker, sleeping),
                Err(why) if self.gives_up() => return Err(why),
                Err(_) => (),
            }
            // Relaxed: `take` reads again what this finds.
            if self.state.load(Relaxed) == State::Rung {
                break;
            }
        }
        // Acquire: `bell`, the thread's half.
        while !self.is_out.swap(false, Acquire) {
            self.parker.park(); // until the unpark that follows
        }
        let _ = self.take();
        Ok(())
    }

    /// The thread waits no more, unless it has rung meanwhile: then `false`. It is out of the count before that can be seen: a thread that
    /// rings, and asks then whether all wait, must not find this one among them.
    fn gives_up(&self) -> bool {
        self.counts.leave();
        // Release: `bell`, a thread that gives up: a ring that finds that it does not wait finds it out of the count. Relaxed: `take`
        // reads again what this finds.
        let gives_up = self.state.compare_exchange(State::Waiting, State::Idle, Release, Relaxed).is_ok();
        if !gives_up {
            self.counts.enter(); // the ring takes it out as well
        }
        gives_up
    }
}

/// A bell, on whichever host.
pub trait LooksAgain: Send + Sync {
    /// As [`Bell::look_again`].
    fn look_again(&self);
}

impl<H: Host, C: Counts> LooksAgain for Bell<H, C> {
    fn look_again(&self) {
        Bell::look_again(self);
    }
}

/// The bells of those that wait in a runtime.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::bell::{Bell, Bells};
/// let (bells, bell) = (Bells::<Os, Bell<Os>>::new(), Arc::new(Bell::new()));
/// bells.enter(Arc::clone(&bell));
/// assert!(bells.is_any() && !bells.is_closing());
/// bells.all_look_again(); // each asks again whether its wait can end
/// bells.close();
/// assert!(bells.is_closing());
/// bells.leave(&bell);
/// assert!(!bells.is_any());
/// # }
/// ```
pub struct Bells<H: Host, B: LooksAgain + ?Sized + 'static> {
    /// How many are listed, for threads that do not hold the lock.
    count: Atomic<H, u64>,
    /// The runtime is being shut down.
    is_closing: Atomic<H, bool>,
    listed: H::Lock<Vec<Arc<B>>>,
}

impl<H: Host, B: LooksAgain + ?Sized + 'static> Bells<H, B> {
    /// None.
    #[track_caller]
    pub fn new() -> Self {
        Bells { count: Atomic::new(0), is_closing: Atomic::new(false), listed: H::Lock::new(Vec::new()) }
    }

    /// A thread will wait.
    pub fn enter(&self, bell: Arc<B>) {
        self.listed.with(|listed| listed.push(bell));
        // Relaxed: a hint, it is looked at again.
        self.count.fetch_add(1, Relaxed);
    }

    /// It waits no more.
    pub fn leave(&self, bell: &Arc<B>) {
        self.listed.with(|listed| listed.retain(|other| !Arc::ptr_eq(other, bell)));
        // Relaxed: a hint.
        self.count.fetch_sub(1, Relaxed);
    }

    /// Does a waiter exist?
    pub fn is_any(&self) -> bool {
        // Relaxed: a hint.
        self.count.load(Relaxed) > 0
    }

    /// The runtime is being shut down: a task that waits here has to end.
    pub fn close(&self) {
        // Relaxed: the lock brings it to those that list their bells after this, an unpark to the others.
        self.is_closing.store(true, Relaxed);
        self.all_look_again();
    }

    /// Is the runtime being shut down? For a thread that has listed its bell.
    pub fn is_closing(&self) -> bool {
        // Relaxed: as in `close`.
        self.is_closing.load(Relaxed)
    }

    /// Each that waits asks again whether its wait can end. One that comes after this asks by itself, before it sleeps.
    pub fn all_look_again(&self) {
        self.listed.with(|listed| listed.iter().for_each(|bell| bell.look_again()));
    }
}

impl<H: Host, B: LooksAgain + ?Sized + 'static> Default for Bells<H, B> {
    fn default() -> Self {
        Self::new()
    }
}
