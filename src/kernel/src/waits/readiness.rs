//! Which tasks wait for a socket, and what becomes of the system's reports. Go: `pollDesc`, `netpollblock`, `netpollready`.
//!
//! **A task that would block is on the list of its direction before the report is looked at that it waits for, or it tries
//! again.** A socket is tried first. Only if it would block its task waits:
//!
//! | a task that waits, in [`wait`](Entry::wait)           | the M that polls, in [`take_ready`](Entry::take_ready)  |
//! |-------------------------------------------------------|---------------------------------------------------------|
//! | 1. reads the tick, then tries: it would block         | 1. gets a report from the system, which disarms         |
//! | 2. is the tick another now? tries again               | 2. counts the tick, takes the lists of the report       |
//! | 3. puts its waker on the list                         | 3. arms the socket again, if the other list waits       |
//! | 4. arms the socket, unless it is armed already        | 4. wakes, then counts down                              |
//!
//! From 2 on the task holds the entry's lock, the poller in 2 and 3. Where a socket is armed for one report, one that is ready
//! already is reported at once; and a task that finds it armed still, though the report is on its way, is on the list when the
//! poller takes it. Where a socket is armed for ever, and reports changes only, the tick says that there was one since the task
//! tried. A report may be of a socket that is gone, for another that has got its key: then some try for nothing.
//!
//! A list has a place for each future that waits, which leaves it when it is dropped; and [`SLOTS`] places for the functions by which
//! others poll, of which no future tells when it gives up: **of the tasks that polled by a function, the last so many are woken by the
//! next report**. So what polls that were given up leave behind is bounded. One that takes the place of the oldest does not wake it:
//! it would poll again and take another's, and so on for ever. (tokio keeps the last one only.)
//!
//! When a try need not be made at all is [`drained`](crate::waits::drained)'s to say.
//!
//! **A waiter is counted until it can be run**: [`Waiting`]. Pair `awaited`.
//!
//! | the last that waited gives up, in [`gave_up`](Waiting::gave_up) | an M that claims the poller, in `Sched::sleep` |
//! |-----------------------------------------------------------------|------------------------------------------------|
//! | 1. counts down                                                  | 1. sets `who`                                  |
//! | 2. StoreLoad                                                    | 2. StoreLoad, in `netpoll::prepare`            |
//! | 3. reads `who`: interrupts                                      | 3. reads the count                             |
//!
//! Checked by: verification/rooms/src/rooms/sockets.rs

use crate::atomic::{Atomic, UnderLock, store_load};
use crate::host::{Host, Lock};
use crate::waits::drained::{Drained, LAST};
use alloc::vec::Vec;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Which way the bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To us: also new connections.
    Read,
    /// From us: also a connection that comes about.
    Write,
}

/// Directions: those that are waited for, or reported.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Interest {
    /// [`Direction::Read`].
    pub read: bool,
    /// [`Direction::Write`].
    pub write: bool,
}

/// A socket, as the system's poller knows it. Dropped, the system reports it no more.
pub trait Source: Send + 'static {
    /// Why the system would not.
    type Error;
    /// What `interest` asks for is reported once, at once if it is so already.
    ///
    /// # Errors
    /// The system would not.
    fn arm(&self, interest: Interest) -> Result<(), Self::Error>;
}

