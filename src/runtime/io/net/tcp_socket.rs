//! A TCP socket before it connects or listens: for options that must be set by then. Go: `net.ListenConfig`, `net.Dialer`.

use crate::runtime::io::around;
use crate::runtime::io::net::tcp::{TcpListener, TcpStream, connected_to_itself, new_socket};
use core::fmt;
use core::time::Duration;
use rustix::net::{AddressFamily, bind, getsockname, listen, sockopt};
use std::io;
use std::net::{self, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// A TCP socket that neither connects nor listens yet.
///
/// Several listeners at one port, one for each P, say, among which the system divides the connections:
///
/// ```
/// # #[cfg(target_os = "linux")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use spinpark::net::{TcpListener, TcpSocket};
/// use std::net::SocketAddr;
///
/// fn listener(address: SocketAddr) -> std::io::Result<TcpListener> {
///     let socket = TcpSocket::new_v4()?;
///     socket.set_reuseport(true)?;
///     socket.bind(address)?;
///     socket.listen(1024)
/// }
///
/// spinpark::Runtime::new()?.block_on(async {
///     let one = listener(([127, 0, 0, 1], 0).into())?;
///     let other = listener(one.local_addr()?)?;
///     assert_eq!(one.local_addr()?, other.local_addr()?);
///     Ok::<_, std::io::Error>(())
/// })??;
/// # Ok(())
/// # }
/// # #[cfg(not(target_os = "linux"))]
/// # fn main() {}
/// ```
///
/// The options, before it connects:
///
/// ```
/// use spinpark::net::{TcpListener, TcpSocket};
/// use std::time::Duration;
///
/// # spinpark::run(async {
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let socket = TcpSocket::new_v4()?;
/// socket.set_reuseaddr(true)?;
/// socket.set_reuseport(false)?;
/// socket.set_keepalive(true)?;
/// socket.set_nodelay(true)?;
/// socket.set_send_buffer_size(16_384)?;
/// socket.set_recv_buffer_size(16_384)?;
/// socket.set_tos_v4(0x10)?;
/// socket.set_linger(Some(Duration::from_secs(1)))?;
/// println!("{} {} {} {}", socket.reuseaddr()?, socket.reuseport()?, socket.keepalive()?, socket.nodelay()?);
/// println!("{} {} {} {:?}", socket.send_buffer_size()?, socket.recv_buffer_size()?, socket.tos_v4()?, socket.linger()?);
/// socket.set_zero_linger()?;
/// let stream = socket.connect(listener.local_addr()?).await?;
/// println!("{}", stream.local_addr()?);
/// if let Ok(six) = TcpSocket::new_v6() {
///     six.set_tclass_v6(0x10)?;
///     assert_eq!(six.tclass_v6()?, 0x10);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
pub struct TcpSocket(OwnedFd);

impl TcpSocket {
    /// One for addresses of version 4.
    ///
    /// # Errors
    /// If the caller is no task; those of the system.
    pub fn new_v4() -> io::Result<TcpSocket> {
        Self::new(AddressFamily::INET)
    }

    /// One for addresses of version 6.
    ///
    /// # Errors
    /// If the caller is no task; those of the system.
    pub fn new_v6() -> io::Result<TcpSocket> {
        Self::new(AddressFamily::INET6)
    }

    fn new(family: AddressFamily) -> io::Result<TcpSocket> {
        // No descriptor is taken for nothing.
        around::netpoll("TcpSocket::new was called")?;
        new_socket(family).map(TcpSocket)
    }

    /// Takes an address of this machine. With port 0 the system chooses one.
    ///
    /// # Errors
    /// Those of the system: it is in use, or of the other version.
    pub fn bind(&self, address: SocketAddr) -> io::Result<()> {
        Ok(bind(&self.0, &address)?)
    }

    /// Connects, as [`TcpStream::connect`]. A socket that was [bound](TcpSocket::bind) to the port of `address` may connect to itself.
    ///
    /// # Errors
    /// Those of the system: nothing listens there, say; and if the runtime was shut down.
    /// [`ConnectionRefused`](io::ErrorKind::ConnectionRefused) if the system has chosen the port of `address` for this socket too.
    ///
    /// # Cancel safety
    /// As [`TcpStream::connect`]'s.
    pub async fn connect(self, address: SocketAddr) -> io::Result<TcpStream> {
        let is_bound_there = self.local_addr().is_ok_and(|local| local.port() == address.port());
        let stream = TcpStream::connect_with(self.0, address).await?;
        if !is_bound_there && stream.is_connected_to_itself(address) {
            return Err(connected_to_itself());
        }
        Ok(stream)
    }

    /// Listens. So many connections may wait to be accepted; the system cuts down what is too much.
    ///
    /// # Errors
    /// Those of the system, and if the runtime was shut down.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let socket = spinpark::net::TcpSocket::new_v4()?;
    /// socket.bind("127.0.0.1:0".parse()?)?;
    /// let listener = socket.listen(16)?;
    /// assert_ne!(listener.local_addr()?.port(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub fn listen(self, backlog: u32) -> io::Result<TcpListener> {
        listen(&self.0, i32::try_from(backlog).unwrap_or(i32::MAX))?;
        TcpListener::from_std(net::TcpListener::from(self.0))
    }

    /// Where it is bound.
    ///
    /// # Errors
    /// Those of the system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(getsockname(&self.0)?.try_into()?)
    }

    /// The kind of service that is asked for, in packets of version 4 (`IP_TOS`).
    ///
    /// # Errors
    /// Those of the system.
    #[cfg(target_os = "linux")]
    pub fn tos_v4(&self) -> io::Result<u32> {
        Ok(u32::from(sockopt::ip_tos(&self.0)?))
    }

    /// Sets [`tos_v4`](TcpSocket::tos_v4).
    ///
    /// # Errors
    /// Those of the system; [`InvalidInput`](io::ErrorKind::InvalidInput) if it is more than 255.
    #[cfg(target_os = "linux")]
    pub fn set_tos_v4(&self, value: u32) -> io::Result<()> {
        Ok(sockopt::set_ip_tos(&self.0, u8::try_from(value).map_err(|_| io::ErrorKind::InvalidInput)?)?)
    }

    /// The class of traffic, in packets of version 6 (`IPV6_TCLASS`).
    ///
    /// # Errors
    /// Those of the system.
    #[cfg(target_os = "linux")]
    pub fn tclass_v6(&self) -> io::Result<u32> {
        Ok(sockopt::ipv6_tclass(&self.0)?)
    }

    /// Sets [`tclass_v6`](TcpSocket::tclass_v6).
    ///
    /// # Errors
    /// Those of the system.
    #[cfg(target_os = "linux")]
    pub fn set_tclass_v6(&self, value: u32) -> io::Result<()> {
        Ok(sockopt::set_ipv6_tclass(&self.0, value)?)
    }

    /// What [`set_linger`](TcpSocket::set_linger) has set.
    ///
    /// # Errors
    /// Those of the system.
    pub fn linger(&self) -> io::Result<Option<Duration>> {
        Ok(sockopt::socket_linger(&self.0)?)
    }

    /// What is sent and not acknowledged is thrown away at the close, which ends the connection by a reset.
    ///
    /// # Errors
    /// Those of the system.
    pub fn set_zero_linger(&self) -> io::Result<()> {
        self.set_linger(Some(Duration::ZERO))
    }

    /// Time during which a close waits until the rest is sent; `None`: it does not wait, the system goes on sending.
    ///
    /// # Errors
    /// Those of the system.
    pub fn set_linger(&self, time: Option<Duration>) -> io::Result<()> {
        Ok(sockopt::set_socket_linger(&self.0, time)?)
    }
}

