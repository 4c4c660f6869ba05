//! A connection.

#[cfg(not(unix))]
use crate::runtime::exec::blocking::syscall;
use crate::runtime::exec::yielding::{poll_leaf, proceed};
use crate::runtime::io::around;
#[cfg(unix)]
use crate::runtime::io::async_fd::{Interest, Ready, now};
use crate::runtime::io::net::lookup::no_address;
use crate::runtime::io::net::resolve::{ToSocketAddrs, resolve};
use crate::runtime::io::netpoll::{Direction, Registered, at_once};
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};
#[cfg(unix)]
use core::time::Duration;
use futures_io::{AsyncRead, AsyncWrite};
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net;
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;

/// A connection: bytes in order, both ways.
///
/// An echo, and the options:
///
/// ```
/// use spinpark::net::{TcpListener, TcpStream};
///
/// # spinpark::run(async {
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let address = listener.local_addr()?;
/// spinpark::spawn(async move {
///     let (stream, _peer) = listener.accept().await?;
///     let mut buffer = [0; 64];
///     loop {
///         match stream.read(&mut buffer).await? {
///             0 => return Ok::<(), std::io::Error>(()), // the peer sends no more
///             n => stream.write_all(&buffer[..n]).await?,
///         }
///     }
/// });
/// let stream = TcpStream::connect(address).await?;
/// stream.set_nodelay(true)?;
/// stream.set_ttl(64)?;
/// assert!(stream.nodelay()? && stream.ttl()? == 64 && stream.take_error()?.is_none());
/// stream.write_all(b"hello").await?;
/// let mut echo = [0; 5];
/// assert!(stream.peek(&mut echo).await? > 0); // it is there still
/// stream.read_exact(&mut echo).await?;
/// assert_eq!((&echo, stream.peer_addr()?), (b"hello", address));
/// assert!(stream.linger()?.is_none());
/// stream.set_zero_linger()?; // the close ends it by a reset
/// # #[cfg(target_os = "linux")]
/// stream.set_quickack(stream.quickack()?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
pub struct TcpStream(pub(super) Registered<net::TcpStream>);

impl TcpStream {
    /// Connects to an address; of several, to the first that answers. Each is waited for as long as the system does,
    /// which may be minutes. A socket is never connected to itself, as Go's.
    ///
    /// # Errors
    /// If the caller is no task; those of the look-up; that of the last address that was tried.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, the connection is given up; the peer may have seen it begin, and end.
    ///
    /// ```
    /// use spinpark::net::{TcpListener, TcpStream};
    ///
    /// # spinpark::run(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let stream = TcpStream::connect(listener.local_addr()?).await?;
    /// stream.write_all(b"hello").await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn connect<A: ToSocketAddrs>(address: A) -> io::Result<TcpStream> {
        around::netpoll("TcpStream::connect was called")?;
        let mut last = None;
        for &address in resolve(address).await?.as_slice() {
            match Self::connect_one(address).await {
                Ok(stream) => return Ok(stream),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(no_address))
    }

    #[cfg(unix)]
    async fn connect_one(address: SocketAddr) -> io::Result<TcpStream> {
        let family = match address.is_ipv4() {
            true => rustix::net::AddressFamily::INET,
            false => rustix::net::AddressFamily::INET6,
        };
        Self::connect_unbound(|| new_socket(family), address).await
    }

    /// Connects a socket that is bound to no port. The system chooses one, and may choose the very port that is to be reached, if
    /// nothing listens there: TCP takes that for a connection. Another socket is tried then. Go: `selfConnect`.
    #[cfg(unix)]
    pub(in crate::runtime::io::net) async fn connect_unbound(
        socket: impl Fn() -> io::Result<std::os::fd::OwnedFd>,
        address: SocketAddr,
    ) -> io::Result<TcpStream> {
        for _ in 0..3 {
            let stream = Self::connect_with(socket()?, address).await?;
            if !stream.is_connected_to_itself(address) {
                return Ok(stream);
            }
        }
        Err(connected_to_itself())
    }

    /// Is the peer, at `address`, this very socket?
    pub(in crate::runtime::io::net) fn is_connected_to_itself(&self, address: SocketAddr) -> bool {
        let is_same =
            |local: SocketAddr| local.port() == address.port() && self.peer_addr().is_ok_and(|peer| peer == local);
        self.local_addr().is_ok_and(is_same)
    }

    /// Connects a socket that does not block.
    #[cfg(unix)]
    pub(in crate::runtime::io::net) async fn connect_with(
        socket: std::os::fd::OwnedFd,
        address: SocketAddr,
    ) -> io::Result<TcpStream> {
        proceed().await;
        let stream = TcpStream(Registered::new(
            around::netpoll("TcpStream::connect was called")?,
            begin_to_connect(socket, address)?,
        )?);
        stream.0.io(Direction::Write, end_of_connecting).await?;
        Ok(stream)
    }

    /// std cannot do it without blocking.
    #[cfg(not(unix))]
    async fn connect_one(address: SocketAddr) -> io::Result<TcpStream> {
        let stream = Self::from_std(syscall(|| net::TcpStream::connect(address))?)?;
        if stream.is_connected_to_itself(address) { Err(connected_to_itself()) } else { Ok(stream) }
    }

    /// Reads what has come, and leaves it there to be read again; 0: the peer sends no more, or `buffer` is empty.
    ///
    /// # Errors
    /// Those of the connection; and if the runtime was shut down.
    ///
    /// # Cancel safety
    /// A peek that is dropped leaves `buffer` as it was.
    ///
    /// ```
    /// use spinpark::net::{TcpListener, TcpStream};
    ///
    /// # spinpark::run(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let client = TcpStream::connect(listener.local_addr()?).await?;
    /// let (server, _peer) = listener.accept().await?;
    /// client.write_all(b"a").await?;
    /// assert_eq!(server.peek(&mut [0; 8]).await?, 1);
    /// assert_eq!(server.read(&mut [0; 8]).await?, 1); // the same byte
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn peek(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.io(Direction::Read, |socket| socket.peek(buffer)).await
    }

