//! Each value to every receiver, with room for so many. tokio: `sync::broadcast`.
//!
//! **Each receiver gets every value that is sent while it is there, once and in the order of sending; but if more than there is room
//! for were sent before it came for them, it is told how many it has missed, and goes on with the oldest that is left. No sender
//! waits.**
//!
//! | a receiver                                                  | a sender                                                |
//! |-------------------------------------------------------------|---------------------------------------------------------|
//! | under one lock: has it missed any? is there one it has not had? counts it as read; if not, enqueues its waiter | under one lock: drops the oldest if there is no room, puts the value behind the others, serves all that wait |
//! | sleeps, until it is woken                                   | unlocks; wakes                                          |
//! | the last that reads a value takes it out                    | dropped: the last serves all that wait                  |
//!
//! Values are numbered. Those in the ring have numbers in a row; a receiver has that of its next. A receiver that has read a value has read all
//! before it, so those that all have read are at the front. Values are cloned and dropped under no lock.
//!
//! Checked by: verification/rooms/src/rooms/broadcast.rs

use crate::host::{Host, Lock};
use crate::waits::chan::errors::SendError;
use crate::waits::wait_list::{Place, Served, WaitList};
use crate::waits::waker::{Lender, Waker, wake};
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::task::Poll;

/// A value in the ring.
struct Slot<T> {
    value: Arc<T>,
    /// How many receivers have yet to read it.
    unread: usize,
}

/// Why a receiver gets no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// All were read, and no sender is left.
    Closed,
    /// So many were sent, and are gone.
    Lagged(u64),
}

/// What is to be done outside of the lock when a value was put.
pub struct Put<T, W> {
    /// Those that wait are woken.
    pub woken: Vec<W>,
    /// The oldest value is dropped, if there was no room for both.
    pub oldest: Option<Arc<T>>,
    /// So many receive.
    pub receivers: usize,
}

/// What it is under its lock.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::broadcast::{Missing, State};
/// let mut state = State::<Os, &str, Task>::new(1, 1); // room for one value, one receiver
/// let mut next = state.next_number();
/// state.put(Arc::new("a")).expect("there is a receiver");
/// let put = state.put(Arc::new("b")).expect("there is a receiver");
/// assert_eq!((put.receivers, put.oldest.as_deref()), (1, Some(&"a"))); // it had to go
/// assert_eq!(state.take(&mut next), Some(Err(Missing::Lagged(1))));
/// assert_eq!(state.take(&mut next), Some(Ok(Arc::new("b"))));
///
/// state.add_sender();
/// state.drop_sender();
/// assert!(state.drop_sender().is_empty()); // the last sender; no task waited
/// assert_eq!(state.take(&mut next), Some(Err(Missing::Closed)));
/// let late = state.add_receiver();
/// state.drop_receiver(late);
/// assert_eq!(state.receivers(), 1);
/// # }
/// ```
pub struct State<H: Host, T, W> {
    capacity: usize,
    ring: VecDeque<Slot<T>>,
    /// The number of the first in the ring, or of the next that is sent.
    first: u64,
    senders: usize,
    receivers: usize,
    /// Receivers that wait for a value.
    values: WaitList<H, W>,
    /// Senders that wait until no receiver is left.
    ends: WaitList<H, W>,
}

impl<H: Host, T, W: Waker> State<H, T, W> {
    /// One sender and so many receivers; room for `capacity`.
    pub const fn new(capacity: usize, receivers: usize) -> Self {
        State {
            capacity,
            ring: VecDeque::new(),
            first: 0,
            senders: 1,
            receivers,
            values: WaitList::new(),
            ends: WaitList::new(),
        }
    }

    /// How many values a receiver has yet to read.
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Has every receiver read everything?
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// How many send.
    pub const fn senders(&self) -> usize {
        self.senders
    }

    /// How many receive.
    pub const fn receivers(&self) -> usize {
        self.receivers
    }

    /// The number of the next value that is sent.
    pub fn next_number(&self) -> u64 {
        self.first + self.ring.len() as u64
    }

    /// Puts a value behind the others, for all that receive now.
    ///
    /// # Errors
    /// There is no receiver.
    pub fn put(&mut self, value: Arc<T>) -> Result<Put<T, W>, Arc<T>> {
        if self.receivers == 0 {
            return Err(value);
        }
        let oldest = if self.ring.len() == self.capacity { self.pop() } else { None };
        self.ring.push_back(Slot { value, unread: self.receivers });
        Ok(Put { woken: self.values.serve_all(), oldest, receivers: self.receivers })
    }

