//! What a task and its handle share: first the closure, then its outcome.
//!
//! | stage    | what is in it | goes to                                |
//! |----------|---------------|----------------------------------------|
//! | Queued   | the closure   | Running, Finished (it was never run)   |
//! | Running  | nothing       | Finished                               |
//! | Finished | the outcome   | Joined                                 |
//! | Joined   | nothing       | (the end)                              |
//!
//! No code of the user's runs under the lock: closures and values are moved out and in.

use super::join::Panic;
use super::task::{Body, Tasks};
use crate::kernel::m::MId;
use core::panic::Location;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How a task ended.
pub(super) enum Outcome<T> {
    Value(T),
    Panicked(Panic),
    NeverStarted,
}

/// The handle's view of a packet, the closure's type forgotten.
pub(super) trait Joinable<T>: Send + Sync {
    /// Would `wait` return at once?
    fn is_finished(&self) -> bool;
    /// Blocks until there is an outcome and takes it. Called once at most.
    fn wait(&self) -> Outcome<T>;
    /// Readies the task that is bound to this M as soon as there is an outcome; `false`: there is one.
    fn await_by(&self, who: (Tasks, MId)) -> bool;
    /// Nobody waits any more.
    fn forget_who(&self);
    /// Where the task was made.
    fn spawned_at(&self) -> &'static Location<'static>;
}

pub(super) struct Packet<F, T> {
    spawned_at: &'static Location<'static>,
    inside: Mutex<Inside<F, T>>,
    finished: Condvar,
}

struct Inside<F, T> {
    stage: Stage<F, T>,
    /// Does somebody block in `wait`? A condition variable asks the system even when nobody does.
    is_awaited: bool,
    /// A task of the same runtime that waits for it.
    who: Option<(Tasks, MId)>,
}

enum Stage<F, T> {
    Queued(F),
    Running,
    Finished(Outcome<T>),
    Joined,
}

impl<F, T> Packet<F, T> {
    #[track_caller]
    pub(super) fn new(f: F) -> Self {
        let inside = Inside { stage: Stage::Queued(f), is_awaited: false, who: None };
        Packet { spawned_at: Location::caller(), inside: Mutex::new(inside), finished: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Inside<F, T>> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The closure, if nobody has taken it yet.
    fn take(&self) -> Option<F> {
        let mut inside = self.lock();
        match core::mem::replace(&mut inside.stage, Stage::Running) {
            Stage::Queued(f) => Some(f),
            other => {
                inside.stage = other;
                None
            }
        }
    }

    fn finish(&self, outcome: Outcome<T>) {
        let mut inside = self.lock();
        inside.stage = Stage::Finished(outcome);
        let (is_awaited, who) = (inside.is_awaited, inside.who.take());
        drop(inside);
        if is_awaited {
            self.finished.notify_one();
        }
        if let Some((tasks, m)) = who {
            tasks.ready_bound(m);
        }
    }
}

impl<F, T> Body for Packet<F, T>
where
    F: FnOnce() -> T + Send,
    T: Send,
{
    fn run(&self) {
        let Some(f) = self.take() else { return };
        // What the closure leaves broken, only its own captures can show: they are gone.
        self.finish(match catch_unwind(AssertUnwindSafe(f)) {
            Ok(value) => Outcome::Value(value),
            Err(payload) => Outcome::Panicked(Panic::new(payload)),
        });
    }

    fn abandon(&self) {
        let Some(f) = self.take() else { return };
        self.finish(Outcome::NeverStarted);
        drop(f);
    }

    fn spawned_at(&self) -> &'static Location<'static> {
        self.spawned_at
    }
}

impl<F: Send, T: Send> Joinable<T> for Packet<F, T> {
    fn is_finished(&self) -> bool {
        matches!(self.lock().stage, Stage::Finished(_))
    }

    fn wait(&self) -> Outcome<T> {
        let mut inside = self.lock();
        loop {
            match core::mem::replace(&mut inside.stage, Stage::Joined) {
                Stage::Finished(outcome) => return outcome,
                Stage::Joined => unreachable!("packet: joined twice"),
                other => inside.stage = other,
            }
            inside.is_awaited = true;
            inside = self.finished.wait(inside).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn await_by(&self, who: (Tasks, MId)) -> bool {
        let mut inside = self.lock();
        let is_finished = matches!(inside.stage, Stage::Finished(_));
        inside.who = if is_finished { None } else { Some(who) };
        !is_finished
    }

    fn forget_who(&self) {
        self.lock().who = None;
    }

    fn spawned_at(&self) -> &'static Location<'static> {
        self.spawned_at
    }
}