/// Options, in pairs: what is set, and what it is set to.
macro_rules! options {
    ($($(#[$about:meta])* $set:ident($value:ty) $get:ident = $system_set:path, $system_get:path, $from:path;)*) => {
        /// ```
        /// use spinpark::net::TcpSocket;
        ///
        /// # spinpark::run(async {
        /// let socket = TcpSocket::new_v4()?;
        /// socket.set_nodelay(true)?; // each `set_x` has an `x` that asks the system
        /// assert!(socket.nodelay()?);
        /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
        /// ```
        impl TcpSocket {
            $(
                $(#[$about])*
                ///
                /// # Errors
                /// Those of the system.
                pub fn $set(&self, value: $value) -> io::Result<()> {
                    Ok($system_set(&self.0, $from(value)?)?)
                }

                #[doc = concat!("What [`", stringify!($set), "`](TcpSocket::", stringify!($set), ") has set, as the system gives it.")]
                ///
                /// # Errors
                /// Those of the system.
                pub fn $get(&self) -> io::Result<$value> {
                    $from($system_get(&self.0)?)
                }
            )*
        }
    };
}

options! {
    /// May the address be taken though connections of an earlier owner have not quite ended (`SO_REUSEADDR`)?
    set_reuseaddr(bool) reuseaddr = sockopt::set_socket_reuseaddr, sockopt::socket_reuseaddr, same;
    /// May several take the address that all say so (`SO_REUSEPORT`)? The system divides what comes among them.
    set_reuseport(bool) reuseport = sockopt::set_socket_reuseport, sockopt::socket_reuseport, same;
    /// Does the system ask a silent peer from time to time whether it is still there (`SO_KEEPALIVE`)?
    set_keepalive(bool) keepalive = sockopt::set_socket_keepalive, sockopt::socket_keepalive, same;
    /// Is what is written sent at once, be it ever so little (`TCP_NODELAY`)?
    set_nodelay(bool) nodelay = sockopt::set_tcp_nodelay, sockopt::tcp_nodelay, same;
    /// How many bytes that were written the system keeps (`SO_SNDBUF`). Linux doubles it.
    set_send_buffer_size(u32) send_buffer_size =
        sockopt::set_socket_send_buffer_size, sockopt::socket_send_buffer_size, size;
    /// How many bytes that came the system keeps (`SO_RCVBUF`). Linux doubles it.
    set_recv_buffer_size(u32) recv_buffer_size =
        sockopt::set_socket_recv_buffer_size, sockopt::socket_recv_buffer_size, size;
}

fn same(value: bool) -> io::Result<bool> {
    Ok(value)
}

/// A size for the system and back.
fn size<T: TryInto<U>, U>(value: T) -> io::Result<U> {
    value.try_into().map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "this buffer is larger than can be said"))
}

impl fmt::Debug for TcpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpSocket").field("local_addr", &self.local_addr().ok()).finish_non_exhaustive()
    }
}

