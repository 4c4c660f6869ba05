//! Waiting until a channel is closed.

use super::{Sender, Shared};
use crate::runtime::exec::yielding::Leaf;
use crate::runtime::sync::waking::Lender;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

impl<T> Sender<T> {
    /// Waits until the channel is closed: by [`close`](Sender::close) from either side, or because no
    /// [`Receiver`](super::Receiver) is left. For a sender whose values are expensive to make: it learns that they are not wanted
    /// any more.
    ///
    /// # Cancel safety
    /// Dropped, it changes nothing.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let (sender, receiver) = spinpark::chan::bounded::<u32>(1);
    /// let task = spinpark::spawn(async move { sender.closed().await });
    /// drop(receiver);
    /// task.await.expect("no panic");
    /// # });
    /// ```
    pub fn closed(&self) -> SenderClosed<'_, T> {
        SenderClosed { shared: self.shared(), waiter: None, leaf: Leaf::new() }
    }
}

/// What [`Sender::closed`] returns.
#[must_use = "a future does nothing until it is awaited"]
pub struct SenderClosed<'a, T> {
    shared: &'a Shared<T>,
    waiter: Option<usize>,
    leaf: Leaf,
}

impl<T> Future for SenderClosed<'_, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let SenderClosed { shared, waiter, leaf } = &mut *self;
        leaf.poll(cx, "chan closed", |cx| match shared.closes() {
            Some(token) => token.poll(waiter, &mut Lender::new(cx.waker())),
            None => Poll::Ready(()),
        })
    }
}

impl<T> Drop for SenderClosed<'_, T> {
    fn drop(&mut self) {
        if let Some(token) = self.shared.token() {
            token.give_up(&mut self.waiter);
        }
    }
}

impl<T> fmt::Debug for SenderClosed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SenderClosed").finish_non_exhaustive()
    }
}

static_assertions::assert_impl_all!(SenderClosed<'static, std::cell::Cell<u8>>: Send, Unpin);
