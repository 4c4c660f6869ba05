//! What is an address, and what is a name that has to be looked up, which blocks.

use crate::runtime::exec::blocking::blocking;
use crate::runtime::exec::context::Context;
use crate::runtime::exec::join::{JoinError, JoinHandle};
use crate::runtime::exec::spawn::spawn;
use crate::runtime::exec::yielding::proceed;
use std::io;
use std::net::{self, IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

/// Addresses, or a name that has some: as std's [`ToSocketAddrs`](net::ToSocketAddrs), and of the same types. It has no methods:
/// [`lookup_host`](crate::net::lookup_host) says what the addresses are.
///
/// An address, as a value or as text, is taken as it is. A name ("localhost:80", `("localhost", 80)`) is looked up by the system's
/// own resolver, which blocks, for half a minute perhaps: that is done by a task beside the caller's, in [`blocking`]. So a
/// [`timeout`](crate::time::timeout) around it ends in time, and [`select!`](crate::select) and [`join!`](crate::join) poll their
/// other futures meanwhile. A look-up that is given up goes on in the system, and what it finds is dropped; a shutdown of the runtime
/// waits for it ([`shutdown_timeout`](crate::Runtime::shutdown_timeout) does not). Outside of a runtime the caller blocks.
///
/// The trait cannot be implemented elsewhere: what std's does is not known to return at once.
pub trait ToSocketAddrs: sealed::Resolve {}

mod sealed {
    use super::Target;
    use std::io;

    /// What [`ToSocketAddrs`](super::ToSocketAddrs) says, to us alone.
    pub trait Resolve {
        /// Without waiting.
        ///
        /// # Errors
        /// It is neither an address nor a name.
        fn target(&self) -> io::Result<Target>;
    }
}

/// What was asked for.
pub enum Target {
    Known(Addresses),
    /// To be looked up: a host, and a port.
    Name(String, u16),
}

/// Addresses, in the order in which they should be tried.
pub enum Addresses {
    One([SocketAddr; 1]),
    Many(Vec<SocketAddr>),
}

impl Addresses {
    pub(super) fn as_slice(&self) -> &[SocketAddr] {
        match self {
            Addresses::One(one) => one,
            Addresses::Many(many) => many,
        }
    }

    pub(super) fn into_vec(self) -> Vec<SocketAddr> {
        match self {
            Addresses::One(one) => one.to_vec(),
            Addresses::Many(many) => many,
        }
    }
}

impl Target {
    fn one(address: impl Into<SocketAddr>) -> Target {
        Target::Known(Addresses::One([address.into()]))
    }

    fn host(host: &str, port: u16) -> Target {
        match host.parse::<IpAddr>() {
            Ok(ip) => Target::one((ip, port)),
            Err(_) => Target::Name(host.to_owned(), port),
        }
    }
}

macro_rules! addresses {
    ($($address:ty),*) => {$(
        impl ToSocketAddrs for $address {}

        impl sealed::Resolve for $address {
            fn target(&self) -> io::Result<Target> {
                Ok(Target::one(*self))
            }
        }
    )*};
}

addresses!(SocketAddr, SocketAddrV4, SocketAddrV6, (IpAddr, u16), (Ipv4Addr, u16), (Ipv6Addr, u16));

impl ToSocketAddrs for &[SocketAddr] {}

impl sealed::Resolve for &[SocketAddr] {
    fn target(&self) -> io::Result<Target> {
        Ok(Target::Known(Addresses::Many(self.to_vec())))
    }
}

impl ToSocketAddrs for (&str, u16) {}

impl sealed::Resolve for (&str, u16) {
    fn target(&self) -> io::Result<Target> {
        Ok(Target::host(self.0, self.1))
    }
}

impl ToSocketAddrs for (String, u16) {}

impl sealed::Resolve for (String, u16) {
    fn target(&self) -> io::Result<Target> {
        Ok(Target::host(&self.0, self.1))
    }
}

impl ToSocketAddrs for str {}

impl sealed::Resolve for str {
    fn target(&self) -> io::Result<Target> {
        if let Ok(address) = self.parse::<SocketAddr>() {
            return Ok(Target::one(address));
        }
        let parts = self.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
        match parts {
            Some((host, port)) => Ok(Target::host(host, port)),
            // std says what is wrong, and looks nothing up for that.
            None => {
                net::ToSocketAddrs::to_socket_addrs(self).map(|none| Target::Known(Addresses::Many(none.collect())))
            }
        }
    }
}

impl ToSocketAddrs for String {}

impl sealed::Resolve for String {
    fn target(&self) -> io::Result<Target> {
        self.as_str().target()
    }
}

impl<T: ToSocketAddrs + ?Sized> ToSocketAddrs for &T {}

impl<T: sealed::Resolve + ?Sized> sealed::Resolve for &T {
    fn target(&self) -> io::Result<Target> {
        (**self).target()
    }
}

/// The addresses; of a name, what the system finds.
pub(super) async fn resolve<A: ToSocketAddrs>(address: A) -> io::Result<Addresses> {
    proceed().await;
    match address.target()? {
        Target::Known(addresses) => Ok(addresses),
        Target::Name(host, port) => look_up(host, port).await.map(Addresses::Many),
    }
}

/// Asks the system, beside the caller's task.
async fn look_up(host: String, port: u16) -> io::Result<Vec<SocketAddr>> {
    let look_up = move || ask(&host, port);
    if Context::around_id().is_none() {
        return look_up();
    }
    // On a thread's stack, not on a goroutine's: the system's resolver has its own idea of how much there is.
    let mut asking = Asking(spawn(async move { blocking(look_up) }));
    match (&mut asking.0).await {
        Ok(found) => found,
        Err(JoinError::Panicked(panic)) => Err(io::Error::other(panic.to_string())),
        Err(_) => {
            Err(io::Error::new(io::ErrorKind::BrokenPipe, "the runtime was shut down while a name was looked up"))
        }
    }
}

/// A look-up. Given up before it has begun, it does not.
struct Asking(JoinHandle<io::Result<Vec<SocketAddr>>>);

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Blocks.
fn ask(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    #[cfg(test)]
    if let Some(found) = tests::pretend(host, port) {
        return found;
    }
    net::ToSocketAddrs::to_socket_addrs(&(host, port)).map(Iterator::collect)
}

#[cfg(test)]
mod tests;
