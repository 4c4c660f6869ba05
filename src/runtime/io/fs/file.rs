//! A file that is open.

use crate::runtime::exec::blocking::syscall;
use crate::runtime::exec::yielding::{poll_leaf, proceed};
use crate::runtime::io::fs::open_options::OpenOptions;
use crate::runtime::io::fs::work;
use core::pin::Pin;
use core::task::{Context, Poll};
use futures_io::{AsyncRead, AsyncSeek, AsyncWrite};
use std::fs::{self, Metadata, Permissions};
use std::io::{self, IoSlice, IoSliceMut, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// A file that is open: read, written and sought in at one place, which all share that have it or a
/// [`try_clone`](File::try_clone).
///
/// Each call goes to the system, inside of a [`syscall`]: others run if it takes long, and a future that was polled once is ready; but
/// a task that has run for long and reads or writes again yields before. Nothing is buffered, so nothing is lost if it is dropped, and [`flush`](AsyncWrite::poll_flush) does nothing.
///
/// In a runtime that waits in a ring ([`Poller::IoUring`](crate::Poller::IoUring)) reads, writes and syncs of this type's own methods
/// block no thread: what the system cannot do at once is given to the ring, and the future waits. If that is dropped meanwhile the
/// operation is cancelled, or is done all the same: a part may have been read or written. Two that read or write at the same place at once
/// are not ordered there.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use spinpark::fs::{self, File};
/// use std::io::SeekFrom;
///
/// let path = std::env::temp_dir().join(format!("spinpark-file-{}", std::process::id()));
/// let text = spinpark::Runtime::new()?.block_on(async {
///     let file = File::options().read(true).write(true).create(true).open(&path).await?;
///     file.write_all(b"some text").await?;
///     file.seek(SeekFrom::Start(5)).await?;
///     let mut text = String::new();
///     file.read_to_string(&mut text).await?;
///     fs::remove_file(&path).await?;
///     Ok::<_, std::io::Error>(text)
/// })??;
/// assert_eq!(text, "text");
/// # Ok(())
/// # }
/// ```
///
/// All that it can do:
///
/// ```
/// use spinpark::fs::{self, File};
/// use std::io::SeekFrom;
///
/// # spinpark::run(async {
/// let path = std::env::temp_dir().join(format!("spinpark-a-file-{}", std::process::id()));
/// let file = File::create_new(&path).await?;
/// file.write_all(b"hello, world").await?;
/// file.write(b"!").await?;
/// file.sync_data().await?;
/// file.seek(SeekFrom::Start(7)).await?;
/// let mut word = [0; 5];
/// file.read_exact(&mut word).await?;
/// assert_eq!(&word, b"world");
/// let mut rest = Vec::new();
/// file.try_clone().await?.read_to_end(&mut rest).await?;
/// assert_eq!((rest.as_slice(), file.read(&mut word).await?), (&b"!"[..], 0));
/// file.set_len(5).await?;
/// file.sync_all().await?;
/// let metadata = file.metadata().await?;
/// file.set_permissions(metadata.permissions()).await?;
/// assert_eq!(metadata.len(), 5);
/// let file = File::from_std(file.into_std());
/// drop(file);
/// fs::remove_file(&path).await?;
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[derive(Debug)]
pub struct File(fs::File);

impl File {
    /// Opens a file to read it.
    ///
    /// # Errors
    /// Those of the system.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, it has done nothing.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let file = spinpark::fs::File::open("Cargo.toml").await?;
    /// let mut text = String::new();
    /// file.read_to_string(&mut text).await?;
    /// assert!(text.contains("[package]"));
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn open(path: impl AsRef<Path>) -> io::Result<File> {
        proceed().await;
        syscall(|| fs::File::open(path)).map(File)
    }

    /// Makes a file to write it. What it had in it before is gone.
    ///
    /// # Errors
    /// Those of the system.
    ///
    /// # Cancel safety
    /// As [`open`](File::open)'s.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let path = std::env::temp_dir().join(format!("spinpark-create-{}", std::process::id()));
    /// spinpark::fs::File::create(&path).await?.write_all(b"hello").await?;
    /// assert_eq!(spinpark::fs::read(&path).await?, b"hello");
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn create(path: impl AsRef<Path>) -> io::Result<File> {
        proceed().await;
        syscall(|| fs::File::create(path)).map(File)
    }

    /// Makes a file to read and write it, which must not be there yet.
    ///
    /// # Errors
    /// Those of the system.
    ///
    /// # Cancel safety
    /// As [`open`](File::open)'s.
    pub async fn create_new(path: impl AsRef<Path>) -> io::Result<File> {
        proceed().await;
        syscall(|| fs::File::create_new(path)).map(File)
    }

    /// How else it may be opened.
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// Makes it of std's.
    pub fn from_std(file: fs::File) -> File {
        File(file)
    }

    /// std's.
    #[cfg(unix)]
    pub(in crate::runtime) fn get(&self) -> &fs::File {
        &self.0
    }

    /// Makes it std's.
    pub fn into_std(self) -> fs::File {
        self.0
    }

    /// Reads some bytes; 0: it is at the end, or `buffer` is empty.
    ///
    /// # Errors
    /// Those of the system.
    ///
    /// # Cancel safety
    /// A read that is dropped leaves `buffer` as it was. It may have read all the same, where the runtime waits in a ring: then
    /// the file's place is behind what is lost.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut buffer = [0; 16];
    /// let n = spinpark::fs::File::open("Cargo.toml").await?.read(&mut buffer).await?;
    /// assert!((1..=16).contains(&n));
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        work::read(&self.0, buffer).await
    }

    /// Reads as many bytes as fit `buffer`.
    ///
    /// # Errors
    /// [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if there are fewer; those of the system.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, what it has read is at the front of `buffer`, and the rest of that is as it was; as for the
    /// rest see [`read`](File::read).
    pub async fn read_exact(&self, buffer: &mut [u8]) -> io::Result<()> {
        work::read_exact(&self.0, buffer).await
    }

    /// Reads all from here to the end, behind what `bytes` has already. Returns how many there were.
    ///
    /// # Errors
    /// Those of the system.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, `bytes` has what was there and, behind it, what was read, and nothing else; as for the rest
    /// see [`read`](File::read). So it is after an error.
    pub async fn read_to_end(&self, bytes: &mut Vec<u8>) -> io::Result<usize> {
        work::read_to_end(&self.0, bytes).await
    }

    /// Reads all from here to the end as text.
    ///
    /// # Errors
    /// Those of the system; [`InvalidData`](io::ErrorKind::InvalidData) if it is not UTF-8.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, `text` is as it was, and what was read is lost; as for the rest see [`read`](File::read). So
    /// it is after an error, where the runtime waits in a ring.
    pub async fn read_to_string(&self, text: &mut String) -> io::Result<usize> {
        work::read_to_string(&self.0, text).await
    }

    /// Writes some of `bytes`; how many it returns.
    ///
    /// # Errors
    /// Those of the system.
    ///
    /// # Cancel safety
    /// A write that is dropped has written nothing; or, where the runtime waits in a ring, perhaps some of `bytes`. `bytes` may
    /// be used at once: the system has a copy.
    pub async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        work::write(&self.0, bytes).await
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// Those of the system.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, it may have written the front of `bytes`; as for the rest see [`write`](File::write).
    pub async fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        work::write_all(&self.0, bytes).await
    }

    /// Goes to another place in it. Returns which, from the beginning.
    ///
    /// # Errors
    /// Those of the system; [`InvalidInput`](io::ErrorKind::InvalidInput) if it is before the beginning.
    ///
    /// # Cancel safety
    /// As [`open`](File::open)'s.
    pub async fn seek(&self, to: SeekFrom) -> io::Result<u64> {
        proceed().await;
        syscall(|| (&self.0).seek(to))
    }

    /// Cuts it, or makes it longer by zeros.
    ///
    /// # Errors
    /// Those of the system; [`InvalidInput`](io::ErrorKind::InvalidInput) if it is not open for writing.
    ///
    /// # Cancel safety
    /// As [`open`](File::open)'s.
    pub async fn set_len(&self, size: u64) -> io::Result<()> {
        proceed().await;
        syscall(|| self.0.set_len(size))
    }

    /// Waits until it is on the disk, with what is known about it.
    ///
    /// # Errors
    /// Those of the system.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, it may be on the disk or not.
    pub async fn sync_all(&self) -> io::Result<()> {
        work::sync(&self.0, true).await
    }

    /// Waits until what is in it is on the disk.
    ///
    /// # Errors
    /// Those of the system.
    ///
    /// # Cancel safety
    /// As [`sync_all`](File::sync_all)'s.
    pub async fn sync_data(&self) -> io::Result<()> {
        work::sync(&self.0, false).await
    }

    /// How large it is, how old, and so on.
    ///
    /// # Errors
    /// Those of the system.
    ///
    /// # Cancel safety
    /// As [`open`](File::open)'s.
    pub async fn metadata(&self) -> io::Result<Metadata> {
        proceed().await;
        syscall(|| self.0.metadata())
    }

    /// Sets which users may do what with it.
    ///
    /// # Errors
    /// Those of the system.
    ///
    /// # Cancel safety
    /// As [`open`](File::open)'s.
    pub async fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        proceed().await;
        syscall(|| self.0.set_permissions(permissions))
    }

    /// The same file, open once more, at the same place.
    ///
    /// # Errors
    /// Those of the system: no descriptor is left.
    ///
    /// # Cancel safety
    /// As [`open`](File::open)'s.
    pub async fn try_clone(&self) -> io::Result<File> {
        proceed().await;
        syscall(|| self.0.try_clone()).map(File)
    }
}

