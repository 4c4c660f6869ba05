//! Futures that yield.

use crate::runtime::exec::yielding::{waits_if_pending, yield_p};
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use pin_project_lite::pin_project;

pin_project! {
    /// Waiting for one's turn at a lock. If the task has run for long and others wait, it yields first: one that always
    /// finds the lock free would never wait by itself.
    #[must_use = "a future does nothing until it is awaited"]
    pub struct Turn<F> {
        #[pin]
        future: F,
        why: &'static str,
    }
}

impl<F> Turn<F> {
    /// `why` it waits, in Go's words.
    pub(super) fn new(future: F, why: &'static str) -> Self {
        Turn { future, why }
    }
}

impl<F: Future> Future for Turn<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        ready!(yield_p(cx));
        let this = self.project();
        waits_if_pending(this.future.poll(cx), this.why)
    }
}

impl<F> fmt::Debug for Turn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn").finish_non_exhaustive()
    }
}
