//! What a builder was given to watch its runtimes with.

use crate::kernel::sched::config::Config;
use crate::runtime::build_error::BuildError;
use crate::runtime::id::RuntimeId;
#[cfg(feature = "console")]
use crate::runtime::observe::attached::Attach;
use crate::runtime::observe::attached::Attached;
use crate::runtime::observe::event::Observer;
use crate::runtime::observe::trace;
use crate::runtime::observe::watch::Watch;
use core::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// The observers of a runtime to be.
#[derive(Clone, Default)]
pub(in crate::runtime) struct Watchers {
    pub(in crate::runtime) observers: Vec<Arc<dyn Observer>>,
    pub(in crate::runtime) recorders: Vec<trace::Recorder>,
    /// Where to write a trace to.
    pub(in crate::runtime) path: Option<PathBuf>,
    /// Is what its tasks wait for to be printed at SIGQUIT?
    #[cfg(all(unix, feature = "signal"))]
    pub(in crate::runtime) dumps_on_sigquit: bool,
    /// A server that is to show the runtime.
    #[cfg(feature = "console")]
    pub(in crate::runtime) console: Option<Arc<dyn Attach>>,
}

impl fmt::Debug for Watchers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.observers.len();
        f.debug_struct("Watchers").field("observers", &count).field("path", &self.path).finish_non_exhaustive()
    }
}

impl Watchers {
    /// From now on they watch the runtime `runtime_id`. `None`: there are none.
    ///
    /// # Errors
    /// If the file cannot be made, the console cannot listen at its address, or thread creation failed.
    pub(in crate::runtime) fn open(
        self,
        runtime_id: RuntimeId,
        config: &Config,
    ) -> Result<Option<Box<Watch>>, BuildError> {
        let mut observers = self.observers;
        for recorder in self.recorders {
            recorder.begin(runtime_id, config);
            observers.push(Arc::new(recorder));
        }
        let mut attached: Vec<Arc<dyn Attached>> = Vec::new();
        if let Some(path) = self.path {
            let made = trace::File::create(path.clone(), runtime_id, config);
            let (file, to) = made.map_err(|error| BuildError::Trace { path, os_error: error.raw_os_error() })?;
            file.start(to).map_err(BuildError::Spawn)?;
            observers.push(Arc::clone(&file) as Arc<dyn Observer>);
            attached.push(file);
        }
        #[cfg(feature = "console")]
        if let Some(console) = self.console {
            let opened = console.open(runtime_id, config);
            let (observer, server) = opened.inspect_err(|_| attached.iter().for_each(|attached| attached.close()))?;
            observers.push(observer);
            attached.push(server);
        }
        Ok(Watch::new(observers, attached))
    }
}
