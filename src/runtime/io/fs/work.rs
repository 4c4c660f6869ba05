//! What a file is asked for: of the ring, if the runtime has one and the task would wait; else of the system, in a system call.
//!
//! As a socket's, a read or a write is tried first, in so far as the system can do it without waiting. Only then it goes through the
//! ring, with a buffer of its own, in which the system may still read or write when the task has given up.

use crate::runtime::exec::blocking::syscall;
use crate::runtime::exec::yielding::proceed;
use std::fs::File;
use std::io::{self, Read, Write};

/// Reads some bytes.
pub(super) async fn read(file: &File, buffer: &mut [u8]) -> io::Result<usize> {
    proceed().await;
    #[cfg(all(feature = "io-uring", target_os = "linux"))]
    if let Some(read) = ring::read(file, buffer).await {
        return read;
    }
    let mut file = file;
    syscall(|| file.read(buffer))
}

/// Writes some bytes.
pub(super) async fn write(file: &File, bytes: &[u8]) -> io::Result<usize> {
    proceed().await;
    #[cfg(all(feature = "io-uring", target_os = "linux"))]
    if let Some(written) = ring::write(file, bytes).await {
        return written;
    }
    let mut file = file;
    syscall(|| file.write(bytes))
}

/// Reads as many bytes as fit.
pub(super) async fn read_exact(file: &File, mut buffer: &mut [u8]) -> io::Result<()> {
    proceed().await;
    while !buffer.is_empty() {
        match read(file, buffer).await {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => buffer = &mut buffer[n..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads all from here to the end, behind what `bytes` has. Only what was read gets there, whenever the task gives up: the room for
/// the next read is not the caller's.
pub(super) async fn read_to_end(file: &File, bytes: &mut Vec<u8>) -> io::Result<usize> {
    proceed().await;
    if !has_ring() {
        let mut file = file;
        return syscall(|| file.read_to_end(bytes));
    }
    let (before, mut room) = (bytes.len(), vec![0; 8 * 1024]);
    loop {
        match read(file, &mut room).await {
            Ok(0) => return Ok(bytes.len() - before),
            Ok(n) => {
                bytes.extend_from_slice(&room[..n]);
                if n == room.len() && n < 1 << 20 {
                    room = vec![0; n * 2];
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The same, as text.
pub(super) async fn read_to_string(file: &File, text: &mut String) -> io::Result<usize> {
    proceed().await;
    if !has_ring() {
        let mut file = file;
        return syscall(|| file.read_to_string(text));
    }
    let mut bytes = Vec::new();
    let n = read_to_end(file, &mut bytes).await?;
    let read = String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))?;
    text.push_str(&read);
    Ok(n)
}

/// Writes all.
pub(super) async fn write_all(file: &File, mut bytes: &[u8]) -> io::Result<()> {
    proceed().await;
    while !bytes.is_empty() {
        match write(file, bytes).await {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => bytes = &bytes[n..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Does the caller's runtime wait in a ring?
fn has_ring() -> bool {
    #[cfg(all(feature = "io-uring", target_os = "linux"))]
    return ring::around().is_some();
    #[cfg(not(all(feature = "io-uring", target_os = "linux")))]
    false
}

/// Waits until it is on the disk; with what is known about it, if `all`.
pub(super) async fn sync(file: &File, all: bool) -> io::Result<()> {
    proceed().await;
    #[cfg(all(feature = "io-uring", target_os = "linux"))]
    if let Some(synced) = ring::sync(file, all).await {
        return synced;
    }
    syscall(|| if all { file.sync_all() } else { file.sync_data() })
}

#[cfg(all(feature = "io-uring", target_os = "linux"))]
mod ring {
    use crate::runtime::exec::context::Context;
    use crate::runtime::exec::yielding::leaf;
    use crate::runtime::io::netpoll::files::OnFile;
    use crate::runtime::io::netpoll::poller::Netpoll;
    use crate::runtime::io::netpoll::under_way::{What, Work};
    use crate::runtime::sync::waking::Lender;
    use rustix::io::{Errno, ReadWriteFlags, preadv2, pwritev2};
    use std::fs::File;
    use std::io::{self, IoSlice, IoSliceMut};
    use std::os::fd::AsFd;
    use std::sync::Arc;

    /// As the offset: where the file is.
    const HERE: u64 = u64::MAX;
    /// No buffer is larger: it may take a part of what it is given, as read(2) and write(2).
    const LARGEST: usize = 1 << 20;

    /// The ring of the caller's runtime, if it has one.
    pub(super) fn around() -> Option<Arc<Netpoll>> {
        Context::with_runtime(|shared, _| {
            let netpoll = &shared.reactor.netpoll;
            netpoll.is_ring().then(|| Arc::clone(netpoll))
        })?
    }

    pub(super) async fn read(file: &File, buffer: &mut [u8]) -> Option<io::Result<usize>> {
        let netpoll = around()?;
        match preadv2(file, &mut [IoSliceMut::new(buffer)], HERE, ReadWriteFlags::NOWAIT) {
            Err(Errno::AGAIN | Errno::OPNOTSUPP) if !buffer.is_empty() => (),
            // It cannot be asked that way.
            Err(Errno::NOSYS | Errno::INVAL | Errno::SPIPE) => return None,
            read => return Some(read.map_err(io::Error::from)),
        }
        let room = vec![0; buffer.len().min(LARGEST)];
        let (work, read) = run(netpoll, file, Work { what: What::Read, buffer: room }).await?;
        if let Ok(n) = read {
            buffer[..n].copy_from_slice(&work.buffer[..n]);
        }
        Some(read)
    }

    pub(super) async fn write(file: &File, bytes: &[u8]) -> Option<io::Result<usize>> {
        let netpoll = around()?;
        match pwritev2(file, &[IoSlice::new(bytes)], HERE, ReadWriteFlags::NOWAIT) {
            Err(Errno::AGAIN | Errno::OPNOTSUPP) if !bytes.is_empty() => (),
            Err(Errno::NOSYS | Errno::INVAL | Errno::SPIPE) => return None,
            written => return Some(written.map_err(io::Error::from)),
        }
        let copy = bytes[..bytes.len().min(LARGEST)].to_vec();
        Some(run(netpoll, file, Work { what: What::Write, buffer: copy }).await?.1)
    }

    pub(super) async fn sync(file: &File, all: bool) -> Option<io::Result<()>> {
        let what = if all { What::SyncAll } else { What::SyncData };
        let (_, synced) = run(around()?, file, Work { what, buffer: Vec::new() }).await?;
        Some(synced.map(drop))
    }

    /// Waits for it. `None`: the ring takes nothing any more, or had to give it up: nothing was done.
    async fn run(netpoll: Arc<Netpoll>, file: &File, work: Work) -> Option<(Work, io::Result<usize>)> {
        let on_file = OnFile::start(netpoll, file.as_fd(), work).ok()?;
        let (work, result) = leaf("file", |cx| on_file.poll(&mut Lender::new(cx.waker()))).await;
        // The thread that started it has ended, or the runtime; or a signal came. Then nothing was read or written.
        let is_cancelled = |error: &io::Error| {
            [Errno::CANCELED, Errno::INTR].contains(&Errno::from_raw_os_error(error.raw_os_error().unwrap_or_default()))
        };
        (!result.as_ref().is_err_and(is_cancelled)).then_some((work, result))
    }
}
