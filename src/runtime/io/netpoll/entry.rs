//! A socket that is known to a poller: which tasks wait for it.

use crate::runtime::io::netpoll::socket::{Direction, Interest};
use crate::runtime::io::netpoll::source::Source;
use crate::runtime::io::netpoll::system::Change;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64};
use core::task::Waker;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A socket, as the poller sees it.
pub(super) struct Entry {
    pub(super) key: usize,
    pub(super) next_id: AtomicU64,
    /// How often each direction was reported. Counted under the lock.
    pub(super) ticks: [AtomicU32; 2],
    pub(super) is_armed_each_time: bool,
    pub(super) state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    /// `None`: not known to the system's poller yet, or no more.
    pub(super) source: Option<Source>,
    readers: Vec<Waiter>,
    writers: Vec<Waiter>,
    /// Which directions an event will be reported for, or has been that the poller has yet to look at. Whoever is on a
    /// list is armed for.
    armed: Interest,
    pub(super) is_closed: bool,
}

pub(super) struct Waiter {
    /// `None`: from a `poll` method, so nobody will come to take it off the list.
    pub(super) id: Option<u64>,
    pub(super) waker: Waker,
}

impl Entry {
    /// A number to wait under.
    pub(super) fn next_id(&self) -> u64 {
        // Relaxed: no two are the same, and that is all.
        self.next_id.fetch_add(1, Relaxed)
    }

    /// Does anybody wait under `id`? Closed, it is an error to ask.
    pub(super) fn is_waiting(&self, direction: Direction, id: u64) -> io::Result<bool> {
        let mut state = lock(&self.state);
        if state.is_closed {
            return Err(shut_down());
        }
        Ok(state.list(direction).iter().any(|waiter| waiter.id == Some(id)))
    }

    /// How often this direction was reported. Asked before a try: a task that then would block waits for the next report, unless
    /// it came meanwhile.
    pub(super) fn ticks(&self, direction: Direction) -> u32 {
        // Relaxed: counted under the lock, and compared under it.
        self.ticks[direction as usize].load(Relaxed)
    }

    /// Could something be done in this direction now, though nothing may change any more?
    pub(super) fn is_ready(&self, direction: Direction) -> bool {
        #[cfg(target_os = "linux")]
        if !self.is_armed_each_time {
            return lock(&self.state).source.as_ref().is_some_and(|source| source.is_ready(direction));
        }
        let _ = direction;
        false // armed, it reports what is so already
    }

    /// Takes those that wait for `change`.
    pub(super) fn take_ready(&self, change: Change, wakers: &mut Vec<Waker>) -> io::Result<()> {
        let mut state = lock(&self.state);
        // Whatever it reports, all of it is disarmed.
        state.armed = Interest::default();
        for (is_so, direction) in [(change.readable, Direction::Read), (change.writable, Direction::Write)] {
            if is_so {
                // Relaxed: under the lock.
                self.ticks[direction as usize].fetch_add(1, Relaxed);
                state.drain(direction, wakers);
            }
        }
        state.arm(self).inspect_err(|_| {
            // They would wait for ever. Woken, they try to arm it themselves, and get the error.
            state.drain(Direction::Read, wakers);
            state.drain(Direction::Write, wakers);
        })
    }
}

impl State {
    pub(super) fn list(&mut self, direction: Direction) -> &mut Vec<Waiter> {
        match direction {
            Direction::Read => &mut self.readers,
            Direction::Write => &mut self.writers,
        }
    }

    /// Empties a list.
    pub(super) fn drain(&mut self, direction: Direction, wakers: &mut Vec<Waker>) {
        wakers.extend(self.list(direction).drain(..).map(|waiter| waiter.waker));
    }

    /// Arms for whoever is on a list, unless it is.
    pub(super) fn arm(&mut self, entry: &Entry) -> io::Result<()> {
        if !entry.is_armed_each_time {
            return Ok(());
        }
        let wanted = Interest { read: !self.readers.is_empty(), write: !self.writers.is_empty() };
        let is_armed = (self.armed.read || !wanted.read) && (self.armed.write || !wanted.write);
        if let Some(source) = &self.source
            && !is_armed
        {
            source.arm(wanted)?;
            self.armed = wanted;
        }
        Ok(())
    }
}

/// What waiting ends with when there is no runtime any more.
pub(super) fn shut_down() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the runtime of this socket was shut down")
}

/// A lock of this folder: nothing that can panic happens under it.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
