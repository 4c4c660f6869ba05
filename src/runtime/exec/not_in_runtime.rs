//! The error of what needs a runtime around it.

use core::fmt;

/// There is no runtime here: the thread does not run one of a runtime's tasks. The text names what was called.
///
/// ```
/// let error = spinpark::task::try_spawn(async {}).unwrap_err();
/// assert!(error.to_string().starts_with("spinpark::try_spawn was called outside of a task"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotInRuntime {
    what: &'static str,
    /// Where else it can be done.
    elsewhere: &'static str,
}

impl NotInRuntime {
    /// `what` happened: "`x` was called".
    pub(in crate::runtime) const fn new(what: &'static str) -> NotInRuntime {
        NotInRuntime { what, elsewhere: "" }
    }

    /// The same, of what a [`Runtime`](crate::Runtime) and a [`Handle`](crate::Handle) have a method for.
    pub(in crate::runtime) const fn with_method(what: &'static str) -> NotInRuntime {
        NotInRuntime { what, elsewhere: "; from any thread, call the method of the same name on a Runtime or a Handle" }
    }
}

impl fmt::Display for NotInRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NotInRuntime { what, elsewhere } = self;
        write!(
            f,
            "{what} outside of a task: do it inside a task, in Runtime::block_on, or after Runtime::enter{elsewhere}"
        )
    }
}

impl core::error::Error for NotInRuntime {}
