//! Telling tasks that they are no longer wanted.

use crate::runtime::exec::yielding::{Leaf, proceed};
use crate::runtime::host::cores::Cores;
use crate::runtime::sync::waking::Lender;
use crate::runtime::task_waker::TaskWaker;
use crate::waits::cancellation::Token;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use pin_project_lite::pin_project;

/// Tells the holders of its copies that they are no longer wanted. Go: `context.WithCancel`.
///
/// No task is forced to stop: a holder of a token asks it, or waits for it beside its work.
///
/// ```
/// use spinpark::sync::CancellationToken;
/// use spinpark::time;
/// use std::time::Duration;
///
/// let runtime = spinpark::Runtime::builder().procs(2).build()?;
/// let token = CancellationToken::new();
/// let request = token.child_token(); // cancelled with `token`, and not the other way
/// let worker = runtime.spawn(async move {
///     request.run_until_cancelled(time::sleep(Duration::from_secs(60))).await
/// });
/// token.cancel();
/// assert_eq!(worker.join()?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A child that is made while its parent is cancelled is cancelled, and so are its own. Tokens that are dropped leave nothing
/// behind, however many children a token has had.
///
/// # Cancel safety
/// Each of its futures may be dropped at any time, and the token be waited for again; those with a future in them drop that.
///
/// ```
/// use spinpark::{spawn, sync::CancellationToken};
///
/// # spinpark::run(async {
/// let token = CancellationToken::new();
/// let task = spawn(token.clone().cancelled_owned());
/// let guard = token.clone().drop_guard(); // cancels when it is dropped
/// assert!(!token.is_cancelled());
/// drop(guard);
/// task.await.expect("no panic");
/// token.cancelled().await;
/// assert_eq!(token.run_until_cancelled(async { 1 }).await, None);
/// assert_eq!(token.run_until_cancelled_owned(async { 1 }).await, None);
/// # });
/// ```
#[derive(Clone)]
pub struct CancellationToken(Token<Cores, TaskWaker>);

impl CancellationToken {
    /// One without a parent.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let token = spinpark::sync::CancellationToken::new();
    /// let task = spinpark::spawn(token.clone().cancelled_owned());
    /// token.cancel();
    /// task.await.expect("no panic");
    /// assert!(token.is_cancelled());
    /// # });
    /// ```
    #[must_use]
    pub fn new() -> Self {
        CancellationToken(Token::new())
    }

    /// One that is cancelled when this one is. To cancel it does not cancel this one. A copy, which does, is made by `clone`.
    ///
    /// ```
    /// let parent = spinpark::sync::CancellationToken::new();
    /// let child = parent.child_token();
    /// child.cancel();
    /// assert!(!parent.is_cancelled());
    /// ```
    #[must_use]
    pub fn child_token(&self) -> Self {
        CancellationToken(self.0.child())
    }

    /// Cancels it, its copies, its children, and theirs. From any thread. Its waiters go on, and see what the caller did
    /// before.
    ///
    /// ```
    /// let parent = spinpark::sync::CancellationToken::new();
    /// let child = parent.child_token();
    /// parent.cancel();
    /// assert!(child.is_cancelled());
    /// ```
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Was it cancelled? One read of a word, without a lock. A caller that sees it cancelled sees what the canceller did before.
    #[must_use]
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Waits until it is cancelled. Go: `<-ctx.Done()`.
    ///
    /// ```
    /// use spinpark::{select, sync::CancellationToken};
    ///
    /// # spinpark::run(async {
    /// let token = CancellationToken::new();
    /// token.cancel();
    /// select! {
    ///     _ = token.cancelled() => {}
    ///     timeout(std::time::Duration::from_secs(5)) => panic!("it was cancelled"),
    /// }
    /// # });
    /// ```
    pub fn cancelled(&self) -> WaitForCancellationFuture<'_> {
        WaitForCancellationFuture { token: self, waiter: None, leaf: Leaf::new() }
    }

    /// The same, of a token that the future has itself.
    pub fn cancelled_owned(self) -> WaitForCancellationFutureOwned {
        WaitForCancellationFutureOwned { token: self, waiter: None, leaf: Leaf::new() }
    }

    /// Runs `future` until it is ready, or until this is cancelled: then it is `None`, and the future is dropped. If both
    /// are so at once it is `None`; a future whose token was cancelled before is never polled.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let token = spinpark::sync::CancellationToken::new();
    /// assert_eq!(token.run_until_cancelled(async { 1 }).await, Some(1));
    /// token.cancel();
    /// assert_eq!(token.run_until_cancelled(std::future::pending::<()>()).await, None);
    /// # });
    /// ```
    pub async fn run_until_cancelled<F: Future>(&self, future: F) -> Option<F::Output> {
        // The future may be ready each time, and no leaf of ours in it.
        proceed().await;
        UntilCancelled { cancelled: self.cancelled(), future }.await
    }

    /// The same, with a token that it has itself.
    pub async fn run_until_cancelled_owned<F: Future>(self, future: F) -> Option<F::Output> {
        self.run_until_cancelled(future).await
    }

    /// Cancels it when the guard is dropped, unless that is [disarmed](DropGuard::disarm).
    ///
    /// ```
    /// let token = spinpark::sync::CancellationToken::new();
    /// drop(token.clone().drop_guard()); // however its scope is left
    /// assert!(token.is_cancelled());
    /// ```
    pub fn drop_guard(self) -> DropGuard {
        DropGuard(Some(self))
    }
}