/// A socket, and its waiters. `W` is what wakes a task.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::readiness::{Direction::Read, Entry, Interest, Waits};
/// let (readable, nothing) = (Interest { read: true, write: false }, Interest { read: false, write: false });
/// let entry = Entry::<Os, Socket, Task>::new(false);
/// entry.open(Socket);
/// assert!(!entry.is_armed_each_time() && entry.with_source(|_| ()).is_some());
/// let (id, task, mut woken) = (entry.next_id(), Task::default(), Vec::new());
/// let wait = |seen| entry.wait(Read, Some(id), task.clone(), seen, Lender::is_same, || ());
/// let seen = entry.ticks(Read); // then it tries; it would block
/// entry.set_drained(Read, seen);
/// assert!(entry.is_drained(Read, seen) && matches!(wait(seen), Ok(Waits::Added)));
/// entry.take_ready(readable, nothing, &mut woken).expect("it can be armed"); // by the poller
/// assert!(woken.len() == 1 && matches!(wait(seen), Ok(Waits::Changed(_)))); // it tries again
///
/// assert!(matches!(wait(entry.ticks(Read)), Ok(Waits::Added)));
/// assert!(entry.is_waiting(Read, id) == Some(true) && entry.leave(Read, id).is_some()); // gives up
/// entry.close(&mut woken); entry.forget(&mut woken);
/// assert!(wait(entry.ticks(Read)).is_err());
/// # }
/// ```
pub struct Entry<H: Host, S: Source, W: Send + 'static> {
    next_id: Atomic<H, u64>,
    /// How often each direction was reported.
    ticks: [Atomic<H, u64, UnderLock>; 2],
    drained: Drained<H>,
    is_armed_each_time: bool,
    state: H::Lock<State<S, W>>,
}

/// So many tasks may poll one direction by functions, and each be woken.
pub const SLOTS: usize = 8;

struct State<S, W> {
    /// `None`: not known to the system's poller yet, or no more.
    source: Option<S>,
    /// The oldest first.
    waiters: [Vec<Waiter<W>>; 2],
    /// Which directions a report will come for, or has that the poller has yet to look at. Each listed waiter is armed for.
    armed: Interest,
    is_closed: bool,
}

struct Waiter<W> {
    /// `None`: it polled by a function.
    id: Option<u64>,
    waker: W,
}

/// What became of a task that would wait. Wakers that come back are the caller's to drop, without a lock.
pub enum Waits<W> {
    /// It waits: it is on the list. To be [counted](Waiting).
    Added,
    /// It waits; this waker was in its place, or was the oldest of those that polled by functions. Not to be woken.
    Replaced(W),
    /// Something was reported since: it tries again.
    Changed(W),
}

/// Why a task cannot wait.
pub enum Refused<E, W> {
    /// No task waits any more.
    Closed(W),
    /// The system would not. It is to be counted down again.
    Arm(E, W),
}

