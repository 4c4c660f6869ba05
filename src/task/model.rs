//! Evidence for checkers, as in [`kernel::model`](crate::kernel::model): the right to a task's future, out of nothing. A model
//! has no queue that keeps it as a pointer.
//!
//! Checked by: verification/tests/evidence.rs

#![cfg(feature = "model")]

use crate::task::word::Active;

impl Active {
    /// The right that somebody has, and has as something else.
    pub fn forge() -> Active {
        Active::assume()
    }
}
