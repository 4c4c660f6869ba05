//! The traits of the crate futures-io, for what has the methods that `macros` writes.

/// `AsyncRead`, of the crate futures-io.
macro_rules! async_read {
    ($name:ty) => {
        impl AsyncRead for $name {
            fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
                self.0.poll_stream(Direction::Read, cx, buffer.len(), |mut socket| socket.read(buffer))
            }

            fn poll_read_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buffers: &mut [IoSliceMut<'_>],
            ) -> Poll<io::Result<usize>> {
                let wanted = at_once(buffers.iter().map(|buffer| buffer.len()));
                self.0.poll_stream(Direction::Read, cx, wanted, |mut socket| socket.read_vectored(buffers))
            }
        }
    };
}

/// `AsyncWrite`, of the crate futures-io.
macro_rules! async_write {
    ($name:ty, $close:expr) => {
        impl AsyncWrite for $name {
            fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
                self.0.poll_stream(Direction::Write, cx, bytes.len(), |mut socket| socket.write(bytes))
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                slices: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                let wanted = at_once(slices.iter().map(|slice| slice.len()));
                self.0.poll_stream(Direction::Write, cx, wanted, |mut socket| socket.write_vectored(slices))
            }

            /// Does nothing: what was written is the system's.
            fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                poll_leaf(cx, "IO wait", |_| Poll::Ready(Ok(())))
            }

            /// Tells the peer that no more will come, if there is a way; it can still send. A pipe is closed by being dropped, and not by this.
            fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                poll_leaf(cx, "IO wait", |_| Poll::Ready(($close)(&self)))
            }
        }
    };
}
