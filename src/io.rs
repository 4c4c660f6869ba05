//! Pipes, the standard streams, and any file descriptor. Sockets are in [`net`](crate::net), files in [`fs`](crate::fs).
//!
//! | you want | take |
//! |----------|------|
//! | to read what is typed, or write to the terminal | [`stdin()`](stdin), [`stdout()`](stdout), [`stderr()`](stderr) |
//! | a pipe, between tasks or to another process | [`pipe()`](pipe): a [`PipeReader`] and a [`PipeWriter`] |
//! | to wait for a descriptor of another library's | [`AsyncFd`], with [`Interest`] and [`Ready`] |
//! | all bytes of one stream in another; a proxy | [`copy()`](copy), [`copy_bidirectional`] |
//! | bytes from one descriptor to another, inside of the system | [`splice()`](splice()), `TcpStream::sendfile` |
//! | a connection without a socket, for tests | [`duplex()`](duplex): two [`DuplexStream`]s |
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
//!
//! # Lines, buffers, codecs
//!
//! All streams have the traits of the crate futures-io, so what other crates do with those they do here. Of what is in tokio's `io`:
//!
//! | in tokio | here |
//! |----------|------|
//! | `copy`, `copy_bidirectional`, `duplex` | in this module |
//! | `BufReader`, `BufWriter` | `futures_lite::io::{BufReader, BufWriter}` |
//! | `lines`, `split(b'\n')`, `read_line`, `read_until` | `futures_lite::AsyncBufReadExt` |
//! | `take`, `chain`, `read_to_string`, `write_all` | `futures_lite::{AsyncReadExt, AsyncWriteExt}`; streams have the commonest as methods |
//! | `split(stream)` | `into_split` of a socket; `futures_lite::io::split` of any stream |
//! | `Framed` (tokio-util), with any codec | the same, around a [`tokio_compat::Io`](../tokio_compat/index.html) |
//!
//! ```
//! use futures_lite::io::BufReader;
//! use futures_lite::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, StreamExt};
//!
//! # spinpark::run(async {
//! let (mut client, server) = spinpark::io::duplex(1024);
//! client.write_all(b"one\ntwo\n\nbody;rest").await?;
//! drop(client);
//! let mut server = BufReader::new(server);
//! let mut first = String::new();
//! server.read_line(&mut first).await?;
//! let mut head = (&mut server).take(5); // no further than this
//! let mut line = Vec::new();
//! head.read_until(b'\n', &mut line).await?;
//! assert_eq!((first.as_str(), line.as_slice()), ("one\n", b"two\n".as_slice()));
//! let mut empty = String::new();
//! server.read_line(&mut empty).await?;
//! let parts: Vec<_> = server.chain(b";more".as_slice()).split(b';').collect().await;
//! let parts: Result<Vec<_>, _> = parts.into_iter().collect();
//! assert_eq!(parts?, [b"body", b"rest", b"more"]);
//!
//! let (mut client, server) = spinpark::io::duplex(1024);
//! client.write_all(b"a\nb\n").await?;
//! drop(client);
//! let lines: Vec<String> = BufReader::new(server).lines().map(|line| line.expect("text")).collect().await;
//! assert_eq!(lines, ["a", "b"]);
//! # Ok::<(), std::io::Error>(()) }).unwrap();
//! ```
//!
//! Frames, by a codec of tokio-util:
//!
//! ```
//! # #[cfg(feature = "tokio-compat")]
//! # spinpark::run(async {
//! use futures_util::{SinkExt, StreamExt};
//! use spinpark::tokio_compat::Io;
//! use tokio_util::codec::{Framed, LinesCodec};
//!
//! let (client, server) = spinpark::io::duplex(1024); // or a `TcpStream`
//! let mut client = Framed::new(Io::new(client), LinesCodec::new());
//! let mut server = Framed::new(Io::new(server), LinesCodec::new());
//! client.send("a frame").await?;
//! let frame = server.next().await.expect("it is open")?;
//! assert_eq!(frame, "a frame");
//! # Ok::<(), tokio_util::codec::LinesCodecError>(()) }).unwrap();
//! ```

#[cfg(unix)]
#[doc(inline)]
pub use crate::runtime::{
    AsyncFd, AsyncFdReadyGuard, Interest, PipeReader, PipeWriter, Ready, SpliceFrom, SpliceTo, TryIoError, pipe, splice,
};
#[doc(inline)]
pub use crate::runtime::{DuplexStream, copy, copy_bidirectional, duplex};
#[doc(inline)]
pub use crate::runtime::{Stderr, Stdin, Stdout, stderr, stdin, stdout};
