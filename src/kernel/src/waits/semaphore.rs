//! So many may be in at once. Go: `golang.org/x/sync/semaphore`; tokio: `sync::Semaphore`.
//!
//! **No more permits are out than there are; waiters are served in FIFO order, each as soon as there are as many as it wants: a
//! later one that wants fewer does not overtake it; and a served waiter sees what was done before those were given back.**
//!
//! | a task that wants n, in [`poll`](Acquire::poll)                      | a holder that gives some back, in [`release`](Semaphore::release) |
//! |----------------------------------------------------------------------|----------------------------------------------|
//! | under one lock: no task waits, and there are n? takes them; if not, enqueues its waiter | under the lock: counts them; as long as the first that waits can have what it wants, takes that and serves it |
//! | sleeps, until it is woken                                            | unlocks; wakes                               |
//! | or, dropped: leaves the queue, and gives back what it was served; then the next may be served | |
//!
//! Checked by: verification/rooms/src/rooms/semaphore.rs

use crate::host::{Host, Lock};
use crate::waits::queue::{Outcome, Renewed, WaitQueue, Waiter, Waiters};
use crate::waits::waker::{Lender, Waker, forget, wake};
use alloc::vec::Vec;
use core::task::Poll;

/// So many permits there may be at most, tokio's number: an overflow is a mistake that is seen.
pub const MAX_PERMITS: usize = usize::MAX >> 3;

/// Why there are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// There are too few, or others wait.
    NoPermits,
    /// It was closed.
    Closed,
}

/// There would be more than [`MAX_PERMITS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooMany;

/// What a semaphore is under its lock.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::{semaphore::{MAX_PERMITS, Refused, State}, waker::wake};
/// let (mut state, task) = (State::<Os, Task>::new(1), Task::default());
/// assert_eq!(state.take(2), Err(Refused::NoPermits));
/// let first = state.enqueue(2, Some(task.clone()));
/// let second = state.enqueue(1, None);
/// assert!(state.serve_one().is_none()); // the first wants more than there are
/// state.put(1).expect("not too many");
/// wake(state.serve_one().flatten());
/// assert_eq!((task.wakes(), state.free()), (1, 0));
/// state.leave(first);
/// state.leave(second);
/// state.put(3).expect("not too many");
/// assert_eq!((state.forget(9), state.free()), (3, 0)); // gone for good
/// assert!(state.put(MAX_PERMITS + 1).is_err());
/// # }
/// ```
pub struct State<H: Host, W> {
    free: usize,
    is_closed: bool,
    /// The value of a waiter: how many it wants.
    waiters: Waiters<H, usize, W>,
    queue: WaitQueue,
}

impl<H: Host, W: Waker> State<H, W> {
    /// So many are free.
    pub const fn new(permits: usize) -> Self {
        State { free: permits, is_closed: false, waiters: Waiters::new(), queue: WaitQueue::new() }
    }

    /// How many are free.
    pub const fn free(&self) -> usize {
        self.free
    }

    /// Is it closed?
    pub const fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Takes `n`, unless others wait for some.
    ///
    /// # Errors
    /// Why not.
    pub fn take(&mut self, n: usize) -> Result<(), Refused> {
        if self.is_closed {
            return Err(Refused::Closed);
        }
        let is_free = self.free >= n && self.queue.first().is_none();
        if !is_free {
            return Err(Refused::NoPermits);
        }
        self.free -= n;
        Ok(())
    }

    /// One more waits, for `n`.
    pub fn enqueue(&mut self, n: usize, waker: Option<W>) -> usize {
        let mut waiter = Waiter::of(waker);
        waiter.value = Some(n);
        self.queue.join(&mut self.waiters, waiter)
    }

    /// `n` more are free.
    ///
    /// # Errors
    /// If that would be too many; nothing has changed.
    pub fn put(&mut self, n: usize) -> Result<(), TooMany> {
        let free = self.free.checked_add(n).filter(|&free| free <= MAX_PERMITS);
        self.free = free.ok_or(TooMany)?;
        Ok(())
    }

    /// So many of those that are free, `n` at most, are gone for good.
    pub fn forget(&mut self, n: usize) -> usize {
        let gone = n.min(self.free);
        self.free -= gone;
        gone
    }

