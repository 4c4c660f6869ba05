//! The poller of one runtime: which sockets it knows, and what wakes the tasks that wait for them.

use crate::runtime::guarded::guarded;
use crate::runtime::host::cores::Cores;
use crate::runtime::io::netpoll::change::Change;
use crate::runtime::io::netpoll::choice::Poller;
use crate::runtime::io::netpoll::entry::Entry;
use crate::runtime::io::netpoll::lock::{lock, shut_down};
use crate::runtime::io::netpoll::outer::Outer;
use crate::runtime::io::netpoll::socket::{Direction, Socket};
use crate::runtime::io::netpoll::source::Source;
use crate::runtime::io::netpoll::system::{AT_ONCE, Buffer, System};
#[cfg(all(feature = "io-uring", target_os = "linux"))]
use crate::runtime::io::netpoll::under_way::take_complete;
use crate::runtime::task_waker::TaskWaker;
use crate::waits::interrupt;
use crate::waits::readiness::{Refused, Waits};
use crate::waits::sockets::{NotRegistered, Sockets};
use core::fmt;
use core::time::Duration;
use std::sync::{Arc, Mutex, OnceLock, TryLockError};
use std::{io, thread};

/// What is called when the first comes to wait, or the last is gone.
pub(crate) type Hook = Box<dyn Fn() + Send + Sync>;

/// The sockets of one runtime, and the tasks that wait for them.
pub(crate) struct Netpoll {
    pub(super) system: Arc<System>,
    pub(super) sockets: Sockets<Cores, Source, TaskWaker>,
    /// The polling thread holds it.
    pub(super) batch: Mutex<Batch>,
    last_error: Mutex<Option<Arc<io::Error>>>,
    pub(super) on_first: OnceLock<Hook>,
    on_none: OnceLock<Hook>,
}

/// What one `poll` works on, kept for the next.
pub(super) struct Batch {
    buffer: Buffer,
    changes: Vec<Change>,
    wakers: Vec<TaskWaker>,
    /// Where the thread waits that polls, if not here.
    outer: Option<Box<dyn Outer>>,
}

impl Netpoll {
    /// A poller without sockets: the one that was asked for, if the system gives that.
    ///
    /// # Errors
    /// If the system gives none.
    pub(crate) fn new(choice: Poller) -> io::Result<Netpoll> {
        System::new(choice).map(Netpoll::over)
    }

    pub(super) fn over(system: System) -> Netpoll {
        Netpoll {
            system: Arc::new(system),
            sockets: Sockets::new(),
            batch: Mutex::new(Batch { buffer: Buffer::new(), changes: Vec::new(), wakers: Vec::new(), outer: None }),
            last_error: Mutex::new(None),
            on_first: OnceLock::new(),
            on_none: OnceLock::new(),
        }
    }