impl<H: Host, S: Source, W: Send + 'static> Entry<H, S, W> {
    /// Of a socket that the system does not know yet. It has to be armed for each report, or reports all that changes.
    #[track_caller]
    pub fn new(is_armed_each_time: bool) -> Self {
        let state =
            State { source: None, waiters: [Vec::new(), Vec::new()], armed: Interest::default(), is_closed: false };
        let ticks = [Atomic::new(0), Atomic::new(0)];
        let drained = Drained::new();
        Entry { next_id: Atomic::new(0), ticks, drained, is_armed_each_time, state: H::Lock::new(state) }
    }

    /// The system knows the socket.
    pub fn open(&self, source: S) {
        self.state.with(|state| state.source = Some(source));
    }

    /// A number to wait under.
    pub fn next_id(&self) -> u64 {
        // Relaxed: no two are the same, and that is all.
        self.next_id.fetch_add(1, Relaxed)
    }

    /// Does a task wait under `id`? `None`: no task waits any more.
    pub fn is_waiting(&self, direction: Direction, id: u64) -> Option<bool> {
        self.state.with(|state| {
            let is_there = state.list(direction).iter().any(|waiter| waiter.id == Some(id));
            (!state.is_closed).then_some(is_there)
        })
    }

    /// How often this direction was reported. Asked before a try: a task that then would block waits for the next report, unless
    /// it came meanwhile.
    pub fn ticks(&self, direction: Direction) -> u64 {
        // Relaxed: written under the lock, and compared under it. What the try does to the socket, under a lock of the system's,
        // does not come before this.
        self.ticks[direction as usize].load(Relaxed)
    }

    /// A try, before which the tick was `seen`, would block, or got fewer bytes of a stream than it had asked for.
    pub fn set_drained(&self, direction: Direction, seen: u64) {
        if !self.is_armed_each_time {
            self.drained.set(direction, seen);
        }
    }

    /// Was it so at this tick? Then there is no need to try before one [waits](Entry::wait): see [`drained`](crate::waits::drained).
    pub fn is_drained(&self, direction: Direction, seen: u64) -> bool {
        self.drained.is(direction, seen)
    }

    /// Has it to be armed for each report?
    pub fn is_armed_each_time(&self) -> bool {
        self.is_armed_each_time
    }

    /// What `look` says of the socket, if the system knows it.
    pub fn with_source<R>(&self, look: impl FnOnce(&S) -> R) -> Option<R> {
        self.state.with(|state| state.source.as_ref().map(look))
    }

    /// Puts a waker on the list. If there is one under this `id`, instead of it; without an `id`, instead of one that wakes the same,
    /// or, if there are [`SLOTS`] of them, of the oldest. `counts` is called for one more, before it can be woken.
    ///
    /// # Errors
    /// No task waits any more, or the system would not.
    pub fn wait(
        &self,
        direction: Direction,
        id: Option<u64>,
        waker: W,
        seen: u64,
        wakes_the_same: impl Fn(&W, &W) -> bool,
        counts: impl FnOnce(),
    ) -> Result<Waits<W>, Refused<S::Error, W>> {
        self.state.with(|state| {
            if self.ticks(direction) != seen {
                return Ok(Waits::Changed(waker));
            }
            // After the tick, which the end marks: a task that has not tried does so before it is told.
            if state.is_closed {
                return Err(Refused::Closed(waker));
            }
            let list = state.list(direction);
            let mine =
                list.iter().position(|other| other.id == id && (id.is_some() || wakes_the_same(&other.waker, &waker)));
            let is_full = id.is_none() && list.iter().filter(|other| other.id.is_none()).count() >= SLOTS;
            let oldest = || list.iter().position(|other| other.id.is_none()).filter(|_| is_full);
            if let Some(at) = mine.or_else(oldest) {
                let old = list.remove(at);
                list.push(Waiter { id, waker });
                return Ok(Waits::Replaced(old.waker));
            }
            counts();
            list.push(Waiter { id, waker });
            state.arm(self.is_armed_each_time).map(|()| Waits::Added).map_err(|error| {
                match state.list(direction).pop() {
                    Some(Waiter { waker, .. }) => Refused::Arm(error, waker),
                    None => unreachable!("readiness: a waker that was put on the list is not there"),
                }
            })
        })
    }

    /// The task that waits under `id` gives up. Its waker, if it still waited: to be counted down.
    pub fn leave(&self, direction: Direction, id: u64) -> Option<W> {
        // It stays armed: a report that comes finds no waiter, and that is all.
        self.state.with(|state| {
            let list = state.list(direction);
            let at = list.iter().position(|waiter| waiter.id == Some(id))?;
            Some(list.remove(at).waker)
        })
    }

    /// The system has reported this: takes those that wait for it. Of these directions it has reported the `end`, an error, or
    /// something else beside which fewer bytes than were asked for may not be [all](crate::waits::drained).
    ///
    /// # Errors
    /// The system would not be armed again. All are taken: woken, they try to arm it themselves, and get the error.
    pub fn take_ready(&self, change: Interest, end: Interest, wakers: &mut Vec<W>) -> Result<(), S::Error> {
        self.state.with(|state| {
            // Whatever it reports, all of it is disarmed.
            state.armed = Interest::default();
            for (is_so, direction) in [(change.read, Direction::Read), (change.write, Direction::Write)] {
                if is_so {
                    // Relaxed: written under the lock.
                    self.ticks[direction as usize].store(self.ticks(direction).wrapping_add(1), Relaxed);
                    state.drain(direction, wakers);
                }
            }
            self.mark_last(end);
            state.arm(self.is_armed_each_time).inspect_err(|_| state.drain_all(wakers))
        })
    }

    /// Takes all waiters.
    pub fn close(&self, wakers: &mut Vec<W>) {
        self.state.with(|state| {
            state.is_closed = true;
            // Nothing is reported any more, and what does not block still works.
            self.mark_last(Interest { read: true, write: true });
            state.drain_all(wakers);
        });
    }

    /// From now on nothing is drained in these directions. Under the lock.
    fn mark_last(&self, directions: Interest) {
        for (is_so, direction) in [(directions.read, Direction::Read), (directions.write, Direction::Write)] {
            if is_so {
                // Relaxed: written under the lock. A task that tries between the count and this has seen a tick that is not this one.
                self.ticks[direction as usize].store(self.ticks(direction) | LAST, Relaxed);
            }
        }
    }

    /// The system forgets the socket: takes those that wait. Under the lock, so the poller does not arm it any more.
    pub fn forget(&self, wakers: &mut Vec<W>) {
        self.state.with(|state| {
            state.drain_all(wakers);
            state.source = None;
        });
    }
}

