//! Sockets between processes of one machine, named by paths. Go: `net.UnixListener`, `net.UnixConn`.

use crate::runtime::exec::blocking::syscall;
use crate::runtime::exec::yielding::{poll_leaf, proceed};
use crate::runtime::io::around;
use crate::runtime::io::async_fd::{Interest, Ready, now};
#[cfg(target_os = "linux")]
pub use crate::runtime::io::net::peer_cred::UCred;
use crate::runtime::io::netpoll::{Direction, Registered, at_once};
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use futures_io::{AsyncRead, AsyncWrite};
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net::Shutdown;
use std::os::unix::net;
pub use std::os::unix::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

/// Takes connections from others on this machine.
///
/// ```
/// use spinpark::net::unix::{UnixListener, UnixStream};
///
/// # spinpark::run(async {
/// let path = std::env::temp_dir().join(format!("spinpark-listener-{}", std::process::id()));
/// let listener = UnixListener::bind(&path)?;
/// let _client = UnixStream::connect(&path).await?;
/// let (_server, peer) = listener.accept().await?;
/// assert!(peer.is_unnamed());
/// let _second = UnixStream::connect_addr(&listener.local_addr()?).await?;
/// std::future::poll_fn(|cx| listener.poll_accept(cx)).await?;
/// std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
pub struct UnixListener(Registered<net::UnixListener>);

impl UnixListener {
    /// Listens at a path, where there must be nothing yet. The socket's file stays when the listener is gone.
    ///
    /// # Errors
    /// If the caller is no task; those of the system.
    pub fn bind(path: impl AsRef<Path>) -> io::Result<UnixListener> {
        Self::bind_addr(&SocketAddr::from_pathname(path)?)
    }

    /// Listens at an address, which may be one without a file.
    ///
    /// # Errors
    /// If the caller is no task; those of the system.
    pub fn bind_addr(address: &SocketAddr) -> io::Result<UnixListener> {
        // No file is made for nothing.
        around::netpoll("UnixListener::bind was called")?;
        let listener = net::UnixListener::bind_addr(address)?;
        crate::runtime::io::net::backlog::lengthen_queue(&listener)?;
        Self::from_std(listener)
    }

    /// The next connection, and whose it is; most have no name.
    ///
    /// # Errors
    /// Those of the system, and if the runtime was shut down. The listener goes on after them: if the process has as
    /// many files open as it may, say, the connection waits until there are fewer. A task that tries again at once in that case
    /// should sleep a little before.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, it has accepted nothing: the connection is there for the next call.
    pub async fn accept(&self) -> io::Result<(UnixStream, SocketAddr)> {
        self.welcome(self.0.io(Direction::Read, net::UnixListener::accept).await?)
    }

    /// As [`accept`](UnixListener::accept), for futures and streams written by hand.
    ///
    /// # Errors
    /// As `accept`'s.
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(UnixStream, SocketAddr)>> {
        let accepted = ready!(self.0.poll_io(Direction::Read, cx, net::UnixListener::accept))?;
        Poll::Ready(self.welcome(accepted))
    }

    /// Where it listens.
    ///
    /// # Errors
    /// Those of the system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.get().local_addr()
    }

    fn welcome(&self, (stream, peer): (net::UnixStream, SocketAddr)) -> io::Result<(UnixStream, SocketAddr)> {
        stream.set_nonblocking(true)?;
        Ok((UnixStream(self.0.sibling(stream)?), peer))
    }
}

socket!(UnixListener, net::UnixListener);

/// A connection on this machine: bytes in order, both ways.
///
/// ```
/// use spinpark::net::unix::UnixStream;
///
/// # spinpark::run(async {
/// let (one, two) = UnixStream::pair()?;
/// one.write_all(b"hello").await?;
/// let mut word = [0; 5];
/// two.read_exact(&mut word).await?;
/// println!("{:?} {:?} {:?} {:?}", one.local_addr()?, one.peer_addr()?, one.take_error()?, word);
/// # #[cfg(target_os = "linux")]
/// println!("{:?}", one.peer_cred()?.pid());
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
pub struct UnixStream(Registered<net::UnixStream>);