    /// Our end's address.
    ///
    /// # Errors
    /// Those of the system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.get().local_addr()
    }

    /// The other end's address.
    ///
    /// # Errors
    /// Those of the system: the connection may have ended.
    ///
    /// ```
    /// use spinpark::net::{TcpListener, TcpStream};
    ///
    /// # spinpark::run(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let client = TcpStream::connect(listener.local_addr()?).await?;
    /// assert_eq!(client.peer_addr()?, listener.local_addr()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.0.get().peer_addr()
    }

    /// Is what is written sent at once, be it ever so little? By default it may wait for more.
    ///
    /// # Errors
    /// Those of the system.
    pub fn nodelay(&self) -> io::Result<bool> {
        self.0.get().nodelay()
    }

    /// Shall what is written be sent at once, be it ever so little? (In Go it is so from the beginning.)
    ///
    /// # Errors
    /// Those of the system.
    ///
    /// ```
    /// use spinpark::net::{TcpListener, TcpStream};
    ///
    /// # spinpark::run(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let client = TcpStream::connect(listener.local_addr()?).await?;
    /// client.set_nodelay(true)?;
    /// assert!(client.nodelay()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.0.get().set_nodelay(nodelay)
    }

    /// Time during which a close waits until the rest is sent; `None`: it does not wait, the system goes on sending.
    ///
    /// # Errors
    /// Those of the system.
    #[cfg(unix)]
    pub fn linger(&self) -> io::Result<Option<Duration>> {
        Ok(rustix::net::sockopt::socket_linger(self)?)
    }

    /// What is sent and not acknowledged is thrown away at the close, which ends the connection by a reset.
    ///
    /// # Errors
    /// Those of the system.
    #[cfg(unix)]
    pub fn set_zero_linger(&self) -> io::Result<()> {
        Ok(rustix::net::sockopt::set_socket_linger(self, Some(Duration::ZERO))?)
    }

    /// Is what comes acknowledged at once, for the moment?
    ///
    /// # Errors
    /// Those of the system.
    #[cfg(target_os = "linux")]
    pub fn quickack(&self) -> io::Result<bool> {
        Ok(rustix::net::sockopt::tcp_quickack(self)?)
    }

    /// Shall what comes be acknowledged at once? The system may change that again at any time.
    ///
    /// # Errors
    /// Those of the system.
    #[cfg(target_os = "linux")]
    pub fn set_quickack(&self, quickack: bool) -> io::Result<()> {
        Ok(rustix::net::sockopt::set_tcp_quickack(self, quickack)?)
    }

    /// How many routers a packet may pass.
    ///
    /// # Errors
    /// Those of the system.
    pub fn ttl(&self) -> io::Result<u32> {
        self.0.get().ttl()
    }

    /// How many routers a packet may pass, from now on.
    ///
    /// # Errors
    /// Those of the system.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.0.get().set_ttl(ttl)
    }

    /// The error that has come up since this was last asked, if one has.
    ///
    /// # Errors
    /// Those of the system in asking.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.0.get().take_error()
    }
}

socket!(TcpStream, net::TcpStream);
stream!(TcpStream);
halves!(TcpStream);

/// The error of a socket that has connected to itself.
pub(in crate::runtime::io::net) fn connected_to_itself() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionRefused, "nothing listens there: the system connected the socket to itself")
}

/// A socket that connects, or has.
#[cfg(unix)]
fn begin_to_connect(socket: std::os::fd::OwnedFd, address: SocketAddr) -> io::Result<net::TcpStream> {
    use rustix::io::Errno;
    match rustix::net::connect(&socket, &address) {
        // A signal does not stop it either: that is POSIX's rule.
        Ok(()) | Err(Errno::INPROGRESS | Errno::INTR) => Ok(net::TcpStream::from(socket)),
        Err(error) => Err(error.into()),
    }
}

/// A stream socket that does not block, and that no child process inherits.
#[cfg(all(unix, not(target_vendor = "apple")))]
pub(in crate::runtime::io::net) fn new_socket(family: rustix::net::AddressFamily) -> io::Result<std::os::fd::OwnedFd> {
    use rustix::net::{SocketFlags, SocketType, socket_with};
    Ok(socket_with(family, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?)
}

/// The same in several steps. And writing to it shall not raise a signal.
#[cfg(target_vendor = "apple")]
pub(in crate::runtime::io::net) fn new_socket(family: rustix::net::AddressFamily) -> io::Result<std::os::fd::OwnedFd> {
    use rustix::io::{FdFlags, fcntl_setfd, ioctl_fionbio};
    use rustix::net::{SocketType, socket, sockopt};
    let socket = socket(family, SocketType::STREAM, None)?;
    fcntl_setfd(&socket, FdFlags::CLOEXEC)?;
    ioctl_fionbio(&socket, true)?;
    sockopt::set_socket_nosigpipe(&socket, true)?;
    Ok(socket)
}

/// Is it connected? As long as it would block, neither that nor failed.
#[cfg(unix)]
fn end_of_connecting(socket: &net::TcpStream) -> io::Result<()> {
    match (socket.take_error()?, socket.peer_addr()) {
        (Some(error), _) => Err(error),
        (None, Ok(_)) => Ok(()),
        (None, Err(error)) if error.kind() == io::ErrorKind::NotConnected => Err(io::ErrorKind::WouldBlock.into()),
        (None, Err(error)) => Err(error),
    }
}
