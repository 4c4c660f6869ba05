//! Waiting until several have done. Go: `sync.WaitGroup`.
//!
//! **A waiter goes on once the count has been zero after it began to wait, and sees all that was done before.**
//!
//! | a task that waits | a task that is done |
//! |-----------|--------------|
//! | under one lock: sees a count, enqueues its waiter | under one lock: counts down; at zero serves all waiters |
//! | sleeps, until it is woken | unlocks; wakes them |
//!
//! Checked by: verification/rooms/src/rooms/wait_group.rs

use crate::host::{Host, Lock};
use crate::waits::wait_list::{Place, Served, WaitList};
use crate::waits::waker::{Lender, Waker, wake};
use alloc::vec::Vec;
use core::task::Poll;

/// What a group is under its lock.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::wait_group::{State, WaitGroup};
/// let group = WaitGroup::<Os, Task>::from_lock(OsLock::new(State::new()));
/// assert_eq!(group.with(|state| state.count()), 0);
/// # }
/// ```
pub struct State<H: Host, W> {
    count: usize,
    list: WaitList<H, W>,
}

impl<H: Host, W: Waker> State<H, W> {
    /// The count is zero.
    pub const fn new() -> Self {
        State { count: 0, list: WaitList::new() }
    }

    /// How many are waited for.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// `false`: they are more than can be counted.
    fn count_up(&mut self, n: usize) -> bool {
        let count = self.count.checked_add(n);
        self.count = count.unwrap_or(self.count);
        count.is_some()
    }

    /// `None`: it is zero.
    fn count_down(&mut self) -> Option<Vec<W>> {
        self.count = self.count.checked_sub(1)?;
        Some(if self.count == 0 { self.list.serve_all() } else { Vec::new() })
    }

    /// Those that wait.
    pub const fn list(&mut self) -> &mut WaitList<H, W> {
        &mut self.list
    }
}

impl<H: Host, W: Waker> Default for State<H, W> {
    fn default() -> Self {
        Self::new()
    }
}

/// Waits until several have done.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::wait_group::{State, WaitGroup};
/// let (group, mut task) = (WaitGroup::<Os, Task>::new(), Task::default());
/// assert!(group.add(2));
/// let mut wait = group.wait();
/// assert!(wait.poll(&mut task).is_pending());
/// assert!(group.done() && group.done());
/// assert_eq!((task.wakes(), wait.poll(&mut task)), (1, Poll::Ready(())));
/// assert!(!group.done()); // the count was zero
/// let other = WaitGroup::<Os, Task>::from_lock(OsLock::new(State::new()));
/// assert_eq!(other.with(|state| state.count()), 0);
/// # }
/// ```
pub struct WaitGroup<H: Host, W: Waker + Send + 'static> {
    state: H::Lock<State<H, W>>,
}

impl<H: Host, W: Waker + Send + 'static> WaitGroup<H, W> {
    /// Its count is zero.
    pub fn new() -> Self {
        WaitGroup { state: H::Lock::new(State::new()) }
    }

    /// The same, of a lock that is made already.
    pub const fn from_lock(state: H::Lock<State<H, W>>) -> Self {
        WaitGroup { state }
    }

    /// Under the lock.
    pub fn with<R>(&self, f: impl FnOnce(&mut State<H, W>) -> R) -> R {
        self.state.with(f)
    }

    /// `n` more are to be waited for. `false`: they are more than can be counted, and were not added.
    #[must_use = "they were not added if they are too many"]
    pub fn add(&self, n: usize) -> bool {
        self.with(|state| state.count_up(n))
    }

    /// One has done; if it was the last, all that wait go on. `false`: the count was zero.
    #[must_use = "the count may have been zero"]
    pub fn done(&self) -> bool {
        let woken = self.with(State::count_down);
        let was_counted = woken.is_some();
        wake(woken.into_iter().flatten());
        was_counted
    }

    /// Waits until the count is zero, if only for a moment.
    pub fn wait(&self) -> Wait<'_, H, W> {
        Wait { group: self, place: Place::new() }
    }
}

impl<H: Host, W: Waker + Send + 'static> Default for WaitGroup<H, W> {
    fn default() -> Self {
        Self::new()
    }
}

/// One that waits.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::wait_group::WaitGroup;
/// let (group, mut task) = (WaitGroup::<Os, Task>::new(), Task::default());
/// assert!(group.wait().poll(&mut task).is_ready()); // there is nothing to wait for
/// # }
/// ```
pub struct Wait<'a, H: Host, W: Waker + Send + 'static> {
    group: &'a WaitGroup<H, W>,
    place: Place,
}

impl<H: Host, W: Waker + Send + 'static> Wait<'_, H, W> {
    /// Is it over? If not it waits, by the lender's waker. Under one lock: the last to be done finds the waiter, or was
    /// seen.
    pub fn poll(&mut self, lender: &mut impl Lender<Waker = W>) -> Poll<()> {
        let look = |state: &mut State<H, W>, served| (served != Served::No || state.count == 0).then_some(());
        self.place.poll(&self.group.state, State::list, lender, look)
    }
}

impl<H: Host, W: Waker + Send + 'static> Drop for Wait<'_, H, W> {
    fn drop(&mut self) {
        self.place.leave(&self.group.state, State::list, |_, _| None);
    }
}
