//! Yielding to other tasks.

use crate::runtime::exec::context::Context;
use crate::runtime::exec::polling;
use crate::runtime::exec::report;
use crate::runtime::observe::watch;
use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::{self, Poll};

/// Lets the other tasks run that wait under the same P, and goes on after them. Go: `Gosched`, which goes behind
/// everybody.
///
/// # Cancel safety
/// Dropped before it is ready, the task may have yielded once.
///
/// ```
/// # spinpark::run(async {
/// spinpark::yield_now().await; // others run first
/// # });
/// ```
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

/// What each leaf future of ours has, and is polled through: tokio's `coop`.
///
/// **A task that always finds something ready lets others run.** Each leaf asks before it looks whether the task has done much in this poll,
/// or has run for long while others wait. Then it is pending, and woken at once. A leaf that was pending has let the others run and is not
/// asked again until it is ready: so what is polled behind one that never ends, a timer, say, still comes to its turn.
///
/// `tests/leaves/main.rs` holds a list of all leaves against the sources, and sees each yield.
#[derive(Debug, Default)]
pub(in crate::runtime) struct Leaf {
    was_pending: bool,
}

impl Leaf {
    pub(in crate::runtime) const fn new() -> Leaf {
        Leaf { was_pending: false }
    }

    /// Polls it. If it is not ready the task waits: `why`, in the words of Go's `waitReason`.
    #[inline]
    pub(in crate::runtime) fn poll<'a, T>(
        &mut self,
        cx: &mut task::Context<'a>,
        why: &'static str,
        poll: impl FnOnce(&mut task::Context<'a>) -> Poll<T>,
    ) -> Poll<T> {
        if !self.was_pending && yields(cx) {
            self.was_pending = true;
            return Poll::Pending;
        }
        let polled = poll(cx);
        self.was_pending = polled.is_pending();
        if self.was_pending {
            report::waits_for(why);
        }
        polled
    }
}

/// As [`Leaf::poll`], for what is polled by a function and has no future.
#[inline]
pub(in crate::runtime) fn poll_leaf<'a, T>(
    cx: &mut task::Context<'a>,
    why: &'static str,
    poll: impl FnOnce(&mut task::Context<'a>) -> Poll<T>,
) -> Poll<T> {
    Leaf::new().poll(cx, why, poll)
}

/// As [`Leaf::poll`], until it is ready.
#[inline]
pub(in crate::runtime) async fn leaf<T>(
    why: &'static str,
    mut poll: impl FnMut(&mut task::Context<'_>) -> Poll<T>,
) -> T {
    let mut leaf = Leaf::new();
    poll_fn(|cx| leaf.poll(cx, why, &mut poll)).await
}

/// Before what is always ready: it lets others run if the task is asked to.
#[inline]
pub(in crate::runtime) async fn proceed() {
    leaf("yield", |_| Poll::Ready(())).await;
}

/// How often leaves have let others run so far in this poll.
pub(in crate::runtime) fn yields_so_far() -> u32 {
    polling::yields()
}

/// Is the task to yield? Then it is woken.
#[inline(never)] // because of `watch::yields`
fn yields(cx: &task::Context<'_>) -> bool {
    let yields = polling::should_yield(Context::is_asked_to_yield());
    if yields {
        cx.waker().wake_by_ref();
        watch::yields();
    }
    yields
}
