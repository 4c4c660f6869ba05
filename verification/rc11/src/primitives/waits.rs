//! What threads wait at: locks and parkers.

use super::{Place, advance};
use crate::graph::{Order, Update};
use crate::machine::{self, LOCKING, PARKING, ask};
use crate::step::Ask;
use std::sync::{Mutex, TryLockError};

/// A value that one thread at a time may touch. A thread that finds it taken waits, and is no event until it is open.
///
/// ```
/// use rc11::engine::{Config, Lock, explore, fork, holds_a_lock};
/// use std::sync::Arc;
/// let report = explore(&Config::default(), || {
///     let count = Arc::new(Lock::new(0));
///     let theirs = Arc::clone(&count);
///     let other = fork("other", move || theirs.with(|n| *n += 1));
///     count.with(|n| { assert!(holds_a_lock()); *n += 1 });
///     other.join();
///     count.with(|n| n.to_string())
/// }, |_| ());
/// assert!(report.tally.outcomes.keys().eq(["2"]));
/// ```
pub struct Lock<T> {
    place: Place,
    value: Mutex<T>,
}

impl<T> Lock<T> {
    /// An open lock around `value`.
    #[track_caller]
    pub fn new(value: T) -> Lock<T> {
        Lock { place: Place::new(0), value: Mutex::new(value) }
    }

    /// Runs `f` alone. Entering acquires what leaving released. Entered again from inside of `f`, it is a deadlock.
    #[track_caller]
    pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        self.place.update(Order::Acquire, LOCKING);
        let result = match self.value.try_lock() {
            Ok(mut value) => f(&mut value),
            Err(TryLockError::Poisoned(value)) => f(&mut value.into_inner()),
            // Only when the execution is over: the thread that has it will never go on.
            Err(TryLockError::WouldBlock) => machine::rest_in_peace(),
        };
        ask(Ask::Open { loc: self.place.loc });
        result
    }
}

/// Where one thread sleeps until another wakes it. An [`unpark`](Parker::unpark) before the [`park`](Parker::park) is
/// remembered, once.
///
/// ```
/// use rc11::engine::{Config, Parker, explore, fork};
/// use std::sync::Arc;
/// let report = explore(&Config::default(), || {
///     let parker = Arc::new(Parker::new());
///     let theirs = Arc::clone(&parker);
///     let other = fork("other", move || theirs.unpark());
///     parker.park();
///     other.join();
///     parker.park_timeout(1_000);
///     String::new()
/// }, |_| ());
/// assert!(report.is_proof());
/// ```
pub struct Parker(Place);

impl Parker {
    /// A parker that remembers nothing.
    #[expect(clippy::new_without_default, reason = "a location is made here and now, in an execution")]
    #[track_caller]
    pub fn new() -> Parker {
        Parker(Place::new(0))
    }

    /// Sleeps until `unpark`, and acquires what that released. May wake spuriously, as often in an execution as
    /// [`Config::spurious`](crate::engine::Config::spurious) says, and then acquires too.
    #[track_caller]
    pub fn park(&self) {
        let is_spurious = machine::may_wake_spuriously() && ask(Ask::Spurious) == 1;
        self.0.update(Order::Acquire, if is_spurious { Update::Swap(0) } else { PARKING });
    }

    /// As `park`, but does not wait: without an `unpark` before it, `nanos` pass.
    #[track_caller]
    pub fn park_timeout(&self, nanos: u64) {
        if self.0.update(Order::Acquire, Update::Swap(0)) == 0 {
            advance(nanos);
        }
    }

    /// Wakes the thread in `park`, or lets the next `park` return at once. Releases.
    #[track_caller]
    pub fn unpark(&self) {
        self.0.update(Order::Release, Update::Swap(1));
    }
}
