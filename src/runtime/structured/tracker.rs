//! Waiting until many tasks have ended, whose values are not wanted.

use crate::runtime::exec::join::JoinHandle;
use crate::runtime::exec::local_set::LocalSet;
use crate::runtime::exec::spawn::{go, spawn};
use crate::runtime::exec::yielding::Leaf;
use crate::runtime::handle::Handle;
use crate::runtime::sync::{Notified, Notify};
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use pin_project_lite::pin_project;
use std::sync::{Arc, Mutex, PoisonError};

/// Waits until tasks have ended that are not joined: those of a server's connections, when it shuts down. tokio-util:
/// `task::TaskTracker`.
///
/// Unlike a [`JoinSet`](crate::JoinSet) it keeps nothing of a task that has ended, it can be cloned and needs no `&mut`, and
/// dropped it aborts nothing. [`wait`](TaskTracker::wait) returns when the tracker is [closed](TaskTracker::close) and no task is left; a closed
/// tracker takes new tasks all the same: a close announces a waiter.
///
/// ```
/// use spinpark::TaskTracker;
/// use spinpark::sync::CancellationToken;
///
/// let runtime = spinpark::Runtime::builder().procs(2).build()?;
/// runtime.block_on(async {
///     let (connections, shutdown) = (TaskTracker::new(), CancellationToken::new());
///     for _ in 0..3 {
///         connections.spawn(shutdown.clone().cancelled_owned());
///     }
///     assert_eq!(connections.len(), 3);
///     shutdown.cancel();
///     connections.close();
///     connections.wait().await;
///     assert!(connections.is_empty());
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The other ways to track:
///
/// ```
/// use spinpark::{Handle, LocalSet, TaskTracker};
///
/// # spinpark::run(async {
/// let tracker = TaskTracker::new();
/// tracker.spawn_on(async {}, &Handle::current());
/// tracker.go(|| ());
/// tracker.go_on(|| (), &Handle::current());
/// tracker.track_future(async {}).await;
/// let local = LocalSet::new();
/// local.run_until(tracker.spawn_local_on(async {}, &local)).await.expect("no panic");
/// tracker.close();
/// assert!(tracker.reopen() && TaskTracker::ptr_eq(&tracker, &tracker.clone()));
/// tracker.close();
/// tracker.wait().await;
/// # });
/// ```
#[derive(Clone, Default)]
pub struct TaskTracker(Arc<Inside>);

#[derive(Default)]
struct Inside {
    state: Mutex<State>,
    /// It is closed, and no task is left.
    is_over: Notify,
}

#[derive(Default, Clone, Copy)]
struct State {
    tasks: usize,
    is_closed: bool,
}

impl State {
    fn is_over(self) -> bool {
        self.is_closed && self.tasks == 0
    }
}

impl Inside {
    fn state(&self) -> State {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state. If it is over now, and was not, those that wait are woken.
    fn change<R>(&self, f: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let was_over = state.is_over();
        let result = f(&mut state);
        let becomes_over = !was_over && state.is_over();
        drop(state);
        if becomes_over {
            self.is_over.notify_waiters();
        }
        result
    }
}

impl TaskTracker {
    /// Open, and without a task.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let tracker = spinpark::TaskTracker::new();
    /// let task = tracker.spawn(async { 1 });
    /// tracker.close(); // no more come
    /// tracker.wait().await;
    /// assert!(tracker.is_empty());
    /// assert_eq!(task.await.ok(), Some(1)); // its handle may know a moment later
    /// # });
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits until it is closed and no task is left. If that was so at any moment since the call of this method, it is ready, even
    /// if the tracker was opened again or a task was added since.
    ///
    /// # Cancel safety
    /// Dropped, it changes nothing.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let tracker = spinpark::TaskTracker::new();
    /// tracker.spawn(async {});
    /// tracker.close();
    /// tracker.wait().await;
    /// # });
    /// ```
    pub fn wait(&self) -> TaskTrackerWait<'_> {
        let notified = self.0.is_over.notified();
        // Asked afterwards: what comes between is notified.
        TaskTrackerWait { notified, was_over: self.0.state().is_over(), tracker: &self.0, leaf: Leaf::new() }
    }

    /// From now on [`wait`](TaskTracker::wait) is ready when no task is left. `false`: it was closed.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let tracker = spinpark::TaskTracker::new();
    /// assert!(tracker.close() && !tracker.close());
    /// # });
    /// ```
    pub fn close(&self) -> bool {
        self.0.change(|state| !core::mem::replace(&mut state.is_closed, true))
    }

    /// From now on [`wait`](TaskTracker::wait) is not ready, also if no task is left. `false`: it was open.
    pub fn reopen(&self) -> bool {
        self.0.change(|state| core::mem::replace(&mut state.is_closed, false))
    }

