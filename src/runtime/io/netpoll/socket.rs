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
