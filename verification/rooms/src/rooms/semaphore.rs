//! So many may be in at once.
//!
//! Invariants 125 and 126: no more permits are out than there are; a waiter is served in FIFO order, as soon as there are as many as
//! it wants, and a later one that wants fewer does not overtake it; it sees what was done before those were given back.

use crate::host::RoomHost;
use crate::room::{Begun, CallId, Does, Effects, Focus, Real, Room, Spec, WAITS, Wait, Waiting};
use crate::values::Maker;
use crate::wakers::{Lends, Wakes};
use kernel::waits::semaphore::{Acquire, MAX_PERMITS, Refused, Semaphore};
use std::task::Poll;

/// The room.
#[derive(Debug)]
pub struct Semaphores;

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Takes so many, if they are free.
    Try(usize),
    /// Takes so many.
    Acquire(usize),
    /// So many more are free.
    Release(usize),
    /// More than there may be: [`MAX_PERMITS`] more are free. Of a thread's first call.
    ReleaseAll,
    /// So many of those that are free are gone.
    Forget(usize),
    /// No permit is given out any more.
    Close,
}

/// What a call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// It is done.
    Done,
    /// There are too few, or others wait.
    NoPermits,
    /// It is closed.
    Closed,
    /// There would be too many.
    TooMany,
    /// So many are gone.
    Gone(usize),
}

impl Room for Semaphores {
    /// How many are free.
    type Setup = usize;
    type Role = ();
    type Op = Op;
    type Answer = Answer;
    type Spec = Counts;
    type Real<H: RoomHost> = Semaphore<H, Wakes<H>>;

    const NAME: &'static str = "semaphore";

    fn setups() -> Vec<usize> {
        vec![0, 2]
    }
    fn roles() -> Vec<()> {
        vec![()]
    }
    fn may((): (), done: &[Op]) -> Vec<Op> {
        let all = [
            Op::Try(1),
            Op::Try(2),
            Op::Acquire(1),
            Op::Acquire(2),
            Op::Release(1),
            Op::Release(2),
            Op::Forget(1),
            Op::Close,
        ];
        all.into_iter().chain(done.is_empty().then_some(Op::ReleaseAll)).collect()
    }
    fn waits(op: Op) -> &'static [Waiting] {
        if matches!(op, Op::Acquire(_)) { WAITS } else { &[] }
    }
    /// That a later waiter does not overtake takes three of them.
    fn focuses() -> Vec<Focus<Self>> {
        let has = |(), op, waiting: Option<Waiting>| {
            matches!(op, Op::Acquire(_) | Op::Release(1))
                && !matches!(waiting, Some(Waiting::Renewed | Waiting::NeverPolled))
        };
        vec![Focus::new(&[1, 1, 1, 1], has)]
    }
}

fn answer(result: Result<(), Refused>) -> Answer {
    match result {
        Ok(()) => Answer::Done,
        Err(Refused::NoPermits) => Answer::NoPermits,
        Err(Refused::Closed) => Answer::Closed,
    }
}

impl<H: RoomHost> Real<Semaphores, H> for Semaphore<H, Wakes<H>> {
    type Hand = ();
    fn new(permits: usize, _: &[()]) -> Self {
        Semaphore::new(permits)
    }
    fn hand(&self, (): ()) {}
    fn begin<'a>(&'a self, (): &'a mut (), op: Op, _: &Maker<H>) -> Begun<'a, H, Answer> {
        Begun::Over(match op {
            Op::Try(n) => answer(self.try_acquire(n)),
            Op::Acquire(n) => return Begun::Waits(Box::new(self.acquire(n))),
            Op::Release(n) => self.release(n).map_or(Answer::TooMany, |()| Answer::Done),
            Op::ReleaseAll => self.release(MAX_PERMITS).map_or(Answer::TooMany, |()| Answer::Done),
            Op::Forget(n) => Answer::Gone(self.with(|state| state.forget(n))),
            Op::Close => {
                self.close();
                Answer::Done
            }
        })
    }
}

