//! Tasks that are joined in the order in which they end. Go: a channel on which each goroutine sends its result.
//!
//! **Each task that ends is given to the joiner once, after all that it did; a joiner that sleeps is woken by the next
//! that ends.**
//!
//! | the joiner | a task that ends |
//! |------------|------------------|
//! | under one lock: takes the oldest that has ended; if there is none, leaves its waker | under one lock: puts its number at the end, takes the joiner's waker |
//! | sleeps, until it is woken; looks again | unlocks; wakes the joiner |
//!
//! A number is used again. So a joiner that lets all tasks go without joining them begins a new list: a task of before
//! that ends later puts its number into the list that it was begun with, which is not read.
//!
//! Checked by: verification/rooms/src/rooms/join_set.rs

use crate::host::{Host, Lock};
use crate::waits::waker::{Lender, Waker, forget, wake};
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use core::marker::PhantomData;
use core::task::Poll;
use slab::Slab;

/// What a list is under its lock.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::{join_set::Ended, waker::wake};
/// let (ended, task) = (Ended::<Os, Task>::new(), Task::default());
/// let joiner = ended.with(|state| {
///     assert!(state.leave_waker(task.clone()).is_none());
///     state.put(3);
///     state.take_joiner()
/// });
/// wake(joiner); // outside of the lock
/// assert_eq!((task.wakes(), ended.with(|state| state.take())), (1, Some(3)));
/// # }
/// ```
pub struct State<W> {
    ended: VecDeque<usize>,
    joiner: Option<W>,
}

impl<W> State<W> {
    const fn new() -> Self {
        State { ended: VecDeque::new(), joiner: None }
    }

    /// The task of this number has ended.
    pub fn put(&mut self, number: usize) {
        self.ended.push_back(number);
    }

    /// The joiner that sleeps, to be woken as soon as the lock is free.
    pub fn take_joiner(&mut self) -> Option<W> {
        self.joiner.take()
    }

    /// The oldest that has ended.
    pub fn take(&mut self) -> Option<usize> {
        self.ended.pop_front()
    }

    /// From now on this one is woken; the one before is to be dropped as soon as the lock is free.
    pub fn leave_waker(&mut self, waker: W) -> Option<W> {
        self.joiner.replace(waker)
    }
}

/// The tasks that have ended and were not joined, in the order of ending.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::join_set::Ended;
/// let (ended, mut task) = (Ended::<Os, Task>::new(), Task::default());
/// assert!(ended.poll(&mut task).is_pending());
/// ended.put(3); // task 3 has ended
/// assert_eq!((task.wakes(), ended.poll(&mut task)), (1, Poll::Ready(3)));
/// assert!(ended.with(|state| state.take()).is_none());
/// # }
/// ```
pub struct Ended<H: Host, W: Waker + Send + 'static> {
    state: H::Lock<State<W>>,
    host: PhantomData<fn() -> H>,
}

impl<H: Host, W: Waker + Send + 'static> Ended<H, W> {
    /// None yet.
    pub fn new() -> Self {
        Ended { state: H::Lock::new(State::new()), host: PhantomData }
    }

    /// Under the lock.
    pub fn with<R>(&self, f: impl FnOnce(&mut State<W>) -> R) -> R {
        self.state.with(f)
    }

    /// The task of this number has ended. Once for each.
    pub fn put(&self, number: usize) {
        let joiner = self.with(|state| {
            state.put(number);
            state.take_joiner()
        });
        wake(joiner);
    }

    /// The oldest that has ended. If there is none, the caller is woken by the next that ends.
    pub fn poll(&self, lender: &mut impl Lender<Waker = W>) -> Poll<usize> {
        loop {
            match self.with(|state| Self::take_or_wait(state, lender)) {
                Tried::Took(number) => return Poll::Ready(number),
                Tried::Waits(old) => {
                    forget(old);
                    return Poll::Pending;
                }
                Tried::NeedsCopy => lender.prepare(),
            }
        }
    }

    /// Under one lock: a task that ends is taken, or finds the waker.
    fn take_or_wait(state: &mut State<W>, lender: &mut impl Lender<Waker = W>) -> Tried<W> {
        if let Some(number) = state.take() {
            return Tried::Took(number);
        }
        if state.joiner.as_ref().is_some_and(|waker| lender.is_same(waker)) {
            return Tried::Waits(None);
        }
        lender.lend().map_or(Tried::NeedsCopy, |waker| Tried::Waits(state.leave_waker(waker)))
    }
}

