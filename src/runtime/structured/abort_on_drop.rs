//! A task that ends with its handle.

use crate::runtime::exec::abort::AbortHandle;
use crate::runtime::exec::join::{JoinError, JoinHandle};
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

/// A [`JoinHandle`] that aborts its task when it is dropped: of a task that is of no use once its value is not wanted. tokio-util:
/// `task::AbortOnDropHandle`.
///
/// ```
/// use spinpark::{AbortOnDropHandle, spawn, time};
/// use std::time::Duration;
///
/// let runtime = spinpark::Runtime::builder().procs(1).build()?;
/// runtime.block_on(async {
///     let search = AbortOnDropHandle::new(spawn(std::future::pending::<u8>()));
///     let watch = search.abort_handle();
///     assert!(time::timeout(Duration::from_millis(1), search).await.is_err()); // dropped with the timeout
///     while !watch.is_finished() {
///         spinpark::yield_now().await;
///     }
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Cancel safety
/// None by purpose: dropped, it ends its task.
#[must_use = "dropped, it aborts its task at once"]
#[derive(Debug)]
pub struct AbortOnDropHandle<T>(Option<JoinHandle<T>>); // `None`: it was detached, and is about to be dropped

impl<T> AbortOnDropHandle<T> {
    /// This task ends with the handle.
    ///
    /// ```
    /// use spinpark::{AbortOnDropHandle, spawn};
    ///
    /// # spinpark::run(async {
    /// drop(AbortOnDropHandle::new(spawn(std::future::pending::<()>()))); // the task ends
    /// # });
    /// ```
    pub fn new(handle: JoinHandle<T>) -> Self {
        AbortOnDropHandle(Some(handle))
    }

    /// The task goes on without it. Its handle comes back.
    ///
    /// ```
    /// use spinpark::{AbortOnDropHandle, spawn};
    ///
    /// # spinpark::run(async {
    /// let task = AbortOnDropHandle::new(spawn(async { 1 })).detach();
    /// assert_eq!(task.await.expect("no panic"), 1);
    /// # });
    /// ```
    pub fn detach(mut self) -> JoinHandle<T> {
        self.0.take().expect("abort_on_drop: a handle that was detached")
    }

    fn handle(&self) -> &JoinHandle<T> {
        self.0.as_ref().expect("abort_on_drop: a handle that was detached")
    }

    /// Aborts the task now.
    ///
    /// ```
    /// use spinpark::{AbortOnDropHandle, spawn};
    ///
    /// # spinpark::run(async {
    /// let task = AbortOnDropHandle::new(spawn(std::future::pending::<()>()));
    /// task.abort();
    /// assert!(task.await.unwrap_err().is_cancelled());
    /// # });
    /// ```
    pub fn abort(&self) {
        self.handle().abort();
    }

    /// Has the task ended?
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.handle().is_finished()
    }

    /// What aborts the task too, and does not do so when it is dropped.
    #[must_use]
    pub fn abort_handle(&self) -> AbortHandle {
        self.handle().abort_handle()
    }
}

impl<T> Future for AbortOnDropHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let handle = self.0.as_mut().expect("abort_on_drop: a handle that was detached");
        Pin::new(handle).poll(cx)
    }
}

impl<T> Drop for AbortOnDropHandle<T> {
    fn drop(&mut self) {
        if let Some(handle) = &self.0 {
            handle.abort();
        }
    }
}
