//! Who waits for which socket, and the system's poller that tells when to wake them.
//!
//! Go: `netpoll`, `pollDesc`, `netpollBreak`, `netpollWaiters`.
//!
//! A socket is tried first; only if it would block its task waits, as a waker in the list of its direction:
//!
//! | who waits, in [`wait`](Netpoll::wait)          | who polls, in [`poll`](Netpoll::poll)               |
//! |------------------------------------------------|-----------------------------------------------------|
//! | 1. is counted, and puts its waker on the list  | 1. gets an event from the system, which disarms     |
//! | 2. arms the socket, unless it is armed already | 2. takes the lists that the event is for            |
//! |                                                | 3. arms the socket again, if the other list waits   |
//! |                                                | 4. wakes, then counts down                          |
//!
//! On Linux a socket is armed for ever, and reports changes only: a tick counts them. Who was blocked compares, under the
//! lock, with the tick that it saw before it tried: if there was one meanwhile, it tries again.
//!
//! Both hold the entry's lock: the waiter in both steps, the poller in 2 and 3. So nothing is lost: an armed socket that
//! is ready already is reported at once, and who finds it armed still, though the event is on its way, is on the list
//! when the poller takes it. An event wakes all that wait for it: one that has given up meanwhile takes it from nobody.
//!
//! A waker is the user's code. It is cloned before the lock is taken, woken and dropped after.

#[cfg(test)]
pub(crate) mod driver;
mod registered;
mod source;
mod system;
#[cfg(test)]
mod tests;

pub(crate) use registered::Registered;
pub(crate) use source::Socket;

use crate::runtime::guarded::guarded;
use core::fmt;
use core::mem;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, fence};
use core::task::Waker;
use core::time::Duration;
use slab::Slab;
use source::Source;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::{io, thread};
use system::{Buffer, Change, System};

/// Which way the bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// To us: also new connections.
    Read,
    /// From us: also a connection that comes about.
    Write,
}

/// What is called when the first comes to wait, or the last is gone.
pub(crate) type Hook = Box<dyn Fn() + Send + Sync>;

/// The sockets of one runtime, and who waits for them.
pub(crate) struct Netpoll {
    system: Arc<System>,
    sources: Mutex<Sources>,
    /// How many wakers are on the lists or about to be woken.
    waiting: AtomicUsize,
    /// Whoever polls holds it.
    batch: Mutex<Batch>,
    last_error: Mutex<Option<Arc<io::Error>>>,
    on_first: OnceLock<Hook>,
    on_none: OnceLock<Hook>,
}

struct Sources {
    entries: Slab<Arc<Entry>>,
    is_closed: bool,
}

/// What one `poll` works on, kept for the next.
struct Batch {
    buffer: Buffer,
    changes: Vec<Change>,
    wakers: Vec<Waker>,
}

impl Netpoll {
    /// A poller without sockets.
    ///
    /// # Errors
    /// If the system gives none.
    pub(crate) fn new() -> io::Result<Netpoll> {
        System::new().map(Netpoll::over)
    }

    fn over(system: System) -> Netpoll {
        Netpoll {
            system: Arc::new(system),
            sources: Mutex::new(Sources { entries: Slab::new(), is_closed: false }),
            waiting: AtomicUsize::new(0),
            batch: Mutex::new(Batch { buffer: Buffer::new(), changes: Vec::new(), wakers: Vec::new() }),
            last_error: Mutex::new(None),
            on_first: OnceLock::new(),
            on_none: OnceLock::new(),
        }
    }

    /// Waits until a socket is ready that somebody waits for, for `timeout` at most (`None`: for ever; zero: not at
    /// all), or until it is [interrupted](Netpoll::interrupt), and wakes who waited. Returns how many it has woken. A
    /// signal does not end it.
    ///
    /// One thread at a time; another is sent back at once, with nothing.
    pub(crate) fn poll(&self, timeout: Option<Duration>) -> usize {
        let mut batch = match self.batch.try_lock() {
            Ok(batch) => batch,
            Err(TryLockError::Poisoned(poison)) => poison.into_inner(),
            Err(TryLockError::WouldBlock) => return 0,
        };
        let Batch { buffer, changes, wakers } = &mut *batch;
        let result = self.system.wait(buffer, timeout, |change| changes.push(change));
        // The other half is in `interrupt`.
        fence(SeqCst);
        for change in changes.drain(..) {
            // It may be of a socket that is gone, or of another that got its key. Then some wake for nothing.
            let entry = lock(&self.sources).entries.get(change.key).cloned();
            if let Some(entry) = entry
                && let Err(error) = entry.take_ready(change, wakers)
            {
                self.keep(error);
            }
        }
        if let Err(error) = result {
            self.keep(error);
            // One that fails for ever shall not burn a core.
            if wakers.is_empty() && timeout != Some(Duration::ZERO) {
                thread::sleep(Duration::from_millis(1));
            }
        }
        let woken = wakers.len();
        wakers.drain(..).for_each(|waker| guarded(|| waker.wake()));
        // After they were woken: who reads 0 and finds nothing to run may believe that nothing will come
        // (golang/go #61454). The hook is for others; who polls knows.
        self.waiting.fetch_sub(woken, SeqCst);
        woken
    }

