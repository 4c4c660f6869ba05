//! The tasks of a runtime that have waited once and have not ended: so a shutdown finds them. tokio: `OwnedTasks`.
//!
//! **Of a runtime that is shut down each task ends once: on the M that runs it, or by the thread that shuts down; and each that never ran
//! is given back once.** A task that runs, or is queued, is in a thread's hands. One that waits is in none's: so it is listed,
//! with a waker of its own, from its first wait to its end.
//!
//! | a task's M, and a waker of the task                         | the shutdown, when the scheduler is closed: no M is left    |
//! |-------------------------------------------------------------|----------------------------------------------------------------|
//! | 1. polled for the first time, it waits: listed, and then the M lets go of it | 1. takes what is queued                        |
//! | 2. woken: queued, or, closed, left as it was                | 2. [ends](OwnedTasks::end_started) of that what is listed; what is not never ran, and is given back |
//! | 3. it has ended: no longer listed                           | 3. [ends](OwnedTasks::close_all) what is listed: a thread that is about to wake it leaves it as it was, in a few steps |
//!
//! A wake takes the scheduler's lock to queue a task: before the close, and step 1 on the right finds it; or after, and it is left to
//! step 3. No M is left when the list is looked at: nothing comes on it any more, and what comes off it is what this thread ends.
//! The rights to a task's future, which decide which thread ends it, are [`task`](crate::task)'s.
//!
//! Checked by: verification/rooms/src/rooms/owned_tasks.rs

use crate::host::{Host, Lock};
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::num::NonZeroU32;
use slab::Slab;

/// A task, as the list knows it: by a waker.
pub trait Owned: Send + 'static {
    /// Where it is in memory: that of no other task, as long as this one is listed.
    fn address(&self) -> usize;

    /// Ends it, which nothing runs any more. `false`: a thread is about to wake it; to be asked again.
    fn close(&self) -> bool;
}

/// The tasks of a runtime that have waited once, and have not ended.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::owned_tasks::{Owned, OwnedTasks};
/// struct Waiting(usize); // a waker of the task at this address
/// impl Owned for Waiting {
///     fn address(&self) -> usize { self.0 }
///     fn close(&self) -> bool { true }
/// }
/// let tasks = OwnedTasks::<Os, Waiting>::new(2);
/// let (one, _two) = (tasks.insert(0, Waiting(0x10)), tasks.insert(1, Waiting(0x20)));
/// let mut sum = 0;
/// tasks.for_each(|task| sum += task.0);
/// assert_eq!((sum, tasks.rows()), (0x30, 2));
/// let ended = tasks.remove(one, |row| assert!(row.is_empty()));
/// assert_eq!(ended.map(|task| task.0), Some(0x10));
/// assert_eq!(tasks.end_started([0x20, 0x30], |queued| *queued), [0x30]); // it never ran
/// tasks.close_all(thread::yield_now);
/// assert!(tasks.is_empty() && tasks.with(1, |row| row.is_empty()));
/// # }
/// ```
pub struct OwnedTasks<H: Host, T: Owned> {
    /// One for each P, so that they do not wait for each other.
    rows: Box<[H::Lock<Slab<T>>]>,
    host: PhantomData<fn() -> H>,
}

/// Where one is listed: its row and its number there, in one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key(NonZeroU32);

impl<H: Host, T: Owned> OwnedTasks<H, T> {
    /// None yet, on so many rows, of which there is one at least.
    pub fn new(rows: usize) -> Self {
        OwnedTasks { rows: (0..rows.max(1)).map(|_| H::Lock::new(Slab::new())).collect(), host: PhantomData }
    }

    /// One row, under its lock.
    pub fn with<R>(&self, row: usize, f: impl FnOnce(&mut Slab<T>) -> R) -> R {
        self.rows[row % self.rows.len()].with(f)
    }

    /// Of how many rows?
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// This task waits from now on, for the first time. Called by the M that has just polled it, before it lets go of it.
    ///
    /// # Panics
    /// If there are four billion tasks.
    pub fn insert(&self, row: usize, task: T) -> Key {
        let rows = self.rows.len();
        let number = self.with(row, |row| row.insert(task));
        let key = u32::try_from(number * rows + row % rows + 1).ok().and_then(NonZeroU32::new);
        Key(key.expect("there is no memory for four billion tasks"))
    }

    /// The task has ended. What was listed is the caller's to drop, without a lock; `None`: the shutdown has it. `then` gets
    /// the row that it was on, under its lock.
    pub fn remove(&self, Key(key): Key, then: impl FnOnce(&mut Slab<T>)) -> Option<T> {
        let key = key.get() as usize - 1;
        self.with(key % self.rows.len(), |row| {
            let task = row.try_remove(key / self.rows.len());
            then(row);
            task
        })
    }

    /// Looks at all, each under the lock of its row.
    pub fn for_each(&self, mut look: impl FnMut(&T)) {
        (0..self.rows()).for_each(|row| self.with(row, |row| row.iter().for_each(|(_, task)| look(task))));
    }

    /// How many wait, or have waited and run now.
    pub fn len(&self) -> usize {
        (0..self.rows()).map(|row| self.with(row, |row| row.len())).sum()
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where those are that are listed.
    pub fn addresses(&self) -> BTreeSet<usize> {
        let mut addresses = BTreeSet::new();
        self.for_each(|task| {
            addresses.insert(task.address());
        });
        addresses
    }

    /// Of the tasks that were queued when the scheduler was closed, each a `Q`, ends those that have waited once: an M has polled
    /// them, and they were woken. Dropped, a `Q` ends its task. Returns those that never ran.
    pub fn end_started<Q>(&self, queued: impl IntoIterator<Item = Q>, address: impl Fn(&Q) -> usize) -> Vec<Q> {
        let started = self.addresses();
        queued.into_iter().filter(|task| !started.contains(&address(task))).collect()
    }

    /// Ends all that are listed, here. Nothing runs them any more. Between two tries to end one that a thread is about to wake, it
    /// calls `pause`.
    pub fn close_all(&self, mut pause: impl FnMut()) {
        for row in 0..self.rows() {
            // Not under the lock: a task that ends is no longer listed.
            let tasks = self.with(row, core::mem::take);
            for (_, task) in tasks {
                while !task.close() {
                    pause();
                }
            }
        }
    }
}
