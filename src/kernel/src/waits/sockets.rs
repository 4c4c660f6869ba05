//! Which sockets a poller knows, by key: registered, looked up for a report, forgotten; and the end of all. Go: `pollDesc`,
//! `pollCache`, in which `fdseq` tells a report of a socket that is gone.
//!
//! **After the close no task waits, whenever a socket was registered; and each that waited is counted down once, by the thread that took its
//! waker.** The waiters of one socket are [`readiness`](crate::waits::readiness)'s; here are all of them, and one lock.
//!
//! | a task that registers a socket, and waits for it               | the thread that closes, in [`close`](Sockets::close)          |
//! |----------------------------------------------------------------|----------------------------------------------------------------|
//! | 1. under the table's lock: closed? refused. Else it has a key  | 1. under the table's lock: closed; copies all entries          |
//! | 2. the system knows it by that key, the entry knows its source | 2. under each entry's lock: closed; takes those that wait      |
//! | 3. waits, under the entry's lock: closed? refused              | 3. wakes them, then counts down                                |
//!
//! The thread that comes to the table's lock second sees what the other did: a socket is refused, or its entry is copied; then the one that
//! comes to the entry's second: a waiter is refused, or woken.
//!
//! | an M that polls, in [`get`](Sockets::get)                      | a task that forgets, in [`forget`](Sockets::forget)           |
//! |----------------------------------------------------------------|----------------------------------------------------------------|
//! | 1. has a report of a key                                       | 1. under the table's lock: the key is free                     |
//! | 2. under the table's lock: copies the entry that has it, if any | 2. under the entry's lock: takes those that wait; the source goes |
//! | 3. under the entry's lock: takes those that wait for the report | 3. drops the wakers, then counts down                         |
//!
//! **A report for a key that is gone, or another's by now, does no harm.** A key is free before the system has forgotten its socket: a
//! report that is on its way meets no socket, or the next socket of that key, whose tasks try once for nothing. A holder of an entry that
//! was forgotten meanwhile finds no waiter in it, and no source to arm. Each list is emptied under the lock of its entry, so what
//! one of the three takes the others do not find.
//!
//! Checked by: verification/rooms/src/rooms/sockets.rs

use crate::host::{Host, Lock};
use crate::waits::readiness::{Entry, Source, Waiting};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Deref;
use slab::Slab;

/// The sockets of one poller, and how many wait for them. `W` is what wakes a task.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::sockets::Sockets;
/// let sockets = Sockets::<Os, Socket, Task>::new();
/// let entry = sockets.register(true, |_key| Ok(Socket), |_| Ok(())).ok().expect("the system takes it");
/// assert!(sockets.get(entry.key()).is_some());
/// assert_eq!(sockets.waiting().count(), 0);
/// assert_eq!(sockets.with(|table| table.entries().len()), 1);
/// assert!(!sockets.forget(&entry, drop)); // no task waited
/// let other = sockets.register(true, |_| Ok(Socket), |_| Ok(())).ok().expect("the system takes it");
/// sockets.remove(&other); // its key is free
/// assert!(sockets.is_empty());
/// assert!(!sockets.close(drop)); // no task waited
/// assert!(sockets.register(true, |_| Ok(Socket), |_| Ok(())).is_err());
/// # }
/// ```
pub struct Sockets<H: Host, S: Source, W: Send + 'static> {
    table: H::Lock<Table<H, S, W>>,
    waiting: Waiting<H>,
}

/// An entry, and the key that the system reports it by.
///
/// ```
/// use spinpark_kernel::{host::Host, waits::{readiness::Source, sockets::{Keyed, Sockets}}};
/// use std::sync::Arc;
/// fn reported<H: Host, S: Source, W: Send + 'static>(sockets: &Sockets<H, S, W>, entry: &Keyed<H, S, W>) {
///     let found: Option<Arc<Keyed<H, S, W>>> = sockets.get(entry.key()); // by the key that the system reports
///     assert!(found.is_some_and(|found| found.key() == entry.key()));
/// }
/// ```
pub struct Keyed<H: Host, S: Source, W: Send + 'static> {
    key: usize,
    entry: Entry<H, S, W>,
}

impl<H: Host, S: Source, W: Send + 'static> Keyed<H, S, W> {
    /// By which the system reports it. Another's, once it is [forgotten](Sockets::forget).
    pub fn key(&self) -> usize {
        self.key
    }
}

impl<H: Host, S: Source, W: Send + 'static> Deref for Keyed<H, S, W> {
    type Target = Entry<H, S, W>;

    fn deref(&self) -> &Self::Target {
        &self.entry
    }
}

/// What becomes of a socket that is to be known, if `E` is what the system would say.
pub type KeyedResult<H, S, W, E> = Result<Arc<Keyed<H, S, W>>, NotRegistered<E>>;

/// Why a socket is not known to the poller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotRegistered<E> {
    /// No task waits any more.
    Closed,
    /// The system would not.
    System(E),
}

