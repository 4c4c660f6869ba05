//! The timers of a runtime: wakers that become due.

use super::home::Home;
use super::life::{Hall, guarded};
use super::threads;
use super::{Cores, worker};
use crate::host::{Host, Nanos};
use crate::kernel::g::G;
use crate::kernel::p::PId;
use crate::kernel::timers::{Key, NEVER, Timers};
use crate::kernel::work_source::{self, WorkSource};
use core::task::Waker;
use std::sync::{Arc, OnceLock};

/// What sleeps, by time.
pub(super) struct TimerQueue {
    timers: Timers<Cores, Waker>,
    scheduler: OnceLock<work_source::Waker>,
}

impl TimerQueue {
    pub(super) fn new(shelves: usize) -> Self {
        TimerQueue { timers: Timers::new(shelves), scheduler: OnceLock::new() }
    }

    pub(super) fn open(&self, scheduler: &work_source::Waker) {
        let _ = self.scheduler.set(scheduler.clone());
    }

    /// Wakes `waker` at `when`. `p`: the P that this thread holds.
    pub(super) fn add(&self, when: Nanos, waker: Waker, p: Option<PId>) -> Key {
        let (key, is_first) = self.timers.add(p.map_or(0, |p| p.0 as usize), when, waker);
        if is_first && p.is_none() {
            self.announce(when);
        }
        key
    }

    /// A thread without a P waits from now on until `when`; or for a socket, with [`NEVER`].
    pub(super) fn announce(&self, when: Nanos) {
        if let Some(scheduler) = self.scheduler.get() {
            scheduler.announce(when);
        }
    }

    /// Somebody looks for work, and then whether there is nothing more to wait for.
    pub(super) fn look_again(&self) {
        if let Some(scheduler) = self.scheduler.get() {
            scheduler.wake();
        }
    }

    pub(super) fn remove(&self, key: Key) {
        drop(self.timers.remove(key));
    }

    /// Wakes this one instead. `false`: the timer is over.
    pub(super) fn replace(&self, key: Key, waker: Waker) -> bool {
        self.timers.replace(key, waker).is_ok()
    }

    pub(super) fn is_expecting(&self) -> bool {
        self.timers.deadline() != NEVER
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.timers.len()
    }

    /// Nobody looks any more: who sleeps is woken, and finds its runtime gone.
    pub(super) fn close(&self) {
        self.timers.drain().for_each(|waker| guarded(|| waker.wake()));
    }
}

/// As the scheduler sees it.
pub(super) struct TimerSource {
    pub(super) home: Home,
    pub(super) timers: Arc<TimerQueue>,
    pub(super) hall: Arc<Hall>,
    pub(super) waker: work_source::Waker,
}

impl WorkSource for TimerSource {
    fn waker(&self) -> &work_source::Waker {
        &self.waker
    }

    fn has_work(&self) -> bool {
        let deadline = self.timers.timers.deadline();
        deadline != NEVER && deadline <= Cores::now()
    }

    fn take(&self, p: Option<PId>, put: &mut dyn FnMut(G)) {
        let now = Cores::now();
        let shelf = p.map_or(0, |p| p.0 as usize);
        worker::collect(self.home, put, || {
            while let Some(waker) = self.timers.timers.take_due(shelf, now) {
                guarded(|| waker.wake());
            }
        });
    }

    fn deadline(&self) -> Nanos {
        self.timers.timers.deadline()
    }

    /// Also while tasks wait that a thread of somebody else's may wake.
    fn is_expecting(&self) -> bool {
        self.timers.is_expecting() || self.hall.len() > 0 && !threads::are_all_known()
    }
}
