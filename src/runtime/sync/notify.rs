//! Telling others that something has happened.

use crate::runtime::exec::yielding::Leaf;
use crate::runtime::host::cores::{Cores, CoresLock};
use crate::runtime::sync::waking::Lender;
use crate::runtime::task_waker::TaskWaker;
use crate::waits::notify::{self, PutAway, State};
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

/// Tells one task, or all that wait, that something has happened; what has, it does not say. Go: a channel with room for one
/// `struct{}`, and one that is closed.
///
/// ```
/// use spinpark::sync::Notify;
/// use std::sync::{Arc, Mutex};
///
/// # let runtime = spinpark::Runtime::builder().procs(2).build()?;
/// let sum = runtime.block_on(async {
///     let (inbox, more) = (Arc::new(Mutex::new(vec![])), Arc::new(Notify::new()));
///     let (theirs, tell) = (Arc::clone(&inbox), Arc::clone(&more));
///     spinpark::spawn(async move {
///         for n in 1..=4 {
///             theirs.lock().expect("no panic").push(n);
///             tell.notify_one(); // many such are one, if no task waits meanwhile
///         }
///     });
///     let mut sum = 0;
///     while sum < 10 {
///         more.notified().await;
///         sum += inbox.lock().expect("no panic").drain(..).sum::<i32>();
///     }
///     sum
/// })?;
/// assert_eq!(sum, 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// For [`notify_one`](Notify::notify_one) at most one permit is kept if no task waits. [`notify_waiters`](Notify::notify_waiters)
/// keeps none, and ends each wait that was created before, polled or not. So a task that waits for a condition creates
/// its future first, then looks, then awaits:
///
/// ```
/// # use spinpark::sync::Notify;
/// # use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
/// # async fn wait_until(is_over: &AtomicBool, changed: &Notify) {
/// loop {
///     let notified = changed.notified();
///     if is_over.load(SeqCst) {
///         break;
///     }
///     notified.await; // a `notify_waiters` between the look and this line is not missed
/// }
/// # }
/// ```
pub struct Notify(notify::Notify<Cores, TaskWaker>);

impl Notify {
    /// No task waits, and there is no permit.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let notify = spinpark::sync::Notify::new();
    /// notify.notify_one(); // kept, until a task waits
    /// notify.notified().await;
    /// # });
    /// ```
    pub const fn new() -> Self {
        Notify(notify::Notify::from_lock(CoresLock::new(State::new())))
    }

    /// Waits until it is notified, or takes the permit. It waits for [`notify_waiters`](Notify::notify_waiters) from now on, for
    /// [`notify_one`](Notify::notify_one) from its first poll on, or from [`enable`](Notified::enable).
    ///
    /// # Cancel safety
    /// Dropped, it gives up its place; a notification of `notify_one` that it was chosen for goes to the
    /// next that waits, or becomes a permit.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let notify = spinpark::sync::Notify::new();
    /// notify.notify_one(); // kept
    /// notify.notified().await;
    /// # });
    /// ```
    pub fn notified(&self) -> Notified<'_> {
        Notified { notified: self.0.notified(), leaf: Leaf::new() }
    }

    /// As [`notified`](Notify::notified), with a future that keeps the `Notify` alive: it may be kept in a struct, or go along with a task.
    ///
    /// # Cancel safety
    /// As [`notified`](Notify::notified)'s.
    ///
    /// ```
    /// use spinpark::sync::Notify;
    /// use std::sync::Arc;
    ///
    /// # spinpark::run(async {
    /// let notify = Arc::new(Notify::new());
    /// let task = spinpark::spawn(Arc::clone(&notify).notified_owned());
    /// notify.notify_waiters(); // the wait is created, though the task may not have run yet
    /// task.await.expect("no panic");
    /// # });
    /// ```
    pub fn notified_owned(self: Arc<Self>) -> OwnedNotified {
        let put_away = Some(self.0.notified().put_away());
        OwnedNotified { notify: self, put_away, leaf: Leaf::new() }
    }

    /// Ends the wait of the task that has waited longest. If none waits, leaves a permit for the next; two are one. From any
    /// thread.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let notify = spinpark::sync::Notify::new();
    /// notify.notify_one();
    /// notify.notify_one(); // the two are one
    /// notify.notified().await;
    /// # });
    /// ```
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Ends every wait that is created by now. Leaves no permit, nor takes one. From any thread.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let notify = spinpark::sync::Notify::new();
    /// let (one, two) = (notify.notified(), notify.notified());
    /// notify.notify_waiters(); // both, though neither was polled
    /// one.await;
    /// two.await;
    /// # });
    /// ```
    pub fn notify_waiters(&self) {
        self.0.notify_waiters();
    }
}

