//! What the system reports of a socket.

use crate::runtime::io::netpoll::socket::Interest;
#[cfg(target_os = "linux")]
use rustix::event::epoll::EventFlags as Flags;

/// Something may be done with a socket that could not be done before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change {
    pub(super) key: usize,
    pub(super) what: Interest,
    /// Of these directions the end, an error, or urgent bytes.
    pub(super) end: Interest,
    /// This request of the socket's reports no more.
    pub(super) ended: Option<Request>,
}

/// What a ring knows a socket by. The other pollers have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request(pub(super) u64);

/// What may be done with a socket of which these flags were reported; and of which directions they say the end, an error, or urgent
/// bytes.
#[cfg(target_os = "linux")]
pub(super) fn reported(flags: Flags) -> (Interest, Interest) {
    let is_broken = flags.intersects(Flags::HUP | Flags::ERR);
    let end = Interest { read: is_broken || flags.intersects(Flags::RDHUP | Flags::PRI), write: is_broken };
    let what = Interest {
        read: is_broken || flags.intersects(Flags::IN | Flags::RDHUP),
        write: is_broken || flags.contains(Flags::OUT),
    };
    (what, end)
}