    fn pop(&mut self) -> Option<Arc<T>> {
        let slot = self.ring.pop_front()?;
        self.first += 1;
        Some(slot.value)
    }

    /// The value of number `next`, which goes up. `None`: it is yet to be sent.
    ///
    /// # Errors
    /// [`Missing`] says why it will never be read.
    pub fn take(&mut self, next: &mut u64) -> Option<Result<Arc<T>, Missing>> {
        if *next < self.first {
            let missed = self.first - *next;
            *next = self.first;
            return Some(Err(Missing::Lagged(missed)));
        }
        let Some(slot) = self.ring.get_mut((*next - self.first) as usize) else {
            return (self.senders == 0).then_some(Err(Missing::Closed));
        };
        *next += 1;
        slot.unread -= 1;
        let value = if slot.unread > 0 { Some(Arc::clone(&slot.value)) } else { self.pop() };
        value.map(Ok)
    }

    /// One more receives, from the next value on. Its number.
    pub fn add_receiver(&mut self) -> u64 {
        self.receivers += 1;
        self.next_number()
    }

    /// One receiver less, which would have read number `next`. What is to be dropped and woken outside of the lock: values that
    /// no other is to read; and if it was the last, those that wait for that.
    pub fn drop_receiver(&mut self, next: u64) -> (Vec<Arc<T>>, Vec<W>) {
        self.receivers -= 1;
        let read = next.saturating_sub(self.first) as usize;
        self.ring.iter_mut().skip(read).for_each(|slot| slot.unread -= 1);
        let mut values = Vec::new();
        while self.ring.front().is_some_and(|slot| slot.unread == 0) {
            values.extend(self.pop());
        }
        (values, if self.receivers == 0 { self.ends.serve_all() } else { Vec::new() })
    }

    /// One more sends.
    pub fn add_sender(&mut self) {
        self.senders += 1;
    }

    /// One sender less. If it was the last, all that wait go on.
    pub fn drop_sender(&mut self) -> Vec<W> {
        self.senders -= 1;
        if self.senders == 0 { self.values.serve_all() } else { Vec::new() }
    }

    /// Receivers that wait for a value.
    pub const fn values(&mut self) -> &mut WaitList<H, W> {
        &mut self.values
    }

    const fn ends(&mut self) -> &mut WaitList<H, W> {
        &mut self.ends
    }
}

/// What senders and receivers have in common.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::broadcast::{Broadcast, State, own};
/// type Lock = OsLock<State<Os, u8, Task>>;
/// let broadcast = Broadcast::<Os, u8, Task, Lock>::new(8, 1);
/// let (mut mine, mut others) = (0, broadcast.subscribe());
/// assert_eq!(broadcast.send(7).expect("there are receivers"), 2);
/// let mut task = Task::default();
/// for next in [&mut mine, &mut others] {
///     let Poll::Ready(Ok(value)) = broadcast.recv().poll(next, &mut task) else { panic!("it was sent") };
///     assert_eq!(own(value), 7);
/// }
/// broadcast.drop_receiver(mine);
/// broadcast.drop_receiver(others);
/// assert!(broadcast.closed().poll(&mut task).is_ready());
/// assert!(broadcast.send(8).is_err());
/// broadcast.drop_sender();
/// assert_eq!(broadcast.with(|state| state.senders()), 0);
/// # }
/// ```
pub struct Broadcast<H: Host, T, W, L> {
    state: L,
    holds: PhantomData<(H, T, W)>,
}

impl<H: Host, T, W: Waker, L: Lock<State<H, T, W>>> Broadcast<H, T, W, L> {
    /// One sender and so many receivers; room for `capacity`, which is not 0.
    pub fn new(capacity: usize, receivers: usize) -> Self {
        Broadcast { state: L::new(State::new(capacity, receivers)), holds: PhantomData }
    }

    /// Under the lock. None of the user's code is to run there: what is to be woken or dropped is returned.
    pub fn with<R>(&self, f: impl FnOnce(&mut State<H, T, W>) -> R) -> R {
        self.state.with(f)
    }

    /// Sends. To how many.
    ///
    /// # Errors
    /// There is no receiver; here is the value.
    pub fn send(&self, value: T) -> Result<usize, SendError<T>> {
        let value = Arc::new(value);
        match self.with(|state| state.put(value)) {
            Ok(Put { woken, oldest, receivers }) => {
                wake(woken);
                drop(oldest);
                Ok(receivers)
            }
            Err(value) => {
                Err(SendError(Arc::into_inner(value).expect("broadcast: a value that was not sent is somebody's")))
            }
        }
    }

