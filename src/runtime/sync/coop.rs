//! Futures that yield.

use crate::runtime::exec::waker::Gentle;
use crate::runtime::exec::yielding::Leaf;
use core::fmt;
use core::future::{Future, poll_fn};
use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};
use pin_project_lite::pin_project;

pin_project! {
    /// Waiting for one's turn at a lock. If the task has run for long and others wait, it yields first: one that always
    /// finds the lock free would never wait by itself.
    #[must_use = "a future does nothing until it is awaited"]
    pub struct Turn<F> {
        #[pin]
        future: F,
        // What is woken, if that is not to be trusted: the lock calls it where its queue is locked.
        gentle: Option<Gentle>,
        why: &'static str,
        leaf: Leaf,
    }
}

impl<F> Turn<F> {
    /// `why` it waits, in Go's words.
    pub(super) fn new(future: F, why: &'static str) -> Self {
        Turn { future, gentle: None, why, leaf: Leaf::new() }
    }
}

impl<F: Future> Future for Turn<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let mut this = self.project();
        this.leaf.poll(cx, this.why, |cx| {
            // The lock may be free: then whose waker it is need not be asked.
            if let Poll::Ready(taken) = this.future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                return Poll::Ready(taken);
            }
            match Gentle::around(this.gentle, cx.waker()) {
                Some(gentle) => this.future.poll(&mut Context::from_waker(&gentle)),
                None => this.future.poll(cx),
            }
        })
    }
}

/// Awaits a future of async-lock's, which calls wakers where its queue is locked: one that is not to be trusted is guarded.
pub(super) async fn gently<F: Future>(future: F) -> F::Output {
    let (mut future, mut gentle) = (pin!(future), None);
    poll_fn(|cx| match Gentle::around(&mut gentle, cx.waker()) {
        Some(gentle) => future.as_mut().poll(&mut Context::from_waker(&gentle)),
        None => future.as_mut().poll(cx),
    })
    .await
}

impl<F> fmt::Debug for Turn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn").finish_non_exhaustive()
    }
}