    /// Ends the `poll` that blocks now; if none does, the next one.
    pub(crate) fn interrupt(&self) {
        // The other half is in `poll`. If a poll is being interrupted already, `notify` only reads: without the fences,
        // what was written before need not be seen after that poll.
        fence(SeqCst);
        if let Err(error) = self.system.notify() {
            self.keep(error);
        }
    }

    /// Does anybody wait for a socket, or is being woken?
    pub(crate) fn is_awaited(&self) -> bool {
        self.waiting.load(SeqCst) > 0
    }

    /// What to call when somebody waits and nobody did. It is called by that task, without a lock; when it runs, others
    /// may have changed that again. Only the first hook counts.
    pub(crate) fn set_on_first(&self, hook: Hook) {
        // The second is dropped.
        let _ = self.on_first.set(hook);
    }

    /// What to call when nobody waits any more, because the last has given up: its future or its socket was dropped,
    /// or the poller closed. It is not called when `poll` has woken the last. As for the rest see
    /// [`set_on_first`](Netpoll::set_on_first).
    pub(crate) fn set_on_none(&self, hook: Hook) {
        // The second is dropped.
        let _ = self.on_none.set(hook);
    }

    /// The last error of the system's poller that could be told to nobody, if there was one.
    pub(crate) fn last_error(&self) -> Option<Arc<io::Error>> {
        lock(&self.last_error).clone()
    }

    /// Wakes all that wait, and lets nobody wait any more: what would block fails. What does not block still works.
    pub(crate) fn close(&self) {
        let entries: Vec<_> = {
            let mut sources = lock(&self.sources);
            sources.is_closed = true;
            sources.entries.iter().map(|(_, entry)| Arc::clone(entry)).collect()
        };
        let mut wakers = Vec::new();
        for entry in entries {
            let mut state = lock(&entry.state);
            state.is_closed = true;
            state.drain(Direction::Read, &mut wakers);
            state.drain(Direction::Write, &mut wakers);
        }
        let woken = wakers.len();
        wakers.into_iter().for_each(|waker| guarded(|| waker.wake()));
        self.count_down(woken);
        self.interrupt();
    }

    /// Makes `socket` known.
    fn register(&self, socket: Arc<dyn Socket>) -> io::Result<Arc<Entry>> {
        let entry = {
            let mut sources = lock(&self.sources);
            if sources.is_closed {
                return Err(shut_down());
            }
            let place = sources.entries.vacant_entry();
            let entry = Arc::new(Entry {
                key: place.key(),
                next_id: AtomicU64::new(0),
                ticks: [AtomicU32::new(0), AtomicU32::new(0)],
                is_armed_each_time: self.system.is_armed_each_time(),
                state: Mutex::default(),
            });
            place.insert(Arc::clone(&entry));
            entry
        };
        match Source::add(&self.system, socket, entry.key) {
            Ok(source) => {
                lock(&entry.state).source = Some(source);
                Ok(entry)
            }
            Err(error) => {
                lock(&self.sources).entries.remove(entry.key);
                Err(error)
            }
        }
    }

    /// Forgets a socket, and who waited for it.
    fn forget(&self, entry: &Entry) {
        lock(&self.sources).entries.remove(entry.key);
        let mut wakers = Vec::new();
        {
            let mut state = lock(&entry.state);
            state.drain(Direction::Read, &mut wakers);
            state.drain(Direction::Write, &mut wakers);
            // Under the lock: the poller does not arm it any more.
            state.source = None;
        }
        let gone = wakers.len();
        wakers.into_iter().for_each(|waker| guarded(|| drop(waker)));
        self.count_down(gone);
    }

