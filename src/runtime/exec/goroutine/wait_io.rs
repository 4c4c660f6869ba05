//! Streams for code that waits instead of awaiting.

use crate::runtime::exec::goroutine::Wait;
use core::future::poll_fn;
use core::pin::Pin;
use futures_io::{AsyncRead, AsyncSeek, AsyncWrite};
use std::io::{IoSlice, Read, Result, Seek, SeekFrom, Write};

/// A stream, a socket for instance, with the blocking traits of [`std::io`]: each call [waits](Wait::wait). So whatever is
/// written for std's streams can be used in a goroutine, and its thread runs others meanwhile.
///
/// ```
/// use spinpark::net::{TcpListener, TcpStream};
/// use spinpark::{Blocking, Wait, go};
/// use std::io::{BufRead, BufReader, Read, Write};
///
/// let runtime = spinpark::Runtime::builder().procs(1).build()?;
/// let answer = runtime.go(|| -> std::io::Result<String> {
///     let listener = TcpListener::bind("127.0.0.1:0").wait()?;
///     let address = listener.local_addr()?;
///     go(move || -> std::io::Result<()> {
///         let (stream, _) = listener.accept().wait()?;
///         let mut stream = BufReader::new(Blocking(stream));
///         let mut line = String::new();
///         stream.read_line(&mut line)?;
///         stream.get_mut().write_all(line.to_uppercase().as_bytes())
///     });
///     let mut stream = Blocking(TcpStream::connect(address).wait()?);
///     writeln!(stream, "hello")?;
///     let mut answer = String::new();
///     stream.read_to_string(&mut answer)?;
///     Ok(answer)
/// });
/// assert_eq!(answer.wait()??, "HELLO\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Blocking<S>(
    /// The stream.
    pub S,
);

impl<S: AsyncRead + Unpin> Read for Blocking<S> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        poll_fn(|cx| Pin::new(&mut self.0).poll_read(cx, buffer)).wait()
    }
}

impl<S: AsyncWrite + Unpin> Write for Blocking<S> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        poll_fn(|cx| Pin::new(&mut self.0).poll_write(cx, bytes)).wait()
    }

    fn write_vectored(&mut self, bytes: &[IoSlice<'_>]) -> Result<usize> {
        poll_fn(|cx| Pin::new(&mut self.0).poll_write_vectored(cx, bytes)).wait()
    }

    fn flush(&mut self) -> Result<()> {
        poll_fn(|cx| Pin::new(&mut self.0).poll_flush(cx)).wait()
    }
}

impl<S: AsyncSeek + Unpin> Seek for Blocking<S> {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        poll_fn(|cx| Pin::new(&mut self.0).poll_seek(cx, to)).wait()
    }
}
