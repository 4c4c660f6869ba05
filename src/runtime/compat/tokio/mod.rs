//! Streams of the crate futures-io's kind as those of tokio's, and back. With the feature `tokio-compat`, which brings tokio's traits,
//! not its runtime; that comes with `tokio-context`.
//!
//! Libraries that take a stream by tokio's traits, and nothing else of tokio, run on spinpark's sockets by this:
//!
//! ```
//! use spinpark::net::{TcpListener, TcpStream};
//! use spinpark::tokio_compat::Io;
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let text = spinpark::Runtime::new()?.block_on(async {
//!     let listener = TcpListener::bind("127.0.0.1:0").await?;
//!     let mut client = Io::new(TcpStream::connect(listener.local_addr()?).await?);
//!     let mut server = Io::new(listener.accept().await?.0);
//!     client.write_all(b"hello").await?; // tokio's
//!     client.shutdown().await?;
//!     let mut text = String::new();
//!     server.read_to_string(&mut text).await?;
//!     Ok::<_, std::io::Error>(text)
//! })??;
//! assert_eq!(text, "hello");
//! # Ok(())
//! # }
//! ```
//!
//! What needs tokio's own sockets, timers or `spawn` needs tokio's runtime: without one it panics, and says so. With the feature
//! `tokio-context` it is polled in a `Compat`, and finds one.

#[cfg(feature = "tokio-context")]
mod context;

#[cfg(feature = "tokio-context")]
pub use context::{Compat, CompatExt};

use ::tokio::io as theirs;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use futures_io::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite};
use std::io::{self, IoSlice, SeekFrom};

/// A stream of one kind as one of the other: of the crate futures-io's kind, as all of spinpark's are, as tokio's; and of tokio's as
/// that of futures-io.
#[derive(Debug, Clone, Copy, Default)]
pub struct Io<T> {
    stream: T,
    /// Where tokio's caller wants to seek to, until it has been done.
    seeks: Option<SeekFrom>,
}

impl<T> Io<T> {
    /// Wraps it.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let (one, _two) = spinpark::net::unix::UnixStream::pair()?;
    /// let for_tokio = spinpark::tokio_compat::Io::new(one);
    /// drop(for_tokio.into_inner());
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn new(stream: T) -> Self {
        Io { stream, seeks: None }
    }

    /// Unwraps it.
    pub fn into_inner(self) -> T {
        self.stream
    }

    /// The stream.
    pub fn get_ref(&self) -> &T {
        &self.stream
    }

    /// The stream.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.stream
    }

    fn inner(self: Pin<&mut Self>) -> Pin<&mut T>
    where
        T: Unpin,
    {
        Pin::new(&mut self.get_mut().stream)
    }
}

impl<T: Unpin> Unpin for Io<T> {}

impl<T: AsyncRead + Unpin> theirs::AsyncRead for Io<T> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut theirs::ReadBuf<'_>) -> Poll<io::Result<()>> {
        // Zeros are written once for a buffer that is used again and again.
        let n = ready!(self.inner().poll_read(cx, buffer.initialize_unfilled()))?;
        buffer.advance(n);
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncBufRead + Unpin> theirs::AsyncBufRead for Io<T> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.inner().poll_fill_buf(cx)
    }

    fn consume(self: Pin<&mut Self>, n: usize) {
        self.inner().consume(n);
    }
}

impl<T: AsyncWrite + Unpin> theirs::AsyncWrite for Io<T> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.inner().poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_close(cx)
    }

    /// Sockets can. A stream that cannot writes the first slice that is not empty.
    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.inner().poll_write_vectored(cx, slices)
    }
}

/// Theirs is in two steps, ours in one: the first says where to, the second does it.
impl<T: AsyncSeek + Unpin> theirs::AsyncSeek for Io<T> {
    fn start_seek(mut self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
        self.seeks = Some(to);
        Ok(())
    }

    fn poll_complete(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        // They ask also before the first step: then it is where it is.
        let to = self.seeks.unwrap_or(SeekFrom::Current(0));
        let at = ready!(self.as_mut().inner().poll_seek(cx, to));
        self.seeks = None;
        Poll::Ready(at)
    }
}

/// And back.
impl<T: theirs::AsyncRead + Unpin> AsyncRead for Io<T> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let mut buffer = theirs::ReadBuf::new(buffer);
        ready!(self.inner().poll_read(cx, &mut buffer))?;
        Poll::Ready(Ok(buffer.filled().len()))
    }
}

impl<T: theirs::AsyncBufRead + Unpin> AsyncBufRead for Io<T> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.inner().poll_fill_buf(cx)
    }

    fn consume(self: Pin<&mut Self>, n: usize) {
        self.inner().consume(n);
    }
}

impl<T: theirs::AsyncWrite + Unpin> AsyncWrite for Io<T> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.inner().poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_flush(cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_shutdown(cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.inner().poll_write_vectored(cx, slices)
    }
}