    /// Puts a waker on the list. If there is one under this `id`, instead of it; without an `id`, if there is one that
    /// wakes the same task, instead of that.
    ///
    /// `false`: something has changed since the socket had `seen` so many changes: it is worth another try.
    fn wait(&self, entry: &Entry, direction: Direction, id: Option<u64>, waker: Waker, seen: u32) -> io::Result<bool> {
        let mut state = lock(&entry.state);
        if state.is_closed {
            return Err(shut_down());
        }
        if entry.ticks(direction) != seen {
            return Ok(false);
        }
        let same = |waiter: &&mut Waiter| waiter.id == id && (id.is_some() || waiter.waker.will_wake(&waker));
        if let Some(waiter) = state.list(direction).iter_mut().find(same) {
            let old = mem::replace(&mut waiter.waker, waker);
            drop(state);
            guarded(|| drop(old));
            return Ok(true);
        }
        // Before it can be woken.
        let is_first = self.waiting.fetch_add(1, SeqCst) == 0;
        state.list(direction).push(Waiter { id, waker });
        if let Err(error) = state.arm(entry) {
            let waiter = state.list(direction).pop();
            drop(state);
            guarded(|| drop(waiter));
            self.count_down(1);
            return Err(error);
        }
        drop(state);
        if is_first && let Some(hook) = self.on_first.get() {
            hook();
        }
        Ok(true)
    }

    /// Who waits under `id` gives up.
    fn leave(&self, entry: &Entry, direction: Direction, id: u64) {
        let waiter = {
            let mut state = lock(&entry.state);
            let list = state.list(direction);
            // It stays armed: an event that comes finds nobody, and that is all.
            list.iter().position(|waiter| waiter.id == Some(id)).map(|at| list.swap_remove(at))
        };
        if waiter.is_some() {
            guarded(|| drop(waiter));
            self.count_down(1);
        }
    }

    /// So many have given up, or were told to.
    fn count_down(&self, gone: usize) {
        if gone > 0
            && self.waiting.fetch_sub(gone, SeqCst) == gone
            && let Some(hook) = self.on_none.get()
        {
            hook();
        }
    }

    fn keep(&self, error: io::Error) {
        *lock(&self.last_error) = Some(Arc::new(error));
    }
}

impl fmt::Debug for Netpoll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Netpoll").field("waiting", &self.waiting).finish_non_exhaustive()
    }
}

static_assertions::assert_impl_all!(Netpoll: Send, Sync);

/// A socket, as the poller sees it.
struct Entry {
    key: usize,
    next_id: AtomicU64,
    /// How often each direction was reported. Counted under the lock.
    ticks: [AtomicU32; 2],
    is_armed_each_time: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// `None`: not known to the system's poller yet, or no more.
    source: Option<Source>,
    readers: Vec<Waiter>,
    writers: Vec<Waiter>,
    /// Which directions an event will be reported for, or has been that the poller has yet to look at. Whoever is on a
    /// list is armed for.
    armed: Interest,
    is_closed: bool,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
struct Interest {
    read: bool,
    write: bool,
}

struct Waiter {
    /// `None`: from a `poll` method, so nobody will come to take it off the list.
    id: Option<u64>,
    waker: Waker,
}

impl Entry {
    /// A number to wait under.
    fn next_id(&self) -> u64 {
        // Relaxed: no two are the same, and that is all.
        self.next_id.fetch_add(1, Relaxed)
    }

    /// Does anybody wait under `id`? Closed, it is an error to ask.
    fn is_waiting(&self, direction: Direction, id: u64) -> io::Result<bool> {
        let mut state = lock(&self.state);
        if state.is_closed {
            return Err(shut_down());
        }
        Ok(state.list(direction).iter().any(|waiter| waiter.id == Some(id)))
    }

    /// How often this direction was reported. Asked before a try: who then would block waits for the next report, unless
    /// it came meanwhile.
    fn ticks(&self, direction: Direction) -> u32 {
        // Relaxed: counted under the lock, and compared under it.
        self.ticks[direction as usize].load(Relaxed)
    }

    /// Could something be done in this direction now, though nothing may change any more?
    fn is_ready(&self, direction: Direction) -> bool {
        #[cfg(target_os = "linux")]
        if !self.is_armed_each_time {
            return lock(&self.state).source.as_ref().is_some_and(|source| source.is_ready(direction));
        }
        let _ = direction;
        false // armed, it reports what is so already
    }

    /// Takes those that wait for `change`.
    fn take_ready(&self, change: Change, wakers: &mut Vec<Waker>) -> io::Result<()> {
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
            // They would wait for ever. Woken, they try to arm it themselves, and are told.
            state.drain(Direction::Read, wakers);
            state.drain(Direction::Write, wakers);
        })
    }
}

impl State {
    fn list(&mut self, direction: Direction) -> &mut Vec<Waiter> {
        match direction {
            Direction::Read => &mut self.readers,
            Direction::Write => &mut self.writers,
        }
    }

    /// Empties a list.
    fn drain(&mut self, direction: Direction, wakers: &mut Vec<Waker>) {
        wakers.extend(self.list(direction).drain(..).map(|waiter| waiter.waker));
    }

    /// Arms for whoever is on a list, unless it is.
    fn arm(&mut self, entry: &Entry) -> io::Result<()> {
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
fn shut_down() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the runtime of this socket was shut down")
}

/// A lock of this file: nothing that can panic happens under it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