    /// Serves the first that waits, if it can have what it wants. Its waker is to be woken as soon as the lock is free.
    pub fn serve_one(&mut self) -> Option<Option<W>> {
        let first = self.queue.first()?;
        let wants = self.waiters.get(first).value.unwrap_or(0);
        self.free = self.free.checked_sub(wants)?;
        let key = self.queue.next(&mut self.waiters)?;
        Some(self.waiters.get(key).serve(Outcome::Done))
    }

    /// Serves all that can be.
    pub fn serve(&mut self) -> Woken<W> {
        let mut woken = Woken(None, Vec::new());
        while let Some(waker) = self.serve_one() {
            woken.push(waker);
        }
        woken
    }

    /// From now on no permit is given.
    pub fn close(&mut self) -> Woken<W> {
        self.is_closed = true;
        let mut woken = Woken(None, Vec::new());
        while let Some(key) = self.queue.next(&mut self.waiters) {
            woken.push(self.waiters.get(key).serve(Outcome::Closed));
        }
        woken
    }

    /// Gives a waiter back: what came of it, and its waker if nothing did.
    pub fn leave(&mut self, key: usize) -> (Option<Outcome>, Option<W>) {
        let waiter = self.queue.leave(&mut self.waiters, key);
        (waiter.outcome, waiter.waker)
    }
}

/// Those that were served. Mostly one: that needs no memory.
pub struct Woken<W>(Option<W>, Vec<W>);

impl<W> Woken<W> {
    fn push(&mut self, waker: Option<W>) {
        match &self.0 {
            None => self.0 = waker,
            Some(_) => self.1.extend(waker),
        }
    }
}

impl<W> IntoIterator for Woken<W> {
    type Item = W;
    type IntoIter = core::iter::Chain<core::option::IntoIter<W>, alloc::vec::IntoIter<W>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter().chain(self.1)
    }
}

/// Permits, and those that wait for some.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::semaphore::{Refused, Semaphore, State};
/// let (semaphore, mut task) = (Semaphore::<Os, Task>::new(2), Task::default());
/// semaphore.try_acquire(2).expect("two are free");
/// let mut acquire = semaphore.acquire(1);
/// assert!(acquire.poll(&mut task).is_pending());
/// semaphore.release(1).expect("not too many");
/// assert_eq!((task.wakes(), acquire.poll(&mut task)), (1, Poll::Ready(Ok(()))));
/// semaphore.close();
/// assert_eq!(semaphore.try_acquire(1), Err(Refused::Closed));
/// let one = Semaphore::<Os, Task>::from_lock(OsLock::new(State::new(1)));
/// assert_eq!(one.with(|state| state.free()), 1);
/// # }
/// ```
pub struct Semaphore<H: Host, W: Waker + Send + 'static> {
    state: H::Lock<State<H, W>>,
}

impl<H: Host, W: Waker + Send + 'static> Semaphore<H, W> {
    /// So many are free.
    pub fn new(permits: usize) -> Self {
        Semaphore { state: H::Lock::new(State::new(permits)) }
    }

    /// The same, of a lock that is made already.
    pub const fn from_lock(state: H::Lock<State<H, W>>) -> Self {
        Semaphore { state }
    }

    /// Under the lock.
    pub fn with<R>(&self, f: impl FnOnce(&mut State<H, W>) -> R) -> R {
        self.state.with(f)
    }

    /// Takes `n`, if they are free and no task waits for some.
    ///
    /// # Errors
    /// Why not.
    #[inline]
    pub fn try_acquire(&self, n: usize) -> Result<(), Refused> {
        self.with(|state| state.take(n))
    }

    /// Will take `n`.
    pub const fn acquire(&self, n: usize) -> Acquire<'_, H, W> {
        Acquire { semaphore: self, wants: n, stage: Stage::New }
    }

    /// `n` more are free: given back, or new.
    ///
    /// # Errors
    /// If that would be more than [`MAX_PERMITS`]; nothing has changed.
    pub fn release(&self, n: usize) -> Result<(), TooMany> {
        let woken = self.with(|state| state.put(n).map(|()| state.serve()))?;
        wake(woken);
        Ok(())
    }

    /// From now on no permit is given, and no task waits.
    pub fn close(&self) {
        let woken = self.with(State::close);
        wake(woken);
    }
}

