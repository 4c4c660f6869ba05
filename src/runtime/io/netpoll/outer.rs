//! Another reactor, in which this poller is one source of many: then the thread that polls waits there, and one wait serves both.

use core::time::Duration;

/// Such a reactor.
pub(in crate::runtime) trait Outer: Send {
    /// Waits there, for `timeout` at most (`None`: for ever; zero: not at all), and wakes what is ready there. It ends as soon as a task
    /// of the runtime that polls was woken. `true`: this poller has reports.
    fn wait(&mut self, timeout: Option<Duration>) -> bool;

    /// All reports of this poller have been taken.
    fn all_taken(&mut self);
}
