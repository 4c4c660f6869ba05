//! Memory that is not atomic: two accesses of which neither comes before the other are a race.

use crate::host::{Moment, RoomHost};
use std::marker::PhantomData;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a mutex guards, though a thread may have panicked that held it.
pub(crate) fn of<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something that a thread has done, between two events of its.
pub struct Done<H: RoomHost> {
    thread: usize,
    at: Moment,
    host: PhantomData<fn() -> H>,
}

impl<H: RoomHost> Done<H> {
    /// By the calling thread, now.
    pub fn now() -> Self {
        Done { thread: H::me(), at: H::moment(), host: PhantomData }
    }

    /// Does it come before what the calling thread does now?
    pub fn is_seen(&self) -> bool {
        self.thread == H::me() || self.at.is_past(&H::moment())
    }
}

/// A value that is used by one thread at a time.
pub struct Plain<H: RoomHost, T>(Mutex<Used<H, T>>);

/// The value, and the last uses of each thread: did they write?
struct Used<H: RoomHost, T> {
    value: T,
    by: Vec<(Done<H>, bool)>,
}

impl<H: RoomHost, T> Plain<H, T> {
    /// One that holds `value`.
    pub fn new(value: T) -> Self {
        Plain(Mutex::new(Used { value, by: Vec::new() }))
    }

    /// Reads it.
    pub fn read<R>(&self, f: impl FnOnce(&T) -> R) -> R {
        f(&self.access(false).value)
    }

    /// Writes it.
    pub fn write<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.access(true).value)
    }

    fn access(&self, writes: bool) -> MutexGuard<'_, Used<H, T>> {
        let mut used = of(&self.0);
        // An execution that is cut off unwinds its threads.
        if !std::thread::panicking() {
            let races = |(other, wrote): &(Done<H>, bool)| (writes || *wrote) && !other.is_seen();
            let (race, now) = (used.by.iter().any(races), Done::now());
            used.by.retain(|(other, wrote)| other.thread != now.thread || *wrote != writes);
            used.by.push((now, writes));
            assert!(!race, "plain memory is used by two threads, and neither comes before the other");
        }
        used
    }
}
