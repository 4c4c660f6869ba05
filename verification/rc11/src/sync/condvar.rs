//! A condition variable. Which of the waiters is woken is tried each way; waking gives no order of its own, as in
//! std: that is the mutex's.

use super::MutexGuard;
use super::lock::RawLock;
use crate::graph::Order;
use crate::machine;
use crate::place::Place;
use crate::step::Ask;
use crate::timeout::{self, Timeout};
use std::sync::{Arc, LockResult, Mutex, MutexGuard as StdGuard, PoisonError};
use std::time::Duration;

/// Like `std::sync::Condvar`.
///
/// ```
/// use rc11::sync::{Arc, Condvar, Mutex};
/// use std::time::Duration;
/// rc11::model(|| {
///     let shared = Arc::new((Mutex::new(false), Condvar::new()));
///     let theirs = shared.clone();
///     let other = rc11::thread::spawn(move || {
///         *theirs.0.lock().unwrap() = true;
///         theirs.1.notify_one(); // or `notify_all()`
///     });
///     let mut is_set = shared.0.lock().unwrap();
///     while !*is_set {
///         is_set = shared.1.wait(is_set).unwrap();
///     }
///     is_set = shared.1.wait_while(is_set, |is_set| !*is_set).unwrap(); // the same, in one
///     let until = Duration::from_secs(1); // which may be over at any time
///     let (is_set, result) = shared.1.wait_timeout_while(is_set, until, |is_set| !*is_set).unwrap();
///     assert!(*is_set && !result.timed_out());
///     drop(is_set);
///     other.join().unwrap();
/// });
/// ```
#[derive(Debug)]
pub struct Condvar {
    raw: RawLock,
    waiters: Mutex<Vec<Arc<Place>>>,
}

/// Has a wait timed out?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// It has.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// One without waiters.
    ///
    /// # Panics
    /// Outside of a model.
    #[must_use]
    #[track_caller]
    pub fn new() -> Condvar {
        Condvar { raw: RawLock::new(), waiters: Mutex::default() }
    }

    fn waiters(&self) -> StdGuard<'_, Vec<Arc<Place>>> {
        self.waiters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the mutex, waits for a notification, and takes the mutex again. May wake spuriously, as often as the model
    /// allows: see [`Builder::spurious`](crate::model::Builder::spurious).
    ///
    /// # Errors
    /// If a holder of the mutex has panicked.
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        self.wait_and(guard, |me| me.sleep(Order::Relaxed)).result()
    }

    #[track_caller]
    fn wait_and<'a, T>(&self, mut guard: MutexGuard<'a, T>, sleep: impl FnOnce(&Place)) -> MutexGuard<'a, T> {
        let me = Arc::new(Place::internal(0));
        self.raw.lock_as(Order::Relaxed);
        self.waiters().push(Arc::clone(&me));
        self.raw.unlock();
        guard.open();
        if machine::may_wake_spuriously() && machine::ask(Ask::Spurious) == 1 {
            self.raw.lock_as(Order::Relaxed);
            self.waiters().retain(|waiter| !Arc::ptr_eq(waiter, &me));
            self.raw.unlock();
        } else {
            sleep(&me);
        }
        guard.take();
        guard
    }

    /// Waits as long as `condition` holds of what the mutex guards.
    ///
    /// # Errors
    /// If a holder of the mutex has panicked.
    #[track_caller]
    pub fn wait_while<'a, T, F>(&self, mut guard: MutexGuard<'a, T>, mut condition: F) -> LockResult<MutexGuard<'a, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        while condition(guard.unmarked()) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// As [`wait`](Condvar::wait), or it times out, whatever the duration and whenever it likes. A loop that waits again
    /// each time, and comes back in the same state, waits for ever; if nothing wakes it, that is a deadlock. One that counts
    /// its time-outs is *bounded*, if it has more than two in a row.
    ///
    /// # Errors
    /// If a holder of the mutex has panicked.
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        _duration: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        machine::wipe_if_tracked();
        let (guard, result) = self.wait_for_a_while(guard);
        match guard.result() {
            Ok(guard) => Ok((guard, result)),
            Err(poisoned) => Err(PoisonError::new((poisoned.into_inner(), result))),
        }
    }

    /// A function of its own, so that its frame lies where all was wiped: what an earlier wait has left in the gaps would count as
    /// the thread's state.
    #[track_caller]
    #[inline(never)]
    fn wait_for_a_while<'a, T>(&self, mut guard: MutexGuard<'a, T>) -> (MutexGuard<'a, T>, WaitTimeoutResult) {
        let (version, own) = (guard.version(), [guard.loc(), self.raw.loc()]);
        let timeout = timeout::again(version, &own);
        let timeout = match timeout {
            Some(timeout) => timeout,
            None => timeout::choose(version, &own),
        };
        let guard = match timeout {
            Timeout::Again => guard,
            Timeout::Now => {
                guard.open();
                guard.take();
                guard
            }
            Timeout::NotNow => self.wait_and(guard, |me| me.sleep_for_a_while(Order::Relaxed)),
            Timeout::ForEver => self.wait_and(guard, |me| me.sleep(Order::Relaxed)),
        };
        (guard, WaitTimeoutResult(matches!(timeout, Timeout::Again | Timeout::Now)))
    }

    /// Waits as long as `condition` holds of what the mutex guards, or until it times out.
    ///
    /// # Errors
    /// If a holder of the mutex has panicked.
    #[track_caller]
    pub fn wait_timeout_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        duration: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>
    where
        F: FnMut(&mut T) -> bool,
    {
        let mut result = WaitTimeoutResult(false);
        while condition(guard.unmarked()) {
            if result.timed_out() {
                return Ok((guard, result));
            }
            (guard, result) = self.wait_timeout(guard, duration)?;
        }
        Ok((guard, WaitTimeoutResult(false)))
    }

    /// Wakes one waiter, whichever.
    #[track_caller]
    pub fn notify_one(&self) {
        self.raw.lock_as(Order::Relaxed);
        let n = self.waiters().len();
        let which = if n > 1 { machine::ask(Ask::Choose(n as u32)) as usize } else { 0 };
        let woken = (n > 0).then(|| self.waiters().remove(which));
        self.raw.unlock();
        if let Some(woken) = woken {
            woken.wake(Order::Relaxed);
        }
    }

    /// Wakes all waiters.
    #[track_caller]
    pub fn notify_all(&self) {
        self.raw.lock_as(Order::Relaxed);
        let woken = std::mem::take(&mut *self.waiters());
        self.raw.unlock();
        for woken in woken {
            woken.wake(Order::Relaxed);
        }
    }
}

impl Default for Condvar {
    #[track_caller]
    fn default() -> Self {
        Condvar::new()
    }
}