impl AsFd for TcpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsRawFd for TcpSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::testing::{run, spawn};

    fn loopback() -> SocketAddr {
        ([127, 0, 0, 1], 0).into()
    }

    mod a_socket {
        use super::*;

        #[test]
        fn has_the_options_that_were_set_before_it_listens_and_connects() {
            run(async {
                let socket = TcpSocket::new_v4().expect("a socket");
                socket.set_reuseaddr(true).expect("set");
                socket.set_recv_buffer_size(20_000).expect("set");
                socket.bind(loopback()).expect("bound");
                let at = socket.local_addr().expect("an address");
                let listener = socket.listen(16).expect("it listens");
                assert_eq!(listener.local_addr().expect("an address"), at);
                let accepts = spawn(async move { listener.accept().await.expect("accepted") });

                let socket = TcpSocket::new_v4().expect("a socket");
                assert!(!socket.nodelay().expect("asked") && !socket.keepalive().expect("asked"));
                socket.set_nodelay(true).expect("set");
                socket.set_keepalive(true).expect("set");
                socket.set_send_buffer_size(30_000).expect("set");
                socket.set_linger(Some(Duration::from_secs(1))).expect("set");
                let size = socket.send_buffer_size().expect("asked");
                assert!((30_000..=60_000).contains(&size), "{size}");
                socket.bind(loopback()).expect("bound");
                let from = socket.local_addr().expect("an address");
                let stream = socket.connect(at).await.expect("connected");
                assert!(stream.nodelay().expect("asked"));
                assert!(sockopt::socket_keepalive(&stream).expect("asked"));
                let (accepted, peer) = accepts.await;
                assert_eq!(peer, from, "it was bound there");
                stream.write_all(b"x").await.expect("written");
                accepted.read_exact(&mut [0]).await.expect("read");
            });
        }

        #[test]
        fn shares_its_port_only_if_it_says_so() {
            run(async {
                let listen = |shares, at| {
                    let socket = TcpSocket::new_v4()?;
                    socket.set_reuseport(shares)?;
                    socket.bind(at)?;
                    socket.listen(16)
                };
                let one = listen(true, loopback()).expect("it listens");
                let at = one.local_addr().expect("an address");
                let other = listen(true, at).expect("it listens there, too");
                let refused = listen(false, at).expect_err("it does not share");
                assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);
                drop(one);
                // All come to the one that is left.
                let _client = TcpStream::connect(at).await.expect("connected");
                other.accept().await.expect("accepted");
            });
        }

        #[test]
        fn of_version_6_connects_too() {
            run(async {
                let socket = TcpSocket::new_v6().expect("a socket");
                let Ok(()) = socket.bind("[::1]:0".parse().expect("an address")) else { return }; // there is none here
                let at = socket.local_addr().expect("an address");
                let listener = socket.listen(1).expect("it listens");
                let client = TcpSocket::new_v6().expect("a socket").connect(at).await.expect("connected");
                assert_eq!(client.peer_addr().expect("an address"), at);
                listener.accept().await.expect("accepted");
            });
        }
    }

    mod bad_input {
        use super::*;

        #[test]
        fn is_an_error() {
            run(async {
                let socket = TcpSocket::new_v4().expect("a socket");
                socket.bind("[::1]:0".parse().expect("an address")).expect_err("it is of the other version");
                let unused = {
                    let listener = TcpListener::bind(loopback()).await.expect("a listener");
                    listener.local_addr().expect("an address")
                };
                let refused = socket.connect(unused).await.expect_err("no socket listens");
                assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
            });
            let error = TcpSocket::new_v4().expect_err("there is no runtime");
            assert!(error.get_ref().is_some_and(|inner| inner.is::<crate::NotInRuntime>()), "{error}");
        }
    }
}
