//! What stands beside a runtime as long as that is there: a file that is written, a server that shows it.

#[cfg(feature = "console")]
use crate::kernel::sched::config::Config;
#[cfg(feature = "console")]
use crate::runtime::build_error::BuildError;
#[cfg(feature = "console")]
use crate::runtime::id::RuntimeId;
#[cfg(feature = "console")]
use crate::runtime::observe::event::Observer;
#[cfg(feature = "console")]
use std::net::SocketAddr;
#[cfg(feature = "console")]
use std::sync::Arc;

/// It is there, and has threads of its own.
pub(in crate::runtime) trait Attached: Send + Sync {
    /// Nothing will be reported any more: ends what it does, and waits for that. May be called again.
    fn close(&self);

    /// Where it listens.
    #[cfg(feature = "console")]
    fn address(&self) -> Option<SocketAddr> {
        None
    }
}

/// What is told what happens, and what is there besides.
#[cfg(feature = "console")]
pub(in crate::runtime) type Opened = (Arc<dyn Observer>, Arc<dyn Attached>);

/// It is asked for. A builder keeps it, and knows nothing else of it.
#[cfg(feature = "console")]
pub(in crate::runtime) trait Attach: Send + Sync {
    /// Where it is to listen.
    fn address(&self) -> SocketAddr;

    /// Starts it for the runtime `runtime_id`, which is being built.
    fn open(&self, runtime_id: RuntimeId, config: &Config) -> Result<Opened, BuildError>;
}