impl<S: Source, W> State<S, W> {
    fn list(&mut self, direction: Direction) -> &mut Vec<Waiter<W>> {
        &mut self.waiters[direction as usize]
    }

    /// Does any task wait for this direction?
    fn is_any(&self, direction: Direction) -> bool {
        !self.waiters[direction as usize].is_empty()
    }

    /// Empties a list.
    fn drain(&mut self, direction: Direction, wakers: &mut Vec<W>) {
        wakers.extend(self.list(direction).drain(..).map(|waiter| waiter.waker));
    }

    fn drain_all(&mut self, wakers: &mut Vec<W>) {
        self.drain(Direction::Read, wakers);
        self.drain(Direction::Write, wakers);
    }

    /// Arms for the listed waiters, unless it is.
    fn arm(&mut self, is_armed_each_time: bool) -> Result<(), S::Error> {
        if !is_armed_each_time {
            return Ok(());
        }
        let wanted = Interest { read: self.is_any(Direction::Read), write: self.is_any(Direction::Write) };
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

/// How many wait for the sockets of a runtime, or are about to be woken.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::readiness::Waiting;
/// let waiting = Waiting::<Os>::new();
/// assert!(waiting.add() && !waiting.add()); // the first is announced
/// waiting.woken(1);
/// assert!(waiting.count() == 1 && waiting.gave_up(1) && !waiting.is_any());
/// # }
/// ```
pub struct Waiting<H: Host>(Atomic<H, u64>);

impl<H: Host> Waiting<H> {
    /// None.
    #[track_caller]
    pub fn new() -> Self {
        Waiting(Atomic::new(0))
    }

    /// One more, under the lock of its entry. Is it the first? Then a thread without a P announces that.
    pub fn add(&self) -> bool {
        // Relaxed: an M that goes to sleep reads it behind a StoreLoad; another is in `announce`, or the M is this thread's.
        self.0.fetch_add(1, Relaxed) == 0
    }

    /// So many have been woken. After they were: an M that reads 0 and finds nothing to run may believe that nothing will come
    /// (golang/go #61454).
    pub fn woken(&self, woken: u64) {
        // Release: `awaited`, the poller's half.
        self.0.fetch_sub(woken, Release);
    }

    /// So many have given up, or had to. `true`: the last of them. Then an M that waits in the poller waits for nothing, and is
    /// to be interrupted.
    pub fn gave_up(&self, gone: u64) -> bool {
        // Relaxed: the StoreLoad follows.
        if gone == 0 || self.0.fetch_sub(gone, Relaxed) != gone {
            return false;
        }
        // `awaited`: an M that has claimed the poller before is seen, or it sees that no task waits.
        store_load::<H>();
        true
    }

    /// Does a task wait for a socket, or is one being woken?
    pub fn is_any(&self) -> bool {
        self.count() > 0
    }

    /// How many.
    pub fn count(&self) -> u64 {
        // Acquire: `awaited`, the M's half: an M that reads 0 sees those that can be run.
        self.0.load(Acquire)
    }
}

impl<H: Host> Default for Waiting<H> {
    fn default() -> Self {
        Self::new()
    }
}
