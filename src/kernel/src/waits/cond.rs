//! Waiting for a change of what a lock guards. Go: `sync.Cond`.
//!
//! **A task that enqueues itself while it holds the lock misses no notification of a change that is made under that lock after. A
//! notification for one wakes one that goes on, if one waits.**
//!
//! | a task that waits | a task that notifies |
//! |-----------|--------------|
//! | holding the user's lock: sees the condition fail, enqueues its waiter; unlocks | holding the user's lock: makes the condition true; unlocks |
//! | sleeps, until it is woken | serves the first waiter; wakes it |
//! | locks again, looks again | |
//! | or, dropped after it was served: serves the next | |
//!
//! The user's lock is not here: a waiter holds it when it enqueues itself.
//!
//! Checked by: verification/rooms/src/rooms/cond.rs

use crate::host::{Host, Lock};
use crate::waits::wait_list::{self, Served, WaitList};
use crate::waits::waker::{Lender, Waker, wake};
use core::task::Poll;

/// What a condition variable is under its lock.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::cond::{Cond, State};
/// let cond = Cond::<Os, Task>::from_lock(OsLock::new(State::new()));
/// cond.notify_all(); // no task waits: nothing is remembered
/// # }
/// ```
pub struct State<H: Host, W> {
    list: WaitList<H, W>,
}

impl<H: Host, W: Waker> State<H, W> {
    /// No task waits.
    pub const fn new() -> Self {
        State { list: WaitList::new() }
    }

    const fn list(&mut self) -> &mut WaitList<H, W> {
        &mut self.list
    }

    /// Serves the one that has waited longest.
    fn serve_one(&mut self) -> Option<W> {
        self.list.serve_one().flatten()
    }
}

impl<H: Host, W: Waker> Default for State<H, W> {
    fn default() -> Self {
        Self::new()
    }
}

/// Where tasks wait for a change.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::cond::{Cond, State};
/// let (cond, mut task, mut other) = (Cond::<Os, Task>::new(), Task::default(), Task::default());
/// let (mut place, mut behind) = (cond.place(), cond.place());
/// place.enqueue(task.clone()); // while the lock that guards the data is held
/// behind.enqueue(other.clone());
/// cond.notify_one();
/// assert_eq!((task.wakes(), other.wakes()), (1, 0)); // the one that has waited longest
/// assert!(place.poll(&mut task).is_ready());
/// cond.notify_all();
/// assert!(behind.poll(&mut other).is_ready());
/// let _of_a_lock = Cond::<Os, Task>::from_lock(OsLock::new(State::new()));
/// # }
/// ```
pub struct Cond<H: Host, W: Waker + Send + 'static> {
    state: H::Lock<State<H, W>>,
}

impl<H: Host, W: Waker + Send + 'static> Cond<H, W> {
    /// No task waits.
    pub fn new() -> Self {
        Cond { state: H::Lock::new(State::new()) }
    }

    /// The same, of a lock that is made already.
    pub const fn from_lock(state: H::Lock<State<H, W>>) -> Self {
        Cond { state }
    }

    /// Wakes the waiter that has waited longest, if there is one.
    pub fn notify_one(&self) {
        let woken = self.state.with(State::serve_one);
        wake(woken);
    }

    /// Wakes all that wait now.
    pub fn notify_all(&self) {
        let woken = self.state.with(|state| state.list.serve_all());
        wake(woken);
    }

    /// A place to wait in, with no waiter yet.
    pub const fn place(&self) -> Place<'_, H, W> {
        Place { cond: self, place: wait_list::Place::new(), owes: false }
    }
}

impl<H: Host, W: Waker + Send + 'static> Default for Cond<H, W> {
    fn default() -> Self {
        Self::new()
    }
}

/// Where one waits. Dropped, it is given back, and a notification with it.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::cond::Cond;
/// let (cond, mut task, mut other) = (Cond::<Os, Task>::new(), Task::default(), Task::default());
/// let (mut place, mut behind) = (cond.place(), cond.place());
/// place.enqueue(task.clone());
/// behind.enqueue(other.clone());
/// cond.notify_one();
/// assert!(place.poll(&mut task).is_ready());
/// drop(place); // it has not gone on: the next is notified
/// assert_eq!(other.wakes(), 1);
/// assert!(behind.poll(&mut other).is_ready());
/// behind.goes_on(); // the notification was used
/// # }
/// ```
pub struct Place<'a, H: Host, W: Waker + Send + 'static> {
    cond: &'a Cond<H, W>,
    place: wait_list::Place,
    /// It was notified, and no other.
    owes: bool,
}

impl<H: Host, W: Waker + Send + 'static> Place<'_, H, W> {
    /// Waits from now on. The caller holds the lock that guards what is to change, and does not wait yet.
    pub fn enqueue(&mut self, waker: W) {
        self.place.enqueue(&self.cond.state, State::list, waker);
    }

    /// Was it notified? If not it waits on, by the lender's waker.
    pub fn poll(&mut self, lender: &mut impl Lender<Waker = W>) -> Poll<()> {
        if !self.place.is_taken() {
            return Poll::Ready(());
        }
        let look = |_: &mut State<H, W>, served| (served != Served::No).then_some(served);
        let polled = self.place.poll(&self.cond.state, State::list, lender, look);
        polled.map(|served| self.owes = served == Served::Alone)
    }

    /// The notification was used: its waiter goes on.
    pub fn goes_on(&mut self) {
        self.owes = false;
    }
}

impl<H: Host, W: Waker + Send + 'static> Drop for Place<'_, H, W> {
    fn drop(&mut self) {
        let pass_on = |state: &mut State<H, W>, served| match served {
            Served::Alone => state.serve_one(),
            Served::No | Served::WithAll => None,
        };
        self.place.leave(&self.cond.state, State::list, pass_on);
        if self.owes {
            self.cond.notify_one();
        }
    }
}
