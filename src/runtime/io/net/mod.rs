//! Sockets that do not block: a task that waits for one is no thread that waits. Go: `net`.
//!
//! | you want | take |
//! |----------|------|
//! | a server | [`TcpListener`]: `bind`, `accept`; with options before, [`TcpSocket`] |
//! | a connection | [`TcpStream`]: `connect`, `read`, `write_all`, `into_split` ([`tcp`] has the halves) |
//! | datagrams | [`UdpSocket`] |
//! | sockets of this machine | [`unix`]: `UnixListener`, `UnixStream`, `UnixDatagram` |
//! | a name looked up | [`lookup_host`]; [`ToSocketAddrs`] is what `bind` and `connect` take |
//!
//! ```no_run
//! # async fn serve() -> std::io::Result<()> {
//! use spinpark::net::TcpListener;
//!
//! let listener = TcpListener::bind("127.0.0.1:7000").await?;
//! let (stream, _peer) = listener.accept().await?;
//! let mut buffer = [0; 1024];
//! let n = stream.read(&mut buffer).await?;
//! stream.write_all(&buffer[..n]).await?;
//! # Ok(())
//! # }
//! ```
//!
//! The methods have the names and the meaning that they have in [`std::net`], and are `async` where those may block.
//! They take `&self`, so that tasks can share a socket, in an [`Arc`](std::sync::Arc), say: any number may wait for the
//! same one. Streams are also `AsyncRead` and `AsyncWrite` of the crate futures-io, and so are references to them.
//!
//! A socket belongs to the runtime in whose task it was made, and can be used in any task and on any thread as long as
//! that runtime is open. After that, what would have to wait fails with
//! [`BrokenPipe`](std::io::ErrorKind::BrokenPipe). Made outside of a task, it fails with an error that has
//! [`NotInRuntime`](crate::NotInRuntime) in it.
//!
//! A future that is dropped before it is ready has read, written, sent, received or accepted nothing; where it is not
//! so, it is said there.
//!
//! Names are looked up by the system's own resolver, which blocks: that is done by a task of its own, so a look-up can be given up; see
//! [`ToSocketAddrs`].

#[cfg(unix)]
mod backlog;
mod lookup;
#[cfg(target_os = "linux")]
mod peer_cred;
mod resolve;
#[cfg(unix)]
mod reuseport;
pub mod tcp;
#[cfg(unix)]
mod tcp_socket;
#[cfg(test)]
mod tests;
mod udp;
#[cfg(unix)]
pub mod unix;

pub use lookup::lookup_host;
pub use resolve::ToSocketAddrs;
pub use std::net::{Shutdown, SocketAddr};
pub use tcp::{Incoming, TcpListener, TcpStream};
#[cfg(unix)]
pub use tcp_socket::TcpSocket;
pub use udp::UdpSocket;
