//! Where a thread of a program sleeps, and its wakers, which count.

use crate::host::RoomHost;
use crate::plain;
use crate::values::has_dropped_one;
use kernel::host::Parker;
use kernel::waits::waker::{Lender, Waker, forget};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

/// Where a thread sleeps. How often it was woken is no memory of the model's.
pub struct Sleeper<H: RoomHost> {
    parker: H::Parker,
    wakes: AtomicU64,
    unsettled: AtomicU64,
    /// Of waits that are a part of its thread's: who wakes these is not counted as its wakes.
    asides: Mutex<Vec<Arc<Self>>>,
}

impl<H: RoomHost> Sleeper<H> {
    /// One in which no thread sleeps.
    pub fn new() -> Arc<Self> {
        let [wakes, unsettled] = [(); 2].map(|()| AtomicU64::new(0));
        Arc::new(Sleeper { parker: H::Parker::new(), wakes, unsettled, asides: Mutex::default() })
    }

    /// Sleeps until a waker is woken.
    pub fn park(&self) {
        self.parker.park();
    }

    /// The parker.
    pub fn parker(&self) -> &H::Parker {
        &self.parker
    }

    /// How often one of its wakers was woken.
    pub fn wakes(&self) -> u64 {
        self.wakes.load(SeqCst)
    }

    /// How many of its wakers are neither woken nor forgotten, and of those [aside](Lends::aside).
    pub fn unsettled(&self) -> u64 {
        let aside: u64 = plain::of(&self.asides).iter().map(|sleeper| sleeper.unsettled()).sum();
        self.unsettled.load(SeqCst) + aside
    }

    fn wake(&self) {
        // An execution that is cut off unwinds its threads: what they do then is not looked at.
        if std::thread::panicking() {
            return;
        }
        no_lock_is_held::<H>("woken");
        // A destructor that panics would leave the waiter asleep.
        assert!(!has_dropped_one::<H>(), "a value is dropped before a waiter is woken");
        self.wakes.fetch_add(1, SeqCst);
        self.parker.unpark();
    }

    /// A lender of its wakers. A trusted one may be copied while a lock is held.
    pub fn lends(self: &Arc<Self>, is_trusted: bool) -> Lends<H> {
        Lends { sleeper: Arc::clone(self), copy: None, is_trusted }
    }
}

/// A waker. Each is woken or forgotten: one that is left in the room wakes a wait that is over.
pub struct Wakes<H: RoomHost>(Arc<Sleeper<H>>);

impl<H: RoomHost> Wakes<H> {
    fn of(sleeper: &Arc<Sleeper<H>>) -> Self {
        sleeper.unsettled.fetch_add(1, SeqCst);
        Wakes(Arc::clone(sleeper))
    }
}

impl<H: RoomHost> Waker for Wakes<H> {
    fn wake(self) {
        self.0.unsettled.fetch_sub(1, SeqCst);
        self.0.wake();
    }
    fn forget(self) {
        self.0.unsettled.fetch_sub(1, SeqCst);
        no_lock_is_held::<H>("dropped");
    }
}

/// The same, for a peer's `Future`.
struct StdWakes<H: RoomHost>(Arc<Sleeper<H>>);

impl<H: RoomHost> std::task::Wake for StdWakes<H> {
    fn wake(self: Arc<Self>) {
        self.0.wake();
    }
}

/// A waker is other people's code: it may call the room. An execution that is cut off unwinds its threads.
fn no_lock_is_held<H: RoomHost>(what: &str) {
    assert!(std::thread::panicking() || !H::holds_a_lock(), "a waker is {what} while a lock is held");
}

/// Lends copies of a waker.
pub struct Lends<H: RoomHost> {
    sleeper: Arc<Sleeper<H>>,
    copy: Option<Wakes<H>>,
    is_trusted: bool,
}

impl<H: RoomHost> Lends<H> {
    /// Whose wakers it lends, as a number that no other sleeper has.
    pub fn sleeper(&self) -> usize {
        Arc::as_ptr(&self.sleeper).addr()
    }

    /// Wakers of a wait that is a part of this one: they wake no thread, and each is to be woken or forgotten.
    pub fn aside(&self) -> Self {
        let aside = Sleeper::new();
        plain::of(&self.sleeper.asides).push(Arc::clone(&aside));
        aside.lends(true)
    }

    /// The waker for a peer's `Future`.
    pub fn std_waker(&self) -> std::task::Waker {
        std::task::Waker::from(Arc::new(StdWakes(Arc::clone(&self.sleeper))))
    }
}

impl<H: RoomHost> Lender for Lends<H> {
    type Waker = Wakes<H>;
    fn is_same(&self, waker: &Wakes<H>) -> bool {
        Arc::ptr_eq(&self.sleeper, &waker.0)
    }
    fn lend(&mut self) -> Option<Wakes<H>> {
        self.copy.take().or_else(|| self.is_trusted.then(|| Wakes::of(&self.sleeper)))
    }
    fn prepare(&mut self) {
        no_lock_is_held::<H>("cloned");
        // Without this a poll that asks for copies for ever would hang the checker.
        assert!(self.copy.is_none(), "a copy of the waker is asked for, and the last was not used");
        self.copy = Some(Wakes::of(&self.sleeper));
    }
}

impl<H: RoomHost> Drop for Lends<H> {
    fn drop(&mut self) {
        forget(self.copy.take());
    }
}
