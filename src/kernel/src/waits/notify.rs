//! Telling one task, or all that wait, that something has happened. tokio: `sync::Notify`.
//!
//! **A notification for one ends one wait, of now or, kept as the one permit, of later; one for all ends each wait that was created
//! before it, and no other. One that was chosen and is dropped passes its notification on.**
//!
//! | a task that waits                                         | a task that notifies                                  |
//! |-----------------------------------------------------------|-------------------------------------------------------|
//! | created: remembers how often all were notified            | for one, under the lock: serves the first that waits, |
//! | under one lock: were all notified since? is there a permit? takes it; if not, enqueues its waiter | or leaves a permit |
//! | sleeps, until it is woken                                 | for all, under the lock: counts, serves all           |
//! | or, dropped after it was served alone: under the lock notifies one, as if anew | unlocks; wakes                   |
//!
//! A wait that all notifications of a moment concern is decided under one lock: never does one call end two waits of which the second
//! was created after the first had ended (tokio-rs/tokio #5396), nor does one that was served with all touch the permit when it is
//! dropped (#3652).
//!
//! Checked by: verification/rooms/src/rooms/notify.rs

use crate::host::{Host, Lock};
use crate::waits::wait_list::{Place, Served, WaitList};
use crate::waits::waker::{Lender, Waker, wake};
use alloc::vec::Vec;
use core::task::Poll;

/// What a `Notify` is under its lock.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::{notify::State, wait_list::Served, waker::wake};
/// let (mut state, task) = (State::<Os, Task>::new(), Task::default());
/// assert!(state.notify_one().is_none()); // no task waits: leaves a permit
/// assert!(state.is_over(0, Served::No) && !state.is_over(0, Served::No)); // which is taken once
/// state.list().enqueue(Some(task.clone()));
/// wake(state.notify_waiters());
/// assert_eq!((task.wakes(), state.rounds()), (1, 1));
/// # }
/// ```
pub struct State<H: Host, W> {
    has_permit: bool,
    /// How often all were notified.
    rounds: u64,
    list: WaitList<H, W>,
}

impl<H: Host, W: Waker> State<H, W> {
    /// No task waits, and nothing has happened.
    pub const fn new() -> Self {
        State { has_permit: false, rounds: 0, list: WaitList::new() }
    }

    /// How often all were notified.
    pub const fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Serves the one that has waited longest, or leaves a permit.
    pub fn notify_one(&mut self) -> Option<W> {
        let served = self.list.serve_one();
        self.has_permit |= served.is_none();
        served.flatten()
    }

    /// Serves all.
    pub fn notify_waiters(&mut self) -> Vec<W> {
        self.rounds += 1;
        self.list.serve_all()
    }

    /// Those that wait.
    pub const fn list(&mut self) -> &mut WaitList<H, W> {
        &mut self.list
    }

    /// Is a wait over that was created in this round? Takes the permit, if it needs it.
    pub fn is_over(&mut self, round: u64, served: Served) -> bool {
        served != Served::No || self.rounds != round || core::mem::take(&mut self.has_permit)
    }
}

impl<H: Host, W: Waker> Default for State<H, W> {
    fn default() -> Self {
        Self::new()
    }
}

/// Where tasks wait to be notified.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::notify::{Notify, State};
/// let (notify, mut task) = (Notify::<Os, Task>::new(), Task::default());
/// let mut wait = notify.notified();
/// assert!(wait.poll(&mut task).is_pending());
/// notify.notify_one();
/// assert_eq!((task.wakes(), wait.poll(&mut task)), (1, Poll::Ready(())));
/// let mut created = notify.notified();
/// notify.notify_waiters(); // each wait that was created before
/// assert!(created.poll(&mut task).is_ready() && notify.notified().poll(&mut task).is_pending());
/// assert_eq!(Notify::<Os, Task>::from_lock(OsLock::new(State::new())).with(|state| state.rounds()), 0);
/// # }
/// ```
pub struct Notify<H: Host, W: Waker + Send + 'static> {
    state: H::Lock<State<H, W>>,
}

