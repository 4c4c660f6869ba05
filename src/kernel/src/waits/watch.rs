//! The latest value, and waiting for a later one. tokio: `sync::watch`.
//!
//! **A receiver that has seen a version and waits goes on once there is a later one, or no sender; and reads a value at least as late as the
//! version that it takes for seen. So no change is missed, and what is read last is what was sent last.**
//!
//! | a receiver                                                  | a sender                                                |
//! |-------------------------------------------------------------|---------------------------------------------------------|
//! | waits, under the state's lock: is the version another than that seen? enqueues its waiter | holds the value's lock, for writing: changes the value |
//! | sleeps, until it is woken                                   | under it, under the state's lock: counts the version, serves all that wait |
//! | holds the value's lock, for reading: reads the value and, under the state's lock, the version | unlocks both; wakes |
//!
//! The version is counted while the value is locked for writing, so a reader that has it locked finds both of one sending. The
//! value's lock is always taken first.
//!
//! Checked by: verification/rooms/src/rooms/watch.rs

use crate::host::{Host, Lock};
use crate::waits::chan::errors::Closed;
use crate::waits::wait_list::{Place, Served, WaitList};
use crate::waits::waker::{Lender, Waker, wake};
use alloc::vec::Vec;
use core::task::Poll;

/// Where the value lies: under a lock that many may read at once.
pub trait Slot {
    /// The value.
    type Value;
    /// The value, while it is locked for reading.
    type Ref<'a>
    where
        Self: 'a;

    /// Locks for reading, calls `f`, and hands the lock out.
    fn read<R>(&self, f: impl FnOnce() -> R) -> (Self::Ref<'_>, R);

    /// Calls `f` while it is locked for writing.
    fn write<R>(&self, f: impl FnOnce(&mut Self::Value) -> R) -> R;
}

/// The version and the wait list.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// use spinpark_kernel::waits::{waker::wake, watch::State};
/// let (mut state, task) = (State::<Os, Task>::new(1), Task::default());
/// state.changes().enqueue(Some(task.clone()));
/// wake(state.count_version());
/// assert_eq!((task.wakes(), state.version()), (1, 1));
/// assert!(state.drop_sender().is_empty() && state.drop_receiver().is_empty()); // no task waits
/// assert_eq!((state.senders(), state.receivers()), (0, 0));
/// # }
/// ```
pub struct State<H: Host, W> {
    version: u64,
    senders: usize,
    receivers: usize,
    /// Receivers that wait for a change.
    changes: WaitList<H, W>,
    /// Senders that wait until no receiver is left.
    ends: WaitList<H, W>,
}

impl<H: Host, W: Waker> State<H, W> {
    /// One sender, and so many receivers.
    pub const fn new(receivers: usize) -> Self {
        State { version: 0, senders: 1, receivers, changes: WaitList::new(), ends: WaitList::new() }
    }

    /// Which value it is.
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// How many send.
    pub const fn senders(&self) -> usize {
        self.senders
    }

    /// How many receive.
    pub const fn receivers(&self) -> usize {
        self.receivers
    }

    /// The value has changed: all that wait for that go on.
    pub fn count_version(&mut self) -> Vec<W> {
        self.version += 1;
        self.changes.serve_all()
    }

    /// One sender less. If it was the last, nothing will change any more.
    pub fn drop_sender(&mut self) -> Vec<W> {
        self.senders -= 1;
        if self.senders == 0 { self.changes.serve_all() } else { Vec::new() }
    }

    /// One receiver less. If it was the last, those go on that wait for that.
    pub fn drop_receiver(&mut self) -> Vec<W> {
        self.receivers -= 1;
        if self.receivers == 0 { self.ends.serve_all() } else { Vec::new() }
    }

    /// Is there another version than the one that was seen? Which? None is, and none will be: it is closed.
    fn later_than(&self, seen: u64) -> Option<Result<u64, Closed>> {
        match (self.version, self.senders) {
            (now, _) if now != seen => Some(Ok(now)),
            (_, 0) => Some(Err(Closed)),
            _ => None,
        }
    }

