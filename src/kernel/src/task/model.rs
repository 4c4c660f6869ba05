//! Evidence for checkers, as in [`kernel::model`](crate::model): the right to a task's future, out of nothing. A model
//! has no queue that keeps it as a pointer. And what a wrong kernel would look at as a poll ends.
//!
//! Checked by: verification/tests/evidence.rs

#![cfg(feature = "model")]

use crate::task::word::{Active, NOTIFIED, View};

impl Active {
    /// A right that exists, in another form.
    pub fn forge() -> Active {
        Active::assume()
    }
}

impl View {
    /// It was woken while it was polled; if it is `unreferenced`, then by the last that could.
    pub fn was_woken_meanwhile(self, unreferenced: bool) -> bool {
        self.has(NOTIFIED) && (!unreferenced || self.is_only_active())
    }
}
