//! An operation that the system completes, and what it uses meanwhile: a buffer, a file. Go: none; Windows: `OVERLAPPED`.
//!
//! **What the system may still use is not freed before the operation is complete, and after that once: by the task that waits
//! for it, or, if that has given up, by the thread that takes the completion. A task that waits is woken by the completion.**
//!
//! | the task                                                      | the thread that takes the completion                  |
//! |---------------------------------------------------------------|-------------------------------------------------------|
//! | under one lock: is it complete? takes the result and what was held; if not leaves its waker | under one lock: the result lies there, takes the waker; unless the task has given up: takes what was held |
//! | sleeps, until it is woken                                     | unlocks; wakes, or frees                              |
//! | gives up, under one lock: is it complete? takes what was held; if not it has given up | -                             |
//! | unlocks; frees what it took, or asks the system to cancel     | -                                                     |
//!
//! To ask for a cancellation is no end: the completion comes in any case, sooner, and says what was done. It may be on its way as the
//! task asks; so the system is asked by a number that no other operation gets.
//!
//! Checked by: verification/rooms/src/rooms/operation.rs

use crate::host::Lock;
use crate::waits::waker::{Lender, Waits, Waker, forget, wait_at, wake};
use core::marker::PhantomData;
use core::task::Poll;

/// What it is under its lock. `B`: what is held; `R`: the result.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::operation::{Operation, State};
/// let operation = Operation::<Vec<u8>, usize, Task, OsLock<State<Vec<u8>, usize, Task>>>::new(vec![0; 4]);
/// let mut task = Task::default();
/// assert!(operation.poll(&mut task).is_pending());
/// let left = operation.with(|state| state.completes(4)); // under the lock
/// assert!(!left.settle()); // wakes, outside of it
/// assert_eq!((task.wakes(), operation.poll(&mut task)), (1, Poll::Ready((vec![0; 4], 4))));
/// # }
/// ```
pub struct State<B, R, W> {
    /// `None`: it was taken, to be freed.
    held: Option<B>,
    result: Option<R>,
    has_given_up: bool,
    waker: Option<W>,
}

/// What the end of one side came upon. Outside of the lock it is [settled](Left::settle).
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::operation::Left;
/// let task = Task::default();
/// let left = Left { wakes: Some(task.clone()), forgets: None, frees: Some(vec![0u8; 4]), is_under_way: true };
/// assert!(left.settle()); // the system is to be asked to cancel the operation
/// assert_eq!(task.wakes(), 1);
/// # }
/// ```
pub struct Left<B, W> {
    /// To be woken.
    pub wakes: Option<W>,
    /// To be dropped.
    pub forgets: Option<W>,
    /// To be freed.
    pub frees: Option<B>,
    /// The operation is under way still: it should be cancelled.
    pub is_under_way: bool,
}

impl<B, W: Waker> Left<B, W> {
    /// Wakes, drops and frees, outside of the lock. Is the operation under way still?
    pub fn settle(self) -> bool {
        wake(self.wakes);
        forget(self.forgets);
        drop(self.frees);
        self.is_under_way
    }
}

impl<B, R, W: Waker> State<B, R, W> {
    /// It is under way.
    const fn new(held: B) -> Self {
        State { held: Some(held), result: None, has_given_up: false, waker: None }
    }

    /// Has the task given up?
    pub const fn has_given_up(&self) -> bool {
        self.has_given_up
    }

    /// The system has done with it.
    pub fn completes(&mut self, result: R) -> Left<B, W> {
        self.result = Some(result);
        let frees = if self.has_given_up { self.held.take() } else { None };
        Left { wakes: self.waker.take(), forgets: None, frees, is_under_way: false }
    }

    /// The task takes the result, and what was held. Once.
    fn take(&mut self) -> Option<(B, R)> {
        let result = self.result.take()?;
        self.held.take().map(|held| (held, result))
    }

    /// The task waits.
    fn waits(&mut self, lender: &mut impl Lender<Waker = W>) -> Waits<W> {
        wait_at(&mut self.waker, lender)
    }

    /// The task gives up.
    fn gives_up(&mut self) -> Left<B, W> {
        self.has_given_up = true;
        let is_under_way = self.held.is_some() && self.result.is_none();
        let frees = if is_under_way { None } else { self.held.take() };
        Left { wakes: None, forgets: self.waker.take(), frees, is_under_way }
    }
}

type Holds<B, R, W> = fn(State<B, R, W>);

/// What both sides have in common.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::operation::{Operation, State};
/// type Read = Operation<Vec<u8>, usize, Task, OsLock<State<Vec<u8>, usize, Task>>>;
/// let (read, mut task) = (Read::new(vec![0; 4]), Task::default());
/// assert!(read.poll(&mut task).is_pending());
/// read.complete(4).settle(); // by the thread that hears from the system
/// assert_eq!((task.wakes(), read.poll(&mut task)), (1, Poll::Ready((vec![0; 4], 4))));
///
/// let read = Read::new(vec![0; 4]);
/// assert!(read.give_up()); // under way: the system is asked to cancel it
/// let left = read.complete(0);
/// assert!(left.frees.is_some()); // now that the system is done with the buffer
/// assert!(read.with(|state| state.has_given_up()));
/// # }
/// ```
pub struct Operation<B, R, W, L> {
    state: L,
    holds: PhantomData<Holds<B, R, W>>,
}

impl<B, R, W: Waker, L: Lock<State<B, R, W>>> Operation<B, R, W, L> {
    /// It is under way, or about to be given to the system, which uses what is `held`.
    #[track_caller]
    pub fn new(held: B) -> Self {
        Operation { state: L::new(State::new(held)), holds: PhantomData }
    }

    /// Under the lock. None of the user's code is to run there: what is to be woken or dropped is returned.
    pub fn with<T>(&self, f: impl FnOnce(&mut State<B, R, W>) -> T) -> T {
        self.state.with(f)
    }

    /// The system has done with it. What is to be woken or freed is returned.
    #[must_use = "the task is to be woken"]
    pub fn complete(&self, result: R) -> Left<B, W> {
        self.with(|state| state.completes(result))
    }

    /// The task waits for the result, and what was held.
    pub fn poll(&self, lender: &mut impl Lender<Waker = W>) -> Poll<(B, R)> {
        loop {
            // Under one lock: its completion finds the waker, or was seen.
            match self.with(|state| state.take().ok_or_else(|| state.waits(lender))) {
                Ok(taken) => return Poll::Ready(taken),
                Err(Waits::Yes(old)) => {
                    forget(old);
                    return Poll::Pending;
                }
                Err(Waits::NeedsCopy) => lender.prepare(),
            }
        }
    }

    /// The task gives up. Is it under way still? Then the system is to be asked to cancel it.
    pub fn give_up(&self) -> bool {
        self.with(State::gives_up).settle()
    }
}
