//! From names to addresses.

use crate::runtime::io::around;
use crate::runtime::io::net::resolve::{ToSocketAddrs, resolve};
use std::io;
use std::net::SocketAddr;

/// All addresses of a host, in the order in which they should be tried. [`ToSocketAddrs`] says where it is looked up, and when not at
/// all.
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
///
/// # Cancel safety
/// Dropped, nothing is lost but the answer: the look-up is done anew by the next call.
pub async fn lookup_host<A: ToSocketAddrs>(host: A) -> io::Result<std::vec::IntoIter<SocketAddr>> {
    around::check_network()?;
    Ok(resolve(host).await?.into_vec().into_iter())
}

/// The first of them.
pub(super) async fn first_of<A: ToSocketAddrs>(host: A) -> io::Result<SocketAddr> {
    resolve(host).await?.as_slice().first().copied().ok_or_else(no_address)
}

/// There was a list of addresses, and it was empty.
pub(super) fn no_address() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "no address was given, or the name has none")
}
