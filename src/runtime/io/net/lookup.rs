//! From names to addresses.

use crate::runtime::exec::blocking::syscall;
use crate::runtime::io::around;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

/// All addresses of a host, in the order in which they should be tried. Other tasks run meanwhile.
///
/// # Errors
/// Those of the system: there is no such name, or no server that knows.
///
/// ```no_run
/// # async fn look_up() -> std::io::Result<()> {
/// for address in spinpark::net::lookup_host("localhost:80").await? {
///     println!("{address}");
/// }
/// # Ok(())
/// # }
/// ```
pub async fn lookup_host<A: ToSocketAddrs>(host: A) -> io::Result<std::vec::IntoIter<SocketAddr>> {
    around::check_network()?;
    let addresses: Vec<_> = syscall(|| host.to_socket_addrs().map(Iterator::collect))?;
    Ok(addresses.into_iter())
}

/// The first of them.
pub(super) fn first_of<A: ToSocketAddrs>(host: &A) -> io::Result<SocketAddr> {
    syscall(|| host.to_socket_addrs().map(|mut addresses| addresses.next()))?.ok_or_else(no_address)
}

/// There was a list of addresses, and it was empty.
pub(super) fn no_address() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "no address was given, or the name has none")
}
