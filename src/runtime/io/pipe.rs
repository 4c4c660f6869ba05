//! Pipes. Go: `os.Pipe`.

use crate::runtime::exec::yielding::{poll_leaf, proceed};
use crate::runtime::io::around;
use crate::runtime::io::async_fd::{Interest, Ready, now};
use crate::runtime::io::netpoll::{Direction, Registered, at_once};
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};
use futures_io::{AsyncRead, AsyncWrite};
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// The end of a pipe that is read from. Read to its end when all copies of the other end are closed.
pub struct PipeReader(Registered<File>);

/// The end of a pipe that is written to. Writing fails with [`BrokenPipe`](io::ErrorKind::BrokenPipe) when no process has the other
/// end any more.
pub struct PipeWriter(Registered<File>);

/// A pipe: what is written to one end is read from the other. Child processes do not inherit it, unless they are given one end
/// as a standard stream.
///
/// # Errors
/// If the caller is no task; those of the system.
///
/// ```
/// let runtime = spinpark::Runtime::new()?;
/// let text = runtime.block_on(async {
///     let (reader, writer) = spinpark::io::pipe()?;
///     spinpark::spawn(async move { writer.write_all(b"hello").await });
///     let mut buffer = [0; 5];
///     reader.read_exact(&mut buffer).await?;
///     Ok::<_, std::io::Error>(buffer)
/// })??;
/// assert_eq!(&text, b"hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn pipe() -> io::Result<(PipeReader, PipeWriter)> {
    // No descriptors are taken for nothing.
    around::netpoll("pipe was called")?;
    let (reader, writer) = io::pipe()?;
    Ok((PipeReader::from_owned_fd(reader.into())?, PipeWriter::from_owned_fd(writer.into())?))
}

/// What both ends have in common.
macro_rules! end {
    ($name:ident) => {
        /// ```
        /// use spinpark::io::{PipeWriter, pipe};
        ///
        /// # spinpark::run(async {
        /// let (reader, writer) = pipe()?;
        /// let for_a_child = writer.into_owned_fd()?; // it blocks now
        /// let writer = PipeWriter::from_owned_fd(for_a_child)?;
        /// writer.write_all(b"hello").await?;
        /// drop(reader);
        /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
        /// ```
        impl $name {
            /// Makes it of such an end of a pipe, which is set to non-blocking mode. It belongs to the caller's runtime from now on.
            ///
            /// # Errors
            /// If the caller is no task, its runtime was shut down, or the system takes no more.
            pub fn from_owned_fd(fd: OwnedFd) -> io::Result<Self> {
                let netpoll = around::netpoll(concat!(stringify!($name), "::from_owned_fd was called"))?;
                rustix::io::ioctl_fionbio(&fd, true)?;
                Registered::new(netpoll, File::from(fd)).map(Self)
            }

            /// The descriptor, in blocking mode: to be given to a child process, say.
            ///
            /// # Errors
            /// If the system does not set the mode.
            pub fn into_owned_fd(self) -> io::Result<OwnedFd> {
                let fd = OwnedFd::from(self.0.into_inner());
                rustix::io::ioctl_fionbio(&fd, false)?;
                Ok(fd)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("fd", &self.as_raw_fd()).finish()
            }
        }

        impl AsFd for $name {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.0.get().as_fd()
            }
        }

        impl AsRawFd for $name {
            fn as_raw_fd(&self) -> RawFd {
                self.0.get().as_raw_fd()
            }
        }

        readiness!($name);
        static_assertions::assert_impl_all!($name: Send, Sync, Unpin);
    };
}

end!(PipeReader);
reads!(PipeReader);
end!(PipeWriter);
// There is nothing to be said to the reader: it learns of the end when the last copy of this end is closed.
writes!(PipeWriter, |_: &PipeWriter| Ok(()));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::testing::{run, spawn};

    mod a_pipe {
        use super::*;

        #[test]
        fn carries_more_than_fits_into_it_and_ends() {
            run(async {
                let (reader, writer) = pipe().expect("a pipe");
                let sent: Vec<u8> = (0..1_000_000_u32).map(|n| (n % 251) as u8).collect();
                let writes = spawn({
                    let sent = sent.clone();
                    async move { writer.write_all(&sent).await }
                });
                let (mut came, mut buffer) = (Vec::new(), [0; 5000]);
                loop {
                    match reader.read(&mut buffer).await.expect("read") {
                        0 => break,
                        n => came.extend_from_slice(&buffer[..n]),
                    }
                }
                writes.await.expect("written");
                assert!(came == sent, "{} bytes came of {}", came.len(), sent.len());
            });
        }

        #[test]
        fn that_nobody_reads_is_broken() {
            run(async {
                let (reader, writer) = pipe().expect("a pipe");
                drop(reader);
                let error = writer.write_all(b"lost").await.expect_err("no reader is left");
                assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
            });
        }

        #[test]
        fn is_given_back_in_blocking_mode() {
            run(async {
                let (reader, writer) = pipe().expect("a pipe");
                let mut reader = File::from(reader.into_owned_fd().expect("given back"));
                let writes = std::thread::spawn(move || {
                    std::thread::sleep(std::time::Duration::from_millis(30));
                    let mut writer = File::from(writer.into_owned_fd().expect("given back"));
                    writer.write_all(b"late")
                });
                let mut came = String::new();
                crate::blocking(|| reader.read_to_string(&mut came)).expect("it waits for it");
                writes.join().expect("no panic").expect("written");
                assert_eq!(came, "late");
            });
        }
    }

    #[test]
    fn a_pipe_outside_of_a_runtime_is_an_error() {
        let error = pipe().expect_err("there is no runtime");
        assert!(error.get_ref().is_some_and(|inner| inner.is::<crate::NotInRuntime>()), "{error}");
    }
}
