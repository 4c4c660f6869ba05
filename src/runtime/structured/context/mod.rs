//! What goes along with one piece of work: a deadline, its cancellation and why, values. Go: `context`.
//!
//! | Go | here |
//! |----|------|
//! | `context.Background()` | [`Context::background`]; [`Context::from_token`] of a [`CancellationToken`] |
//! | `ctx, cancel := context.WithCancel(ctx)`, `defer cancel()` | `let (ctx, cancel) = ctx.with_cancel();`: [`Cancel`] cancels when it is dropped |
//! | `context.WithCancelCause`, `cancel(err)` | [`Cancel::cancel_cause`] |
//! | `context.WithTimeout`, `WithDeadline` | [`Context::with_timeout`], [`Context::with_deadline`] |
//! | `context.WithValue(ctx, key, v)`, `ctx.Value(key)` | [`Context::with_value`], [`Context::value`]: the key is the value's type |
//! | `<-ctx.Done()` | [`Context::done`], a case of `select!`; [`Context::run`] around a future |
//! | `ctx.Err()`, `context.Cause(ctx)` | [`Context::err`], [`Context::cause`] |
//! | `context.AfterFunc(ctx, f)` | [`Context::after_func`] |
//! | `context.WithoutCancel(ctx)` | [`Context::without_cancel`] |
//!
//! ```
//! use spinpark::context::{Context, ContextError};
//! use spinpark::time::sleep;
//! use std::time::Duration;
//!
//! #[derive(Debug, PartialEq)]
//! struct RequestId(u64);
//!
//! async fn fetch(ctx: &Context) -> Result<u64, ContextError> {
//!     ctx.run(sleep(Duration::from_secs(60))).await?; // it is slow
//!     Ok(ctx.value::<RequestId>().map_or(0, |id| id.0))
//! }
//!
//! # spinpark::run(async {
//! let request = Context::background().with_value(RequestId(17));
//! let (ctx, _cancel) = request.with_timeout(Duration::from_millis(2));
//! assert_eq!(fetch(&ctx).await, Err(ContextError::DeadlineExceeded));
//! assert_eq!(ctx.value(), Some(&RequestId(17)));
//! # });
//! ```
//!
//! A context is cheap to clone, and is given to what is called as an argument: `&Context`, or a clone to a task.

mod cancel;
mod node;

pub use cancel::{Cancel, StopFunc};
pub use node::ContextError;

use crate::runtime::host::clock;
use crate::runtime::structured::cancellation::{CancellationToken, WaitForCancellationFuture};
use core::any::Any;
use core::error::Error;
use core::fmt;
use core::future::Future;
use node::Node;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A deadline, a cancellation and values: see the [module](self). Clones are the same context.
///
/// # Cancel safety
/// Each of its futures may be dropped at any time; [`run`](Context::run) drops the future in it then.
///
/// ```
/// use spinpark::context::{Context, ContextError};
///
/// # spinpark::run(async {
/// let (ctx, cancel) = Context::background().with_cancel();
/// let child = ctx.with_value("a name");
/// let task = spinpark::spawn(async move { child.run(std::future::pending::<()>()).await });
/// assert_eq!((ctx.err(), ctx.is_done(), ctx.deadline()), (None, false, None));
/// cancel.cancel();
/// assert_eq!(task.await.expect("no panic"), Err(ContextError::Canceled));
/// assert!(ctx.is_done() && ctx.err() == Some(ContextError::Canceled));
/// # });
/// ```
#[derive(Clone)]
pub struct Context {
    node: Arc<Node>,
    values: Option<Arc<Value>>,
}

/// A value, and those that were there before.
struct Value {
    value: Box<dyn Any + Send + Sync>,
    above: Option<Arc<Value>>,
}

impl Drop for Value {
    /// In a loop: of many, one in the other, the destructors would use up the stack.
    fn drop(&mut self) {
        let mut next = self.above.take();
        while let Some(mut value) = next.and_then(Arc::into_inner) {
            next = value.above.take();
        }
    }
}

impl Context {
    fn of(node: Arc<Node>, values: Option<Arc<Value>>) -> Context {
        Context { node, values }
    }

    /// Without a deadline, values, or an end. Go: `context.Background`.
    ///
    /// ```
    /// let ctx = spinpark::context::Context::background();
    /// assert!(!ctx.is_done());
    /// ```
    #[must_use]
    pub fn background() -> Context {
        Context::of(Node::root(CancellationToken::new()), None)
    }

    /// One that is cancelled with this token. To cancel it does not cancel the token.
    ///
    /// ```
    /// use spinpark::{context::Context, sync::CancellationToken};
    ///
    /// let server = CancellationToken::new();
    /// let ctx = Context::from_token(&server);
    /// server.cancel();
    /// assert!(ctx.is_done());
    /// ```
    #[must_use]
    pub fn from_token(token: &CancellationToken) -> Context {
        Context::of(Node::root(token.child_token()), None)
    }