impl Default for Notify {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notify").finish_non_exhaustive()
    }
}

/// What [`Notify::notified`] returns.
#[must_use = "a future does nothing until it is awaited"]
pub struct Notified<'a> {
    notified: notify::Notified<'a, Cores, TaskWaker>,
    leaf: Leaf,
}

impl Notified<'_> {
    /// Waits for [`notify_one`](Notify::notify_one) from now on, though it was not polled yet. `true`: it is notified already. For
    /// a task that looks at a condition between here and the first poll, and must be chosen if that changes.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let notify = spinpark::sync::Notify::new();
    /// let mut notified = std::pin::pin!(notify.notified());
    /// assert!(!notified.as_mut().enable()); // waits from here on
    /// notify.notify_one();
    /// notified.await;
    /// # });
    /// ```
    pub fn enable(mut self: Pin<&mut Self>) -> bool {
        self.notified.enable()
    }
}

impl Future for Notified<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Notified { notified, leaf } = &mut *self;
        leaf.poll(cx, "sync.Notify.Notified", |cx| notified.poll(&mut Lender::new(cx.waker())))
    }
}

impl fmt::Debug for Notified<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notified").finish_non_exhaustive()
    }
}

/// What [`Notify::notified_owned`] returns.
#[must_use = "a future does nothing until it is awaited"]
pub struct OwnedNotified {
    notify: Arc<Notify>,
    /// `None` while it is polled.
    put_away: Option<PutAway>,
    leaf: Leaf,
}

impl OwnedNotified {
    fn resumed<R>(
        notify: &Notify,
        put_away: &mut Option<PutAway>,
        f: impl FnOnce(&mut notify::Notified<'_, Cores, TaskWaker>) -> R,
    ) -> R {
        let mut notified = notify.0.resumed(put_away.take().expect("notify: a wait was put away"));
        let result = f(&mut notified);
        *put_away = Some(notified.put_away());
        result
    }

    /// As [`Notified::enable`].
    ///
    /// ```
    /// # spinpark::run(async {
    /// let notify = std::sync::Arc::new(spinpark::sync::Notify::new());
    /// let mut notified = std::pin::pin!(notify.clone().notified_owned());
    /// assert!(!notified.as_mut().enable()); // waits from here on
    /// notify.notify_one();
    /// notified.await;
    /// # });
    /// ```
    pub fn enable(mut self: Pin<&mut Self>) -> bool {
        let OwnedNotified { notify, put_away, .. } = &mut *self;
        Self::resumed(notify, put_away, |notified| notified.enable())
    }
}

impl Future for OwnedNotified {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let OwnedNotified { notify, put_away, leaf } = &mut *self;
        leaf.poll(cx, "sync.Notify.Notified", |cx| {
            Self::resumed(notify, put_away, |notified| notified.poll(&mut Lender::new(cx.waker())))
        })
    }
}

impl Drop for OwnedNotified {
    fn drop(&mut self) {
        drop(self.put_away.take().map(|put_away| self.notify.0.resumed(put_away)));
    }
}

impl fmt::Debug for OwnedNotified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedNotified").finish_non_exhaustive()
    }
}

static_assertions::assert_impl_all!(Notified<'static>: Send, Sync, Unpin);
static_assertions::assert_impl_all!(OwnedNotified: Send, Sync, Unpin);
