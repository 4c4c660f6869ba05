//! Tasks that wait for the same thing and are handed nothing but the news: what groups, condition variables,
//! `Notify`, watched values, broadcasts and barriers have in common.
//!
//! **A task looks and waits under one lock, so it finds what it waits for, or is found by the thread that brings that about;
//! it is served once, in FIFO order, and by the waker of its last poll.**
//!
//! | a task that waits, in [`poll`](Place::poll)      | a thread that brings it about                  |
//! |--------------------------------------------------|------------------------------------------------|
//! | under one lock: looks, and enqueues its waiter   | under the same lock: changes the state, serves |
//! | sleeps, until it is woken                        | unlocks; wakes                                 |
//! | or, dropped: gives its waiter back               |                                                |
//!
//! Checked by: verification/rooms/src/rooms/{barrier,broadcast,cond,notify,wait_group,watch}.rs

use crate::host::{Host, Lock};
use crate::waits::queue::{Outcome, Renewed, WaitQueue, Waiter, Waiters};
use crate::waits::waker::{Lender, Waker, forget, wake};
use alloc::vec::Vec;
use core::task::Poll;

/// Those that wait.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::{wait_list::WaitList, waker::wake};
/// let (first, second) = (Task::default(), Task::default());
/// let mut list = WaitList::<Os, Task>::new();
/// list.enqueue(Some(first.clone()));
/// list.enqueue(Some(second.clone()));
/// wake(list.serve_one().flatten());
/// assert_eq!((first.wakes(), second.wakes()), (1, 0)); // in FIFO order
/// wake(list.serve_all());
/// assert_eq!(second.wakes(), 1);
/// # }
/// ```
pub struct WaitList<H: Host, W> {
    /// A value in a waiter: it was served alone.
    waiters: Waiters<H, (), W>,
    queue: WaitQueue,
}

/// How a waiter was served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// Not yet.
    No,
    /// By what wakes one.
    Alone,
    /// With all that waited.
    WithAll,
}

impl<H: Host, W: Waker> WaitList<H, W> {
    /// No task waits.
    pub const fn new() -> Self {
        WaitList { waiters: Waiters::new(), queue: WaitQueue::new() }
    }

    /// One more waits, by this waker; or by that of its first poll, which is yet to come.
    pub fn enqueue(&mut self, waker: Option<W>) -> usize {
        self.queue.join(&mut self.waiters, Waiter::of(waker))
    }

    /// Serves the one that has waited longest. `None`: no task waits. Its waker is to be woken as soon as the lock is free.
    pub fn serve_one(&mut self) -> Option<Option<W>> {
        let key = self.queue.next(&mut self.waiters)?;
        let waiter = self.waiters.get(key);
        waiter.value = Some(());
        Some(waiter.serve(Outcome::Done))
    }

    /// Serves all that wait. Their wakers are to be woken as soon as the lock is free.
    pub fn serve_all(&mut self) -> Vec<W> {
        let mut woken = Vec::new();
        while let Some(key) = self.queue.next(&mut self.waiters) {
            woken.extend(self.waiters.get(key).serve(Outcome::Done));
        }
        woken
    }

    fn served(&mut self, key: usize) -> Served {
        let waiter = self.waiters.get(key);
        match (waiter.outcome, waiter.value) {
            (None, _) => Served::No,
            (Some(_), Some(())) => Served::Alone,
            (Some(_), None) => Served::WithAll,
        }
    }

    /// Gives a waiter back: its waker, if it was not served.
    fn leave(&mut self, key: usize) -> Option<W> {
        self.queue.leave(&mut self.waiters, key).waker
    }
}

impl<H: Host, W: Waker> Default for WaitList<H, W> {
    fn default() -> Self {
        Self::new()
    }
}

/// Which list of a state a task waits in.
pub type ListOf<S, H, W> = fn(&mut S) -> &mut WaitList<H, W>;

/// Where one task waits, if it does. Its owner [leaves](Place::leave) before it is dropped.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::{wait_list::{Place, Served, WaitList}, waker::wake};
/// type List = WaitList<Os, Task>;
/// fn itself(list: &mut List) -> &mut List { list }
/// let look = |_: &mut List, served| (served != Served::No).then_some(());
///
/// let (lock, mut task, mut place) = (OsLock::new(List::new()), Task::default(), Place::new());
/// assert!(place.poll(&lock, itself, &mut task, look).is_pending());
/// wake(lock.with(List::serve_one).flatten());
/// assert_eq!(task.wakes(), 1);
/// assert!(place.poll(&lock, itself, &mut task, look).is_ready());
///
/// place.enqueue(&lock, itself, task.clone()); // it waits anew, and gives up
/// place.leave(&lock, itself, |_, served| { assert_eq!(served, Served::No); None });
///
/// assert_eq!(place.enable(&lock, itself, look), None); // it waits before its first poll
/// lock.with(List::serve_all);
/// assert!(place.poll(&lock, itself, &mut task, look).is_ready());
/// # }
/// ```
#[derive(Default)]
pub struct Place(Option<usize>);