    /// A token that is cancelled when this context ends, for what takes one: [`ErrGroup::with_token`](crate::ErrGroup::with_token). To
    /// cancel it does not cancel the context.
    ///
    /// ```
    /// let (ctx, cancel) = spinpark::context::Context::background().with_cancel();
    /// let token = ctx.token();
    /// cancel.cancel();
    /// assert!(token.is_cancelled());
    /// ```
    #[must_use]
    pub fn token(&self) -> CancellationToken {
        self.node.token().child_token()
    }

    /// One that can be cancelled by itself, and ends with this one. Go: `context.WithCancel`, `WithCancelCause`.
    ///
    /// **The second value cancels when it is dropped**: keep it, by a name, as long as the work lasts. `let (ctx, _) = …` cancels at once.
    ///
    /// ```
    /// let parent = spinpark::context::Context::background();
    /// let (ctx, cancel) = parent.with_cancel();
    /// cancel.cancel();
    /// assert!(ctx.is_done() && !parent.is_done());
    /// ```
    #[doc(alias("WithCancel", "WithCancelCause"))]
    pub fn with_cancel(&self) -> (Context, Cancel) {
        self.below(None)
    }

    /// The same, which also ends after so much time. Go: `context.WithTimeout`.
    ///
    /// # Panics
    /// If the caller is outside of a runtime, and its parent's deadline is later.
    ///
    /// ```
    /// use spinpark::context::{Context, ContextError};
    /// use std::time::Duration;
    ///
    /// # spinpark::run(async {
    /// let (ctx, _cancel) = Context::background().with_timeout(Duration::from_millis(1));
    /// ctx.done().await;
    /// assert_eq!(ctx.err(), Some(ContextError::DeadlineExceeded));
    /// # });
    /// ```
    #[track_caller]
    #[doc(alias("WithTimeout"))]
    pub fn with_timeout(&self, time: Duration) -> (Context, Cancel) {
        // A moment that no clock shows never comes.
        self.below(clock::instant().checked_add(time))
    }

    /// The same, at that moment. One that is later than its parent's changes nothing. Go: `context.WithDeadline`.
    ///
    /// # Panics
    /// As [`with_timeout`](Context::with_timeout).
    ///
    /// ```
    /// use spinpark::context::Context;
    /// use std::time::{Duration, Instant};
    ///
    /// # spinpark::run(async {
    /// let moment = Instant::now() + Duration::from_secs(60);
    /// let (ctx, _cancel) = Context::background().with_deadline(moment);
    /// let (later, _cancel_too) = ctx.with_deadline(moment + Duration::from_secs(60));
    /// assert_eq!(later.deadline(), Some(moment));
    /// # });
    /// ```
    #[track_caller]
    #[doc(alias("WithDeadline"))]
    pub fn with_deadline(&self, moment: Instant) -> (Context, Cancel) {
        self.below(Some(moment))
    }

    #[track_caller]
    fn below(&self, deadline: Option<Instant>) -> (Context, Cancel) {
        let node = Node::below(&self.node, deadline);
        (Context::of(Arc::clone(&node), self.values.clone()), Cancel::new(node))
    }

    /// The same context, with `value` besides: it is found by its type, and hides another of that type. Go: `context.WithValue`, whose key
    /// is a type of the package's own for the same reason.
    ///
    /// ```
    /// use spinpark::context::Context;
    ///
    /// struct User(&'static str);
    /// let ctx = Context::background().with_value(User("ada"));
    /// assert_eq!(ctx.with_value(User("grace")).value::<User>().map(|user| user.0), Some("grace"));
    /// assert_eq!(ctx.value::<User>().map(|user| user.0), Some("ada"));
    /// ```
    #[must_use]
    #[doc(alias("WithValue"))]
    pub fn with_value<T: Any + Send + Sync>(&self, value: T) -> Context {
        let value = Value { value: Box::new(value), above: self.values.clone() };
        Context::of(Arc::clone(&self.node), Some(Arc::new(value)))
    }

    /// The value of this type that was given last. `None`: none was. Go: `ctx.Value(key)`.
    ///
    /// ```
    /// let ctx = spinpark::context::Context::background().with_value(17_u64);
    /// assert_eq!((ctx.value::<u64>(), ctx.value::<u8>()), (Some(&17), None));
    /// ```
    #[must_use]
    pub fn value<T: Any>(&self) -> Option<&T> {
        let mut next = self.values.as_deref();
        while let Some(Value { value, above }) = next {
            if let Some(value) = value.downcast_ref() {
                return Some(value);
            }
            next = above.as_deref();
        }
        None
    }

