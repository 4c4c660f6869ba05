//! A connection without a socket. tokio: `io::duplex`.
//!
//! ```text
//!   one end ──── Pipe: at most `size` bytes ────► the other
//!           ◄─── Pipe ────
//! ```
//!
//! **Each byte that is written is read once, in order; a reader waits only while its pipe is empty and can still get bytes, a writer only
//! while it is full and has a reader.** All of it is under one lock for each pipe; wakers are called after it is released.

use crate::runtime::exec::yielding::poll_leaf;
use crate::runtime::sync::waking::Lender;
use crate::runtime::task_waker::TaskWaker;
use crate::waits::waker::{Lender as _, Waits, forget, wait_at};
use core::fmt;
use core::mem;
use core::pin::Pin;
use core::task::{Context, Poll};
use futures_io::{AsyncRead, AsyncWrite};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Two ends that are connected, in memory: what is written at one is read at the other, at most `size` bytes under way in each direction.
/// For tests, and for what wants a stream; it works in a [deterministic](crate::deterministic) runtime, where there is no network.
///
/// # Panics
/// If `size` is 0: nothing could ever be written.
///
/// ```
/// use futures_lite::{AsyncReadExt, AsyncWriteExt};
///
/// let runtime = spinpark::Runtime::builder().deterministic(7).build()?;
/// runtime.block_on(async {
///     let (mut client, mut server) = spinpark::io::duplex(64);
///     spinpark::spawn(async move {
///         let mut question = [0; 4];
///         server.read_exact(&mut question).await?;
///         server.write_all(&question).await // an echo
///     });
///     client.write_all(b"ping").await?;
///     let mut answer = String::new();
///     client.read_to_string(&mut answer).await?; // until the server's end is dropped
///     assert_eq!(answer, "ping");
///     Ok::<_, std::io::Error>(())
/// })??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
#[track_caller]
pub fn duplex(size: usize) -> (DuplexStream, DuplexStream) {
    assert!(size > 0, "a duplex of 0 bytes could never take one: give 1 or more");
    let (one, other) = (Arc::new(Pipe::new(size)), Arc::new(Pipe::new(size)));
    let ends = DuplexStream { reads: Arc::clone(&one), writes: Arc::clone(&other) };
    (ends, DuplexStream { reads: other, writes: one })
}

/// One end of a [`duplex`], by futures-io's traits. Dropped, the other end reads what is left, and then the end; a write there is
/// [`BrokenPipe`](io::ErrorKind::BrokenPipe). One task at a time may wait to read from it, and one to write.
///
/// ```
/// use futures_lite::{AsyncReadExt, AsyncWriteExt};
/// use spinpark::io::{DuplexStream, duplex};
///
/// # spinpark::run(async {
/// let (mut one, mut other): (DuplexStream, DuplexStream) = duplex(8);
/// one.write_all(b"last").await?;
/// one.close().await?; // no more comes; it still reads
/// other.write_all(b"word").await?;
/// let mut last = String::new();
/// other.read_to_string(&mut last).await?;
/// let mut word = [0; 4];
/// one.read_exact(&mut word).await?;
/// assert_eq!((last.as_str(), &word), ("last", b"word"));
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// ```
pub struct DuplexStream {
    reads: Arc<Pipe>,
    writes: Arc<Pipe>,
}

struct Pipe {
    state: Mutex<State>,
    size: usize,
}

#[derive(Default)]
struct State {
    bytes: VecDeque<u8>,
    /// No more bytes will come, or none will be read.
    is_closed: bool,
    reader: Option<TaskWaker>,
    writer: Option<TaskWaker>,
}

impl Pipe {
    fn new(size: usize) -> Pipe {
        Pipe { state: Mutex::default(), size }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // None of the user's code runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// No more bytes come, or none are read.
    fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        let woken = (state.reader.take(), state.writer.take());
        drop(state);
        woken.0.into_iter().chain(woken.1).for_each(TaskWaker::wake);
    }

    /// Tries; if it cannot go on, the task waits at `place`. If it has, the waiter at the other end is woken.
    fn poll<T>(
        &self,
        cx: &mut Context<'_>,
        mut attempt: impl FnMut(&mut State) -> Option<T>,
        place: impl Fn(&mut State) -> &mut Option<TaskWaker>,
        other: impl Fn(&mut State) -> &mut Option<TaskWaker>,
    ) -> Poll<T> {
        let mut lender = Lender::new(cx.waker());
        loop {
            let mut state = self.state();
            let (tried, woken) = match attempt(&mut state) {
                Some(done) => (Ok(done), other(&mut state).take()),
                None => (Err(wait_at(place(&mut state), &mut lender)), None),
            };
            drop(state);
            woken.into_iter().for_each(TaskWaker::wake);
            match tried {
                Ok(done) => return Poll::Ready(done),
                Err(Waits::Yes(old)) => {
                    forget(old);
                    return Poll::Pending;
                }
                Err(Waits::NeedsCopy) => lender.prepare(),
            }
        }
    }
}

impl AsyncRead for DuplexStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let attempt = |state: &mut State| {
            let has_ended = state.is_closed || buffer.is_empty();
            // A read of a `VecDeque` cannot fail.
            let can_read = !state.bytes.is_empty() || has_ended;
            can_read.then(|| state.bytes.read(buffer))
        };
        poll_leaf(cx, "IO wait", |cx| {
            self.reads.poll(cx, attempt, |state| &mut state.reader, |state| &mut state.writer)
        })
    }
}

impl AsyncWrite for DuplexStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let size = self.writes.size;
        let attempt = |state: &mut State| {
            if state.is_closed {
                return Some(Err(io::ErrorKind::BrokenPipe.into()));
            }
            let room = size - state.bytes.len();
            let can_write = room > 0 || bytes.is_empty();
            can_write.then(|| state.bytes.write(&bytes[..room.min(bytes.len())]))
        };
        poll_leaf(cx, "IO wait", |cx| {
            self.writes.poll(cx, attempt, |state| &mut state.writer, |state| &mut state.reader)
        })
    }

    /// Does nothing: what was written can be read.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        poll_leaf(cx, "IO wait", |_| Poll::Ready(Ok(())))
    }

    /// No more will come: the other end reads what is left, and then the end. This one still reads.
    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        poll_leaf(cx, "IO wait", |_| {
            self.writes.close();
            Poll::Ready(Ok(()))
        })
    }
}

impl Drop for DuplexStream {
    fn drop(&mut self) {
        self.writes.close();
        self.reads.close();
        let unread = mem::take(&mut self.reads.state().bytes);
        drop(unread);
    }
}

impl fmt::Debug for DuplexStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DuplexStream").finish_non_exhaustive()
    }
}

static_assertions::assert_impl_all!(DuplexStream: Send, Sync, Unpin);
