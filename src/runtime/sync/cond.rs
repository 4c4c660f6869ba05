//! Waiting, under a lock, for a change of what is in it.

use crate::runtime::exec::yielding::Leaf;
use crate::runtime::host::cores::{Cores, CoresLock};
use crate::runtime::sync::waking::Lender;
use crate::runtime::task_waker::TaskWaker;
use crate::waits::cond::{self, Place, State};
use async_lock::MutexGuard;
use async_lock::futures::Lock;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use pin_project_lite::pin_project;

/// Waits until what a [`Mutex`](crate::runtime::sync::Mutex) holds has changed. Go: `sync.Cond`.
///
/// ```
/// use spinpark::sync::{Cond, Mutex};
/// use std::sync::Arc;
///
/// # let runtime = spinpark::Runtime::builder().procs(2).build()?;
/// runtime.block_on(async {
///     let stock = Arc::new((Mutex::new(0), Cond::new()));
///     let seller = Arc::clone(&stock);
///     spinpark::spawn(async move {
///         *seller.0.lock().await += 1;
///         seller.1.notify_one();
///     });
///     let mut apples = stock.0.lock().await;
///     while *apples == 0 {
///         apples = stock.1.wait(apples).await; // unlocked meanwhile
///     }
///     *apples -= 1;
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Cond(cond::Cond<Cores, TaskWaker>);

impl Cond {
    /// No task waits.
    pub const fn new() -> Self {
        Cond(cond::Cond::from_lock(CoresLock::new(State::new())))
    }

    /// Unlocks the mutex and waits until it is notified; then locks it again and gives the guard back. It waits from the
    /// first poll on, which is when it unlocks: a change that is made under the lock after that is not missed. As others
    /// may come in between, the condition is to be asked again, in a loop. Go: `Wait`.
    ///
    /// # Cancel safety
    /// Dropped while it waits, it has unlocked the mutex, and a notification that was meant for it
    /// alone goes to the next. The guard is gone: lock again, and look at the condition.
    ///
    /// ```
    /// use spinpark::sync::{Cond, Mutex};
    /// use std::sync::Arc;
    ///
    /// # spinpark::run(async {
    /// let shared = Arc::new((Mutex::new(0), Cond::new()));
    /// let other = Arc::clone(&shared);
    /// let task = spinpark::spawn(async move {
    ///     *other.0.lock().await = 7;
    ///     other.1.notify_one();
    /// });
    /// let mut number = shared.0.lock().await;
    /// while *number == 0 {
    ///     number = shared.1.wait(number).await; // unlocked while it waits
    /// }
    /// assert_eq!(*number, 7);
    /// task.await.expect("no panic");
    /// # });
    /// ```
    pub fn wait<'a, T: ?Sized>(&'a self, guard: MutexGuard<'a, T>) -> CondWait<'a, T> {
        CondWait {
            place: self.0.place(),
            mutex: MutexGuard::source(&guard),
            guard: Some(guard),
            relock: None,
            leaf: Leaf::new(),
        }
    }

    /// Wakes the waiter that has waited longest, if there is one. From any thread, with the mutex or without. Go:
    /// `Signal`.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Wakes all that wait now. From any thread, with the mutex or without. Go: `Broadcast`.
    ///
    /// ```
    /// use spinpark::sync::{Cond, Mutex};
    /// use std::sync::Arc;
    ///
    /// # spinpark::run(async {
    /// let shared = Arc::new((Mutex::new(false), Cond::new()));
    /// let other = Arc::clone(&shared);
    /// let waits = spinpark::spawn(async move {
    ///     let mut open = other.0.lock().await;
    ///     while !*open {
    ///         open = other.1.wait(open).await;
    ///     }
    /// });
    /// *shared.0.lock().await = true;
    /// shared.1.notify_all();
    /// waits.await.expect("no panic");
    /// # });
    /// ```
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}

impl Default for Cond {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Cond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cond").finish_non_exhaustive()
    }
}

pin_project! {
    /// What [`Cond::wait`] returns.
    #[must_use = "a future does nothing until it is awaited"]
    pub struct CondWait<'a, T: ?Sized> {
        place: Place<'a, Cores, TaskWaker>,
        mutex: &'a async_lock::Mutex<T>,
        // Until the first poll.
        guard: Option<MutexGuard<'a, T>>,
        #[pin]
        relock: Option<Lock<'a, T>>,
        leaf: Leaf,
    }
}

impl<'a, T: ?Sized> Future for CondWait<'a, T> {
    type Output = MutexGuard<'a, T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if this.relock.is_none() {
            let (place, guard) = (&mut *this.place, this.guard);
            ready!(this.leaf.poll(cx, "sync.Cond.Wait", |cx| match guard.take() {
                Some(guard) => {
                    place.enqueue(TaskWaker(cx.waker().clone()));
                    drop(guard);
                    Poll::Pending
                }
                None => place.poll(&mut Lender::new(cx.waker())),
            }));
            this.relock.set(Some(this.mutex.lock()));
        }
        let relock = this.relock.as_pin_mut().expect("cond: it locks again");
        let guard = ready!(relock.poll(cx));
        this.place.goes_on();
        Poll::Ready(guard)
    }
}

impl<T: ?Sized> fmt::Debug for CondWait<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CondWait").finish_non_exhaustive()
    }
}
