//! What a socket finds around the code that makes it.

use crate::runtime::exec::context::Context;
use crate::runtime::exec::not_in_runtime::NotInRuntime;
use crate::runtime::io::netpoll::poller::Netpoll;
use std::io;
use std::sync::Arc;

/// The poller of the caller's runtime, for `what` was called.
pub(in crate::runtime) fn netpoll(what: &'static str) -> io::Result<Arc<Netpoll>> {
    let netpoll = Context::with_runtime(|shared, _| shared.reactor.netpoll());
    netpoll.unwrap_or_else(|| Err(io::Error::other(NotInRuntime::new(what))))
}

/// Is there a network around the caller? Outside of a runtime there is.
pub(in crate::runtime) fn check_network() -> io::Result<()> {
    Context::with_runtime(|shared, _| shared.reactor.netpoll()).transpose().map(drop)
}
