//! What ends a context, and what is called when it has ended.

use crate::runtime::exec::abort::AbortHandle;
use crate::runtime::handle::Handle;
use crate::runtime::structured::context::node::{ContextError, Node};
use core::error::Error;
use core::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Cancels a context; when it is dropped, too. Of [`Context::with_cancel`](super::Context::with_cancel) and those with a deadline. Go:
/// `cancel`, with `defer cancel()`.
///
/// ```
/// use spinpark::context::Context;
///
/// let (ctx, cancel) = Context::background().with_cancel();
/// drop(cancel);
/// assert!(ctx.is_done());
///
/// let (ctx, cancel) = Context::background().with_cancel();
/// cancel.disarm();
/// assert!(!ctx.is_done());
/// ```
#[must_use = "dropped, it cancels the context at once: keep it by a name"]
pub struct Cancel {
    /// `None`: it was disarmed.
    node: Option<Arc<Node>>,
}

impl Cancel {
    pub(super) fn new(node: Arc<Node>) -> Cancel {
        Cancel { node: Some(node) }
    }

    fn end(&self, cause: Option<Arc<dyn Error + Send + Sync>>) {
        if let Some(node) = &self.node {
            node.end(ContextError::Canceled, cause);
        }
    }

    /// Cancels the context, and those below it. One that has ended stays as it is. From any thread.
    pub fn cancel(&self) {
        self.end(None);
    }

    /// The same, with an error that [`Context::cause`](super::Context::cause) returns. Go: `context.WithCancelCause`.
    ///
    /// ```
    /// let (ctx, cancel) = spinpark::context::Context::background().with_cancel();
    /// cancel.cancel_cause(std::io::Error::other("the disk is full"));
    /// cancel.cancel_cause("this comes too late");
    /// assert_eq!(ctx.cause().expect("it has ended").to_string(), "the disk is full");
    /// ```
    pub fn cancel_cause(&self, cause: impl Into<Box<dyn Error + Send + Sync>>) {
        self.end(Some(Arc::from(cause.into())));
    }

    /// From now on it cancels nothing: the context ends with the one above it, or at its deadline.
    pub fn disarm(mut self) {
        self.node = None;
    }
}

impl Drop for Cancel {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancel").finish_non_exhaustive()
    }
}

type Func = Box<dyn FnOnce() + Send>;

/// Stops a function that is called when a context has ended. Of [`Context::after_func`](super::Context::after_func).
///
/// ```
/// # spinpark::run(async {
/// let (ctx, _cancel) = spinpark::context::Context::background().with_cancel();
/// let stop = ctx.after_func(|| panic!("it was stopped"));
/// assert!(stop.stop());
/// assert!(!stop.stop());
/// # });
/// ```
pub struct StopFunc {
    /// The thread that takes it out calls it, or has stopped it.
    f: Arc<Mutex<Option<Func>>>,
    /// Waits for the end.
    task: AbortHandle,
}

fn take(f: &Mutex<Option<Func>>) -> Option<Func> {
    f.lock().unwrap_or_else(PoisonError::into_inner).take()
}

impl StopFunc {
    #[track_caller]
    pub(super) fn new(node: Arc<Node>, f: Func) -> StopFunc {
        let runtime = Handle::current_for("Context::after_func was called");
        let f = Arc::new(Mutex::new(Some(f)));
        let task = runtime.spawn(calls(node, Arc::clone(&f), runtime.clone())).abort_handle();
        StopFunc { f, task }
    }

    /// The function is not called. `false`: it was, or was stopped before; it may be running. From any thread.
    pub fn stop(&self) -> bool {
        let f = take(&self.f);
        let is_stopped = f.is_some();
        if is_stopped {
            self.task.abort();
        }
        is_stopped
    }
}

async fn calls(node: Arc<Node>, f: Arc<Mutex<Option<Func>>>, runtime: Handle) {
    node.token().cancelled().await;
    if let Some(f) = take(&f) {
        drop(runtime.go(f));
    }
}

impl fmt::Debug for StopFunc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StopFunc").finish_non_exhaustive()
    }
}

static_assertions::assert_impl_all!(Cancel: Send, Sync);
static_assertions::assert_impl_all!(StopFunc: Send, Sync);
