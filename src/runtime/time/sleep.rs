//! Waiting until a moment, and no longer than until one.

use crate::host::Nanos;
use crate::kernel::queues::timers::Key;
use crate::runtime::exec::context::Context;
use crate::runtime::exec::not_in_runtime::NotInRuntime;
use crate::runtime::exec::report;
use crate::runtime::exec::yielding::Leaf;
use crate::runtime::host::{clock, duration};
use crate::runtime::task_waker::TaskWaker;
use crate::runtime::time::timer::TimerQueue;
use crate::waits::timer_queue::Timer;

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{self, Poll, Waker};
use pin_project_lite::pin_project;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Waits for so long. Zero: does not wait.
///
/// # Cancel safety
/// Dropped, its timer is taken back. Called again, it waits for the whole time again: keep a [`Sleep`], and await `&mut` of it.
///
/// ```
/// use std::time::{Duration, Instant};
///
/// # spinpark::run(async {
/// let from = Instant::now();
/// spinpark::time::sleep(Duration::from_millis(2)).await;
/// assert!(from.elapsed() >= Duration::from_millis(2));
/// # });
/// ```
pub fn sleep(time: Duration) -> Sleep {
    Sleep::until(after(clock::now(), time))
}

/// Waits until this moment. One that has passed: does not wait.
///
/// # Cancel safety
/// Dropped, its timer is taken back; called again, it waits until the same moment.
///
/// ```
/// use std::time::{Duration, Instant};
///
/// # spinpark::run(async {
/// let moment = Instant::now() + Duration::from_millis(2);
/// spinpark::time::sleep_until(moment).await;
/// assert!(Instant::now() >= moment);
/// # });
/// ```
pub fn sleep_until(moment: Instant) -> Sleep {
    Sleep::until(clock::nanos_of(moment))
}

/// The moment so much later; if that is too far away for a number, never.
pub(super) fn after(now: Nanos, time: Duration) -> Nanos {
    now.saturating_add(duration::nanos(time))
}

/// What [`sleep`] returns: ready when the time is over. Dropped, its timer is taken back.
///
/// ```
/// use spinpark::time::{self, Sleep};
/// use std::time::{Duration, Instant};
///
/// # spinpark::run(async {
/// let mut sleep: Sleep = time::sleep(Duration::from_secs(3600));
/// assert!(!sleep.is_elapsed());
/// sleep.reset(Instant::now() + Duration::from_millis(1));
/// (&mut sleep).await;
/// assert!(sleep.is_elapsed() && sleep.deadline() <= Instant::now());
/// # });
/// ```
#[must_use = "a future does nothing until it is awaited"]
pub struct Sleep {
    pub(super) deadline: Nanos,
    timer: Option<Timer<Arc<TimerQueue>, (usize, usize)>>,
    leaf: Leaf,
}

/// Two wakers that live, and have the same, wake the same.
fn identity(waker: &Waker) -> (usize, usize) {
    (waker.data().addr(), core::ptr::from_ref(waker.vtable()).addr())
}

impl Sleep {
    pub(super) fn until(deadline: Nanos) -> Sleep {
        Sleep { deadline, timer: None, leaf: Leaf::new() }
    }

    /// When it is over.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        clock::instant_of(self.deadline)
    }

    /// Is the time over? Not before a runtime has looked.
    #[must_use]
    pub fn is_elapsed(&self) -> bool {
        clock::now() >= self.deadline
    }

    /// Waits until another moment instead, also if the time was over. A task that waits for it already is woken at that moment,
    /// without another poll.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    ///
    /// # spinpark::run(async {
    /// let mut sleep = spinpark::time::sleep(Duration::from_secs(3600));
    /// sleep.reset(Instant::now());
    /// sleep.await;
    /// # });
    /// ```
    pub fn reset(&mut self, moment: Instant) {
        self.reset_to(clock::nanos_of(moment));
    }

    pub(super) fn reset_to(&mut self, deadline: Nanos) {
        self.deadline = deadline;
        Timer::reset(&mut self.timer, |queue, waker| {
            // A P of another runtime says nothing of this queue's.
            let p = Context::with_runtime(|shared, p| p.filter(|_| Arc::ptr_eq(&shared.timers, queue)));
            queue.add(deadline, waker, p.flatten())
        });
    }

    #[cold]
    fn is_nowhere() -> ! {
        panic!("{}", NotInRuntime::new("a timer (sleep, timeout or interval) was polled"));
    }

    fn add(deadline: Nanos, waker: TaskWaker) -> (Arc<TimerQueue>, Key) {
        let added = Context::with_runtime(|shared, p| {
            let queue = Arc::clone(&shared.timers);
            let key = queue.add(deadline, waker, p);
            (queue, key)
        });
        added.unwrap_or_else(|| Sleep::is_nowhere())
    }
}