    /// Is it closed?
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.state().is_closed
    }

    /// How many tasks, tracked futures and tokens there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.state().tasks
    }

    /// Is there none?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Are both the same tracker: is one a clone of the other?
    #[must_use]
    pub fn ptr_eq(left: &TaskTracker, right: &TaskTracker) -> bool {
        Arc::ptr_eq(&left.0, &right.0)
    }

    /// Spawns a task that is tracked, as [`spawn`](crate::spawn) does.
    ///
    /// # Panics
    /// If the caller is no task of a [`Runtime`](crate::Runtime).
    ///
    /// ```
    /// # spinpark::run(async {
    /// let tracker = spinpark::TaskTracker::new();
    /// assert_eq!(tracker.spawn(async { 1 }).await.expect("no panic"), 1);
    /// # });
    /// ```
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        spawn(self.track_future(future))
    }

    /// Spawns a task of that runtime, from any thread.
    #[track_caller]
    pub fn spawn_on<F>(&self, future: F, runtime: &Handle) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        runtime.spawn(self.track_future(future))
    }

    /// Spawns a task of that set's thread.
    #[track_caller]
    pub fn spawn_local_on<F>(&self, future: F, local: &LocalSet) -> JoinHandle<F::Output>
    where
        F: Future<Output: 'static> + 'static,
    {
        local.spawn_local(self.track_future(future))
    }

    /// Runs a goroutine that is tracked, as [`go`](crate::go) does.
    ///
    /// # Panics
    /// If the caller is no task of a [`Runtime`](crate::Runtime).
    ///
    /// ```
    /// # spinpark::run(async {
    /// let tracker = spinpark::TaskTracker::new();
    /// assert_eq!(tracker.go(|| 1).await.expect("no panic"), 1);
    /// # });
    /// ```
    #[track_caller]
    pub fn go<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        go(self.track_closure(f))
    }

    /// Runs a goroutine of that runtime, from any thread.
    #[track_caller]
    pub fn go_on<F, T>(&self, f: F, runtime: &Handle) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        runtime.go(self.track_closure(f))
    }

    fn track_closure<F: FnOnce() -> T, T>(&self, f: F) -> impl FnOnce() -> T + use<F, T> {
        // In one, so that a closure that never runs is dropped before its token: what waits sees that it is gone.
        let tracked = (f, self.token());
        move || {
            let (f, _token) = { tracked };
            f()
        }
    }

    /// Tracks a future that is run elsewhere, until it is dropped.
    ///
    /// # Cancel safety
    /// That of `future`.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let tracker = spinpark::TaskTracker::new();
    /// assert_eq!(tracker.track_future(async { 1 }).await, 1);
    /// # });
    /// ```
    pub fn track_future<F: Future>(&self, future: F) -> TrackedFuture<F> {
        TrackedFuture { future, token: self.token() }
    }

    /// Tracks the token, until it is dropped: for what is no future.
    pub fn token(&self) -> TaskTrackerToken {
        self.0.change(|state| state.tasks += 1);
        TaskTrackerToken { tracker: self.clone() }
    }
}

impl fmt::Debug for TaskTracker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let State { tasks, is_closed } = self.0.state();
        f.debug_struct("TaskTracker").field("len", &tasks).field("is_closed", &is_closed).finish()
    }
}

/// Counts as a task, until it is dropped: of [`TaskTracker::token`].
#[derive(Debug)]
#[must_use = "a token that is dropped tracks nothing"]
pub struct TaskTrackerToken {
    tracker: TaskTracker,
}

impl TaskTrackerToken {
    /// The tracker.
    #[must_use]
    pub fn task_tracker(&self) -> &TaskTracker {
        &self.tracker
    }
}

/// A second token of the same tracker.
impl Clone for TaskTrackerToken {
    fn clone(&self) -> Self {
        self.tracker.token()
    }
}

impl Drop for TaskTrackerToken {
    fn drop(&mut self) {
        self.tracker.0.change(|state| state.tasks -= 1);
    }
}

pin_project! {
    /// What [`TaskTracker::track_future`] returns.
    #[must_use = "a future does nothing until it is awaited"]
    #[derive(Debug)]
    pub struct TrackedFuture<F> {
        // Dropped before the token: what waits sees that it is gone.
        #[pin]
        future: F,
        token: TaskTrackerToken,
    }
}

impl<F: Future> Future for TrackedFuture<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        self.project().future.poll(cx)
    }
}

/// What [`TaskTracker::wait`] returns.
#[must_use = "a future does nothing until it is awaited"]
pub struct TaskTrackerWait<'a> {
    notified: Notified<'a>,
    /// When it was made.
    was_over: bool,
    tracker: &'a Inside,
    leaf: Leaf,
}

impl Future for TaskTrackerWait<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let TaskTrackerWait { notified, was_over, tracker, leaf } = &mut *self;
        leaf.poll(cx, "TaskTracker.wait", |cx| match *was_over || tracker.state().is_over() {
            true => Poll::Ready(()),
            false => Pin::new(notified).poll(cx),
        })
    }
}

impl fmt::Debug for TaskTrackerWait<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskTrackerWait").finish_non_exhaustive()
    }
}

static_assertions::assert_impl_all!(TaskTracker: Send, Sync);
static_assertions::assert_impl_all!(TaskTrackerWait<'static>: Send, Sync, Unpin);
