//! What comes of a task of a scope.

use crate::runtime::exec::abort::AbortHandle;
use crate::runtime::exec::join::{JoinError, JoinHandle};
use crate::runtime::exec::outcome::Panic;
use crate::runtime::exec::unwind::Unwound;
use crate::runtime::guarded::guarded;
use crate::runtime::id::TaskId;
use core::any::Any;
use core::fmt;
use core::future::Future;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll};
use pin_project_lite::pin_project;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Has a task panicked that was not joined?
#[derive(Default)]
pub(super) struct Panicked(OnceLock<()>);

impl Panicked {
    pub(super) fn is_set(&self) -> bool {
        self.0.get().is_some()
    }
}

/// Where a task leaves its value, which may borrow, for its handle.
pub(super) struct Place<T> {
    result: Mutex<Option<Result<T, Panic>>>,
    panicked: Arc<Panicked>,
}

impl<T> Place<T> {
    pub(super) fn new(panicked: &Arc<Panicked>) -> Arc<Place<T>> {
        Arc::new(Place { result: Mutex::new(None), panicked: Arc::clone(panicked) })
    }

    fn put(&self, result: Result<T, Panic>) {
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    }

    fn take(&self) -> Option<Result<T, Panic>> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Keeps a panic; one that only ends the task goes on.
    fn panics(&self, payload: Box<dyn Any + Send>) {
        match payload.is::<Unwound>() {
            true => resume_unwind(payload),
            false => self.put(Err(Panic::new(payload))),
        }
    }

    /// What a goroutine does.
    pub(super) fn call(&self, f: impl FnOnce() -> T) {
        match catch_unwind(AssertUnwindSafe(f)) {
            Ok(value) => self.put(Ok(value)),
            Err(payload) => self.panics(payload),
        }
    }
}

impl<T> Drop for Place<T> {
    fn drop(&mut self) {
        if let Some(Err(_)) = self.result.get_mut().unwrap_or_else(PoisonError::into_inner) {
            let _ = self.panicked.0.set(());
        }
    }
}

pin_project! {
    /// What a future's task does.
    pub(super) struct Body<F: Future> {
        #[pin]
        future: Option<F>,
        place: Arc<Place<F::Output>>,
    }
}

impl<F: Future> Body<F> {
    pub(super) fn new(future: F, place: Arc<Place<F::Output>>) -> Self {
        Body { future: Some(future), place }
    }
}

impl<F: Future> Future for Body<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        let Some(future) = this.future.as_mut().as_pin_mut() else { return Poll::Ready(()) };
        // What the future leaves broken, only it could show: it is not polled again.
        match catch_unwind(AssertUnwindSafe(|| future.poll(cx))) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(value)) => this.place.put(Ok(value)),
            Err(payload) => this.place.panics(payload),
        }
        guarded(|| this.future.set(None));
        Poll::Ready(())
    }
}

/// The right to the value of a task of a [`Scope`](crate::Scope). Dropping it does not stop the task, which the scope
/// waits for.
///
/// # Cancel safety
/// Await `&mut handle` where the wait may be given up: the task goes on, and the scope waits for it.
///
/// ```
/// let runtime = spinpark::Runtime::builder().procs(1).build()?;
/// runtime.scope(|scope| {
///     let (one, never) = (scope.go(|| 1), scope.spawn(std::future::pending::<()>()));
///     never.abort();
///     assert!(never.join().unwrap_err().is_cancelled());
///     assert_eq!(one.join().expect("no panic"), 1);
/// });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ScopedJoinHandle<'scope, T> {
    task: JoinHandle<()>,
    place: Arc<Place<T>>,
    scope: PhantomData<&'scope ()>,
}

impl<T> ScopedJoinHandle<'_, T> {
    pub(super) fn new(task: JoinHandle<()>, place: Arc<Place<T>>) -> Self {
        ScopedJoinHandle { task, place, scope: PhantomData }
    }

    /// Waits until the task has ended, and returns its value; see [`JoinHandle::join`].
    ///
    /// # Errors
    /// Those of [`JoinHandle::join`].
    ///
    /// ```
    /// let word = String::from("hello");
    /// let runtime = spinpark::Runtime::builder().procs(1).build()?;
    /// assert_eq!(runtime.scope(|scope| scope.go(|| word.len()).join())?, 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn join(self) -> Result<T, JoinError> {
        let ended = self.task.join();
        ended.and_then(|()| value_of(&self.place))
    }

    /// Would [`join`](ScopedJoinHandle::join) return at once?
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.task.is_finished()
    }

    /// Aborts the task, as [`JoinHandle::abort`] does.
    pub fn abort(&self) {
        self.task.abort();
    }

    /// What can abort the task too.
    #[must_use]
    pub fn abort_handle(&self) -> AbortHandle {
        self.task.abort_handle()
    }

    /// The task's number.
    #[must_use]
    pub fn id(&self) -> TaskId {
        self.task.id()
    }
}

/// What is there of a task that has ended. Nothing: its scope was ended before.
fn value_of<T>(place: &Place<T>) -> Result<T, JoinError> {
    match place.take() {
        Some(result) => result.map_err(JoinError::Panicked),
        None => Err(JoinError::Aborted),
    }
}

/// No value of type `T` is ever pinned in it.
impl<T> Unpin for ScopedJoinHandle<'_, T> {}

impl<T> Future for ScopedJoinHandle<'_, T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let ended = Pin::new(&mut self.task).poll(cx);
        ended.map(|ended| ended.and_then(|()| value_of(&self.place)))
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").field("is_finished", &self.is_finished()).finish_non_exhaustive()
    }
}
