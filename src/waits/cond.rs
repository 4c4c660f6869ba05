//! Waiting for a change of what a lock guards. Go: `sync.Cond`.
//!
//! **Who enqueues itself while it holds the lock misses no notification of a change that is made under that lock after. A
//! notification for one wakes one that goes on, if anybody waits.**
//!
//! | who waits | who notifies |
//! |-----------|--------------|
//! | holding the user's lock: sees the condition fail, enqueues its waiter; unlocks | holding the user's lock: makes the condition true; unlocks |
//! | sleeps, until it is woken | serves the first waiter; wakes it |
//! | locks again, looks again | |
//! | or, dropped after it was served: serves the next | |
//!
//! The user's lock is not here: who waits holds it when it enqueues itself.
//!
//! Checked by: verification/src/models/cond.rs

use crate::host::{Host, Lock};
use crate::waits::queue::{Outcome, Renewed, WaitQueue, Waiter, Waiters};
use crate::waits::waker::{Lender, Waker, forget, wake};
use alloc::vec::Vec;
use core::task::Poll;

/// What a condition variable is under its lock.
pub struct State<H: Host, W> {
    /// A value in a waiter: one was to be woken, and it is this.
    waiters: Waiters<H, (), W>,
    queue: WaitQueue,
}

impl<H: Host, W: Waker> State<H, W> {
    /// Nobody waits.
    pub const fn new() -> Self {
        State { waiters: Waiters::new(), queue: WaitQueue::new() }
    }

    /// Serves the one that has waited longest.
    fn serve_one(&mut self) -> Option<W> {
        let key = self.queue.next(&mut self.waiters)?;
        let waiter = self.waiters.get(key);
        waiter.value = Some(());
        waiter.serve(Outcome::Done)
    }

    /// Serves all.
    fn serve_all(&mut self) -> Vec<W> {
        let mut woken = Vec::new();
        while let Some(key) = self.queue.next(&mut self.waiters) {
            woken.extend(self.waiters.get(key).serve(Outcome::Done));
        }
        woken
    }

    fn leave(&mut self, key: usize) -> Waiter<H, (), W> {
        self.queue.leave(&mut self.waiters, key)
    }
}

impl<H: Host, W: Waker> Default for State<H, W> {
    fn default() -> Self {
        Self::new()
    }
}

/// Where tasks wait for a change.
pub struct Cond<H: Host, W: Waker + Send + 'static> {
    state: H::Lock<State<H, W>>,
}

impl<H: Host, W: Waker + Send + 'static> Cond<H, W> {
    /// Nobody waits.
    pub fn new() -> Self {
        Cond { state: H::Lock::new(State::new()) }
    }

    /// The same, of a lock that is made already.
    pub const fn from_lock(state: H::Lock<State<H, W>>) -> Self {
        Cond { state }
    }

    /// Wakes the one that has waited longest, if anybody waits.
    pub fn notify_one(&self) {
        let woken = self.state.with(State::serve_one);
        wake(woken);
    }

    /// Wakes all that wait now.
    pub fn notify_all(&self) {
        let woken = self.state.with(State::serve_all);
        wake(woken);
    }

    /// A place to wait in, where nobody waits yet.
    pub const fn place(&self) -> Place<'_, H, W> {
        Place { cond: self, waiter: None, owes: false }
    }
}

impl<H: Host, W: Waker + Send + 'static> Default for Cond<H, W> {
    fn default() -> Self {
        Self::new()
    }
}

/// Where one waits. Dropped, it is given back, and a notification with it.
pub struct Place<'a, H: Host, W: Waker + Send + 'static> {
    cond: &'a Cond<H, W>,
    waiter: Option<usize>,
    /// It was notified, and nobody else.
    owes: bool,
}

/// What becomes of one that is polled.
enum Polled<W> {
    Waits(Option<W>),
    NeedsCopy,
    Over { owes: bool },
}

impl<H: Host, W: Waker + Send + 'static> Place<'_, H, W> {
    /// Waits from now on. The caller holds the lock that guards what is to change, and has no waiter yet.
    pub fn enqueue(&mut self, waker: W) {
        let waiter = Waiter::new(waker, None, None);
        self.waiter = Some(self.cond.state.with(|state| state.queue.join(&mut state.waiters, waiter)));
    }

    /// Was it notified? If not it waits on, by the lender's waker.
    pub fn poll(&mut self, lender: &mut impl Lender<Waker = W>) -> Poll<()> {
        let Some(key) = self.waiter else { return Poll::Ready(()) };
        loop {
            match self.cond.state.with(|state| Self::look(state, key, lender)) {
                Polled::Waits(old) => {
                    forget(old);
                    return Poll::Pending;
                }
                Polled::NeedsCopy => lender.prepare(),
                Polled::Over { owes } => {
                    (self.waiter, self.owes) = (None, owes);
                    return Poll::Ready(());
                }
            }
        }
    }

    fn look(state: &mut State<H, W>, key: usize, lender: &mut impl Lender<Waker = W>) -> Polled<W> {
        match state.waiters.renew(key, lender) {
            Renewed::Waits(old) => Polled::Waits(old),
            Renewed::NeedsCopy => Polled::NeedsCopy,
            Renewed::Served => Polled::Over { owes: state.leave(key).value.is_some() },
        }
    }

    /// The notification was not in vain: who waited goes on.
    pub fn goes_on(&mut self) {
        self.owes = false;
    }
}

impl<H: Host, W: Waker + Send + 'static> Drop for Place<'_, H, W> {
    fn drop(&mut self) {
        let waiter = self.waiter.map(|key| self.cond.state.with(|state| state.leave(key)));
        let owes = self.owes || waiter.as_ref().is_some_and(|waiter| waiter.value.is_some());
        forget(waiter.and_then(|waiter| waiter.waker));
        if owes {
            self.cond.notify_one();
        }
    }
}
