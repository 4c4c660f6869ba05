//! What the system reports of a socket.

use crate::runtime::io::netpoll::socket::Interest;

/// Something may be done with a socket that could not be done before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change {
    pub(super) key: usize,
    pub(super) what: Interest,
    /// This request of the socket's reports no more.
    pub(super) ended: Option<Request>,
}

/// What a ring knows a socket by. The other pollers have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request(pub(super) u64);
