//! Bytes that go from one descriptor to another without coming by here: `sendfile(2)`, `splice(2)`. Go: `poll.SendFile`, `poll.Splice`.
//!
//! **All that is taken from one end is given to the other**, also where the system would not: then it is copied. Which end would block
//! `splice` does not say: both are waited for, and it is tried again.

use crate::runtime::exec::blocking::syscall;
use crate::runtime::exec::yielding::proceed;
use crate::runtime::io::fs::File;
use crate::runtime::io::net::TcpStream;
use crate::runtime::io::net::unix::UnixStream;
use crate::runtime::io::pipe::{PipeReader, PipeWriter};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;

/// So much is copied at once where the system does not do it.
const BUFFER: usize = 64 * 1024;

/// So much is asked of the system at once, at most.
#[cfg(target_os = "linux")]
const AT_ONCE: u64 = 1 << 30;

mod ends {
    use super::{BorrowedFd, io};

    pub trait From: Sync {
        fn fd(&self) -> BorrowedFd<'_>;
        fn wait(&self) -> impl Future<Output = io::Result<()>> + Send;
        fn take(&self, buffer: &mut [u8]) -> impl Future<Output = io::Result<usize>> + Send;
    }

    pub trait To: Sync {
        fn fd(&self) -> BorrowedFd<'_>;
        fn wait(&self) -> impl Future<Output = io::Result<()>> + Send;
        fn put(&self, bytes: &[u8]) -> impl Future<Output = io::Result<()>> + Send;
    }
}

/// What [`splice`] takes bytes from: the end of a pipe, or a stream socket.
pub trait SpliceFrom: ends::From {}

/// What [`splice`] gives bytes to: the end of a pipe, or a stream socket.
pub trait SpliceTo: ends::To {}

macro_rules! from {
    ($($name:ty)*) => {$(
        impl SpliceFrom for $name {}
        impl ends::From for $name {
            fn fd(&self) -> BorrowedFd<'_> {
                self.as_fd()
            }
            fn wait(&self) -> impl Future<Output = io::Result<()>> + Send {
                self.readable()
            }
            fn take(&self, buffer: &mut [u8]) -> impl Future<Output = io::Result<usize>> + Send {
                self.read(buffer)
            }
        }
    )*};
}

macro_rules! to {
    ($($name:ty)*) => {$(
        impl SpliceTo for $name {}
        impl ends::To for $name {
            fn fd(&self) -> BorrowedFd<'_> {
                self.as_fd()
            }
            fn wait(&self) -> impl Future<Output = io::Result<()>> + Send {
                self.writable()
            }
            fn put(&self, bytes: &[u8]) -> impl Future<Output = io::Result<()>> + Send {
                self.write_all(bytes)
            }
        }
    )*};
}

from!(PipeReader TcpStream UnixStream);
to!(PipeWriter TcpStream UnixStream);

/// Moves bytes from a pipe to a socket, from a socket to a pipe, or from pipe to pipe, inside of the system: until there were `len`, or
/// no more will come. Returns how many it has moved. Between two sockets, and on other systems than Linux, they are copied.
///
/// # Errors
/// Those of the system, at either end; and if the runtime was shut down. It may have moved some.
///
/// # Cancel safety
/// Dropped before it is ready, it may have moved some; how much, is lost. So is what it has taken and not yet given, where it copies.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use spinpark::io::{pipe, splice};
/// use spinpark::net::unix::UnixStream;
///
/// spinpark::Runtime::new()?.block_on(async {
///     let (reader, writer) = pipe()?;
///     let (to, peer) = UnixStream::pair()?;
///     writer.write_all(b"hello").await?;
///     drop(writer);
///     assert_eq!(splice(&reader, &to, u64::MAX).await?, 5);
///     let mut came = [0; 5];
///     peer.read_exact(&mut came).await?;
///     assert_eq!(&came, b"hello");
///     Ok::<_, std::io::Error>(())
/// })??;
/// # Ok(())
/// # }
/// ```
pub async fn splice(from: &impl SpliceFrom, to: &impl SpliceTo, len: u64) -> io::Result<u64> {
    proceed().await;
    let mut moved = 0;
    while moved < len {
        match splice_some(from, to, len - moved).await? {
            Some(0) => break,
            Some(n) => moved += n,
            None => return Ok(moved + copy(from, to, len - moved).await?),
        }
    }
    Ok(moved)
}