impl<H: Host, W: Waker + Send + 'static> Notify<H, W> {
    /// No task waits, and nothing has happened.
    pub fn new() -> Self {
        Notify { state: H::Lock::new(State::new()) }
    }

    /// The same, of a lock that is made already.
    pub const fn from_lock(state: H::Lock<State<H, W>>) -> Self {
        Notify { state }
    }

    /// Under the lock.
    pub fn with<R>(&self, f: impl FnOnce(&mut State<H, W>) -> R) -> R {
        self.state.with(f)
    }

    /// Ends the wait of the task that has waited longest; if none waits, the next that does. Two such permits are one.
    pub fn notify_one(&self) {
        let woken = self.with(State::notify_one);
        wake(woken);
    }

    /// Ends all waits that are created already. Leaves no permit.
    pub fn notify_waiters(&self) {
        let woken = self.with(State::notify_waiters);
        wake(woken);
    }

    /// A wait, from now on as far as all are notified; from its first poll on as far as one is.
    pub fn notified(&self) -> Notified<'_, H, W> {
        Notified { notify: self, round: self.with(|state| state.rounds()), place: Place::new(), is_over: false }
    }

    /// A wait that was [put away](Notified::put_away) here: it goes on, or is dropped.
    pub fn resumed(&self, PutAway { round, place, is_over }: PutAway) -> Notified<'_, H, W> {
        Notified { notify: self, round, place, is_over }
    }
}

impl<H: Host, W: Waker + Send + 'static> Default for Notify<H, W> {
    fn default() -> Self {
        Self::new()
    }
}

/// A wait without its [`Notify`].
pub struct PutAway {
    round: u64,
    place: Place,
    is_over: bool,
}

/// A wait. Dropped after it was chosen, and before it was polled again, it notifies the next.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::notify::Notify;
/// let (notify, mut task) = (Notify::<Os, Task>::new(), Task::default());
/// let mut wait = notify.notified();
/// assert!(!wait.enable()); // it waits from now on
/// let put_away = wait.put_away(); // without its borrow of `notify`
/// notify.notify_one();
/// assert!(notify.resumed(put_away).poll(&mut task).is_ready());
/// # }
/// ```
pub struct Notified<'a, H: Host, W: Waker + Send + 'static> {
    notify: &'a Notify<H, W>,
    /// How often all were notified when it was created.
    round: u64,
    place: Place,
    is_over: bool,
}

impl<H: Host, W: Waker + Send + 'static> Notified<'_, H, W> {
    /// What is left of it without the borrow. It is to be [resumed](Notify::resumed) there: to go on, or to be dropped.
    #[must_use = "it may hold its place in the queue"]
    pub fn put_away(mut self) -> PutAway {
        PutAway { round: self.round, place: core::mem::replace(&mut self.place, Place::new()), is_over: self.is_over }
    }

    /// Is it over? If not it waits, by the lender's waker. Over once, it stays so.
    pub fn poll(&mut self, lender: &mut impl Lender<Waker = W>) -> Poll<()> {
        if self.is_over {
            return Poll::Ready(());
        }
        let round = self.round;
        let look = |state: &mut State<H, W>, served| state.is_over(round, served).then_some(());
        let polled = self.place.poll(&self.notify.state, State::list, lender, look);
        self.is_over = polled.is_ready();
        polled
    }

    /// Waits from now on, though it was not polled. Is it over?
    pub fn enable(&mut self) -> bool {
        if !self.is_over {
            let round = self.round;
            let look = |state: &mut State<H, W>, served| state.is_over(round, served).then_some(());
            self.is_over = self.place.enable(&self.notify.state, State::list, look).is_some();
        }
        self.is_over
    }
}

impl<H: Host, W: Waker + Send + 'static> Drop for Notified<'_, H, W> {
    fn drop(&mut self) {
        let pass_on = |state: &mut State<H, W>, served| match served {
            Served::Alone => state.notify_one(),
            Served::No | Served::WithAll => None,
        };
        self.place.leave(&self.notify.state, State::list, pass_on);
    }
}