impl<H: Host, W: Waker + Send + 'static> Default for Ended<H, W> {
    fn default() -> Self {
        Self::new()
    }
}

impl<H: Host, W: Waker + Send + 'static> Drop for Ended<H, W> {
    fn drop(&mut self) {
        let joiner = self.with(State::take_joiner);
        forget(joiner);
    }
}

/// What became of a try.
enum Tried<W> {
    Took(usize),
    Waits(Option<W>),
    NeedsCopy,
}

/// The tasks of a set, of which each is a `T`, and those that have ended. One thread at a time has it.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::join_set::JoinSet;
/// let (mut set, mut task) = (JoinSet::<Os, Task, &str>::new(), Task::default());
/// set.insert(|ended, number| {
///     ended.put(number); // ends at once
///     "first"
/// });
/// set.insert(|_, _| "second");
/// assert_eq!(set.tasks().collect::<Vec<_>>(), [&"first", &"second"]);
/// assert_eq!(set.poll_next(&mut task), Poll::Ready(Some("first")));
/// assert_eq!((set.try_next(), set.len()), (None, 1)); // the other has not ended
/// assert_eq!(set.let_all_go().collect::<Vec<_>>(), ["second"]);
/// assert!(set.is_empty() && set.take_tasks().next().is_none());
/// # }
/// ```
pub struct JoinSet<H: Host, W: Waker + Send + 'static, T> {
    tasks: Slab<T>,
    ended: Arc<Ended<H, W>>,
}

impl<H: Host, W: Waker + Send + 'static, T> JoinSet<H, W, T> {
    /// No task.
    pub fn new() -> Self {
        JoinSet { tasks: Slab::new(), ended: Arc::new(Ended::new()) }
    }

    /// How many were not joined yet.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Is none left to be joined?
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// One more. `begin` is told the list and the number to be put there when the task ends.
    pub fn insert(&mut self, begin: impl FnOnce(&Arc<Ended<H, W>>, usize) -> T) {
        let place = self.tasks.vacant_entry();
        let task = begin(&self.ended, place.key());
        place.insert(task);
    }

    /// The tasks.
    pub fn tasks(&self) -> impl Iterator<Item = &T> {
        self.tasks.iter().map(|(_, task)| task)
    }

    /// The list of those that have ended.
    pub fn ended(&self) -> &Ended<H, W> {
        &self.ended
    }

    /// The oldest that has ended. `None`: there is no task. If none has ended yet, the caller is woken by the next that does.
    pub fn poll_next(&mut self, lender: &mut impl Lender<Waker = W>) -> Poll<Option<T>> {
        match self.is_empty() {
            true => Poll::Ready(None),
            false => self.ended.poll(lender).map(|number| self.tasks.try_remove(number)),
        }
    }

    /// The oldest that has ended, if there is one.
    pub fn try_next(&mut self) -> Option<T> {
        let number = self.ended.with(State::take)?;
        self.tasks.try_remove(number)
    }

    /// All tasks, of which none is to be joined any more: a joiner that waits is woken.
    pub fn let_all_go(&mut self) -> impl Iterator<Item = T> + use<H, W, T> {
        let tasks = self.take_tasks();
        // A new list: a task that ends later knows the old one only, and its number may be another's by then.
        wake(core::mem::take(&mut self.ended).with(State::take_joiner));
        tasks
    }

    /// All tasks, which put their numbers into the list that is here when they end.
    pub fn take_tasks(&mut self) -> impl Iterator<Item = T> + use<H, W, T> {
        core::mem::take(&mut self.tasks).into_iter().map(|(_, task)| task)
    }
}

impl<H: Host, W: Waker + Send + 'static, T> Default for JoinSet<H, W, T> {
    fn default() -> Self {
        Self::new()
    }
}
