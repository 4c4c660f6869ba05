//! A G bound to its M: it runs on no other thread, and its M runs nothing else.
//!
//! Go: `stoplockedm`, `startlockedm`, `m.lockedg`.
//!
//! **A bound G never leaves its M.** What stands in a queue for it is a ticket, `G::bound_to`
//! the M: the M that finds the ticket gives its P to the bound M, and sleeps. A ticket is queued once for each wait, and a
//! wake that comes before its wait is remembered, once.
//!
//! | the waker, in [`Bindings::ready`]      | the bound M                                              |
//! |----------------------------------------|----------------------------------------------------------|
//! | waiting: queues its ticket             | 1. [`wait`](Bindings::wait): was readied? goes on        |
//! | not yet: sets `Readied`                | 2. hands its P off                                       |
//! | (all under the lock)                   | 3. [`rest`](Bindings::rest), and sleeps until a P comes  |
//!
//! Checked by: verification/rooms/src/rooms/locked.rs, verification/src/models/locked.rs

use crate::types::m::MId;
use alloc::boxed::Box;

/// From where a wait can be ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wake {
    /// Only by a G of the same scheduler: if none of them can run any more, it waits for ever.
    Inside,
    /// By a thread outside too, at any time.
    Outside,
}

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Woken {
    /// It was readied; perhaps spuriously.
    Ready,
    /// The scheduler is closed.
    Closed,
    /// No G that could ready it can run any more.
    Deadlock,
    /// The Gs that could ready it get no thread: as many as may be started wait themselves.
    NoThread,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Runs, or has a ticket in a queue.
    Awake,
    /// Was readied before it waited.
    Readied,
    /// Is about to wait: it has yet to release its P.
    Waiting(Wake),
    /// Waits without a P, since then.
    Resting(Wake, u64),
}

/// Every M's bound G. Lives inside the scheduler's lock.
///
/// ```
/// use spinpark_kernel::{protocol::locked::{Bindings, Wake, Woken}, types::m::MId};
/// let (mut bindings, m) = (Bindings::new(2), MId(1));
/// assert!(bindings.wait(m, Wake::Inside) && bindings.rest(m));
/// assert_eq!((bindings.total(), bindings.oldest_inside()), (1, Some(m)));
/// assert_eq!(bindings.waiting().collect::<Vec<_>>(), [m]);
/// assert!(bindings.ready(m, Woken::Ready)); // its ticket has to be queued
/// assert_eq!(bindings.woken(m), Woken::Ready);
/// assert!(!bindings.ready(m, Woken::Ready)); // readied before it waits:
/// assert!(!bindings.wait(m, Wake::Outside)); // it need not
/// bindings.forget(m); // it ends
/// ```
#[derive(Debug)]
pub struct Bindings {
    states: Box<[(State, Woken)]>,
    /// How many rest that only Gs of the same scheduler can ready.
    inside: usize,
    /// How many rest.
    total: usize,
    waits: u64,
}

impl Bindings {
    /// For `max_ms` Ms.
    pub fn new(max_ms: usize) -> Self {
        Bindings { states: (0..max_ms).map(|_| (State::Awake, Woken::Ready)).collect(), inside: 0, total: 0, waits: 0 }
    }

    /// `m`'s G waits from now on. `false`: it was readied already.
    #[must_use]
    pub fn wait(&mut self, m: MId, wake: Wake) -> bool {
        let (state, woken) = &mut self.states[m.index()];
        debug_assert!(matches!(state, State::Awake | State::Readied), "locked: M{} waits twice", m.0);
        let readied = *state == State::Readied;
        *state = if readied { State::Awake } else { State::Waiting(wake) };
        *woken = Woken::Ready;
        !readied
    }

    /// `m` has released its P. Does it still wait?
    pub fn rest(&mut self, m: MId) -> bool {
        let (state, _) = &mut self.states[m.index()];
        let State::Waiting(wake) = *state else { return false };
        self.waits += 1;
        *state = State::Resting(wake, self.waits);
        self.inside += usize::from(wake == Wake::Inside);
        self.total += 1;
        true
    }

    /// What `m`'s G waits for has happened. `true`: its ticket has to be queued.
    #[must_use = "its ticket has to be queued"]
    pub fn ready(&mut self, m: MId, why: Woken) -> bool {
        let (state, woken) = &mut self.states[m.index()];
        if matches!(*state, State::Awake | State::Readied) {
            *state = State::Readied;
            return false;
        }
        if let State::Resting(wake, _) = *state {
            self.inside -= usize::from(wake == Wake::Inside);
            self.total -= 1;
        }
        (*state, *woken) = (State::Awake, why);
        true
    }

    /// Why `m`'s last wait ended.
    pub fn woken(&self, m: MId) -> Woken {
        self.states[m.index()].1
    }

    /// `m` ends: a wake that came too late is dropped.
    pub fn forget(&mut self, m: MId) {
        let (state, _) = self.states[m.index()];
        debug_assert!(matches!(state, State::Awake | State::Readied), "locked: M{} ends, and waits", m.0);
        self.states[m.index()] = (State::Awake, Woken::Ready);
    }

    /// Ms that rest. One that has yet to release its P is not counted: it still runs, and was not told of a deadlock.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Ms that rest and that only Gs of the same scheduler can ready.
    pub fn inside(&self) -> usize {
        self.inside
    }

    /// Of those, the one that has waited longest.
    #[inline]
    pub fn oldest_inside(&self) -> Option<MId> {
        let rests = self.states.iter().enumerate().filter_map(|(m, (state, _))| match state {
            State::Resting(Wake::Inside, since) => Some((*since, MId(m as u32))),
            _ => None,
        });
        rests.min().map(|(_, m)| m)
    }

    /// Every M whose G waits.
    pub fn waiting(&self) -> impl Iterator<Item = MId> + '_ {
        let waits = |state: &State| matches!(state, State::Waiting(_) | State::Resting(..));
        self.states.iter().enumerate().filter(move |(_, (state, _))| waits(state)).map(|(m, _)| MId(m as u32))
    }
}