    /// Receivers that wait for a change.
    pub const fn changes(&mut self) -> &mut WaitList<H, W> {
        &mut self.changes
    }

    const fn ends(&mut self) -> &mut WaitList<H, W> {
        &mut self.ends
    }
}

/// What senders and receivers have in common.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/waits.in")); fn main() {
/// # use spinpark_kernel::waits::watch::Slot;
/// # use std::sync::{RwLock, RwLockReadGuard};
/// # struct OsSlot(RwLock<u8>);
/// # impl Slot for OsSlot {
/// #     type Value = u8;
/// #     type Ref<'a> = RwLockReadGuard<'a, u8>;
/// #     fn read<R>(&self, f: impl FnOnce() -> R) -> (RwLockReadGuard<'_, u8>, R) {
/// #         let guard = self.0.read().unwrap();
/// #         let result = f();
/// #         (guard, result)
/// #     }
/// #     fn write<R>(&self, f: impl FnOnce(&mut u8) -> R) -> R { f(&mut self.0.write().unwrap()) }
/// # }
/// use spinpark_kernel::waits::watch::Watch;
/// let watch = Watch::<Os, Task, _>::new(OsSlot(RwLock::new(1)), 1); // the lock is the embedder's
/// let (mut task, mut change) = (Task::default(), watch.changed());
/// assert!(change.poll(0, &mut task).is_pending()); // version 0 was seen
/// assert_eq!(watch.send(2), Ok(1)); // the value that there was
/// assert_eq!((task.wakes(), change.poll(0, &mut task)), (1, Poll::Ready(Ok(1))));
/// assert!(!watch.modify(|_| false)); // not another value
/// assert_eq!((watch.replace(3), *watch.read().0), (2, 3));
///
/// watch.add_sender();
/// watch.drop_sender();
/// assert_eq!(watch.add_receiver(), 2); // the version
/// watch.drop_receiver();
/// watch.drop_receiver();
/// assert!(watch.closed().poll(&mut task).is_ready());
/// assert_eq!((watch.send(4), watch.with(|state| state.senders())), (Err(4), 1));
/// # }
/// ```
pub struct Watch<H: Host, W: Waker + Send + 'static, S> {
    slot: S,
    state: H::Lock<State<H, W>>,
}

impl<H: Host, W: Waker + Send + 'static, S: Slot> Watch<H, W, S> {
    /// With a value, one sender, and so many receivers that have seen it.
    pub fn new(slot: S, receivers: usize) -> Self {
        Watch { slot, state: H::Lock::new(State::new(receivers)) }
    }

    /// Under the state's lock.
    pub fn with<R>(&self, f: impl FnOnce(&mut State<H, W>) -> R) -> R {
        self.state.with(f)
    }

    /// Where the value lies.
    pub const fn slot(&self) -> &S {
        &self.slot
    }

    /// The value, and its version.
    pub fn read(&self) -> (S::Ref<'_>, u64) {
        self.slot.read(|| self.with(|state| state.version))
    }

    /// Changes the value. `change` is called with the value locked, and says whether it is another now. If it panics, no receiver is
    /// notified of what it has changed until then.
    pub fn modify(&self, change: impl FnOnce(&mut S::Value) -> bool) -> bool {
        let woken = self.slot.write(|value| change(value).then(|| self.with(State::count_version)));
        let has_changed = woken.is_some();
        wake(woken.into_iter().flatten());
        has_changed
    }

    /// Another value in the place of the one that there was, which is returned; if there is a receiver.
    ///
    /// # Errors
    /// With the value: there is no receiver.
    pub fn send(&self, mut value: S::Value) -> Result<S::Value, S::Value> {
        let woken = self.slot.write(|old| {
            // Under one lock: the last receiver is gone before this send, or has been there for it.
            let woken = self.with(|state| (state.receivers > 0).then(|| state.count_version()));
            if woken.is_some() {
                core::mem::swap(old, &mut value);
            }
            woken
        });
        let is_sent = woken.is_some();
        wake(woken.into_iter().flatten());
        if is_sent { Ok(value) } else { Err(value) }
    }

    /// Another value in the place of this.
    pub fn replace(&self, mut value: S::Value) -> S::Value {
        self.modify(|old| {
            core::mem::swap(old, &mut value);
            true
        });
        value
    }

    /// One more sends.
    pub fn add_sender(&self) {
        self.with(|state| state.senders += 1);
    }

    /// One more receives. Which version there is.
    pub fn add_receiver(&self) -> u64 {
        self.with(|state| {
            state.receivers += 1;
            state.version
        })
    }

    /// One sender less.
    pub fn drop_sender(&self) {
        let woken = self.with(State::drop_sender);
        wake(woken);
    }

    /// One receiver less.
    pub fn drop_receiver(&self) {
        let woken = self.with(State::drop_receiver);
        wake(woken);
    }

    /// A wait for another version than the one that was seen.
    pub const fn changed(&self) -> Change<'_, H, W, S> {
        Change { watch: self, place: Place::new() }
    }

    /// A wait until no receiver is left.
    pub const fn closed(&self) -> End<'_, H, W, S> {
        End { watch: self, place: Place::new() }
    }
}