/// What is under the lock.
///
/// ```
/// use spinpark_kernel::{host::Host, waits::{readiness::Source, sockets::Sockets}};
/// fn close<H: Host, S: Source, W: Send + 'static>(sockets: &Sockets<H, S, W>) -> usize {
///     sockets.with(|table| {
///         let before = table.entries().len();
///         assert!(table.insert(true).is_some());
///         table.close();
///         assert!(table.insert(true).is_none());
///         before
///     })
/// }
/// ```
pub struct Table<H: Host, S: Source, W: Send + 'static> {
    entries: Slab<Arc<Keyed<H, S, W>>>,
    is_closed: bool,
}

impl<H: Host, S: Source, W: Send + 'static> Table<H, S, W> {
    /// An entry for one more socket, with a key that no other has. `None`: the table is closed.
    pub fn insert(&mut self, is_armed_each_time: bool) -> Option<Arc<Keyed<H, S, W>>> {
        if self.is_closed {
            return None;
        }
        let place = self.entries.vacant_entry();
        let entry = Arc::new(Keyed { key: place.key(), entry: Entry::new(is_armed_each_time) });
        Some(Arc::clone(place.insert(entry)))
    }

    /// From now on none is registered.
    pub fn close(&mut self) {
        self.is_closed = true;
    }

    /// All that there are.
    pub fn entries(&self) -> Vec<Arc<Keyed<H, S, W>>> {
        self.entries.iter().map(|(_, entry)| Arc::clone(entry)).collect()
    }
}

impl<H: Host, S: Source, W: Send + 'static> Sockets<H, S, W> {
    /// None, and no task waits.
    #[track_caller]
    pub fn new() -> Self {
        Sockets { table: H::Lock::new(Table { entries: Slab::new(), is_closed: false }), waiting: Waiting::new() }
    }

    /// How many wait. Each waker that is added to an entry, or taken out, is counted here.
    pub fn waiting(&self) -> &Waiting<H> {
        &self.waiting
    }

    /// Under the lock.
    pub fn with<R>(&self, f: impl FnOnce(&mut Table<H, S, W>) -> R) -> R {
        self.table.with(f)
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.with(|table| table.entries.is_empty())
    }

    /// The entry that has this key. A report may be of a socket that had it before.
    pub fn get(&self, key: usize) -> Option<Arc<Keyed<H, S, W>>> {
        self.with(|table| table.entries.get(key).cloned())
    }

    /// Makes a socket known: `add` tells the system, by a key; `start` has it report, when the polling thread finds the entry.
    ///
    /// # Errors
    /// [`NotRegistered`]: it is closed, or `add` or `start` failed. The key is free then.
    pub fn register(
        &self,
        is_armed_each_time: bool,
        add: impl FnOnce(usize) -> Result<S, S::Error>,
        start: impl FnOnce(&S) -> Result<(), S::Error>,
    ) -> KeyedResult<H, S, W, S::Error> {
        let entry = self.with(|table| table.insert(is_armed_each_time)).ok_or(NotRegistered::Closed)?;
        let opened = add(entry.key).and_then(|source| {
            entry.open(source);
            entry.with_source(start).unwrap_or(Ok(()))
        });
        match opened {
            Ok(()) => Ok(entry),
            Err(error) => {
                self.remove(&entry);
                Err(NotRegistered::System(error))
            }
        }
    }

    /// The key of this entry is free now. Once for each.
    ///
    /// # Panics
    /// If it was free.
    pub fn remove(&self, entry: &Keyed<H, S, W>) {
        drop(self.with(|table| table.entries.remove(entry.key))); // not under the lock
    }

    /// Forgets a socket, and the tasks that waited for it, whose wakers `drop` gets, without a lock. `true`: they were the last
    /// that waited for any.
    pub fn forget(&self, entry: &Keyed<H, S, W>, drop: impl FnMut(W)) -> bool {
        self.remove(entry);
        let mut wakers = Vec::new();
        entry.forget(&mut wakers);
        self.give_up(wakers, drop)
    }

    /// No task waits any more. `wake` gets the wakers of those that did, without a lock. `true`: there were any.
    pub fn close(&self, wake: impl FnMut(W)) -> bool {
        let entries = self.with(|table| {
            table.close();
            table.entries()
        });
        let mut wakers = Vec::new();
        entries.iter().for_each(|entry| entry.close(&mut wakers));
        self.give_up(wakers, wake)
    }

    /// These wait no more.
    fn give_up(&self, wakers: Vec<W>, end: impl FnMut(W)) -> bool {
        let gone = wakers.len() as u64;
        wakers.into_iter().for_each(end);
        self.waiting.gave_up(gone)
    }
}

impl<H: Host, S: Source, W: Send + 'static> Default for Sockets<H, S, W> {
    fn default() -> Self {
        Self::new()
    }
}
