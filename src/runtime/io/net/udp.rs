//! Datagrams over UDP. Go: `net.UDPConn`.

use crate::runtime::exec::blocking::syscall;
use crate::runtime::io::around;
#[cfg(unix)]
use crate::runtime::io::async_fd::{Interest, Ready, now};
use crate::runtime::io::net::lookup::first_of;
use crate::runtime::io::net::resolve::{ToSocketAddrs, resolve};
use crate::runtime::io::netpoll::{Direction, Registered};
use core::fmt;
#[cfg(unix)]
use core::task::{Context, Poll};
#[cfg(target_os = "linux")]
use rustix::net::sockopt;
use std::io;
use std::net::SocketAddr;
use std::net::{self, Ipv4Addr, Ipv6Addr};

/// Sends and receives datagrams: each comes whole or not at all, in any order.
///
/// ```
/// use spinpark::net::UdpSocket;
///
/// # spinpark::run(async {
/// let (one, two) = (UdpSocket::bind("127.0.0.1:0").await?, UdpSocket::bind("127.0.0.1:0").await?);
/// one.send_to(b"hello", two.local_addr()?).await?;
/// let mut buffer = [0; 64];
/// assert_eq!(two.peek_from(&mut buffer).await?, (5, one.local_addr()?));
/// assert_eq!(two.recv_from(&mut buffer).await?, (5, one.local_addr()?));
///
/// two.connect(one.local_addr()?).await?; // now it has a peer
/// assert_eq!(two.peer_addr()?, one.local_addr()?);
/// two.send(b"there").await?;
/// assert_eq!(one.recv(&mut buffer).await?, 5);
/// one.try_send_to(b"again", two.local_addr()?)?;
/// assert_eq!(two.peek(&mut buffer).await?, 5);
/// assert_eq!(two.try_recv(&mut buffer)?, 5);
/// assert!(two.try_recv_from(&mut buffer).is_err() && two.try_send(b"bye").is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
pub struct UdpSocket(Registered<net::UdpSocket>);

