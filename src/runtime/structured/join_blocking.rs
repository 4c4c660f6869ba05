//! Calls that block, in a [`JoinSet`].

use crate::runtime::exec::abort::AbortHandle;
use crate::runtime::exec::blocking::blocking;
use crate::runtime::handle::Handle;
use crate::runtime::structured::join_set::JoinSet;

impl<T: Send + 'static> JoinSet<T> {
    /// Runs a closure that blocks its thread, as a goroutine inside of [`blocking`](crate::blocking), and puts it into the set. While it
    /// waits to be run it can be aborted; once it runs, it runs to its end.
    ///
    /// # Panics
    /// As [`go`](JoinSet::go).
    ///
    /// ```
    /// # spinpark::run(async {
    /// let mut set = spinpark::JoinSet::new();
    /// set.spawn_blocking(|| std::fs::exists("."));
    /// let is_there = set.join_next().await.expect("one").expect("no panic");
    /// assert!(is_there.expect("it can be asked"));
    /// # });
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F>(&mut self, f: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
    {
        self.go(|| blocking(f))
    }

    /// As [`spawn_blocking`](JoinSet::spawn_blocking), in that runtime, from any thread.
    ///
    /// ```
    /// let runtime = spinpark::Runtime::new()?;
    /// let mut set = spinpark::JoinSet::new();
    /// set.spawn_blocking_on(|| 1, &runtime.handle());
    /// assert_eq!(runtime.block_on(set.join_all())?, [1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn spawn_blocking_on<F>(&mut self, f: F, runtime: &Handle) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
    {
        self.go_on(|| blocking(f), runtime)
    }
}