impl Future for Sleep {
    type Output = ();

    /// # Panics
    /// If it has to wait, and is polled outside of a runtime.
    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        let Sleep { deadline, timer, leaf } = &mut *self;
        leaf.poll(cx, "sleep", |cx| {
            if clock::now() >= *deadline {
                Timer::forget(timer);
                return Poll::Ready(());
            }
            let waker = cx.waker();
            Timer::poll(timer, identity(waker), || TaskWaker(waker.clone()), |waker| Sleep::add(*deadline, waker));
            Poll::Pending
        })
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        Timer::forget(&mut self.timer);
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep").field("is_elapsed", &self.is_elapsed()).finish_non_exhaustive()
    }
}

pin_project! {
    /// What [`timeout`] returns.
    #[must_use = "a future does nothing until it is awaited"]
    #[derive(Debug)]
    pub struct Timeout<F> {
        #[pin]
        future: F,
        #[pin]
        sleep: Sleep,
    }
}

/// `future`'s value, if it comes within so much time; else `future` is dropped with what is returned.
///
/// # Errors
/// When awaited: [`Elapsed`], if the time is over first.
///
/// # Cancel safety
/// Dropped, it drops `future`: what is lost then is lost. To keep what it has done, give `&mut future`.
///
/// ```
/// use spinpark::time::timeout;
/// use std::time::Duration;
///
/// # spinpark::run(async {
/// assert_eq!(timeout(Duration::from_secs(5), async { 1 }).await, Ok(1));
/// let late = timeout(Duration::from_millis(1), std::future::pending::<()>()).await;
/// assert_eq!(late.unwrap_err().to_string(), "deadline has elapsed");
/// # });
/// ```
pub fn timeout<F: Future>(time: Duration, future: F) -> Timeout<F> {
    Timeout { future, sleep: sleep(time) }
}

/// The same, until a moment.
///
/// # Errors
/// When awaited: [`Elapsed`], if the moment comes first.
///
/// # Cancel safety
/// As [`timeout`]'s.
///
/// ```
/// use std::time::Instant;
///
/// # spinpark::run(async {
/// let late = spinpark::time::timeout_at(Instant::now(), std::future::pending::<()>()).await;
/// assert!(late.is_err());
/// # });
/// ```
pub fn timeout_at<F: Future>(moment: Instant, future: F) -> Timeout<F> {
    Timeout { future, sleep: sleep_until(moment) }
}

impl<F> Timeout<F> {
    /// The future, given up waiting for.
    pub fn into_inner(self) -> F {
        self.future
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        // First: what is there in time counts, also if it is looked at late.
        if let Poll::Ready(value) = this.future.poll(cx) {
            return Poll::Ready(Ok(value));
        }
        let why = report::why();
        let elapsed = this.sleep.poll(cx).map(|()| Err(Elapsed(())));
        if elapsed.is_pending() {
            report::waits_for(why); // the time is not what it waits for
        }
        elapsed
    }
}

/// The time was over first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elapsed(());

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("deadline has elapsed")
    }
}

impl core::error::Error for Elapsed {}

impl From<Elapsed> for std::io::Error {
    fn from(elapsed: Elapsed) -> Self {
        std::io::Error::new(std::io::ErrorKind::TimedOut, elapsed)
    }
}

static_assertions::assert_impl_all!(Sleep: Send, Sync, Unpin);
