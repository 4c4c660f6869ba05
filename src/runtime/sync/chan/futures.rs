//! Sending and receiving, for code that may have to wait.

use crate::runtime::exec::yielding::Leaf;
use crate::runtime::sync::chan::parts::{Channel, OnCores};
use crate::runtime::sync::select::Case;
use crate::runtime::sync::select::ticket::Ticket;
use crate::runtime::sync::waking::Lender;
use crate::runtime::task_waker::TaskWaker;
use crate::waits::chan::errors::{Closed, SendError};
use crate::waits::chan::receive::Receive;
use crate::waits::chan::send::Send;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

/// What [`Receiver::recv`](crate::runtime::sync::chan::Receiver::recv) returns.
#[must_use = "a future does nothing until it is awaited"]
pub struct Receiving<'a, T> {
    receive: Receive<'a, OnCores<T>>,
    is_over: bool,
    leaf: Leaf,
}

impl<'a, T> Receiving<'a, T> {
    pub(super) fn new(channel: &'a Channel<T>) -> Self {
        Receiving { receive: Receive::new(channel), is_over: false, leaf: Leaf::new() }
    }
}

impl<T> Future for Receiving<'_, T> {
    type Output = Result<T, Closed>;

    /// # Panics
    /// If it is polled after it has given its value.
    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        assert!(!self.is_over, "a recv was polled after it had given its value");
        let Receiving { receive, is_over, leaf } = &mut *self;
        let polled = leaf.poll(cx, "chan receive", |cx| receive.poll(&mut Lender::new(cx.waker())));
        *is_over = polled.is_ready();
        polled
    }
}

impl<T> Case for Receiving<'_, T> {
    type Output = Result<T, Closed>;

    fn attempt(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        assert!(!self.is_over, "a recv was selected after it had given its value");
        let received = self.receive.attempt();
        self.is_over = received.is_some();
        received.map_or(Poll::Pending, Poll::Ready)
    }

    fn enlist(mut self: Pin<&mut Self>, ticket: Ticket, waker: Waker) -> bool {
        self.receive.enlist(ticket, TaskWaker(waker))
    }

    fn collect(mut self: Pin<&mut Self>) -> Self::Output {
        self.is_over = true;
        self.receive.collect()
    }

    fn withdraw(mut self: Pin<&mut Self>) {
        self.receive.withdraw();
    }
}

impl<T> fmt::Debug for Receiving<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiving").field("is_waiting", &self.receive.is_waiting()).finish_non_exhaustive()
    }
}

/// What [`Sender::send`](crate::runtime::sync::chan::Sender::send) returns.
#[must_use = "a future does nothing until it is awaited"]
pub struct Sending<'a, T> {
    send: Send<'a, OnCores<T>>,
    leaf: Leaf,
}

impl<'a, T> Sending<'a, T> {
    pub(super) fn new(channel: &'a Channel<T>, value: T) -> Self {
        Sending { send: Send::new(channel, value), leaf: Leaf::new() }
    }

    /// The value, if it was not sent. The way to keep it when the future is given up: after a
    /// [`select!`](crate::select) that chose another case, for instance.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let (sender, _receiver) = spinpark::chan::bounded(0);
    /// let mut sending = sender.send(1);
    /// assert!(spinpark::time::timeout(std::time::Duration::ZERO, &mut sending).await.is_err());
    /// assert_eq!(sending.into_inner(), Some(1));
    /// # });
    /// ```
    pub fn into_inner(self) -> Option<T> {
        self.send.into_inner()
    }
}

/// The value is moved, never pinned.
impl<T> Unpin for Sending<'_, T> {}

impl<T> Future for Sending<'_, T> {
    type Output = Result<(), SendError<T>>;

    /// # Panics
    /// If it is polled after it has ended.
    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Sending { send, leaf } = &mut *self;
        leaf.poll(cx, "chan send", |cx| send.poll(&mut Lender::new(cx.waker())))
    }
}

impl<T> Case for Sending<'_, T> {
    type Output = Result<(), SendError<T>>;

    fn attempt(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        self.send.attempt().map_or(Poll::Pending, Poll::Ready)
    }

    fn enlist(mut self: Pin<&mut Self>, ticket: Ticket, waker: Waker) -> bool {
        self.send.enlist(ticket, TaskWaker(waker))
    }

    fn collect(mut self: Pin<&mut Self>) -> Self::Output {
        self.send.collect()
    }

    fn withdraw(mut self: Pin<&mut Self>) {
        self.send.withdraw();
    }
}

impl<T> fmt::Debug for Sending<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sending").field("is_waiting", &self.send.is_waiting()).finish_non_exhaustive()
    }
}