impl UnixStream {
    /// Connects to the listener at a path. If the queue there is full, the system lets us wait, and other tasks run
    /// meanwhile; but the future cannot be dropped then, its thread waits.
    ///
    /// # Errors
    /// If the caller is no task; those of the system: no socket listens there.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, it has not connected.
    ///
    /// ```
    /// use spinpark::net::unix::{UnixListener, UnixStream};
    ///
    /// # spinpark::run(async {
    /// let path = std::env::temp_dir().join(format!("spinpark-connect-{}", std::process::id()));
    /// let _listener = UnixListener::bind(&path)?;
    /// UnixStream::connect(&path).await?.write_all(b"hello").await?;
    /// std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn connect(path: impl AsRef<Path>) -> io::Result<UnixStream> {
        Self::connect_addr(&SocketAddr::from_pathname(path)?).await
    }

    /// Connects to the listener at an address. As for the rest see [`connect`](UnixStream::connect).
    ///
    /// # Errors
    /// As [`connect`](UnixStream::connect)'s.
    ///
    /// # Cancel safety
    /// As [`connect`](UnixStream::connect)'s.
    pub async fn connect_addr(address: &SocketAddr) -> io::Result<UnixStream> {
        around::netpoll("UnixStream::connect was called")?;
        proceed().await;
        // With a socket that does not block a full queue would be an error: nothing tells when there is room.
        Self::from_std(syscall(|| net::UnixStream::connect_addr(address))?)
    }

    /// Two that are connected to each other.
    ///
    /// # Errors
    /// If the caller is no task; those of the system.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let (one, two) = spinpark::net::unix::UnixStream::pair()?;
    /// one.write_all(b"ping").await?;
    /// let mut word = [0; 4];
    /// two.read_exact(&mut word).await?;
    /// assert_eq!(&word, b"ping");
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn pair() -> io::Result<(UnixStream, UnixStream)> {
        around::netpoll("UnixStream::pair was called")?;
        let (one, other) = net::UnixStream::pair()?;
        Ok((Self::from_std(one)?, Self::from_std(other)?))
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
    /// Those of the system.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.0.get().peer_addr()
    }

    /// The peer's credentials: those of its process when it connected or listened.
    ///
    /// # Errors
    /// Those of the system.
    #[cfg(target_os = "linux")]
    pub fn peer_cred(&self) -> io::Result<UCred> {
        UCred::of_peer(self.0.get())
    }

    /// The error that has come up since this was last asked, if one has.
    ///
    /// # Errors
    /// Those of the system in asking.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.0.get().take_error()
    }
}

socket!(UnixStream, net::UnixStream);
stream!(UnixStream);
halves!(UnixStream);

/// Sends and receives datagrams on this machine: each comes whole, and in order.
///
/// ```
/// use spinpark::net::unix::UnixDatagram;
///
/// # spinpark::run(async {
/// let path = std::env::temp_dir().join(format!("spinpark-datagrams-{}", std::process::id()));
/// let (receiver, sender) = (UnixDatagram::bind(&path)?, UnixDatagram::unbound()?);
/// let mut buffer = [0; 64];
/// sender.send_to(b"one", &path).await?;
/// assert_eq!(receiver.recv_from(&mut buffer).await?.0, 3);
/// sender.try_send_to(b"two", &path)?;
/// assert_eq!(receiver.try_recv_from(&mut buffer)?.0, 3);
/// sender.connect(&path)?;
/// sender.send(b"three").await?;
/// assert_eq!(receiver.recv(&mut buffer).await?, 5);
/// println!("{:?} {:?} {:?}", receiver.local_addr()?, sender.peer_addr()?, sender.take_error()?);
/// let (one, two) = UnixDatagram::pair()?;
/// one.try_send(b"four")?;
/// assert_eq!(two.try_recv(&mut buffer)?, 4);
/// one.shutdown(std::net::Shutdown::Write)?;
/// std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
pub struct UnixDatagram(Registered<net::UnixDatagram>);

impl UnixDatagram {
    /// A socket at a path, where there must be nothing yet. The socket's file stays when this is gone.
    ///
    /// # Errors
    /// If the caller is no task; those of the system.
    pub fn bind(path: impl AsRef<Path>) -> io::Result<UnixDatagram> {
        // No file is made for nothing.
        around::netpoll("UnixDatagram::bind was called")?;
        Self::from_std(net::UnixDatagram::bind(path)?)
    }

    /// A socket without a name: it can send.
    ///
    /// # Errors
    /// If the caller is no task; those of the system.
    pub fn unbound() -> io::Result<UnixDatagram> {
        around::netpoll("UnixDatagram::unbound was called")?;
        Self::from_std(net::UnixDatagram::unbound()?)
    }