impl Default for CancellationToken {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for CancellationToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancellationToken").field("is_cancelled", &self.is_cancelled()).finish_non_exhaustive()
    }
}

/// Cancels a token when it is dropped.
#[must_use = "a guard that is dropped at once cancels at once"]
#[derive(Debug)]
pub struct DropGuard(Option<CancellationToken>);

impl DropGuard {
    /// It does not cancel any more. The token comes back.
    ///
    /// ```
    /// use spinpark::sync::CancellationToken;
    ///
    /// let token = CancellationToken::new().drop_guard().disarm();
    /// assert!(!token.is_cancelled());
    /// ```
    pub fn disarm(mut self) -> CancellationToken {
        self.0.take().expect("cancellation: a guard that was dropped")
    }
}

impl Drop for DropGuard {
    fn drop(&mut self) {
        if let Some(token) = self.0.take() {
            token.cancel();
        }
    }
}

const WHY: &str = "sync.CancellationToken";

/// What [`CancellationToken::cancelled`] returns.
#[must_use = "a future does nothing until it is awaited"]
pub struct WaitForCancellationFuture<'a> {
    token: &'a CancellationToken,
    waiter: Option<usize>,
    leaf: Leaf,
}

impl WaitForCancellationFuture<'_> {
    /// Polls it, and lets no others run.
    fn look(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.token.0.poll(&mut self.waiter, &mut Lender::new(cx.waker()))
    }
}

impl Future for WaitForCancellationFuture<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self { token, waiter, leaf } = &mut *self;
        leaf.poll(cx, WHY, |cx| token.0.poll(waiter, &mut Lender::new(cx.waker())))
    }
}

impl Drop for WaitForCancellationFuture<'_> {
    fn drop(&mut self) {
        self.token.0.give_up(&mut self.waiter);
    }
}

impl fmt::Debug for WaitForCancellationFuture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitForCancellationFuture").finish_non_exhaustive()
    }
}

/// What [`CancellationToken::cancelled_owned`] returns.
#[must_use = "a future does nothing until it is awaited"]
pub struct WaitForCancellationFutureOwned {
    token: CancellationToken,
    waiter: Option<usize>,
    leaf: Leaf,
}

impl Future for WaitForCancellationFutureOwned {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Self { token, waiter, leaf } = &mut *self;
        leaf.poll(cx, WHY, |cx| token.0.poll(waiter, &mut Lender::new(cx.waker())))
    }
}

impl Drop for WaitForCancellationFutureOwned {
    fn drop(&mut self) {
        self.token.0.give_up(&mut self.waiter);
    }
}

impl fmt::Debug for WaitForCancellationFutureOwned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitForCancellationFutureOwned").finish_non_exhaustive()
    }
}

pin_project! {
    /// A future beside a token. The token is asked first.
    struct UntilCancelled<'a, F> {
        cancelled: WaitForCancellationFuture<'a>,
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for UntilCancelled<'_, F> {
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        // It lets others run, but not its future: that is not polled any more.
        match this.cancelled.look(cx) {
            Poll::Ready(()) => this.cancelled.leaf.poll(cx, WHY, |_| Poll::Ready(None)),
            Poll::Pending => this.future.poll(cx).map(Some),
        }
    }
}

static_assertions::assert_impl_all!(CancellationToken: Send, Sync);
static_assertions::assert_impl_all!(WaitForCancellationFutureOwned: Send, Sync, Unpin);
