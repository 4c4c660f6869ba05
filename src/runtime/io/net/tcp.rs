//! Connections over TCP. Go: `net.TCPListener`, `net.TCPConn`.

mod listener;
mod stream;

pub use listener::{Incoming, TcpListener};
pub use stream::{OwnedReadHalf, OwnedWriteHalf, ReuniteError, TcpStream};
pub(super) use stream::{connected_to_itself, new_socket};
