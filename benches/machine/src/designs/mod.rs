//! The schedulers that run the Gs.

mod kernel;
mod tokio;
mod tokio_queue;

use crate::workloads::{Outside, Workload};
use spinpark_kernel::sched::config::Config;
use std::sync::Arc;

/// A design, and its numbers.
#[derive(Debug, Clone)]
pub enum Design {
    /// The kernel, with a configuration.
    Ours(Config),
    /// The kernel, configured as Go is, and with what Go does otherwise where that can be done from outside.
    Go,
    /// A sketch of tokio's rules. `wakes`: how many workers one wakes that was the last to search and has found a task; tokio's
    /// is 1.
    Tokio {
        /// See above.
        wakes: usize,
    },
}

/// A scheduler on the machine that runs.
pub trait Scheduler: Outside + Send + Sync {
    /// From now on it runs the Gs of this workload.
    fn plays(&self, workload: Arc<dyn Workload>);
    /// Ends its threads.
    fn close(&self);
}

impl Design {
    /// The kernel as it comes.
    pub fn ours() -> Design {
        Design::Ours(Config::default())
    }

    /// Makes it, for so many Ps. Its threads start when there is work.
    pub fn start(&self, procs: usize) -> Box<dyn Scheduler> {
        match self {
            Design::Ours(config) => Box::new(kernel::Kernel::start(config.clone(), procs, kernel::Rules::Ours)),
            Design::Go => Box::new(kernel::Kernel::start(kernel::as_go(), procs, kernel::Rules::Go)),
            Design::Tokio { wakes } => Box::new(tokio::Tokio::start(procs, *wakes)),
        }
    }
}
