//! Yielding to other tasks.

use crate::runtime::exec::context::Context;
use crate::runtime::exec::polling;
use crate::runtime::observe::watch;
use core::future::Future;
use core::pin::Pin;
use core::task::{self, Poll};

/// Lets the other tasks run that wait under the same P, and goes on after them. Go: `Gosched`, which goes behind
/// everybody.
pub fn yield_now() -> YieldNow {
    YieldNow { has_yielded: false }
}

/// What [`yield_now`] returns.
#[derive(Debug)]
#[must_use = "a future does nothing until it is awaited"]
pub struct YieldNow {
    has_yielded: bool,
}

impl Future for YieldNow {
    type Output = ();

    #[inline(never)] // because of `yields`
    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        if self.has_yielded {
            return Poll::Ready(());
        }
        self.has_yielded = true;
        cx.waker().wake_by_ref();
        watch::yields();
        Poll::Pending
    }
}

/// Pending, and woken at once, if the task has done much in this poll, or has run for long and others wait: one that always finds something
/// ready would never wait by itself.
#[inline(never)] // because of `yields`
pub(in crate::runtime) fn yield_p(cx: &task::Context<'_>) -> Poll<()> {
    if !polling::should_yield(Context::is_asked_to_yield()) {
        return Poll::Ready(());
    }
    cx.waker().wake_by_ref();
    watch::yields();
    Poll::Pending
}

/// If it is not ready the task waits: says for what, in the words of Go's `waitReason`.
#[inline]
pub(in crate::runtime) fn waits_if_pending<T>(polled: Poll<T>, why: &'static str) -> Poll<T> {
    if polled.is_pending() {
        watch::waits_for(why);
    }
    polled
}