/// A receiver that waits for a change.
///
/// ```
/// // As `Receiver::changed` does it:
/// use spinpark_kernel::{host::Host, waits::{waker::Lender, watch::{Change, Slot}}};
/// fn has_changed<H: Host, S: Slot, L: Lender<Waker: Send + 'static>>(
///     change: &mut Change<'_, H, L::Waker, S>, seen: &mut u64, lender: &mut L,
/// ) -> bool {
///     let polled = change.poll(*seen, lender);
///     assert!(!matches!(polled, std::task::Poll::Ready(Ok(version)) if version == *seen)); // always another
///     polled.is_ready()
/// }
/// ```
pub struct Change<'a, H: Host, W: Waker + Send + 'static, S: Slot> {
    watch: &'a Watch<H, W, S>,
    place: Place,
}

impl<H: Host, W: Waker + Send + 'static, S: Slot> Change<'_, H, W, S> {
    /// Is there another version than the one that was `seen`? Which? If not it waits, by the lender's waker.
    ///
    /// # Errors
    /// [`Closed`]: there is no sender any more.
    pub fn poll(&mut self, seen: u64, lender: &mut impl Lender<Waker = W>) -> Poll<Result<u64, Closed>> {
        self.place.poll(&self.watch.state, State::changes, lender, |state, _| state.later_than(seen))
    }
}

impl<H: Host, W: Waker + Send + 'static, S: Slot> Drop for Change<'_, H, W, S> {
    fn drop(&mut self) {
        self.place.leave(&self.watch.state, State::changes, |_, _| None);
    }
}

/// A sender that waits until no receiver is left.
///
/// ```
/// // As `Sender::closed` does it:
/// use spinpark_kernel::{host::Host, waits::{waker::Lender, watch::{Slot, Watch}}};
/// fn is_closed<H: Host, S: Slot, L: Lender<Waker: Send + 'static>>(watch: &Watch<H, L::Waker, S>, lender: &mut L) -> bool {
///     watch.closed().poll(lender).is_ready()
/// }
/// ```
pub struct End<'a, H: Host, W: Waker + Send + 'static, S: Slot> {
    watch: &'a Watch<H, W, S>,
    place: Place,
}

impl<H: Host, W: Waker + Send + 'static, S: Slot> End<'_, H, W, S> {
    /// Is no receiver left, or was none for a moment? If not it waits, by the lender's waker.
    pub fn poll(&mut self, lender: &mut impl Lender<Waker = W>) -> Poll<()> {
        let look = |state: &mut State<H, W>, served| (served != Served::No || state.receivers == 0).then_some(());
        self.place.poll(&self.watch.state, State::ends, lender, look)
    }
}

impl<H: Host, W: Waker + Send + 'static, S: Slot> Drop for End<'_, H, W, S> {
    fn drop(&mut self) {
        self.place.leave(&self.watch.state, State::ends, |_, _| None);
    }
}
