//! What the code of a task finds around it: its runtime's poller, a way to block, a way to spawn.

use crate::runtime::exec::worker::{self, NotInRuntime};
use crate::runtime::io::netpoll::Netpoll;
use std::io;
use std::sync::Arc;

/// The poller of the caller's runtime.
pub(in crate::runtime) fn netpoll() -> io::Result<Arc<Netpoll>> {
    let netpoll = worker::with_tasks(|tasks, _| tasks.shared().reactor.netpoll());
    netpoll.unwrap_or_else(|| Err(io::Error::other(NotInRuntime)))
}

/// Is there a network around the caller? Outside of a runtime there is.
pub(in crate::runtime) fn check_network() -> io::Result<()> {
    worker::with_tasks(|tasks, _| tasks.shared().reactor.netpoll()).transpose().map(drop)
}

/// Runs `f`, which may block. Others run meanwhile.
pub(in crate::runtime) fn blocking<R>(f: impl FnOnce() -> R) -> R {
    crate::runtime::syscall(f)
}

/// Runs `future` as a task that nobody waits for.
#[cfg(feature = "hyper")]
pub(in crate::runtime) fn spawn_detached(future: impl Future<Output = ()> + Send + 'static) {
    drop(worker::spawn(future));
}
