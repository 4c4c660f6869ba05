//! The error of what needs a runtime around it.

use core::fmt;

/// There is no runtime here: the thread does not run one of a runtime's tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotInRuntime;

impl fmt::Display for NotInRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "called outside of a task: do it inside a task, in Runtime::block_on, or after Runtime::enter; to spawn from any \
             thread, call the method of the same name on a Runtime or a Handle",
        )
    }
}

impl core::error::Error for NotInRuntime {}
