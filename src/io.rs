//! Pipes, the standard streams, and any file descriptor. Sockets are in [`net`](crate::net), files in [`fs`](crate::fs).
//!
//! | you want | take |
//! |----------|------|
//! | to read what is typed, or write to the terminal | [`stdin()`](stdin), [`stdout()`](stdout), [`stderr()`](stderr) |
//! | a pipe, between tasks or to another process | [`pipe()`](pipe): a [`PipeReader`] and a [`PipeWriter`] |
//! | to wait for a descriptor of another library's | [`AsyncFd`], with [`Interest`] and [`Ready`] |
//! | bytes from one descriptor to another, inside of the system | [`splice()`](splice()), `TcpStream::sendfile` |
//! | traits | futures-io's `AsyncRead` and `AsyncWrite`; tokio's by [`tokio_compat`](../tokio_compat/index.html) |
//!
//! ```
//! # spinpark::run(async {
//! let (reader, writer) = spinpark::io::pipe()?;
//! writer.write_all(b"hello").await?;
//! let mut word = [0; 5];
//! reader.read_exact(&mut word).await?;
//! assert_eq!(&word, b"hello");
//! # Ok::<(), std::io::Error>(()) }).unwrap();
//! ```

#[cfg(unix)]
#[doc(inline)]
pub use crate::runtime::{
    AsyncFd, AsyncFdReadyGuard, Interest, PipeReader, PipeWriter, Ready, SpliceFrom, SpliceTo, TryIoError, pipe, splice,
};
#[doc(inline)]
pub use crate::runtime::{Stderr, Stdin, Stdout, stderr, stdin, stdout};
