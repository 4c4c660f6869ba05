//! Is there a thread in this process that could still do something, and that no runtime knows?
//!
//! Go: `checkdead`, which does not report a deadlock either while there is a thread that is not Go's.

use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;

/// Threads that do nothing by themselves: those of runtimes, and those that wait in one of their functions.
static KNOWN: AtomicUsize = AtomicUsize::new(0);

/// One more is known, as long as this lives.
pub(in crate::runtime) struct Known(());

impl Known {
    /// A thread of a runtime, or one that waits in a function of a runtime and was not known.
    pub(in crate::runtime) fn new() -> Known {
        // Relaxed: counted; what is compared with it is only believed when everything is at rest.
        KNOWN.fetch_add(1, Relaxed);
        Known(())
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        // Relaxed: as above.
        KNOWN.fetch_sub(1, Relaxed);
    }
}

/// Are all threads of this process known? Where the system does not tell, no.
pub(in crate::runtime) fn are_all_known() -> bool {
    // Relaxed: as above.
    count() == Some(KNOWN.load(Relaxed))
}

/// How many threads this process has.
#[cfg(target_os = "linux")]
fn count() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/task").ok()?.count())
}

#[cfg(not(target_os = "linux"))]
fn count() -> Option<usize> {
    None
}
