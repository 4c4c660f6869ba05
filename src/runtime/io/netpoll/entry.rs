//! A socket that is known to a poller: [`readiness`] on real cores.

use crate::runtime::host::cores::Cores;
use crate::runtime::io::netpoll::socket::Interest;
use crate::runtime::io::netpoll::source::Source;
use crate::runtime::task_waker::TaskWaker;
use crate::waits::{readiness, sockets};
use std::io;

/// A socket, as the poller sees it.
pub(super) type Entry = sockets::Keyed<Cores, Source, TaskWaker>;

impl readiness::Source for Source {
    type Error = io::Error;

    fn arm(&self, interest: Interest) -> io::Result<()> {
        Source::arm(self, interest)
    }
}

/// Could something be done in this direction now, though nothing may change any more?
#[cfg(target_os = "linux")]
pub(super) fn is_ready(entry: &Entry, direction: readiness::Direction) -> bool {
    // Armed, it reports what is so already.
    !entry.is_armed_each_time() && entry.with_source(|source| source.is_ready(direction)).unwrap_or(false)
}

/// The same: armed, it reports what is so already.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_ready(_: &Entry, _: readiness::Direction) -> bool {
    false
}