/// The options:
///
/// ```
/// use spinpark::net::UdpSocket;
/// use std::net::Ipv4Addr;
///
/// # spinpark::run(async {
/// let socket = UdpSocket::bind("0.0.0.0:0").await?;
/// socket.set_broadcast(true)?;
/// socket.set_ttl(64)?;
/// socket.set_tos_v4(0x10)?;
/// socket.set_multicast_ttl_v4(1)?;
/// socket.set_multicast_loop_v4(true)?;
/// assert!(socket.broadcast()? && socket.multicast_loop_v4()? && socket.take_error()?.is_none());
/// assert_eq!((socket.ttl()?, socket.tos_v4()?, socket.multicast_ttl_v4()?), (64, 0x10, 1));
/// let group = Ipv4Addr::new(224, 0, 0, 251);
/// if socket.join_multicast_v4(group, Ipv4Addr::UNSPECIFIED).is_ok() {
///     socket.leave_multicast_v4(group, Ipv4Addr::UNSPECIFIED)?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
impl UdpSocket {
    /// A socket at an address; of several, at the first that is free. With port 0 the system chooses one,
    /// which [`local_addr`](UdpSocket::local_addr) tells.
    ///
    /// # Errors
    /// If the caller is no task; those of the look-up; that of the last address that was tried.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, there is no socket.
    ///
    /// ```
    /// # spinpark::run(async {
    /// let socket = spinpark::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// println!("{}", socket.local_addr()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn bind<A: ToSocketAddrs>(address: A) -> io::Result<UdpSocket> {
        // No port is taken for nothing.
        around::netpoll("UdpSocket::bind was called")?;
        let addresses = resolve(address).await?;
        Self::from_std(syscall(|| net::UdpSocket::bind(addresses.as_slice()))?)
    }

    /// From now on, [`send`](UdpSocket::send) is to this address, and only what comes from there is received. Of
    /// several, the first that the system accepts. Nothing is sent.
    ///
    /// # Errors
    /// Those of the look-up; that of the last address that was tried.
    ///
    /// # Cancel safety
    /// Dropped before it is ready, it is connected to what it was.
    ///
    /// ```
    /// # spinpark::run(async {
    /// # use spinpark::net::UdpSocket;
    /// # let (one, two) = (UdpSocket::bind("127.0.0.1:0").await?, UdpSocket::bind("127.0.0.1:0").await?);
    /// one.connect(two.local_addr()?).await?;
    /// assert_eq!(one.send(b"ping").await?, 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn connect<A: ToSocketAddrs>(&self, address: A) -> io::Result<()> {
        let addresses = resolve(address).await?;
        syscall(|| self.0.get().connect(addresses.as_slice()))
    }

    /// Sends one datagram to where it is [connected](UdpSocket::connect) to. Returns how many bytes it has.
    ///
    /// # Errors
    /// Those of the system: it is not connected, the datagram is too long, one before was refused; and if the runtime
    /// was shut down.
    ///
    /// # Cancel safety
    /// A send that is dropped has sent nothing.
    pub async fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        self.0.io(Direction::Write, |socket| socket.send(bytes)).await
    }

    /// Sends one datagram to this address; if the name has several, to the first. Returns how many bytes it has.
    ///
    /// # Errors
    /// Those of the look-up; those of [`send`](UdpSocket::send).
    ///
    /// # Cancel safety
    /// As [`send`](UdpSocket::send)'s.
    ///
    /// ```
    /// use spinpark::net::UdpSocket;
    ///
    /// # spinpark::run(async {
    /// let (one, two) = (UdpSocket::bind("127.0.0.1:0").await?, UdpSocket::bind("127.0.0.1:0").await?);
    /// one.send_to(b"ping", two.local_addr()?).await?;
    /// let mut buffer = [0; 16];
    /// assert_eq!(two.recv_from(&mut buffer).await?, (4, one.local_addr()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
    /// ```
    pub async fn send_to<A: ToSocketAddrs>(&self, bytes: &[u8], address: A) -> io::Result<usize> {
        let address = first_of(address).await?;
        self.0.io(Direction::Write, |socket| socket.send_to(bytes, address)).await
    }

    /// Receives one datagram from where it is [connected](UdpSocket::connect) to. Returns how many bytes it has; more
    /// than fit `buffer` are lost.
    ///
    /// # Errors
    /// Those of the system: one sent before was refused; and if the runtime was shut down.
    ///
    /// # Cancel safety
    /// A receive that is dropped has received nothing: the datagram is there for the next, and `buffer` is as it was.
    pub async fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.io(Direction::Read, |socket| socket.recv(buffer)).await
    }

    /// Receives one datagram. Returns how many bytes it has and where it comes from; more than fit `buffer` are lost.
    ///
    /// # Errors
    /// As [`recv`](UdpSocket::recv)'s.
    ///
    /// # Cancel safety
    /// As [`recv`](UdpSocket::recv)'s.
    pub async fn recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.0.io(Direction::Read, |socket| socket.recv_from(buffer)).await
    }

    /// As [`recv`](UdpSocket::recv), and leaves it there to be received again.
    ///
    /// # Errors
    /// As [`recv`](UdpSocket::recv)'s.
    ///
    /// # Cancel safety
    /// As [`recv`](UdpSocket::recv)'s.
    pub async fn peek(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.io(Direction::Read, |socket| socket.peek(buffer)).await
    }

    /// As [`recv_from`](UdpSocket::recv_from), and leaves it there to be received again.
    ///
    /// # Errors
    /// As [`recv`](UdpSocket::recv)'s.
    ///
    /// # Cancel safety
    /// As [`recv`](UdpSocket::recv)'s.
    pub async fn peek_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.0.io(Direction::Read, |socket| socket.peek_from(buffer)).await
    }

    /// Our own address.
    ///
    /// # Errors
    /// Those of the system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.get().local_addr()
    }

    /// The address to which it is [connected](UdpSocket::connect).
    ///
    /// # Errors
    /// Those of the system: it is not connected.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.0.get().peer_addr()
    }

    /// May it send to all in the network at once?
    ///
    /// # Errors
    /// Those of the system.
    pub fn broadcast(&self) -> io::Result<bool> {
        self.0.get().broadcast()
    }

    /// May it send to all in the network at once, from now on?
    ///
    /// # Errors
    /// Those of the system.
    pub fn set_broadcast(&self, broadcast: bool) -> io::Result<()> {
        self.0.get().set_broadcast(broadcast)
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

    /// Receives also what is sent to this group, at this interface.
    ///
    /// # Errors
    /// Those of the system.
    pub fn join_multicast_v4(&self, group: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        self.0.get().join_multicast_v4(&group, &interface)
    }

    /// Undoes [`join_multicast_v4`](UdpSocket::join_multicast_v4).
    ///
    /// # Errors
    /// Those of the system.
    pub fn leave_multicast_v4(&self, group: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        self.0.get().leave_multicast_v4(&group, &interface)
    }

    /// Receives also what is sent to this group, at the interface with this number; 0: at any.
    ///
    /// # Errors
    /// Those of the system.
    pub fn join_multicast_v6(&self, group: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.0.get().join_multicast_v6(group, interface)
    }

    /// Undoes [`join_multicast_v6`](UdpSocket::join_multicast_v6).
    ///
    /// # Errors
    /// Those of the system.
    pub fn leave_multicast_v6(&self, group: &Ipv6Addr, interface: u32) -> io::Result<()> {
        self.0.get().leave_multicast_v6(group, interface)
    }

    /// As [`send`](UdpSocket::send), if there is room. Does not wait. From any thread.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is none; those of the system.
    pub fn try_send(&self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_io(|socket| socket.send(bytes))
    }

    /// As [`send_to`](UdpSocket::send_to), if there is room. Does not wait. From any thread.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is none; those of the system.
    pub fn try_send_to(&self, bytes: &[u8], address: SocketAddr) -> io::Result<usize> {
        self.0.try_io(|socket| socket.send_to(bytes, address))
    }

    /// As [`recv`](UdpSocket::recv), if something has come. Does not wait. From any thread.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if nothing has; those of the system.
    pub fn try_recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.try_io(|socket| socket.recv(buffer))
    }

    /// As [`recv_from`](UdpSocket::recv_from), if something has come. Does not wait. From any thread.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if nothing has; those of the system.
    pub fn try_recv_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.0.try_io(|socket| socket.recv_from(buffer))
    }

    /// Is what is sent to a group of version 4 received on this machine, too?
    ///
    /// # Errors
    /// Those of the system.
    pub fn multicast_loop_v4(&self) -> io::Result<bool> {
        self.0.get().multicast_loop_v4()
    }

    /// Sets [`multicast_loop_v4`](UdpSocket::multicast_loop_v4).
    ///
    /// # Errors
    /// Those of the system.
    pub fn set_multicast_loop_v4(&self, value: bool) -> io::Result<()> {
        self.0.get().set_multicast_loop_v4(value)
    }

    /// Is what is sent to a group of version 6 received on this machine, too?
    ///
    /// # Errors
    /// Those of the system.
    pub fn multicast_loop_v6(&self) -> io::Result<bool> {
        self.0.get().multicast_loop_v6()
    }

    /// Sets [`multicast_loop_v6`](UdpSocket::multicast_loop_v6).
    ///
    /// # Errors
    /// Those of the system.
    pub fn set_multicast_loop_v6(&self, value: bool) -> io::Result<()> {
        self.0.get().set_multicast_loop_v6(value)
    }

    /// How many routers a datagram to a group of version 4 may pass.
    ///
    /// # Errors
    /// Those of the system.
    pub fn multicast_ttl_v4(&self) -> io::Result<u32> {
        self.0.get().multicast_ttl_v4()
    }

    /// Sets [`multicast_ttl_v4`](UdpSocket::multicast_ttl_v4).
    ///
    /// # Errors
    /// Those of the system.
    pub fn set_multicast_ttl_v4(&self, value: u32) -> io::Result<()> {
        self.0.get().set_multicast_ttl_v4(value)
    }

    /// The kind of service that is asked for, in packets of version 4 (`IP_TOS`).
    ///
    /// # Errors
    /// Those of the system.
    #[cfg(target_os = "linux")]
    pub fn tos_v4(&self) -> io::Result<u32> {
        Ok(u32::from(sockopt::ip_tos(self)?))
    }

    /// Sets [`tos_v4`](UdpSocket::tos_v4).
    ///
    /// # Errors
    /// Those of the system; [`InvalidInput`](io::ErrorKind::InvalidInput) if it is more than 255.
    #[cfg(target_os = "linux")]
    pub fn set_tos_v4(&self, value: u32) -> io::Result<()> {
        Ok(sockopt::set_ip_tos(self, u8::try_from(value).map_err(|_| io::ErrorKind::InvalidInput)?)?)
    }

    /// The class of traffic, in packets of version 6 (`IPV6_TCLASS`).
    ///
    /// # Errors
    /// Those of the system.
    #[cfg(target_os = "linux")]
    pub fn tclass_v6(&self) -> io::Result<u32> {
        Ok(sockopt::ipv6_tclass(self)?)
    }

    /// Sets [`tclass_v6`](UdpSocket::tclass_v6).
    ///
    /// # Errors
    /// Those of the system.
    #[cfg(target_os = "linux")]
    pub fn set_tclass_v6(&self, value: u32) -> io::Result<()> {
        Ok(sockopt::set_ipv6_tclass(self, value)?)
    }

    /// The error that has come up since this was last asked, if one has.
    ///
    /// # Errors
    /// Those of the system in asking.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.0.get().take_error()
    }
}

socket!(UdpSocket, net::UdpSocket);
readiness!(UdpSocket, poll_recv_ready, poll_send_ready);