    /// Two that are connected to each other.
    ///
    /// # Errors
    /// If the caller is no task; those of the system.
    pub fn pair() -> io::Result<(UnixDatagram, UnixDatagram)> {
        around::netpoll("UnixDatagram::pair was called")?;
        let (one, other) = net::UnixDatagram::pair()?;
        Ok((Self::from_std(one)?, Self::from_std(other)?))
    }

    /// From now on, [`send`](UnixDatagram::send) is to this path, and only what comes from there is received.
    ///
    /// # Errors
    /// Those of the system: no peer is there.
    pub fn connect(&self, path: impl AsRef<Path>) -> io::Result<()> {
        self.0.get().connect(path)
    }

    /// Sends one datagram to where it is [connected](UnixDatagram::connect) to. Waits while too many are on their way.
    ///
    /// # Errors
    /// Those of the system: it is not connected, the datagram is too long, the peer is gone; and if the runtime
    /// was shut down.
    ///
    /// # Cancel safety
    /// A send that is dropped has sent nothing.
    pub async fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        self.0.io(Direction::Write, |socket| socket.send(bytes)).await
    }

    /// Sends one datagram to this path. Waits while too many are on their way there.
    ///
    /// Linux does not tell when there is room again, unless it is [connected](UnixDatagram::connect): meanwhile this
    /// tries over and over, and others run in between. A task that sends much to one receiver should connect.
    ///
    /// # Errors
    /// As [`send`](UnixDatagram::send)'s.
    ///
    /// # Cancel safety
    /// As [`send`](UnixDatagram::send)'s.
    pub async fn send_to(&self, bytes: &[u8], path: impl AsRef<Path>) -> io::Result<usize> {
        let path = path.as_ref();
        self.0.io(Direction::Write, |socket| socket.send_to(bytes, path)).await
    }

    /// Receives one datagram. Returns how many bytes it has; more than fit `buffer` are lost.
    ///
    /// # Errors
    /// Those of the system; and if the runtime was shut down.
    ///
    /// # Cancel safety
    /// A receive that is dropped has received nothing: the datagram is there for the next, and `buffer` is as it was.
    pub async fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.io(Direction::Read, |socket| socket.recv(buffer)).await
    }

    /// Receives one datagram. Returns how many bytes it has and where it comes from; more than fit `buffer` are lost.
    ///
    /// # Errors
    /// As [`recv`](UnixDatagram::recv)'s.
    ///
    /// # Cancel safety
    /// As [`recv`](UnixDatagram::recv)'s.
    pub async fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.0.io(Direction::Read, |socket| socket.recv_from(buffer)).await
    }

    /// As [`send`](UnixDatagram::send), if there is room. Does not wait. From any thread.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is none; those of the system.
    pub fn try_send(&self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_io(|socket| socket.send(bytes))
    }

    /// As [`send_to`](UnixDatagram::send_to), if there is room. Does not wait. From any thread.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is none; those of the system.
    pub fn try_send_to(&self, bytes: &[u8], path: impl AsRef<Path>) -> io::Result<usize> {
        let path = path.as_ref();
        self.0.try_io(|socket| socket.send_to(bytes, path))
    }

    /// As [`recv`](UnixDatagram::recv), if something has come. Does not wait. From any thread.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if nothing has; those of the system.
    pub fn try_recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.try_io(|socket| socket.recv(buffer))
    }

    /// As [`recv_from`](UnixDatagram::recv_from), if something has come. Does not wait. From any thread.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if nothing has; those of the system.
    pub fn try_recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.0.try_io(|socket| socket.recv_from(buffer))
    }

    /// Receives and sends no more, or one of both.
    ///
    /// # Errors
    /// Those of the system.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.0.get().shutdown(how)
    }

    /// Our own address.
    ///
    /// # Errors
    /// Those of the system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.get().local_addr()
    }

    /// The address to which it is [connected](UnixDatagram::connect).
    ///
    /// # Errors
    /// Those of the system: it is not connected.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.0.get().peer_addr()
    }

    /// The error that has come up since this was last asked, if one has.
    ///
    /// # Errors
    /// Those of the system in asking.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.0.get().take_error()
    }
}

socket!(UnixDatagram, net::UnixDatagram);
readiness!(UnixDatagram, poll_recv_ready, poll_send_ready);