    /// Waits until a socket is ready that a task waits for, for `timeout` at most (`None`: for ever; zero: not at
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
        let Batch { buffer, changes, wakers, outer } = &mut *batch;
        let result = interrupt::wait::<Cores, _>(|| {
            let Some(outer) = outer else { return self.system.wait(buffer, timeout, |change| changes.push(change)) };
            if !outer.wait(timeout) {
                return Ok(());
            }
            let result = self.system.wait(buffer, Some(Duration::ZERO), |change| changes.push(change));
            // One may have been the bell's.
            if changes.len() + 1 < AT_ONCE {
                outer.all_taken();
            }
            result
        });
        for change in changes.drain(..) {
            if let Some(entry) = self.sockets.get(change.key) {
                let taken = entry.take_ready(change.what, change.end, wakers);
                // Under the lock of its entry: a thread that is about to forget it does so before, or finds the new request.
                let started = change.ended.and_then(|_| entry.with_source(|source| source.start(change.ended)));
                [taken, started.unwrap_or(Ok(()))]
                    .into_iter()
                    .filter_map(Result::err)
                    .for_each(|error| self.keep(error));
            }
        }
        #[cfg(all(feature = "io-uring", target_os = "linux"))]
        let finished = take_complete(&mut buffer.complete, wakers);
        #[cfg(not(all(feature = "io-uring", target_os = "linux")))]
        let finished = 0;
        if let Err(error) = result {
            self.keep(error);
            // One that fails for ever shall not burn a core.
            if wakers.is_empty() && timeout != Some(Duration::ZERO) {
                thread::sleep(Duration::from_millis(1));
            }
        }
        let woken = wakers.len();
        wakers.drain(..).for_each(TaskWaker::wake);
        // The hook is for others; the M that polls knows.
        self.sockets.waiting().woken((woken + finished) as u64);
        woken
    }

    /// From now on the thread that polls waits there.
    #[cfg(feature = "tokio-context")]
    pub(in crate::runtime) fn wait_in(&self, outer: Box<dyn Outer>) {
        lock(&self.batch).outer = Some(outer);
    }

    /// No thread polls any more, and what it waited in ends.
    #[cfg(feature = "tokio-context")]
    pub(in crate::runtime) fn leave_outer(&self) {
        let outer = lock(&self.batch).outer.take();
        // Not under the lock: it drops what is the user's.
        drop(outer);
    }

    /// What is readable when this poller has reports.
    ///
    /// # Errors
    /// The system's, or the poller has none.
    #[cfg(feature = "tokio-context")]
    pub(in crate::runtime) fn descriptor(&self) -> io::Result<std::os::fd::OwnedFd> {
        self.system.descriptor()
    }

    /// Ends the `poll` that blocks now; if none does, the next one.
    pub(crate) fn interrupt(&self) {
        if let Err(error) = interrupt::interrupt::<Cores, _>(|| self.system.notify()) {
            self.keep(error);
        }
    }

    /// Does a task wait for a socket, or is one being woken?
    pub(crate) fn is_awaited(&self) -> bool {
        self.sockets.waiting().is_any()
    }

    /// What to call when the first task waits. It is called by that task, without a lock; when it runs, others
    /// may have changed that again. Only the first hook counts.
    pub(crate) fn set_on_first(&self, hook: Hook) {
        // The second is dropped.
        let _ = self.on_first.set(hook);
    }

    /// What to call when no task waits any more, because the last has given up: its future or its socket was dropped,
    /// or the poller closed. It is not called when `poll` has woken the last. As for the rest see
    /// [`set_on_first`](Netpoll::set_on_first).
    pub(crate) fn set_on_none(&self, hook: Hook) {
        // The second is dropped.
        let _ = self.on_none.set(hook);
    }

    /// Which of the system's pollers it is.
    pub(crate) fn name(&self) -> &'static str {
        self.system.name()
    }

    /// The last error of the system's poller that had no caller to be returned to, if there was one.
    pub(crate) fn last_error(&self) -> Option<Arc<io::Error>> {
        lock(&self.last_error).clone()
    }

    /// Wakes all tasks that wait, and lets none wait any more: what would block fails. What does not block still works.
    pub(crate) fn close(&self) {
        let were_any = self.sockets.close(TaskWaker::wake);
        self.if_last(were_any);
        #[cfg(all(feature = "io-uring", target_os = "linux"))]
        self.finish_files();
        self.interrupt();
    }

    /// Makes `socket` known.
    pub(super) fn register(&self, socket: Arc<dyn Socket>) -> io::Result<Arc<Entry>> {
        let add = |key| Source::add(&self.system, socket, key);
        let registered = self.sockets.register(self.system.is_armed_each_time(), add, |source| source.start(None));
        registered.map_err(|error| match error {
            NotRegistered::Closed => shut_down(),
            NotRegistered::System(error) => error,
        })
    }

    /// Forgets a socket, and the tasks that waited for it.
    pub(super) fn forget(&self, entry: &Entry) {
        let were_last = self.sockets.forget(entry, |waker| guarded(|| drop(waker)));
        self.if_last(were_last);
    }

    /// Puts a waker on the list. If there is one under this `id`, instead of it; without an `id`, instead of the same task's, or of the
    /// oldest of many.
    ///
    /// `false`: something has changed since the socket had `seen` so many changes: it is worth another try.
    pub(super) fn wait(
        &self,
        entry: &Entry,
        direction: Direction,
        id: Option<u64>,
        waker: TaskWaker,
        seen: u64,
    ) -> io::Result<bool> {
        let mut is_first = false;
        let waits =
            entry.wait(direction, id, waker, seen, TaskWaker::will_wake, || is_first = self.sockets.waiting().add());
        let (waits, waker) = match waits {
            Ok(Waits::Added) => {
                if is_first && let Some(hook) = self.on_first.get() {
                    hook();
                }
                return Ok(true);
            }
            Ok(Waits::Replaced(old)) => (Ok(true), old),
            Ok(Waits::Changed(waker)) => (Ok(false), waker),
            Err(Refused::Closed(waker)) => (Err(shut_down()), waker),
            Err(Refused::Arm(error, waker)) => {
                guarded(|| drop(waker));
                self.count_down(1);
                return Err(error);
            }
        };
        guarded(|| drop(waker));
        waits
    }

    /// The task that waits under `id` gives up.
    pub(super) fn leave(&self, entry: &Entry, direction: Direction, id: u64) {
        if let Some(waker) = entry.leave(direction, id) {
            guarded(|| drop(waker));
            self.count_down(1);
        }
    }

    /// So many have given up, or had to.
    pub(super) fn count_down(&self, gone: usize) {
        let were_last = self.sockets.waiting().gave_up(gone as u64);
        self.if_last(were_last);
    }

    /// Were they the last that waited? Then an M in the poller waits for nothing.
    fn if_last(&self, were_last: bool) {
        if were_last && let Some(hook) = self.on_none.get() {
            hook();
        }
    }

    pub(super) fn keep(&self, error: io::Error) {
        *lock(&self.last_error) = Some(Arc::new(error));
    }
}

impl fmt::Debug for Netpoll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Netpoll").field("waiting", &self.sockets.waiting().count()).finish_non_exhaustive()
    }
}

#[cfg(all(feature = "io-uring", target_os = "linux"))]
impl Netpoll {
    /// Is it a ring?
    pub(in crate::runtime) fn is_ring(&self) -> bool {
        self.system.ring().is_some()
    }

    /// Cancels all operations, and waits until the kernel has done with them.
    pub(super) fn finish_files(&self) {
        let Some(ring) = self.system.ring() else { return };
        let (mut complete, mut wakers) = (Vec::new(), Vec::new());
        ring.finish(|operation, result| complete.push((operation, result)));
        let finished = take_complete(&mut complete, &mut wakers) + wakers.len();
        wakers.into_iter().for_each(TaskWaker::wake);
        self.count_down(finished);
    }
}

static_assertions::assert_impl_all!(Netpoll: Send, Sync);
