//! Waiting for each other. tokio: `sync::Barrier`; POSIX: `pthread_barrier_wait`.
//!
//! **Of each n that come, in the order of the lock, the last is the leader; none of the others goes on before it has come; and each
//! sees what all of its round did before they came.**
//!
//! | one that comes and waits                              | the last of its round                               |
//! |-------------------------------------------------------|-----------------------------------------------------|
//! | under the lock: counts itself; remembers the round    | under the lock: counts none, begins the next round, serves all |
//! | under the lock: is it still that round? enqueues its waiter | unlocks; wakes                                |
//! | sleeps, until it is woken                             |                                                     |
//!
//! The two holds of the lock of one that waits need not be one: the number of a round never comes again, so it is seen whenever
//! it is looked at. One that has come stays counted, though it be dropped.
//!
//! Checked by: verification/rooms/src/rooms/barrier.rs

use crate::host::{Host, Lock};
use crate::waits::wait_list::{Place, WaitList};
use crate::waits::waker::{Lender, Waker, wake};
use alloc::vec::Vec;
use core::task::Poll;

/// What a barrier is under its lock.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::barrier::{Arrived, State};
/// let mut state = State::<Os, Task>::new(2);
/// assert!(matches!(state.arrive(), Arrived::Waits(0)));
/// let task = Task::default();
/// state.list().enqueue(Some(task));
/// assert!(matches!(state.arrive(), Arrived::Leads(woken) if woken.len() == 1));
/// assert_eq!(state.round(), 1);
/// # }
/// ```
pub struct State<H: Host, W> {
    parties: usize,
    /// Of this round.
    arrived: usize,
    round: u64,
    list: WaitList<H, W>,
}

/// What became of one that came.
pub enum Arrived<W> {
    /// It waits for the end of this round.
    Waits(u64),
    /// It was the last, and wakes these.
    Leads(Vec<W>),
}

impl<H: Host, W: Waker> State<H, W> {
    /// For so many; for none is for one.
    pub const fn new(parties: usize) -> Self {
        State { parties, arrived: 0, round: 0, list: WaitList::new() }
    }

    /// One more has come.
    pub fn arrive(&mut self) -> Arrived<W> {
        self.arrived += 1;
        if self.arrived < self.parties {
            return Arrived::Waits(self.round);
        }
        self.arrived = 0;
        self.round += 1;
        Arrived::Leads(self.list.serve_all())
    }

    /// Which round it is.
    pub const fn round(&self) -> u64 {
        self.round
    }

    /// Those that wait.
    pub const fn list(&mut self) -> &mut WaitList<H, W> {
        &mut self.list
    }
}

/// Where parties wait for each other.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::barrier::{Barrier, State};
/// let barrier = Barrier::<Os, Task>::new(2);
/// let mut task = Task::default();
/// let (mut first, mut last) = (barrier.wait(), barrier.wait());
/// assert!(first.poll(&mut task).is_pending());
/// assert_eq!(last.poll(&mut task), Poll::Ready(true)); // the leader
/// assert_eq!((task.wakes(), first.poll(&mut task)), (1, Poll::Ready(false)));
/// assert_eq!(barrier.with(|state| state.round()), 1);
/// let one = Barrier::<Os, Task>::from_lock(OsLock::new(State::new(1))); // of a lock made elsewhere
/// assert_eq!(one.wait().poll(&mut task), Poll::Ready(true));
/// # }
/// ```
pub struct Barrier<H: Host, W: Waker + Send + 'static> {
    state: H::Lock<State<H, W>>,
}

impl<H: Host, W: Waker + Send + 'static> Barrier<H, W> {
    /// For so many; for none is for one.
    pub fn new(parties: usize) -> Self {
        Barrier { state: H::Lock::new(State::new(parties)) }
    }

    /// The same, of a lock that is made already.
    pub const fn from_lock(state: H::Lock<State<H, W>>) -> Self {
        Barrier { state }
    }

    /// Under the lock.
    pub fn with<R>(&self, f: impl FnOnce(&mut State<H, W>) -> R) -> R {
        self.state.with(f)
    }

    /// One more comes, at its first poll.
    pub const fn wait(&self) -> Wait<'_, H, W> {
        Wait { barrier: self, stage: Stage::New, place: Place::new() }
    }
}

/// How far one is.
#[derive(Clone, Copy)]
enum Stage {
    New,
    Waits(u64),
    Over { leads: bool },
}

/// One that comes, and waits for the others.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::barrier::Barrier;
/// let (barrier, mut task) = (Barrier::<Os, Task>::new(2), Task::default());
/// assert!(barrier.wait().poll(&mut task).is_pending()); // dropped: it has come all the same
/// assert_eq!(barrier.wait().poll(&mut task), Poll::Ready(true));
/// # }
/// ```
pub struct Wait<'a, H: Host, W: Waker + Send + 'static> {
    barrier: &'a Barrier<H, W>,
    stage: Stage,
    place: Place,
}

impl<H: Host, W: Waker + Send + 'static> Wait<'_, H, W> {
    /// Have all come? Then: is it the leader? If not it waits, by the lender's waker. Over once, it stays so.
    pub fn poll(&mut self, lender: &mut impl Lender<Waker = W>) -> Poll<bool> {
        if let Stage::New = self.stage {
            self.arrive();
        }
        match self.stage {
            Stage::Waits(round) => self.look(round, lender),
            Stage::Over { leads } => Poll::Ready(leads),
            Stage::New => Poll::Pending,
        }
    }

    /// Comes.
    fn arrive(&mut self) {
        self.stage = match self.barrier.with(State::arrive) {
            Arrived::Waits(round) => Stage::Waits(round),
            Arrived::Leads(woken) => {
                wake(woken);
                Stage::Over { leads: true }
            }
        };
    }

    /// Has the next round begun?
    fn look(&mut self, round: u64, lender: &mut impl Lender<Waker = W>) -> Poll<bool> {
        let look = |state: &mut State<H, W>, _| (state.round != round).then_some(false);
        let polled = self.place.poll(&self.barrier.state, State::list, lender, look);
        if polled.is_ready() {
            self.stage = Stage::Over { leads: false };
        }
        polled
    }
}

impl<H: Host, W: Waker + Send + 'static> Drop for Wait<'_, H, W> {
    fn drop(&mut self) {
        self.place.leave(&self.barrier.state, State::list, |_, _| None);
    }
}
