//! Which tasks wait for which socket, and the system's poller that reports when to wake them.
//!
//! Go: `netpoll`, `pollDesc`, `netpollBreak`, `netpollWaiters`.
//!
//! A socket is tried first; only if it would block its task waits, as a waker in the list of its direction. Which task is on which list, and
//! what becomes of the system's reports, is [`readiness`](crate::waits::readiness); how a wait is ended,
//! [`interrupt`](crate::waits::interrupt). Here is the system, and the table of sockets.
//!
//! A waker is the user's code. It is cloned before the lock is taken, woken and dropped after.

mod change;
pub(in crate::runtime) mod choice;
#[cfg(test)]
pub(crate) mod driver;
mod entry;
#[cfg(all(feature = "io-uring", target_os = "linux"))]
pub(in crate::runtime) mod files;
mod lock;
pub(in crate::runtime) mod outer;
pub(in crate::runtime) mod poller;
mod registered;
#[cfg(all(feature = "io-uring", target_os = "linux"))]
mod ring;
mod socket;
mod source;
mod stream;
mod system;
#[cfg(test)]
mod tests;
#[cfg(all(feature = "io-uring", target_os = "linux"))]
pub(in crate::runtime) mod under_way;
#[cfg(all(feature = "io-uring", target_os = "linux"))]
mod uring;

#[cfg(test)]
pub(crate) use poller::Netpoll;
pub(crate) use registered::Registered;
pub(crate) use socket::Direction;
pub(crate) use stream::at_once;
