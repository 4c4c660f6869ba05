//! Streams as futures 0.3 has them: of ticks, of what expires, and of connections. Those of channels stand with the channels.

use crate::runtime::io::net::{Incoming, TcpStream};
use crate::runtime::time::Interval;
use crate::runtime::time::delay_queue::{DelayQueue, Expired};
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use futures_core::Stream;
use std::io;
use std::time::Instant;

/// The ticks, without end: when each was due.
impl Stream for Interval {
    type Item = Instant;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Instant>> {
        self.poll_tick(cx).map(Some)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::MAX, None)
    }
}

/// What is due. It ends when the queue is empty, and goes on when a value was inserted.
impl<T> Stream for DelayQueue<T> {
    type Item = Expired<T>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Expired<T>>> {
        self.poll_expired(cx)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len(), None)
    }
}

/// The connections, without end; errors are those of [`accept`](crate::net::TcpListener::accept).
impl Stream for Incoming<'_> {
    type Item = io::Result<TcpStream>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let accepted = ready!(self.listener().poll_accept(cx));
        Poll::Ready(Some(accepted.map(|(stream, _)| stream)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::MAX, None)
    }
}
