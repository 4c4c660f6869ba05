//! A socket, and what can be waited for of it.

pub(crate) use crate::waits::readiness::{Direction, Interest};
use std::net;
#[cfg(unix)]
use std::os::fd::AsFd as AsHandle;
#[cfg(windows)]
use std::os::windows::io::AsSocket as AsHandle;

/// What can be polled. Implemented for types of std only: each has one handle, and closes it when it is dropped.
pub(crate) trait Socket: AsHandle + Send + Sync + 'static {}

impl Socket for net::TcpListener {}
impl Socket for net::TcpStream {}
impl Socket for net::UdpSocket {}
#[cfg(unix)]
impl Socket for std::os::unix::net::UnixListener {}
#[cfg(unix)]
impl Socket for std::os::unix::net::UnixStream {}
#[cfg(unix)]
impl Socket for std::os::unix::net::UnixDatagram {}
#[cfg(unix)]
impl Socket for std::fs::File {}
#[cfg(unix)]
impl Socket for std::os::fd::OwnedFd {}

/// What carries bytes in order, so that a try that would block says that there is no more.
pub(crate) trait Stream: Socket {
    /// Does a read or a write of fewer bytes than it was given room for, or bytes, say so too, unless the end has come?
    const SHORT_IS_DRAINED: bool;
}

/// A read stops at nothing but the end, or urgent bytes; a write at nothing but a full buffer.
impl Stream for net::TcpStream {
    const SHORT_IS_DRAINED: bool = true;
}

/// A read stops behind bytes that came with descriptors or another sender's identity.
#[cfg(unix)]
impl Stream for std::os::unix::net::UnixStream {
    const SHORT_IS_DRAINED: bool = false;
}

/// A pipe: one that is in packet mode gives a packet at a time.
#[cfg(unix)]
impl Stream for std::fs::File {
    const SHORT_IS_DRAINED: bool = false;
}