/// How far one is.
#[derive(Clone, Copy)]
enum Stage {
    New,
    Waits(usize),
    Over,
}

/// One that wants some. Dropped while it waits it leaves; after it was served, and before it was polled again, it gives them back.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::semaphore::Semaphore;
/// let (semaphore, mut task) = (Semaphore::<Os, Task>::new(0), Task::default());
/// let mut acquire = semaphore.acquire(1);
/// assert!(acquire.poll(&mut task).is_pending() && acquire.is_waiting());
/// semaphore.release(1).expect("not too many");
/// drop(acquire); // served, and did not look: the permit is given back
/// assert_eq!(semaphore.try_acquire(1), Ok(()));
/// # }
/// ```
pub struct Acquire<'a, H: Host, W: Waker + Send + 'static> {
    semaphore: &'a Semaphore<H, W>,
    wants: usize,
    stage: Stage,
}

/// What becomes of one that is polled.
enum Polled<W> {
    Over(Result<(), Refused>),
    Waits(usize, Option<W>),
    NeedsCopy,
}

impl<H: Host, W: Waker + Send + 'static> Acquire<'_, H, W> {
    /// Does it wait, or was it served and has not looked?
    pub const fn is_waiting(&self) -> bool {
        matches!(self.stage, Stage::Waits(_))
    }

    /// Has it got them? If not it waits, by the lender's waker. Polled after that it never ends.
    ///
    /// # Errors
    /// [`Refused::Closed`].
    pub fn poll(&mut self, lender: &mut impl Lender<Waker = W>) -> Poll<Result<(), Refused>> {
        loop {
            let wants = self.wants;
            let polled = match self.stage {
                Stage::New => self.semaphore.with(|state| begin(state, wants, lender)),
                Stage::Waits(key) => self.semaphore.with(|state| go_on(state, key, lender)),
                Stage::Over => return Poll::Pending,
            };
            match polled {
                Polled::Over(result) => {
                    self.stage = Stage::Over;
                    return Poll::Ready(result);
                }
                Polled::Waits(key, old) => {
                    self.stage = Stage::Waits(key);
                    forget(old);
                    return Poll::Pending;
                }
                Polled::NeedsCopy => lender.prepare(),
            }
        }
    }
}

/// It comes.
fn begin<H: Host, W: Waker>(state: &mut State<H, W>, wants: usize, lender: &mut impl Lender<Waker = W>) -> Polled<W> {
    match state.take(wants) {
        Err(Refused::NoPermits) => {
            lender.lend().map_or(Polled::NeedsCopy, |waker| Polled::Waits(state.enqueue(wants, Some(waker)), None))
        }
        result => Polled::Over(result),
    }
}

/// It waits: was it served?
fn go_on<H: Host, W: Waker>(state: &mut State<H, W>, key: usize, lender: &mut impl Lender<Waker = W>) -> Polled<W> {
    match state.waiters.renew(key, lender) {
        Renewed::Waits(old) => Polled::Waits(key, old),
        Renewed::NeedsCopy => Polled::NeedsCopy,
        Renewed::Served => match state.leave(key).0 {
            Some(Outcome::Closed) => Polled::Over(Err(Refused::Closed)),
            Some(Outcome::Done) | None => Polled::Over(Ok(())),
        },
    }
}

impl<H: Host, W: Waker + Send + 'static> Drop for Acquire<'_, H, W> {
    fn drop(&mut self) {
        let Stage::Waits(key) = self.stage else { return };
        let wants = self.wants;
        let (waker, woken) = self.semaphore.with(|state| {
            let (outcome, waker) = state.leave(key);
            if outcome == Some(Outcome::Done) {
                // They were free. Others may have come since: that they are too many now is not the holders' mistake.
                state.free = state.free.saturating_add(wants);
            }
            // It was perhaps the first, and wanted more than those behind it.
            (waker, state.serve())
        });
        forget(waker);
        wake(woken);
    }
}
