//! Looking into a program that hangs.

use crate::runtime::builder::Builder;

impl Builder {
    /// Each time the process is sent SIGQUIT (Ctrl-\ in a terminal, `kill -QUIT`), prints to standard error what the tasks of this runtime
    /// wait for: its [`dump`](crate::Handle::dump). Default: no; then SIGQUIT ends the process. Needs the feature `signal`.
    ///
    /// The program goes on, where Go's ends. A thread of its own prints it, so a runtime whose threads are all busy or stuck can be looked
    /// at too. Other listeners to SIGQUIT hear it as well, and once a runtime has asked for this, SIGQUIT no longer ends the process. A
    /// [deterministic](Builder::deterministic) runtime prints nothing: only its own thread may look at it.
    ///
    /// ```
    /// let runtime = spinpark::Runtime::builder().procs(1).dump_on_sigquit().build()?;
    /// # drop(runtime);
    /// # Ok::<(), spinpark::BuildError>(())
    /// ```
    #[doc(alias = "SIGQUIT")]
    pub fn dump_on_sigquit(mut self) -> Self {
        self.watchers.dumps_on_sigquit = true;
        self
    }
}
