//! Waiting, under a lock, for a change of what is in it.

use crate::runtime::exec::yielding::waits_if_pending;
use crate::runtime::sync::chan::waitq::{Outcome, WaitQueue, Waiter, Waiters};
use crate::runtime::sync::chan::waking::{forget, wake};
use async_lock::MutexGuard;
use async_lock::futures::Lock;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker, ready};
use pin_project_lite::pin_project;
use std::sync::PoisonError;

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
pub struct Cond {
    state: std::sync::Mutex<State>,
}

struct State {
    /// A value in a waiter: one was to be woken, and it is this.
    waiters: Waiters<()>,
    queue: WaitQueue,
}

impl State {
    /// Wakes the one that has waited longest.
    fn notify_one(&mut self) -> Option<Waker> {
        let key = self.queue.next(&mut self.waiters)?;
        let waiter = self.waiters.get(key);
        waiter.value = Some(());
        waiter.serve(Outcome::Done)
    }
}

impl Cond {
    /// Nobody waits.
    pub const fn new() -> Self {
        Cond { state: std::sync::Mutex::new(State { waiters: Waiters::new(), queue: WaitQueue::new() }) }
    }

    /// Unlocks the mutex and waits until it is notified; then locks it again and gives the guard back. It waits from the
    /// first poll on, which is when it unlocks: a change that is made under the lock after that is not missed. As others
    /// may come in between, the condition is to be asked again, in a loop. Go: `Wait`.
    ///
    /// Dropped while it waits, it leaves the mutex unlocked, and a notification that was meant for it alone goes to the
    /// next.
    pub fn wait<'a, T: ?Sized>(&'a self, guard: MutexGuard<'a, T>) -> CondWait<'a, T> {
        CondWait {
            place: Place { cond: self, waiter: None, owes: false },
            mutex: MutexGuard::source(&guard),
            guard: Some(guard),
            relock: None,
        }
    }

    /// Wakes the one that has waited longest, if anybody waits. From any thread, with the mutex or without. Go: `Signal`.
    pub fn notify_one(&self) {
        let woken = self.with(State::notify_one);
        wake(woken);
    }

    /// Wakes all that wait now. From any thread, with the mutex or without. Go: `Broadcast`.
    pub fn notify_all(&self) {
        let woken: Vec<_> = self.with(|state| {
            let mut woken = Vec::new();
            while let Some(key) = state.queue.next(&mut state.waiters) {
                woken.extend(state.waiters.get(key).serve(Outcome::Done));
            }
            woken
        });
        wake(woken);
    }

    fn with<R>(&self, f: impl FnOnce(&mut State) -> R) -> R {
        f(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
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

/// Where one waits. Dropped, it is given back, and a notification with it.
struct Place<'a> {
    cond: &'a Cond,
    waiter: Option<usize>,
    /// It was notified, and nobody else.
    owes: bool,
}

impl Place<'_> {
    fn enqueue(&mut self, waker: Waker) {
        let waiter = Waiter::new(waker, None, None);
        self.waiter = Some(self.cond.with(|state| state.queue.join(&mut state.waiters, waiter)));
    }

    fn poll(&mut self, waker: &Waker) -> Poll<()> {
        let Some(key) = self.waiter else { return Poll::Ready(()) };
        let copy = waker.clone();
        let old = self.cond.with(|state| {
            let waiter = state.waiters.get(key);
            if waiter.outcome.is_none() {
                return Err(waiter.waker.replace(copy));
            }
            let waiter = state.queue.leave(&mut state.waiters, key);
            Ok((waiter.value.is_some(), copy))
        });
        match old {
            Ok((owes, copy)) => {
                (self.waiter, self.owes) = (None, owes);
                forget(Some(copy));
                Poll::Ready(())
            }
            Err(old) => {
                forget(old);
                Poll::Pending
            }
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let waiter = self.waiter.map(|key| self.cond.with(|state| state.queue.leave(&mut state.waiters, key)));
        let owes = self.owes || waiter.as_ref().is_some_and(|waiter| waiter.value.is_some());
        forget(waiter.and_then(|waiter| waiter.waker));
        if owes {
            self.cond.notify_one();
        }
    }
}

pin_project! {
    /// What [`Cond::wait`] returns.
    #[must_use = "a future does nothing until it is awaited"]
    pub struct CondWait<'a, T: ?Sized> {
        place: Place<'a>,
        mutex: &'a async_lock::Mutex<T>,
        // Until the first poll.
        guard: Option<MutexGuard<'a, T>>,
        #[pin]
        relock: Option<Lock<'a, T>>,
    }
}

impl<'a, T: ?Sized> Future for CondWait<'a, T> {
    type Output = MutexGuard<'a, T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if let Some(guard) = this.guard.take() {
            this.place.enqueue(cx.waker().clone());
            drop(guard);
            return waits_if_pending(Poll::Pending, "sync.Cond.Wait");
        }
        if this.relock.is_none() {
            ready!(waits_if_pending(this.place.poll(cx.waker()), "sync.Cond.Wait"));
            this.relock.set(Some(this.mutex.lock()));
        }
        let relock = this.relock.as_pin_mut().expect("cond: it locks again");
        let guard = ready!(relock.poll(cx));
        this.place.owes = false;
        Poll::Ready(guard)
    }
}

impl<T: ?Sized> fmt::Debug for CondWait<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CondWait").finish_non_exhaustive()
    }
}
