//! The ends of a channel as `Stream` and `Sink` of futures 0.3. Each is a receive, or a send, after the other; between
//! two polls it is put away, and keeps its place in the queue.

use crate::runtime::exec::yielding::poll_leaf;
use crate::runtime::sync::chan::parts::OnCores;
use crate::runtime::sync::chan::{Receiver, Sender};
use crate::runtime::sync::waking::Lender;
use crate::waits::chan::errors::{Closed, SendError};
use crate::waits::chan::receive::Receive;
use crate::waits::chan::send::{PutAway, Send};
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use futures_core::{FusedStream, Stream};
use futures_sink::Sink;

impl<T> Receiver<T> {
    /// As a stream of what is received, which ends when the channel is closed and empty.
    ///
    /// ```
    /// use futures_lite::StreamExt;
    ///
    /// let runtime = spinpark::Runtime::builder().procs(1).build()?;
    /// let (sender, receiver) = spinpark::chan::bounded(2);
    /// runtime.spawn(async move {
    ///     for n in 1..=3 {
    ///         let _ = sender.send(n).await;
    ///     }
    /// });
    /// let doubled = receiver.into_stream().map(|n| n * 2);
    /// assert_eq!(runtime.run(doubled.collect::<Vec<_>>()), [2, 4, 6]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn into_stream(self) -> ReceiverStream<T> {
        ReceiverStream { receiver: self, waiter: None, is_over: false }
    }
}

impl<T> Sender<T> {
    /// As a sink of what is to be sent. It holds one value that waits for room, besides those in the channel; to close it
    /// drops this sender, and with the last one the channel is closed.
    ///
    /// ```
    /// let (sender, receiver) = spinpark::chan::bounded::<u8>(1);
    /// let (_sink, stream) = (sender.into_sink(), receiver.into_stream());
    /// assert!(stream.into_inner().is_empty()); // the channel's end again
    /// ```
    pub fn into_sink(self) -> SenderSink<T> {
        SenderSink { sender: Some(self), send: None }
    }
}

/// What [`Receiver::into_stream`] returns. Dropped, it receives no more, and no value is lost: what it was given is
/// another's.
#[must_use = "a stream does nothing until it is polled"]
pub struct ReceiverStream<T> {
    receiver: Receiver<T>,
    waiter: Option<usize>,
    is_over: bool,
}

impl<T> ReceiverStream<T> {
    /// The end of the channel again. A receive that waited gives its place up.
    ///
    /// # Cancel safety
    /// No value is lost.
    ///
    /// ```
    /// let (sender, receiver) = spinpark::chan::bounded(1);
    /// sender.try_send(1).expect("there is room");
    /// assert_eq!(receiver.into_stream().into_inner().try_recv(), Ok(1));
    /// ```
    pub fn into_inner(mut self) -> Receiver<T> {
        self.give_up();
        self.receiver.clone()
    }

    fn give_up(&mut self) {
        drop(Receive::<OnCores<T>>::resumed(self.receiver.channel(), self.waiter.take()));
    }
}

/// The value is moved, never pinned.
impl<T> Unpin for ReceiverStream<T> {}

impl<T> Stream for ReceiverStream<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let this = &mut *self;
        let polled = poll_leaf(cx, "chan receive", |cx| {
            if this.is_over {
                return Poll::Ready(Err(Closed));
            }
            let mut receive = Receive::resumed(this.receiver.channel(), this.waiter.take());
            let polled = receive.poll(&mut Lender::new(cx.waker()));
            this.waiter = receive.put_away();
            polled
        });
        this.is_over = matches!(polled, Poll::Ready(Err(Closed)));
        polled.map(Result::ok)
    }
}

impl<T> FusedStream for ReceiverStream<T> {
    fn is_terminated(&self) -> bool {
        self.is_over
    }
}

impl<T> Drop for ReceiverStream<T> {
    fn drop(&mut self) {
        self.give_up();
    }
}

impl<T> fmt::Debug for ReceiverStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReceiverStream").field("receiver", &self.receiver).finish_non_exhaustive()
    }
}

/// What [`Sender::into_sink`] returns. Dropped, a value that waits for room is dropped too: flush it before.
#[must_use = "a sink does nothing until it is polled"]
pub struct SenderSink<T> {
    /// `None`: it was closed.
    sender: Option<Sender<T>>,
    send: Option<PutAway<OnCores<T>>>,
}

impl<T> SenderSink<T> {
    /// Goes on with the value that waits, if there is one.
    fn poll_sent(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        poll_leaf(cx, "chan send", |cx| {
            let (Some(sender), Some(send)) = (&self.sender, self.send.take()) else { return Poll::Ready(Ok(())) };
            let mut send = Send::resumed(sender.channel(), send);
            let polled = send.poll(&mut Lender::new(cx.waker()));
            if polled.is_pending() {
                self.send = Some(send.put_away());
            }
            polled
        })
    }
}

/// The value is moved, never pinned.
impl<T> Unpin for SenderSink<T> {}

impl<T> Sink<T> for SenderSink<T> {
    type Error = SendError<T>;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        self.poll_sent(cx)
    }

    /// # Panics
    /// If it was not ready.
    fn start_send(mut self: Pin<&mut Self>, value: T) -> Result<(), SendError<T>> {
        assert!(self.send.is_none(), "a value was given to a sink that was not ready");
        match &self.sender {
            Some(sender) if !sender.is_closed() => {
                let send = Send::new(sender.channel(), value).put_away();
                self.send = Some(send);
                Ok(())
            }
            _ => Err(SendError(value)),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        self.poll_sent(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        let sent = ready!(self.poll_sent(cx));
        self.sender = None;
        Poll::Ready(sent)
    }
}

impl<T> Drop for SenderSink<T> {
    fn drop(&mut self) {
        if let (Some(sender), Some(send)) = (&self.sender, self.send.take()) {
            drop(Send::resumed(sender.channel(), send));
        }
    }
}

impl<T> fmt::Debug for SenderSink<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SenderSink").field("sender", &self.sender).finish_non_exhaustive()
    }
}