impl<H: RoomHost> Wait<H, Answer> for Acquire<'_, H, Wakes<H>> {
    fn poll(&mut self, lender: &mut Lends<H>) -> Poll<Answer> {
        Acquire::poll(self, lender).map(answer)
    }
}

/// Where a thread's wait is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Nowhere,
    /// It wants so many, and was not polled.
    Wants(usize),
    Queued(usize),
    /// It has so many.
    Has(usize),
    Closed,
}

/// How many are free, and a queue.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Counts {
    free: usize,
    closed: Option<CallId>,
    released: Vec<CallId>,
    queue: Vec<usize>,
    places: Vec<Place>,
}

impl Counts {
    fn take(&mut self, n: usize, effects: &mut Effects) -> Answer {
        if self.closed.is_some() {
            effects.sees.extend(self.closed);
            return Answer::Closed;
        }
        if self.free < n || !self.queue.is_empty() {
            return Answer::NoPermits;
        }
        effects.sees.extend(&self.released);
        self.free -= n;
        Answer::Done
    }

    fn release(&mut self, n: usize, by: CallId) -> Answer {
        if self.free + n > MAX_PERMITS {
            return Answer::TooMany;
        }
        self.free += n;
        self.released.push(by);
        self.serve();
        Answer::Done
    }

    /// Serves from the front, as long as the first can have what it wants.
    fn serve(&mut self) {
        while let Some(&first) = self.queue.first() {
            let Place::Queued(n) = self.places[first] else { unreachable!("it is in the queue") };
            if n > self.free {
                return;
            }
            self.free -= n;
            self.places[first] = Place::Has(n);
            self.queue.remove(0);
        }
    }

    fn begin(&mut self, me: CallId, op: Op, effects: &mut Effects) -> Option<Answer> {
        match op {
            Op::Try(n) => return Some(self.take(n, effects)),
            Op::Acquire(n) => {
                self.places[me.thread] = Place::Wants(n);
                return None;
            }
            Op::Release(n) => return Some(self.release(n, me)),
            Op::ReleaseAll => return Some(self.release(MAX_PERMITS, me)),
            Op::Forget(n) => {
                let gone = n.min(self.free);
                self.free -= gone;
                return Some(Answer::Gone(gone));
            }
            Op::Close => {
                self.closed.get_or_insert(me);
                self.queue.drain(..).for_each(|i| self.places[i] = Place::Closed);
            }
        }
        Some(Answer::Done)
    }

    fn poll(&mut self, me: usize, effects: &mut Effects) -> Option<Answer> {
        let answer = match self.places[me] {
            Place::Wants(n) => match self.take(n, effects) {
                Answer::NoPermits => {
                    self.queue.push(me);
                    self.places[me] = Place::Queued(n);
                    return None;
                }
                answer => answer,
            },
            Place::Queued(_) | Place::Nowhere => return None,
            Place::Has(_) => {
                effects.sees.extend(self.released.first());
                Answer::Done
            }
            Place::Closed => {
                effects.sees.extend(self.closed);
                Answer::Closed
            }
        };
        self.places[me] = Place::Nowhere;
        Some(answer)
    }

    fn give_up(&mut self, me: usize) {
        self.queue.retain(|&other| other != me);
        if let Place::Has(n) = std::mem::replace(&mut self.places[me], Place::Nowhere) {
            self.free += n;
        }
        self.serve();
    }
}

impl Spec<Semaphores> for Counts {
    fn new(permits: usize, roles: &[()]) -> Self {
        let places = vec![Place::Nowhere; roles.len()];
        Counts { free: permits, closed: None, released: Vec::new(), queue: Vec::new(), places }
    }

    fn step(&mut self, me: CallId, does: Does<Op>, _: Option<&Answer>, effects: &mut Effects) -> Option<Answer> {
        match does {
            Does::Begin(op, _) => self.begin(me, op, effects),
            Does::Poll => self.poll(me.thread, effects),
            Does::Enable => unreachable!("no wait of a semaphore is enabled"),
            Does::GiveUp => {
                self.give_up(me.thread);
                None
            }
        }
    }
}
