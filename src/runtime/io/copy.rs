//! Bytes from one stream to another, of whatever kind.

use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use futures_io::{AsyncRead, AsyncWrite};
use std::io;

/// So many bytes are under way at a time, in one direction.
const BUFFER: usize = 8 * 1024;

/// Copies all that comes from `reader` to `writer`, flushes it, and returns how many bytes there were. Go: `io.Copy`.
///
/// The buffer has 8 KiB. Between two descriptors [`splice`](crate::io::splice) does without one, and `TcpStream::sendfile` from a file.
///
/// # Errors
/// The first of a read or a write; [`WriteZero`](io::ErrorKind::WriteZero), if `writer` takes no more.
///
/// # Cancel safety
/// Dropped, the bytes that were read and are not written yet are lost.
///
/// ```
/// use futures_lite::AsyncWriteExt;
///
/// # spinpark::run(async {
/// let (mut ours, mut theirs) = spinpark::io::duplex(64);
/// theirs.write_all(b"hello").await?;
/// drop(theirs); // the end
/// let mut all = Vec::new(); // of futures-io's `AsyncWrite`
/// assert_eq!(spinpark::io::copy(&mut ours, &mut all).await?, 5);
/// assert_eq!(all, b"hello");
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// ```
pub async fn copy<R, W>(reader: &mut R, writer: &mut W) -> io::Result<u64>
where
    R: AsyncRead + Unpin + ?Sized,
    W: AsyncWrite + Unpin + ?Sized,
{
    let mut copied = Copied::new(false);
    poll_fn(|cx| copied.poll(cx, Pin::new(&mut *reader), Pin::new(&mut *writer))).await
}

/// Copies in both directions until both have ended: what a proxy does. When one has, its writer is flushed and closed, so that the peer
/// learns of it, and the other goes on. Returns how many bytes went from `a` to `b`, and from `b` to `a`.
///
/// # Errors
/// The first of either direction: the other is given up with it.
///
/// # Cancel safety
/// As [`copy`]'s.
///
/// ```
/// use futures_lite::{AsyncReadExt, AsyncWriteExt};
///
/// # spinpark::run(async {
/// let ((mut client, mut a), (mut b, mut server)) = (spinpark::io::duplex(64), spinpark::io::duplex(64));
/// let proxy = spinpark::spawn(async move { spinpark::io::copy_bidirectional(&mut a, &mut b).await });
/// client.write_all(b"question").await?;
/// client.close().await?;
/// let mut question = String::new();
/// server.read_to_string(&mut question).await?;
/// server.write_all(b"answer").await?;
/// drop(server);
/// assert_eq!(question, "question");
/// assert_eq!(proxy.await.expect("no panic")?, (8, 6));
/// # Ok::<(), std::io::Error>(()) }).unwrap();
/// ```
pub async fn copy_bidirectional<A, B>(a: &mut A, b: &mut B) -> io::Result<(u64, u64)>
where
    A: AsyncRead + AsyncWrite + Unpin + ?Sized,
    B: AsyncRead + AsyncWrite + Unpin + ?Sized,
{
    let (mut there, mut back) = (Copied::new(true), Copied::new(true));
    poll_fn(|cx| {
        let there = there.poll(cx, Pin::new(&mut *a), Pin::new(&mut *b))?;
        let back = back.poll(cx, Pin::new(&mut *b), Pin::new(&mut *a))?;
        Poll::Ready(Ok((ready!(there), ready!(back))))
    })
    .await
}

/// One direction.
struct Copied {
    buffer: Box<[u8]>,
    /// What is in the buffer and is to be written.
    from: usize,
    to: usize,
    copied: u64,
    /// Are there bytes that were not flushed?
    is_dirty: bool,
    stage: Stage,
    closes: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Copies,
    /// The reader has ended.
    Flushes,
    Closes,
    Over,
}

impl Copied {
    fn new(closes: bool) -> Copied {
        let buffer = vec![0; BUFFER].into_boxed_slice();
        Copied { buffer, from: 0, to: 0, copied: 0, is_dirty: false, stage: Stage::Copies, closes }
    }

    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        mut reader: Pin<&mut (impl AsyncRead + ?Sized)>,
        mut writer: Pin<&mut (impl AsyncWrite + ?Sized)>,
    ) -> Poll<io::Result<u64>> {
        loop {
            match self.stage {
                Stage::Copies if self.from < self.to => ready!(self.poll_write(cx, writer.as_mut()))?,
                Stage::Copies => ready!(self.poll_read(cx, reader.as_mut(), writer.as_mut()))?,
                Stage::Flushes => {
                    ready!(writer.as_mut().poll_flush(cx))?;
                    self.stage = if self.closes { Stage::Closes } else { Stage::Over };
                }
                Stage::Closes => {
                    ready!(writer.as_mut().poll_close(cx))?;
                    self.stage = Stage::Over;
                }
                Stage::Over => return Poll::Ready(Ok(self.copied)),
            }
        }
    }

    fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        reader: Pin<&mut (impl AsyncRead + ?Sized)>,
        writer: Pin<&mut (impl AsyncWrite + ?Sized)>,
    ) -> Poll<io::Result<()>> {
        match reader.poll_read(cx, &mut self.buffer) {
            Poll::Ready(Ok(0)) => self.stage = Stage::Flushes,
            Poll::Ready(Ok(n)) => (self.from, self.to) = (0, n),
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            // What a writer keeps in a buffer is to be seen by the peer, which may answer only then.
            Poll::Pending if self.is_dirty => {
                ready!(writer.poll_flush(cx))?;
                self.is_dirty = false;
                return Poll::Pending;
            }
            Poll::Pending => return Poll::Pending,
        }
        Poll::Ready(Ok(()))
    }

    fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        writer: Pin<&mut (impl AsyncWrite + ?Sized)>,
    ) -> Poll<io::Result<()>> {
        match ready!(writer.poll_write(cx, &self.buffer[self.from..self.to]))? {
            0 => Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
            n => {
                (self.from, self.copied, self.is_dirty) = (self.from + n, self.copied + n as u64, true);
                Poll::Ready(Ok(()))
            }
        }
    }
}