    /// One more receives, from the next value on. Its number.
    pub fn subscribe(&self) -> u64 {
        self.with(State::add_receiver)
    }

    /// One receiver less, which would have read number `next`.
    pub fn drop_receiver(&self, next: u64) {
        let (values, woken) = self.with(|state| state.drop_receiver(next));
        wake(woken);
        drop(values);
    }

    /// One sender less.
    pub fn drop_sender(&self) {
        let woken = self.with(State::drop_sender);
        wake(woken);
    }

    /// A receive.
    pub const fn recv(&self) -> Recv<'_, H, T, W, L> {
        Recv { broadcast: self, place: Place::new() }
    }

    /// A wait until no receiver is left.
    pub const fn closed(&self) -> End<'_, H, T, W, L> {
        End { broadcast: self, place: Place::new() }
    }
}

/// The value itself, if it is the last; else a copy.
///
/// ```
/// use spinpark_kernel::waits::broadcast::own;
/// use std::sync::Arc;
/// let value = Arc::new(String::from("a"));
/// assert_eq!(own(Arc::clone(&value)), "a"); // a copy
/// assert_eq!(own(value), "a"); // the value itself
/// ```
pub fn own<T: Clone>(value: Arc<T>) -> T {
    Arc::try_unwrap(value).unwrap_or_else(|value| (*value).clone())
}

/// A receiver that waits for a value.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::broadcast::{Broadcast, State};
/// let broadcast = Broadcast::<Os, u8, Task, OsLock<State<Os, u8, Task>>>::new(8, 1);
/// let (mut task, mut next, mut receive) = (Task::default(), 0, broadcast.recv());
/// assert!(receive.poll(&mut next, &mut task).is_pending());
/// assert_eq!(broadcast.send(7).expect("there is a receiver"), 1);
/// assert_eq!(task.wakes(), 1);
/// assert_eq!(receive.poll(&mut next, &mut task), Poll::Ready(Ok(Arc::new(7))));
/// # }
/// ```
pub struct Recv<'a, H: Host, T, W: Waker, L: Lock<State<H, T, W>>> {
    broadcast: &'a Broadcast<H, T, W, L>,
    place: Place,
}

impl<H: Host, T, W: Waker, L: Lock<State<H, T, W>>> Recv<'_, H, T, W, L> {
    /// The value of number `next`, which goes up; if it is yet to be sent the receiver waits, by the lender's waker.
    ///
    /// # Errors
    /// [`Missing`] says why it will never be read.
    pub fn poll(&mut self, next: &mut u64, lender: &mut impl Lender<Waker = W>) -> Poll<Result<Arc<T>, Missing>> {
        self.place.poll(&self.broadcast.state, State::values, lender, |state, _| state.take(next))
    }
}

impl<H: Host, T, W: Waker, L: Lock<State<H, T, W>>> Drop for Recv<'_, H, T, W, L> {
    fn drop(&mut self) {
        self.place.leave(&self.broadcast.state, State::values, |_, _| None);
    }
}

/// A sender that waits until no receiver is left.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::broadcast::{Broadcast, State};
/// let broadcast = Broadcast::<Os, u8, Task, OsLock<State<Os, u8, Task>>>::new(8, 1);
/// let (mut task, mut end) = (Task::default(), broadcast.closed());
/// assert!(end.poll(&mut task).is_pending());
/// broadcast.drop_receiver(0);
/// assert_eq!((task.wakes(), end.poll(&mut task)), (1, Poll::Ready(())));
/// # }
/// ```
pub struct End<'a, H: Host, T, W: Waker, L: Lock<State<H, T, W>>> {
    broadcast: &'a Broadcast<H, T, W, L>,
    place: Place,
}

impl<H: Host, T, W: Waker, L: Lock<State<H, T, W>>> End<'_, H, T, W, L> {
    /// Is no receiver left, or was none for a moment? If not it waits, by the lender's waker.
    pub fn poll(&mut self, lender: &mut impl Lender<Waker = W>) -> Poll<()> {
        let look = |state: &mut State<H, T, W>, served| (served != Served::No || state.receivers == 0).then_some(());
        self.place.poll(&self.broadcast.state, State::ends, lender, look)
    }
}

impl<H: Host, T, W: Waker, L: Lock<State<H, T, W>>> Drop for End<'_, H, T, W, L> {
    fn drop(&mut self) {
        self.place.leave(&self.broadcast.state, State::ends, |_, _| None);
    }
}