    /// One with the same values, and without an end. Go: `context.WithoutCancel`.
    ///
    /// ```
    /// let (ctx, cancel) = spinpark::context::Context::background().with_value(1).with_cancel();
    /// cancel.cancel();
    /// let cleans_up = ctx.without_cancel();
    /// assert!(!cleans_up.is_done() && cleans_up.value() == Some(&1));
    /// ```
    #[must_use]
    #[doc(alias("WithoutCancel"))]
    pub fn without_cancel(&self) -> Context {
        Context { values: self.values.clone(), ..Context::background() }
    }

    /// When it ends at the latest. Go: `ctx.Deadline`.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.node.deadline()
    }

    /// Waits until it has ended. Go: `<-ctx.Done()`.
    ///
    /// # Cancel safety
    /// Dropped, it changes nothing.
    ///
    /// ```
    /// use spinpark::{context::Context, select};
    /// use std::time::Duration;
    ///
    /// # spinpark::run(async {
    /// let (ctx, cancel) = Context::background().with_cancel();
    /// drop(cancel);
    /// select! {
    ///     _ = ctx.done() => {}
    ///     timeout(Duration::from_secs(5)) => panic!("it was cancelled"),
    /// }
    /// # });
    /// ```
    pub fn done(&self) -> WaitForCancellationFuture<'_> {
        self.node.token().cancelled()
    }

    /// Has it ended?
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.err().is_some()
    }

    /// Why it has ended. `None`: it has not. Once it is there, it stays what it is. Go: `ctx.Err`.
    ///
    /// ```
    /// let (ctx, cancel) = spinpark::context::Context::background().with_cancel();
    /// assert_eq!(ctx.err(), None);
    /// cancel.cancel();
    /// assert_eq!(ctx.err().map(|error| error.to_string()).as_deref(), Some("context canceled"));
    /// ```
    #[must_use]
    pub fn err(&self) -> Option<ContextError> {
        self.node.ended().map(|ended| ended.error)
    }

    /// The error that it was [cancelled with](Cancel::cancel_cause), it or the one above it; without one, that of [`err`](Context::err).
    /// `None`: it has not ended. Go: `context.Cause`.
    ///
    /// ```
    /// let (ctx, cancel) = spinpark::context::Context::background().with_cancel();
    /// cancel.cancel_cause("the client has gone");
    /// assert_eq!(ctx.cause().map(|cause| cause.to_string()).as_deref(), Some("the client has gone"));
    /// ```
    #[must_use]
    pub fn cause(&self) -> Option<Arc<dyn Error + Send + Sync>> {
        self.node.ended().map(|ended| ended.cause.unwrap_or_else(|| Arc::new(ended.error)))
    }

    /// Runs `future` until it is ready or the context has ended: then `future` is dropped. One that has ended before is an error, and
    /// `future` is never polled.
    ///
    /// # Errors
    /// That of [`err`](Context::err).
    ///
    /// ```
    /// use spinpark::context::Context;
    ///
    /// # spinpark::run(async {
    /// let (ctx, cancel) = Context::background().with_cancel();
    /// assert_eq!(ctx.run(async { 1 }).await, Ok(1));
    /// cancel.cancel();
    /// assert!(ctx.run(async { 1 }).await.is_err());
    /// # });
    /// ```
    pub async fn run<F: Future>(&self, future: F) -> Result<F::Output, ContextError> {
        let ran = self.node.token().run_until_cancelled(future).await;
        ran.ok_or_else(|| self.err().unwrap_or(ContextError::Canceled))
    }

    /// Calls `f` in a goroutine of its own when the context has ended; at once, if it has. Go: `context.AfterFunc`.
    ///
    /// What is returned can stop it; dropped, it changes nothing.
    ///
    /// # Panics
    /// If the caller is outside of a runtime.
    ///
    /// ```
    /// use spinpark::{chan, context::Context};
    ///
    /// # spinpark::run(async {
    /// let (ctx, cancel) = Context::background().with_cancel();
    /// let (sender, receiver) = chan::bounded(1);
    /// let stop = ctx.after_func(move || drop(sender.try_send("it is over")));
    /// cancel.cancel();
    /// assert_eq!(receiver.recv().await, Ok("it is over"));
    /// assert!(!stop.stop(), "it is too late");
    /// # });
    /// ```
    #[track_caller]
    #[doc(alias("AfterFunc"))]
    pub fn after_func(&self, f: impl FnOnce() + Send + 'static) -> StopFunc {
        StopFunc::new(Arc::clone(&self.node), Box::new(f))
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("err", &self.err()).field("deadline", &self.deadline()).finish_non_exhaustive()
    }
}

static_assertions::assert_impl_all!(Context: Send, Sync);