/// What becomes of one that is polled.
enum Polled<R, W> {
    Over(R, Option<W>),
    Waits(usize, Option<W>),
    NeedsCopy,
}

impl Place {
    /// It waits nowhere.
    pub const fn new() -> Self {
        Place(None)
    }

    /// Does it wait, or was it served and has not looked?
    pub const fn is_taken(&self) -> bool {
        self.0.is_some()
    }

    /// Is it over? `look` is asked under the lock, and told how the task was served; it changes nothing unless it answers, and it
    /// does if the task was served. If it does not answer, the task waits, by the lender's waker.
    pub fn poll<H: Host, W: Waker, S, R>(
        &mut self,
        lock: &impl Lock<S>,
        list: ListOf<S, H, W>,
        lender: &mut impl Lender<Waker = W>,
        mut look: impl FnMut(&mut S, Served) -> Option<R>,
    ) -> Poll<R> {
        loop {
            let place = self.0;
            match lock.with(|state| step(state, place, list, lender, &mut look)) {
                Polled::Over(result, waker) => {
                    self.0 = None;
                    forget(waker);
                    return Poll::Ready(result);
                }
                Polled::Waits(key, old) => {
                    self.0 = Some(key);
                    forget(old);
                    return Poll::Pending;
                }
                Polled::NeedsCopy => lender.prepare(),
            }
        }
    }

    /// Waits from now on, by this waker; it does not yet.
    pub fn enqueue<H: Host, W: Waker, S>(&mut self, lock: &impl Lock<S>, list: ListOf<S, H, W>, waker: W) {
        self.0 = Some(lock.with(|state| list(state).enqueue(Some(waker))));
    }

    /// Waits from now on, if `look` does not answer: before the first poll, so without a waker. Once.
    pub fn enable<H: Host, W: Waker, S, R>(
        &mut self,
        lock: &impl Lock<S>,
        list: ListOf<S, H, W>,
        look: impl FnOnce(&mut S, Served) -> Option<R>,
    ) -> Option<R> {
        let place = self.0;
        let (found, key, waker) = lock.with(|state| {
            let served = place.map_or(Served::No, |key| list(state).served(key));
            match (look(state, served), place) {
                (Some(result), Some(key)) => (Some(result), None, list(state).leave(key)),
                (Some(result), None) => (Some(result), None, None),
                (None, Some(key)) => (None, Some(key), None),
                (None, None) => (None, Some(list(state).enqueue(None)), None),
            }
        });
        self.0 = key;
        forget(waker);
        found
    }

    /// Waits no more. If it had a waiter, `then` is told under the same lock how that was served; what it returns is woken.
    pub fn leave<H: Host, W: Waker, S>(
        &mut self,
        lock: &impl Lock<S>,
        list: ListOf<S, H, W>,
        then: impl FnOnce(&mut S, Served) -> Option<W>,
    ) {
        let Some(key) = self.0.take() else { return };
        let (waker, woken) = lock.with(|state| {
            let served = list(state).served(key);
            (list(state).leave(key), then(state, served))
        });
        forget(waker);
        wake(woken);
    }
}

/// Under one lock: looks, and waits.
fn step<H: Host, W: Waker, S, R>(
    state: &mut S,
    place: Option<usize>,
    list: ListOf<S, H, W>,
    lender: &mut impl Lender<Waker = W>,
    look: &mut impl FnMut(&mut S, Served) -> Option<R>,
) -> Polled<R, W> {
    let served = place.map_or(Served::No, |key| list(state).served(key));
    if let Some(result) = look(state, served) {
        return Polled::Over(result, place.and_then(|key| list(state).leave(key)));
    }
    let list = list(state);
    let Some(key) = place else {
        return lender.lend().map_or(Polled::NeedsCopy, |waker| Polled::Waits(list.enqueue(Some(waker)), None));
    };
    match list.waiters.renew(key, lender) {
        Renewed::Waits(old) => Polled::Waits(key, old),
        Renewed::NeedsCopy => Polled::NeedsCopy,
        Renewed::Served => unreachable!("wait_list: one that was served waits on"),
    }
}
