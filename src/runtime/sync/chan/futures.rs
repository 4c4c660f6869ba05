//! Sending and receiving, for code that may have to wait.

use crate::runtime::exec::yielding::{waits_if_pending, yield_p};
use crate::runtime::sync::chan::channel::Channel;
use crate::runtime::sync::chan::errors::{Closed, SendError, TryRecvError};
use crate::runtime::sync::chan::state::{Refused, Side};
use crate::runtime::sync::chan::waitq::{Outcome, Waiter};
use crate::runtime::sync::chan::waking::{Lender, forget, wake};
use crate::runtime::sync::select::Case;
use crate::runtime::sync::select::ticket::Ticket;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

/// What [`Receiver::recv`](crate::runtime::sync::chan::Receiver::recv) returns.
#[must_use = "a future does nothing until it is awaited"]
pub struct Receiving<'a, T> {
    channel: &'a Channel<T>,
    /// Where it waits.
    waiter: Option<usize>,
    is_over: bool,
}

type Received<T> = Result<T, Closed>;

impl<'a, T> Receiving<'a, T> {
    pub(super) fn new(channel: &'a Channel<T>) -> Self {
        Receiving { channel, waiter: None, is_over: false }
    }

    /// `None`: it needs a copy of the waker.
    #[inline]
    fn step(&mut self, lender: &mut Lender<'_>) -> Option<Poll<Received<T>>> {
        if let Some(key) = self.waiter {
            if let Some(goes_on) = self.channel.goes_on(key, lender) {
                return goes_on.then_some(Poll::Pending);
            }
            if let Some(received) = self.get_up() {
                return Some(Poll::Ready(received));
            }
        }
        let mut state = self.channel.lock();
        match state.take() {
            Ok((value, woken)) => {
                drop(state);
                wake(woken);
                Some(Poll::Ready(Ok(value)))
            }
            Err(TryRecvError::Closed) => Some(Poll::Ready(Err(Closed))),
            Err(TryRecvError::Empty) => {
                let waker = lender.lend()?;
                self.waiter = Some(state.enqueue(Side::Receivers, Waiter::new(waker, None, None)));
                Some(Poll::Pending)
            }
        }
    }

    /// Gives its waiter back. Returns what the waiting came to, if it did.
    #[inline]
    fn get_up(&mut self) -> Option<Received<T>> {
        let key = self.waiter.take()?;
        let mut waiter = self.channel.lock().leave(Side::Receivers, key);
        forget(waiter.waker.take());
        match waiter.outcome? {
            Outcome::Closed => Some(Err(Closed)),
            Outcome::Done => waiter.value.take().map(Ok),
        }
    }

    /// Waits no more; what it was given goes back.
    fn give_up(&mut self) {
        let Some(key) = self.waiter.take() else { return };
        let mut state = self.channel.lock();
        let mut waiter = state.leave(Side::Receivers, key);
        // Under the same lock: nobody shall find the channel empty meanwhile.
        let woken = waiter.value.take().and_then(|value| state.put_back(waiter.number, value));
        drop(state);
        wake(woken);
        forget(waiter.waker.take());
    }
}

impl<T> Future for Receiving<'_, T> {
    type Output = Result<T, Closed>;

    /// # Panics
    /// If it is polled after it has given its value.
    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        assert!(!self.is_over, "a recv was polled after it had given its value");
        core::task::ready!(yield_p(cx));
        let mut lender = Lender::new(cx.waker());
        loop {
            match self.step(&mut lender) {
                None => lender.prepare(),
                Some(polled) => {
                    self.is_over = polled.is_ready();
                    return waits_if_pending(polled, "chan receive");
                }
            }
        }
    }
}

impl<T> Case for Receiving<'_, T> {
    type Output = Result<T, Closed>;

    fn attempt(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        assert!(!self.is_over, "a recv was selected after it had given its value");
        let received = self.get_up().or_else(|| self.channel.try_recv_or_closed());
        self.is_over = received.is_some();
        received.map_or(Poll::Pending, Poll::Ready)
    }

    fn enlist(mut self: Pin<&mut Self>, ticket: Ticket, waker: Waker) -> bool {
        self.waiter = self.channel.enlist(Side::Receivers, None, ticket, waker).ok();
        self.waiter.is_some()
    }

    fn collect(mut self: Pin<&mut Self>) -> Self::Output {
        self.is_over = true;
        self.get_up().expect("select: a receive was chosen that was given nothing")
    }

    fn withdraw(mut self: Pin<&mut Self>) {
        self.give_up();
    }
}

impl<T> Drop for Receiving<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if self.waiter.is_some() {
            self.give_up();
        }
    }
}

impl<T> fmt::Debug for Receiving<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiving").field("is_waiting", &self.waiter.is_some()).finish_non_exhaustive()
    }
}

/// What [`Sender::send`](crate::runtime::sync::chan::Sender::send) returns.
#[must_use = "a future does nothing until it is awaited"]
pub struct Sending<'a, T> {
    channel: &'a Channel<T>,
    /// `None`: while it waits the value lies in its waiter; after the end it is gone.
    value: Option<T>,
    waiter: Option<usize>,
    /// It was sent, and nobody has looked.
    is_sent: bool,
}

type Sent<T> = Result<(), SendError<T>>;

impl<'a, T> Sending<'a, T> {
    pub(super) fn new(channel: &'a Channel<T>, value: T) -> Self {
        Sending { channel, value: Some(value), waiter: None, is_sent: false }
    }