/// Some, at least one; 0: no more will come. `None`: the system does not do it between these two.
#[cfg(target_os = "linux")]
async fn splice_some(from: &impl SpliceFrom, to: &impl SpliceTo, len: u64) -> io::Result<Option<u64>> {
    use rustix::io::Errno;
    use rustix::pipe::SpliceFlags;
    loop {
        proceed().await;
        let (all, flags) = (len.min(AT_ONCE) as usize, SpliceFlags::NONBLOCK);
        match rustix::pipe::splice(from.fd(), None, to.fd(), None, all, flags) {
            Ok(n) => return Ok(Some(n as u64)),
            Err(Errno::INVAL | Errno::NOSYS) => return Ok(None),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                from.wait().await?;
                to.wait().await?;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
async fn splice_some(_: &impl SpliceFrom, _: &impl SpliceTo, _: u64) -> io::Result<Option<u64>> {
    Ok(None)
}

/// The same by way of a buffer.
async fn copy(from: &impl SpliceFrom, to: &impl SpliceTo, len: u64) -> io::Result<u64> {
    proceed().await;
    let (mut copied, mut buffer) = (0, vec![0; BUFFER]);
    while copied < len {
        let room = (len - copied).min(BUFFER as u64) as usize;
        match from.take(&mut buffer[..room]).await? {
            0 => break,
            n => {
                to.put(&buffer[..n]).await?;
                copied += n as u64;
            }
        }
    }
    Ok(copied)
}

/// Sends `len` bytes of a file from `offset` on, or as many as there are. How many were sent.
async fn send_file(to: &impl SpliceTo, file: &File, offset: u64, len: u64) -> io::Result<u64> {
    proceed().await;
    let mut sent = 0;
    while sent < len {
        match send_some(to, file, offset + sent, len - sent).await? {
            Some(0) => break,
            Some(n) => sent += n,
            None => return Ok(sent + read_and_send(to, file, offset + sent, len - sent).await?),
        }
    }
    Ok(sent)
}

/// Some, at least one; 0: the file ends here. `None`: the system does not do it with this file.
#[cfg(target_os = "linux")]
async fn send_some(to: &impl SpliceTo, file: &File, offset: u64, len: u64) -> io::Result<Option<u64>> {
    use rustix::io::Errno;
    loop {
        proceed().await;
        let mut from = offset;
        // What of the file is not in memory is waited for on this thread.
        let sent = syscall(|| rustix::fs::sendfile(to.fd(), file.get(), Some(&mut from), len.min(AT_ONCE) as usize));
        match sent {
            Ok(n) => return Ok(Some(n as u64)),
            Err(Errno::INVAL | Errno::NOSYS) => return Ok(None),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => to.wait().await?,
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
async fn send_some(_: &impl SpliceTo, _: &File, _: u64, _: u64) -> io::Result<Option<u64>> {
    Ok(None)
}

/// The same by way of a buffer.
async fn read_and_send(to: &impl SpliceTo, file: &File, offset: u64, len: u64) -> io::Result<u64> {
    let (mut sent, mut buffer) = (0, vec![0; BUFFER]);
    while sent < len {
        let room = (len - sent).min(BUFFER as u64) as usize;
        proceed().await;
        match syscall(|| file.get().read_at(&mut buffer[..room], offset + sent)) {
            Ok(0) => break,
            Ok(n) => {
                to.put(&buffer[..n]).await?;
                sent += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(sent)
}

macro_rules! sends_files {
    ($name:ident) => {
        /// ```
        /// use spinpark::fs::File;
        ///
        /// # spinpark::run(async {
        /// let (reader, writer) = spinpark::net::unix::UnixStream::pair()?;
        /// let file = File::open("Cargo.toml").await?;
        /// assert_eq!(writer.sendfile(&file, 1, 7).await?, 7);
        /// let mut word = [0; 7];
        /// reader.read_exact(&mut word).await?;
        /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
        /// ```
        impl $name {
            /// Sends `len` bytes of a file from `offset` on, or as many as there are, without copying them to here; how many it
            /// returns. The file's own place stays where it is. Where the system cannot, they are read and written.
            ///
            /// # Errors
            /// Those of the file and of the connection; and if the runtime was shut down. It may have sent some.
            ///
            /// # Cancel safety
            /// Dropped before it is ready, it may have sent some; how much, is lost.
            pub async fn sendfile(&self, file: &File, offset: u64, len: u64) -> io::Result<u64> {
                send_file(self, file, offset, len).await
            }
        }
    };
}

sends_files!(TcpStream);
sends_files!(UnixStream);

#[cfg(test)]
mod tests;
