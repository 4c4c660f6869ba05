//! What takes connections.

use crate::runtime::exec::blocking::syscall;
use crate::runtime::io::around;
use crate::runtime::io::net::resolve::{ToSocketAddrs, resolve};
use crate::runtime::io::net::tcp::stream::TcpStream;
use crate::runtime::io::netpoll::{Direction, Registered};
use core::fmt;
use core::task::{Context, Poll, ready};
use std::io;
use std::net::{self, SocketAddr};

/// Takes connections from others.
///
/// ```
/// use spinpark::net::{TcpListener, TcpStream};
///
/// # spinpark::run(async {
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// listener.set_ttl(64)?;
/// println!("at {}, {} routers", listener.local_addr()?, listener.ttl()?);
/// let client = TcpStream::connect(listener.local_addr()?).await?;
/// let (server, peer) = std::future::poll_fn(|cx| listener.poll_accept(cx)).await?;
/// assert_eq!(peer, client.local_addr()?);
/// drop(server);
/// let _second = TcpStream::connect(listener.local_addr()?).await?;
/// listener.incoming().next().await?;
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
pub struct TcpListener(Registered<net::TcpListener>);

impl TcpListener {
    /// Listens at an address; of several, at the first that is free. With port 0 the system chooses one,
    /// which [`local_addr`](TcpListener::local_addr) tells. As std does it, on Unix the address can be used again at
    /// once after a listener is gone.
    ///
    /// # Errors
    /// If the caller is no task; those of the look-up; that of the last address that was tried.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, it does not listen.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let listener = spinpark::net::TcpListener::bind("127.0.0.1:0").await?;
    /// println!("listens at {}", listener.local_addr()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn bind<A: ToSocketAddrs>(address: A) -> io::Result<TcpListener> {
        // No port is taken for nothing.
        around::netpoll("TcpListener::bind was called")?;
        let addresses = resolve(address).await?;
        let listener = syscall(|| net::TcpListener::bind(addresses.as_slice()))?;
        #[cfg(unix)]
        crate::runtime::io::net::backlog::lengthen_queue(&listener)?;
        Self::from_std(listener)
    }

    /// The next connection, and whose it is.
    ///
    /// # Errors
    /// Those of the system, and if the runtime was shut down. The listener goes on after them: if the process has as
    /// many files open as it may, say, the connection waits until there are fewer. A task that tries again at once in that case
    /// should sleep a little before.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, it has accepted nothing: the connection is there for the next call.
    ///
    /// ```
    /// use spinpark::net::{TcpListener, TcpStream};
    ///
    /// # spinpark::run(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let client = TcpStream::connect(listener.local_addr()?).await?;
    /// let (server, peer) = listener.accept().await?;
    /// assert_eq!((peer, server.local_addr()?), (client.local_addr()?, client.peer_addr()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        self.welcome(self.0.io(Direction::Read, accept_one).await?)
    }

    /// As [`accept`](TcpListener::accept), for futures and streams written by hand.
    ///
    /// # Errors
    /// As `accept`'s.
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        let accepted = ready!(self.0.poll_io(Direction::Read, cx, accept_one))?;
        Poll::Ready(self.welcome(accepted))
    }

    /// The connections, one after the other, for ever.
    pub fn incoming(&self) -> Incoming<'_> {
        Incoming(self)
    }

    /// Where it listens.
    ///
    /// # Errors
    /// Those of the system.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let listener = spinpark::net::TcpListener::bind("127.0.0.1:0").await?;
    /// assert_ne!(listener.local_addr()?.port(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.get().local_addr()
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

    fn welcome(&self, (stream, peer): (net::TcpStream, SocketAddr)) -> io::Result<(TcpStream, SocketAddr)> {
        stream.set_nonblocking(true)?;
        Ok((TcpStream(self.0.sibling(stream)?), peer))
    }
}

/// Passes over a connection that was closed before it was accepted, as Go does: that is no error of the listener's.
fn accept_one(listener: &net::TcpListener) -> io::Result<(net::TcpStream, SocketAddr)> {
    loop {
        match listener.accept() {
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            result => return result,
        }
    }
}

socket!(TcpListener, net::TcpListener);

/// The connections that come to a [`TcpListener`].
#[derive(Debug)]
#[must_use = "connections come when they are asked for"]
pub struct Incoming<'a>(&'a TcpListener);

impl Incoming<'_> {
    /// Where they come.
    #[cfg(feature = "futures")]
    pub(in crate::runtime) fn listener(&self) -> &TcpListener {
        self.0
    }

    /// The next one. There is always a next one.
    ///
    /// # Errors
    /// Those of [`accept`](TcpListener::accept).
    ///
    /// # Cancel safety
    /// As [`accept`](TcpListener::accept)'s.
    pub async fn next(&mut self) -> io::Result<TcpStream> {
        Ok(self.0.accept().await?.0)
    }
}