    /// The value, if it was not sent. The way to keep it when the future is given up: after a
    /// [`select!`](crate::select) that chose another case, for instance.
    pub fn into_inner(mut self) -> Option<T> {
        self.withdraw_value();
        self.value.take()
    }

    #[cold]
    fn is_over() -> ! {
        panic!("a send was polled after it had ended");
    }

    /// `None`: it needs a copy of the waker.
    #[inline]
    fn step(&mut self, lender: &mut Lender<'_>) -> Option<Poll<Sent<T>>> {
        if let Some(key) = self.waiter {
            if let Some(goes_on) = self.channel.goes_on(key, lender) {
                return goes_on.then_some(Poll::Pending);
            }
            if let Some(sent) = self.get_up() {
                return Some(Poll::Ready(sent));
            }
        }
        if core::mem::take(&mut self.is_sent) {
            return Some(Poll::Ready(Ok(())));
        }
        let Some(value) = self.value.take() else { Self::is_over() };
        let mut state = self.channel.lock();
        match state.put(value) {
            Ok(woken) => {
                drop(state);
                wake(woken);
                Some(Poll::Ready(Ok(())))
            }
            Err(Refused::Closed(value)) => Some(Poll::Ready(Err(SendError(value)))),
            Err(Refused::Full(value)) => {
                let Some(waker) = lender.lend() else {
                    self.value = Some(value);
                    return None;
                };
                self.waiter = Some(state.enqueue(Side::Senders, Waiter::new(waker, Some(value), None)));
                Some(Poll::Pending)
            }
        }
    }

    /// Gives its waiter back. Returns what the waiting came to, if it did; if not, the value is here again.
    #[inline]
    fn get_up(&mut self) -> Option<Sent<T>> {
        let key = self.waiter.take()?;
        let mut waiter = self.channel.lock().leave(Side::Senders, key);
        forget(waiter.waker.take());
        match (waiter.outcome, waiter.value.take()) {
            (Some(Outcome::Closed), Some(value)) => Some(Err(SendError(value))),
            (Some(_), _) => Some(Ok(())),
            (None, value) => {
                self.value = value;
                None
            }
        }
    }

    /// Waits no more.
    fn withdraw_value(&mut self) {
        match self.get_up() {
            None => (),
            Some(Ok(())) => self.is_sent = true,
            Some(Err(SendError(value))) => self.value = Some(value),
        }
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
        core::task::ready!(yield_p(cx));
        let mut lender = Lender::new(cx.waker());
        loop {
            match self.step(&mut lender) {
                None => lender.prepare(),
                Some(polled) => return waits_if_pending(polled, "chan send"),
            }
        }
    }
}

impl<T> Case for Sending<'_, T> {
    type Output = Result<(), SendError<T>>;

    fn attempt(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(sent) = self.get_up() {
            return Poll::Ready(sent);
        }
        if core::mem::take(&mut self.is_sent) {
            return Poll::Ready(Ok(()));
        }
        let Some(value) = self.value.take() else { Self::is_over() };
        match self.channel.try_put(value) {
            Ok(()) => Poll::Ready(Ok(())),
            Err(Refused::Closed(value)) => Poll::Ready(Err(SendError(value))),
            Err(Refused::Full(value)) => {
                self.value = Some(value);
                Poll::Pending
            }
        }
    }

    fn enlist(mut self: Pin<&mut Self>, ticket: Ticket, waker: Waker) -> bool {
        let value = self.value.take();
        match self.channel.enlist(Side::Senders, value, ticket, waker) {
            Ok(waiter) => self.waiter = Some(waiter),
            Err(value) => self.value = value,
        }
        self.waiter.is_some()
    }

    fn collect(mut self: Pin<&mut Self>) -> Self::Output {
        self.get_up().expect("select: a send was chosen that was not served")
    }

    fn withdraw(mut self: Pin<&mut Self>) {
        self.withdraw_value();
    }
}

impl<T> Drop for Sending<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if self.waiter.is_some() {
            self.withdraw_value();
        }
    }
}

impl<T> fmt::Debug for Sending<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sending").field("is_waiting", &self.waiter.is_some()).finish_non_exhaustive()
    }
}

/// What both do.
impl<T> Channel<T> {
    /// Does the task that waits there wait on? Then it is this waker that will be woken. `Some(false)`: a copy of it is needed.
    /// `None`: it was served, or it was a case of a select that is gone.
    #[inline]
    fn goes_on(&self, key: usize, lender: &mut Lender<'_>) -> Option<bool> {
        let mut state = self.lock();
        let waiter = state.waiter(key);
        if waiter.outcome.is_some() || waiter.is_case() {
            return None;
        }
        if waiter.waker.as_ref().is_some_and(|waker| waker.will_wake(lender.waker())) {
            return Some(true);
        }
        let Some(waker) = lender.lend() else { return Some(false) };
        let old = waiter.waker.replace(waker);
        drop(state);
        forget(old);
        Some(true)
    }

    /// Waits as a case of a select, unless there is no need to: then the value comes back.
    fn enlist(&self, side: Side, value: Option<T>, ticket: Ticket, waker: Waker) -> Result<usize, Option<T>> {
        let mut state = self.lock();
        if state.is_ready(side, &ticket) {
            drop(state);
            forget(Some(waker));
            return Err(value);
        }
        Ok(state.enqueue(side, Waiter::new(waker, value, Some(ticket))))
    }
}
