//! A line now and then about what the scheduler does. Go: `GODEBUG=schedtrace=1000`.

use crate::host::SpawnError;
use crate::kernel::sched::snapshot::{DetailedSnapshot, Snapshot};
use crate::runtime::host::foreign_threads::Known;
use crate::runtime::host::thread_config;
use core::fmt;
use core::time::Duration;
use std::io::{self, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

/// What stands in a line after the time: the names of Go's, in Go's order. Lengths of queues are with `runnext`, and each
/// dispatch is a tick (in Go, not those from `runnext`, and the length is without it).
pub(in crate::runtime) struct Line(pub(in crate::runtime) DetailedSnapshot);

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DetailedSnapshot { snapshot, needspinning, schedticks, .. } = &self.0;
        let Snapshot { procs, local, global, idle_ps, nmspinning, sleeping, alive, .. } = snapshot;
        write!(
            f,
            "gomaxprocs={procs} idleprocs={idle_ps} threads={alive} spinningthreads={nmspinning} needspinning={} \
             idlethreads={sleeping} runqueue={global} [",
            u8::from(*needspinning),
        )?;
        local.iter().take(*procs).try_for_each(|length| write!(f, " {length}"))?;
        f.write_str(" ] schedticks=[")?;
        schedticks.iter().take(*procs).try_for_each(|ticks| write!(f, " {ticks}"))?;
        f.write_str(" ]")
    }
}

/// A thread that prints it, if it was asked for. The scheduler's own threads are not woken for it.
#[derive(Default)]
pub(in crate::runtime) struct Printer(Mutex<Option<(Sender<()>, JoinHandle<()>)>>);

impl Printer {
    /// Prints what `line` gives every so often. `None`: the runtime is gone.
    pub(in crate::runtime) fn start(
        &self,
        every: Duration,
        line: impl Fn() -> Option<String> + Send + 'static,
    ) -> Result<(), SpawnError> {
        let (end, is_over) = mpsc::channel();
        let body = move || {
            let _known = Known::new();
            while is_over.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                let Some(line) = line() else { return };
                // Without a place to write there is no reader of it.
                let _ = writeln!(io::stderr(), "{line}");
            }
        };
        let thread = thread_config::Wanted::take("spinpark-schedtrace").builder().spawn(body);
        let thread = thread.map_err(|error| SpawnError { os_error: error.raw_os_error() })?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((end, thread));
        Ok(())
    }

    /// Ends the thread, and waits for that.
    pub(in crate::runtime) fn end(&self) {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((end, thread)) = running {
            drop(end);
            // It has no code that panics; if it did, it has been reported.
            drop(thread.join());
        }
    }
}
