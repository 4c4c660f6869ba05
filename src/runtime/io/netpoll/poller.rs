//! The poller of one runtime: which sockets it knows, and what wakes the tasks that wait for them.

use crate::runtime::guarded::guarded;
use crate::runtime::io::netpoll::entry::{Entry, Waiter, lock, shut_down};
use crate::runtime::io::netpoll::socket::{Direction, Socket};
use crate::runtime::io::netpoll::source::Source;
use crate::runtime::io::netpoll::system::{Buffer, Change, System};
use core::fmt;
use core::mem;
use core::sync::atomic::Ordering::SeqCst;
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, fence};
use core::task::Waker;
use core::time::Duration;
use slab::Slab;
use std::sync::{Arc, Mutex, OnceLock, TryLockError};
use std::{io, thread};

/// What is called when the first comes to wait, or the last is gone.
pub(crate) type Hook = Box<dyn Fn() + Send + Sync>;

/// The sockets of one runtime, and the tasks that wait for them.
pub(crate) struct Netpoll {
    system: Arc<System>,
    pub(super) sources: Mutex<Sources>,
    /// How many wakers are on the lists or about to be woken.
    pub(super) waiting: AtomicUsize,
    /// Whoever polls holds it.
    pub(super) batch: Mutex<Batch>,
    last_error: Mutex<Option<Arc<io::Error>>>,
    on_first: OnceLock<Hook>,
    on_none: OnceLock<Hook>,
}

pub(super) struct Sources {
    pub(super) entries: Slab<Arc<Entry>>,
    is_closed: bool,
}

/// What one `poll` works on, kept for the next.
pub(super) struct Batch {
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

    pub(super) fn over(system: System) -> Netpoll {
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
    /// all), or until it is [interrupted](Netpoll::interrupt), and wakes the tasks that waited. Returns how many it has woken. A
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
        // After they were woken: an M that reads 0 and finds nothing to run may believe that nothing will come
        // (golang/go #61454). The hook is for others; the M that polls knows.
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

    /// The last error of the system's poller that could be returned to nobody, if there was one.
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
    pub(super) fn register(&self, socket: Arc<dyn Socket>) -> io::Result<Arc<Entry>> {
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

    /// Forgets a socket, and the tasks that waited for it.
    pub(super) fn forget(&self, entry: &Entry) {
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
    pub(super) fn wait(
        &self,
        entry: &Entry,
        direction: Direction,
        id: Option<u64>,
        waker: Waker,
        seen: u32,
    ) -> io::Result<bool> {
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

    /// The task that waits under `id` gives up.
    pub(super) fn leave(&self, entry: &Entry, direction: Direction, id: u64) {
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

    /// So many have given up, or had to.
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
