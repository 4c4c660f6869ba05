//! Waiting until several have done.

use crate::runtime::exec::yielding::waits_if_pending;
use crate::runtime::sync::chan::waitq::{Outcome, WaitQueue, Waiter, Waiters};
use crate::runtime::sync::chan::waking::{Lender, forget, wake};
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Waits until several have done. Go: `sync.WaitGroup`.
///
/// Whoever starts something calls [`add`](WaitGroup::add) before, and that calls [`done`](WaitGroup::done) at its end;
/// [`wait`](WaitGroup::wait) waits until all that were added have. It may be used again and again. Tasks share it by an
/// `Arc` or a `static`. A task that panics does not come to its `done`; a [`JoinHandle`](crate::JoinHandle) knows that.
pub struct WaitGroup {
    state: Mutex<State>,
}

struct State {
    count: usize,
    waiters: Waiters<()>,
    queue: WaitQueue,
}

impl WaitGroup {
    /// Waits for nobody yet.
    pub const fn new() -> Self {
        WaitGroup { state: Mutex::new(State { count: 0, waiters: Waiters::new(), queue: WaitQueue::new() }) }
    }

    /// `n` more are to be waited for. From any thread. Go: `Add`.
    ///
    /// # Panics
    /// If there are too many for a `usize`.
    pub fn add(&self, n: usize) {
        let is_added = {
            let mut state = self.lock();
            let count = state.count.checked_add(n);
            state.count = count.unwrap_or(state.count);
            count.is_some()
        };
        assert!(is_added, "WaitGroup: more were added than can be counted");
    }

    /// One has done. If it was the last, all that wait go on. From any thread. Go: `Done`.
    ///
    /// # Panics
    /// If nobody is left that was added: the counter would be negative.
    pub fn done(&self) {
        let Some(woken) = self.lock().count_down() else {
            panic!("WaitGroup: `done` was called more often than was added: the counter would be negative");
        };
        wake(woken);
    }

    /// How many are waited for.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lock().count
    }

    /// Waits until the counter is zero, if only for a moment. Go: `Wait`.
    pub fn wait(&self) -> Waiting<'_> {
        Waiting { group: self, waiter: None }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// `None`: it is zero.
    fn count_down(&mut self) -> Option<Vec<Waker>> {
        self.count = self.count.checked_sub(1)?;
        let mut woken = Vec::new();
        while self.count == 0
            && let Some(key) = self.queue.next(&mut self.waiters)
        {
            woken.extend(self.waiters.get(key).serve(Outcome::Done));
        }
        Some(woken)
    }
}

impl Default for WaitGroup {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for WaitGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitGroup").field("count", &self.count()).finish_non_exhaustive()
    }
}

/// What [`WaitGroup::wait`] returns.
#[must_use = "a future does nothing until it is awaited"]
pub struct Waiting<'a> {
    group: &'a WaitGroup,
    waiter: Option<usize>,
}

impl Waiting<'_> {
    /// `None`: it needs a copy of the waker.
    fn step(&mut self, lender: &mut Lender<'_>) -> Option<Poll<()>> {
        let mut guard = self.group.lock();
        let state = &mut *guard;
        let Some(key) = self.waiter else {
            if state.count == 0 {
                return Some(Poll::Ready(()));
            }
            let waiter = Waiter::new(lender.lend()?, None, None);
            self.waiter = Some(state.queue.join(&mut state.waiters, waiter));
            return Some(Poll::Pending);
        };
        let waiter = state.waiters.get(key);
        if waiter.outcome.is_some() {
            self.waiter = None;
            drop(state.queue.leave(&mut state.waiters, key)); // its waker is gone
            return Some(Poll::Ready(()));
        }
        if !waiter.waker.as_ref().is_some_and(|waker| waker.will_wake(lender.waker())) {
            let old = waiter.waker.replace(lender.lend()?);
            drop(guard);
            forget(old);
        }
        Some(Poll::Pending)
    }
}

impl Future for Waiting<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut lender = Lender::new(cx.waker());
        loop {
            match self.step(&mut lender) {
                Some(polled) => return waits_if_pending(polled, "sync.WaitGroup.Wait"),
                None => lender.prepare(),
            }
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.waiter {
            let mut guard = self.group.lock();
            let state = &mut *guard;
            let waiter = state.queue.leave(&mut state.waiters, key);
            drop(guard);
            forget(waiter.waker);
        }
    }
}

impl fmt::Debug for Waiting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").field("group", self.group).finish_non_exhaustive()
    }
}