impl From<fs::File> for File {
    fn from(file: fs::File) -> File {
        File(file)
    }
}

#[cfg(unix)]
impl std::os::fd::AsFd for File {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(unix)]
impl std::os::fd::AsRawFd for File {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        self.0.as_raw_fd()
    }
}

impl OpenOptions {
    /// Opens it.
    ///
    /// # Errors
    /// Those of the system; [`InvalidInput`](io::ErrorKind::InvalidInput) if the options contradict each other.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, it has done nothing.
    pub async fn open(&self, path: impl AsRef<Path>) -> io::Result<File> {
        proceed().await;
        syscall(|| self.0.open(path)).map(File::from_std)
    }
}

/// The traits of the crate futures-io, for the file and for a reference to it.
macro_rules! async_file {
    ($name:ty) => {
        impl AsyncRead for $name {
            fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
                poll_leaf(cx, "file", |_| Poll::Ready(syscall(|| (&self.0).read(buffer))))
            }

            fn poll_read_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buffers: &mut [IoSliceMut<'_>],
            ) -> Poll<io::Result<usize>> {
                poll_leaf(cx, "file", |_| Poll::Ready(syscall(|| (&self.0).read_vectored(buffers))))
            }
        }

        impl AsyncWrite for $name {
            fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
                poll_leaf(cx, "file", |_| Poll::Ready(syscall(|| (&self.0).write(bytes))))
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                slices: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                poll_leaf(cx, "file", |_| Poll::Ready(syscall(|| (&self.0).write_vectored(slices))))
            }

            /// Does nothing: what was written is the system's.
            fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                poll_leaf(cx, "file", |_| Poll::Ready(Ok(())))
            }

            /// Does nothing: the file is closed when it is dropped.
            fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                poll_leaf(cx, "file", |_| Poll::Ready(Ok(())))
            }
        }

        impl AsyncSeek for $name {
            fn poll_seek(self: Pin<&mut Self>, cx: &mut Context<'_>, to: SeekFrom) -> Poll<io::Result<u64>> {
                poll_leaf(cx, "file", |_| Poll::Ready(syscall(|| (&self.0).seek(to))))
            }
        }
    };
}

async_file!(File);
async_file!(&File);
